"""The long proofs, with figures: `python -m tests.prove [--quick]`.

Faults and pairs of faults on the real stages and adapters, the state search in its large
settings, the mistakes that each of the two must catch, random lives with a new seed, and crowds
of clients in memory and on the emulator.
"""

import argparse
import logging
import secrets
import sys
import time
from concurrent.futures import Future, ProcessPoolExecutor, wait
from multiprocessing import Manager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import HealthCheck, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.doubles.world import World
from tests.model.machine import Setting
from tests.model.search import dead_ends, search
from tests.model.settings import CALM, LARGE, MUTANTS, SMALL, mutated
from tests.simulation import crowd, crowd_emulated
from tests.simulation.cloud import cloud
from tests.simulation.machine import Orders
from tests.simulation.mistakes import MISTAKES, caught
from tests.simulation.scenarios import SCENARIOS
from tests.simulation.search import Figures, Search

PROCESSES = 2
BAR_CHARACTERS = 40
LOOK_SECONDS = 0.5


def say(line: str) -> None:
    """Print a line."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


class Bar:
    """A progress bar: redrawn in a terminal, a line for each tenth elsewhere."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty()
        self._told = -1

    def show(self, share: float, text: str) -> None:
        """Say how far it has come."""
        tenth = int(share * 10)
        if not self._live and tenth == self._told:
            return
        self._told = tenth
        done = int(share * BAR_CHARACTERS)
        bar = "#" * done + "." * (BAR_CHARACTERS - done)
        end = "\r" if self._live else "\n"
        sys.stderr.write(f"[{bar}] {share:4.0%} {text:<60.60}{end}")
        sys.stderr.flush()

    def clear(self) -> None:
        """Make room for what is printed next."""
        if self._live:
            sys.stderr.write("\r" + " " * (BAR_CHARACTERS + 70) + "\r")


def searched(name: str, depth: int, shares: Any) -> Figures:
    """Search one scenario, in a process of its own."""
    scenario = next(each for each in SCENARIOS if each.name == name)
    every = scenario.pairs_every if depth > 1 else 1

    def progress(figures: Figures, share: float) -> None:
        shares[name, depth] = (share, figures.runs)

    with cloud() as made, TemporaryDirectory() as workdir:
        figures = Search(made, scenario, Path(workdir), depth, every, progress=progress).run()
    shares[name, depth] = (1.0, figures.runs)
    return figures


def faults(*, pairs: bool) -> list[str]:
    """Break every call of all scenarios, and pairs of calls of the main ones."""
    paired = [each for each in SCENARIOS if each.main and pairs]
    whole = [each.name for each in paired if each.pairs_every == 1]
    jobs = [(each.name, 2) for each in sorted(paired, key=lambda each: -each.pairs_every)]
    jobs += [(each.name, 1) for each in SCENARIOS if each.name not in whole]
    bar = Bar()
    with Manager() as manager, ProcessPoolExecutor(PROCESSES) as pool:
        shares = manager.dict()
        futures: dict[tuple[str, int], Future[Figures]] = {
            (name, depth): pool.submit(searched, name, depth, shares) for name, depth in jobs
        }
        while wait(futures.values(), timeout=LOOK_SECONDS).not_done:
            far = dict(shares)
            share = sum(each for each, _ in far.values()) / len(jobs)
            bar.show(share, f"{sum(runs for _, runs in far.values()):,} runs")
        bar.clear()
        found = {job: future.result() for job, future in futures.items()}
    say(f"{'scenario':<33}{'faults':>8}{'calls':>7}{'runs':>9}{'told apart':>12}")
    for (name, depth), figures in found.items():
        row = f"{name:<33}{depth:>8}{figures.calls:>7}{figures.runs:>9,}"
        say(f"{row}{figures.states:>12,}")
    for depth, what in ((1, "single faults"), (2, "pairs of faults")):
        some = [figures for job, figures in found.items() if job[1] == depth]
        calls, runs = sum(each.calls for each in some), sum(each.runs for each in some)
        say(f"{what}: {len(some)} scenarios, {calls:,} calls, {runs:,} runs")
    wrongs = [wrong for figures in found.values() for wrong in figures.wrongs]
    say("some went wrong\n" if wrongs else "all ended, books and bills right\n")
    return wrongs


