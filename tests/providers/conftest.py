from collections.abc import Callable, Iterator

import pytest

from functions.domain.providers import Abilities, Cancel, Webhook
from tests.providers.asking import MODELS, Asking, asking
from tests.providers.stage import REMOTES, Stage, stage_for


@pytest.fixture(params=sorted(REMOTES))
def stage(request: pytest.FixtureRequest) -> Iterator[Stage]:
    """Each provider found, against its stand-in."""
    with stage_for(request.param) as made:
        yield made


def _those(*, able: Callable[[Abilities], bool]) -> list[str]:
    return sorted(name for name, one in REMOTES.items() if able(one.abilities))


@pytest.fixture(params=_those(able=lambda one: one.webhook is not Webhook.NONE))
def calling(request: pytest.FixtureRequest) -> Iterator[Stage]:
    """Each provider that calls."""
    with stage_for(request.param) as made:
        yield made


@pytest.fixture(params=_those(able=lambda one: one.webhook is Webhook.SIGNED))
def signing(request: pytest.FixtureRequest) -> Iterator[Stage]:
    """Each provider whose calls are signed."""
    with stage_for(request.param) as made:
        yield made


@pytest.fixture(params=_those(able=lambda one: one.cancel is not Cancel.NONE))
def cancelable(request: pytest.FixtureRequest) -> Iterator[Stage]:
    """Each provider that takes a cancel."""
    with stage_for(request.param) as made:
        yield made


@pytest.fixture
def fal() -> Iterator[Stage]:
    with stage_for("fal") as made:
        yield made


@pytest.fixture
def replicate() -> Iterator[Stage]:
    with stage_for("replicate") as made:
        yield made


@pytest.fixture
def runway() -> Iterator[Stage]:
    with stage_for("runway") as made:
        yield made


@pytest.fixture
def kling() -> Iterator[Stage]:
    with stage_for("kling") as made:
        yield made


@pytest.fixture
def veo() -> Iterator[Stage]:
    with stage_for("veo") as made:
        yield made


@pytest.fixture
def ark() -> Iterator[Stage]:
    with stage_for("ark") as made:
        yield made


@pytest.fixture(params=sorted(MODELS))
def asker(request: pytest.FixtureRequest) -> Iterator[Asking]:
    """Each model found, against its stand-in."""
    with asking(request.param) as made:
        yield made


@pytest.fixture
def gemini() -> Iterator[Asking]:
    with asking("gemini") as made:
        yield made


@pytest.fixture
def bedrock() -> Iterator[Asking]:
    with asking("bedrock") as made:
        yield made
