"""Each test begins with a fresh world of one twin, which lives as long as the session."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.twin.aws.account import Account, make_account
from tests.twin.aws.serving import SLOW, TOKEN, WORLD, TwinUnderTest, serving
from twin.server import TwinConfig


@pytest.fixture(scope="session")
def twin_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TwinUnderTest]:
    folder: Path = tmp_path_factory.mktemp("twin")
    config = TwinConfig(folder=folder, port=0, token=TOKEN, time_factor=SLOW, seed=0, world=WORLD)
    with serving(config) as twin:
        yield twin


@pytest.fixture
def twin(twin_process: TwinUnderTest) -> TwinUnderTest:
    twin_process.reset()
    return twin_process


@pytest.fixture
def account(twin: TwinUnderTest) -> Account:
    return make_account(twin)


@pytest.fixture
def sagemaker(twin: TwinUnderTest) -> Any:
    return twin.client("sagemaker")