def states(worlds: dict[str, Setting]) -> list[str]:
    """Search all states of worlds."""
    wrongs: list[str] = []
    bar, total = Bar(), 0
    for name, setting in worlds.items():
        begun = time.monotonic()

        def progress(seen: int, waiting: int, name: str = name) -> None:
            bar.show(seen / (seen + waiting), f"{name}: {seen:,} states, {waiting:,} wait")

        verdict = dead_ends(setting) if setting.calm else search(setting, progress=progress)
        bar.clear()
        say(f"{name:<44}{verdict.states:>12,} states {time.monotonic() - begun:>7.1f} s")
        total += verdict.states
        if verdict.wrong:
            wrongs.append(f"{name}: {verdict.wrong} after {verdict.trail}")
    say(f"state search: {total:,} states, none wrong, each can end by the sweeper alone\n")
    return wrongs


def mistakes() -> list[str]:
    """Make every mistake in the stages, and see the search of faults find it."""
    missed = []
    with cloud() as made, TemporaryDirectory() as workdir:
        for mistake in MISTAKES:
            found = caught(mistake, made, Path(workdir))
            say(f"{mistake.what:<48} {found or 'not found':<60.60}")
            if found is None:
                missed.append(f"not found: {mistake.what}")
    say(f"mistakes in stages: {len(MISTAKES) - len(missed)} of {len(MISTAKES)} found\n")
    return missed


def mutants() -> list[str]:
    """Make every mistake, and see it caught."""
    missed = []
    for mutant in MUTANTS:
        setting = mutated(mutant)
        verdict = dead_ends(setting) if setting.calm else search(setting)
        steps = len(verdict.trail) + 1
        say(f"{mutant.value:<48} {f'{verdict.wrong}, in {steps} steps':<60}")
        if verdict.wrong is None:
            missed.append(f"not caught: {mutant.value}")
    say(f"mutants: {len(MUTANTS) - len(missed)} of {len(MUTANTS)} caught\n")
    return missed


def lives(examples: int) -> list[str]:
    """Live random lives; what fails is printed with the blob that repeats it."""
    number = secrets.randbelow(1 << 32)
    chosen = settings(
        max_examples=examples,
        stateful_step_count=60,
        deadline=None,
        database=None,
        print_blob=True,
        suppress_health_check=list(HealthCheck),
    )

    @seed(number)
    class Random(Orders):
        pass

    try:
        run_state_machine_as_test(Random, settings=chosen)
    except AssertionError as error:
        return [f"random lives, seed {number}: {error}"]
    say(f"random lives: {examples:,} of up to 60 steps, seed {number}\n")
    return []


def crowds(rounds: int) -> list[str]:
    """Let crowds of clients loose on a rough store."""
    first, wrongs = secrets.randbelow(1 << 20), []
    for number in range(first, first + rounds):
        world = World(store=crowd.RoughStore(number))
        found = crowd.wrongs(crowd.gathered(world, number), world.store, world.auditing)
        wrongs += [f"crowd {number}: {wrong}" for wrong in found]
    say(f"crowds: {rounds} of {crowd.CLIENTS} clients, {orders(rounds):,} orders asked for\n")
    return wrongs


def emulated_crowds(rounds: int) -> list[str]:
    """Do the same on the real adapters over the emulator."""
    first, wrongs, conflicts, lost = secrets.randbelow(1 << 20), [], 0, 0
    with crowd_emulated.started() as found:
        for number in range(first, first + rounds):
            these, trouble = crowd_emulated.let_loose(found, number)
            wrongs += [f"crowd {number} on the emulator: {wrong}" for wrong in these]
            conflicts, lost = conflicts + trouble.conflicts, lost + trouble.lost
    say(f"crowds on the emulator: {rounds} of {crowd.CLIENTS} clients, {orders(rounds):,} orders")
    say(f"asked for; {conflicts:,} writes in conflict, {lost:,} answers lost\n")
    return wrongs


def orders(rounds: int) -> int:
    """Count the orders that crowds ask for."""
    return rounds * crowd.CLIENTS * crowd.ORDERS_EACH


def main() -> int:
    """Prove, print, and say whether anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="single faults and small worlds")
    quick = parser.parse_args().quick
    logging.disable(logging.ERROR)  # faults are told of by the stages at length
    begun = time.monotonic()
    wrongs = [
        *faults(pairs=not quick),
        *mistakes(),
        *states(SMALL | CALM | ({} if quick else LARGE)),
        *mutants(),
        *lives(200 if quick else 3000),
        *crowds(3 if quick else 30),
        *emulated_crowds(3 if quick else 30),
    ]
    for wrong in wrongs:
        say(f"WRONG: {wrong}\n")
    say(f"{'NOT ' if wrongs else ''}proved in {(time.monotonic() - begun) / 60:.1f} minutes")
    return 1 if wrongs else 0


if __name__ == "__main__":
    sys.exit(main())
