"""Providers over HTTPS: one submit is one request, every question has an end."""

from collections.abc import Callable
from datetime import datetime
from functools import cached_property
from typing import Final, TypeAlias, TypeVar, cast

import httpx

from functions.adapters.exchanged import NoAnswerError, NotSentError, exchanged, new_client
from functions.adapters.key_sets import KeySets
from functions.domain.errors import TallyreelError
from functions.domain.exchange import HttpReply, HttpRequest, same_place
from functions.domain.hooks import BadSignature, Delivery, Judgement
from functions.domain.jobs import (
    Cancellation,
    CannotTell,
    Job,
    JobState,
    NotSent,
    Observation,
    RenderOrder,
    Search,
    Submitted,
    Unknown,
)
from functions.domain.ports import Clock
from functions.domain.providers import Remote, Secrets

OBSERVE_STEPS_MAX: Final = 4
FIND_STEPS_MAX: Final = 12  # pages of a listing
TOKEN_CHARACTERS_MIN: Final = 16
SUBMIT_SECONDS: Final = 60.0  # an answer that comes late is still worth more than none
QUERY_SECONDS: Final = 15.0
A = TypeVar("A", bound=Observation | Search)
_Step: TypeAlias = Callable[[list[HttpReply], datetime], HttpRequest | A]


class ProviderHttp:
    """Provides `ProviderCalls`. `secrets` reads a provider's secrets, newest values first."""

    def __init__(
        self,
        secrets: Callable[[str], Secrets],
        clock: Clock,
        *,
        submit_seconds: float = SUBMIT_SECONDS,
        query_seconds: float = QUERY_SECONDS,
    ) -> None:
        self._secrets = secrets
        self._clock = clock
        self._submit_seconds = submit_seconds
        self._query_seconds = query_seconds
        self._key_sets = KeySets(self._loaded, clock)

    def submit(self, provider: Remote, order: RenderOrder) -> Submitted:
        """Order a render with exactly one request, on a connection of its own.

        A kept connection may be closed by the other side while we write, and would make an
        unknown outcome of what is none.
        """
        try:
            secrets = self._secrets(provider.name)
        except TallyreelError as error:
            return NotSent(cause=type(error).__name__)
        request = provider.submission(order, secrets, self._clock.now())
        if not isinstance(request, HttpRequest):
            return request
        if not same_place(request.url, provider.base_url):
            return NotSent(cause="address-refused")
        try:
            with self._client() as client:
                reply = exchanged(client, request, self._submit_seconds)
        except NotSentError as error:
            return NotSent(cause=str(error))
        except NoAnswerError as error:
            return Unknown(cause=str(error))
        return provider.submitted(reply, self._clock.now())

    def observe(self, provider: Remote, job: Job) -> Observation:
        """Ask where a job is. A question that fails says nothing about the job."""

        def step(replies: list[HttpReply], now: datetime) -> HttpRequest | Observation:
            return provider.observe(job, replies, self._secrets(provider.name), now)

        try:
            return self._asked(provider, step, OBSERVE_STEPS_MAX)
        except (NotSentError, NoAnswerError) as error:
            return Observation(state=JobState.UNANSWERED, word=str(error), job_id=job.id)

    def find(self, provider: Remote, token: str, since: datetime) -> Search:
        """Look for the job of a submit of unknown outcome."""
        if len(token) < TOKEN_CHARACTERS_MIN:  # a short one might be found in another's job
            raise ValueError("no token")

        def step(replies: list[HttpReply], now: datetime) -> HttpRequest | Search:
            return provider.find(token, since, replies, self._secrets(provider.name), now)

        try:
            return cast("Search", self._asked(provider, step, FIND_STEPS_MAX))
        except (NotSentError, NoAnswerError) as error:
            return CannotTell(cause=str(error))

    def cancel(self, provider: Remote, job: Job) -> Cancellation:
        """Withdraw a job, as far as the provider can. The stages ask afterwards."""
        now = self._clock.now()
        request = provider.cancellation(job, self._secrets(provider.name), now)
        if request is None:
            return Cancellation.UNSUPPORTED
        if not same_place(request.url, provider.base_url):
            return Cancellation.UNANSWERED
        try:
            return provider.canceled(exchanged(self._questions, request, self._query_seconds))
        except (NotSentError, NoAnswerError):
            return Cancellation.UNANSWERED

    def judge(self, provider: Remote, hook: Delivery, *, at: datetime | None = None) -> Judgement:
        """Judge a call. One that fits no key is judged once more under keys fetched anew."""
        secrets, url = self._secrets(provider.name), provider.key_set_url
        now = at or self._clock.now()
        keys = self._key_sets.current(url) if url else None
        judged = provider.receive(hook, secrets, keys, now)
        if url and isinstance(judged, BadSignature) and judged.keys_may_be_old:
            newer = self._key_sets.renewed(url)
            if newer and newer != keys:
                return provider.receive(hook, secrets, newer, now)
        return judged

    def close(self) -> None:
        """Close what is open."""
        if "_questions" in self.__dict__:
            self._questions.close()

    def _asked(self, provider: Remote, step: _Step[A], steps_max: int) -> A:
        """Drive a question of several requests to its answer."""
        replies: list[HttpReply] = []
        for _ in range(steps_max):
            answer = step(replies, self._clock.now())
            if not isinstance(answer, HttpRequest):
                return answer
            if not same_place(answer.url, provider.base_url):
                raise NotSentError("address-refused")
            replies.append(exchanged(self._questions, answer, self._query_seconds))
        answer = step(replies, self._clock.now())
        if isinstance(answer, HttpRequest):
            raise NoAnswerError("too-many-steps")
        return answer

    def _loaded(self, url: str) -> bytes | None:
        request = HttpRequest(method="GET", url=url, headers={"accept": "application/json"})
        try:
            reply = exchanged(self._questions, request, self._query_seconds)
        except (NotSentError, NoAnswerError):
            return None
        return reply.body if reply.ok and isinstance(reply.json(), dict) else None

    @cached_property
    def _questions(self) -> httpx.Client:
        return self._client()

    def _client(self) -> httpx.Client:
        return new_client()
