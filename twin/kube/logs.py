"""Pod logs: files that the pods' processes write, read as `kubectl logs` asks for them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, Final

from twin.kube.errors import bad_request
from twin.kube.log_times import LogTimes
from twin.kube.objects import Obj, number, objects, text, uid_of

_POLL_SECONDS: Final = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRequest:
    container: str = ""
    previous: bool = False
    follow: bool = False
    tail_lines: int | None = None
    limit_bytes: int | None = None
    since: datetime | None = None
    timestamps: bool = False


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


async def log_stream(
    path: Path, request: LogRequest, is_running: Callable[[], bool], now: Callable[[], datetime]
) -> AsyncIterator[bytes]:
    """The log from where the request says, and with `follow` what is added while the pod runs."""
    with path.open("rb") as file:
        file.seek(_first_offset(path, request))
        left = request.limit_bytes
        while True:
            running = is_running()  # before reading: what a pod wrote last must not be missed
            while chunk := _next_part(file, path, request.timestamps, now):
                chunk = chunk if left is None else chunk[:left]
                left = None if left is None else left - len(chunk)
                if chunk:
                    yield chunk
            if left == 0 or not (request.follow and running):
                return
            await asyncio.sleep(_POLL_SECONDS)


def _next_part(file: BinaryIO, path: Path, timestamps: bool, now: Callable[[], datetime]) -> bytes:
    begin, lines = file.tell(), file.readlines(65_536)
    if not timestamps:
        return b"".join(lines)
    times, offset, stamped = LogTimes(path), begin, b""
    for line in lines:
        stamped += times.at(offset, now()).encode() + b" " + line
        offset += len(line)
    return stamped


def _first_offset(path: Path, request: LogRequest) -> int:
    offset = 0 if request.tail_lines is None else _tail_offset(path, request.tail_lines)
    if request.since is not None:
        offset = max(offset, LogTimes(path).offset_since(request.since, path.stat().st_size))
    return offset


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
