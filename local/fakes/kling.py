"""A stand-in for Kling: tasks under the client's own name, JWT keys, codes within HTTP 200."""

import base64
import hmac
import json
import re
from typing import Any

from local.fakes.script import End
from local.fakes.vendor import Answer, Call, Job, Request, Vendor

ACCESS_KEY = "access-test"
FAMILY = "/v1/videos/image2video"
PLACE = re.compile(rf"{FAMILY}/([^/]+)")
# What its gateway says with a status of its own comes with a code in the body all the same.
CODES = {401: 1000, 402: 1102, 403: 1103, 400: 1201, 404: 1203, 422: 1301, 429: 1303}
SERVER_CODE = 5000


class Kling(Vendor):
    """Calls at each change, unsigned."""

    several_events = True
    file_lifetime_seconds = 30 * 86400.0

    def options(self) -> dict[str, Any]:
        """Tell a client where it is."""
        return {"base_url": self.address}

    def secrets(self) -> dict[str, list[str]]:
        """Tell a client its secrets."""
        return {"access_key": [ACCESS_KEY], "secret_key": [self.key]}

    def answer(self, request: Request) -> Answer:
        """Create, read by either id, list."""
        if not self._is_known(request.headers.get("authorization", "")):
            return self.refusal(401)
        if request.path == FAMILY and request.method == "POST":
            return self._created(request.json())
        if request.path == FAMILY:
            size = int(request.query.get("pageSize", 30))
            start = (int(request.query.get("pageNum", 1)) - 1) * size
            return _enveloped([self._task(job) for job in self.listed()[start : start + size]])
        place = PLACE.fullmatch(request.path)
        name = place[1] if place else ""
        named = [job.id for job in self.jobs.values() if name and job.name == name]
        job = self.asked(named[0] if named else name)
        return self.refusal(404) if job is None else _enveloped(self._task(job))

    def refusal(self, status: int) -> Answer:
        """Word an error: mostly as a code in a 200."""
        code = CODES.get(status, SERVER_CODE)
        content = {"code": code, "message": "no", "request_id": "r"}
        return Answer(status=status if code == SERVER_CODE else 200, content=content)

    def call(self, job: Job, phase: str) -> Call:
        """Word a call: the task, without its envelope."""
        task = self._task(job)
        if phase != "ended":
            task |= {"task_status": "processing", "task_result": {}}
        body = json.dumps(task).encode()
        return Call(url=job.hook_url or "", headers={}, body=body)

    def _created(self, order: dict[str, Any]) -> Answer:
        name = str(order.get("external_task_id", ""))
        if name and any(job.name == name for job in self.jobs.values()):
            return self.refusal(400)
        job = self.accept(order, order.get("callback_url"), name)
        return _enveloped({**self._task(job), "task_status": "submitted"})

    def _task(self, job: Job) -> dict[str, Any]:
        phase, end = self.phase(job), self.end(job)
        task: dict[str, Any] = {
            "task_id": job.id,
            "task_info": {"external_task_id": job.name},
            "created_at": int(job.at * 1000),
            "task_status_msg": "",
        }
        if phase != "ended":
            word = "submitted" if phase == "queued" else "processing"
            return {**task, "task_status": word}
        if end in (End.FAILED, End.FILTERED, End.BAD_INPUT, End.CANCELED):
            return {**task, "task_status": "failed", "final_unit_deduction": "0"}
        if end is End.ODD_WORD:
            return {**task, "task_status": "archived"}
        videos: list[Any] = [{"id": "v", "url": self.file_url(job), "duration": "5"}]
        if end is End.EMPTY:
            videos = []
        if end is End.ODD_SHAPE:
            videos = [{"clip": self.file_url(job)}]
        result = {"videos": videos}
        return {
            **task,
            "task_status": "succeed",
            "final_unit_deduction": "2",
            "task_result": {} if job.script.thin else result,
        }

    def _is_known(self, authorization: str) -> bool:
        parts = authorization.removeprefix("Bearer ").split(".")
        if len(parts) != 3:  # noqa: PLR2004 - header, claims, signature
            return False
        mac = hmac.digest(self.key.encode(), f"{parts[0]}.{parts[1]}".encode(), "sha256")
        if not hmac.compare_digest(mac, _decoded(parts[2])):
            return False
        claims = json.loads(_decoded(parts[1]))
        current = claims["nbf"] <= self.now() < claims["exp"]
        return bool(claims["iss"] == ACCESS_KEY and current)


def _enveloped(data: Any) -> Answer:
    return Answer(content={"code": 0, "message": "SUCCEED", "request_id": "r", "data": data})


def _decoded(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


FAKE = Kling
