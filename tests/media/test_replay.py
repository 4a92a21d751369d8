"""Sessions become films in a real browser."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import av
import pytest
from av.video.stream import VideoStream

from functions.domain.outcomes import Failed, Refused, Rendered
from functions.media import replay_command
from functions.media.capture import SCRIPTS, Page
from functions.media.chromium import NAMES, Chromium, Program, confinement, find
from functions.media.filming import Camera, Job
from functions.media.recording import open_recording
from functions.media.replay import PREFIX, remove_leftovers, render_session
from functions.media.replay_plan import plan_film
from local.instance import ROOT
from tests.media.sessions import Session, box, document, element, simple, text
from tests.tiny_disk import no_tiny_disks, tiny_disk

MISSING = [
    *(["no Chromium: apt-get install chromium-headless-shell"] if find() is None else []),
    *(["no replayer: npm ci --prefix functions/media/player"]
      if not all(path.is_file() for path in SCRIPTS) else []),
]  # fmt: skip
pytestmark = pytest.mark.skipif(
    bool(MISSING) and os.environ.get("CI") != "true", reason="; ".join(MISSING)
)

CORPUS = Path(__file__).parents[3] / "shared" / "corpus" / "recordings"
RED, GREEN, BLUE = (220, 20, 20), (20, 200, 20), (20, 20, 220)
WHITE, BLACK = (255, 255, 255), (0, 0, 0)
Film = list[tuple[float, Any]]  # seconds and the picture shown from then on


def film(session: Session, folder: Path, **options: Any) -> Film:
    return watch(filmed(session, folder, **options))


def filmed(session: Session, folder: Path, name: str = "film.mp4", **options: Any) -> Path:
    out = folder / name
    outcome = render_session(session.write(folder / "recording"), out, **options)
    assert isinstance(outcome, Rendered), outcome
    assert sorted(path.name for path in folder.glob("*") if path.is_dir()) == []
    return out


def watch(path: Path) -> Film:
    with av.open(str(path)) as opened:
        return [(frame.time, frame.reformat(format="rgb24")) for frame in opened.decode(video=0)]


def shown(seen: Film, at: float) -> Any:
    """The picture on the screen at a time."""
    return [picture for start, picture in seen if start <= at + 1e-6][-1]


def colour(picture: Any, x: int, y: int) -> tuple[int, int, int]:
    plane = picture.planes[0]
    start = y * plane.line_size + 3 * x
    red, green, blue = bytes(plane)[start : start + 3]
    return red, green, blue


def near(found: tuple[int, int, int], wanted: tuple[int, int, int]) -> bool:
    return all(abs(a - b) <= 24 for a, b in zip(found, wanted, strict=True))


def test_every_change_is_in_its_frame(tmp_path: Path) -> None:
    out = filmed(simple(), tmp_path)
    seen = watch(out)
    assert near(colour(shown(seen, 0), 50, 50), RED)
    assert near(colour(shown(seen, 0.96), 50, 50), RED)
    assert near(colour(shown(seen, 1.0), 50, 50), GREEN)
    assert near(colour(shown(seen, 2.0), 50, 50), GREEN)
    # 2.01 s lies between two frames: the next one shows it.
    assert near(colour(shown(seen, 2.04), 50, 50), BLUE)
    assert near(colour(shown(seen, 0), 200, 90), WHITE)
    # Held, not repeated.
    assert [round(start, 3) for start, _ in seen] == [0, 1.0, 2.04]
    with av.open(str(out)) as opened:
        stream = opened.streams.video[0]
        context = stream.codec_context
        assert (context.width, context.height) == (320, 180)
        assert context.pix_fmt == "yuv420p"
        assert stream.duration is not None
        assert stream.time_base is not None
        assert float(stream.duration * stream.time_base) == pytest.approx(3.04)


def moving() -> Session:
    """Something of everything that moves, with snapshots on the way."""
    css = (
        "@keyframes go { to { transform: translateX(200px) } }"
        ".go { animation: go 1s linear infinite alternate }"
        ".slow { transition: opacity .5s linear }"
    )
    ball = box(0, 120, 40, "rgb(20,20,220)", class_="go")
    fade = box(100, 0, 60, "rgb(220,20,20)", class_="slow")
    session = Session(ball, fade, css=css)
    for at in range(100, 4000, 500):
        session.move(
            at, (-90, at // 40, 30), (-40, at // 30, 60), (0, at // 20, 90), node=fade["id"]
        )
        session.mutate(at + 30, attributes=[
            {"id": fade["id"], "attributes": {"style": {"opacity": str(at / 4000)}}}])  # fmt: skip
    again = box(0, 120, 40, "rgb(20,200,20)", class_="go")
    session.snapshot(4000, document(again, css=css))
    for at in range(4100, 9000, 45):
        session.append(at, again["id"], box(at // 60, -at // 100, 9, "rgb(20,20,20)"))
    return session.end(9000)


def test_a_film_is_the_same_each_time_and_on_any_number_of_cores(tmp_path: Path) -> None:
    session = moving()
    recording = open_recording(session.write(tmp_path / "recording"), tmp_path)
    assert not isinstance(recording, Refused)
    assert len(plan_film(recording).segments) > 1, "it has no seam"
    one = filmed(session, tmp_path, "one.mp4", processes=1, mouse_trail=True)
    two = filmed(session, tmp_path, "two.mp4", processes=3, mouse_trail=True)
    assert one.read_bytes() == two.read_bytes()


def test_a_browser_without_frames_on_command_films_the_same(tmp_path: Path, profiles: Path) -> None:
    pictures = []
    for on_command in (True, False):
        job = job_of(moving_a_little(), tmp_path, profiles)
        camera = Camera(job, on_command=on_command)
        try:
            told: list[int] = []
            segment = plan_film(job.recording).segments[0]
            camera.film(segment, told.append)
        finally:
            camera.close()
        pictures.append(job.part(segment).read_bytes())
    assert pictures[0] == pictures[1]


WHOLE = next(
    (found for name in ("/usr/lib/chromium/chromium", *map(shutil.which, NAMES[3:]))
     if name and (found := find(Path(name))) and not found.on_command), None,
)  # fmt: skip


@pytest.mark.skipif(WHOLE is None, reason="no Chromium but the headless shell")
def test_a_browser_that_draws_no_frames_on_command_is_as_good(tmp_path: Path) -> None:
    assert WHOLE is not None
    seen = film(simple(), tmp_path, browser=WHOLE.path)
    assert [round(start, 3) for start, _ in seen] == [0, 1.0, 2.04]
    for (_, picture), wanted in zip(seen, (RED, GREEN, BLUE), strict=True):
        assert near(colour(picture, 50, 50), wanted)
        assert near(colour(picture, 310, 170), WHITE)


@pytest.fixture
def profiles() -> Iterator[Path]:
    """A folder that a browser without rights reaches too."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o711)
        yield Path(folder)


