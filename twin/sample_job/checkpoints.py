"""Checkpoints that are whole or not there: written aside, synced, renamed; a torn one fails its checksum."""

from __future__ import annotations

import hashlib
import io
import os
from pathlib import Path

import numpy as np

_DIGEST_BYTES = 32


def save(folder: Path, weights: np.ndarray, step: int, keep: int) -> Path:
    """Adds `step-<n>.ckpt` and drops all but the newest `keep`."""
    folder.mkdir(parents=True, exist_ok=True)
    buffer = io.BytesIO()
    np.savez(buffer, weights=weights, step=step)
    body = buffer.getvalue()
    path, draft = folder / f"step-{step:08d}.ckpt", folder / f".step-{step:08d}.draft"
    with draft.open("wb") as file:
        file.write(hashlib.sha256(body).digest() + body)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    for old in _newest_first(folder)[keep:]:
        old.unlink(missing_ok=True)
    return path


def load_newest(folder: Path) -> tuple[np.ndarray, int] | None:
    """Weights and step of the newest whole checkpoint; broken ones are named and passed over."""
    for path in _newest_first(folder):
        raw = path.read_bytes()
        body = raw[_DIGEST_BYTES:]
        if hashlib.sha256(body).digest() != raw[:_DIGEST_BYTES]:
            print(f"checkpoint {path.name} is damaged, trying an older one", flush=True)
            continue
        with np.load(io.BytesIO(body)) as found:
            return np.array(found["weights"]), int(found["step"])
    return None


def _newest_first(folder: Path) -> list[Path]:
    return sorted(folder.glob("step-*.ckpt"), reverse=True)
