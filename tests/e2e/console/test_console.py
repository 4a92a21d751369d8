"""The console as people use it: in a real browser, on the deployed template."""

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from playwright.sync_api import Page, Route, expect

from functions.domain.states import TaskState
from functions.entrypoints.http.models import (
    ConfigView,
    IdentityView,
    RedriveList,
    RedriveView,
    SignIn,
    TaskView,
)
from local.customer import Customer
from local.stack import Stack
from tests.e2e.console import pages
from tests.e2e.console.conftest import PATIENCE_MS, User, Visit, Visiting, user

FIRST_LOAD_BYTES_MAX = 60_000
NEVER = re.compile("failed", re.IGNORECASE)

pytestmark = [pytest.mark.e2e, pytest.mark.emulator]
expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture
def visit(visiting: Visiting, customer: User) -> Visit:
    """A customer who is signed in."""
    made = visiting()
    made.begin()
    made.enter(customer)
    return made


def fill_in(page: Page, photo: Path, seconds: int = 1) -> None:
    page.get_by_role("link", name="New task").first.click()
    page.get_by_label("Source file").set_input_files(photo)
    page.get_by_label("Seconds").fill(str(seconds))
    expect(page.locator("#price")).to_contain_text(f"{2 * seconds} credits")


def test_a_photo_is_ordered_followed_and_seen(
    visiting: Visiting, customer: User, photo_file: Path
) -> None:
    visit = visiting()
    page = visit.page
    visit.begin()
    page.get_by_label("Email").wait_for()
    sizes = [answer.body() for each in visit.asked if (answer := each.response())]
    assert 0 < sum(map(len, sizes)) < FIRST_LOAD_BYTES_MAX
    visit.is_fine("sign-in")

    page.get_by_label("Email").fill(customer.email)
    page.get_by_label("Password").fill("wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("not right")
    visit.enter(customer)
    expect(page.get_by_text("Nothing was ordered yet.")).to_be_visible()
    visit.is_fine("tasks-none")
    fill_in(page, photo_file, seconds=2)
    visit.is_fine("new")
    page.get_by_role("button", name="Order").click()

    visit.heading("Photo to video").wait_for()
    page.get_by_text("Your result is ready.").wait_for()
    video = page.locator("video")
    expect(video).to_have_js_property("videoWidth", 1280)
    visit.is_fine("ready")
    link = page.get_by_role("link", name="Download").get_attribute("href")
    assert link
    clip = httpx.get(link, trust_env=False).content
    expect(page.get_by_text(hashlib.sha256(clip).hexdigest())).to_be_visible()

    page.get_by_role("link", name="Credits").click()
    expect(page.locator("#credits-available")).to_have_text("16")
    expect(page.locator("#credits-spent")).to_have_text("4")
    visit.is_fine("credits")
    page.get_by_role("row", name="Spent").get_by_role("link").click()
    page.get_by_text("Your result is ready.").wait_for()
    page.get_by_role("link", name="Tasks", exact=True).first.click()
    expect(page.locator(".list > li")).to_contain_text("Ready")
    visit.is_fine("tasks")


def test_an_order_whose_answer_is_lost_is_sent_again_under_its_key(
    visit: Visit, photo_file: Path, customer: User
) -> None:
    page, keys = visit.page, []

    def lose_answers(route: Route) -> None:
        if route.request.method == "POST":
            keys.append(route.request.headers["idempotency-key"])
            if len(keys) <= 6:  # the page's own five tries, and one more by hand
                if len(keys) == 1:
                    visit.forward(route)  # it arrives, and nobody learns of it
                route.abort()
                return
        route.continue_()

    page.clock.install()
    page.route(f"{visit.home}/v1/tasks", lose_answers)
    fill_in(page, photo_file)
    page.get_by_role("button", name="Order").click()
    for _ in range(5):
        expect(page.get_by_text("it is charged once")).to_be_visible()
        page.clock.run_for(8000)
    expect(page.get_by_text("it is not known whether the order arrived")).to_be_visible()

    page.reload()
    visit.enter(customer)
    expect(page.get_by_text("its answer did not arrive")).to_be_visible()
    page.get_by_role("button", name="Send it again").click()
    page.clock.run_for(8000)
    visit.heading("Photo to video").wait_for()

    assert len(keys) > 6
    assert len(set(keys)) == 1
    page.get_by_role("link", name="Credits").click()
    expect(page.get_by_role("row", name="Held")).to_have_count(1)


def test_what_cannot_be_reached_is_never_called_failed(visit: Visit) -> None:
    page, path = visit.page, f"{visit.home}/v1/tasks/{pages.TASK_ID}"
    visit.serve(f"v1/tasks/{pages.TASK_ID}", pages.RENDERING, **{"Retry-After": "1"})
    page.goto(f"{visit.home}/#/tasks/{pages.TASK_ID}")
    expect(page.get_by_text("Your order is being worked on.")).to_be_visible()

    page.route(path, lambda route: route.abort())
    told = page.get_by_text("Cannot reach the service. The task goes on.")
    expect(told).to_be_visible()
    assert not NEVER.search(page.inner_text("body"))
    visit.is_fine("unreachable")
    page.route(path, lambda route: route.fulfill(status=503, body="<html>busy</html>"))
    expect(told).to_be_visible()
    expect(page.get_by_text("Your order is being worked on.")).to_be_visible()

    page.unroute(path)
    visit.serve(f"v1/tasks/{pages.TASK_ID}", pages.DEAD)
    page.evaluate("dispatchEvent(new Event('online'))")
    expect(page.get_by_text("Your credits were returned.")).to_be_visible()
    expect(told).to_have_count(0)


def test_asks_when_it_is_told_to_and_not_while_hidden_nor_after_the_end(visit: Visit) -> None:
    page, seen = visit.page, []
    shown: list[TaskView] = [pages.RENDERING]

    def answer(route: Route) -> None:
        tag = route.request.headers.get("if-none-match")
        seen.append(tag)
        if tag == f'"{shown[0].state}"':
            route.fulfill(status=304, headers={"ETag": tag, "Retry-After": "20"})
            return
        headers = {"ETag": f'"{shown[0].state}"', "Retry-After": "20"}
        body = shown[0].model_dump_json()
        route.fulfill(status=200, content_type="application/json", headers=headers, body=body)

    def hide(hidden: str) -> None:
        page.evaluate(
            f"Object.defineProperty(document, 'hidden', {{value: {hidden}, configurable: true}});"
            "document.dispatchEvent(new Event('visibilitychange'))"
        )

    def asked(count: int) -> None:
        with page.expect_response(f"**/{pages.TASK_ID}"):
            page.clock.run_for(20_000)
        assert len(seen) == count

    page.clock.install()
    page.route(f"**/v1/tasks/{pages.TASK_ID}", answer)
    page.goto(f"{visit.home}/#/tasks/{pages.TASK_ID}")
    expect(page.get_by_text("Your order is being worked on.")).to_be_visible()
    page.clock.run_for(19_000)
    assert seen == [None]
    asked(2)
    assert seen[-1] == '"rendering"'
    hide("true")
    page.clock.run_for(200_000)
    assert len(seen) == 2
    with page.expect_response(f"**/{pages.TASK_ID}"):
        hide("false")
    shown[0] = pages.DEAD
    asked(4)
    expect(page.get_by_text("after several attempts")).to_be_visible()
    page.clock.run_for(200_000)
    assert len(seen) == 4


@pytest.mark.parametrize(
    ("shown", "words"),
    [
        (pages.CHECKING, "The result is being confirmed"),
        (pages.DEAD, "Your credits were returned."),
        (pages.EXPIRED_TASK, "its files have expired"),
        (pages.task(TaskState.CANCELED), "You canceled this order."),
    ],
    ids=lambda given: given.state if isinstance(given, TaskView) else "",
)
def test_every_state_has_its_sentence(visit: Visit, shown: TaskView, words: str) -> None:
    page = visit.page
    visit.serve(f"v1/tasks/{pages.TASK_ID}", shown)
    page.goto(f"{visit.home}/#/tasks/{pages.TASK_ID}")

    expect(page.locator("#sentence")).to_contain_text(words)
    folded = page.locator("details[id^=attempt]")
    expect(folded).to_have_count(max(shown.attempt - 1, 0))
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0 if shown.done else 1)
    again = page.get_by_role("button", name="Order again for 8 credits")
    expect(again).to_have_count(1 if shown.order_again else 0)
    visit.is_fine(f"task-{shown.state}{'-expired' if shown.result else ''}")


