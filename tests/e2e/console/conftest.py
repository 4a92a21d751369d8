"""A real browser before the deployed console, and what every page of it must hold to."""

import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    Locator,
    Page,
    Request,
    Route,
    sync_playwright,
)
from pydantic import BaseModel

from local.customer import Customer, sign_in
from local.instance import ROOT
from local.stack import Stack

NAMES = ("chromium", "chromium-browser", "google-chrome")
SWITCHES = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PHONE = (390, 844)
PATIENCE_MS = 30_000.0
AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
SHOTS = os.environ.get("TALLYREEL_SHOTS")  # a folder to keep pictures in, to look at them


# Closed with the module: an open driver has an event loop, which other tests could not start.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = next((found for name in NAMES if (found := shutil.which(name))), None)
    if path is None:
        reason = f"none of {', '.join(NAMES)} is installed"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=path, args=list(SWITCHES))
        yield opened
        opened.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """Someone who can sign in with a password."""

    email: str
    password: str
    account: str


@pytest.fixture(scope="session")
def operator(local_stack: Stack) -> Iterator[Customer]:
    name = f"granter-{secrets.token_hex(4)}@example.com"
    with closing(sign_in(local_stack, name, groups=("operators",))) as made:
        yield made


@pytest.fixture
def customer(local_stack: Stack, operator: Customer) -> User:
    made = user(local_stack)
    operator.post(f"/v1/admin/accounts/{made.account}/credits", {"amount": 20})
    return made


def user(live: Stack, *groups: str) -> User:
    email, password = f"{secrets.token_hex(6)}@example.com", f"Aa1!{secrets.token_urlsafe(12)}"
    pool = live.outputs["UserPoolId"]
    with closing(live.client("cognito-idp")) as cognito:
        made = cognito.admin_create_user(
            UserPoolId=pool,
            Username=email,
            MessageAction="SUPPRESS",
            UserAttributes=[{"Name": "email", "Value": email}],
        )["User"]
        cognito.admin_set_user_password(
            UserPoolId=pool, Username=email, Password=password, Permanent=True
        )
        for group in groups:
            cognito.admin_add_user_to_group(UserPoolId=pool, Username=email, GroupName=group)
    account = {each["Name"]: each["Value"] for each in made["Attributes"]}["sub"]
    return User(email=email, password=password, account=account)


@pytest.fixture(scope="session")
def photo_file(photo: bytes, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("console") / "photo.jpg"
    path.write_bytes(photo)
    return path


@dataclass(slots=True)
class Visit:
    """A page of the console, and everything that it asked for and complained about."""

    page: Page
    live: Stack
    asked: list[Request] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    @property
    def home(self) -> str:
        """Where the console is."""
        return self.live.browser_url

    def begin(self, fragment: str = "") -> None:
        self.page.goto(f"{self.home}/{fragment}")

    def enter(self, who: User) -> None:
        self.page.get_by_label("Email").fill(who.email)
        self.page.get_by_label("Password").fill(who.password)
        self.page.get_by_role("button", name="Sign in").click()
        self.page.get_by_role("button", name="Sign out").wait_for()

    def heading(self, name: str) -> Locator:
        return self.page.get_by_role("heading", name=name, level=1)

    def serve(self, path: str, shown: BaseModel, **headers: str) -> None:
        """Let the API answer this, in the shape that it really has."""

        def answer(route: Route) -> None:
            route.fulfill(
                status=200,
                headers=headers,
                content_type="application/json",
                body=shown.model_dump_json(),
            )

        self.page.route(f"{self.home}/{path}", answer)

    def forward(self, route: Route) -> httpx.Response:
        """Send a request on: only the browser finds names below `localhost`."""
        request = route.request
        told = {name: value for name, value in request.headers.items() if name != "host"}
        return httpx.request(
            request.method,
            request.url.replace(self.home, self.live.api_url),
            headers=told,
            content=request.post_data_buffer,
            trust_env=False,
            timeout=30,
        )

    def picture(self, name: str) -> None:
        if SHOTS:
            Path(SHOTS).mkdir(exist_ok=True)
            self.page.screenshot(path=f"{SHOTS}/{name}.png", full_page=True)

    def is_fine(self, name: str) -> None:
        """Fit a phone, and leave axe nothing to say, in both themes."""
        for theme in ("light", "dark"):
            self.page.emulate_media(color_scheme=theme, reduced_motion="reduce")
            self.picture(f"{name}-{theme}")
            assert self.page.evaluate("document.documentElement.scrollWidth") <= PHONE[0], name
            self.page.evaluate(AXE.read_text("utf-8"))
            found = self.page.evaluate("axe.run({resultTypes: ['violations']})")
            assert [
                (each["id"], node["html"], node["failureSummary"])
                for each in found["violations"]
                for node in each["nodes"]
            ] == [], (name, theme)


Visiting = Callable[..., Visit]


@pytest.fixture
def visiting(browser: Browser, local_stack: Stack) -> Iterator[Visiting]:
    """Open a page; at the end see that it kept to the places it may talk to."""
    visits: list[Visit] = []

    def visit(**more: Any) -> Visit:
        width, height = PHONE
        options = {"viewport": {"width": width, "height": height}, "locale": "en-GB"} | more
        context = browser.new_context(**options)
        context.set_default_timeout(PATIENCE_MS)
        made = Visit(page=context.new_page(), live=local_stack)
        made.page.on("request", lambda request: made.asked.extend([request]))
        made.page.on("pageerror", lambda error: made.complaints.append(str(error)))
        made.page.on("console", lambda message: made.complaints.extend(_violation(message)))
        visits.append(made)
        return made

    yield visit
    allowed = {local_stack.browser_url, local_stack.endpoint}
    for made in visits:
        made.page.context.close()
        assert made.complaints == []
        assert {_origin(each.url) for each in made.asked} - {"blob:"} <= allowed


def _violation(message: ConsoleMessage) -> list[str]:
    return [message.text] if "Content Security Policy" in message.text else []


def _origin(address: str) -> str:
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}" if parts.netloc else f"{parts.scheme}:"
