"""A remote provider in memory: what it was asked is counted, what it answers is scripted."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from functions.domain.hooks import Delivery, Hint, Judgement
from functions.domain.jobs import (
    Absent,
    Accepted,
    Cancellation,
    Cost,
    Download,
    Fetched,
    Job,
    JobState,
    Observation,
    RemoteOutput,
    RenderOrder,
    Search,
    Submitted,
    Unknown,
)
from functions.domain.providers import Remote

JOB = Job(id="job-1")
RUNNING = Observation(state=JobState.RUNNING, word="running", job_id=JOB.id)
SUCCEEDED = Observation(
    state=JobState.SUCCEEDED,
    word="done",
    job_id=JOB.id,
    outputs=(RemoteOutput(url="https://media.example/out.mp4"),),
    cost=Cost(charged=True),
)

ACCEPTED, ABSENT, HINT = Accepted(job=JOB), Absent(), Hint(observation=SUCCEEDED)
FETCHED = Fetched(size_bytes=5, sha256="0" * 64, content_type="video/mp4")


@dataclass(slots=True)
class ScriptedProvider:
    """Provides `ProviderCalls`. `orders` are the paid requests that were sent."""

    submitted: Submitted = ACCEPTED
    observation: Observation = RUNNING
    search: Search = ABSENT
    judgement: Judgement = HINT
    downloaded: Download = FETCHED
    orders: list[RenderOrder] = field(default_factory=list)
    before_submit: Callable[[], object] | None = None
    questions: int = 0
    downloads: int = 0

    def submit(self, provider: Remote, order: RenderOrder) -> Submitted:
        assert provider.name
        if self.before_submit:
            self.before_submit()
        self.orders.append(order)
        return self.submitted

    def observe(self, provider: Remote, job: Job) -> Observation:
        assert provider.name
        assert job == JOB
        self.questions += 1
        return self.observation

    def find(self, provider: Remote, token: str, since: datetime) -> Search:
        assert provider.name
        assert since.tzinfo
        assert token == self.orders[-1].token
        self.questions += 1
        return self.search

    def cancel(self, provider: Remote, job: Job) -> Cancellation:
        assert provider.name
        assert job.id
        return Cancellation.REQUESTED

    def judge(self, provider: Remote, hook: Delivery, *, at: datetime | None = None) -> Judgement:
        assert provider.name
        assert hook.body is not None
        assert at is None or at.tzinfo
        return self.judgement

    def download(self, provider: Remote, output: RemoteOutput, path: Path) -> Download:
        assert provider.name
        assert output.url
        self.downloads += 1
        if isinstance(self.downloaded, Fetched):
            path.write_bytes(b"video")
        return self.downloaded


LOST = Unknown(cause="timed-out")
