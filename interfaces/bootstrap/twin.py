"""The twin as a process: `python -m interfaces.bootstrap.twin --folder F`."""

from __future__ import annotations

import argparse
import secrets
import signal
import sys
from pathlib import Path

import yaml

from core.clock import SystemClock
from twin.server import RunningTwin, TwinConfig, serve, write_private
from twin.world.specification import WorldSpec

DEFAULT_TIME_FACTOR = 600.0


def run(config: TwinConfig) -> None:
    """Serve until interrupted; prints one line, `twin ready at http://...`, when it answers."""
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(0))  # so that `serve` tidies up
    serve(config, clock=SystemClock(), on_ready=_be_ready)


def load_world(path: Path) -> WorldSpec:
    """A YAML or JSON file: a `world` block, bare or under the key `world`. Raises pydantic's ValidationError."""
    document = yaml.safe_load(path.read_text())
    return WorldSpec.model_validate(document.get("world", document) if isinstance(document, dict) else document)


def token_of(folder: Path) -> str:
    """The folder's own, made at its first use: the settings of its clients stay good over a restart."""
    path = folder / "token"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        write_private(path, f"TWIN{secrets.token_hex(16).upper()}")
    return path.read_text()


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--time-factor", type=float, default=DEFAULT_TIME_FACTOR)
    parser.add_argument("--world", type=Path)
    parser.add_argument("--region", default="")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--token", default="")
    given = parser.parse_args(arguments)
    run(
        TwinConfig(
            folder=given.folder,
            port=given.port,
            token=given.token or token_of(given.folder),
            time_factor=given.time_factor,
            seed=given.seed,
            region=given.region,
            world=load_world(given.world) if given.world is not None else None,
        )
    )


def _be_ready(running: RunningTwin) -> None:
    # From here on a signal asks the server to stop: an exception raised while the event loop is being set up
    # would leave the process hanging between the two.
    signal.signal(signal.SIGTERM, lambda number, frame: running.stop())
    sys.stdout.write(f"twin ready at {running.endpoint}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
