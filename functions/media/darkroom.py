"""Develops, draws and encodes in a thread of its own, while the camera takes the next picture."""

import threading
from pathlib import Path
from queue import Queue
from types import TracebackType
from typing import Self

from functions.media.film import Developer, Film
from functions.media.media_library import MEDIA_ERRORS
from functions.media.pointer import Mark, Overlay

WAITING_MAX = 4  # pictures; more would only cost memory


class Darkroom:
    """One segment's film in the making. What goes wrong inside is raised to the camera."""

    def __init__(self, path: Path, *, size: tuple[int, int], fps: int) -> None:
        self._film = Film(path, size=size, fps=fps)
        self._orders: Queue[tuple[bytes | None, Mark, int, bool] | None] = Queue(WAITING_MAX)
        self._error: Exception | None = None
        self._over = False
        self._thread = threading.Thread(target=self._work, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self._orders.put(None)
        self._thread.join()
        if kind is None and self._error is not None:
            raise self._error

    def show(self, jpeg: bytes | None, mark: Mark, frame: int, *, changed: bool) -> None:
        """Show a picture, or the last one again, with a mark on it from a frame on."""
        if self._error is not None:
            raise self._error
        self._orders.put((jpeg, mark, frame, changed))

    def _work(self) -> None:
        try:
            with self._film as film:
                self._expose(film)
        except MEDIA_ERRORS as error:
            self._error = error
            while not self._over:
                self._over = self._orders.get() is None

    def _expose(self, film: Film) -> None:
        developer = Developer()
        overlay: Overlay | None = None
        while (order := self._orders.get()) is not None:
            jpeg, mark, frame, changed = order
            if jpeg is not None:
                overlay = Overlay(developer.develop(jpeg))
            if overlay is None:
                raise ValueError("a film that begins without a picture")
            overlay.draw(mark)
            film.show(overlay.frame, frame, changed=changed)
            overlay.clear()
        self._over = True
