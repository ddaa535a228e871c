"""What all tests share: the options of the test run."""

from __future__ import annotations

import os

import pytest

from tests.system_parts import REQUIRE_OPTION


def pytest_addoption(parser: pytest.Parser) -> None:
    environment = os.environ  # noqa: TID251  # the settings of a test run, which `make test-system` gives
    parser.addoption(
        REQUIRE_OPTION,
        action="store_true",
        default=bool(environment.get("MUSTER_REQUIRE_SYSTEM_PARTS")),
        help="fail instead of skipping where a system part is missing",
    )
    parser.addoption(
        "--kubeconfig",
        default=environment.get("MUSTER_TEST_KUBECONFIG", ""),
        help="also run the Kubernetes conformance tests against this cluster",
    )
