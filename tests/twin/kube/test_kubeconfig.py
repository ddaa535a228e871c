"""The kubeconfig for people."""

from __future__ import annotations

import stat
from pathlib import Path

import yaml

from twin.kube.kubeconfig import write_kubeconfig


def test_it_has_a_context_per_cluster_and_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "kubeconfig"
    path.write_text("old")
    path.chmod(0o644)

    write_kubeconfig(path, endpoint="http://127.0.0.1:4000", token="T/1", eks_names=["a", "b"])

    written = yaml.safe_load(path.read_text())
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [context["name"] for context in written["contexts"]] == ["a", "b"]
    assert written["clusters"][1]["cluster"]["server"] == "http://twin:T%2F1@127.0.0.1:4000/k8s/b"
    assert written["current-context"] == "a"
