"""What the pointer looks like at a moment of the session."""

from dataclasses import dataclass

from functions.media.capture import Stand
from functions.media.pointer import RIPPLE_MS, Mark
from functions.media.pointer_track import Act, PointerTrack

# Recorders take a position every 50 ms; between two of those it moved, after a pause it jumped.
GLIDE_MS = 120.0
TRAIL_MS = 500.0
FINGER_MS = 400.0  # a finger whose end was not recorded
TOUCHES = (Act.TOUCH, Act.DRAG, Act.LIFT)
NEVER = float("inf")


@dataclass(frozen=True, slots=True, kw_only=True)
class PointerView:
    """A track, seen at the film's speed: what takes a moment takes it in the film."""

    track: PointerTrack
    speed: float
    trail: bool

    def mark(self, now: float, stand: Stand, since: float) -> Mark:
        """Say what to draw; nothing older than `since` belongs to the document pointed at."""
        at = self.track.upto(now) - 1
        if at < 0:
            return Mark()
        here = _place(*self._glide(at, now), stand)
        touched = self.track.act[at] in TOUCHES
        return Mark(
            arrow=None if touched else here,
            finger=here if touched and self._down(at, now) else None,
            ripples=self._ripples(at, now, stand, since),
            trail=(*self._behind(at, now, stand, since), here) if self.trail else (),
        )

    def next_change(self, now: float) -> float:
        """Return the next moment at which it looks different; `now` if it keeps changing."""
        track = self.track
        at = track.upto(now) - 1
        following = track.at[at + 1] if at + 1 < len(track) else NEVER
        if at < 0:
            return following
        since = now - track.at[at]
        clicked = any(track.act[i] == Act.CLICK for i in self._recent(at, now, RIPPLE_MS))
        moved = self.trail and since <= TRAIL_MS * self.speed
        finger = track.act[at] in TOUCHES and since <= FINGER_MS * self.speed
        return now if clicked or moved or finger or self._gliding(at) else following

    def _gliding(self, at: int) -> bool:
        track = self.track
        if at + 1 >= len(track) or track.act[at] == Act.LIFT or track.act[at + 1] == Act.LIFT:
            return False
        same = (track.act[at] in TOUCHES) == (track.act[at + 1] in TOUCHES)
        return same and track.at[at + 1] - track.at[at] <= GLIDE_MS

    def _glide(self, at: int, now: float) -> tuple[float, float]:
        track = self.track
        x, y = track.x[at], track.y[at]
        if not self._gliding(at):
            return x, y
        share = (now - track.at[at]) / max(1.0, track.at[at + 1] - track.at[at])
        return x + (track.x[at + 1] - x) * share, y + (track.y[at + 1] - y) * share

    def _down(self, at: int, now: float) -> bool:
        if self.track.act[at] == Act.LIFT:
            return False
        return now - self.track.at[at] <= FINGER_MS * self.speed or self._gliding(at)

    def _recent(self, at: int, now: float, length_ms: float) -> range:
        first = at
        while first >= 0 and now - self.track.at[first] < length_ms * self.speed:
            first -= 1
        return range(first + 1, at + 1)

    def _ripples(
        self, at: int, now: float, stand: Stand, since: float
    ) -> tuple[tuple[int, int, float], ...]:
        track = self.track
        return tuple(
            (*_place(track.x[i], track.y[i], stand),
             round((now - track.at[i]) / (RIPPLE_MS * self.speed), 2))
            for i in self._recent(at, now, RIPPLE_MS)
            if track.act[i] == Act.CLICK and track.at[i] >= since
        )  # fmt: skip

    def _behind(
        self, at: int, now: float, stand: Stand, since: float
    ) -> tuple[tuple[int, int], ...]:
        track = self.track
        return tuple(
            _place(track.x[i], track.y[i], stand)
            for i in self._recent(at, now, TRAIL_MS)
            if track.at[i] >= since and track.act[i] not in {Act.TOUCH, Act.LIFT}
        )


def _place(x: float, y: float, stand: Stand) -> tuple[int, int]:
    return (
        round(stand.left + (stand.inner_left + x) * stand.scale),
        round(stand.top + (stand.inner_top + y) * stand.scale),
    )
