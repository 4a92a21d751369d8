"""Over every provider and every mishap: billed renders never exceed attempts, and a customer
is charged once for what was delivered and never otherwise.
"""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from functions.domain.providers import Webhook
from functions.domain.states import TaskState
from local.fakes.script import End, File, Forgery, Hooks, Lost, Script
from tests.providers.shop import Shop, shop_for
from tests.providers.stage import REMOTES

RENDER = Script(run_seconds=90.0)
MISHAPS = {
    "nothing": RENDER,
    "hook lost": replace(RENDER, hooks=Hooks.NEVER),
    "hook doubled": replace(RENDER, hooks=Hooks.TWICE),
    "hook before the answer": Script(hooks=Hooks.EARLY),
    "hooks reversed": replace(RENDER, hooks=Hooks.REVERSED),
    "hook late": replace(RENDER, hook_delay_seconds=7200.0),
    "hook thin": replace(RENDER, thin=True),
    "hook forged": replace(RENDER, forgery=Forgery.FLIPPED),
    "answer lost": replace(RENDER, lost=Lost.AFTER),
    "request lost": replace(RENDER, lost=Lost.BEFORE),
    "throttled": Script(refuse=429, retry_after_seconds=20),
    "server error": Script(refuse=500),
    "bad request": Script(refuse=400),
    "unpaid": Script(refuse=402),
    "failed": replace(RENDER, end=End.FAILED),
    "filtered": replace(RENDER, end=End.FILTERED),
    "empty": replace(RENDER, end=End.EMPTY),
    "odd word": replace(RENDER, end=End.ODD_WORD),
    "stuck": replace(RENDER, end=End.STUCK),
    "questions fail": replace(RENDER, queries=(500, 503, 429)),
    "file gone": replace(RENDER, file=File.GONE),
    "file truncated": replace(RENDER, file=File.TRUNCATED),
    "file astray": replace(RENDER, file=File.ASTRAY),
}
# What ends delivered whoever the provider is, since nothing is wrong with the render itself.
HARMLESS = ("nothing", "hook lost", "hook doubled", "hook late", "questions fail", "hook forged")


@pytest.fixture(params=sorted(REMOTES))
def shop(request: pytest.FixtureRequest) -> Iterator[Shop]:
    with shop_for(request.param) as opened:
        yield opened


@pytest.mark.parametrize("mishap", sorted(MISHAPS))
def test_every_order_ends_and_is_charged_once_or_not_at_all(shop: Shop, mishap: str) -> None:
    ref = shop.order(1, MISHAPS[mishap])

    shop.run(hours=12)

    task = shop.task(ref)
    assert task.state.done, task.history
    shop.check()
    if mishap in HARMLESS:
        assert task.state is TaskState.DELIVERED, task.history
        assert shop.vendor.bill()["billed"] == 1


@pytest.mark.parametrize("mishap", ["nothing", "hook lost", "answer lost"])
def test_without_the_relay_every_order_ends_too(shop: Shop, mishap: str) -> None:
    ref = shop.order(1, MISHAPS[mishap])

    shop.run(hours=12, relay_works=False)

    assert shop.task(ref).state.done
    shop.check()


def test_an_answer_lost_is_never_paid_twice(shop: Shop) -> None:
    """p17: a client that sends a submit again pays for every one of them."""
    ref = shop.order(1, MISHAPS["answer lost"])

    shop.run(hours=12)

    assert shop.vendor.bill()["billed"] == 1
    provider = REMOTES[shop.task(ref).provider]
    found = provider.abilities.resolves_unknown or provider.abilities.webhook is Webhook.SIGNED
    assert (shop.task(ref).state is TaskState.DELIVERED) == found, shop.task(ref).history


@pytest.mark.parametrize("name", ["fal", "replicate", "kling"])
def test_the_weekend(name: str) -> None:
    """Hooks are answered with 500 for two days; the sweeper delivers all 38 all the same."""
    with shop_for(name) as shop:
        shop.deaf, shop.catcher.status = True, 500
        refs = [shop.order(number, RENDER) for number in range(1, 39)]

        shop.run(hours=48)

        assert {shop.task(ref).state for ref in refs} == {TaskState.DELIVERED}
        assert shop.vendor.bill()["billed"] == 38
        assert shop.world.metrics.counts["FoundBySweep"] == 38
        shop.check()
