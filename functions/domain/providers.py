"""What a provider of renders is: our own, or one that is called over HTTPS and paid.

A remote provider is pure. It builds requests and reads replies; it does not send, wait, loop
or look at a clock. Questions that take several requests are written as one function of the
replies so far, which either asks for one more request or answers.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar

from functions.domain.exchange import HttpReply, HttpRequest
from functions.domain.hooks import Delivery, Judgement
from functions.domain.jobs import (
    Accepted,
    Cancellation,
    CannotTell,
    Job,
    Observation,
    Rejected,
    RemoteOutput,
    RenderOrder,
    Search,
    Unknown,
)
from functions.domain.outcomes import Failed, Refused, Rendered

Work = Callable[
    [Path, Path, Mapping[str, Any], Callable[[int, int], None]], Rendered | Refused | Failed
]


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltIn:
    """A renderer of our own: it runs where the task was claimed, and costs no fee.

    `render(source, out, order, on_progress)` turns the source into a file at `out`.
    """

    name: str
    render: Work


class Find(StrEnum):
    """How a submit of unknown outcome can be looked up."""

    NONE = "none"
    DIRECT = "direct"  # one question about our own name for the job
    LISTING = "listing"  # by paging through recent jobs


class Cancel(StrEnum):
    """What a cancel request does."""

    NONE = "none"
    SAFE = "safe"
    DESTROYS_FINISHED = "destroys-finished"  # racing with success it deletes the paid output


class Webhook(StrEnum):
    """Whether the provider calls us, and whether the call can be proved to be its own."""

    NONE = "none"
    SIGNED = "signed"
    UNSIGNED = "unsigned"  # only the token in its address speaks for it


@dataclass(frozen=True, slots=True, kw_only=True)
class Abilities:
    """What a provider can and cannot promise, as data for the stages and for the docs."""

    idempotent_create: bool = False  # a repeated submit under one token makes one job
    find: Find = Find.NONE
    find_settle_seconds: int = 0  # since the submit; before, an absence means nothing
    cancel: Cancel = Cancel.NONE
    webhook: Webhook = Webhook.NONE
    webhook_may_challenge: bool = False
    webhook_several_events: bool = False  # the first call is not the end
    output_lifetime_seconds: int  # since the end; after it the output is lost
    input_link_seconds: int  # since the submit; so long the photo's link must work
    input_kept_seconds: int | None = None  # since the end; None: it does not say
    job_known_seconds: int | None = None  # since the end; after it GONE is expected
    poll_interval_seconds_min: int
    photo_inline: bool = False  # takes the photo's bytes, not a link

    @property
    def resolves_unknown(self) -> bool:
        """Whether a submit of unknown outcome can be cleared up by asking or by repeating."""
        return self.idempotent_create or self.find is not Find.NONE


@dataclass(frozen=True, slots=True, kw_only=True)
class Secrets:
    """A provider's secrets by name. While one is rotated it has several values, newest first."""

    values: Mapping[str, tuple[str, ...]] = field(repr=False)

    def __getitem__(self, name: str) -> str:
        """Read the newest value; one that is not there is a mistake in the deployment."""
        return self.values[name][0]

    def every(self, name: str) -> tuple[str, ...]:
        """Read all values that are valid now."""
        return self.values.get(name, ())


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """What is called over HTTPS, and paid. Its fields are its configuration, with defaults."""

    name: str
    secrets: tuple[str, ...]  # names of what a call needs
    base_url: str
    submits_per_minute: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Remote(Called, ABC):
    """A provider of renders that takes orders, and is asked for them until they have ended.

    `find` and `observe` are given the replies to the requests that they asked for before.
    """

    abilities: Abilities
    hook_secrets: tuple[str, ...] = ()  # names of what judging a hook needs
    key_set_url: str | None = None  # where public keys for hooks are published
    output_hosts: tuple[str, ...] = ()  # with their subdomains; none named: any public host
    queries_per_minute: int | None = None

    @abstractmethod
    def submission(
        self, order: RenderOrder, secrets: Secrets, now: datetime
    ) -> HttpRequest | Rejected:
        """Build the one request that orders a render, or say why there is none to be built."""

    @abstractmethod
    def submitted(self, reply: HttpReply, now: datetime) -> Accepted | Rejected | Unknown:
        """Read the answer to a submission. What is not clearly a refusal is Unknown."""

    @abstractmethod
    def observe(
        self, job: Job, replies: Sequence[HttpReply], secrets: Secrets, now: datetime
    ) -> HttpRequest | Observation:
        """Ask where a job is."""

    def find(
        self,
        token: str,  # noqa: ARG002 - for those that can
        since: datetime,  # noqa: ARG002
        replies: Sequence[HttpReply],  # noqa: ARG002
        secrets: Secrets,  # noqa: ARG002
        now: datetime,  # noqa: ARG002
    ) -> HttpRequest | Search:
        """Look for the job of an attempt whose submit, at `since`, had no answer."""
        return CannotTell(cause="no-lookup")

    def cancellation(
        self,
        job: Job,  # noqa: ARG002 - for those that can
        secrets: Secrets,  # noqa: ARG002
        now: datetime,  # noqa: ARG002
    ) -> HttpRequest | None:
        """Build the request that withdraws a job; None where there is none."""
        return None

    def canceled(self, reply: HttpReply) -> Cancellation:  # noqa: ARG002 - for those that can
        """Read the answer to a cancellation."""
        return Cancellation.UNSUPPORTED

    @abstractmethod
    def receive(
        self, hook: Delivery, secrets: Secrets, key_set: bytes | None, now: datetime
    ) -> Judgement:
        """Judge a call: whose it is, then what it says. `key_set` is what `key_set_url` serves."""

    def download(self, output: RemoteOutput, secrets: Secrets) -> HttpRequest:  # noqa: ARG002 - for those whose files need a key
        """Build the request for a finished file."""
        return HttpRequest(method="GET", url=output.url)


Provider: TypeAlias = BuiltIn | Called
C = TypeVar("C", bound=Called)

_FIXED: Final = frozenset({"name", "abilities", "secrets", "hook_secrets"})


def configured(provider: C, options: Mapping[str, Any]) -> C:
    """Apply a deployment's options. One that the provider does not have is a mistake."""
    known = {one.name for one in fields(provider)} - _FIXED
    unknown = sorted(set(options) - known)
    if unknown:
        raise ValueError(f"{provider.name} has no option {', '.join(unknown)}")
    given: dict[str, Any] = {}
    for name, value in options.items():
        default = getattr(provider, name)
        changed = tuple(value) if isinstance(value, list) else value
        if isinstance(default, float) and type(changed) is int:
            changed = float(changed)
        if default is not None and not isinstance(changed, type(default)):
            raise TypeError(f"{provider.name}: {name} is no {type(default).__name__}")
        given[name] = changed
    return replace(provider, **given)
