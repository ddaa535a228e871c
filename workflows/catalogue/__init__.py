"""Everything that Muster can do: workflows for the worker, operations for whoever asks."""

from __future__ import annotations

from typing import Final

from workflows.catalogue.add_capacity.operation import AddCapacity
from workflows.catalogue.add_capacity.workflow import WORKFLOW as ADD_CAPACITY
from workflows.catalogue.create_cluster.operation import CreateCluster
from workflows.catalogue.create_cluster.workflow import WORKFLOW as CREATE_CLUSTER
from workflows.catalogue.delete_cluster.operation import DeleteCluster
from workflows.catalogue.delete_cluster.workflow import WORKFLOW as DELETE_CLUSTER
from workflows.catalogue.job_control.operation import JobControl
from workflows.catalogue.job_control.workflow import RESIZE_JOB_WORKFLOW, RESUME_JOB, STOP_JOB
from workflows.catalogue.node_repair.operation import NodeRepair
from workflows.catalogue.node_repair.workflow import REBOOT_NODE, REPLACE_NODE
from workflows.catalogue.remove_capacity.operation import RemoveCapacity
from workflows.catalogue.remove_capacity.workflow import WORKFLOW as REMOVE_CAPACITY
from workflows.catalogue.submit_job.operation import SubmitJob
from workflows.catalogue.submit_job.workflow import WORKFLOW as SUBMIT_JOB
from workflows.definition import AnyWorkflow
from workflows.operations import Operation

WORKFLOWS: Final[tuple[AnyWorkflow, ...]] = (
    CREATE_CLUSTER,
    DELETE_CLUSTER,
    SUBMIT_JOB,
    ADD_CAPACITY,
    REMOVE_CAPACITY,
    REBOOT_NODE,
    REPLACE_NODE,
    STOP_JOB,
    RESUME_JOB,
    RESIZE_JOB_WORKFLOW,
)
OPERATIONS: Final[tuple[Operation, ...]] = (
    CreateCluster(),
    DeleteCluster(),
    SubmitJob(),
    AddCapacity(),
    RemoveCapacity(),
    NodeRepair("reboot_node"),
    NodeRepair("replace_node"),
    JobControl("stop_job"),
    JobControl("resume_job"),
    JobControl("resize_job"),
)
