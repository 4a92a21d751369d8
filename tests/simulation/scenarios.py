"""Lives of a task, each a script. The search breaks every one of their AWS calls."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from functions.domain.states import TaskState
from local.fakes.saying import Saying
from local.fakes.script import End, Hooks, Script
from tests.factories import ulid
from tests.simulation.actors import BLACK, BROKEN, CUT_OFF
from tests.simulation.cloud import Cloud
from tests.simulation.expiry import lives_out
from tests.simulation.faults import Fault
from tests.simulation.model import CUT_SHORT, VIDEO, AskedModel
from tests.simulation.provider import Market
from tests.simulation.story import Story
from tests.simulation.town import Town
from tests.simulation.town_ports import TownPorts

DELIVERED = frozenset({TaskState.DELIVERED})
FAILED = frozenset({TaskState.FAILED})
CANCELED = frozenset({TaskState.CANCELED})


RENDER = Script(run_seconds=90.0)
SILENT = replace(RENDER, hooks=Hooks.NEVER)
WHOLE, HALF = 20, 10  # seconds of the video that one question is about


def happy(story: Story) -> None:
    story.want(story.order)


def relay_off(story: Story) -> None:
    story.town.habits.relay = False
    story.want(story.order)


def everything_twice(story: Story) -> None:
    story.town.habits.deliveries = 2
    story.want(story.order)


def retry(story: Story) -> None:
    story.town.ports.renderer.script = [BROKEN]
    story.want(story.order)


def refused(story: Story) -> None:
    story.town.ports.renderer.always = CUT_OFF
    story.want(story.order)


def rejected_once(story: Story) -> None:
    story.town.ports.judge.script = [BLACK]
    story.want(story.order)


def repacked(story: Story) -> None:
    story.town.ports.judge.mends = True
    story.want(story.order)


def cancel_queued(story: Story) -> None:
    story.want(story.order, story.cancel)


def cancel_during_render(story: Story) -> None:
    story.town.ports.renderer.meanwhile = [lambda: story.want(story.cancel)]
    story.want(story.order)


def dead(story: Story) -> None:
    story.town.ports.renderer.always = BROKEN
    story.want(story.order)


def redriven(story: Story) -> None:
    dead(story)
    story.recover()
    story.town.ports.renderer.always = None
    story.want(story.redrive)


def worker_lost_after_upload(story: Story) -> None:
    story.town.cloud.breaker.by_operation["PutObject"] = [Fault.DIED_AFTER]
    story.want(story.order)


def worker_lost_before_upload(story: Story) -> None:
    story.town.cloud.breaker.by_operation["PutObject"] = [Fault.DIED_BEFORE]
    story.want(story.order)


def no_worker(story: Story) -> None:
    ports = story.town.ports
    kind = ports.kinds["image_to_video"]
    limits = replace(kind.limits, queue_wait_seconds=1200)  # a shorter way to the same end
    ports.kinds = {kind.name: replace(kind, limits=limits)}
    story.town.habits.workers = False
    story.want(story.order)


def workflow_lost(story: Story) -> None:
    story.town.habits.runs_lost = 2
    story.want(story.order)


def buy_from(story: Story, name: str, *scripts: Script) -> Market:
    """Have the clip made by a provider, whose jobs go as scripted."""
    town = story.town
    market = Market.opened(name, town.cloud, town.ports.at, *scripts)
    town.ports.buy_from(market)
    return market


def webhook(story: Story) -> None:
    buy_from(story, "fal", RENDER)
    story.want(story.order)


def webhook_lost(story: Story) -> None:
    buy_from(story, "fal", SILENT)
    story.want(story.order)


def webhook_first(story: Story) -> None:
    market = buy_from(story, "fal", Script(hooks=Hooks.EARLY))
    market.meanwhile = [story.town.meanwhile]
    story.want(story.order)


def answer_lost(story: Story) -> None:
    buy_from(story, "kling", SILENT)
    story.town.cloud.breaker.by_operation["Submit"] = [Fault.ANSWER_LOST]
    story.want(story.order)


def answer_and_webhook_lost(story: Story) -> None:
    buy_from(story, "fal", SILENT)
    story.town.cloud.breaker.by_operation["Submit"] = [Fault.ANSWER_LOST]
    story.want(story.order)


def request_lost(story: Story) -> None:
    buy_from(story, "kling", SILENT)
    story.town.cloud.breaker.by_operation["Submit"] = [Fault.NEVER_ARRIVED]
    story.want(story.order)


def provider_failed(story: Story) -> None:
    buy_from(story, "kling", replace(RENDER, end=End.FAILED), RENDER)
    story.want(story.order)


def ask_model(story: Story, part_seconds: int, *sayings: Saying) -> AskedModel:
    """Have a video analysed by a model, in parts; its answers go as scripted."""
    town = story.town
    model = AskedModel.opened(town.cloud, town.ports.at, part_seconds, *sayings)
    town.ports.ask(model)
    story.kind, story.wanted = "video_analysis", {"source": ulid(2)}
    story.upload(ulid(2), VIDEO, "video/mp4")
    return model


def asked(story: Story) -> None:
    ask_model(story, HALF)
    story.want(story.order)


def asked_answer_lost(story: Story) -> None:
    ask_model(story, HALF)
    story.town.cloud.breaker.by_operation["Ask"] = [Fault.ANSWER_LOST]
    story.want(story.order)


def asked_truncated(story: Story) -> None:
    ask_model(story, WHOLE, CUT_SHORT)
    story.want(story.order)


def asked_turned_away(story: Story) -> None:
    ask_model(story, WHOLE)
    story.town.cloud.breaker.by_operation["Ask"] = [Fault.THROTTLED]
    story.want(story.order)


def asked_worker_dies(story: Story) -> None:
    ask_model(story, HALF)
    story.town.cloud.breaker.by_operation["Ask"] = [Fault.DIED_AFTER]
    story.want(story.order)


def asked_worker_stopped(story: Story) -> None:
    ask_model(story, HALF)
    story.town.cloud.breaker.by_operation["Ask"] = [Fault.STOPPED_AFTER]
    story.want(story.order)


def asked_worker_dies_with_an_answer(story: Story) -> None:
    model, broken = ask_model(story, HALF), story.town.cloud.breaker.by_operation
    model.meanwhile = [lambda: broken.update(PutObject=[Fault.DIED_AFTER])]  # which keeps it
    story.want(story.order)


def expiry(story: Story) -> None:
    story.want(story.order)


@dataclass(frozen=True, slots=True)
class Scenario:
    """A script and how it may end, whatever one or two faults do to it."""

    script: Callable[[Story], None]
    ends: frozenset[TaskState]
    main: bool = False  # searched in pairs too
    pairs_every: int = 1  # of the places where each fault of a pair can be
    later: Callable[[Story], list[str]] | None = None  # what comes of it, and is wrong then

    @property
    def name(self) -> str:
        """Name it as the tests do."""
        return self.script.__name__


SCENARIOS = (
    Scenario(happy, DELIVERED, main=True),
    Scenario(retry, DELIVERED, main=True),
    Scenario(cancel_during_render, CANCELED | DELIVERED, main=True),
    Scenario(redriven, DELIVERED),
    Scenario(relay_off, DELIVERED, main=True),
    Scenario(everything_twice, DELIVERED),
    Scenario(refused, FAILED),
    Scenario(rejected_once, DELIVERED),
    Scenario(repacked, DELIVERED),
    Scenario(cancel_queued, CANCELED | DELIVERED),
    Scenario(dead, frozenset({TaskState.DEAD})),
    Scenario(worker_lost_after_upload, DELIVERED, main=True),
    Scenario(worker_lost_before_upload, DELIVERED),
    Scenario(no_worker, FAILED),
    Scenario(workflow_lost, DELIVERED, main=True),
    Scenario(webhook, DELIVERED | FAILED, main=True),
    Scenario(webhook_lost, DELIVERED | FAILED, main=True),
    Scenario(webhook_first, DELIVERED | FAILED),
    Scenario(answer_lost, DELIVERED, main=True),
    Scenario(answer_and_webhook_lost, FAILED),
    Scenario(request_lost, DELIVERED),
    Scenario(provider_failed, DELIVERED),
    Scenario(asked, DELIVERED | FAILED, main=True, pairs_every=3),
    Scenario(asked_answer_lost, FAILED),
    Scenario(asked_truncated, DELIVERED | FAILED),
    Scenario(asked_turned_away, DELIVERED | FAILED),
    Scenario(asked_worker_dies, FAILED),
    Scenario(asked_worker_stopped, FAILED),
    Scenario(asked_worker_dies_with_an_answer, DELIVERED | FAILED),
    Scenario(expiry, DELIVERED, later=lives_out),
)


def town(cloud: Cloud, workdir: Path) -> Town:
    """Open a town in an empty cloud."""
    return Town(cloud=cloud, ports=TownPorts(cloud), workdir=workdir)


def play(scenario: Scenario, story: Story) -> list[str]:
    """Live one life to its very end, and say what is wrong then."""
    story.begin()
    scenario.script(story)
    story.recover()
    story.settle_down()
    wrongs = story.wrongs(scenario.ends)
    if scenario.later and not wrongs:
        wrongs += scenario.later(story)
    return wrongs
