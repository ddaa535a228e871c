"""One embedded installation for all end-to-end tests of a test process."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from interfaces.bootstrap.embedded import Processes, stop_processes
from interfaces.settings import Settings, read_settings
from tests.e2e.terminal import Terminal
from tests.interfaces.cli.running import SCRIPT, Finished, environment, muster

TIME_FACTOR = "600"


@dataclass(frozen=True, slots=True)
class Installation:
    """A home folder and the console script on it."""

    home: Path

    @property
    def environment(self) -> dict[str, str]:
        return environment(self.home) | {"MUSTER_TIME_FACTOR": TIME_FACTOR}

    @property
    def settings(self) -> Settings:
        return read_settings(self.environment)

    @property
    def processes(self) -> Processes:
        return Processes(settings=self.settings)

    def run(self, *arguments: str, **variables: str) -> Finished:
        return muster(*arguments, home=self.home, MUSTER_TIME_FACTOR=TIME_FACTOR, **variables)

    def rows(self, *arguments: str) -> dict[str, list[dict[str, object]]]:
        """The JSON of a read verb."""
        finished = self.run(*arguments, "--json")
        assert finished.code == 0, finished.out + finished.err
        found: dict[str, list[dict[str, object]]] = json.loads(finished.out)
        return found

    def chat(self, *arguments: str, **variables: str) -> Terminal:
        return Terminal([str(SCRIPT), "chat", *arguments], self.environment | variables)

    def pipe(self, lines: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """A chat whose lines come from a pipe."""
        return subprocess.run(
            [str(SCRIPT), "chat"],
            input=lines,
            env=self.environment | variables,
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )


@pytest.fixture(scope="session")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    installation = Installation(tmp_path_factory.mktemp("home"))
    yield installation
    stop_processes(installation.settings)
