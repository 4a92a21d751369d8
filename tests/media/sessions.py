"""Makes small recorded sessions by hand, event by event."""

import json
from itertools import count
from pathlib import Path
from typing import Any

Node = dict[str, Any]
Event = dict[str, Any]

EPOCH = 1_700_000_000_000
WIDTH, HEIGHT = 320, 180

_ids = count(100)


def text(content: str, *, style: bool = False) -> Node:
    node = {"type": 3, "textContent": content, "id": next(_ids)}
    return node | {"isStyle": True} if style else node


def element(tag: str, *children: Node, **attributes: Any) -> Node:
    named = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()}
    return {"type": 2, "tagName": tag, "attributes": named, "childNodes": list(children),
            "id": next(_ids)}  # fmt: skip


def box(left: int, top: int, size: int, colour: str, *children: Node, **attributes: Any) -> Node:
    style = (
        f"position:absolute;left:{left}px;top:{top}px;width:{size}px;height:{size}px;"
        f"background:{colour}"
    )
    return element("div", *children, style=style, **attributes)


def document(*body: Node, css: str = "") -> Node:
    head = [element("style", text(css, style=True))] if css else []
    page = element(
        "html", element("head", *head), element("body", *body, style="margin:0;background:white")
    )
    return {"type": 0, "childNodes": [{"type": 1, "name": "html", "publicId": "", "systemId": "",
            "id": next(_ids)}, page], "id": next(_ids)}  # fmt: skip


class Session:
    """A list of events that grows; times are milliseconds after the start."""

    def __init__(self, *body: Node, css: str = "", size: tuple[int, int] = (WIDTH, HEIGHT)) -> None:
        self.events: list[Event] = []
        self.size = size
        self.snapshot(0, document(*body, css=css))

    def add(self, at: float, kind: int, **data: Any) -> None:
        self.events.append({"type": kind, "data": data, "timestamp": EPOCH + at})

    def change(self, at: float, source: int, **data: Any) -> None:
        self.add(at, 3, source=source, **data)

    def snapshot(self, at: float, page: Node) -> None:
        width, height = self.size
        self.add(at, 4, href="https://shop.invalid/", width=width, height=height)
        self.add(at, 2, node=page, initialOffset={"left": 0, "top": 0})

    def mutate(self, at: float, **lists: Any) -> None:
        self.change(at, 0, **({"adds": [], "removes": [], "texts": [], "attributes": []} | lists))

    def recolour(self, at: float, node: Node, colour: str) -> None:
        self.mutate(at, attributes=[
            {"id": node["id"], "attributes": {"style": {"background": colour}}}])  # fmt: skip

    def append(self, at: float, parent: int, node: Node) -> None:
        self.mutate(at, adds=[{"parentId": parent, "nextId": None, "node": node}])

    def move(self, at: float, *places: tuple[float, float, float], node: int) -> None:
        batch = [{"timeOffset": offset, "x": x, "y": y, "id": node} for offset, x, y in places]
        self.change(at, 1, positions=batch)

    def end(self, at: float) -> "Session":
        """Make it last: a moment at which nothing is seen to happen."""
        self.add(at, 5, tag="end", payload={})
        return self

    def json(self) -> bytes:
        return json.dumps(self.events).encode()

    def write(self, path: Path) -> Path:
        path.write_bytes(self.json())
        return path


def simple() -> Session:
    """Red, then green at 1 s, then blue at 2.01 s; three seconds in all."""
    field = box(0, 0, 100, "rgb(220,20,20)")
    session = Session(field)
    session.recolour(1000, field, "rgb(20,200,20)")
    session.recolour(2010, field, "rgb(20,20,220)")
    return session.end(3000)