def job_of(session: Session, folder: Path, profiles: Path) -> Job:
    recording = open_recording(session.write(folder / "recording"), folder)
    assert not isinstance(recording, Refused)
    plan = plan_film(recording)
    program = find()
    assert program is not None
    return Job(
        recording=recording, timeline=plan.timeline, script=plan.script, size=plan.size,
        trail=False, program=program, confined=confinement(), profiles=profiles, scratch=folder,
    )  # fmt: skip


def moving_a_little() -> Session:
    css = "@keyframes go { to { left: 200px } } .go { animation: go 1s linear }"
    field = box(0, 0, 40, "rgb(20,20,220)", class_="go")
    session = Session(field, css=css)
    session.recolour(500, field, "rgb(20,200,20)")
    return session.end(1500)


def test_animations_follow_the_session(tmp_path: Path) -> None:
    css = "@keyframes go { to { left: 200px } } .go { animation: go 2s linear forwards }"
    ball = box(0, 0, 40, "rgb(20,20,220)", class_="go")
    ball["attributes"]["style"] = ball["attributes"]["style"].replace("left:0px", "left:0")
    seen = film(Session(ball, css=css).end(3000), tmp_path)
    for at, left in ((0, 0), (0.5, 50), (1.0, 100), (2.0, 200), (2.9, 200)):
        picture = shown(seen, at)
        assert near(colour(picture, left + 20, 20), BLUE), at
        assert near(colour(picture, left + 46, 20), WHITE), at