def test_orders_again_and_cancels(visit: Visit, photo_file: Path) -> None:
    page = visit.page
    fill_in(page, photo_file, seconds=7)
    page.route("**/v1/tasks", _answered_with(pages.RENDERING))
    visit.serve(f"v1/tasks/{pages.TASK_ID}", pages.RENDERING)
    page.get_by_role("button", name="Order").click()
    canceled = pages.task(TaskState.CANCELED)
    page.route(f"**/{pages.TASK_ID}/cancel", _answered_with(canceled))
    page.get_by_role("button", name="Cancel").click()
    visit.is_fine("sure")
    visit.serve(f"v1/tasks/{pages.TASK_ID}", canceled)
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    expect(page.locator("#sentence")).to_contain_text("You canceled this order.")

    with page.expect_request("**/v1/tasks") as sent:
        page.get_by_role("button", name="Order again").click()
    assert sent.value.post_data_json == pages.AGAIN.model_dump()
    assert len(sent.value.headers["idempotency-key"]) >= 16


def _answered_with(shown: TaskView) -> Any:
    body = shown.model_dump_json()
    return lambda route: route.fulfill(status=200, content_type="application/json", body=body)


def test_what_is_refused_says_why(visit: Visit, photo_file: Path, tmp_path: Path) -> None:
    page = visit.page
    broken = tmp_path / "broken.jpg"
    broken.write_bytes(b"\xff\xd8 no photo")
    fill_in(page, broken)
    page.get_by_role("button", name="Order").click()
    expect(page.get_by_role("alert")).to_be_visible()
    page.get_by_label("Source file").set_input_files(photo_file)
    page.get_by_label("Seconds").fill("30")
    expect(page.locator("#price")).to_contain_text("60 credits are needed. You have 20.")
    page.get_by_role("button", name="Order").click()
    expect(page.get_by_text("This costs 60 credits and you have 20.")).to_be_visible()
    visit.is_fine("refused")


