"""Models over HTTPS: showing has an end and can be repeated, asking is exactly one request."""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Final

import httpx

from functions.adapters.exchanged import NoAnswerError, NotSentError, exchanged, new_client
from functions.adapters.signing import CannotSignError, RoleSigner
from functions.domain.answers import no_analysis
from functions.domain.errors import TallyreelError
from functions.domain.exchange import HttpReply, HttpRequest, same_place
from functions.domain.jobs import Fault, NotSent, Rejected, Unknown
from functions.domain.models import Asked, Clip, Model, Question, Showing, Shown, Wait
from functions.domain.ports import Clock
from functions.domain.providers import Secrets

SHOW_SECONDS: Final = 180.0
SHOW_STEPS_MAX: Final = 200  # requests and waits, should waiting take no time
FORGET_SECONDS: Final = 15.0


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
    ) -> None:
        self._secrets = secrets
        self._clock = clock
        self._signer = signer or RoleSigner()
        self._sleep = sleep
        self._elapsed = elapsed

    def show(self, model: Model, clip: Clip) -> Showing:
        """Drive the showing to its end. Whatever breaks on the way, nothing is owed for it."""
        try:
            secrets = self._secrets(model.name)
            with new_client() as client:
                return self._shown(client, model, clip, secrets)
        except (NotSentError, NoAnswerError, CannotSignError) as error:
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
            with new_client() as client:
                reply = exchanged(client, ready, model.answer_seconds)
        except (NotSentError, CannotSignError) as error:
            return NotSent(cause=str(error))
        except NoAnswerError as error:
            return Unknown(cause=str(error))
        except TallyreelError as error:
            return NotSent(cause=type(error).__name__)
        return model.answered(reply, self._clock.now())

    def forget(self, model: Model, shown: Shown) -> None:
        """Have a clip removed. One that stays is removed by the vendor itself, in its time."""
        with suppress(NotSentError, NoAnswerError, CannotSignError, TallyreelError):
            request = model.forget(shown, self._secrets(model.name))
            if request is not None:
                with new_client() as client:
                    exchanged(client, self._ready(model, request), FORGET_SECONDS)

    def _shown(self, client: httpx.Client, model: Model, clip: Clip, secrets: Secrets) -> Showing:
        until = self._elapsed() + SHOW_SECONDS
        replies: list[HttpReply] = []
        for _ in range(SHOW_STEPS_MAX):
            step = model.show(clip, replies, secrets, self._clock.now())
            left = until - self._elapsed()
            if isinstance(step, Wait):
                if step.seconds >= left:
                    break
                self._sleep(step.seconds)
                del replies[-1:]
            elif not isinstance(step, HttpRequest):
                return step
            elif left <= 0:
                break
            else:
                replies.append(exchanged(client, self._ready(model, step), left))
        return Rejected(failure=no_analysis(Fault.TROUBLE, "clip-not-ready"))

    def _ready(self, model: Model, request: HttpRequest) -> HttpRequest:
        """Complete a request, and keep it from leaving for anywhere but the model."""
        url = self._signer.placed(request.url, request)
        if not same_place(url, self._signer.placed(model.base_url, request)):
            raise NotSentError("address-refused")
        placed = replace(request, url=url)
        return self._signer.signed(placed) if request.signed_for else placed
