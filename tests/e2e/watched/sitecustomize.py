"""Loaded by every Python process that has this folder on its path: writes down where it connects to."""

from __future__ import annotations

import os
import sys
from pathlib import Path

_LOG = Path(__file__).parent / "connections.log"


def _note(event: str, arguments: tuple[object, ...]) -> None:
    if event == "socket.connect":
        target = arguments[1]
        host = target[0] if isinstance(target, tuple) else "unix"
    elif event == "socket.getaddrinfo":
        host = arguments[0]
    else:
        return
    program = " ".join(sys.orig_argv[1:5])
    with _LOG.open("a") as file:
        file.write(f"{os.getpid()}\t{host}\t{program}\n")


sys.addaudithook(_note)
