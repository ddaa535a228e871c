"""Waiting for a real process or thread, with a deadline instead of a fixed sleep."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

_PAUSE_SECONDS = 0.02


def eventually(probe: Callable[[], T], *, within_seconds: float = 10.0, what: str = "") -> T:
    """The first true value of `probe`. AssertionError after `within_seconds`."""
    ends = time.monotonic() + within_seconds
    pause = threading.Event()
    while not (found := probe()):
        if time.monotonic() > ends:
            raise AssertionError(f"not within {within_seconds} s: {what or probe}")
        pause.wait(_PAUSE_SECONDS)
    return found
