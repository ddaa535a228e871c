"""The whole command on a twin, a planner and a worker of its own; slow, so there is one run of it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.interfaces.cli.running import muster

WORLD = """
  region: us-west-2
  zones: {usw2-az1: {}, usw2-az2: {ml.g5.12xlarge: 8}}
  quotas: {ml.g5.12xlarge: 8}
  clusters: [{name: base, zone: usw2-az2, groups: [{name: workers, type: ml.g5.12xlarge, count: 1}]}]
"""
SCENARIOS = f"""
id: state
lang: en
actor: {{user: ana, role: engineer, project: vision}}
world: {WORLD}
turns: [{{user: "which clusters are there?"}}]
expect: {{no_runs: true, max_questions: 0, live: {{clusters: {{base: {{nodes_running: 1}}}}}}, says: [base]}}
---
id: wrong
lang: zh
actor: {{user: li, role: platform_admin}}
world: {WORLD}
turns: [{{user: "删除集群 base"}}]
faults: [{{at: before_first_effect, kind: kill_worker}}]
answers: {{approval: approve}}
expect: {{no_runs: true, asked: [target], not_asked: [approval], forbidden: ["sagemaker:DeleteCluster"]}}
"""


def test_what_holds_passes_and_what_does_not_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "scenarios"
    folder.mkdir()
    home = tmp_path / "home"
    home.mkdir()
    (folder / "both.yaml").write_text(SCENARIOS)

    ended = muster("eval", "scenarios", "--dir", str(folder), "--json", home=home)

    result = json.loads(ended.out)
    [state, wrong] = result["runs"]
    assert ended.code == 1
    assert (result["scenarios"], result["success"], result["pass_k"]) == (2, 0.5, 0.5)
    assert state["passes"] and state["tokens"] > 0
    assert (result["missed_questions"], result["needless_questions"], result["invented_choices"]) == (1, 1, 0)
    assert wrong["runs"][0]["status"] == "done" and wrong["faults_unfired"] == []
    assert wrong["reasons"][0].startswith("forbidden: sagemaker:DeleteCluster took effect 1x")