def test_operators_find_what_is_stuck_and_start_it_anew(
    visiting: Visiting, local_stack: Stack
) -> None:
    visit = visiting()
    page = visit.page
    visit.begin()
    visit.enter(user(local_stack, "operators"))
    page.get_by_role("link", name="Operators").click()
    expect(page.get_by_text("Every call was understood.")).to_be_visible()
    visit.serve("v1/admin/health", pages.HEALTH)
    visit.serve("v1/admin/tasks?*", pages.DEAD_LIST)
    visit.serve("v1/admin/audit", pages.AUDIT)
    visit.serve("v1/admin/spend", pages.SPEND)
    page.route("**/v1/admin/hooks", _json({"parked": [{"name": "hooks/parked/fal/1"}]}))
    page.route("**/v1/admin/hooks/replay", _json({"replayed": 1, "parked": 0}))
    redriven = [RedriveView(account="alice", id=pages.TASK_ID, outcome="redriven")]
    page.route("**/v1/admin/redrive", _json(RedriveList(tasks=redriven).model_dump()))
    page.get_by_role("link", name="Credits").click()
    page.get_by_role("link", name="Operators").click()

    page.get_by_text("worker-lost · 2").click()
    expect(page.get_by_text("balance-differs")).to_be_visible()
    visit.is_fine("operators")
    page.get_by_role("button", name="Start all 2 anew").click()
    with page.expect_request("**/v1/admin/redrive") as sent:
        page.get_by_role("dialog").get_by_role("button", name="Start anew").click()
    assert sent.value.post_data_json == {"limit": 100, "code": "worker-lost"}
    expect(page.get_by_text("Started anew: 1")).to_be_visible()
    page.get_by_role("button", name="Judge again").click()
    expect(page.get_by_text("Understood: 1. Still parked: 0.")).to_be_visible()


def _json(body: Any) -> Any:
    text = json.dumps(body)
    return lambda route: route.fulfill(status=200, content_type="application/json", body=text)


def test_operators_give_credits_once(
    visiting: Visiting, local_stack: Stack, operator: Customer
) -> None:
    visit = visiting()
    page, who = visit.page, user(local_stack, "operators")
    visit.begin("#/operators")
    visit.enter(who)
    page.get_by_label("Account").fill(operator.account)
    page.get_by_label("Credits", exact=True).fill("3")
    page.get_by_role("button", name="Give").click()
    expect(page.get_by_text(f"{operator.account} has 3 credits more.")).to_be_visible()
    assert operator.get("/v1/credits").json()["available"] == 3


def test_customers_have_no_operators_page(visit: Visit) -> None:
    page = visit.page
    expect(page.get_by_role("link", name="Operators")).to_have_count(0)
    page.goto(f"{visit.home}/#/operators")
    expect(visit.heading("There is no such page")).to_be_visible()


