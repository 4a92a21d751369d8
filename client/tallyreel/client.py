"""The blocking client."""

import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, Self, TypeVar, cast, overload

import httpx

from tallyreel import steps
from tallyreel.models import Balance, Entry, Page, Quote, Task
from tallyreel.steps import CHUNK_BYTES, Answer, Fetch, Flow, Post, Send, Sleep, call
from tallyreel.wire import (
    Token,
    answer_of,
    content_type_of,
    fresh_from,
    located,
    lost,
    range_of,
    request_of,
    written,
)

T = TypeVar("T")


class Client:
    """One account's way to the API. `token` is an access token, or what gives one when asked."""

    def __init__(
        self,
        base_url: str,
        token: Token | None = None,
        *,
        timeout: float = 30.0,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._base = located(base_url)
        self._token = token
        self._sleep = sleep
        self._http = httpx.Client(timeout=timeout, transport=transport)

    def __enter__(self) -> Self:
        """Use it for a while."""
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of connections."""
        self._http.close()

    # --- tasks ------------------------------------------------------------------------------------

    def kinds(self) -> list[dict[str, Any]]:
        """See what can be ordered."""
        return list(self.run(call("GET", "/v1/kinds"))["kinds"])

    def quote(self, kind: str, given: Mapping[str, Any], *, provider: str | None = None) -> Quote:
        """See what an order would cost."""
        body = {"kind": kind, "input": dict(given), "provider": provider}
        return cast("Quote", self.run(call("POST", "/v1/quotes", body=body)))

    def upload(self, file: Path | str, *, kind: str, content_type: str | None = None) -> str:
        """Upload a source; its id goes into the order."""
        path = Path(file)
        told = content_type or content_type_of(path)
        return self.run(steps.upload(path, kind=kind, content_type=told))

    def create(
        self,
        kind: str,
        given: Mapping[str, Any],
        *,
        provider: str | None = None,
        key: str | None = None,
    ) -> Task:
        """Order a task. It is ordered once, however often it has to be sent.

        Without a `key` one is made. If the API stays out of reach, `Unreachable.key` holds it:
        give it back in to go on with the same order.
        """
        return self.run(steps.create(kind, given, provider=provider, key=key))

    def task(self, task_id: str) -> Task:
        """See how a task is doing."""
        return cast("Task", self.run(call("GET", f"/v1/tasks/{task_id}")))

    def tasks(self, *, limit: int = 20, cursor: str | None = None) -> Page:
        """List tasks, newest first."""
        asked = {"limit": limit, "cursor": cursor}
        return cast("Page", self.run(call("GET", "/v1/tasks", query=asked)))

    def wait(self, task_id: str, *, on_news: Callable[[Task], None] | None = None) -> Task:
        """Follow a task to its end; its id is all that this needs, also after a crash."""
        return self.run(steps.wait(task_id, on_news=on_news))

    def download(self, task_id: str, to: Path | str) -> Path:
        """Fetch a result, going on where an earlier try stopped, and check it."""
        return self.run(steps.download(task_id, Path(to)))

    @overload
    def result(self, task_id: str, *, format: Literal["json"] = "json") -> dict[str, Any]: ...

    @overload
    def result(self, task_id: str, *, format: Literal["markdown"]) -> str: ...

    def result(self, task_id: str, *, format: steps.Format = "json") -> Any:  # noqa: A002 - what it is
        """Read a result that is a document, such as an analysis: as a dictionary, or Markdown."""
        return self.run(steps.result(task_id, form=format))

    def cancel(self, task_id: str) -> Task:
        """Withdraw a task, if it can still be; the answer shows what it has come to."""
        return cast("Task", self.run(call("POST", f"/v1/tasks/{task_id}/cancel")))

    # --- credits ----------------------------------------------------------------------------------

    def credits(self) -> Balance:
        """See what is available, held and spent."""
        return cast("Balance", self.run(call("GET", "/v1/credits")))

    def ledger(self) -> Iterator[Entry]:
        """See every movement, newest first."""
        cursor: str | None = None
        while True:
            page = self.run(call("GET", "/v1/credits/ledger", query={"cursor": cursor}))
            yield from page["entries"]
            cursor = page["cursor"]
            if cursor is None:
                return

    # --- operators --------------------------------------------------------------------------------

    def grant(
        self, account: str, amount: int, *, note: str | None = None, key: str | None = None
    ) -> dict[str, Any]:
        """Give an account credits, once per key."""
        path, body = f"/v1/admin/accounts/{account}/credits", {"amount": amount, "note": note}
        return dict(self.run(call("POST", path, body=body, key=key or steps.new_key())))

    def admin(self, method: str, path: str, body: Any = None, **query: Any) -> dict[str, Any]:
        """Call an operators' route below `/v1/admin`, such as `health`, `tasks` or `audit`."""
        return dict(self.run(call(method, f"/v1/admin/{path}", body=body, query=query)))

    # --- how flows are run ------------------------------------------------------------------------

    def run(self, flow: Flow[T]) -> T:
        """Take a flow's steps one by one."""
        answer: Answer | None = None
        while True:
            try:
                step = next(flow) if answer is None else flow.send(answer)
            except StopIteration as end:
                return cast("T", end.value)
            answer = self._take(step)

    def _take(self, step: steps.Step) -> Answer:
        try:
            match step:
                case Sleep():
                    self._sleep(step.seconds)
                    return Answer(status=0)
                case Send():
                    request = request_of(self._base, step, fresh_from(self._token))
                    return answer_of(self._http.request(**request))
                case Post():
                    with step.file.open("rb") as file:
                        sent = {"file": (step.file.name, file, step.content_type)}
                        return answer_of(
                            self._http.post(step.url, data=dict(step.fields), files=sent)
                        )
                case Fetch():
                    return self._fetch(step)
        except httpx.TransportError as error:
            return lost(error)

    def _fetch(self, step: Fetch) -> Answer:
        with self._http.stream("GET", step.url, headers=range_of(step.file)) as answer:
            with written(step.file, answer) as put:
                for chunk in answer.iter_bytes(CHUNK_BYTES):
                    put(chunk)
            return Answer(status=answer.status_code)
