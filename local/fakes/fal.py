"""A stand-in for fal: a queue, results in two steps, calls signed with Ed25519."""

import base64
import hashlib
import json
import re
from typing import Any
from uuid import uuid4

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from local.fakes.script import End, Forgery
from local.fakes.vendor import Answer, Call, Job, Request, Vendor

SEED = bytes(range(32))
USER = "user_test"
PLACE = re.compile(r"/([^/]+/[^/]+)/requests/([^/]+)(/status|/cancel)?")
TOLERANCE_SECONDS = 300
REASONS = {
    End.FILTERED: ("content_policy_violation", "prompt"),
    End.BAD_INPUT: ("image_load_error", "image_url"),
}


class Fal(Vendor):
    """Calls once, at the end."""

    call_tries = 10
    call_again_seconds = 15.0

    def options(self) -> dict[str, Any]:
        """Tell a client where it is and who it is."""
        keys = f"{self.address}/.well-known/jwks.json"
        return {"base_url": self.address, "key_set_url": keys, "user_id": USER}

    def new_id(self) -> str:
        """Make an id as its are."""
        return str(uuid4())

    def answer(self, request: Request) -> Answer:
        """Queue, status, result, cancel, and the keys of its calls."""
        if request.path == "/.well-known/jwks.json":
            return Answer(content=key_set())
        if request.headers.get("authorization") != f"Key {self.key}":
            return self.refusal(401)
        place = PLACE.fullmatch(request.path)
        if request.method == "POST" and not place:
            return self._queued(request)
        job = self.asked(place[2]) if place else None
        if job is None or place is None:
            return Answer(status=404, content={"detail": "Request not found"})
        if place[3] == "/status":
            return self._status(job)
        return self._canceled(job) if place[3] else self._result(job)

    def refusal(self, status: int) -> Answer:
        """Word an error."""
        if status == 422:  # noqa: PLR2004 - HTTP
            return self._model_error("image_load_error", "image_url")
        return Answer(status=status, content={"detail": f"error {status}"})

    def call(self, job: Job, phase: str) -> Call:  # noqa: ARG002 - it calls at the end only
        """Word and sign the one call."""
        result = self._result(job)
        good = result.status == 200  # noqa: PLR2004 - HTTP
        body = json.dumps(
            {
                "request_id": job.id,
                "gateway_request_id": job.id,
                "status": "OK" if good else "ERROR",
                "payload": None if job.script.thin else result.content,
                "error": None if good else f"Unexpected status code: {result.status}",
            }
        ).encode()
        forgery = job.script.forgery
        drift = {Forgery.STALE: -TOLERANCE_SECONDS - 1, Forgery.FUTURE: TOLERANCE_SECONDS + 60}
        stamp = str(int(self.now()) + drift.get(forgery, 0))
        user = "user_other" if forgery is Forgery.FOREIGN else USER
        headers = signed(job.id, user, stamp, body)
        sent = bytes([body[0] ^ 1]) + body[1:] if forgery is Forgery.FLIPPED else body
        return Call(url=job.hook_url or "", headers=headers, body=sent)

    def _queued(self, request: Request) -> Answer:
        order = request.json()
        job = self.accept(order, request.query.get("fal_webhook") or None)
        queue = "/".join(request.path.split("/")[1:3])
        place = f"{self.address}/{queue}/requests/{job.id}"
        return Answer(
            content={
                "status": "IN_QUEUE",
                "request_id": job.id,
                "response_url": place,
                "status_url": f"{place}/status",
                "cancel_url": f"{place}/cancel",
                "queue_position": 0,
            }
        )

    def _status(self, job: Job) -> Answer:
        phase = self.phase(job)
        words = {"queued": "IN_QUEUE", "running": "IN_PROGRESS", "ended": "COMPLETED"}
        word = words[phase]
        if phase == "ended" and self.end(job) is End.ODD_WORD:
            word = "ARCHIVED"
        status = 200 if phase == "ended" else 202
        return Answer(status=status, content={"status": word, "request_id": job.id})

    def _result(self, job: Job) -> Answer:
        if self.phase(job) != "ended":
            return Answer(status=400, content={"detail": "Request is still in progress"})
        end = self.end(job)
        if end in REASONS:
            return self._model_error(*REASONS[end])
        if end in (End.FAILED, End.CANCELED):
            headers = {"x-fal-error-type": "runner_disconnected", "x-fal-retryable": "true"}
            content = {"detail": "Runner disconnected", "error_type": "runner_disconnected"}
            return Answer(status=503, content=content, headers=headers)
        if end is End.EMPTY:
            return Answer(content={"video": None})
        film = {"url": self.file_url(job), "content_type": "video/mp4"}
        return Answer(content={"clip" if end is End.ODD_SHAPE else "video": film})

    def _canceled(self, job: Job) -> Answer:
        if self.phase(job) == "ended":
            return Answer(status=400, content={"status": "ALREADY_COMPLETED"})
        job.withdrawn = True
        return Answer(status=202, content={"status": "CANCELLATION_REQUESTED"})

    def _model_error(self, kind: str, where: str) -> Answer:
        detail = [{"loc": ["body", where], "msg": "not accepted", "type": kind}]
        return Answer(status=422, content={"detail": detail})


def key_set() -> dict[str, Any]:
    """Publish the public key."""
    public = Ed25519PrivateKey.from_private_bytes(SEED).public_key().public_bytes_raw()
    x = base64.urlsafe_b64encode(public).rstrip(b"=").decode()
    return {"keys": [{"kty": "OKP", "crv": "Ed25519", "x": x}]}


def signed(request: str, user: str, stamp: str, body: bytes) -> dict[str, str]:
    """Sign a call."""
    message = f"{request}\n{user}\n{stamp}\n{hashlib.sha256(body).hexdigest()}".encode()
    signature = Ed25519PrivateKey.from_private_bytes(SEED).sign(message).hex()
    return {
        "x-fal-webhook-request-id": request,
        "x-fal-webhook-user-id": user,
        "x-fal-webhook-timestamp": stamp,
        "x-fal-webhook-signature": signature,
    }


FAKE = Fal
