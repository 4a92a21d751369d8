"""What goes in and out over HTTP."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from functions.domain.states import TaskState


class SignIn(StrEnum):
    """How a person gets a token."""

    PASSWORD = "password"  # noqa: S105 - sent to the issuer's own endpoint
    REDIRECT = "redirect"  # on the issuer's page: OIDC code flow with PKCE


class Body(BaseModel):
    """A request body: unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", strict=True)


class UploadBody(Body):
    """Ask for an upload form."""

    kind: str = Field(description="what the source is for", examples=["image_to_video"])
    content_type: str = Field(description="what the file is", examples=["image/jpeg"])


class OrderBody(Body):
    """Order a task."""

    kind: str = Field(examples=["image_to_video"])
    provider: str | None = Field(None, description="one of the kind's; without, its first")
    input: dict[str, Any] = Field(
        description="as `GET /v1/kinds` describes it",
        examples=[{"source": "01J9ZQ3V7Y4M2K8N6P5R3T1W0X", "motion": "zoom-in", "seconds": 4}],
    )


class QuoteBody(Body):
    """Ask for a price."""

    kind: str = Field(examples=["image_to_video"])
    provider: str | None = Field(None, description="one of the kind's; without, its first")
    input: dict[str, Any] = Field(
        description="as for an order; the source may be missing, and is looked at if it is named",
        examples=[{"motion": "zoom-in", "seconds": 4}],
    )


class GrantBody(Body):
    """Give credits."""

    amount: Annotated[int, Field(gt=0, le=1_000_000_000, description="whole credits")]
    note: Annotated[str, Field(max_length=200)] | None = None


class RedriveBody(Body):
    """Choose dead tasks to start anew."""

    limit: Annotated[int, Field(ge=1, le=100)] = 20
    kind: str | None = None
    code: str | None = Field(None, description="only tasks that died of this")


class ReviewBody(Body):
    """An operator's word on a doubted result."""

    accept: bool = Field(description="deliver and charge it, or refuse it and give credits back")


class UploadView(BaseModel):
    """Where to send the file: a form POST with these fields first, then `file`."""

    upload: str = Field(description="the source's id, for the order")
    url: str
    fields: dict[str, str]
    bytes_max: int
    expires_in: int = Field(description="seconds")


class StepView(BaseModel):
    """One line of a task's history."""

    state: TaskState
    at: datetime
    attempt: int
    reason: str


class CheckView(BaseModel):
    """One thing that the inspection looked at."""

    name: str
    value: str
    limit: str
    verdict: str


class ResultView(BaseModel):
    """A delivered file."""

    url: str | None = Field(description="short-lived; ask again for a new one; null once expired")
    content_type: str
    bytes: int
    sha256: str
    seconds: float
    width: int
    height: int
    codec: str
    expires_at: datetime | None
    notice: str | None = Field(None, description="a doubt that was left to you to judge")
    thumbnails: list[str] = Field(
        [], description="links to a film's poster and contact strip, or to a document's key frames"
    )
    checks: list[CheckView] = []


class ErrorView(BaseModel):
    """Why a task ended without a result."""

    code: str
    reason: str


class ChargeView(BaseModel):
    """What happened to the credits: held, settled or released."""

    amount: int
    state: str


class ProgressView(BaseModel):
    """How far a worker is, in frames or milliseconds; renewed every ten seconds or so."""

    done: int
    total: int


class OrderAgain(BaseModel):
    """What to send to `POST /v1/tasks`, with a new key, while its source is still there."""

    kind: str
    provider: str | None = Field(default=None, description="as it was chosen")
    input: dict[str, Any]


class TaskView(BaseModel):
    """A task. When `done`, exactly one of `result` and `error` is there."""

    id: str
    kind: str
    state: TaskState
    done: bool
    message: str = Field(description="the state in plain words")
    attempt: int
    created_at: datetime
    credits: ChargeView
    timeline: list[StepView]
    progress: ProgressView | None = Field(default=None, description="while a worker renders it")
    result: ResultView | None = None
    error: ErrorView | None = None
    order_again: OrderAgain | None = Field(None, description="the body to order this once more")


class TaskList(BaseModel):
    """Tasks, newest first."""

    tasks: list[TaskView]
    cursor: str | None = None


class BalanceView(BaseModel):
    """What an account has."""

    available: int
    held: int
    spent: int


class EntryView(BaseModel):
    """One line of the ledger."""

    id: str
    kind: str
    amount: int
    at: datetime
    task: str | None = None
    note: str | None = None


class LedgerView(BaseModel):
    """Entries, newest first."""

    entries: list[EntryView]
    cursor: str | None = None


class GrantView(BaseModel):
    """A written grant."""

    id: str
    replayed: bool


class QuoteView(BaseModel):
    """What an order would hold."""

    price: int
    unit_price: int
    units: int = Field(description="what is paid for: seconds, or minutes")


class IdentityView(BaseModel):
    """Whose tokens are accepted."""

    sign_in: SignIn
    issuer: str
    client_id: str
    endpoint: str | None = Field(description="Cognito's, to send a password to; else null")


class ConfigView(BaseModel):
    """What a page or a program needs to know before it signs in."""

    identity: IdentityView
    operator_group: str | None = Field(description="the group whose members are operators")


class KindView(BaseModel):
    """What can be ordered."""

    name: str
    title: str
    price: str
    sized: bool = Field(description="the price goes by the source: ask for a quote that names it")
    input: dict[str, Any] = Field(description="JSON schema")
    providers: list[str] = Field(description="who can make it here; the first is the default")
    content_types: list[str]
    bytes_max: int
    result_hours: float


class KindList(BaseModel):
    """All kinds."""

    kinds: list[KindView]


class PaceView(BaseModel):
    """How long a provider takes for a kind, in seconds, the older samples counted in part."""

    kind: str
    provider: str
    samples: int
    p50: float | None
    p99: float | None
    window: int = Field(description="how long its silence is borne now")


class HealthView(BaseModel):
    """What an operator looks at first."""

    overdue: int
    dead: int
    capped_at: int
    paces: list[PaceView] = []


class DeadTask(BaseModel):
    """A task that waits for an operator."""

    account: str
    task: TaskView


class DeadList(BaseModel):
    """Dead tasks, longest dead first."""

    tasks: list[DeadTask]
    cursor: str | None = None


class RedriveView(BaseModel):
    """How one redrive went."""

    account: str
    id: str
    outcome: str


class RedriveList(BaseModel):
    """How each redrive went."""

    tasks: list[RedriveView]


class DifferenceView(BaseModel):
    """Something that is not as it must be."""

    account: str
    code: str
    subject: str
    detail: str


class SpendView(BaseModel):
    """What a provider was paid on one day, or may have been, against credits charged."""

    provider: str
    day: str
    attempts: int
    charged: int = Field(description="attempts that the provider says it charged")
    free: int = Field(description="attempts that cost nothing")
    possible: int = Field(description="attempts of which nobody says that they were free")
    units: int = Field(description="seconds ordered by what was, or may have been, paid")
    settled: int = Field(description="credits charged to customers")


class SpendList(BaseModel):
    """Providers by day, newest first, as of the newest audit."""

    as_of: datetime | None
    lines: list[SpendView]


class AuditView(BaseModel):
    """What the auditor read and found."""

    started_at: datetime
    finished_at: datetime | None
    accounts: int
    tasks: int
    entries: int
    skipped: int = Field(description="accounts that kept moving while they were read")
    found: int
    differences: list[DifferenceView]
