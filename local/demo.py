"""`python -m local.demo`: orders a clip on the local stack and shows what happens."""

import argparse
import hashlib
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from functions.domain.outcomes import Refused
from functions.media.motion import render_motion
from functions.media.photo import read_photo
from functions.media.photo_header import HEAD_BYTES, PHOTO_TYPES, sniff_photo
from local import stack, standin
from local.customer import Customer, RefusedByApi, sign_in
from local.instance import TOOLS, Instance
from local.picture import draw_picture
from local.session import record_session
from local.trouble import LocalTrouble

KIND_OF_SESSIONS = "session_to_video"
GZIP = b"\x1f\x8b"
GRANTED = 100
ASK_SECONDS = 0.25  # a person watches; a program would go by Retry-After
PATIENCE_SECONDS = 180.0


def main() -> int:
    """Run the demo; trouble is one line and a status."""
    parser = argparse.ArgumentParser(prog="python -m local.demo", description=__doc__)
    parser.add_argument("--kind", choices=("image_to_video", KIND_OF_SESSIONS))
    parser.add_argument("--photo", type=Path, help="a JPEG, PNG or WebP file")
    parser.add_argument("--recording", type=Path, help="a session that rrweb recorded")
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--minutes", type=int, default=1, help="of video, at most")
    parser.add_argument("--motion", default="zoom-in")
    parser.add_argument("--provider", help="a paid one, by its stand-in here: fal, kling, …")
    given = parser.parse_args()
    try:
        if given.kind == KIND_OF_SESSIONS or given.recording:
            _run(stack.up(Instance.from_environment()), _session(given))
        elif given.provider:
            _run_with_standin(_photo(given), given)
        else:
            _run(stack.up(Instance.from_environment()), _photo(given))
    except (LocalTrouble, httpx.HTTPError) as trouble:
        print(trouble, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wish:
    """What is ordered, and from which file."""

    kind: str
    file: Path
    content_type: str
    options: dict[str, Any]


def _photo(given: argparse.Namespace) -> _Wish:
    photo = given.photo or _drawn()
    return _Wish(
        kind="image_to_video",
        file=photo,
        content_type=_type_of(photo),
        options={"seconds": given.seconds, "motion": given.motion},
    )


def _session(given: argparse.Namespace) -> _Wish:
    """Take a recording; one of our own takes half a minute."""
    file = given.recording or record_session(TOOLS / "demo" / "session.json")
    if not file.is_file():
        raise LocalTrouble(f"RECORDING={file} cannot be read.")
    packed = file.read_bytes()[:2] == GZIP
    return _Wish(
        kind=KIND_OF_SESSIONS,
        file=file,
        content_type="application/gzip" if packed else "application/json",
        options={"minutes": given.minutes},
    )


def _run_with_standin(wish: _Wish, given: argparse.Namespace) -> None:
    """Have the clip made by a provider that is only played here: it costs nothing."""
    live = stack.running_or_up(Instance.from_environment())
    clip = TOOLS / "demo" / "standin.mp4"
    source = read_photo(wish.file)
    if isinstance(source, Refused):
        raise LocalTrouble(f"PHOTO={wish.file}: {source.reason}")
    render_motion(source, clip, motion="drift", seconds=given.seconds, aspect="16:9")
    with standin.running(given.provider, clip, hook_base=live.api_url) as played:
        print(f"A stand-in plays {given.provider} at {played.address}; nothing real is called.")
        _run(standin.deployed(live, played), wish)
        print(f"The stand-in would have billed {played.billed()} render(s). It has ended now;")
        print("`make demo` without PROVIDER deploys the built-in renderer again.")


def _drawn() -> Path:
    photo = TOOLS / "demo" / "photo.jpg"
    photo.parent.mkdir(parents=True, exist_ok=True)
    if not photo.is_file():
        draw_picture(photo)
    return photo


def _type_of(photo: Path) -> str:
    """Look at the file before anything is started for it."""
    try:
        with photo.open("rb") as file:
            header = sniff_photo(file.read(HEAD_BYTES))
    except OSError as error:
        raise LocalTrouble(f"PHOTO={photo} cannot be read: {error.strerror}.") from error
    if isinstance(header, Refused):
        raise LocalTrouble(f"PHOTO={photo}: {header.reason}")
    return PHOTO_TYPES[header.kind]


def _run(live: stack.Stack, wish: _Wish) -> None:
    operator = sign_in(live, "operator@example.com", groups=("operators",))
    customer = sign_in(live, "customer@example.com")
    operator.post(f"/v1/admin/accounts/{customer.account}/credits", {"amount": GRANTED})
    print(f"Customer {customer.account} was granted {GRANTED} credits.")
    source = customer.upload(wish.file, wish.content_type, wish.kind)
    print(f"Uploaded {wish.file} ({wish.file.stat().st_size:,} bytes).")
    begun = time.monotonic()
    task = _watched(customer, _ordered(customer, wish, source), begun)
    _show(customer, task)
    if task["result"] is None:
        raise LocalTrouble(f"{task['message']} {task['error']['reason']} ({task['error']['code']})")
    clip = _downloaded(task)
    print(f"\nMP4              {clip}")
    print(f"API and console  {live.browser_url}")
    print("The stack stays up; `make down` stops it.")


def _ordered(customer: Customer, wish: _Wish, source: str) -> str:
    """Order, or find the task that an earlier run left in progress on the same file."""
    body = {"kind": wish.kind, "input": {"source": source, **wish.options}}
    try:
        made = customer.post("/v1/tasks", body).json()
    except RefusedByApi as refusal:
        if refusal.code != "resource-busy":
            raise
        running = str(refusal.problem["task"]).rpartition("/")[2]
        print(f"This file is being worked on already; following task {running}:")
        return running
    print(f"Ordered task {made['id']} for {made['credits']['amount']} credits:")
    return str(made["id"])


def _watched(customer: Customer, task_id: str, begun: float) -> dict[str, Any]:
    shown, told = 0, None
    until = begun + PATIENCE_SECONDS
    while time.monotonic() < until:
        task: dict[str, Any] = customer.get(f"/v1/tasks/{task_id}").json()
        if task.get("progress") and task["progress"] != told:
            told = task["progress"]
            print(f"  {time.monotonic() - begun:5.1f} s  {told['done']} of {told['total']} frames")
        for step in task["timeline"][shown:]:
            print(f"  {time.monotonic() - begun:5.1f} s  {step['state']:<10}  {step['reason']}")
        shown = len(task["timeline"])
        if task["done"]:
            return task
        time.sleep(ASK_SECONDS)
    raise LocalTrouble(
        f"Task {task_id} has not ended after {PATIENCE_SECONDS:.0f} s. It is not lost: the "
        "sweeper ends it. `make logs` shows what the functions say."
    )


def _show(customer: Customer, task: dict[str, Any]) -> None:
    print("\nTimeline")
    for step in task["timeline"]:
        print(f"  {step['at']}  {step['state']:<10}  attempt {step['attempt']}  {step['reason']}")
    print("Ledger")
    for entry in reversed(list(_entries(customer, task))):
        print(f"  {entry['at']}  {entry['kind']:<8} {entry['amount']:>5}")
    balance = customer.get("/v1/credits").json()
    print("  " + ", ".join(f"{name} {amount}" for name, amount in balance.items()))
    if task["result"]:
        print("Checks")
        for check in task["result"]["checks"]:
            limit = f"  ({check['limit']})" if check["limit"] else ""
            print(f"  {check['verdict']:<6} {check['name']:<22} {check['value']}{limit}")


def _entries(customer: Customer, task: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Find the newest grant and what belongs to the task."""
    granted = False
    for entry in customer.get("/v1/credits/ledger").json()["entries"]:
        if entry["task"] == task["id"]:
            yield entry
        elif entry["kind"] == "grant" and not granted:
            granted = True
            yield entry


def _downloaded(task: dict[str, Any]) -> Path:
    found = httpx.get(task["result"]["url"], trust_env=False, timeout=30).raise_for_status()
    if hashlib.sha256(found.content).hexdigest() != task["result"]["sha256"]:
        raise LocalTrouble("The downloaded clip is not the one that was verified.")
    clip = TOOLS / "demo" / f"clip-{task['id']}.mp4"
    clip.write_bytes(found.content)
    return clip


if __name__ == "__main__":
    sys.exit(main())
