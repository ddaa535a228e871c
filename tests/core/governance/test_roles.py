from __future__ import annotations

import pytest

from core.governance.principals import Channel, Principal, Role
from core.governance.roles import deny
from core.ids import ActorId
from core.json_value import JsonObject


def somebody(role: Role, project: str | None = "vision") -> Principal:
    return Principal(id=ActorId("ana"), role=role, channel=Channel.TERMINAL, project=project)


@pytest.mark.parametrize("operation", ["create_cluster", "delete_cluster", "add_capacity", "reboot_node", "unheard_of"])
@pytest.mark.parametrize("role", [Role.ENGINEER, Role.PROJECT_LEAD])
def test_clusters_and_nodes_are_for_platform_admins(operation: str, role: Role) -> None:
    denial = deny(somebody(role), operation, {})

    assert denial is not None and "platform_admin" in denial.message.english()
    assert deny(somebody(Role.PLATFORM_ADMIN), operation, {}) is None


@pytest.mark.parametrize("operation", ["submit_job", "stop_job", "resize_job", "resume_job"])
@pytest.mark.parametrize(
    ("params", "is_denied"),
    [
        pytest.param({}, False, id="nothing named yet"),
        pytest.param({"team": "vision"}, False, id="their own team"),
        pytest.param({"namespace": "hyperpod-ns-vision"}, False, id="their own namespace"),
        pytest.param({"team": "nlp"}, True, id="another team"),
        pytest.param({"namespace": "hyperpod-ns-nlp"}, True, id="another namespace"),
        pytest.param({"namespace": "default"}, True, id="nobody's namespace"),
        pytest.param({"team": ""}, True, id="no team, though they have one"),
    ],
)
def test_jobs_are_for_the_members_of_their_project(operation: str, params: JsonObject, is_denied: bool) -> None:
    assert (deny(somebody(Role.ENGINEER), operation, params) is not None) is is_denied
    assert deny(somebody(Role.PLATFORM_ADMIN), operation, params) is None


@pytest.mark.parametrize("operation", ["set_quota", "set_priority", "mount_storage"])
def test_quotas_and_storage_take_a_project_lead(operation: str) -> None:
    assert deny(somebody(Role.ENGINEER), operation, {"team": "vision"}) is not None
    assert deny(somebody(Role.PROJECT_LEAD), operation, {"team": "vision"}) is None


def test_who_has_no_project_uses_the_default_namespace() -> None:
    assert deny(somebody(Role.ENGINEER, None), "submit_job", {"team": ""}) is None
    assert deny(somebody(Role.ENGINEER, None), "submit_job", {"team": "nlp"}) is not None
