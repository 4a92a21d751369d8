"""Requests to AWS that are not made by its SDK, signed by our own role."""

from dataclasses import replace
from functools import cached_property
from typing import Final

import boto3
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.exceptions import BotoCoreError

from functions.domain.exchange import HttpRequest

PLACEHOLDER: Final = "{region}"


class CannotSignError(Exception):
    """There are no credentials, or no region."""


class RoleSigner:
    """Signs with what the role has at that moment. Its credentials are looked up when needed."""

    def __init__(self, session: boto3.Session | None = None) -> None:
        self._given = session

    @cached_property
    def _session(self) -> boto3.Session:
        return self._given or boto3.Session()

    def placed(self, url: str, request: HttpRequest) -> str:
        """Put the region into an address that names none."""
        if PLACEHOLDER not in url:
            return url
        return url.replace(PLACEHOLDER, self._region(request))

    def signed(self, request: HttpRequest) -> HttpRequest:
        """Sign a request whose address is complete."""
        region = self._region(request)
        try:
            found = self._session.get_credentials()
            frozen = found.get_frozen_credentials() if found else None
        except BotoCoreError as error:
            raise CannotSignError("no-credentials") from error
        if frozen is None:
            raise CannotSignError("no-credentials")
        made = AWSRequest(
            method=request.method,
            url=request.url,
            headers=dict(request.headers),
            data=request.body,
        )
        SigV4Auth(frozen, request.signed_for, region).add_auth(made)
        return replace(request, headers={k.lower(): v for k, v in made.headers.items()})

    def _region(self, request: HttpRequest) -> str:
        region = request.signed_in or self._session.region_name
        if not region:
            raise CannotSignError("no-region")
        return region
