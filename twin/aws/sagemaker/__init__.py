"""SageMaker HyperPod's control plane."""

from __future__ import annotations

from twin.aws.context import Handler
from twin.aws.sagemaker import clusters, events, nodes

OPERATIONS: dict[str, Handler] = {**clusters.OPERATIONS, **nodes.OPERATIONS, **events.OPERATIONS}
