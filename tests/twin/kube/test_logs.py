"""Logs as `kubectl logs` asks for them: tails, bounds, times, following."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from twin.kube.log_times import note_growth
from twin.kube.logs import LogRequest, log_stream

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Two lines at noon, two a minute later."""
    path = tmp_path / "main-0.log"
    path.write_text("one\ntwo\nthree\nfour\n")
    note_growth(path, 0, START)
    note_growth(path, len("one\ntwo\n"), START + timedelta(minutes=1))
    return path


def read(path: Path, request: LogRequest) -> str:
    async def collect() -> bytes:
        return b"".join([part async for part in log_stream(path, request, lambda: False, lambda: START)])

    return asyncio.run(collect()).decode()


@pytest.mark.parametrize(
    ("request_", "seen"),
    [
        pytest.param(LogRequest(), "one\ntwo\nthree\nfour\n", id="all"),
        pytest.param(LogRequest(tail_lines=2), "three\nfour\n", id="tail"),
        pytest.param(LogRequest(tail_lines=0), "", id="nothing"),
        pytest.param(LogRequest(tail_lines=9), "one\ntwo\nthree\nfour\n", id="a tail longer than the log"),
        pytest.param(LogRequest(limit_bytes=5), "one\nt", id="bytes"),
        pytest.param(LogRequest(since=START + timedelta(seconds=1)), "three\nfour\n", id="since"),
        pytest.param(LogRequest(since=START + timedelta(hours=1)), "", id="since later than all"),
        pytest.param(LogRequest(since=START, tail_lines=1), "four\n", id="the later of since and tail"),
    ],
)
def test_a_part_of_the_log_is_read(log: Path, request_: LogRequest, seen: str) -> None:
    assert read(log, request_) == seen


def test_lines_carry_the_time_at_which_they_were_first_seen(log: Path) -> None:
    stamped = read(log, LogRequest(timestamps=True)).splitlines()

    assert stamped[1] == "2026-03-01T12:00:00.000000Z two"
    assert stamped[2] == "2026-03-01T12:01:00.000000Z three"


def test_a_long_tail_is_found_across_blocks(tmp_path: Path) -> None:
    path = tmp_path / "main-0.log"
    path.write_text("".join(f"line {number} {'x' * 50}\n" for number in range(5_000)))

    tail = read(path, LogRequest(tail_lines=3_000)).splitlines()

    assert (len(tail), tail[0].split()[1], tail[-1].split()[1]) == (3_000, "2000", "4999")


def test_following_sees_what_is_added_until_the_pod_ends(log: Path) -> None:
    states = iter([True, True, False])

    def is_running() -> bool:
        running = next(states)
        if running:
            with log.open("a") as file:
                file.write("more\n")
        return running

    async def collect() -> bytes:
        request = LogRequest(follow=True, tail_lines=0)
        return b"".join([part async for part in log_stream(log, request, is_running, lambda: START)])

    assert asyncio.run(collect()) == b"more\nmore\n"
