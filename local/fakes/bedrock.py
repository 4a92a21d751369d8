"""A stand-in for Amazon Bedrock's Converse: clips named in S3, signed requests, forced tools."""

import json
import re
from collections.abc import Mapping
from secrets import token_hex
from typing import Any
from urllib.parse import unquote

from local.fakes.aws import unsigned
from local.fakes.model import Asked, ModelVendor, Told
from local.fakes.saying import Says
from local.fakes.vendor import Answer, Request

ASK = re.compile(r"/model/([^/]+)/converse")
PLACE = re.compile(r"s3://[a-z0-9][.\-a-z0-9]{1,61}[a-z0-9]/.+")
FORMATS = {"mkv", "mov", "mp4", "webm", "flv", "mpeg", "mpg", "wmv", "three_gp"}
TOP = {"type", "properties", "required"}  # that a tool's schema may have at its top
NAMES = {
    400: "ValidationException",
    403: "AccessDeniedException",
    404: "ResourceNotFoundException",
    408: "ModelTimeoutException",
    424: "ModelErrorException",
    429: "ThrottlingException",
    500: "InternalServerException",
    503: "ServiceUnavailableException",
}
REASONS = {Says.TRUNCATED: "max_tokens", Says.BLOCKED: "content_filtered", Says.EMPTY: "end_turn"}


class Bedrock(ModelVendor):
    """Sees and does not hear."""

    hears = False

    def options(self) -> dict[str, Any]:
        """Tell a client where it is."""
        return {"base_url": self.address}

    def secrets(self) -> dict[str, list[str]]:
        """Tell that there are none: requests are signed by the caller's role."""
        return {}

    def answered(self, request: Request) -> Answer:
        """Answer a question."""
        wrong = unsigned(request, "bedrock")
        if wrong:
            return self.error(403, wrong)
        ask = ASK.fullmatch(request.path)
        if not ask or request.method != "POST":
            return self.error(404, "UnknownOperationException")
        if "." not in unquote(ask[1]):
            return self.refusal(400)
        return self._asked(request.json())

    def error(self, status: int, name: str) -> Answer:
        """Word an error, named in a header as this protocol does."""
        named = name or NAMES.get(status, "UnknownError")
        place = "http://internal.amazon.com/coral/com.amazon.bedrock/"
        headers = {"x-amzn-requestid": token_hex(16), "x-amzn-errortype": f"{named}:{place}"}
        return Answer(status=status, content={"message": "no"}, headers=headers)

    def worded(self, told: Told) -> Answer:
        """Put a whole answer into the tool; half of one is text."""
        says = told.saying.says
        reason = told.saying.stop or REASONS.get(says, "tool_use")
        blocks: list[dict[str, Any]] = [{"text": "<thinking>The shots are listed.</thinking>"}]
        if says in (Says.TRUNCATED, Says.BROKEN):
            blocks = [{"text": told.text}]
            reason = "end_turn" if says is Says.BROKEN else reason
        elif says is Says.EMPTY or not told.text:
            blocks = []
        elif says in (Says.BLOCKED, Says.STOPPED):
            blocks = [{"text": "The generated text has been blocked by our content filters."}]
        else:
            use = {"name": "report", "toolUseId": f"tooluse_{token_hex(8)}"}
            blocks.append({"toolUse": {**use, "input": json.loads(told.text)}})
        usage = {
            "inputTokens": told.read,
            "outputTokens": told.written,
            "totalTokens": told.read + told.written,
        }
        return Answer(
            content={
                "output": {"message": {"role": "assistant", "content": blocks}},
                "stopReason": reason,
                "usage": usage,
                "metrics": {"latencyMs": 1},
            },
            headers={"x-amzn-requestid": token_hex(16)},
        )

    def _asked(self, body: Mapping[str, Any]) -> Answer:
        try:
            content = body["messages"][0]["content"]
            (video,) = [block["video"] for block in content if "video" in block]
            prompt = "".join(block["text"] for block in content if "text" in block)
            (tool,) = [each["toolSpec"] for each in body["toolConfig"]["tools"]]
            schema = tool["inputSchema"]["json"]
            proper = (
                video["format"] in FORMATS
                and PLACE.fullmatch(video["source"]["s3Location"]["uri"])
                and body["toolConfig"]["toolChoice"]["tool"]["name"] == tool["name"]
                and schema["type"] == "object"
                and set(schema) <= TOP
            )
        except (KeyError, IndexError, TypeError, ValueError):
            return self.refusal(400)
        if not proper or not prompt:
            return self.refusal(400)
        return self.reply(Asked(prompt=prompt, schema=schema), self.next_saying())


FAKE = Bedrock
