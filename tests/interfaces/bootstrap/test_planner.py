"""The planner as a process: says where it listens, answers there, and only to its token."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import httpx

from interfaces.bootstrap.servers import ServerRecord, read_server_record


def await_record(path: Path, process: subprocess.Popen[str]) -> ServerRecord:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and process.poll() is None:
        if (record := read_server_record(path, pid=process.pid)) is not None:
            return record
        time.sleep(0.02)
    raise AssertionError("the planner did not come up")


def test_the_process_serves_and_leaves_when_told(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "interfaces.bootstrap.planner", "--folder", str(tmp_path / "planner")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        record = await_record(tmp_path / "planner" / "planner.json", process)
        body = {"messages": [{"role": "user", "content": "hello"}]}
        url = f"{record.endpoint}/v1/chat/completions"
        answers = [
            httpx.post(url, json=body, headers={"authorization": f"Bearer {token}"})
            for token in (record.token, "another")
        ]
    finally:
        process.terminate()
        process.communicate(timeout=20)

    assert [answer.status_code for answer in answers] == [200, 401]
    assert "content" in json.dumps(answers[0].json())
    assert (tmp_path / "planner" / "planner.json").stat().st_mode & 0o077 == 0
