"""A task by Python, command line and the documents' JavaScript, on the deployed template."""

import asyncio
import json
import os
import re
import secrets
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

import tallyreel
from local.customer import Customer, sign_in
from local.instance import ROOT
from local.stack import Stack
from tests.media import clips
from tests.workers import shared_folder

PASSWORD = f"Aa1!{secrets.token_urlsafe(12)}"
ORDER = {"motion": "zoom-in", "seconds": 1}
PATIENCE_SECONDS = 120

pytestmark = [pytest.mark.e2e, pytest.mark.emulator]


@pytest.fixture(scope="module")
def operator(local_stack: Stack) -> Iterator[Customer]:
    with closing(sign_in(local_stack, "clients@example.com", groups=("operators",))) as made:
        yield made


@pytest.fixture(scope="module")
def email(local_stack: Stack, operator: Customer) -> str:
    """A customer with credits for ten seconds, whose password is known."""
    name = f"{secrets.token_hex(6)}@example.com"
    pool = local_stack.outputs["UserPoolId"]
    with (
        closing(sign_in(local_stack, name)) as made,
        closing(local_stack.client("cognito-idp")) as cognito,
    ):
        cognito.admin_set_user_password(
            UserPoolId=pool, Username=name, Password=PASSWORD, Permanent=True
        )
        operator.post(f"/v1/admin/accounts/{made.account}/credits", {"amount": 20})
    return name


@pytest.fixture
def photo_file(photo: bytes, tmp_path: Path) -> Path:
    """Another photo to the service than the last test's."""
    (tmp_path / "photo.jpg").write_bytes(photo + secrets.token_bytes(8))
    return tmp_path / "photo.jpg"


@pytest.fixture
def login(local_stack: Stack, email: str) -> tallyreel.Login:
    made = tallyreel.Login(local_stack.browser_url)
    made.sign_in(email, PASSWORD)
    return made


def is_clip(file: Path) -> bool:
    return file.read_bytes()[4:8] == b"ftyp"


def test_python_orders_waits_and_fetches(
    local_stack: Stack, login: tallyreel.Login, photo_file: Path, tmp_path: Path
) -> None:
    with tallyreel.Client(local_stack.browser_url, login.token) as client:
        had = client.credits()["available"]
        assert client.quote("image_to_video", ORDER)["price"] == 2
        source = client.upload(photo_file, kind="image_to_video")
        task = client.create("image_to_video", {"source": source, **ORDER})
        assert client.wait(task["id"])["state"] == "delivered"
        assert is_clip(client.download(task["id"], tmp_path / "clip.mp4"))
        assert client.credits()["available"] == had - 2
        assert next(client.ledger())["kind"] == "settle"
        assert client.tasks(limit=1)["tasks"][0]["id"] == task["id"]
        with pytest.raises(tallyreel.Forbidden):
            client.admin("GET", "health")


def test_python_asks_for_many_things_at_once(local_stack: Stack, login: tallyreel.Login) -> None:
    async def asked() -> tuple[int, int]:
        async with tallyreel.AsyncClient(local_stack.api_url, login.token) as client:
            kinds, balance = await asyncio.gather(client.kinds(), client.credits())
            return len(kinds), balance["held"]

    kinds, held = asyncio.run(asked())
    assert kinds >= 1
    assert held == 0


def test_a_kept_login_is_renewed(local_stack: Stack, login: tallyreel.Login) -> None:
    later = tallyreel.Login(local_stack.browser_url)
    later.restore(login.refresh)
    with tallyreel.Client(local_stack.browser_url, later.token) as client:
        assert client.credits()["spent"] >= 0
    with pytest.raises(tallyreel.NotSignedIn):
        later.sign_in("nobody@example.com", PASSWORD)


