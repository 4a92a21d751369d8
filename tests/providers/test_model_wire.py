"""The wire is the vendors' own: their SDKs get along with our stand-ins, and send what we send."""

import hashlib
import hmac
import io
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest
from botocore.config import Config
from google import genai
from google.genai import errors, types

from functions.domain.models import Answered
from functions.providers.gemini import Gemini
from local.fakes.gemini import camel
from local.fakes.saying import ClipEnd, Saying, Says
from local.fakes.vendor import Request
from tests.providers.asking import CLIP, PROMPT, REGION, SCHEMA, Asking, question, session

SIGNED = re.compile(
    r"AWS4-HMAC-SHA256 Credential=AKIATEST/(\d{8})/([a-z0-9-]+)/bedrock/aws4_request, ?"
    r"SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})"
)


@pytest.fixture
def sdk(gemini: Asking) -> Iterator[genai.Client]:
    """Google's own client, led to the stand-in."""
    options = types.HttpOptions(base_url=gemini.server.address, timeout=10_000)
    with genai.Client(api_key=gemini.fake.key, vertexai=False, http_options=options) as client:
        yield client


def uploaded(sdk: genai.Client) -> types.File:
    config = types.UploadFileConfig(mime_type="video/mp4")
    return sdk.files.upload(file=io.BytesIO(CLIP.data), config=config)


def generated(sdk: genai.Client, model: Gemini, file: types.File) -> types.GenerateContentResponse:
    assert file.uri
    video = types.Part(
        file_data=types.FileData(file_uri=file.uri, mime_type="video/mp4"),
        video_metadata=types.VideoMetadata(fps=model.diet.frames_per_second),
    )
    return sdk.models.generate_content(
        model=model.model,
        contents=types.Content(role="user", parts=[video, types.Part(text=PROMPT)]),
        config=types.GenerateContentConfig(
            response_mime_type="application/json",
            response_json_schema=SCHEMA,
            max_output_tokens=model.max_output_tokens,
            media_resolution=types.MediaResolution.MEDIA_RESOLUTION_LOW,
        ),
    )


def low(gemini: Asking) -> Gemini:
    """Ask for the same resolution as the SDK does here."""
    assert isinstance(gemini.model, Gemini)
    gemini.model = replace(gemini.model, media_resolution="MEDIA_RESOLUTION_LOW")
    return gemini.model


def marks(request: Request) -> dict[str, str]:
    """What of a request's headers means something to the vendor, without what is this run's."""
    names = ("x-goog-upload-", "x-goog-api-key", "content-type")
    return {k: v for k, v in request.headers.items() if k.startswith(names)}


def test_google_s_client_shows_asks_and_is_answered(gemini: Asking, sdk: genai.Client) -> None:
    model = low(gemini)
    gemini.fake.sayings.append(Saying(looks=2))
    file = uploaded(sdk)
    assert file.name
    assert file.state is types.FileState.PROCESSING
    states = [sdk.files.get(name=file.name).state for _ in range(2)]
    assert states[-1] is types.FileState.ACTIVE
    response = generated(sdk, model, file)

    assert json.loads(response.text or "")["spoken"] is True
    assert response.usage_metadata
    assert response.usage_metadata.prompt_token_count
    assert file.size_bytes == len(CLIP.data)
    sdk.files.delete(name=file.name)
    with pytest.raises(errors.ClientError):
        sdk.files.get(name=file.name)
    assert gemini.fake.bill()["billed"] == 1


def test_google_s_client_sends_what_we_send(gemini: Asking, sdk: genai.Client) -> None:
    model = low(gemini)
    file = uploaded(sdk)
    generated(sdk, model, file)
    sdk.files.delete(name=str(file.name))
    theirs, gemini.fake.heard = gemini.fake.heard, []
    shown = gemini.shown()
    assert isinstance(gemini.calls.ask(model, question(shown)), Answered)
    gemini.calls.forget(model, shown)
    ours = gemini.fake.heard

    def line(request: Request) -> tuple[str, str, str]:
        path = re.sub(r"files/[0-9a-f]+", "files/1", request.path)
        return request.method, path, " ".join(sorted(request.query))

    assert [line(request) for request in ours] == [line(request) for request in theirs]
    for mine, other in zip(ours, theirs, strict=True):
        # Their upload repeats what its opening said.
        assert marks(mine).items() <= marks(other).items()
    assert _body(ours[-2]) == _body(theirs[-2])
    assert theirs[-2].headers["x-server-timeout"] == "10"  # as long as it waits itself
    assert ours[-2].headers["x-server-timeout"] == "235"
    assert ours[1].body == theirs[1].body == CLIP.data
    assert camel(ours[0].json()) == camel(theirs[0].json())


