from __future__ import annotations

import pytest

from core.json_value import JsonValue
from evals.scenario_live import differences

LIVE: JsonValue = {
    "clusters": {"base": {"zone": "usw2-az2", "nodes_running": 4, "mounts": ["/fsx", "/data"], "jobs": {}}},
    "file_systems": 1,
}


@pytest.mark.parametrize(
    "expected",
    [
        pytest.param({}, id="nothing"),
        pytest.param({"clusters": {"base": {"nodes_running": 4}}}, id="some keys"),
        pytest.param({"clusters": {"base": {"mounts": ["/data", "/fsx"]}}}, id="a list in another order"),
        pytest.param({"clusters": {"other": "absent"}}, id="what is absent"),
        pytest.param({"clusters": {"base": {"jobs": {"s1": "absent"}}}}, id="an absent job"),
        pytest.param({"file_systems": 1}, id="a number"),
    ],
)
def test_a_subset_agrees(expected: JsonValue) -> None:
    assert differences(expected, LIVE, "live") == []


@pytest.mark.parametrize(
    ("expected", "named"),
    [
        pytest.param({"clusters": {"base": {"nodes_running": 3}}}, "nodes_running is 4, not 3", id="another number"),
        pytest.param({"clusters": {"base": {"mounts": ["/fsx"]}}}, "mounts", id="a list with more in it"),
        pytest.param({"clusters": {"base": "absent"}}, "live.clusters.base is there", id="what should be gone"),
        pytest.param({"clusters": {"new": {"zone": "a"}}}, "live.clusters.new is absent", id="what is missing"),
        pytest.param({"clusters": {"base": {"jobs": {"s1": {"state": "Running"}}}}}, "s1 is absent", id="a lost job"),
        pytest.param({"file_systems": True}, "file_systems", id="true is not one"),
        pytest.param({"file_systems": {"a": 1}}, "not a map", id="a map for a number"),
    ],
)
def test_a_difference_is_named(expected: JsonValue, named: str) -> None:
    [line] = differences(expected, LIVE, "live")

    assert named in line


def test_a_job_that_was_stopped_is_suspended_to_the_platform() -> None:
    assert differences({"state": "Stopped"}, {"state": "Suspended"}, "live.jobs.s1") == []
    assert differences({"state": "Stopped"}, {"state": "Failed"}, "live.jobs.s1") != []
