"""A stand-in for Gemini: resumable uploads, clips that are kept two days, answers with reasons."""

import base64
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from secrets import token_hex
from typing import Any

from local.fakes.model import Asked, ModelVendor, Told
from local.fakes.saying import ClipEnd, Saying, Says
from local.fakes.vendor import Answer, HangUp, Request

UPLOADS = re.compile(r"/upload/(v1|v1beta)/files")
FILE = re.compile(r"/(?:v1|v1beta)/(files/[^/:]+)")
ASK = re.compile(r"/(?:v1|v1beta)/models/([^/:]+):generateContent")
SNAKE = re.compile(r"_([a-z])")
SCHEMAS = {"responseJsonSchema", "response_json_schema"}  # whose names are the client's
KEPT_SECONDS = 48 * 3600
FPS_MAX = 24
WORDS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
REASONS = {Says.TRUNCATED: "MAX_TOKENS"}
THOUGHTS = 12  # tokens


@dataclass(slots=True, kw_only=True)
class Kept:
    """One clip, while it is sent and then."""

    name: str
    kind: str
    size: int
    saying: Saying
    at: float
    data: bytearray = field(default_factory=bytearray)
    whole: bool = False
    looks: int = 0
    asked: bool = False


class Gemini(ModelVendor):
    """Keeps what it is shown, and answers about it only."""

    hears = True

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.clips: dict[str, Kept] = {}
        self.uploads: dict[str, Kept] = {}

    def options(self) -> dict[str, Any]:
        """Tell a client where it is."""
        return {"base_url": self.address}

    def answered(self, request: Request) -> Answer:
        """Upload, look, remove, ask."""
        upload = UPLOADS.fullmatch(request.path)
        if upload and request.query.get("upload_id"):
            return self._sent(request)  # whose address is its key
        if request.headers.get("x-goog-api-key") != self.key:
            return self.error(400, "INVALID_ARGUMENT", reason="API_KEY_INVALID")
        if upload and request.method == "POST":
            return self._opened(request)
        place, ask = FILE.fullmatch(request.path), ASK.fullmatch(request.path)
        if place:
            return self._looked(place[1], request.method)
        if ask and request.method == "POST":
            return self._asked(camel(request.json()))
        return self.refusal(404)

    def error(self, status: int, name: str, *, reason: str = "") -> Answer:
        """Word an error."""
        word = name or WORDS.get(status, "UNKNOWN")
        error: dict[str, Any] = {"code": status, "message": "no", "status": word}
        if reason:
            kind = "type.googleapis.com/google.rpc.ErrorInfo"
            error["details"] = [{"@type": kind, "reason": reason, "domain": "googleapis.com"}]
        return Answer(status=status, content={"error": error})

    def worded(self, told: Told) -> Answer:
        """Word an answer with the reason why it ended."""
        usage = {"promptTokenCount": told.read, "totalTokenCount": told.read + told.written}
        content: dict[str, Any] = {"modelVersion": "fake", "responseId": token_hex(8)}
        if told.saying.says is Says.BLOCKED:
            feedback = {"blockReason": told.saying.stop or "PROHIBITED_CONTENT"}
            return Answer(content=content | {"promptFeedback": feedback, "usageMetadata": usage})
        usage |= {"candidatesTokenCount": told.written, "thoughtsTokenCount": THOUGHTS}
        stopped = told.saying.says is Says.STOPPED
        reason = told.saying.stop if stopped else REASONS.get(told.saying.says, "STOP")
        candidate: dict[str, Any] = {"index": 0, "finishReason": reason}
        if not stopped:
            text = [{"text": told.text}] if told.text else []
            candidate["content"] = {"role": "model", "parts": text}
        return Answer(content=content | {"candidates": [candidate], "usageMetadata": usage})

    def _opened(self, request: Request) -> Answer:
        headers = request.headers
        size = headers.get("x-goog-upload-header-content-length", "")
        proper = (
            headers.get("x-goog-upload-protocol") == "resumable"
            and headers.get("x-goog-upload-command") == "start"
            and size.isdigit()
        )
        if not proper:
            return self.refusal(400)
        upload = token_hex(12)
        self.uploads[upload] = Kept(
            name=f"files/{token_hex(6)}",
            kind=headers.get("x-goog-upload-header-content-type", ""),
            size=int(size),
            saying=self.next_saying(),
            at=self.now(),
        )
        place = f"{self.address}{request.path}?upload_id={upload}&upload_protocol=resumable"
        opened = {"x-goog-upload-url": place, "x-goog-upload-status": "active"}
        return Answer(content={}, headers=opened)

    def _sent(self, request: Request) -> Answer:
        kept = self.uploads.get(request.query["upload_id"])
        if kept is None or kept.whole:
            return self.refusal(404)
        if kept.saying.clip is ClipEnd.DROPPED:
            raise HangUp
        command = request.headers.get("x-goog-upload-command", "").replace(" ", "")
        offset = request.headers.get("x-goog-upload-offset")
        if command not in ("upload", "upload,finalize") or offset != str(len(kept.data)):
            return self.refusal(400)
        kept.data += request.body
        if command == "upload":
            return Answer(content={}, headers={"x-goog-upload-status": "active"})
        if len(kept.data) != kept.size:
            return self.refusal(400)
        kept.whole = True
        self.clips[kept.name] = kept
        final = {"x-goog-upload-status": "final"}
        return Answer(content={"file": self._file(kept)}, headers=final)

    def _looked(self, name: str, method: str) -> Answer:
        kept = self._kept(name)
        if kept is None:
            return self.refusal(403)  # that it is not there is not said
        if method == "DELETE":
            del self.clips[name]
            return Answer(content={})
        self.looks += 1
        kept.looks += 1
        return Answer(content=self._file(kept))

    def _kept(self, name: str) -> Kept | None:
        kept = self.clips.get(name)
        return kept if kept and self.now() < kept.at + KEPT_SECONDS else None

    def _state(self, kept: Kept) -> str:
        if kept.saying.clip is ClipEnd.FAILED:
            return "FAILED"
        waits = kept.saying.clip is ClipEnd.STUCK or kept.looks < kept.saying.looks
        return "PROCESSING" if waits else "ACTIVE"

    def _file(self, kept: Kept) -> dict[str, Any]:
        digest = hashlib.sha256(kept.data).hexdigest()
        return {
            "name": kept.name,
            "uri": f"{self.address}/v1/{kept.name}",
            "mimeType": kept.kind,
            "sizeBytes": str(len(kept.data)),
            "sha256Hash": base64.b64encode(digest.encode()).decode(),
            "createTime": _stamp(kept.at),
            "expirationTime": _stamp(kept.at + KEPT_SECONDS),
            "state": self._state(kept),
            "source": "UPLOADED",
        }

    def _asked(self, body: Mapping[str, Any]) -> Answer:
        try:
            parts = body["contents"][0]["parts"]
            video = next(part for part in parts if "fileData" in part)
            prompt = "".join(part["text"] for part in parts if "text" in part)
            config = body["generationConfig"]
            schema = config.get("responseJsonSchema") or config["responseSchema"]
            fps = float(video.get("videoMetadata", {}).get("fps", 1.0))
            uri = str(video["fileData"]["fileUri"])
            proper = config["responseMimeType"] == "application/json" and 0 < fps <= FPS_MAX
        except (KeyError, IndexError, StopIteration, TypeError, ValueError):
            return self.refusal(400)
        if not proper or not prompt:
            return self.refusal(400)
        kept = self._kept(f"files/{uri.rpartition('/files/')[2]}")
        if kept is None:
            return self.refusal(403)
        if self._state(kept) != "ACTIVE":
            return self.error(400, "FAILED_PRECONDITION")
        saying = self.next_saying() if kept.asked else kept.saying
        kept.asked = True
        return self.reply(Asked(prompt=prompt, schema=schema), saying)


def camel(value: Any) -> Any:
    """Spell names as in JSON: the vendor takes both spellings, and its own client mixes them."""
    if isinstance(value, list):
        return [camel(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        SNAKE.sub(lambda found: found[1].upper(), name): value if name in SCHEMAS else camel(value)
        for name, value in value.items()
    }


def _stamp(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


FAKE = Gemini