def _body(request: Request) -> dict[str, Any]:
    body: dict[str, Any] = camel(request.json())
    body["contents"][0]["parts"][0]["fileData"]["fileUri"] = "its own"
    return body


@pytest.mark.parametrize(
    ("saying", "status"),
    [(Saying(refuse=429), 429), (Saying(refuse=400), 400), (Saying(refuse=503), 503)],
)
def test_google_s_client_reads_our_errors(
    gemini: Asking, sdk: genai.Client, saying: Saying, status: int
) -> None:
    gemini.fake.sayings.append(saying)
    with pytest.raises(errors.APIError) as raised:
        generated(sdk, low(gemini), uploaded(sdk))

    assert raised.value.code == status
    assert raised.value.status == gemini.fake.refusal(status).content["error"]["status"]


@pytest.mark.parametrize(
    ("saying", "reason"),
    [
        (Saying(says=Says.STOPPED, stop="SAFETY"), types.FinishReason.SAFETY),
        (Saying(says=Says.TRUNCATED), types.FinishReason.MAX_TOKENS),
        (Saying(says=Says.EMPTY), types.FinishReason.STOP),
    ],
)
def test_google_s_client_reads_why_it_stopped(
    gemini: Asking, sdk: genai.Client, saying: Saying, reason: types.FinishReason
) -> None:
    gemini.fake.sayings.append(saying)
    response = generated(sdk, low(gemini), uploaded(sdk))

    assert response.candidates
    assert response.candidates[0].finish_reason is reason


def test_google_s_client_reads_that_a_question_was_blocked(
    gemini: Asking, sdk: genai.Client
) -> None:
    gemini.fake.sayings.append(Saying(says=Says.BLOCKED))
    response = generated(sdk, low(gemini), uploaded(sdk))

    assert response.text is None
    assert response.prompt_feedback
    assert response.prompt_feedback.block_reason is types.BlockedReason.PROHIBITED_CONTENT


def test_google_s_client_sees_a_clip_fail(gemini: Asking, sdk: genai.Client) -> None:
    gemini.fake.sayings.append(Saying(clip=ClipEnd.FAILED))

    assert uploaded(sdk).state is types.FileState.FAILED


# --- Bedrock ---


@pytest.fixture
def converse(bedrock: Asking) -> Any:
    """AWS's own client, led to the stand-in."""
    config = Config(retries={"total_max_attempts": 1}, read_timeout=5)
    return session().client("bedrock-runtime", endpoint_url=bedrock.server.address, config=config)


def conversed(converse: Any, model: Any) -> Any:
    schema = {name: SCHEMA[name] for name in ("type", "properties", "required")}
    tool = {
        "name": "report",
        "description": "Report what the video shows.",
        "inputSchema": {"json": schema},
    }
    video = {"format": "mp4", "source": {"s3Location": {"uri": CLIP.place}}}
    return converse.converse(
        modelId=model.model,
        messages=[{"role": "user", "content": [{"video": video}, {"text": PROMPT}]}],
        inferenceConfig={"maxTokens": model.max_tokens, "temperature": 0.0},
        toolConfig={
            "tools": [{"toolSpec": tool}],
            "toolChoice": {"tool": {"name": "report"}},
        },
        additionalModelRequestFields={"inferenceConfig": {"topK": 1}},
    )


