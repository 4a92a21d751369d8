"""`python -m local.demo`: orders a clip on the local stack and shows what happens."""

import argparse
import hashlib
import json
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
from local.film import CUTS, make_film, spoken
from local.instance import TOOLS, Instance
from local.picture import draw_picture
from local.session_recording import needed_browser, record_console
from local.trouble import LocalTrouble

KIND_OF_SESSIONS = "session_to_video"
KIND_OF_ANALYSES = "video_analysis"
VIDEO_TYPES = {".mp4": "video/mp4", ".mov": "video/quicktime", ".webm": "video/webm"}
CUSTOMER = "customer@example.com"
GZIP = b"\x1f\x8b"
GRANTED = 100
ASK_SECONDS = 0.25  # a person watches; a program would go by Retry-After
PATIENCE_SECONDS = 180.0


def main() -> int:
    """Run the demo; trouble is one line and a status."""
    parser = argparse.ArgumentParser(prog="python -m local.demo", description=__doc__)
    parser.add_argument("--kind", choices=("image_to_video", KIND_OF_SESSIONS, KIND_OF_ANALYSES))
    parser.add_argument("--photo", type=Path, help="a JPEG, PNG or WebP file")
    parser.add_argument("--recording", type=Path, help="a session that rrweb recorded")
    parser.add_argument("--video", type=Path, help="a video to have analysed")
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--minutes", type=int, default=1, help="of video, at most")
    parser.add_argument("--motion", default="zoom-in")
    parser.add_argument("--provider", help="a paid one, by its stand-in here: fal, kling, …")
    given = parser.parse_args()
    try:
        if given.kind == KIND_OF_SESSIONS or given.recording:
            _run_session(given)
        elif given.kind == KIND_OF_ANALYSES or given.video:
            _run_analysis(given)
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


def _run_session(given: argparse.Namespace) -> None:
    """Film a recording; without one given, first record our own console in use."""
    if given.recording and not given.recording.is_file():
        raise LocalTrouble(f"RECORDING={given.recording} cannot be read.")
    needed_browser()
    live = stack.up(Instance.from_environment())
    _run(live, _session(given.recording or _recorded(live), given.minutes))


def _recorded(live: stack.Stack) -> Path:
    print("Somebody uses the console, and it is recorded; that takes half a minute.")
    recorded = record_console(live, CUSTOMER, _drawn(), TOOLS / "demo" / "session.json")
    print(f"Recorded {recorded.events} events in {recorded.seconds:.0f} s.")
    return recorded.path


def _run_analysis(given: argparse.Namespace) -> None:
    """Have a video analysed; without one given, first make one. A model is only played here."""
    video = given.video or _made()
    if not video.is_file():
        raise LocalTrouble(f"VIDEO={video} cannot be read.")
    wish = _Wish(
        kind=KIND_OF_ANALYSES,
        file=video,
        content_type=VIDEO_TYPES.get(video.suffix.lower(), "video/x-matroska"),
        options={},
    )
    if given.provider:
        live = stack.running_or_up(Instance.from_environment())
        with standin.running(given.provider) as played:
            print(f"A stand-in plays {given.provider} at {played.address}; nothing real is called.")
            _run(standin.deployed(live, played), wish)
            print(f"The stand-in would have billed {played.billed()} answer(s). It has ended now;")
            print("`make demo` without PROVIDER deploys what is built in again.")
    else:
        _run(stack.up(Instance.from_environment()), wish)
    if given.video is None:
        print(f"The shots of this film really change at {', '.join(f'{cut} s' for cut in CUTS)}.")


def _made() -> Path:
    film = TOOLS / "demo" / "film.mp4"
    if not film.is_file():
        said = "" if spoken() else ", silent because there is no espeak-ng"
        print(f"Making a film of five shots{said}; that takes a while, once.")
    return make_film(film)


def _session(file: Path, minutes: int) -> _Wish:
    packed = file.read_bytes()[:2] == GZIP
    return _Wish(
        kind=KIND_OF_SESSIONS,
        file=file,
        content_type="application/gzip" if packed else "application/json",
        options={"minutes": minutes},
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
    customer = sign_in(live, CUSTOMER)
    operator.post(f"/v1/admin/accounts/{customer.account}/credits", {"amount": GRANTED})
    print(f"Customer {customer.account} was granted {GRANTED} credits.")
    source = customer.upload(wish.file, wish.content_type, wish.kind)
    print(f"Uploaded {wish.file} ({wish.file.stat().st_size:,} bytes).")
    begun = time.monotonic()
    task = _watched(customer, _ordered(customer, wish, source), begun)
    _show(customer, task)
    if task["result"] is None:
        raise LocalTrouble(f"{task['message']} {task['error']['reason']} ({task['error']['code']})")
    made = _downloaded(task)
    if wish.kind == KIND_OF_ANALYSES:
        _read_out(made)
    print(f"\n{made.suffix[1:].upper():<16} {made}")
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
            print(f"  {time.monotonic() - begun:5.1f} s  {told['done'] / told['total']:.0%} done")
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
    film = task["result"]["content_type"] == "video/mp4"
    made = TOOLS / "demo" / (f"clip-{task['id']}.mp4" if film else f"result-{task['id']}.json")
    made.write_bytes(found.content)
    return made


def _read_out(document: Path) -> None:
    """Show what a video was found to be."""
    found = json.loads(document.read_text("utf-8"))
    print("Storyboard")
    for shot in found["shots"]:
        words = shot["description"] or ""
        print(f"  {shot['start']:6.2f} to {shot['end']:6.2f} s  {words}".rstrip())
    for name in ("transcript", "selling_points"):
        print(name.replace("_", " ").capitalize())
        for line in found[name] or ():
            print(f"  {line['text']}")
        if found[name] is None:
            print(f"  none: {found['absent'][name]}")


if __name__ == "__main__":
    sys.exit(main())
