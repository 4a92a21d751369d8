"""A stand-in for Volcengine Ark: tasks, their list, unsigned calls at each change."""

import json
from typing import Any

from local.fakes.script import End
from local.fakes.vendor import Answer, Call, Job, Request, Vendor

TASKS = "/contents/generations/tasks"
CODES = {
    End.FAILED: "InternalServiceError",
    End.FILTERED: "OutputVideoSensitiveContentDetected",
    End.BAD_INPUT: "InputImageSensitiveContentDetected.PrivacyInformation",
}


class Ark(Vendor):
    """Calls with the task object at each change, unsigned."""

    several_events = True

    def options(self) -> dict[str, Any]:
        """Tell a client where it is."""
        return {"base_url": self.address}

    def new_id(self) -> str:
        """Make an id as its are."""
        return f"cgt-{super().new_id()}"

    def answer(self, request: Request) -> Answer:
        """Create, read, list, delete."""
        if request.headers.get("authorization") != f"Bearer {self.key}":
            return self.refusal(401)
        if request.path == TASKS and request.method == "POST":
            order = request.json()
            name = str(order.get("safety_identifier", ""))
            return Answer(content={"id": self.accept(order, order.get("callback_url"), name).id})
        if request.path == TASKS:
            size = int(request.query.get("page_size", 10))
            start = (int(request.query.get("page_num", 1)) - 1) * size
            shown = self.listed()
            items = [self._task(job) for job in shown[start : start + size]]
            return Answer(content={"total": len(shown), "items": items})
        job = self.asked(request.path.removeprefix(f"{TASKS}/"))
        if job is None:
            return self.refusal(404)
        if request.method == "DELETE":
            return self._deleted(job)
        return Answer(content=self._task(job))

    def refusal(self, status: int) -> Answer:
        """Word an error."""
        code = "InputTextSensitiveContentDetected" if status == 400 else f"Error{status}"  # noqa: PLR2004
        return Answer(status=status, content={"error": {"code": code, "message": "no"}})

    def call(self, job: Job, phase: str) -> Call:
        """Word a call: the task as it can be read."""
        task = self._task(job)
        if phase != "ended":
            task = {**task, "status": "running", "content": None, "error": None}
        return Call(url=job.hook_url or "", headers={}, body=json.dumps(task).encode())

    def _deleted(self, job: Job) -> Answer:
        phase = self.phase(job)
        if phase == "running":
            return self.refusal(409)
        job.erased = phase == "ended"
        job.withdrawn = True
        return Answer(content={})

    def _task(self, job: Job) -> dict[str, Any]:
        phase, end = self.phase(job), self.end(job)
        task: dict[str, Any] = {
            "id": job.id,
            "model": job.order.get("model"),
            "safety_identifier": job.name,
            "created_at": int(job.at),
            "status": phase,
        }
        if phase != "ended":
            return task
        if end in CODES:
            return {**task, "status": "failed", "error": {"code": CODES[end], "message": "no"}}
        if end in (End.CANCELED, End.ODD_WORD):
            return {**task, "status": "cancelled" if end is End.CANCELED else "archived"}
        content: Any = {"video_url": self.file_url(job)}
        if end is End.EMPTY or job.script.thin:
            content = {"video_url": ""}
        if end is End.ODD_SHAPE:
            content = [{"url": self.file_url(job)}]
        usage = {"completion_tokens": 246840}
        return {**task, "status": "succeeded", "content": content, "usage": usage}


FAKE = Ark
