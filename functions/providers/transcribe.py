"""Amazon Transcribe: writes down what is said, beside a model that only sees.

Wire: JSON 1.1 with `x-amz-target`, signed by our own role. A job has a name of ours; a second
start under it is a conflict, which is how a start whose answer was lost is found again. What was
written lies at an address that works for some minutes, and is asked for anew.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from functions.domain.answers import no_analysis
from functions.domain.exchange import HttpReply, HttpRequest, at, link, parsed, posting, text
from functions.domain.jobs import Fault, Rejected
from functions.domain.models import Listener, Said, Transcript, Wait, Written

LOOK_AGAIN_SECONDS: Final = 5.0
PAUSE_SECONDS: Final = 1.0  # after which something new is said
WORDS_MAX: Final = 40
ENDS: Final = (".", "?", "!", "。", "？", "！")  # noqa: RUF001 - as they are written there
STARTED: Final = "ConflictException"
ERRORS: Final = {
    "BadRequestException": Fault.BAD_INPUT,
    "LimitExceededException": Fault.THROTTLED,
    "ThrottlingException": Fault.THROTTLED,
    "InternalFailureException": Fault.TROUBLE,
    "NotFoundException": Fault.TROUBLE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcribe(Listener):
    """`languages` are those that are spoken here, as BCP 47; none named: any."""

    region: str = ""
    languages: tuple[str, ...] = ()

    def listen(
        self, name: str, place: str, replies: Sequence[HttpReply]
    ) -> HttpRequest | Wait | Written | Rejected:
        """Start the job, unless it was started; then see where it is."""
        if not replies:
            return self._asking("StartTranscriptionJob", self._order(name, place))
        if not replies[0].ok and _error(replies[0]) != STARTED:
            return _declined(replies[0])
        if len(replies) == 1:
            return self._asking("GetTranscriptionJob", {"TranscriptionJobName": name})
        return _stands(replies[1])

    def read(self, content: bytes) -> Transcript | None:
        """Join words to sentences, by punctuation and by pauses."""
        results = at(parsed(content), "results")
        items = at(results, "items")
        if not isinstance(items, list):
            return None
        said = tuple(_sentences(items))
        language = text(at(results, "language_code")) if said else ""
        return Transcript(language=language or None, said=said)

    def _order(self, name: str, place: str) -> dict[str, Any]:
        options = {"LanguageOptions": list(self.languages)} if len(self.languages) > 1 else {}
        one = {"LanguageCode": self.languages[0]} if len(self.languages) == 1 else {}
        identified = {} if one else {"IdentifyLanguage": True}
        return {
            "TranscriptionJobName": name,
            "Media": {"MediaFileUri": place},
            "MediaFormat": "mp4",
            **one,
            **identified,
            **options,
        }

    def _asking(self, operation: str, content: dict[str, Any]) -> HttpRequest:
        headers = {
            "content-type": "application/x-amz-json-1.1",
            "x-amz-target": f"Transcribe.{operation}",
        }
        request = posting(f"{self.base_url}/", headers, content)
        return replace(request, signed_for="transcribe", signed_in=self.region)


def _stands(reply: HttpReply) -> Wait | Written | Rejected:
    if not reply.ok:
        return _declined(reply)
    job = at(reply.json(), "TranscriptionJob")
    match text(at(job, "TranscriptionJobStatus")):
        case "COMPLETED":
            url = link(at(job, "Transcript", "TranscriptFileUri"))
            return Written(url=url) if url else _failed("no-transcript")
        case "FAILED":  # for good: the same name stays the same job
            return _failed("job-failed")
        case _:
            return Wait(seconds=LOOK_AGAIN_SECONDS)


@dataclass(slots=True)
class _Sentence:
    """Words so far."""

    start: float
    end: float
    text: str
    words: int = 1

    def whole(self) -> Said:
        return Said(start=self.start, end=self.end, text=self.text)


def _sentences(items: Sequence[Any]) -> Iterator[Said]:
    open_: _Sentence | None = None
    for item in items:
        content = text(at(item, "alternatives", 0, "content"))
        start, end = _seconds(at(item, "start_time")), _seconds(at(item, "end_time"))
        if start is None or end is None:  # punctuation has no time
            if open_ and content:
                open_.text += content
        elif open_ and (
            open_.text.endswith(ENDS)
            or start - open_.end > PAUSE_SECONDS
            or open_.words >= WORDS_MAX
        ):
            yield open_.whole()
            open_ = _Sentence(start, end, content)
        elif open_:
            open_.text += f" {content}"
            open_.end, open_.words = max(open_.end, end), open_.words + 1
        else:
            open_ = _Sentence(start, end, content)
    if open_:
        yield open_.whole()


def _seconds(value: Any) -> float | None:
    try:
        seconds = float(text(value))
    except ValueError:
        return None
    return seconds if 0 <= seconds < 1e6 else None  # noqa: PLR2004 - eleven days


def _error(reply: HttpReply) -> str:
    told = text(at(reply.json(), "__type")) or reply.headers.get("x-amzn-errortype", "")
    return text(told.partition(":")[0].rpartition("#")[2])


def _declined(reply: HttpReply) -> Rejected:
    """Read an error. A start is repeated safely, so what is not known may be tried again."""
    name = _error(reply)
    fault = ERRORS.get(name, Fault.TROUBLE)
    if name not in ERRORS and reply.status in (400, 401, 403):
        fault = Fault.NO_ACCESS
    return Rejected(failure=no_analysis(fault, detail=name or f"http-{reply.status}"))


def _failed(detail: str) -> Rejected:
    broken = no_analysis(Fault.TROUBLE, "transcript-failed", detail=detail, again=False)
    return Rejected(failure=broken)


PROVIDER = Transcribe(
    name="transcribe",
    base_url="https://transcribe.{region}.amazonaws.com",
    secrets=(),
    actions=("transcribe:GetTranscriptionJob", "transcribe:StartTranscriptionJob"),
    output_hosts=("amazonaws.com",),
)
