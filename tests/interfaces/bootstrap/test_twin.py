"""The twin as a process of its own, with a world from a file."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from interfaces.bootstrap.twin import load_world
from tests.polling import eventually

WORLD = """
world:
  region: us-west-2
  zones:
    usw2-az1: {ml.p5.48xlarge: 2}
    usw2-az2: {ml.p5.48xlarge: 16}
  quotas: {ml.p5.48xlarge: 16}
  plans: [{id: plan-a, type: ml.p5.48xlarge, count: 8, zone: usw2-az2, hours_left: 300, status: Active}]
  clusters:
    - name: base
      zone: usw2-az2
      groups: [{name: workers, type: ml.p5.48xlarge, count: 4}]
      storage: [{kind: fsx_lustre, id: fs-0a1b2c3d4e5f60718, zone: usw2-az2, size_gib: 4800, mount: /fsx}]
      teams: [{name: vision, accelerators: 16}, {name: nlp, accelerators: 16, borrow_percent: 0}]
      jobs: [{name: sft-7b, team: vision, nodes: 2, priority: high, state: Running, log: "step 1 loss 2.3"}]
  governance: {max_nodes_per_cluster: 64}
"""


class TwinProcess:
    """`python -m interfaces.bootstrap.twin` on a folder."""

    def __init__(self, folder: Path, world: Path) -> None:
        command = [sys.executable, "-m", "interfaces.bootstrap.twin", "--folder", str(folder), "--world", str(world)]
        self._process = subprocess.Popen([*command, "--time-factor", "0.001"], stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.ready_line = self._process.stdout.readline()
        self._address = json.loads((folder / "twin.json").read_text())

    def state(self) -> dict[str, Any]:
        request = urllib.request.Request(
            f"{self._address['endpoint']}/_twin/state", headers={"authorization": f"Bearer {self._address['token']}"}
        )
        with urllib.request.urlopen(request, timeout=20) as response:
            return dict(json.load(response))

    def job_state(self, cluster: str, job: str) -> str:
        return str(self.state()["clusters"][cluster]["jobs"][job]["state"])

    def end(self, number: signal.Signals) -> int:
        self._process.send_signal(number)
        return self._process.wait(20)

    def close(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()


@pytest.fixture
def world(tmp_path: Path) -> Path:
    path = tmp_path / "world.yaml"
    path.write_text(WORLD)
    return path


@pytest.fixture
def twin(tmp_path: Path, world: Path) -> Iterator[TwinProcess]:
    process = TwinProcess(tmp_path / "twin", world)
    yield process
    process.close()


def test_a_world_stands_as_its_file_says(twin: TwinProcess) -> None:
    state = twin.state()

    base = state["clusters"]["base"]
    assert twin.ready_line.startswith("twin ready at http://127.0.0.1:")
    assert (base["orchestrator"], base["zone"], base["nodes_running"], base["nodes_ready"]) == ("eks", "usw2-az2", 4, 4)
    assert base["groups"] == {"workers": {"type": "ml.p5.48xlarge", "running": 4, "target": 4}}
    assert base["teams"] == {
        "vision": {"accelerators": 16, "borrow_percent": 50},
        "nlp": {"accelerators": 16, "borrow_percent": 0},
    }
    assert eventually(lambda: twin.job_state("base", "sft-7b") == "Running")
    assert base["mounts"] == ["/fsx"]
    assert state["file_systems"] == 1
    assert state["free"]["usw2-az2"] == {"ml.p5.48xlarge": 16}


def test_a_killed_twin_goes_on_where_it_was(tmp_path: Path, world: Path, twin: TwinProcess) -> None:
    eventually(lambda: twin.job_state("base", "sft-7b") == "Running")
    before = twin.state()
    twin.end(signal.SIGKILL)

    again = TwinProcess(tmp_path / "twin", world)
    try:
        eventually(lambda: again.job_state("base", "sft-7b") == "Running")
        assert again.state() == before
    finally:
        again.close()


def test_a_terminated_twin_takes_its_address_away(tmp_path: Path, twin: TwinProcess) -> None:
    assert twin.end(signal.SIGTERM) == 0
    assert not (tmp_path / "twin" / "twin.json").exists()


def test_an_unknown_key_of_a_world_is_an_error(world: Path) -> None:
    world.write_text(WORLD.replace("quotas:", "quotes:"))

    with pytest.raises(ValueError, match="quotes"):
        load_world(world)
