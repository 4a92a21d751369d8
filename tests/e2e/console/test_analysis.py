"""A video's analysis as people order and read it: in a real browser, on the deployed template."""

import json
import re
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect
from pydantic import BaseModel

from functions.entrypoints.http.models import TaskView
from tests.e2e.console import pages
from tests.e2e.console.conftest import PATIENCE_MS, User, Visit, Visiting
from tests.media import clips
from tests.workers import shared_folder

RESULT = f"v1/tasks/{pages.TASK_ID}/result"
RATE = "5 credits per minute of video."
PRICE = "5 credits for 1 min of video will be held"

pytestmark = [pytest.mark.e2e, pytest.mark.emulator]
expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture(scope="session")
def film(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("film") / "film.mp4"
    return clips.film(path, "moving", "noise", seconds=4, sound="tone").read_bytes()


@pytest.fixture
def video(film: bytes, tmp_path: Path) -> Path:
    """Another video to the service than the last test's."""
    box = (16).to_bytes(4, "big") + b"free" + secrets.token_bytes(8)
    (tmp_path / "film.mp4").write_bytes(film + box)
    return tmp_path / "film.mp4"


@pytest.fixture
def visit(visiting: Visiting, customer: User) -> Visit:
    made = visiting()
    made.begin("#/new/video_analysis")
    made.enter(customer)
    expect(made.page.locator("#price")).to_contain_text(RATE)
    return made


@pytest.fixture
def turn(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The worker is there: other tests stop it only in their own turn."""
    with shared_folder(tmp_path_factory, "worker-turn"):
        yield


@pytest.mark.usefixtures("turn")
def test_a_video_is_priced_by_its_length_ordered_and_read(visit: Visit, video: Path) -> None:
    page = visit.page
    expect(page.get_by_text("asks no model")).to_be_visible()
    page.get_by_label("Source file").set_input_files(video)
    expect(page.locator("#price")).to_contain_text(PRICE)
    visit.is_fine("new-analysis")
    page.get_by_role("button", name="Order").click()

    visit.heading("Video analysis").wait_for()
    expect(page.locator("#sentence")).to_have_text("Your result is ready.", timeout=90_000)
    frames = page.get_by_role("img", name=re.compile("Key frame of shot"))
    expect(frames).to_have_count(2)
    for index in range(2):
        expect(frames.nth(index)).to_have_js_property("complete", value=True)
        assert frames.nth(index).evaluate("picture => picture.naturalWidth") > 0
    reason = "No model was asked: what is written here was measured."
    for name in ("Selling points", "Transcript"):
        expect(page.get_by_role("region", name=name)).to_contain_text(reason)
    expect(page.get_by_role("region", name="Storyboard")).to_contain_text(
        re.compile("0:02.0 . 0:04.0")
    )
    expect(page.get_by_role("region", name="Result")).to_contain_text("LUFS")
    visit.is_fine("analysis-measured")

    with page.expect_download() as saved:
        page.get_by_role("button", name="Download Markdown").click()
    assert saved.value.suggested_filename.endswith(".md")
    assert "## Storyboard" in saved.value.path().read_text("utf-8")


def test_an_address_is_looked_at_once_it_is_whole(visit: Visit) -> None:
    page = visit.page
    asked: list[dict[str, Any]] = []
    page.on("request", lambda sent: asked.extend(_inputs(sent.post_data)))
    address = "https://127.0.0.1/video.mp4"

    page.get_by_label("address").press_sequentially(address, delay=40)
    page.wait_for_timeout(600)
    assert not [given for given in asked if "url" in given]
    page.get_by_label("address").press("Tab")

    expect(page.get_by_role("alert")).to_contain_text("Only https addresses of public servers")
    expect(page.locator("#price")).to_contain_text(RATE)
    assert [given["url"] for given in asked if "url" in given] == [address]
    page.get_by_role("button", name="Order").click()
    expect(page.get_by_role("alert")).to_contain_text("Only https addresses of public servers")
    visit.is_fine("address-refused")


def _inputs(body: str | None) -> list[dict[str, Any]]:
    return [json.loads(body)["input"]] if body and body.startswith('{"kind"') else []


def test_a_file_takes_the_place_of_an_address_and_the_other_way_round(
    visit: Visit, video: Path
) -> None:
    page = visit.page
    address = page.get_by_label("address")
    address.fill("https://127.0.0.1/video.mp4")
    page.get_by_label("Source file").set_input_files(video)
    expect(address).to_have_value("")
    expect(page.locator("#price")).to_contain_text(PRICE)
    address.fill("https://example.com/video.mp4")
    expect(page.get_by_label("Source file")).to_have_value("")
    address.fill("")
    page.get_by_role("button", name="Order").click()
    expect(page.get_by_role("alert")).to_contain_text("Choose a video, or give its address.")


def test_no_price_is_paid_that_was_not_shown(visit: Visit, video: Path) -> None:
    page, cut = visit.page, [True]
    ordered: list[str] = []

    def answer(route: Route) -> None:
        if cut[0]:
            route.abort()
        else:
            route.continue_()

    page.route("**/v1/quotes", answer)
    page.on("request", lambda sent: ordered.extend([sent.url] if "/v1/tasks" in sent.url else []))
    page.route("**/v1/tasks", lambda route: route.abort())
    page.get_by_label("Source file").set_input_files(video)
    expect(page.get_by_role("alert")).to_contain_text("Cannot reach the service.")
    cut[0] = False
    page.get_by_role("button", name="Order").click()
    expect(page.get_by_text("This is what it costs. Press Order once more.")).to_be_visible()
    expect(page.locator("#price")).to_contain_text(PRICE)
    assert ordered == []
    page.get_by_role("button", name="Order").click()
    expect(page.get_by_text("it is charged once")).to_be_visible()
    assert ordered


def test_a_video_that_is_being_analysed_leads_to_that_task(visit: Visit, video: Path) -> None:
    page = visit.page
    busy = {
        "code": "resource-busy",
        "detail": "A task on the same source is in progress.",
        "task": f"/v1/tasks/{pages.TASK_ID}",
    }
    page.route(
        "**/v1/tasks",
        lambda route: route.fulfill(
            status=409, content_type="application/problem+json", body=json.dumps(busy)
        ),
    )
    visit.serve(f"v1/tasks/{pages.TASK_ID}", pages.RENDERING)
    page.get_by_label("Source file").set_input_files(video)
    expect(page.locator("#price")).to_contain_text(PRICE)
    page.get_by_role("button", name="Order").click()
    page.get_by_role("link", name="Follow that task").click()
    expect(page.get_by_text("Your order is being worked on.")).to_be_visible()


# --- the page of a delivered analysis ---------------------------------------------------------


@pytest.fixture
def shown(visit: Visit, photo: bytes) -> Any:
    """Show a document, with pictures where the bucket would have them."""

    def show(document: BaseModel, task: TaskView | None = None) -> Page:
        page = visit.page
        links = [f"{visit.live.endpoint}/frames/{number}.jpg" for number in (1, 2)]
        page.route(
            f"{visit.live.endpoint}/frames/*",
            lambda route: route.fulfill(status=200, content_type="image/jpeg", body=photo),
        )
        visit.serve(f"v1/tasks/{pages.TASK_ID}", task or pages.analysed(*links))
        visit.serve(RESULT, document)
        page.goto(f"{visit.home}/#/tasks/{pages.TASK_ID}")
        return page

    return show


def test_an_analysis_is_a_page(visit: Visit, shown: Any) -> None:
    page = shown(pages.ANALYSIS)
    story = page.get_by_role("region", name="Storyboard")

    expect(page.get_by_text("A lamp for the tent is unpacked")).to_be_visible()
    expect(story).to_contain_text("EMBER 2: the pocket lamp")
    facts = page.get_by_role("region", name="Result")
    for fact in ("2:05.5", "29.97 fps", "-18.4 LUFS", "Gemini", "36,120 read", "0.013116 USD"):
        expect(facts).to_contain_text(fact)
    expect(page.get_by_role("region", name="Transcript")).to_contain_text("forty hours")
    page.get_by_role("button", name=re.compile("^1:02.0 . 1:06.5: go to")).click()
    expect(story.get_by_role("listitem").nth(1)).to_be_focused()
    page.get_by_role("button", name=re.compile("^1:59.0 . 2:01.0: go to")).click()
    expect(story.get_by_role("listitem").nth(2)).to_be_focused()
    visit.is_fine("analysis")


def test_markdown_is_copied(visit: Visit, shown: Any) -> None:
    visit.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = shown(pages.ANALYSIS)
    page.get_by_role("button", name="Copy Markdown").wait_for()
    accepted = []

    def answer(route: Route) -> None:
        accepted.append(route.request.headers["accept"])
        route.fulfill(status=200, content_type="text/markdown", body="# Video analysis")

    page.route(f"{visit.home}/{RESULT}", answer)
    page.get_by_role("button", name="Copy Markdown").click()
    expect(page.get_by_text("Copied.")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == "# Video analysis"
    assert accepted == ["text/markdown"]


def test_what_is_not_there_has_its_reason(shown: Any) -> None:
    page = shown(pages.DEAF_ANALYSIS)
    expect(page.get_by_role("region", name="Transcript")).to_contain_text("does not hear")


def test_nothing_that_a_model_says_becomes_markup(visit: Visit, shown: Any) -> None:
    page = shown(pages.harmful(pages.ANALYSIS))

    expect(page.get_by_role("region", name="Transcript")).to_contain_text(pages.HOSTILE)
    whole = page.locator("main")
    assert whole.inner_text().count("<script>window.harmed=1</script>") >= 12
    expect(whole.locator("script, a[href^='javascript']")).to_have_count(0)
    expect(whole.locator("img")).to_have_count(2)
    for picture in whole.locator("img").all():
        assert (picture.get_attribute("src") or "").startswith(visit.live.endpoint)
    assert page.evaluate("window.harmed") is None
    visit.is_fine("analysis-hostile")


def test_a_document_that_cannot_be_read_now_is_asked_for_again(visit: Visit) -> None:
    visit.page.route("**/result", lambda route: route.abort())
    visit.serve(f"v1/tasks/{pages.TASK_ID}", pages.analysed())
    visit.page.goto(f"{visit.home}/#/tasks/{pages.TASK_ID}")
    expect(visit.page.get_by_role("alert")).to_contain_text("Cannot reach the service.")
    visit.serve(RESULT, pages.ANALYSIS)
    visit.page.get_by_role("button", name="Try again").click()
    expect(visit.page.get_by_text("A lamp for the tent is unpacked")).to_be_visible()


def test_an_expired_analysis_is_said_to_be(visit: Visit) -> None:
    gone = pages.EXPIRED_TASK.model_copy(update={"kind": "video_analysis"})
    visit.serve(f"v1/tasks/{pages.TASK_ID}", gone)
    visit.page.goto(f"{visit.home}/#/tasks/{pages.TASK_ID}")
    expect(visit.page.locator("#sentence")).to_contain_text("its files have expired")
    expect(visit.page.get_by_role("region", name="Storyboard")).to_have_count(0)
    assert not [each for each in visit.asked if each.url.endswith("/result")]
