"""Writes docs/states.md from the transition table: `python -m local.states`."""

from collections import defaultdict
from pathlib import Path

from functions.domain.labels import SENTENCES
from functions.domain.states import ENDED, TABLE, Guard, TaskState
from local.instance import ROOT

FILE = ROOT / "docs" / "states.md"


def document() -> str:
    """Draw the table and list it."""
    return "\n".join(
        [
            "# States",
            "",
            "Made from `functions/domain/states.py` by `python -m local.states`; a test keeps both",
            "together.",
            "",
            *_diagram(),
            "",
            *_sentences(),
            "",
            *_rows(),
            "",
        ]
    )


def _diagram() -> list[str]:
    edges: dict[tuple[TaskState, TaskState], list[str]] = defaultdict(list)
    for row in TABLE:
        if row.next is not row.state:
            edges[row.state, row.next].append(row.event)
    lines = ["```mermaid", "stateDiagram-v2", "    [*] --> queued : ordered"]
    for (start, end), events in edges.items():
        lines.append(f"    {start} --> {end} : {', '.join(dict.fromkeys(events))}")
    lines += [f"    {state} --> [*]" for state in TaskState if state in ENDED]
    return [*lines, "```"]


def _sentences() -> list[str]:
    head = ["| state | the customer reads |", "|---|---|"]
    return head + [f"| `{state}` | {SENTENCES[state]} |" for state in TaskState]


def _rows() -> list[str]:
    lines = ["| from | event | to | credits | deadline | effect |", "|---|---|---|---|---|---|"]
    for row in TABLE:
        guard = f" ({row.guard})" if row.guard is not Guard.ALWAYS else ""
        lines.append(
            f"| {row.state} | {row.event}{guard} | {row.next} | {row.credits or ''} "
            f"| {row.deadline} | {row.effect or ''} |"
        )
    return lines


def main() -> None:
    """Write the file."""
    Path(FILE).write_text(document(), "utf-8")


if __name__ == "__main__":
    main()
