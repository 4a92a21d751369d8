"""A store in memory with a stream."""

from typing import Any

from functions.domain.results import Application, Applied, Created, Creation
from functions.domain.tasks import Task
from functions.domain.tickets import NewTask
from tests.doubles.store import MemoryStore


class RecordingStore(MemoryStore):
    """Provides `TaskStore`; images with an effect wait in `records` for the relay."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[Task] = []

    def create(self, new: NewTask) -> Creation:
        made = super().create(new)
        if isinstance(made, Created):
            self.records.append(made.task)
        return made

    def apply(self, *given: Any, **named: Any) -> Application:
        applied = super().apply(*given, **named)
        if isinstance(applied, Applied) and applied.task.effect:
            self.records.append(applied.task)
        return applied
