"""A stand-in for Runway: tasks that can only be asked for, and a delete that destroys."""

from typing import Any
from uuid import uuid4

from local.fakes.script import End
from local.fakes.vendor import Answer, Call, Job, Request, Vendor

VERSION = "2024-11-06"
CODES = {
    End.FAILED: "INTERNAL.BAD_OUTPUT.CODE01",
    End.FILTERED: "SAFETY.INPUT.TEXT",
    End.BAD_INPUT: "ASSET.INVALID",
}


class Runway(Vendor):
    """Never calls."""

    def options(self) -> dict[str, Any]:
        """Tell a client where it is."""
        return {"base_url": self.address}

    def new_id(self) -> str:
        """Make an id as its are."""
        return str(uuid4())

    def answer(self, request: Request) -> Answer:
        """Create, read, delete."""
        if request.headers.get("authorization") != f"Bearer {self.key}":
            return self.refusal(401)
        if request.headers.get("x-runway-version") != VERSION:
            return self.refusal(400)
        if request.method == "POST" and request.path == "/v1/image_to_video":
            return Answer(content={"id": self.accept(request.json(), None).id})
        job = self.asked(request.path.removeprefix("/v1/tasks/"))
        if job is None:
            return self.refusal(404)
        if request.method == "DELETE":
            job.erased = self.phase(job) == "ended"
            job.withdrawn = True
            return Answer(status=204, raw=b"")
        return Answer(content=self._task(job))

    def refusal(self, status: int) -> Answer:
        """Word an error."""
        return Answer(status=status, content={"error": f"error {status}"})

    def call(self, job: Job, phase: str) -> Call:
        """Refuse: it does not call."""
        raise NotImplementedError

    def _task(self, job: Job) -> dict[str, Any]:
        phase, end = self.phase(job), self.end(job)
        task: dict[str, Any] = {"id": job.id, "createdAt": self.stamp(job)}
        if phase != "ended":
            return {**task, "status": "THROTTLED" if phase == "queued" else "RUNNING"}
        if end in CODES:
            return {**task, "status": "FAILED", "failure": "no", "failureCode": CODES[end]}
        if end in (End.CANCELED, End.ODD_WORD):
            return {**task, "status": "CANCELLED" if end is End.CANCELED else "ARCHIVED"}
        output: Any = [] if end is End.EMPTY else [self.file_url(job)]
        if end is End.ODD_SHAPE:
            output = {"clip": self.file_url(job)}
        return {**task, "status": "SUCCEEDED", "output": output}


FAKE = Runway
