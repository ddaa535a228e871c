"""Folders for databases in tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory


@contextmanager
def memory_folder() -> Iterator[Path]:
    """In memory where the machine can: what waits for the disk costs most of a test's time, and neither a test
    nor a killed process loses what the system holds; only a power cut would."""
    memory = Path("/dev/shm")
    with TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None, prefix="muster-") as made:
        yield Path(made)
