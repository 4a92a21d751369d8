"""One structured line per thing done, named after its stage."""

import logging
from functools import cache
from typing import Any

from aws_lambda_powertools import Logger


@cache
def _logger() -> Logger:
    logger = Logger()
    ours = logging.getLogger("functions")  # whatever the stages themselves have to say
    ours.addHandler(logger.registered_handler)
    ours.propagate = False
    return logger


def done(stage: str, **fields: Any) -> None:
    """Say that a stage did its work, and with what outcome."""
    _logger().info(stage, extra=fields)


def trouble(stage: str, error: Exception, **fields: Any) -> None:
    """Say that infrastructure was in the way; it will be tried again."""
    _logger().warning(stage, extra=fields | {"outcome": type(error).__name__})


def bug(stage: str, error: Exception) -> None:
    """Say that something happened which must not."""
    _logger().error(stage, exc_info=error)
