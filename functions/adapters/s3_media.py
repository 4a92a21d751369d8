"""The bucket on S3."""

import hashlib
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from botocore.exceptions import ClientError

from functions.adapters.aws_errors import code_of, translating
from functions.domain.media import MediaHead, StoredFile, UploadForm, outputs_prefix

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

FORM_SECONDS = 600
CHUNK_BYTES = 1 << 20
_GONE = frozenset({"NoSuchKey", "404", "NotFound", "PreconditionFailed", "412"})
_ALREADY_THERE = frozenset({"PreconditionFailed", "412"})


class S3MediaStore:
    """Provides `MediaStore`."""

    def __init__(self, client: "S3Client", bucket: str) -> None:
        self._client = client
        self._bucket = bucket

    def upload_form(self, key: str, *, content_type: str, bytes_max: int) -> UploadForm:
        form = self._client.generate_presigned_post(
            Bucket=self._bucket,
            Key=key,
            Fields={"Content-Type": content_type},
            Conditions=[
                {"Content-Type": content_type},
                ["content-length-range", 1, bytes_max],
            ],
            ExpiresIn=FORM_SECONDS,
        )
        return UploadForm(url=form["url"], fields=dict(form["fields"]))

    def link(self, key: str, *, filename: str, seconds: int) -> str:
        return self._client.generate_presigned_url(
            "get_object",
            Params={
                "Bucket": self._bucket,
                "Key": key,
                "ResponseContentDisposition": f"attachment; filename*=UTF-8''{quote(filename)}",
            },
            ExpiresIn=seconds,
        )

    def head(self, key: str, *, first_bytes: int = 0) -> MediaHead | None:
        try:
            with translating():
                return self._look(key, first_bytes)
        except ClientError as error:
            if code_of(error) in _GONE:
                return None
            raise

    def _look(self, key: str, first_bytes: int) -> MediaHead:
        if not first_bytes:
            seen = self._client.head_object(Bucket=self._bucket, Key=key)
            return _media_head(key, seen["ContentLength"], seen)
        try:
            part = self._client.get_object(
                Bucket=self._bucket, Key=key, Range=f"bytes=0-{first_bytes - 1}"
            )
        except ClientError as error:
            if code_of(error) != "InvalidRange":  # an empty object has no first byte
                raise
            return self._look(key, 0)
        whole = part.get("ContentRange", "").rpartition("/")[2] or part["ContentLength"]
        return _media_head(key, int(whole), part, part["Body"].read())

    def fetch(self, key: str, path: Path, *, etag: str | None = None) -> bool:
        same: dict[str, Any] = {"IfMatch": etag} if etag else {}
        try:
            with translating():
                found = self._client.get_object(Bucket=self._bucket, Key=key, **same)
                with path.open("wb") as file:
                    for chunk in found["Body"].iter_chunks(CHUNK_BYTES):
                        file.write(chunk)
        except ClientError as error:
            if code_of(error) in _GONE:
                return False
            raise
        return True

    def outputs(self, account: str) -> Iterator[StoredFile]:
        pages = self._client.get_paginator("list_objects_v2").paginate(
            Bucket=self._bucket, Prefix=outputs_prefix(account)
        )
        with translating():
            for page in pages:
                for found in page.get("Contents", []):
                    yield StoredFile(
                        key=found["Key"],
                        size_bytes=found["Size"],
                        stored_at=found["LastModified"],
                    )

    def put_bytes(self, content: bytes, key: str, *, content_type: str) -> None:
        try:
            with translating():
                self._client.put_object(
                    Bucket=self._bucket,
                    Key=key,
                    Body=content,
                    ContentType=content_type,
                    IfNoneMatch="*",
                )
        except ClientError as error:
            if code_of(error) not in _ALREADY_THERE:
                raise

    def keys(self, prefix: str, *, limit: int) -> list[str]:
        with translating():
            found = self._client.list_objects_v2(Bucket=self._bucket, Prefix=prefix, MaxKeys=limit)
        return [each["Key"] for each in found.get("Contents", [])]

    def read(self, key: str, *, bytes_max: int, start: int = 0) -> bytes | None:
        part: dict[str, Any] = {"Range": f"bytes={start}-{start + bytes_max - 1}"} if start else {}
        try:
            with translating():
                found = self._client.get_object(Bucket=self._bucket, Key=key, **part)
                return found["Body"].read(bytes_max)
        except ClientError as error:
            if code_of(error) == "InvalidRange":  # it starts behind the end
                return b""
            if code_of(error) in _GONE:
                return None
            raise

    def place(self, key: str) -> str:
        return f"s3://{self._bucket}/{key}"

    def move(self, key: str, to: str) -> None:
        with translating():
            source = {"Bucket": self._bucket, "Key": key}
            self._client.copy_object(Bucket=self._bucket, Key=to, CopySource=source)  # type: ignore[arg-type]
            self._client.delete_object(Bucket=self._bucket, Key=key)

    def put(self, path: Path, key: str, *, content_type: str) -> None:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").digest()
            file.seek(0)
            try:
                with translating():
                    self._client.put_object(
                        Bucket=self._bucket,
                        Key=key,
                        Body=file,
                        ContentType=content_type,
                        ChecksumSHA256=b64encode(digest).decode(),
                        IfNoneMatch="*",
                    )
            except ClientError as error:
                if code_of(error) not in _ALREADY_THERE:
                    raise


def _media_head(key: str, whole: int, seen: Any, head: bytes = b"") -> MediaHead:
    return MediaHead(
        key=key,
        size_bytes=whole,
        etag=seen["ETag"],
        content_type=seen.get("ContentType", ""),
        head=head,
    )
