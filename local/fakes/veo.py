"""A stand-in for Veo on the Gemini API: operations, films behind the key, thin events."""

import json
import re
from typing import Any

from local.fakes.script import End
from local.fakes.vendor import Answer, Call, Job, Request, Vendor

CREATE = re.compile(r"/v1beta/(models/[^/]+):predictLongRunning")
OPERATION = re.compile(r"/v1beta/models/[^/]+/operations/([^/]+)")
WORDS = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 429: "RESOURCE_EXHAUSTED"}


class Veo(Vendor):
    """Calls once at the end, if it was asked to, and says no more than which operation."""

    file_lifetime_seconds = 2 * 86400.0

    def options(self) -> dict[str, Any]:
        """Tell a client where it is."""
        return {"base_url": self.address}

    def answer(self, request: Request) -> Answer:
        """Create and read."""
        if request.headers.get("x-goog-api-key") != self.key:
            return self.refusal(401)
        create = CREATE.fullmatch(request.path)
        if create and request.method == "POST":
            return self._created(request.json(), create[1])
        place = OPERATION.fullmatch(request.path)
        job = self.asked(place[1]) if place else None
        return self.refusal(404) if job is None else Answer(content=self._operation(job))

    def refusal(self, status: int) -> Answer:
        """Word an error."""
        word = WORDS.get(status, "UNKNOWN")
        return Answer(
            status=status, content={"error": {"code": status, "message": "no", "status": word}}
        )

    def file(self, request: Request) -> Answer:
        """Serve a film to who has the key."""
        if request.headers.get("x-goog-api-key") != self.key:
            return self.refusal(401)
        return super().file(request)

    def call(self, job: Job, phase: str) -> Call:  # noqa: ARG002 - it calls at the end only
        """Word a thin event."""
        event = {
            "type": "video.generated",
            "data": {"id": _name(job)},
            "user_metadata": job.order.get("webhookConfig", {}).get("userMetadata"),
        }
        body = json.dumps(event).encode()
        return Call(url=job.hook_url or "", headers={"webhook-id": f"e-{job.id}"}, body=body)

    def _created(self, order: dict[str, Any], model: str) -> Answer:
        photo = order["instances"][0]["image"]
        if not photo.get("bytesBase64Encoded") or not photo.get("mimeType"):
            return self.refusal(400)
        uris = order.get("webhookConfig", {}).get("uris") or [None]
        job = self.accept({**order, "model": model}, uris[0])
        return Answer(content={"name": _name(job)})

    def _operation(self, job: Job) -> dict[str, Any]:
        operation: dict[str, Any] = {"name": _name(job)}
        if self.phase(job) != "ended":
            return operation
        end = self.end(job)
        if end in (End.FAILED, End.BAD_INPUT, End.CANCELED):
            code = 3 if end is End.BAD_INPUT else 13
            return {**operation, "done": True, "error": {"code": code, "message": "no"}}
        if end is End.ODD_WORD:
            return {**operation, "done": "archived"}
        film = {"clip" if end is End.ODD_SHAPE else "uri": self.file_url(job)}
        result: dict[str, Any] = {"generatedSamples": [{"video": film}]}
        if end is End.FILTERED:
            result = {"raiMediaFilteredCount": 1, "raiMediaFilteredReasons": ["no"]}
        if end is End.EMPTY:
            result = {"generatedSamples": []}
        return {**operation, "done": True, "response": {"generateVideoResponse": result}}


def _name(job: Job) -> str:
    return f"{job.order['model']}/operations/{job.id}"


FAKE = Veo
