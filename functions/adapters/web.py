"""Files of customers elsewhere: the same guard as for providers' files, and parts of files."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from functions.adapters.fetch import Downloader, Piece
from functions.domain.errors import SourceUnreadable
from functions.domain.exchange import HttpRequest
from functions.domain.jobs import Broken, Download, OutputGone, RefusedAddress
from functions.domain.media import MediaHead, Unreachable, identity

LOOK_SECONDS: Final = 5.0  # each; whoever orders waits for it
DOWNLOAD_SECONDS: Final = 900.0
TOTAL: Final = re.compile(r"bytes \d+-\d+/(\d{1,15})")


class WebOverHttp:
    """Provides `Web`. Nothing is sent along but the question itself."""

    def __init__(self, *, test_origins: Iterable[str] = ()) -> None:
        origins = tuple(test_origins)
        self._looks = Downloader(seconds_max=LOOK_SECONDS, test_origins=origins)
        self._downloads = Downloader(seconds_max=DOWNLOAD_SECONDS, test_origins=origins)

    def head(self, url: str, *, first_bytes: int) -> MediaHead | Unreachable:
        piece = self._looks.piece(_get(url), start=0, count=first_bytes)
        if not isinstance(piece, Piece):
            return _unreachable(piece)
        whole = TOTAL.fullmatch(piece.content_range)
        size = int(whole[1]) if whole else piece.length
        if size is None:
            return Unreachable(
                code="url-without-size",
                reason="The server does not say how large the video is. Upload the file instead.",
            )
        return MediaHead(
            key=url,
            size_bytes=size,
            etag=identity(size, piece.content),
            content_type=piece.content_type,
            head=piece.content,
        )

    def piece(self, url: str, start: int, count: int) -> bytes:
        piece = self._looks.piece(_get(url), start=start, count=count)
        if not isinstance(piece, Piece) or (start and not piece.content_range):
            raise SourceUnreadable(url)
        return piece.content

    def fetch(self, url: str, path: Path, *, bytes_max: int) -> Download:
        return self._downloads.fetch(_get(url), path, hosts=(), bytes_max=bytes_max)


def _unreachable(trouble: OutputGone | RefusedAddress | Broken) -> Unreachable:
    match trouble:
        case OutputGone(status=status):
            return Unreachable(
                code="url-not-found", reason=f"The address answers {status}. Check it."
            )
        case RefusedAddress():
            return Unreachable(
                code="url-refused",
                reason="Only https addresses of public servers, on port 443, are followed.",
            )
        case Broken():
            return Unreachable(
                code="url-unreachable",
                reason="The video could not be reached there now. Try again, or upload the file.",
            )


def _get(url: str) -> HttpRequest:
    return HttpRequest(method="GET", url=url)