@dataclass(frozen=True, slots=True)
class Shell:
    """Where the command line is used."""

    folder: Path

    def run(self, *words: str, status: int = 0) -> str:
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT / "client"),
            "TALLYREEL_HOME": str(self.folder / "home"),
        }
        done = subprocess.run(
            [sys.executable, "-m", "tallyreel.cli", *words],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout + done.stderr


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def test_the_command_line_orders_follows_and_shows(
    local_stack: Stack, email: str, photo_file: Path, shell: Shell
) -> None:
    assert "Sign in first" in shell.run("credits", status=1)
    shell.run("login", local_stack.browser_url, "--email", email, "--password", PASSWORD)
    assert (shell.folder / "home" / "login.json").stat().st_mode & 0o077 == 0

    said = shell.run("submit", photo_file.name, "--motion", "drift", "--seconds", "1", "--wait")
    (task,) = re.findall(r"^([0-9A-Z]{26})  2 credits held$", said, re.MULTILINE)
    assert is_clip(shell.folder / f"{task}.mp4")
    assert list((shell.folder / "home").glob("order-*")) == []
    first = shell.run("tasks").splitlines()[0]
    assert first.split("\t")[:4] == [task, "image_to_video", "delivered", "2"]
    assert "2 credits settled" in shell.run("show", task)
    assert shell.run("cancel", task).strip() == "Your result is ready."
    assert "settle" in shell.run("credits")
    assert "may not do that" in shell.run("admin", "health", status=1)
    assert "Your result is ready." in shell.run("follow", task)


def test_the_command_line_orders_and_prints_an_analysis(
    local_stack: Stack,
    email: str,
    shell: Shell,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    clips.film(tmp_path / "film.mp4", "moving", "noise", seconds=2)
    shell.run("login", local_stack.browser_url, "--email", email, "--password", PASSWORD)
    wanted = ("--kind", "video_analysis", "--set", "language=de")
    refused = shell.run("submit", "https://127.0.0.1/film.mp4", *wanted, status=1)
    assert "Only https addresses of public servers" in refused

    with shared_folder(tmp_path_factory, "worker-turn"):
        said = shell.run("submit", "film.mp4", *wanted, "--wait")
    (task,) = re.findall(r"^([0-9A-Z]{26})  5 credits held$", said, re.MULTILINE)
    kept = json.loads((shell.folder / f"{task}.json").read_text("utf-8"))
    assert json.loads(shell.run("result", task)) == kept
    assert [round(shot["start"], 1) for shot in kept["shots"]] == [0.0, 1.0]
    assert "## Storyboard" in shell.run("result", task, "--markdown")


def test_the_command_line_serves_operators(
    local_stack: Stack, operator: Customer, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TALLYREEL_URL", local_stack.api_url)
    monkeypatch.setenv("TALLYREEL_TOKEN", operator.http.headers["Authorization"].split()[1])

    once = shell.run("admin", "grant", operator.account, "5", "--key", "k" * 20)
    again = shell.run("admin", "grant", operator.account, "5", "--key", "k" * 20)
    assert again == once.replace("\n", " (given before)\n")
    assert "overdue 0" in shell.run("admin", "health")
    shell.run("admin", "dead")
    shell.run("admin", "redrive", "--code", "nothing-died-of-this")
    assert "understood 0" in shell.run("admin", "hooks", "--replay")


def test_the_javascript_of_the_documents_does_it_right(
    local_stack: Stack, login: tallyreel.Login, photo_file: Path, tmp_path: Path
) -> None:
    (snippet,) = re.findall(
        r"^```js\n(.*?)^```$",
        (ROOT / "docs" / "api.md").read_text("utf-8"),
        re.DOTALL | re.MULTILINE,
    )
    given = {
        "api": local_stack.api_url,
        "key": secrets.token_urlsafe(24),
        "kind": "image_to_video",
        "input": ORDER,
    }
    script = tmp_path / "make.mjs"
    script.write_text(
        f"{snippet}\n"
        'import { readFileSync } from "node:fs";\n'
        f'const file = new File([readFileSync({json.dumps(str(photo_file))})], "photo.jpg", '
        '{ type: "image/jpeg" });\n'
        "// The first answer to the order is thrown away after it has come.\n"
        "let thrown = 0;\n"
        "const real = globalThis.fetch;\n"
        "globalThis.fetch = async (url, options) => {\n"
        "  const answer = await real(url, options);\n"
        '  if (String(url).endsWith("/v1/tasks") && thrown++ === 0) throw new TypeError("lost");\n'
        "  return answer;\n"
        "};\n"
        f"const given = {json.dumps(given)};\n"
        f"const token = async () => {json.dumps(login.token())};\n"
        "const task = await make({ ...given, file, token });\n"
        "console.log(JSON.stringify({ id: task.id, state: task.state, thrown }));\n",
        "utf-8",
    )
    done = subprocess.run(
        ["node", script], capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["state"], told["thrown"]) == ("delivered", 2)
    with tallyreel.Client(local_stack.api_url, login.token) as client:
        holds = [e for e in client.ledger() if e.get("task") == told["id"] and e["kind"] == "hold"]
    assert len(holds) == 1
