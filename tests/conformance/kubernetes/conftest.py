"""The clusters that the suite runs against: the twin, and one that `--kubeconfig` names."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conformance.kubernetes.client import Cluster
from tests.twin.kube.serving import EKS_NAME, TOKEN, make_planes, served
from twin.kube.kubeconfig import write_kubeconfig

_numbers = itertools.count(1)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "cluster" in metafunc.fixturenames:
        named = metafunc.config.getoption("--kubeconfig")
        metafunc.parametrize("cluster", ["twin", *(["real"] if named else [])], indirect=True, scope="session")


@pytest.fixture(scope="session")
def cluster(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    if request.param == "real":
        yield Cluster(Path(request.config.getoption("--kubeconfig")))
        return
    folder = tmp_path_factory.mktemp("twin")
    planes = make_planes(folder)
    with served(planes) as server:
        kubeconfig = folder / "kubeconfig"
        write_kubeconfig(kubeconfig, endpoint=server.address, token=TOKEN, eks_names=[EKS_NAME])
        yield Cluster(kubeconfig)
    planes.close()


@pytest.fixture
def namespace(cluster: Cluster) -> Iterator[str]:
    """A fresh namespace, gone again afterwards."""
    name = f"muster-conformance-{next(_numbers)}"
    created = cluster.post("/api/v1/namespaces", {"metadata": {"name": name}})
    assert created.status == 201, created.body
    yield name
    cluster.delete(f"/api/v1/namespaces/{name}")
