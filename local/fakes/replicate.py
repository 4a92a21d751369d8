"""A stand-in for Replicate: predictions, a list of them, HMAC calls, files for an hour."""

import base64
import hashlib
import hmac
import json
import re
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from local.fakes.script import End, Forgery
from local.fakes.vendor import Answer, Call, Job, Request, Vendor

SECRET = "whsec_" + base64.b64encode(bytes(range(32))).decode()
OTHER_SECRET = "whsec_" + base64.b64encode(bytes(range(1, 33))).decode()
PLACE = re.compile(r"/v1/predictions/([^/]+)(/cancel)?")
CREATE = re.compile(r"/v1/models/[^/]+/[^/]+/predictions|/v1/predictions")
TOLERANCE_SECONDS = 300
DONE = {
    End.FAILED: "failed",
    End.FILTERED: "failed",
    End.BAD_INPUT: "failed",
    End.CANCELED: "canceled",
    End.ODD_WORD: "archived",
}


class Replicate(Vendor):
    """Calls when a prediction has ended, if no other events are asked for."""

    file_lifetime_seconds = 3600.0
    page_size = 100

    def options(self) -> dict[str, Any]:
        """Tell a client where it is."""
        return {"base_url": self.address}

    def secrets(self) -> dict[str, list[str]]:
        """Tell a client its secrets."""
        return {**super().secrets(), "hook_secret": [SECRET]}

    def answer(self, request: Request) -> Answer:
        """Create, read, list, cancel."""
        if request.headers.get("authorization") != f"Bearer {self.key}":
            return self.refusal(401)
        if request.path == "/v1/webhooks/default/secret":
            return Answer(content={"key": SECRET})
        if request.method == "POST" and CREATE.fullmatch(request.path):
            order = request.json()
            job = self.accept(order.get("input", {}), order.get("webhook"))
            return Answer(status=201, content=self._prediction(job))
        if request.path == "/v1/predictions":
            return self._page(request)
        place = PLACE.fullmatch(request.path)
        job_asked = self.asked(place[1]) if place else None
        if job_asked is None or place is None:
            return self.refusal(404)
        if place[2] and self.phase(job_asked) != "ended":
            job_asked.withdrawn = True
        return Answer(content=self._prediction(job_asked))

    def refusal(self, status: int) -> Answer:
        """Word an error as a problem."""
        return Answer(status=status, content={"title": "Error", "status": status, "detail": "no"})

    def call(self, job: Job, phase: str) -> Call:  # noqa: ARG002 - it calls at the end only
        """Sign the prediction."""
        body = json.dumps(self._prediction(job)).encode()
        forgery = job.script.forgery
        drift = {Forgery.STALE: -TOLERANCE_SECONDS - 1, Forgery.FUTURE: TOLERANCE_SECONDS + 60}
        stamp = str(int(self.now()) + drift.get(forgery, 0))
        secret = OTHER_SECRET if forgery is Forgery.FOREIGN else SECRET
        headers = signed(f"msg_{job.id}", stamp, body, secret)
        sent = bytes([body[0] ^ 1]) + body[1:] if forgery is Forgery.FLIPPED else body
        return Call(url=job.hook_url or "", headers=headers, body=sent)

    def _prediction(self, job: Job) -> dict[str, Any]:
        phase = self.phase(job)
        word = {"queued": "starting", "running": "processing", "ended": "succeeded"}[phase]
        if phase == "ended":
            word = DONE.get(self.end(job), word)
        removed = phase == "ended" and self.now() > job.ends_at + self.file_lifetime_seconds
        shown = {
            "id": job.id,
            "status": word,
            "webhook": job.hook_url,
            "created_at": self.stamp(job),
            "input": {} if removed else dict(job.order),
            "output": self._output(job) if word == "succeeded" and not removed else None,
            "error": "prediction failed" if word == "failed" else None,
            "metrics": {"predict_time": job.script.run_seconds} if phase == "ended" else {},
            "urls": {"get": f"{self.address}/v1/predictions/{job.id}"},
        }
        return {**shown, "data_removed": True} if removed else shown

    def _output(self, job: Job) -> Any:
        end = self.end(job)
        if end is End.EMPTY or job.script.thin:
            return None
        return {"clip": self.file_url(job)} if end is End.ODD_SHAPE else self.file_url(job)

    def _page(self, request: Request) -> Answer:
        after = datetime.fromisoformat(request.query.get("created_after", "1970-01-01T00:00+00:00"))
        jobs = [j for j in self.listed() if datetime.fromtimestamp(j.at, UTC) >= after]
        start = int(request.query.get("cursor", 0))
        end = start + self.page_size
        query = urlencode({**request.query, "cursor": end})
        following = f"{self.address}/v1/predictions?{query}" if len(jobs) > end else None
        shown = [self._prediction(job) for job in jobs[start:end]]
        return Answer(content={"previous": None, "next": following, "results": shown})


def signed(message: str, stamp: str, body: bytes, secret: str) -> dict[str, str]:
    """Sign a call."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    mac = hmac.digest(key, f"{message}.{stamp}.".encode() + body, hashlib.sha256)
    return {
        "webhook-id": message,
        "webhook-timestamp": stamp,
        "webhook-signature": f"v1,{base64.b64encode(mac).decode()}",
    }


FAKE = Replicate
