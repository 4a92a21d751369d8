"""Intake: give out an upload form, take an order, withdraw it."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from functions.domain.credits import EntryKind
from functions.domain.errors import OutcomeUnknown, SourceUnreadable, Unavailable
from functions.domain.kinds import Fault, InvalidInput, Kind, Order
from functions.domain.media import HEAD_BYTES, MediaHead, Unreachable, UploadForm, source_key
from functions.domain.outcomes import Refused
from functions.domain.ports import Ports
from functions.domain.results import Applied, Created, Creation, Stale
from functions.domain.states import Event, TaskState
from functions.domain.tasks import Happening, Ignored, Route, Task, opened
from functions.domain.tickets import NewTask, TaskRef
from functions.pipeline.advance import advance, count_credits

CANCEL_TRIES = 5
UNSENT = "0" * 26  # stands for a source that is not uploaded yet


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """Where to upload a source, and its id for the order."""

    id: str
    form: UploadForm


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """What an order would hold, in whole credits."""

    units: int
    unit_price: int

    @property
    def price(self) -> int:
        """Multiply."""
        return self.units * self.unit_price


def quote(
    ports: Ports,
    account: str,
    kind_name: str,
    given: Mapping[str, Any],
    *,
    provider: str | None = None,
) -> Quote | InvalidInput | Refused:
    """Price an input as an order would; its source need not be uploaded yet.

    What is priced by its source is looked at if it is named, and is else taken to be the least.
    """
    kind = ports.kinds.get(kind_name)
    if kind is None:
        return _unknown_kind(ports)
    route = _route(ports, kind, provider)
    there = given.keys() & {"source", "url"}
    wanted = kind.order(given if there else {"source": UNSENT, **given})
    if isinstance(wanted, InvalidInput):
        return wanted
    if isinstance(route, InvalidInput):
        return route
    if there and kind.sized:
        found = _look(ports, account, kind, wanted)
        if not isinstance(found, _Sized):
            return found
        wanted = found.order
    price = price_of(ports, kind, route, wanted.unit_price)
    return Quote(units=wanted.units, unit_price=price)


def upload(ports: Ports, account: str, kind_name: str, content_type: str) -> Slot | InvalidInput:
    """Sign an upload of one source for a kind."""
    kind = ports.kinds.get(kind_name)
    if kind is None:
        return _unknown_kind(ports)
    if content_type not in kind.upload.content_types:
        accepted = ", ".join(kind.upload.content_types)
        return _fault("/content_type", "type-unsupported", f"Upload one of: {accepted}.")
    upload_id = ports.ids.ulid(ports.clock.now())
    form = ports.media.upload_form(
        source_key(account, upload_id),
        content_type=content_type,
        bytes_max=kind.upload.bytes_max,
    )
    return Slot(id=upload_id, form=form)


def order(
    ports: Ports,
    account: str,
    key: str,
    kind_name: str,
    given: Mapping[str, Any],
    *,
    provider: str | None = None,
) -> Creation | InvalidInput | Refused:
    """Validate, price, look at the source, then hold the credits and record the task at once."""
    kind = ports.kinds.get(kind_name)
    if kind is None:
        return _unknown_kind(ports)
    route = _route(ports, kind, provider)
    wanted = kind.order(given)
    if isinstance(wanted, InvalidInput):
        return wanted
    if isinstance(route, InvalidInput):
        return route
    key_hash, print_ = digest(key), fingerprint(kind_name, given, provider)
    found = _look(ports, account, kind, wanted)
    if not isinstance(found, _Sized):  # a repeat whose source is gone by now is still a repeat
        now = ports.clock.now()
        return ports.store.replayed(account, key_hash, print_, now) or found
    now = ports.clock.now()
    new = NewTask(
        task=_first_image(ports, account, kind, found, route=route, now=now),
        input=_recorded(found, provider),
        key_hash=key_hash,
        fingerprint=print_,
        open_max=ports.rules.open_max,
        keep_until=now + timedelta(days=ports.rules.key_days),
        input_until=now + timedelta(days=2 * kind.limits.keep_days),
    )
    try:
        created = ports.store.create(new)
    except OutcomeUnknown as error:
        known = ports.store.replayed(account, key_hash, print_, now)
        if known is None:
            raise Unavailable from error
        return known
    if isinstance(created, Created):
        count_credits(ports, created.task, EntryKind.HOLD)
    return created


def cancel(ports: Ports, ref: TaskRef) -> Task | None:
    """Withdraw a task if that is still possible; its current image tells. None: unknown."""
    for _ in range(CANCEL_TRIES):
        task = ports.store.get(ref)
        if task is None:
            return None
        result = advance(ports, task, Happening(event=Event.CANCEL, code="canceled"))
        match result:
            case Applied():
                return result.task
            case Ignored():
                return task
            case Stale():
                continue
            case _:
                break
    raise Unavailable


def routes_of(ports: Ports, kind: Kind) -> tuple[Route, ...]:
    """Say who renders a kind in this deployment, in the order in which they are tried."""
    default = tuple(Route(provider=name, lane=kind.name) for name in kind.providers)
    return ports.rules.routes.get(kind.name) or default


def _route(ports: Ports, kind: Kind, provider: str | None) -> Route | InvalidInput:
    routes = routes_of(ports, kind)
    if provider is None:
        return routes[0]
    for route in routes:
        if route.provider == provider:
            return route
    names = ", ".join(route.provider for route in routes)
    return _fault("/provider", "provider-unknown", f"Choose one of: {names}.")


def fingerprint(kind_name: str, given: Mapping[str, Any], provider: str | None = None) -> str:
    """Tell requests apart: the parsed body, sorted, with no defaults filled in."""
    body = [kind_name, given, provider]
    return digest(json.dumps(body, sort_keys=True, separators=(",", ":")))


def price_of(ports: Ports, kind: Kind, route: Route, default: int) -> int:
    """Say what one unit costs with a provider, in whole credits."""
    return ports.rules.unit_prices.get(f"{kind.name}/{route.provider}", default)


def digest(text: str) -> str:
    """Name a text by its SHA-256, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def _fault(pointer: str, code: str, detail: str) -> InvalidInput:
    return InvalidInput(faults=(Fault(pointer=pointer, code=code, detail=detail),))


