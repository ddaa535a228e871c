"""Pages of a list, in AWS's manner: an opaque token that says where to go on."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import TypeVar

from twin.aws.errors import AwsError
from twin.aws.params import Params

T = TypeVar("T")


def page(
    items: Sequence[T], params: Params, *, size: int = 100, limit_key: str = "MaxResults", token_key: str = "NextToken"
) -> tuple[list[T], str | None]:
    """One page and the token of the next, `None` at the end. `size` is the service's default."""
    start = _position(params.text(token_key), token_key)
    end = start + params.integer(limit_key, size)
    token = base64.urlsafe_b64encode(f"at:{end}".encode()).decode() if end < len(items) else None
    return list(items[start:end]), token


def _position(token: str, token_key: str) -> int:
    if not token:
        return 0
    try:
        word, _, number = base64.urlsafe_b64decode(token).decode().partition(":")
        if word == "at":
            return int(number)
    except ValueError:
        pass
    raise AwsError("ValidationException", f"{token_key} is not valid.")