def everything() -> Session:
    """A page with one patch of colour for each thing that can be recorded."""
    canvas = element("canvas", width="60", height="60", style="position:absolute;left:0;top:0")
    host = element("div", box(60, 0, 60, "rgb(20,200,20)"), isshadowhost="")
    host["isShadowHost"] = True
    host["childNodes"][0]["isShadow"] = True
    frame = element("iframe", style="position:absolute;left:120px;top:0;width:60px;height:60px;"
                    "border:0")  # fmt: skip
    sheet = element("div", class_="late", style="position:absolute;left:180px;top:0;width:60px;"
                    "height:60px")  # fmt: skip
    scroller = element("div", box(0, 0, 60, "white"), box(0, 500, 60, "rgb(220,20,20)"),
                       style="position:absolute;left:240px;top:0;width:60px;height:60px;"
                       "overflow:auto")  # fmt: skip
    field = element("input", style="position:absolute;left:0;top:80px;width:60px;height:30px;"
                    "background:rgb(20,20,220);border:0", type="password", value="")  # fmt: skip
    session = Session(canvas, host, frame, sheet, scroller, field)
    session.change(200, 9, id=canvas["id"], type=0, commands=[
        {"property": "fillStyle", "args": ["rgb(220,20,20)"], "setter": True},
        {"property": "fillRect", "args": [0, 0, 60, 60]},
        {"property": "constructor", "args": []}])  # fmt: skip
    inner = document()
    session.mutate(200, adds=[{"parentId": frame["id"], "nextId": None, "node": inner}],
                   isAttachIframe=True)  # fmt: skip
    filled = document(box(0, 0, 60, "rgb(20,20,220)")) | {"id": inner["id"]}
    session.mutate(240, adds=[{"parentId": frame["id"], "nextId": None, "node": filled}],
                   isAttachIframe=True)  # fmt: skip
    page = session.events[1]["data"]["node"]["id"]
    session.change(280, 15, id=page, styleIds=[7])
    late = [{"rule": ".late { background: rgb(20,200,20) }", "index": 0}]
    session.change(320, 15, id=page, styleIds=[7], styles=[{"styleId": 7, "rules": late}])
    session.change(360, 3, id=scroller["id"], x=0, y=500)
    session.change(400, 5, id=field["id"], text="*****", isChecked=False)
    return session.end(1500)


def test_whatever_is_recorded_is_shown(tmp_path: Path) -> None:
    last = shown(film(everything(), tmp_path), 1.4)
    spots = [colour(last, 30 + 60 * at, 30) for at in range(5)]
    for found, wanted in zip(spots, (RED, GREEN, BLUE, GREEN, RED), strict=True):
        assert near(found, wanted), spots


def test_drawings_move_in_session_time(tmp_path: Path) -> None:
    move = element("animate", attributeName="fill", from_="rgb(220,20,20)", to="rgb(20,20,220)",
                   dur="2s", fill="freeze")  # fmt: skip
    patch = element("rect", move, width="60", height="60", fill="rgb(220,20,20)")
    drawing = element("svg", patch, width="60", height="60")
    for node in (move, patch, drawing):
        node["isSVG"] = True
    seen = film(Session(drawing).end(3000), tmp_path)
    assert near(colour(shown(seen, 0), 30, 30), RED)
    assert near(colour(shown(seen, 1), 30, 30), (120, 20, 120))
    assert near(colour(shown(seen, 2.5), 30, 30), BLUE)


MOVING = [("gif", "gif", "rgb8"), ("apng", "apng", "rgb24"), ("webp", "libwebp_anim", "bgra")]
MEDIA_TYPES = {"gif": "image/gif", "apng": "image/png", "webp": "image/webp"}


