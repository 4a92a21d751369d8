"""What was ordered, what was found, and what follows: the vocabulary of the inspection."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, Self

from functions.media.reasons import REASONS

Mark = Literal["pass", "fail", "review", "info"]
Fault = Literal["fail", "review", "pass"]
Ruling = Literal["accept", "reject", "review"]

# A container rounds each frame, audio adds up to two packets, and encoders drop or repeat a
# frame at an end: half a second is more than all of it and less than anyone would complain of.
TOLERANCE_SECONDS = 0.5
TOLERANCE_SHARE = 0.05

# Which kinds may stand still, and how: until a kind's own file says more.
STILL_ALLOWED = frozenset(("image_to_video",))
HELD_ALLOWED = frozenset(("session_to_video",))


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """The order's promise, as far as a file can be held to it."""

    seconds: float
    kind: str = "video"
    width: int | None = None  # as shown, after rotation
    height: int | None = None
    sound: bool = False
    still_allowed: bool = False  # long holds are fine, a file that never moves is not certain
    held_allowed: bool = False  # standing still is what the source did
    tolerance_seconds: float | None = None
    codecs: tuple[str, ...] = ("h264",)  # play everywhere
    codecs_review: tuple[str, ...] = ("hevc", "av1", "vp9")  # play on many devices
    side_min: int = 64  # smaller is an icon, not a video
    pixels_max: int = 8192 * 4320  # decoding more is a risk, not a service

    @classmethod
    def for_kind(cls, kind: str, *, seconds: float, sound: bool = False) -> Self:
        """Give a kind's defaults; a kind that is not known gets the strictest."""
        return cls(
            kind=kind,
            seconds=seconds,
            sound=sound,
            still_allowed=kind in STILL_ALLOWED,
            held_allowed=kind in HELD_ALLOWED,
        )

    @property
    def may_hold(self) -> bool:
        """Whether standing still is what the source did."""
        return self.held_allowed or self.kind in HELD_ALLOWED

    @property
    def tolerance(self) -> float:
        """Seconds by which the length may differ."""
        if self.tolerance_seconds is not None:
            return self.tolerance_seconds
        return max(TOLERANCE_SECONDS, TOLERANCE_SHARE * self.seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing looked at: what was found, what was allowed, and how it went."""

    name: str
    value: str | int | float
    limit: str
    verdict: Mark


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What was measured on the file. Zero or empty where the inspection ended before."""

    bytes: int = 0
    sha256: str = ""
    duration_seconds: float = 0.0
    width: int = 0
    height: int = 0
    codec: str = ""
    frames: int = 0
    fps: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The inspection's word on one file.

    `reason` is one sentence for the customer, `evidence` what it rests on in seconds and
    shares, `repair` what repacking without rendering would mend.
    """

    verdict: Ruling
    code: str
    reason: str
    evidence: Mapping[str, float] = field(default_factory=dict)
    checks: tuple[Check, ...] = ()
    repair: tuple[str, ...] = ()
    facts: Facts = field(default_factory=Facts)


@dataclass(frozen=True, slots=True, kw_only=True)
class NotVerified:
    """The inspection itself did not finish. This says nothing about the file."""

    code: str  # died, timeout, garbled, unreadable
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One rule's result. `repair` names the repacking that would mend it."""

    check: Check
    code: str = ""
    reason: str = ""
    repair: str = ""
    evidence: Mapping[str, float] = field(default_factory=dict)


def ok(name: str, value: str | float, limit: str = "") -> Finding:
    """Report a rule that holds."""
    return Finding(check=Check(name=name, value=_short(value), limit=limit, verdict="pass"))


def info(name: str, value: str | float, limit: str = "") -> Finding:
    """Report something that no rule asks for."""
    return Finding(check=Check(name=name, value=_short(value), limit=limit, verdict="info"))


def fault(
    mark: Fault,
    name: str,
    value: str | float,
    limit: str,
    code: str,
    evidence: Mapping[str, float] | None = None,
    *,
    repair: str = "",
    what: str = "",
) -> Finding:
    """Report a rule that does not hold; `pass` if it is only worth mending."""
    check = Check(name=name, value=_short(value), limit=limit, verdict=mark)
    told = evidence or {}
    reason = REASONS[code].format(value=value, limit=limit, what=what, **told)
    return Finding(check=check, code=code, reason=reason, repair=repair, evidence=told)


def hopeless(findings: Iterable[Finding]) -> bool:
    """Whether something failed that repacking would not mend."""
    return any(f.check.verdict == "fail" and not f.repair for f in findings)


def conclude(findings: Iterable[Finding], facts: Facts) -> Verdict:
    """Let the worst finding decide; among equals the first, for the rules run in order."""
    found = tuple(findings)
    worst: dict[str, Ruling] = {"fail": "reject", "review": "review"}
    given_up = hopeless(found)
    base = Verdict(
        verdict="accept",
        code="ok",
        reason=REASONS["ok"],
        evidence={key: round(v, 3) for f in found for key, v in f.evidence.items()},
        checks=tuple(f.check for f in found),
        repair=() if given_up else tuple(dict.fromkeys(f.repair for f in found if f.repair)),
        facts=facts,
    )
    for mark, ruling in worst.items():
        marked = [f for f in found if f.check.verdict == mark]
        # What cannot be mended is the better reason.
        marked.sort(key=lambda f: bool(f.repair))
        if marked:
            return replace(base, verdict=ruling, code=marked[0].code, reason=marked[0].reason)
    return base


def _short(value: str | float) -> str | int | float:
    return round(value, 3) if isinstance(value, float) else value
