"""Everything that Muster can do: workflows for the worker, operations for whoever asks."""

from __future__ import annotations

from typing import Final

from workflows.catalogue.create_cluster.operation import CreateCluster
from workflows.catalogue.create_cluster.workflow import WORKFLOW as CREATE_CLUSTER
from workflows.definition import AnyWorkflow
from workflows.operations import Operation

WORKFLOWS: Final[tuple[AnyWorkflow, ...]] = (CREATE_CLUSTER,)
OPERATIONS: Final[tuple[Operation, ...]] = (CreateCluster(),)