def test_the_keyboard_is_enough(visiting: Visiting, customer: User) -> None:
    visit = visiting()
    page = visit.page
    visit.begin()
    page.get_by_label("Email").wait_for()
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.type(customer.email)
    page.keyboard.press("Tab")
    page.keyboard.type(customer.password)
    page.keyboard.press("Enter")
    expect(visit.heading("Tasks")).to_be_focused()


def test_speaks_chinese_to_those_who_read_it(visiting: Visiting) -> None:
    visit = visiting(locale="zh-CN")
    visit.begin()
    expect(visit.heading("登录")).to_be_visible()
    expect(visit.page.locator("html")).to_have_attribute("lang", "zh-Hans")
    visit.is_fine("sign-in-zh")
    visit.page.get_by_role("button", name="English").click()
    expect(visit.heading("Sign in")).to_be_visible()
    visit.page.reload()
    expect(visit.heading("Sign in")).to_be_visible()


def test_a_token_that_ended_asks_to_sign_in_again_and_comes_back(
    visit: Visit, customer: User
) -> None:
    page = visit.page
    page.route("**/v1/credits*", lambda route: route.fulfill(status=401, body="{}"))
    page.get_by_role("link", name="Credits").click()
    expect(page.get_by_text("You were signed out.")).to_be_visible()
    page.unroute("**/v1/credits*")
    visit.enter(customer)
    expect(visit.heading("Credits")).to_be_visible()
    stored = page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}])")
    assert "eyJ" not in stored  # how every JWT begins


ISSUER = "https://issuer.example"


@pytest.fixture
def elsewhere(visiting: Visiting, operator: Customer) -> Iterator[Visit]:
    """A console whose deployment names another issuer, which gives out tokens with PKCE."""
    visit = visiting()
    page, secrets_kept = visit.page, {}
    token = operator.http.headers["Authorization"].partition(" ")[2]
    identity = IdentityView(sign_in=SignIn.REDIRECT, issuer=ISSUER, client_id="app", endpoint=None)
    visit.serve("v1/config", ConfigView(identity=identity, operator_group="operators"))

    def allow_issuer(route: Route) -> None:
        answer = visit.forward(route)
        policy = answer.headers["content-security-policy"]
        told = policy.replace("connect-src", f"connect-src {ISSUER}")
        headers = {"content-security-policy": told, "content-type": "text/html"}
        route.fulfill(status=200, headers=headers, body=answer.text)

    def asks_who(route: Route) -> None:
        asked = {
            name: each[0] for name, each in parse_qs(urlsplit(route.request.url).query).items()
        }
        secrets_kept["challenge"] = asked["code_challenge"]
        assert asked["code_challenge_method"] == "S256"
        back = f"{asked['redirect_uri']}?code=one-time&state={asked['state']}"
        # No redirect: the browser would follow it without asking here again.
        sent_back = f'<meta http-equiv="refresh" content="0;url={back}">'
        route.fulfill(status=200, content_type="text/html", body=sent_back)

    def gives_token(route: Route) -> None:
        sent = {name: each[0] for name, each in parse_qs(route.request.post_data or "").items()}
        digest = hashlib.sha256(sent["code_verifier"].encode()).digest()
        proof = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        right = proof == secrets_kept["challenge"] and sent["code"] == "one-time"
        body = {"access_token": token, "expires_in": 3600} if right else {"error": "invalid_grant"}
        open_to_all = {"Access-Control-Allow-Origin": "*"}
        route.fulfill(status=200 if right else 400, json=body, headers=open_to_all)

    where = {"authorization_endpoint": f"{ISSUER}/in", "token_endpoint": f"{ISSUER}/token"}
    open_to_all = {"Access-Control-Allow-Origin": "*"}
    page.route(
        f"{ISSUER}/.well-known/openid-configuration",
        lambda route: route.fulfill(status=200, json=where, headers=open_to_all),
    )
    page.route(f"{ISSUER}/in?*", asks_who)
    page.route(f"{ISSUER}/token", gives_token)
    page.route(re.compile(re.escape(visit.home) + r"/(\?.*)?(#.*)?$"), allow_issuer)
    yield visit
    visit.asked.clear()  # the issuer is the fourth place, and only here


def test_signs_in_on_another_issuers_page(elsewhere: Visit) -> None:
    page = elsewhere.page
    elsewhere.begin("#/credits")
    page.get_by_role("button", name="Go to sign in").click()
    expect(elsewhere.heading("Credits")).to_be_visible()
    assert page.url == f"{elsewhere.home}/#/credits"
    expect(page.get_by_role("link", name="Operators")).to_be_visible()
