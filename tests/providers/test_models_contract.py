"""What every model found must hold to, without a network."""

import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.analysis import asking as analysis
from functions.domain.exchange import HttpReply, HttpRequest
from functions.domain.jobs import Fault, Rejected, Unknown
from functions.domain.models import Answered, Clip, Model, Shown, Unusable, Wait
from functions.domain.providers import Secrets, configured
from local.fakes import model as model_fake
from local.fakes.saying import Saying, Says, said
from tests.doubles.world import START
from tests.providers.asking import CLIP, MODELS, PROMPT, SCHEMA, question
from tests.providers.wire import REFUSALS

SHOWN = Shown(uri="s3://films/views/1/part-1.mp4", name="files/a1")
SECRETS = Secrets(
    values={name: (f"very-secret-{name}",) for one in MODELS.values() for name in one.secrets}
)
every = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


def asking(model: Model) -> HttpRequest:
    request = model.question(question(SHOWN), SECRETS)
    assert isinstance(request, HttpRequest)
    return request


@every
def test_each_model_has_a_stand_in_of_its_name(model: Model) -> None:
    assert model_fake(model.name).__name__.lower() == model.name
    assert model_fake(model.name).hears == model.diet.sound


@every
def test_a_question_is_one_request_to_the_model_alone(model: Model) -> None:
    request = asking(model)

    assert request.method == "POST"
    assert request.url.startswith(f"{model.base_url}/")
    assert "very-secret" not in request.url
    assert b"very-secret" not in request.body
    assert SHOWN.uri in request.body.decode()
    assert json.dumps(PROMPT)[1:-1] in request.body.decode()


@every
def test_who_needs_no_key_is_signed_for_and_who_has_one_sends_it(model: Model) -> None:
    request = asking(model)

    assert bool(request.signed_for) == (not model.secrets)
    for name in model.secrets:
        assert f"very-secret-{name}" in request.headers.values()


@every
def test_nothing_that_is_printed_shows_a_secret(model: Model) -> None:
    shown = model.show(CLIP, [], SECRETS, START)
    printed = repr((asking(model), shown, CLIP, question(SHOWN), SECRETS, model))
    answer = model.answered(HttpReply(status=200, body=b'{"candidates": []}'), START)

    assert "very-secret" not in printed
    assert "very-private" not in printed + repr(answer)
    assert repr(Answered(text="very-private")).count("very-private") == 0


@every
def test_a_diet_is_one_that_can_be_kept_to(model: Model) -> None:
    diet = model.diet

    assert 144 <= diet.side_max <= 1080
    assert 0 < diet.frames_per_second <= 24
    assert 60 <= diet.part_seconds <= 960  # beyond that frames are left out
    assert 1_000_000 <= diet.bytes_max <= 20_000_000
    assert model.answer_seconds <= 600  # it is asked from a function


@every
def test_options_are_those_it_has(model: Model) -> None:
    changed = configured(model, {"base_url": "https://x.example", "answer_seconds": 90})

    assert (changed.base_url, changed.answer_seconds) == ("https://x.example", 90.0)
    assert asking(changed).url.startswith("https://x.example/")
    assert (
        configured(model, {"model": "other-1.0"}).model
        in asking(configured(model, {"model": "other-1.0"})).url
    )
    for wrong in ({"nonsense": 1}, {"name": "other"}, {"secrets": ["x"]}):
        with pytest.raises(ValueError, match="no option"):
            configured(model, wrong)
    with pytest.raises(TypeError):
        configured(model, {"answer_seconds": "long"})


@every
@pytest.mark.parametrize(
    "body", [b"", b"{}", b"[]", b"null", b"<html>", b"\xff", b'{"text":"x"}', b"[" * 100_000]
)
def test_an_answer_of_no_shape_is_unknown(model: Model, body: bytes) -> None:
    assert isinstance(model.answered(HttpReply(status=200, body=body), START), Unknown)


@every
@pytest.mark.parametrize("status", [100, 408, 409, 425, 500, 502, 503, 504, 520, 599])
def test_what_may_have_come_from_in_between_is_unknown(model: Model, status: int) -> None:
    answer = HttpReply(status=status, body=b"<html>bad gateway</html>")

    assert model.answered(answer, START) == Unknown(cause=f"http-{status}")


@every
@pytest.mark.parametrize(("status", "fault"), REFUSALS.items())
def test_a_refusal_says_who_can_change_that(model: Model, status: int, fault: Fault) -> None:
    refused = model.answered(HttpReply(status=status, headers={"retry-after": "3"}), START)

    assert isinstance(refused, Rejected)
    assert refused.failure.fault is fault
    assert refused.failure.again == (fault is Fault.THROTTLED)
    assert refused.retry_after_seconds == 3
    assert "photo" not in refused.failure.reason


@every
def test_what_a_stand_in_says_names_every_shot(model: Model) -> None:
    words = json.loads(said(Saying(), PROMPT, SCHEMA, hears=model.diet.sound))

    assert [shot["number"] for shot in words["shots"]] == [1, 2, 3]
    deaf = said(Saying(), f"spoken is false\n{PROMPT}", SCHEMA, hears=True)
    assert json.loads(deaf)["transcript"] == []


