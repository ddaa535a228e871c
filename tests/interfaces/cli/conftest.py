"""Commands in this process: quick, and with the same edge as the console script."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import pytest

from interfaces.cli.main import run
from tests.interfaces.cli.running import Finished, environment


class Command(Protocol):
    def __call__(self, *arguments: str, **variables: str) -> Finished: ...


@pytest.fixture
def command(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """Runs one command line in the home `tmp_path`. Texts are English: the language is read once per process."""

    @contextmanager
    def surroundings(variables: dict[str, str]) -> Iterator[None]:
        with monkeypatch.context() as patch:
            for name, value in {**environment(tmp_path), **variables}.items():
                patch.setenv(name, value)
            yield

    def call(*arguments: str, **variables: str) -> Finished:
        capsys.readouterr()
        with surroundings(variables):
            code = run(arguments)
        shown = capsys.readouterr()
        return Finished(code, shown.out, shown.err)

    return call
