"""What each vendor's documented answers are, and what they mean: the contract's material.

A new provider adds one entry; the contract suite fails until it has one.
"""

import json
from dataclasses import dataclass, field
from typing import Any

from functions.domain.exchange import HttpReply
from functions.domain.jobs import Fault, JobState

# What a status code alone says of an order or a question that was turned away.
REFUSALS = {
    301: Fault.NO_ACCESS,
    302: Fault.NO_ACCESS,
    400: Fault.BAD_INPUT,
    401: Fault.NO_ACCESS,
    402: Fault.NO_ACCESS,
    403: Fault.NO_ACCESS,
    404: Fault.NO_ACCESS,
    413: Fault.BAD_INPUT,
    422: Fault.BAD_INPUT,
    429: Fault.THROTTLED,
}
URL = "https://files.example/out.mp4"


def reply(content: Any = None, *, status: int = 200, **headers: str) -> HttpReply:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    return HttpReply(status=status, headers=named, body=body)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """`accepted` makes a job of id `job`; `words` are all documented status words."""

    job: str
    accepted: Any
    words: dict[str, tuple[list[HttpReply], JobState]]
    odd: list[HttpReply]  # an answer with the status word "archived"
    vocabulary: tuple[str, ...] = field(default=())


def _fal(word: str, result: HttpReply | None = None) -> list[HttpReply]:
    status = reply({"status": word, "request_id": "r1"})
    return [status] if result is None else [status, result]


def _prediction(word: str, **more: Any) -> list[HttpReply]:
    return [reply({"id": "p1", "status": word, "output": URL, **more})]


def _task(word: str, **more: Any) -> list[HttpReply]:
    return [reply({"id": "t1", "status": word, **more})]


def _kling(word: str, **more: Any) -> list[HttpReply]:
    return [reply({"code": 0, "data": {"task_id": "k1", "task_status": word, **more}})]


def _veo(**more: Any) -> list[HttpReply]:
    return [reply({"name": "models/veo-3/operations/o1", **more})]


SAMPLES = {"generatedSamples": [{"video": {"uri": URL}}]}

WIRES: dict[str, Wire] = {
    "fal": Wire(
        job="r1",
        accepted={"request_id": "r1", "status": "IN_QUEUE"},
        words={
            "IN_QUEUE": (_fal("IN_QUEUE"), JobState.RUNNING),
            "IN_PROGRESS": (_fal("IN_PROGRESS"), JobState.RUNNING),
            "COMPLETED": (_fal("COMPLETED", reply({"video": {"url": URL}})), JobState.SUCCEEDED),
            "COMPLETED, 422": (
                _fal("COMPLETED", reply({"detail": [{"type": "x"}]}, status=422)),
                JobState.FAILED,
            ),
        },
        odd=_fal("archived"),
        vocabulary=("status", "request_id", "video", "videos", "url", "detail", "type", "payload"),
    ),
    "replicate": Wire(
        job="p1",
        accepted={"id": "p1", "status": "starting"},
        words={
            "starting": (_prediction("starting"), JobState.RUNNING),
            "processing": (_prediction("processing"), JobState.RUNNING),
            "succeeded": (_prediction("succeeded"), JobState.SUCCEEDED),
            "failed": (_prediction("failed"), JobState.FAILED),
            "canceled": (_prediction("canceled"), JobState.FAILED),
            "aborted": (_prediction("aborted"), JobState.FAILED),
        },
        odd=_prediction("archived"),
        vocabulary=("id", "status", "output", "results", "next", "webhook", "metrics", "video"),
    ),
    "runway": Wire(
        job="t1",
        accepted={"id": "t1"},
        words={
            "PENDING": (_task("PENDING"), JobState.RUNNING),
            "THROTTLED": (_task("THROTTLED"), JobState.RUNNING),
            "RUNNING": (_task("RUNNING", progress=0.4), JobState.RUNNING),
            "SUCCEEDED": (_task("SUCCEEDED", output=[URL]), JobState.SUCCEEDED),
            "FAILED": (_task("FAILED", failureCode="INTERNAL"), JobState.FAILED),
            "CANCELLED": (_task("CANCELLED"), JobState.FAILED),
        },
        odd=_task("archived"),
        vocabulary=("id", "status", "output", "failureCode", "failure"),
    ),
    "kling": Wire(
        job="k1",
        accepted={"code": 0, "data": {"task_id": "k1", "task_status": "submitted"}},
        words={
            "submitted": (_kling("submitted"), JobState.RUNNING),
            "processing": (_kling("processing"), JobState.RUNNING),
            "succeed": (
                _kling("succeed", task_result={"videos": [{"url": URL}]}),
                JobState.SUCCEEDED,
            ),
            "failed": (_kling("failed"), JobState.FAILED),
        },
        odd=_kling("archived"),
        vocabulary=("code", "data", "task_id", "task_status", "task_result", "videos", "url"),
    ),
    "veo": Wire(
        job="models/veo-3/operations/o1",
        accepted={"name": "models/veo-3/operations/o1"},
        words={
            "not done": (_veo(), JobState.RUNNING),
            "done: false": (_veo(done=False), JobState.RUNNING),
            "done": (
                _veo(done=True, response={"generateVideoResponse": SAMPLES}),
                JobState.SUCCEEDED,
            ),
            "done, without envelope": (_veo(done=True, response=SAMPLES), JobState.SUCCEEDED),
            "error": (_veo(done=True, error={"code": 13}), JobState.FAILED),
        },
        odd=_veo(done="archived"),
        vocabulary=("name", "done", "error", "response", "code", "generatedSamples", "video"),
    ),
    "ark": Wire(
        job="c1",
        accepted={"id": "c1"},
        words={
            "queued": (_task("queued"), JobState.RUNNING),
            "running": (_task("running", content=None, error=None), JobState.RUNNING),
            "succeeded": (_task("succeeded", content={"video_url": URL}), JobState.SUCCEEDED),
            "failed": (_task("failed", error={"code": "InternalServiceError"}), JobState.FAILED),
            "cancelled": (_task("cancelled"), JobState.FAILED),
            "expired": (_task("expired"), JobState.FAILED),
        },
        odd=_task("archived"),
        vocabulary=("id", "status", "content", "video_url", "error", "code", "items", "usage"),
    ),
}
