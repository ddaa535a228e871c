"""The world in one file, replaced as a whole, so that a restart goes on from a moment that existed."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pydantic import TypeAdapter

from twin.world.specification import WorldSpec
from twin.world.state import World


@dataclass(slots=True, kw_only=True)
class Snapshot:
    time: datetime
    seed: int
    restarts: int
    specification: WorldSpec
    """What the world began with: moto's part of it is made again from this."""
    world: World


_ADAPTER = TypeAdapter(Snapshot)


def save(path: Path, snapshot: Snapshot) -> None:
    scratch = path.with_suffix(".new")
    with scratch.open("wb") as file:
        file.write(_ADAPTER.dump_json(snapshot))
        file.flush()
        os.fsync(file.fileno())
    scratch.replace(path)


def load(path: Path) -> Snapshot | None:
    """`None` when there is none yet; a damaged file raises pydantic's ValidationError, which says where."""
    return _ADAPTER.validate_json(path.read_bytes()) if path.exists() else None
