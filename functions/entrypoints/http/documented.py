"""Answers as the OpenAPI document lists them."""

from http import HTTPStatus
from typing import Any

from pydantic import BaseModel

from functions.domain.kinds import Fault as _Fault


class FaultModel(BaseModel):
    """One thing wrong with the request."""

    pointer: str
    code: str
    detail: str


class ProblemModel(BaseModel):
    """RFC 9457, with a stable `code` and whether a repeat can succeed."""

    type: str
    title: str
    status: int
    detail: str
    instance: str
    code: str
    retryable: bool
    errors: list[FaultModel] | None = None
    task: str | None = None
    available: int | None = None
    price: int | None = None


assert FaultModel.model_fields.keys() == set(_Fault.__slots__)  # noqa: S101 - one shape, two ends


def view(status: int, model: type[BaseModel]) -> dict[int, Any]:
    """Document a success."""
    content = {"application/json": {"model": model}}
    return {status: {"description": HTTPStatus(status).phrase, "content": content}}


def problems(*statuses: int) -> dict[int, Any]:
    """Document failures."""
    content = {"application/problem+json": {"model": ProblemModel}}
    return {
        status: {"description": HTTPStatus(status).phrase, "content": content}
        for status in statuses
    }
