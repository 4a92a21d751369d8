"""Models over HTTPS: showing has an end and can be repeated, asking is exactly one request."""

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Any, Final, cast

import httpx

from functions.adapters.exchanged import NoAnswerError, NotSentError, exchanged, new_client
from functions.adapters.fetch import Downloader, Piece
from functions.adapters.signing import CannotSignError, RoleSigner
from functions.domain.answers import no_analysis
from functions.domain.errors import TallyreelError
from functions.domain.exchange import HttpReply, HttpRequest, same_place
from functions.domain.jobs import Fault, NotSent, Rejected, Unknown
from functions.domain.models import (
    Asked,
    Clip,
    Listener,
    Listening,
    Model,
    Question,
    Showing,
    Shown,
    Wait,
    Written,
)
from functions.domain.ports import Clock
from functions.domain.providers import Called, Secrets

SHOW_SECONDS: Final = 180.0
STEPS_MAX: Final = 1000  # requests and waits, should waiting take no time
LISTEN_SECONDS: Final = 1800.0
TRANSCRIPT_BYTES_MAX: Final = 32 << 20
FORGET_SECONDS: Final = 15.0
FILE_SECONDS: Final = 60.0


_BROKEN: Final = (NotSentError, NoAnswerError, CannotSignError)


class ModelCallsOverHttp:
    """Provides `ModelCalls`. `secrets` reads a model's secrets, newest values first."""

    def __init__(
        self,
        secrets: Callable[[str], Secrets],
        clock: Clock,
        *,
        signer: RoleSigner | None = None,
        sleep: Callable[[float], None] = time.sleep,
        elapsed: Callable[[], float] = time.monotonic,
        test_origins: Iterable[str] = (),
    ) -> None:
        self._secrets = secrets
        self._clock = clock
        self._signer = signer or RoleSigner()
        self._sleep = sleep
        self._elapsed = elapsed
        self._files = Downloader(seconds_max=FILE_SECONDS, test_origins=test_origins)

    def show(self, model: Model, clip: Clip) -> Showing:
        """Drive the showing to its end. Whatever breaks on the way, nothing is owed for it."""
        try:
            secrets = self._secrets(model.name)
            with self._client() as client:
                return self._shown(client, model, clip, secrets)
        except _BROKEN as error:
            return NotSent(cause=str(error))
        except TallyreelError as error:
            return NotSent(cause=type(error).__name__)

    def ask(self, model: Model, question: Question) -> Asked:
        """Send the one request that is paid for, on a connection of its own."""
        try:
            request = model.question(question, self._secrets(model.name))
            if not isinstance(request, HttpRequest):
                return request
            ready = self._ready(model, request)
            with self._client() as client:
                reply = exchanged(client, ready, model.answer_seconds)
        except (NotSentError, CannotSignError) as error:
            return NotSent(cause=str(error))
        except NoAnswerError as error:
            return Unknown(cause=str(error))
        except TallyreelError as error:
            return NotSent(cause=type(error).__name__)
        return model.answered(reply, self._clock.now())

    def listen(self, listener: Listener, name: str, place: str) -> Listening:
        """Ask for a job by its name until it has ended, and read what was written down."""

        def step(replies: Sequence[HttpReply], _now: datetime) -> Any:
            return listener.listen(name, place, replies)

        try:
            with self._client() as client:
                written = self._driven(client, listener, step, LISTEN_SECONDS)
            if written is None:
                return _unheard("not-ended")
            if not isinstance(written, Written):
                return cast("Rejected", written)
        except _BROKEN as error:
            return NotSent(cause=str(error))
        request = HttpRequest(method="GET", url=written.url)
        piece = self._files.piece(
            request, start=0, count=TRANSCRIPT_BYTES_MAX, hosts=listener.output_hosts
        )
        if not isinstance(piece, Piece):
            return NotSent(cause=type(piece).__name__)
        return listener.read(piece.content) or _unheard("not-readable")

    def forget(self, model: Model, shown: Shown) -> None:
        """Have a clip removed. One that stays is removed by the vendor itself, in its time."""
        with suppress(*_BROKEN, TallyreelError):
            request = model.forget(shown, self._secrets(model.name))
            if request is not None:
                with self._client() as client:
                    exchanged(client, self._ready(model, request), FORGET_SECONDS)

    def _shown(self, client: httpx.Client, model: Model, clip: Clip, secrets: Secrets) -> Showing:
        def step(replies: Sequence[HttpReply], now: datetime) -> Any:
            return model.show(clip, replies, secrets, now)

        shown = self._driven(client, model, step, SHOW_SECONDS)
        if shown is None:
            return Rejected(failure=no_analysis(Fault.TROUBLE, "clip-not-ready"))
        return cast("Showing", shown)

    def _driven(
        self,
        client: httpx.Client,
        called: Called,
        step: Callable[[Sequence[HttpReply], datetime], Any],
        seconds: float,
    ) -> Any:
        """Drive a conversation to what is no request and no wait; None if it takes too long."""
        until = self._elapsed() + seconds
        replies: list[HttpReply] = []
        for _ in range(STEPS_MAX):
            said = step(replies, self._clock.now())
            left = until - self._elapsed()
            if isinstance(said, Wait):
                if said.seconds >= left:
                    break
                self._sleep(said.seconds)
                del replies[-1:]
            elif not isinstance(said, HttpRequest):
                return said
            elif left <= 0:
                break
            else:
                replies.append(exchanged(client, self._ready(called, said), left))
        return None

    def _client(self) -> httpx.Client:
        return new_client()

    def _ready(self, called: Called, request: HttpRequest) -> HttpRequest:
        """Complete a request, and keep it from leaving for anywhere but the model."""
        url = self._signer.placed(request.url, request)
        if not same_place(url, self._signer.placed(called.base_url, request)):
            raise NotSentError("address-refused")
        placed = replace(request, url=url)
        return self._signer.signed(placed) if request.signed_for else placed


def _unheard(detail: str) -> Rejected:
    return Rejected(failure=no_analysis(Fault.TROUBLE, "transcript-failed", detail=detail))
