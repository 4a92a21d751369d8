"""The table of docs/providers.md, made from the data: `python -m tests.providers.ability_table`."""

import sys
from collections.abc import Callable

from functions.domain.providers import Abilities, Cancel, Find, Webhook
from tests.providers.stage import REMOTES

MINUTE, HOUR, DAY = 60, 3600, 86400

LOOKED_UP = {
    Find.NONE: "no",
    Find.DIRECT: "yes, by our name for it",
    Find.LISTING: "yes, in the list of recent jobs",
}
CANCELED = {
    Cancel.NONE: "no",
    Cancel.SAFE: "yes",
    Cancel.DESTROYS_FINISHED: "yes, but it deletes what has finished",
}
CALLS = {Webhook.NONE: "no", Webhook.SIGNED: "signed", Webhook.UNSIGNED: "not signed"}


def span(seconds: int) -> str:
    """Word a length of time."""
    for size, word in ((DAY, "d"), (HOUR, "h"), (MINUTE, "min")):
        if seconds >= 2 * size or seconds == size:
            return f"{seconds / size:g} {word}"
    return f"{seconds} s"


def calls(one: Abilities) -> str:
    """Word how it calls."""
    return CALLS[one.webhook] + (", at each change" if one.webhook_several_events else "")


def unknown(one: Abilities) -> str:
    """Word what becomes of a submit without an answer."""
    if one.resolves_unknown:
        return f"asked for; an absence counts after {span(one.find_settle_seconds)}"
    if one.webhook is not Webhook.NONE:
        return "held until it calls or its window ends"
    return "held until its window ends"


COLUMNS: dict[str, Callable[[Abilities], str]] = {
    "a lost submit can be looked up": lambda one: LOOKED_UP[one.find],
    "so a submit without an answer is": unknown,
    "calls us": calls,
    "can be withdrawn": lambda one: CANCELED[one.cancel],
    "keeps its film": lambda one: span(one.output_lifetime_seconds),
    "takes the photo": lambda one: (
        "inline" if one.photo_inline else f"by a link that works {span(one.input_link_seconds)}"
    ),
    "asked at most every": lambda one: span(one.poll_interval_seconds_min),
}


def table() -> str:
    """Write the table in Markdown, a provider a column."""
    lines = [["", *REMOTES], ["---"] * (len(REMOTES) + 1)]
    lines += [
        [title, *(word(remote.abilities) for remote in REMOTES.values())]
        for title, word in COLUMNS.items()
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    sys.stdout.write(f"{table()}\n")
