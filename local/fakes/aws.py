"""What stand-ins for AWS services ask of a request before they read it."""

import re

from local.fakes.vendor import Request

SIGNED = re.compile(
    r"AWS4-HMAC-SHA256 Credential=[^/, ]+/(\d{8})/[a-z0-9-]+/([a-z0-9-]+)/aws4_request, ?"
    r"SignedHeaders=([a-z0-9;-]+), ?Signature=[0-9a-f]{64}"
)
MISSING, INVALID = "MissingAuthenticationTokenException", "InvalidSignatureException"


def unsigned(request: Request, service: str) -> str:
    """Name what is wrong with a signature; empty if it is well-formed and for the service."""
    signed = SIGNED.fullmatch(request.headers.get("authorization", ""))
    if not signed or signed[2] != service:
        return MISSING
    stamp, names = request.headers.get("x-amz-date", ""), set(signed[3].split(";"))
    proper = stamp.startswith(signed[1]) and {"host", "x-amz-date"} <= names
    return "" if proper and names <= set(request.headers) else INVALID
