"""A stand-in for Amazon Transcribe: jobs by name, signed requests, transcripts at an address."""

import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from secrets import token_hex
from typing import Any, Self

from local.fakes.aws import unsigned
from local.fakes.script import Lost
from local.fakes.vendor import Answer, HangUp, Played, Request

NAME = re.compile(r"[0-9a-zA-Z._-]{1,200}")
PLACE = re.compile(r"s3://[a-z0-9][.\-a-z0-9]{1,61}[a-z0-9]/.+")
TARGET = "Transcribe."
FORMATS = {"mp3", "mp4", "wav", "flac", "ogg", "amr", "webm", "m4a"}
NAMES = {
    400: "BadRequestException",
    403: "AccessDeniedException",
    409: "ConflictException",
    429: "LimitExceededException",
    500: "InternalFailureException",
}
WORDS = (("Hello", 0.5, 0.8), ("there", 0.8, 1.1), ("It", 1.4, 1.5), ("helps", 1.5, 1.9))
LAST_OF_A_SENTENCE = frozenset({"there", "helps"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """How one job goes. `lost` is the answer to its start."""

    seconds: float = 1.0
    fails: bool = False
    silent: bool = False
    refuse: int = 0
    lost: Lost = Lost.NOWHERE


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """One job."""

    name: str
    at: float
    course: Course
    order: Mapping[str, Any]


class Transcribe(Played):
    """One name is one job, and one bill."""

    kind = "video_analysis"

    def __init__(
        self, course: Course | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        super().__init__(clock)
        self.course = course or Course()
        self.courses: list[Course] = []
        self.jobs: dict[str, Started] = {}
        self.starts = 0
        self.looks = 0

    @classmethod
    def prepared(cls, clip: bytes, seconds: float) -> Self:  # noqa: ARG003 - it delivers no clip
        """Make one whose jobs take so long."""
        return cls(Course(seconds=seconds))

    def options(self) -> dict[str, Any]:
        """Tell a client where it is."""
        return {"base_url": self.address}

    def secrets(self) -> dict[str, list[str]]:
        """Tell that there are none: requests are signed by the caller's role."""
        return {}

    def told(self, given: Mapping[str, Any]) -> int:
        """Take courses for the next jobs, or for all that have none of their own."""
        self.courses += [_course(one) for one in given.get("next", [])]
        if "default" in given:
            self.course = _course(given["default"])
        return len(self.courses)

    def bill(self) -> dict[str, int]:
        """Count starts, jobs, those to be paid, and looks at them."""
        paid = [job for job in self.jobs.values() if not job.course.fails]
        return {
            "submits": self.starts,
            "accepted": len(self.jobs),
            "billed": len(paid),
            "questions": self.looks,
        }

    def refusal(self, status: int) -> Answer:
        """Word an error."""
        name = NAMES.get(status, "InternalFailureException")
        content = {"__type": name, "Message": "no"}
        return Answer(status=status, content=content, headers={"x-amzn-requestid": token_hex(16)})

    def answer(self, request: Request) -> Answer:
        """Start a job, tell of one, or give out what was written."""
        if request.path.startswith("/transcripts/"):
            return self._written(request)
        if unsigned(request, "transcribe"):
            return self.refusal(403)
        target = request.headers.get("x-amz-target", "")
        operation = target.removeprefix(TARGET)
        if request.method != "POST" or target == operation:
            return self.refusal(400)
        given = request.json()
        if operation == "StartTranscriptionJob":
            return self._started(given)
        if operation == "GetTranscriptionJob":
            return self._told_of(given)
        return self.refusal(400)

    def _started(self, given: Mapping[str, Any]) -> Answer:
        self.starts += 1
        name = str(given.get("TranscriptionJobName", ""))
        proper = (
            NAME.fullmatch(name)
            and PLACE.fullmatch(str(given.get("Media", {}).get("MediaFileUri", "")))
            and given.get("MediaFormat") in FORMATS
            and ("LanguageCode" in given) != bool(given.get("IdentifyLanguage"))
        )
        if not proper:
            return self.refusal(400)
        if name in self.jobs:
            return self.refusal(409)
        course = self.courses.pop(0) if self.courses else self.course
        if course.refuse:
            return self.refusal(course.refuse)
        if course.lost is Lost.BEFORE:
            raise HangUp
        self.jobs[name] = Started(name=name, at=self.now(), course=course, order=given)
        if course.lost is Lost.AFTER:
            raise HangUp
        return Answer(content={"TranscriptionJob": self._job(self.jobs[name])})

    def _told_of(self, given: Mapping[str, Any]) -> Answer:
        self.looks += 1
        job = self.jobs.get(str(given.get("TranscriptionJobName", "")))
        if job is None:
            return Answer(status=400, content={"__type": "NotFoundException", "Message": "no"})
        return Answer(content={"TranscriptionJob": self._job(job)})

    def _job(self, job: Started) -> dict[str, Any]:
        told: dict[str, Any] = {"TranscriptionJobName": job.name, "Media": job.order["Media"]}
        if self.now() < job.at + job.course.seconds:
            return {**told, "TranscriptionJobStatus": "IN_PROGRESS"}
        if job.course.fails:
            reason = "The media could not be decoded."
            return {**told, "TranscriptionJobStatus": "FAILED", "FailureReason": reason}
        address = f"{self.address}/transcripts/{job.name}.json?X-Amz-Signature={'0' * 64}"
        return {
            **told,
            "TranscriptionJobStatus": "COMPLETED",
            "LanguageCode": "en-US",
            "Transcript": {"TranscriptFileUri": address},
        }

    def _written(self, request: Request) -> Answer:
        name = request.path.removeprefix("/transcripts/").removesuffix(".json")
        job = self.jobs.get(name)
        if job is None:
            return Answer(status=404, raw=b"<Error><Code>NoSuchKey</Code></Error>")
        items: list[dict[str, Any]] = []
        for word, start, end in () if job.course.silent else WORDS:
            said = {"start_time": str(start), "end_time": str(end), "type": "pronunciation"}
            items.append({**said, "alternatives": [{"confidence": "0.99", "content": word}]})
            if word in LAST_OF_A_SENTENCE:
                stop = [{"confidence": "0.0", "content": "."}]
                items.append({"type": "punctuation", "alternatives": stop})
        text = " ".join(word for word, _, _ in WORDS) if items else ""
        results = {
            "language_code": "en-US",
            "transcripts": [{"transcript": text}],
            "items": items,
        }
        whole = {"jobName": name, "status": "COMPLETED", "results": results}
        return Answer(raw=json.dumps(whole).encode(), headers={"content-type": "application/json"})


def _course(given: Mapping[str, Any]) -> Course:
    known = {one.name for one in fields(Course)}
    unknown = sorted(set(given) - known)
    if unknown:
        raise ValueError(f"a job has no {', '.join(unknown)}")
    return Course(**{**given, **({"lost": Lost(given["lost"])} if "lost" in given else {})})


FAKE = Transcribe
