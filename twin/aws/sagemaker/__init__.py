"""SageMaker HyperPod's control plane."""

from __future__ import annotations

from twin.aws.context import Handler
from twin.aws.sagemaker import batches, clusters, events, governance, nodes, plans, upkeep

OPERATIONS: dict[str, Handler] = {
    **clusters.OPERATIONS,
    **nodes.OPERATIONS,
    **events.OPERATIONS,
    **batches.OPERATIONS,
    **upkeep.OPERATIONS,
    **governance.OPERATIONS,
    **plans.OPERATIONS,
}
