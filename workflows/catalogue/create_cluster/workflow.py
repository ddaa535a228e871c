"""create_cluster: from an empty account to nodes that are Running and Ready."""

from __future__ import annotations

from typing import Final

from core.ids import StepName
from core.messages.message import message
from workflows.catalogue.create_cluster import control_plane, network, nodes, preflight, shortage
from workflows.catalogue.create_cluster.params import CreateClusterParams
from workflows.definition import Step, StepKind, Workflow

WORKFLOW: Final[Workflow[CreateClusterParams]] = Workflow(
    name="create_cluster",
    version=1,
    params=CreateClusterParams,
    title=message("create_cluster.title"),
    steps=(
        Step(
            name=StepName("preflight"),
            kind=StepKind.PREFLIGHT,
            title=message("create_cluster.step_preflight"),
            function=preflight.check,
            phase="preflight",
        ),
        Step(
            name=StepName("network"),
            kind=StepKind.EFFECT,
            title=message("create_cluster.step_network"),
            function=network.make_network,
            phase="network",
        ),
        Step(
            name=StepName("wait_network"),
            kind=StepKind.WAIT,
            title=message("create_cluster.step_wait_network"),
            function=network.wait_for_network,
            phase="network",
        ),
        Step(
            name=StepName("roles"),
            kind=StepKind.EFFECT,
            title=message("create_cluster.step_roles"),
            function=network.make_roles,
            phase="roles",
        ),
        Step(
            name=StepName("scripts"),
            kind=StepKind.EFFECT,
            title=message("create_cluster.step_scripts"),
            function=control_plane.put_scripts,
            phase="roles",
        ),
        Step(
            name=StepName("control_plane"),
            kind=StepKind.EFFECT,
            title=message("create_cluster.step_control_plane"),
            function=control_plane.make_control_plane,
            phase="control_plane",
        ),
        Step(
            name=StepName("wait_control_plane"),
            kind=StepKind.WAIT,
            title=message("create_cluster.step_wait_control_plane"),
            function=control_plane.wait_for_control_plane,
            phase="control_plane",
        ),
        Step(
            name=StepName("access"),
            kind=StepKind.EFFECT,
            title=message("create_cluster.step_access"),
            function=control_plane.grant_access,
            phase="control_plane",
        ),
        Step(
            name=StepName("dependencies"),
            kind=StepKind.EFFECT,
            title=message("create_cluster.step_dependencies"),
            function=control_plane.install_base,
            phase="dependencies",
        ),
        Step(
            name=StepName("wait_dependencies"),
            kind=StepKind.WAIT,
            title=message("create_cluster.step_wait_dependencies"),
            function=control_plane.wait_for_base,
            phase="dependencies",
        ),
        Step(
            name=StepName("training_operator"),
            kind=StepKind.EFFECT,
            title=message("create_cluster.step_training_operator"),
            function=control_plane.install_training_operator,
            phase="dependencies",
        ),
        Step(
            name=StepName("cluster"),
            kind=StepKind.EFFECT,
            title=message("create_cluster.step_cluster"),
            function=control_plane.make_cluster,
            phase="nodes",
        ),
        Step(
            name=shortage.WAIT_NODES,
            kind=StepKind.WAIT,
            title=message("create_cluster.step_wait_nodes"),
            function=nodes.wait_for_nodes,
            phase="nodes",
        ),
        Step(
            name=nodes.CHANGE_CAPACITY,
            kind=StepKind.EFFECT,
            title=message("create_cluster.step_change_capacity"),
            function=shortage.change_capacity,
            phase="nodes",
        ),
        Step(
            name=nodes.VERIFY,
            kind=StepKind.VERIFY,
            title=message("create_cluster.step_verify"),
            function=nodes.verify,
            phase="verify",
        ),
    ),
)
