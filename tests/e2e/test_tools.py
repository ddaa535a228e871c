"""`aws` and `kubectl` against the twin, pointed there by `muster env`."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping

import pytest

from tests.e2e.conftest import Installation
from tests.system_parts import system_program

pytestmark = pytest.mark.system


def environment(installation: Installation) -> dict[str, str]:
    finished = installation.run("env", "--json")
    assert finished.code == 0, finished.err
    variables: dict[str, str] = json.loads(finished.out)["environment"]
    return variables | {"PATH": os.defpath, "HOME": str(installation.home)}


def output(command: list[str], variables: Mapping[str, str]) -> str:
    return subprocess.run(command, env=variables, capture_output=True, text=True, check=True, timeout=60).stdout


def test_aws_lists_the_twins_clusters(installation: Installation, pytestconfig: pytest.Config) -> None:
    aws = system_program(pytestconfig, "aws", "scripts/install-system-parts")

    answer = json.loads(output([aws, "sagemaker", "list-clusters"], environment(installation)))

    listed = installation.rows("clusters", "list")["clusters"]
    assert sorted(item["ClusterName"] for item in answer["ClusterSummaries"]) == sorted(str(c["name"]) for c in listed)


def test_kubectl_gets_nodes_and_pods(installation: Installation, pytestconfig: pytest.Config) -> None:
    kubectl = system_program(pytestconfig, "kubectl", "scripts/install-system-parts")
    chat = installation.pipe(
        "Create an EKS cluster called kube with 1 on-demand ml.g5.12xlarge node in usw2-az1\nyes\n"
    )
    assert "kube" in chat.stdout

    table = output([kubectl, "get", "nodes,pods", "-A"], environment(installation))

    assert table.count(" Ready ") >= 1
