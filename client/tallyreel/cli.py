"""`tallyreel`: order, follow and fetch from a shell; look after a deployment as an operator."""

import json
import re
import sys
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.status import Status
from rich.table import Table

from tallyreel.client import Client
from tallyreel.errors import NotSignedIn, TallyreelError, Unreachable
from tallyreel.login import Login
from tallyreel.models import Task
from tallyreel.profile import Profile, Waiting, waiting_name
from tallyreel.steps import new_key

out, err = Console(), Console(stderr=True)
app = typer.Typer(no_args_is_help=True, help=__doc__, pretty_exceptions_enable=False)
admin = typer.Typer(no_args_is_help=True, help="What operators may do.")
app.add_typer(admin, name="admin")

LEDGER_LINES = 20
ADDRESS = re.compile("https?://", re.IGNORECASE)
COLOURS = {"delivered": "green", "failed": "red", "dead": "red", "canceled": "dim"}
TaskId = Annotated[str, typer.Argument(help="the task's id")]


def main() -> None:
    """Run; trouble is one line and a status."""
    try:
        app()
    except Unreachable as trouble:
        err.print(f"Cannot reach the service; your tasks go on. {trouble}", markup=False)
        sys.exit(2)
    except (TallyreelError, ValueError, OSError) as trouble:
        err.print(str(trouble), markup=False)
        sys.exit(1)


def connected() -> Client:
    """Make a client of what `login` kept, or of the environment."""
    profile = Profile.load()
    if profile.token:
        return Client(profile.url, profile.token)
    if not profile.refresh:
        raise NotSignedIn(401, {"detail": "Sign in first: tallyreel login URL"})
    login = Login(profile.url)
    login.restore(profile.refresh)
    return Client(profile.url, login.token)


@app.command()
def login(
    url: Annotated[str, typer.Argument(help="where the API is")],
    email: Annotated[str, typer.Option(prompt=True)],
    password: Annotated[str, typer.Option(prompt=True, hide_input=True)],
) -> None:
    """Sign in. What renews the tokens is kept in a file that only you can read."""
    made = Login(url)
    made.sign_in(email, password)
    kept = Profile(url=url, refresh=made.refresh).save()
    out.print(f"Signed in; kept in {kept}", markup=False)


@app.command()
def submit(
    source: Annotated[
        str, typer.Argument(help="a file; or an https address, for kinds that take one")
    ],
    kind: str = "image_to_video",
    motion: str | None = None,
    seconds: int | None = None,
    aspect: str | None = None,
    prompt: str | None = None,
    provider: str | None = None,
    more: Annotated[
        list[str] | None, typer.Option("--set", help="any other field: name=value")
    ] = None,
    *,
    wait: Annotated[bool, typer.Option("--wait", help="follow it and fetch the result")] = False,
    to: Annotated[Path | None, typer.Option(help="where to put the result")] = None,
) -> None:
    """Order a task. A repeat after a crash or a lost answer goes on with the same order."""
    options = {"motion": motion, "seconds": seconds, "aspect": aspect, "prompt": prompt}
    given: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    given |= dict(map(_field, more or []))
    file = None if ADDRESS.match(source) else Path(source)
    if file is None:
        given["url"] = source
    elif not file.is_file():
        raise ValueError(f"There is no file {source}. Nothing was ordered.")
    with connected() as client:
        name = waiting_name(file, kind, given, provider)
        order = Waiting.load(name)
        if order is None:
            order = Waiting(key=new_key(), source=_uploaded(client, file, kind)).save(name)
        ordered = {"source": order.source, **given} if file else given
        try:
            task = client.create(kind, ordered, provider=provider, key=order.key)
        except Unreachable:
            raise  # whether it arrived is unknown: the key stays for the next try
        except TallyreelError:
            Waiting.forget(name)
            raise
        Waiting.forget(name)
        out.print(f"{task['id']}  {task['credits']['amount']} credits held", markup=False)
        if wait:
            _followed(client, task["id"], to)


def _uploaded(client: Client, file: Path | None, kind: str) -> str:
    if file is None:
        return ""
    with out.status("Uploading…"):
        return client.upload(file, kind=kind)


