"""The offline planner as a process: `python -m interfaces.bootstrap.planner --folder F`.

Listens on loopback only and writes `planner.json` (endpoint, token, pid) into its folder once it answers.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import sys
import threading
from pathlib import Path

import uvicorn

from agent.planner.server import make_app
from interfaces.bootstrap.servers import ServerRecord

RECORD = "planner.json"


def run(folder: Path, *, port: int, token: str) -> None:
    """Serve until interrupted; prints one line, `planner ready at http://...`, when it answers."""
    folder.mkdir(parents=True, exist_ok=True)
    config = uvicorn.Config(make_app(token), host="127.0.0.1", port=port, log_level="warning", access_log=False)
    server = _AnnouncedServer(config, folder / RECORD, token)
    server.run()


class _AnnouncedServer(uvicorn.Server):
    """Says where it listens after it does, so that whoever reads the record can connect at once."""

    def __init__(self, config: uvicorn.Config, record: Path, token: str) -> None:
        super().__init__(config)
        self._record, self._token = record, token

    async def startup(self, sockets: list[object] | None = None) -> None:  # type: ignore[override]
        await super().startup(None)
        if self.started:
            [listener] = self.servers[0].sockets
            endpoint = f"http://127.0.0.1:{listener.getsockname()[1]}"
            _write_private(self._record, ServerRecord(endpoint=endpoint, token=self._token, pid=os.getpid()))
            sys.stdout.write(f"planner ready at {endpoint}\n")
            sys.stdout.flush()


def _write_private(path: Path, record: ServerRecord) -> None:
    """Readable by its owner alone, and never half written."""
    draft = path.with_suffix(f".{os.getpid()}.{threading.get_ident()}")
    draft.touch(mode=0o600)
    draft.write_text(json.dumps(record.to_json()))
    draft.replace(path)


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--token", default="")
    given = parser.parse_args(arguments)
    run(given.folder, port=given.port, token=given.token or secrets.token_hex(24))


if __name__ == "__main__":
    main(sys.argv[1:])