def moving_picture(path: Path, kind: str, codec: str, pixels: str) -> str:
    """Red, green, blue, for ever; its address."""
    with av.open(str(path), "w", format=kind) as out:
        stream = out.add_stream(codec, rate=10)
        assert isinstance(stream, VideoStream)
        stream.width, stream.height, stream.pix_fmt = 64, 64, pixels
        for number, one in enumerate(((255, 0, 0), (0, 255, 0), (0, 0, 255))):
            frame = av.VideoFrame(64, 64, "rgb24")
            frame.planes[0].update(bytes(one) * 64 * 64)
            frame = frame.reformat(format=pixels)
            frame.pts = number
            out.mux(stream.encode(frame))
        out.mux(stream.encode(None))
    packed = b64encode(path.read_bytes()).decode()
    path.unlink()
    return f"data:{MEDIA_TYPES[kind]};base64,{packed}"


@pytest.mark.parametrize(("kind", "codec", "pixels"), MOVING)
def test_moving_pictures_stand_still(tmp_path: Path, kind: str, codec: str, pixels: str) -> None:
    url = moving_picture(tmp_path / "moving", kind, codec, pixels)
    css = f".b {{ background: url({url}) !important }}"
    session = Session(element("img", src=url), box(100, 0, 60, "black", class_="b"), css=css)
    session.events[1]["data"]["node"]["childNodes"][1]["childNodes"][1]["id"] = 1
    for at in range(500, 2000, 40):
        session.append(at, 1, box(at // 10, 90, 9, "red"))
    seen = film(session.end(2000), tmp_path)
    assert len(seen) > 30
    for _, picture in seen:
        assert near(colour(picture, 30, 30), (255, 0, 0))
        assert near(colour(picture, 130, 30), (255, 0, 0))


def test_windows_of_other_sizes_are_fitted(tmp_path: Path) -> None:
    session = Session(box(0, 0, 90, "rgb(220,20,20)"))
    session.change(2000, 4, width=160, height=180)
    seen = film(session.end(3000), tmp_path)
    assert near(colour(shown(seen, 0), 45, 45), RED)
    narrow = shown(seen, 2.5)
    assert near(colour(narrow, 40, 45), BLACK)
    assert near(colour(narrow, 80 + 45, 45), RED)
    doubled = film(session, tmp_path, size=(640, 360))
    assert near(colour(shown(doubled, 0), 170, 170), RED)


def test_a_new_snapshot_replaces_the_page(tmp_path: Path) -> None:
    session = simple()
    session.events.pop()
    session.snapshot(2500, document(box(200, 100, 60, "rgb(20,200,20)")))
    seen = film(session.end(4000), tmp_path)
    last = shown(seen, 3)
    assert near(colour(last, 50, 50), WHITE)
    assert near(colour(last, 230, 130), GREEN)


def test_the_pointer_is_seen_where_it_was(tmp_path: Path) -> None:
    session = Session(box(0, 0, 10, "white"))
    session.move(1000, (0, 100, 100), node=101)
    seen = film(session.end(2000), tmp_path)
    assert near(colour(shown(seen, 0.9), 103, 107), WHITE)
    assert near(colour(shown(seen, 1.0), 103, 107), (22, 24, 29))


def test_pauses_can_be_cut_and_speed_be_raised(tmp_path: Path) -> None:
    session = simple()
    session.events.pop()
    session.move(60_000, (0, 5, 5), node=101)
    out = filmed(session.end(61_000), tmp_path, skip_inactivity=2.0, speed=2.0)
    with av.open(str(out)) as opened_film:
        assert opened_film.duration is not None
        assert opened_film.duration / 1e6 == pytest.approx(1.54, abs=0.05)


HOSTILE = [
    element("img", src="http://127.0.0.1:1/x.png", onerror="document.title='ran'"),
    element("img", src="file:///etc/passwd"),
    element("iframe", srcdoc="<script>parent.parent.ran = 1</script>"),
    element("iframe", src="javascript:parent.ran=1"),
    element("a", text("x"), href="javascript:ran=1"),
    element("link", rel="stylesheet", href="http://169.254.169.254/latest"),
    element("link", rel="preload", href="http://169.254.169.254/a", as_="image"),
    element("object", data="http://10.0.0.1/"),
    element("video", src="http://10.0.0.1/v.mp4", poster="http://10.0.0.1/p.png", autoplay=""),
    element("script", text("ran = 1")),
    element("svg", element("script", text("ran = 1")), onload="ran = 1"),
    element("meta", http_equiv="refresh", content="0;url=http://10.0.0.1/"),
    element("base", href="http://10.0.0.1/"),
    element("form", element("input", autofocus="", onfocus="ran=1"), action="http://10.0.0.1/"),
    element("div", style="background:url(http://10.0.0.1/b.png)"),
    element("style", text("@import url(http://10.0.0.1/c.css); body { background: "
                          "url(http://10.0.0.1/d.png) } @font-face { font-family: x; src: "
                          "url(http://10.0.0.1/f.woff) } * { font-family: x }", style=True)),
]  # fmt: skip


def test_nothing_in_a_page_runs_or_leaves(tmp_path: Path, profiles: Path) -> None:
    session = Session(*HOSTILE)
    canvas = element("canvas")
    body = session.events[1]["data"]["node"]["childNodes"][1]["childNodes"][1]
    session.append(10, body["id"], canvas)
    session.change(20, 9, id=canvas["id"], type=0, commands=[
        {"property": "drawImage", "args": [{"rr_type": "Function", "args": ["ran = 1"]}]},
        {"property": "drawImage", "args": [{"rr_type": "HTMLImageElement",
                                            "src": "http://10.0.0.1/i.png"}, 0, 0]}])  # fmt: skip
    change = {"src": "http://10.0.0.1/2", "onload": "ran = 1"}
    session.mutate(30, attributes=[{"id": HOSTILE[0]["id"], "attributes": change}])
    job = job_of(session, tmp_path, profiles)
    browser = Chromium(
        job.program, confined=job.confined, profiles=profiles, on_command=job.program.on_command
    )
    try:
        page = Page(browser, size=(320, 180), window=(320, 180), on_command=job.program.on_command)
        with job.recording.events.open("rb") as events:
            for turn in range(len(job.script.turns)):
                page.step(turn, job.script.text(range(turn, turn + 1), job.recording, events))
                page.look(sure=True)
        ran = page.ask("[window.ran, frames[0].ran, document.title, frames[0].document.title]")
        assert ran == [None, None, "", ""]
        assert page.ask("location.href") == "http://player.invalid/"
        assert page.blocked == 0  # requests that even came as far as the network
    finally:
        browser.close()


class Stop(Exception):
    """Raised by a progress callback."""


def test_stopping_ends_the_browser_and_leaves_nothing(tmp_path: Path) -> None:
    before = temporary()

    def stop(done: int, total: int) -> None:
        if 0 < done < total:
            raise Stop

    session = moving()
    with pytest.raises(Stop):
        render_session(session.write(tmp_path / "recording"), tmp_path / "x.mp4", on_progress=stop)
    assert [path.name for path in tmp_path.iterdir()] == ["recording"]
    assert temporary() == before
    wait_until(lambda: not browsers_of(tmp_path))


TILES = [(x * 40, y * 40) for x in range(16) for y in range(9)]


def crowded() -> Session:
    """Much to read and much to film: four megabytes that become 600 KB."""
    tiles = [box(left, top, 40, "rgb(20,20,20)") for left, top in TILES]
    session = Session(*tiles, size=(640, 360))
    for frame in range(500):
        for number, tile in enumerate(tiles[::3]):
            red, green, blue = (frame * number * each % 251 for each in (7, 11, 13))
            session.recolour(frame * 40, tile, f"rgb({red},{green},{blue})")
    return session.end(20_000)


LEFT = '"$@"; ended=$?; ls -A "$0"; exit $ended'


@pytest.mark.skipif(no_tiny_disks() is not None, reason=str(no_tiny_disks()))
@pytest.mark.parametrize("more_kb", [-2000, 200, 1200, 3000])
def test_a_full_disk_ends_clearly_wherever_it_is_met_and_nothing_is_left(
    tmp_path: Path, profiles: Path, more_kb: int
) -> None:
    """While the recording is read, while it is filmed, while the parts are joined."""
    recording = crowded().write(tmp_path / "recording")
    disk = profiles / "disk"
    disk.mkdir()
    size_kb = (recording.stat().st_size >> 10) + more_kb
    command = [sys.executable, "-m", "functions.media.replay", str(recording), str(disk / "x.mp4")]
    done = subprocess.run(
        [*tiny_disk(disk, size_kb), "sh", "-c", LEFT, str(disk), *command],
        cwd=ROOT,
        env=os.environ | {"TMPDIR": str(disk)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines()[-1].startswith("disk-full: ")
    assert str(disk) not in done.stderr


def temporary() -> set[str]:
    return {path.name for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*")}


def browsers_of(folder: Path) -> list[int]:
    """Processes of this test's renders: their job lies in its folder."""
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if str(folder).encode() in place.read_bytes():
                found.append(int(place.parent.name))
        except OSError:
            continue
    return found


def wait_until(holds: Callable[[], bool]) -> None:
    for _ in range(100):
        if holds():
            return
        time.sleep(0.05)
    pytest.fail("it did not come about")


@pytest.mark.skipif(not CORPUS.is_dir(), reason="no corpus beside the repository")
@pytest.mark.parametrize("name", ["deep-dom", "active-content", "ssrf", "viewport-huge"])
def test_nasty_recordings_become_films(name: str, tmp_path: Path) -> None:
    outcome = render_session(CORPUS / "nasty" / f"{name}.json", tmp_path / "out.mp4")
    assert isinstance(outcome, Rendered), outcome
    assert outcome.facts["browsers_replaced"] == 0


def test_progress_reaches_the_end(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    filmed(simple(), tmp_path, on_progress=lambda done, total: told.append((done, total)))
    assert told[0] == (0, 76)
    assert told[-1] == (76, 76)


def test_what_cannot_be_replayed_is_refused_before_a_browser_starts(tmp_path: Path) -> None:
    (tmp_path / "recording").write_text("[]")
    outcome = render_session(tmp_path / "recording", tmp_path / "out.mp4")
    assert isinstance(outcome, Refused)
    assert outcome.code == "recording-empty"
    assert [path.name for path in tmp_path.iterdir()] == ["recording"]


def test_leftovers_of_a_kill_are_removed(tmp_path: Path) -> None:
    (tmp_path / f"{PREFIX}x").mkdir()
    (tmp_path / "other").mkdir()
    assert remove_leftovers(tmp_path, elsewhere=tmp_path) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["other"]


def test_the_command_tells_how_it_ended(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session = simple().write(tmp_path / "recording")
    assert replay_command.main([str(session), str(tmp_path / "out.mp4"), "--fps", "10"]) == 0
    assert "3.10 s, 320x180" in capsys.readouterr().out
    session.write_text("[]")
    assert replay_command.main([str(session), str(tmp_path / "out.mp4")]) == 1
    assert "recording-empty" in capsys.readouterr().err


def test_a_program_is_known_by_its_name(tmp_path: Path) -> None:
    shell = tmp_path / "chromium-headless-shell"
    assert find(shell) is None
    shell.write_text("#!/bin/sh\n")
    shell.chmod(0o755)
    assert find(shell) == Program(path=shell, on_command=True)


def test_a_broken_browser_is_a_failure_that_can_be_tried_again(tmp_path: Path) -> None:
    broken = tmp_path / "chromium-headless-shell"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    outcome = render_session(
        simple().write(tmp_path / "recording"), tmp_path / "out.mp4", browser=broken
    )
    assert isinstance(outcome, Failed)
    assert outcome.code == "browser-stuck"