def test_aws_s_client_asks_and_is_answered(bedrock: Asking, converse: Any) -> None:
    answer = conversed(converse, bedrock.model)
    uses = [block["toolUse"] for block in answer["output"]["message"]["content"][1:]]

    assert answer["stopReason"] == "tool_use"
    assert [shot["number"] for shot in uses[0]["input"]["shots"]] == [1, 2, 3]
    assert answer["usage"]["inputTokens"] > 0
    assert bedrock.fake.bill()["billed"] == 1


def test_aws_s_client_sends_what_we_send(bedrock: Asking, converse: Any) -> None:
    conversed(converse, bedrock.model)
    assert isinstance(bedrock.asked(), Answered)
    theirs, ours = bedrock.fake.heard

    assert ours.method == theirs.method == "POST"
    assert ours.path == theirs.path == "/model/global.amazon.nova-2-lite-v1%3A0/converse"
    assert ours.json() == theirs.json()
    assert ours.headers["content-type"] == theirs.headers["content-type"]
    assert set(SIGNED.fullmatch(ours.headers["authorization"])[3].split(";")) >= set(  # type: ignore[index]
        SIGNED.fullmatch(theirs.headers["authorization"])[3].split(";")  # type: ignore[index]
    )


@pytest.mark.parametrize(
    ("saying", "name"),
    [
        (Saying(refuse=400), "ValidationException"),
        (Saying(refuse=403), "AccessDeniedException"),
        (Saying(refuse=424), "ModelErrorException"),
        (Saying(refuse=429), "ThrottlingException"),
        (Saying(refuse=503), "ServiceUnavailableException"),
    ],
)
def test_aws_s_client_reads_our_errors(
    bedrock: Asking, converse: Any, saying: Saying, name: str
) -> None:
    bedrock.fake.sayings.append(saying)
    with pytest.raises(converse.exceptions.from_code(name)) as raised:
        conversed(converse, bedrock.model)

    assert raised.value.response["Error"]["Code"] == name


def test_both_signatures_are_what_aws_would_compute(bedrock: Asking, converse: Any) -> None:
    conversed(converse, bedrock.model)
    bedrock.asked()

    for request in bedrock.fake.heard:
        day, region, names, signature = SIGNED.fullmatch(  # type: ignore[union-attr]
            request.headers["authorization"]
        ).groups()
        assert region == REGION
        assert request.headers["x-amz-security-token"] == "very-secret-token"
        assert signature == _signature(request, day, region, names.split(";"))


def test_a_signature_is_for_the_region_that_is_asked(bedrock: Asking) -> None:
    bedrock.model = replace(bedrock.model, region="us-west-2")  # type: ignore[call-arg]
    bedrock.asked()

    (request,) = bedrock.fake.heard
    assert "/us-west-2/bedrock/aws4_request" in request.headers["authorization"]


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"authorization": "Bearer x"},
        {"authorization": "AWS4-HMAC-SHA256 Credential=A/20261130/eu-west-1/s3/aws4_request"},
    ],
)
def test_who_does_not_sign_is_not_answered(bedrock: Asking, headers: Mapping[str, str]) -> None:
    request = Request(
        method="POST", path="/model/a.b/converse", query={}, headers=headers, body=b"{}"
    )

    assert bedrock.fake.answer(request).status == 403


def _signature(request: Request, day: str, region: str, names: list[str]) -> str:
    """Compute Signature Version 4 from what arrived, by AWS's description of it."""
    lines = [f"{name}:{' '.join(request.headers[name].split())}" for name in names]
    path = request.path.replace("%", "%25")  # encoded once more, for all services but S3
    canonical = "\n".join(
        [
            request.method,
            path,
            "",
            *lines,
            "",
            ";".join(names),
            hashlib.sha256(request.body).hexdigest(),
        ]
    )
    scope = f"{day}/{region}/bedrock/aws4_request"
    stamp = request.headers["x-amz-date"]
    hashed = hashlib.sha256(canonical.encode()).hexdigest()
    signed = f"AWS4-HMAC-SHA256\n{stamp}\n{scope}\n{hashed}"
    key = b"AWS4very-secret-key"
    for step in (day, region, "bedrock", "aws4_request"):
        key = hmac.digest(key, step.encode(), "sha256")
    return hmac.digest(key, signed.encode(), "sha256").hex()
