"""Makes the recording that the demonstration films: somebody orders a clip on a small page.

It is written event by event, as a recorder in that page would have.
"""

import json
from collections.abc import Iterator
from itertools import count
from math import cos, pi, sin
from pathlib import Path
from typing import Any

WIDTH, HEIGHT = 1280, 720
EPOCH = 1_790_000_000_000
SECONDS = 24.0
ORDERED_MS = 7000
STEP_MS = 50  # the pace at which a recorder notes the pointer
NAME = "Lake before sunset 日落"
CSS = """
body { margin: 0; font: 18px/1.5 sans-serif; background: #eef1f5; color: #1d2733 }
header { background: #1d2733; color: #fff; padding: 18px 40px; font-size: 24px }
main { display: flex; gap: 32px; padding: 32px 40px }
section { background: #fff; border-radius: 12px; padding: 24px; box-shadow: 0 2px 8px #0002 }
#order { width: 420px } #tasks { flex: 1; height: 480px; overflow: auto }
input { width: 100%; font: inherit; padding: 8px; box-sizing: border-box }
button { margin-top: 20px; font: inherit; padding: 10px 28px; border: 0; border-radius: 8px;
  background: #2563eb; color: #fff }
.task { display: flex; justify-content: space-between; padding: 12px 0;
  border-bottom: 1px solid #dde }
.bar { width: 240px; height: 12px; border-radius: 6px; background: #dde; overflow: hidden }
.fill { height: 100%; background: #16a34a }
.new { animation: come .6s } @keyframes come { from { opacity: 0; transform: translateY(24px) } }
"""

Node = dict[str, Any]
Event = dict[str, Any]


class _Page:
    """Numbers nodes, as the recorder's mirror does."""

    def __init__(self) -> None:
        self._ids = count(1)

    def text(self, content: str, **more: Any) -> Node:
        return {"type": 3, "textContent": content, "id": next(self._ids), **more}

    def tag(self, name: str, *children: Node, **attributes: str) -> Node:
        named = {key.rstrip("_"): value for key, value in attributes.items()}
        return {
            "type": 2,
            "tagName": name,
            "attributes": named,
            "childNodes": list(children),
            "id": next(self._ids),
        }

    def task(self, name: str, share: int) -> tuple[Node, Node]:
        fill = self.tag("div", class_="fill", style=f"width:{share}%")
        row = self.tag(
            "div",
            self.tag("span", self.text(name)),
            self.tag("div", fill, class_="bar"),
            class_="task new",
        )
        return row, fill


def record_session(path: Path) -> Path:
    """Write the recording."""
    path.parent.mkdir(parents=True, exist_ok=True)
    events = sorted(_events(), key=lambda event: float(event["timestamp"]))
    path.write_text(json.dumps(events), "utf-8")
    return path


def _events() -> Iterator[Event]:
    page = _Page()
    field = page.tag("input", type="text", value="", placeholder="Name of the clip")
    button = page.tag("button", page.text("Order the clip"))
    old = [page.task(f"Clip {number}", 100)[0] for number in range(1, 4)]
    tasks = page.tag("section", *old, id="tasks")
    order = page.tag("section", page.tag("p", page.text("New order")), field, button, id="order")
    body = page.tag(
        "body", page.tag("header", page.text("Tallyreel")), page.tag("main", order, tasks)
    )
    style = page.tag("style", page.text(CSS, isStyle=True))
    html = page.tag("html", page.tag("head", style), body, lang="en")
    doctype = {"type": 1, "name": "html", "publicId": "", "systemId": "", "id": 9000}
    document = {"type": 0, "childNodes": [doctype, html], "id": 9001}
    yield _event(0, 4, href="https://console.invalid/", width=WIDTH, height=HEIGHT)
    yield _event(1, 2, node=document, initialOffset={"left": 0, "top": 0})
    yield from _pointer(body["id"])
    for typed in range(1, len(NAME) + 1):
        at = 3.0 + 0.12 * typed
        yield _change(at, 5, id=field["id"], text=NAME[:typed], isChecked=False)
    yield _change(ORDERED_MS / 1000, 2, type=2, id=button["id"], x=150, y=290)
    row, fill = page.task(NAME, 0)
    yield _mutation(7.2, adds=list(_added(row, tasks["id"])))
    for step in range(1, 101):
        style_now = {"style": {"width": f"{step}%"}}
        yield _mutation(8 + step * 0.12, attributes=[{"id": fill["id"], "attributes": style_now}])
    yield _event(SECONDS * 1000, 5, tag="end", payload={})


def _pointer(node: int) -> Iterator[Event]:
    """From the field to the button, then around the bar while it fills."""
    for batch in range(round(SECONDS * 1000 / 500) - 1):
        end = (batch + 1) * 500
        places = []
        for at in range(end - 500, end, STEP_MS):
            turn = at / 1000 * pi / 2
            x, y = (150 + 40 * cos(turn), 260 + 30 * sin(turn)) if at < ORDERED_MS else (
                860 + 220 * cos(turn), 330 + 120 * sin(turn))  # fmt: skip
            places.append({"x": round(x), "y": round(y), "id": node, "timeOffset": at - end})
        yield _change(end / 1000, 1, positions=places)


def _added(node: Node, parent: int) -> Iterator[dict[str, Any]]:
    """Tell of each new node by itself, as a recorder does."""
    bare = node | {"childNodes": []} if "childNodes" in node else node
    yield {"parentId": parent, "nextId": None, "node": bare}
    for child in node.get("childNodes", []):
        yield from _added(child, node["id"])


def _mutation(seconds: float, **lists: Any) -> Event:
    none: dict[str, Any] = {"adds": [], "removes": [], "texts": [], "attributes": []}
    return _change(seconds, 0, **(none | lists))


def _change(seconds: float, source: int, **data: Any) -> Event:
    return _event(seconds * 1000, 3, source=source, **data)


def _event(milliseconds: float, kind: int, **data: Any) -> Event:
    return {"type": kind, "data": data, "timestamp": EPOCH + round(milliseconds)}
