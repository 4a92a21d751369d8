"""Credits and what can be ordered for them."""

from typing import Annotated, Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Query
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter

from functions.bootstrap import ports
from functions.domain.credits import Entry
from functions.domain.kinds import InvalidInput
from functions.domain.outcomes import Refused
from functions.entrypoints.http.caller import caller_of
from functions.entrypoints.http.documented import problems, view
from functions.entrypoints.http.models import (
    BalanceView,
    EntryView,
    KindList,
    KindView,
    LedgerView,
    QuoteBody,
    QuoteView,
)
from functions.entrypoints.http.problems import answer
from functions.entrypoints.http.request import reply, request_id
from functions.pipeline.intake import quote, routes_of

router = APIGatewayHttpRouter()


@router.get(
    "/v1/credits", summary="See your credits", responses=view(200, BalanceView) | problems(403)
)
def balance() -> Response[Any]:
    """Show what is available, held for open tasks, and spent."""
    had = ports().store.balance(caller_of(router.current_event).account)
    return reply(BalanceView(available=had.available, held=had.held, spent=had.spent))


@router.get(
    "/v1/credits/ledger",
    summary="See every movement of your credits",
    responses=view(200, LedgerView) | problems(400, 403),
)
def ledger(
    limit: Annotated[int, Query(ge=1, le=100)] = 50,
    cursor: Annotated[str | None, Query(max_length=200)] = None,
) -> Response[Any]:
    """List entries, newest first, a task's hold and its end side by side."""
    account = caller_of(router.current_event).account
    page = ports().store.ledger(account, limit=limit, cursor=cursor)
    return reply(LedgerView(entries=[entry_view(e) for e in page.items], cursor=page.cursor))


@router.post(
    "/v1/quotes",
    summary="See what an order would cost",
    responses=view(200, QuoteView) | problems(400, 403),
)
def priced(body: QuoteBody) -> Response[Any]:
    """Price an input as the order would, before anything is uploaded or held."""
    account = caller_of(router.current_event).account
    found = quote(ports(), account, body.kind, body.input, provider=body.provider)
    if isinstance(found, InvalidInput | Refused):
        return answer(found, request_id(router.current_event))
    return reply(QuoteView(price=found.price, unit_price=found.unit_price, units=found.units))


@router.get(
    "/v1/kinds",
    summary="See what can be ordered",
    responses=view(200, KindList),
)
def kinds() -> Response[Any]:
    """List kinds with their inputs and prices."""
    shown = [
        KindView(
            name=kind.name,
            title=kind.title,
            price=kind.price,
            sized=kind.sized is not None,
            input=kind.schema(),
            providers=[route.provider for route in routes_of(ports(), kind)],
            content_types=list(kind.upload.content_types),
            bytes_max=kind.upload.bytes_max,
            result_hours=kind.limits.result_seconds / 3600,
        )
        for kind in ports().kinds.values()
    ]
    return reply(KindList(kinds=shown), Cache_Control="public, max-age=300")


def entry_view(entry: Entry) -> EntryView:
    """Show a ledger entry."""
    return EntryView(
        id=entry.id,
        kind=entry.kind,
        amount=entry.amount,
        at=entry.at,
        task=entry.task,
        note=entry.note,
    )