@every
@pytest.mark.parametrize("sound", [None, {"loudness": -20, "silences": [], "heard_seconds": 9}])
def test_a_stand_in_answers_the_product_s_own_question(model: Model, sound: Any) -> None:
    viewing = {
        "seconds": 12.5,
        "width": 640,
        "height": 360,
        "frames_per_second": 25,
        "codec": "h264",
        "sound": sound,
        "shots": [
            {"start": 0, "end": 5, "key_frame": None},
            {"start": 5, "end": 12.5, "key_frame": None},
        ],
        "parts": [{"start": 0, "end": 12.5, "file": "part-1.mp4"}],
    }
    asked = analysis.question(viewing, 0, {"hears": model.diet.sound})
    text = said(Saying(), asked, SCHEMA, hears=model.diet.sound)

    assert analysis.doubt(text, viewing, 0) is None
    for says in (Says.ASTRAY, Says.GAPS, Says.BROKEN, Says.TRUNCATED, Says.EMPTY):
        doubted = said(Saying(says=says), asked, SCHEMA, hears=model.diet.sound)
        assert analysis.doubt(doubted, viewing, 0) is not None


@every
def test_each_model_has_its_paragraph_and_its_options_in_the_docs(model: Model) -> None:
    page = (Path(__file__).parents[2] / "docs" / "providers.md").read_text("utf-8")
    own = {each.name for each in fields(model)} - {each.name for each in fields(Model)}

    assert f"- **{model.name}**" in page
    assert f"`{model.model}`" in page
    assert [name for name in own if f"`{name}`" not in page] == []


WORDS = [
    *("STOP", "MAX_TOKENS", "SAFETY", "ACTIVE", "PROCESSING", "FAILED", "INTERNAL", "files/a1"),
    *("end_turn", "tool_use", "max_tokens", "content_filtered", "ValidationException"),
    *("https://generativelanguage.googleapis.com/v1/files/a1", "37s", "../../etc", "\ud800"),
]
KEYS = [
    *("candidates", "content", "parts", "text", "thought", "finishReason", "promptFeedback"),
    *("blockReason", "usageMetadata", "promptTokenCount", "candidatesTokenCount", "error"),
    *("code", "status", "details", "reason", "retryDelay", "file", "name", "uri", "state"),
    *("output", "message", "toolUse", "input", "stopReason", "usage", "inputTokens", "__type"),
]
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 2**70),
    st.floats(allow_nan=True),
    st.text(max_size=8),
    st.sampled_from(WORDS),
)
ANYTHING = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6)
    ),
    max_leaves=14,
)
STOPS = st.sampled_from(WORDS) | ANYTHING
PARTS = st.lists(st.fixed_dictionaries({}, optional={"text": LEAVES, "thought": LEAVES}) | ANYTHING)
COUNTS = st.fixed_dictionaries({"promptTokenCount": LEAVES, "inputTokens": LEAVES}) | ANYTHING
SHAPED = st.one_of(  # so nearly right that every branch is come to
    st.fixed_dictionaries(
        {
            "candidates": st.lists(
                st.fixed_dictionaries(
                    {"finishReason": STOPS, "content": st.fixed_dictionaries({"parts": PARTS})}
                ),
                max_size=2,
            ),
            "usageMetadata": COUNTS,
        }
    ),
    st.fixed_dictionaries(
        {
            "stopReason": STOPS,
            "output": st.fixed_dictionaries(
                {"message": st.fixed_dictionaries({"content": PARTS | ANYTHING})}
            ),
            "usage": COUNTS,
        }
    ),
    st.fixed_dictionaries({"error": ANYTHING}),
    st.fixed_dictionaries({"name": STOPS, "uri": STOPS, "state": STOPS}),
    st.fixed_dictionaries(
        {"file": st.fixed_dictionaries({"name": STOPS, "uri": STOPS, "state": STOPS})}
    ),
)
BODIES = st.one_of(
    st.binary(max_size=40),
    (SHAPED | ANYTHING).map(lambda value: json.dumps(value).encode("utf-8", "replace")),
)
NAMES = ["retry-after", "x-amzn-errortype", "x-goog-upload-url"]
REPLIES = st.builds(
    HttpReply,
    status=st.sampled_from([200, 204, 301, 400, 403, 404, 408, 424, 429, 500, 503]),
    headers=st.dictionaries(st.sampled_from(NAMES), st.sampled_from([*WORDS, "3"]), max_size=2),
    body=BODIES,
)


@every
@given(answer=REPLIES)
def test_no_answer_of_any_shape_breaks_anything(model: Model, answer: HttpReply) -> None:
    got = model.answered(answer, START)

    assert isinstance(got, Answered | Unusable | Rejected | Unknown)
    if isinstance(got, Answered):
        assert answer.ok
        assert got.text.encode().strip()
    if isinstance(got, Answered | Unusable):
        counts = (got.usage.input_tokens, got.usage.output_tokens)
        assert all(count is None or count >= 0 for count in counts)


@every
@given(answers=st.lists(REPLIES, max_size=3))
def test_no_reply_to_a_showing_breaks_anything(model: Model, answers: list[HttpReply]) -> None:
    step = model.show(CLIP, answers, SECRETS, START)

    assert isinstance(step, HttpRequest | Wait | Shown | Rejected)
    if isinstance(step, HttpRequest):
        assert step.url.startswith(model.base_url)
    if isinstance(step, Wait):
        assert step.seconds > 0
        assert isinstance(model.show(CLIP, answers[:-1], SECRETS, START), HttpRequest)


def test_a_clip_hides_its_bytes() -> None:
    clip: Any = replace(CLIP, data=b"very-private")

    assert isinstance(clip, Clip)
    assert "very-private" not in repr(clip)
