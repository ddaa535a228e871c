"""Waiting for a real process in a test: look often, give up at a deadline, never just sleep."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
_PAUSE = threading.Event()


def eventually(look: Callable[[], T], *, within_seconds: float = 20.0) -> T:
    """The first truthy value of `look`. Raises `AssertionError` at the deadline."""
    deadline = time.monotonic() + within_seconds
    while not (seen := look()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {within_seconds} s: {look}")
        _PAUSE.wait(0.02)
    return seen