def _unknown_kind(ports: Ports) -> InvalidInput:
    return _fault("/kind", "kind-unknown", f"Choose one of: {', '.join(sorted(ports.kinds))}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sized:
    """An order whose source was looked at."""

    order: Order
    seen: MediaHead


def _look(ports: Ports, account: str, kind: Kind, wanted: Order) -> _Sized | InvalidInput | Refused:
    """Look at the source, as far as it takes to refuse it or to price it."""
    seen = _seen(ports, account, wanted)
    if not isinstance(seen, MediaHead):
        return seen
    refused = kind.examine(seen)
    if refused is not None:
        return refused
    if kind.sized is None:
        return _Sized(order=wanted, seen=seen)
    try:
        sized = kind.sized(wanted, seen, partial(_piece, ports, wanted, seen))
    except SourceUnreadable:
        return Refused(
            code="length-unknown",
            reason="The length of the video could not be read from there. Upload the file instead.",
        )
    return sized if isinstance(sized, Refused) else _Sized(order=sized, seen=seen)


def _recorded(found: _Sized, provider: str | None) -> dict[str, Any]:
    """Say what is kept of an order, for whoever works on it and to order it again."""
    return {
        "order": dict(found.order.input),
        "source": found.seen.key,
        "etag": found.seen.etag,
        "promise": asdict(found.order.promise),
        "provider": provider,  # as chosen; None leaves it to the deployment
    }


def _seen(ports: Ports, account: str, wanted: Order) -> MediaHead | InvalidInput | Refused:
    if wanted.url:
        found = ports.web.head(wanted.url, first_bytes=HEAD_BYTES)
        if isinstance(found, Unreachable):
            return Refused(code=found.code, reason=found.reason)
        return found
    seen = ports.media.head(source_key(account, wanted.source), first_bytes=HEAD_BYTES)
    if seen is None:
        detail = "There is no such upload, or it has expired. Upload the source again."
        return _fault("/input/source", "source-missing", detail)
    return seen


def _piece(ports: Ports, wanted: Order, seen: MediaHead, start: int, count: int) -> bytes:
    if start + count <= len(seen.head):
        return seen.head[start : start + count]
    if wanted.url:
        return ports.web.piece(wanted.url, start, count)
    piece = ports.media.read(seen.key, bytes_max=count, start=start)
    if piece is None:
        raise SourceUnreadable(seen.key)
    return piece


def _first_image(
    ports: Ports,
    account: str,
    kind: Kind,
    found: _Sized,
    *,
    route: Route,
    now: datetime,
) -> Task:
    wanted = found.order
    task = Task(
        account=account,
        id=ports.ids.ulid(now),
        kind=kind.name,
        provider=route.provider,
        lane=route.lane,
        resource=digest(wanted.url)[:32] if wanted.url else found.seen.etag.strip('"'),
        price=wanted.units * price_of(ports, kind, route, wanted.unit_price),
        state=TaskState.QUEUED,
        created_at=now,
    )
    return opened(task, now=now, limits=kind.limits)