def _field(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals:
        raise ValueError(f"--set {text}: say name=value")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


@app.command()
def follow(task_id: TaskId, to: Path | None = None) -> None:
    """Follow a task to its end and fetch the result; begin again whenever you like."""
    with connected() as client:
        _followed(client, task_id, to)


def _followed(client: Client, task_id: str, to: Path | None) -> None:
    shown = 0

    def news(task: Task) -> None:
        nonlocal shown
        for step in task["timeline"][shown:]:
            out.print(f"  {step['at'][11:19]}  {step['state']:<10} {step['reason']}", markup=False)
        shown = len(task["timeline"])
        status.update(task["message"])

    with Status("…", console=out) as status:
        task = client.wait(task_id, on_news=news)
    out.print(task["message"], style=COLOURS.get(task["state"]), markup=False)
    if task["result"]:
        suffix = task["result"]["content_type"].rpartition("/")[2]
        fetched = client.download(task_id, to or Path(f"{task_id}.{suffix}"))
        out.print(f"{fetched}", markup=False, soft_wrap=True)
    else:
        raise typer.Exit(1)


@app.command()
def result(
    task_id: TaskId,
    *,
    markdown: Annotated[bool, typer.Option("--markdown", help="as a page to read")] = False,
) -> None:
    """Print a result that is a document, such as an analysis, as JSON or as Markdown."""
    with connected() as client:
        if markdown:
            typer.echo(client.result(task_id, format="markdown"))
        else:
            typer.echo(json.dumps(client.result(task_id), indent=1, ensure_ascii=False))


@app.command()
def tasks(limit: int = 20) -> None:
    """List your tasks, newest first."""
    with connected() as client:
        _table(
            ["task", "kind", "state", "credits", "ordered"],
            [_line(task) for task in client.tasks(limit=limit)["tasks"]],
        )


@app.command()
def show(task_id: TaskId) -> None:
    """Show a task with everything that happened to it."""
    with connected() as client:
        task = client.task(task_id)
    out.print(task["message"], style=COLOURS.get(task["state"]), markup=False)
    if task["error"]:
        out.print(f"{task['error']['reason']} ({task['error']['code']})", markup=False)
    rows = [[s["at"], s["state"], str(s["attempt"]), s["reason"]] for s in task["timeline"]]
    _table(["at", "state", "attempt", "reason"], rows)
    held = task["credits"]
    out.print(f"{held['amount']} credits {held['state']}", markup=False)


@app.command()
def cancel(task_id: TaskId) -> None:
    """Withdraw a task, if it can still be."""
    with connected() as client:
        out.print(client.cancel(task_id)["message"], markup=False)


@app.command("credits")
def balance() -> None:
    """Show your credits and their latest movements."""
    with connected() as client:
        had = client.credits()
        first = list(islice(client.ledger(), LEDGER_LINES))
    out.print(
        f"available {had['available']}, held {had['held']}, spent {had['spent']}", markup=False
    )
    rows = [[e["at"], e["kind"], str(e["amount"]), e.get("task") or ""] for e in first]
    _table(["at", "what", "credits", "task"], rows)


# --- operators ------------------------------------------------------------------------------------


@admin.command()
def grant(account: str, amount: int, note: str | None = None, key: str | None = None) -> None:
    """Give an account credits; with the same key only once."""
    with connected() as client:
        given = client.grant(account, amount, note=note, key=key)
    out.print(f"{given['id']}{' (given before)' if given['replayed'] else ''}", markup=False)


@admin.command()
def dead(limit: int = 50) -> None:
    """List tasks that used up their attempts, longest dead first."""
    with connected() as client:
        found = client.admin("GET", "tasks", state="dead", limit=limit)["tasks"]
    rows = [
        [each["account"], each["task"]["id"], each["task"]["error"]["code"], each["task"]["kind"]]
        for each in found
    ]
    _table(["account", "task", "code", "kind"], rows)


@admin.command()
def redrive(
    account: Annotated[str | None, typer.Argument()] = None,
    task_id: Annotated[str | None, typer.Argument()] = None,
    code: str | None = None,
    limit: int = 20,
) -> None:
    """Start dead tasks anew: one by account and task, or many by what they died of."""
    with connected() as client:
        if account and task_id:
            done = client.admin("POST", f"tasks/{account}/{task_id}/redrive")
            rows = [[account, done["id"], done["state"]]]
        else:
            body = {"limit": limit, "code": code}
            found = client.admin("POST", "redrive", body)["tasks"]
            rows = [[each["account"], each["id"], each["outcome"]] for each in found]
    _table(["account", "task", "outcome"], rows)


@admin.command()
def hooks(*, replay: Annotated[bool, typer.Option("--replay")] = False) -> None:
    """List calls that were not understood, or judge them again."""
    with connected() as client:
        if replay:
            done = client.admin("POST", "hooks/replay")
            told = f"understood {done['replayed']}, still parked {done['parked']}"
            out.print(told, markup=False)
            return
        parked = client.admin("GET", "hooks")["parked"]
    _table(["parked call"], [[each["name"]] for each in parked])


@admin.command()
def audit() -> None:
    """Show what the auditor found; the status says whether the books are right."""
    with connected() as client:
        report = client.admin("GET", "audit")
    finished = report["finished_at"] or "going on"
    out.print(
        f"{finished}: {report['accounts']} accounts, {report['entries']} entries, "
        f"{report['found']} differences",
        markup=False,
    )
    rows = [[d["account"], d["code"], d["subject"], d["detail"]] for d in report["differences"]]
    if rows:
        _table(["account", "code", "subject", "detail"], rows)
        raise typer.Exit(1)


@admin.command()
def health() -> None:
    """Count overdue and dead tasks."""
    with connected() as client:
        found = client.admin("GET", "health")
    out.print(f"overdue {found['overdue']}, dead {found['dead']}", markup=False)


def _line(task: Task) -> list[str]:
    colour = COLOURS.get(task["state"], "blue")
    state = f"[{colour}]{task['state']}[/]"
    return [task["id"], task["kind"], state, str(task["credits"]["amount"]), task["created_at"]]


def _table(names: list[str], rows: list[list[str]]) -> None:
    if not out.is_terminal:  # for other programs: one line each, tabs between
        for row in rows:
            typer.echo("\t".join(each.partition("]")[2].partition("[")[0] or each for each in row))
        return
    made = Table(*names, box=None, pad_edge=False)
    for row in rows:
        made.add_row(*row)
    out.print(made)


if __name__ == "__main__":
    main()
