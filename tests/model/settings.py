"""The worlds that are searched, and in which of them each mistake shows."""

from dataclasses import replace

from tests.model.machine import Mutant, Setting

SMALL = {
    "one order, two workers": Setting(keys=1, workers=2),
    "two orders on one source": Setting(keys=2, workers=1, cycles=1, forgets=True),
    "one order at a provider": Setting(keys=1, workers=1, provider=True),
    "one order, reviewed": Setting(keys=1, workers=1, reviews=True),
    "one order, a model asked": Setting(keys=1, workers=3, cycles=1, returns=1, model=True),
}
LARGE = {
    "one order, three workers, graceful stops": Setting(keys=1, workers=3, returns=1),
    "two orders, two workers": Setting(keys=2, workers=2, cycles=1, forgets=True),
    "two orders, redriven": Setting(keys=2, workers=1, cancels=0, patience=0, forgets=True),
    "two orders at a provider": Setting(keys=2, workers=2, cycles=1, forgets=True, provider=True),
}
CALM = {
    "calm": Setting(keys=1, workers=1, cancels=0, calm=True),
    "calm, two orders": Setting(keys=2, workers=1, cancels=0, cycles=1, calm=True),
    "calm, at a provider": Setting(keys=1, workers=1, cancels=0, calm=True, provider=True),
}
MUTANTS = tuple(mutant for mutant in Mutant if mutant is not Mutant.NONE)
_AT_PROVIDER = frozenset({Mutant.UNKNOWN_IS_FAILED})
_AT_MODEL = frozenset({Mutant.ASKED_UNNOTED, Mutant.LOST_IS_FAILED})


def mutated(mutant: Mutant) -> Setting:
    """The smallest world in which a mistake must show."""
    if mutant is Mutant.HOOK_AFTER_MARK:  # the sweeper would make up for it
        return replace(CALM["calm, at a provider"], mutant=mutant)
    name = "one order at a provider" if mutant in _AT_PROVIDER else "one order, two workers"
    if mutant in _AT_MODEL:
        name = "one order, a model asked"
    return replace(SMALL[name], mutant=mutant)
