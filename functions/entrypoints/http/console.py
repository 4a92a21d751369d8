"""The console's files, and what a page of theirs may reach."""

import hashlib
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Path as InPath
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter

from functions.bootstrap import ports, settings
from functions.entrypoints.http.documented import view
from functions.entrypoints.http.identity import identity_origins, identity_view
from functions.entrypoints.http.models import ConfigView
from functions.entrypoints.http.problems import NOT_FOUND, Refusal
from functions.entrypoints.http.request import reply

FOLDER = Path(__file__).parents[3] / "console"
PAGE = "index.html"
STAMP = "{version}"  # in the page: its files' addresses change when any of them does
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
}
FOR_EVER = "public, max-age=31536000, immutable"
ASK_EACH_TIME = "no-cache"

router = APIGatewayHttpRouter()


@router.get("/v1/config", summary="See how to sign in", responses=view(200, ConfigView))
def config() -> Response[Any]:
    """Tell a page or a program which issuer's tokens are accepted, and how to get one."""
    shown = ConfigView(
        identity=identity_view(settings()), operator_group=settings().get("OPERATOR_GROUP")
    )
    return reply(shown, Cache_Control="public, max-age=300")


@router.get("/", include_in_schema=False)
def page() -> Response[Any]:
    """Serve the console."""
    return _file(PAGE, ASK_EACH_TIME)


@router.get("/console/<version>/<file>", include_in_schema=False)
def asset(version: Annotated[str, InPath()], file: Annotated[str, InPath()]) -> Response[Any]:
    """Serve one of the console's files; under its own version for ever."""
    if file == PAGE or file not in _files():
        raise Refusal(NOT_FOUND)
    return _file(file, FOR_EVER if version == console_version() else ASK_EACH_TIME)


def console_version() -> str:
    """Name the console's state: one file changed, and it is another."""
    together = "".join(f"{name} {tag}\n" for name, (_, tag) in sorted(_files().items()))
    return hashlib.sha256(together.encode()).hexdigest()[:12]


@cache
def _files() -> dict[str, tuple[bytes, str]]:
    """Read every file once, with its hash. A name that is not here reaches no disk."""
    found = {}
    for path in FOLDER.iterdir():
        if path.suffix in TYPES:
            content = path.read_bytes()
            found[path.name] = (content, hashlib.sha256(content).hexdigest()[:20])
    return found


def _file(name: str, caching: str) -> Response[Any]:
    content, hashed = _files()[name]
    tag = f'"{console_version() if name == PAGE else hashed}"'
    headers: dict[str, str | list[str]] = {
        "ETag": tag,
        "Cache-Control": caching,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
    }
    if name == PAGE:
        headers["Content-Security-Policy"] = _policy()
        headers["Cross-Origin-Opener-Policy"] = "same-origin"
    asked = router.current_event.headers
    if asked.get("if-none-match", "").removeprefix("W/") == tag:
        return Response(status_code=int(HTTPStatus.NOT_MODIFIED), body="", headers=headers)
    headers["Vary"] = "Accept-Encoding"
    return Response(
        status_code=int(HTTPStatus.OK),
        content_type=TYPES[Path(name).suffix],
        body=content.decode().replace(STAMP, console_version()),
        headers=headers,
        compress=True,  # for those who accept it
    )


@cache
def _policy() -> str:
    """Allow our own files and nothing written into the page; talk to three places only."""
    files = " ".join(_media_origins())
    talks = " ".join(["'self'", *_media_origins(), *identity_origins(settings())])
    return "; ".join(
        [
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            f"img-src 'self' blob: {files}",
            f"media-src blob: {files}",
            f"connect-src {talks}",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        ]
    )


def _media_origins() -> list[str]:
    """Find out where upload forms and links lead."""
    form = ports().media.upload_form("in/console", content_type="image/png", bytes_max=1).url
    link = ports().media.link("out/console", filename="console", seconds=1)
    return sorted({_origin(form), _origin(link)})


def _origin(address: str) -> str:
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}"
