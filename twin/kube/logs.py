"""Pod logs: files that the pods' processes write, read as `kubectl logs` asks for them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from twin.kube.errors import bad_request
from twin.kube.objects import Obj, number, objects, text, uid_of

_POLL_SECONDS: Final = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRequest:
    container: str = ""
    previous: bool = False
    follow: bool = False
    tail_lines: int | None = None
    limit_bytes: int | None = None


def log_file(pods: Path, pod: Obj, container: str, attempt: int) -> Path:
    """Where the `attempt`th run (from 0) of a container writes."""
    return pods / uid_of(pod) / f"{container}-{attempt}.log"


def find_log(pods: Path, pod: Obj, request: LogRequest) -> Path:
    """Raises 400 as the real API does: no such container, not started yet, no run before."""
    names = [text(c, "name") for c in objects(pod, "spec", "containers")]
    name, pod_name = request.container or names[0], text(pod, "metadata", "name")
    if name not in names:
        raise bad_request(f"container {name} is not valid for pod {pod_name}")
    status = next((c for c in objects(pod, "status", "containerStatuses") if c.get("name") == name), {})
    attempt = (number(status, "restartCount") or 0) - int(request.previous)
    if attempt < 0:
        raise bad_request(f'previous terminated container "{name}" in pod "{pod_name}" not found')
    path = log_file(pods, pod, name, attempt)
    if not path.exists():
        reason = text(status, "state", "waiting", "reason") or "ContainerCreating"
        raise bad_request(f'container "{name}" in pod "{pod_name}" is waiting to start: {reason}')
    return path


async def log_stream(path: Path, request: LogRequest, is_running: Callable[[], bool]) -> AsyncIterator[bytes]:
    """The log from where `tail_lines` says, and with `follow` what is added while the pod runs."""
    with path.open("rb") as file:
        if request.tail_lines is not None:
            file.seek(_tail_offset(path, request.tail_lines))
        left = request.limit_bytes
        while True:
            running = is_running()  # before reading: what a pod wrote last must not be missed
            while chunk := file.read(65_536 if left is None else min(left, 65_536)):
                left = None if left is None else left - len(chunk)
                yield chunk
            if left == 0 or not (request.follow and running):
                return
            await asyncio.sleep(_POLL_SECONDS)


def _tail_offset(path: Path, lines: int) -> int:
    """Read backwards in blocks, so that a long log costs no more than its tail."""
    with path.open("rb") as file:
        end = file.seek(0, 2)
        if lines <= 0:
            return end
        at, seen = end, 0
        while at > 0:
            size = min(65_536, at)
            at -= size
            file.seek(at)
            block = file.read(size)
            for i in range(size - 1, -1, -1):
                if block[i] == 0x0A and at + i < end - 1:
                    seen += 1
                    if seen == lines:
                        return at + i + 1
        return 0
