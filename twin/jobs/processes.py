"""Containers as local processes: each in a session of its own, with an environment built from scratch."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_MARK: Final = "MUSTER_TWIN_FOLDER"
_REAP_SECONDS: Final = 5.0
_VARIABLE: Final = re.compile(r"\$\(([A-Za-z_][A-Za-z0-9_]*)\)")


class StartError(Exception):
    """The container could not be started, in the words of a container runtime."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PodHost:
    """The machine as pods see it. Nothing of the twin's own environment reaches them but this."""

    python: Path
    """The interpreter; its folder is first on the pods' PATH."""
    python_path: str
    """Where pods import `twin.sample_job` from."""
    system_path: str = "/usr/local/bin:/usr/bin:/bin"

    @property
    def path(self) -> str:
        return f"{self.python.parent}:{self.system_path}"


class Process:
    """A running container."""

    def __init__(self, popen: subprocess.Popen[bytes]) -> None:
        self._popen = popen

    @property
    def pid(self) -> int:
        return self._popen.pid

    def exit_code(self) -> int | None:
        """As a container reports it: 128 + the signal for a killed one; `None` while it runs."""
        code = self._popen.poll()
        return code if code is None or code >= 0 else 128 - code

    def send(self, number: signal.Signals) -> None:
        """To the whole group; nothing when it is gone."""
        with suppress(ProcessLookupError):
            os.killpg(self._popen.pid, number)

    def kill(self) -> int:
        """SIGKILL to the group, reaped; the exit code."""
        self.send(signal.SIGKILL)
        self._popen.wait(_REAP_SECONDS)
        code = self.exit_code()
        return 137 if code is None else code


def start(
    command: Sequence[str],
    environment: Mapping[str, str],
    *,
    host: PodHost,
    twin_folder: Path,
    work: Path,
    log: Path,
) -> Process:
    """Raises StartError when there is no such program."""
    full = {
        "PATH": host.path,
        "PYTHONPATH": host.python_path,
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOME": str(work),
        "LANG": "C.UTF-8",
        # Pods stand for whole machines but share a small one: no thread pools.
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        **environment,
        _MARK: str(twin_folder.resolve()),
    }
    words = [_VARIABLE.sub(lambda m: environment.get(m[1], m[0]), word) for word in command]
    program = shutil.which(words[0], path=full["PATH"]) if words else None
    if program is None:
        what = f'exec: "{words[0]}": executable file not found in $PATH' if words else "no command specified"
        raise StartError(f"failed to create containerd task: {what}")
    work.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as output:
        popen = subprocess.Popen(
            [program, *words[1:]],
            cwd=work,
            env=full,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    return Process(popen)


def end_leftovers(twin_folder: Path) -> list[int]:
    """SIGKILL what pods of an earlier twin in this folder left running; their process ids.

    Every process of a pod carries the folder's name in its environment, which `/proc` shows, so that neither a
    reused process id nor a child in another group is mistaken.
    """
    mark = f"{_MARK}={twin_folder.resolve()}".encode()
    ended: list[int] = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                if mark in (entry / "environ").read_bytes().split(b"\0"):
                    os.kill(int(entry.name), signal.SIGKILL)
                    ended.append(int(entry.name))
    return ended
