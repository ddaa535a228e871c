"""The facts that the diagnosis of utilisation reads, and the PromQL that fetches each of them.

A fact is an instant vector. A fact that could not be fetched, or came back empty where a healthy cluster always has
samples, is not visible: EFA and Kueue metrics are opt-in on HyperPod, so this is common, and it is never health.
Metric names: NVIDIA's DCGM exporter, the EFA exporter, Kueue, node-exporter, kube-state-metrics, and the HyperPod
training operator. The FSx figures come from CloudWatch and have no expression here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One element of an instant vector."""

    labels: Mapping[str, str]
    value: float

    def label(self, *names: str) -> str:
        """The first of the labels that is present: exporters disagree on `Hostname`, `instance` and `node`."""
        return next((self.labels[name] for name in names if name in self.labels), "")


class Fact(StrEnum):
    FREE_GPUS = "free_gpus"
    QUOTA_USE = "quota_use"
    """Used over nominal, by cluster queue."""
    PENDING = "pending"
    """Workloads by cluster queue and status."""
    WAIT_P90_SECONDS = "wait_p90_seconds"
    UNSCHEDULABLE_NODES = "unschedulable_nodes"
    LARGEST_FREE_BLOCK = "largest_free_block"
    """GPUs free on one node."""
    GPU_UTIL = "gpu_util"
    GPU_UTIL_SPREAD = "gpu_util_spread"
    FLEET_UTIL_SPREAD = "fleet_util_spread"
    """Of the average over all GPUs: large only when they dip together."""
    TENSOR_ACTIVE = "tensor_active"
    POWER_WATTS = "power_watts"
    SM_CLOCK_MHZ = "sm_clock_mhz"
    THERMAL_VIOLATION = "thermal_violation"
    XID = "xid"
    """Codes that appeared lately. A repeat of the same code is not seen here: the log is better."""
    ROW_REMAP_FAILURE = "row_remap_failure"
    NEW_ROW_REMAPS = "new_row_remaps"
    PCIE_REPLAYS_PER_MINUTE = "pcie_replays_per_minute"
    EFA_TX_BYTES = "efa_tx_bytes"
    EFA_RETRANSMIT_TIMEOUTS = "efa_retransmit_timeouts"
    EFA_UNRESPONSIVE = "efa_unresponsive"
    IOWAIT_SHARE = "iowait_share"
    FULL_CPU_SHARE = "full_cpu_share"
    """Share of a node's CPUs that are busy throughout: few full ones = workers pinned to few CPUs."""
    FSX_THROUGHPUT_SHARE = "fsx_throughput_share"
    FSX_DISK_IOPS_PERCENT = "fsx_disk_iops_percent"
    FSX_WRITE_SHARE = "fsx_write_share"
    """Written over all bytes moved."""
    RECOVERY_SHARE = "recovery_share"
    """Share of a job's time that went to recovery."""


Facts: TypeAlias = Mapping[Fact, tuple[Sample, ...]]

_GPU = "nvidia_com_gpu"

PROMQL: Final[Mapping[Fact, str]] = {
    Fact.FREE_GPUS: (
        f'sum(kube_node_status_allocatable{{resource="{_GPU}"}}) - (sum(kube_pod_container_resource_requests'
        f'{{resource="{_GPU}"}} * on (namespace, pod) group_left () (kube_pod_status_phase{{phase="Running"}} == 1))'
        " or vector(0))"
    ),
    Fact.QUOTA_USE: (
        'sum by (cluster_queue) (kueue_cluster_queue_resource_usage{resource="nvidia.com/gpu"}) / '
        'sum by (cluster_queue) (kueue_cluster_queue_nominal_quota{resource="nvidia.com/gpu"})'
    ),
    Fact.PENDING: "sum by (cluster_queue, status) (kueue_pending_workloads)",
    Fact.WAIT_P90_SECONDS: (
        "histogram_quantile(0.9, sum by (le, cluster_queue) (rate(kueue_admission_wait_time_seconds_bucket[15m])))"
    ),
    Fact.UNSCHEDULABLE_NODES: (
        'count(kube_node_labels{label_sagemaker_amazonaws_com_node_health_status=~"Unschedulable.*"}) or vector(0)'
    ),
    Fact.LARGEST_FREE_BLOCK: (
        f'max(sum by (node) (kube_node_status_allocatable{{resource="{_GPU}"}}) - '
        f'(sum by (node) (kube_pod_container_resource_requests{{resource="{_GPU}"}}) or '
        f'0 * sum by (node) (kube_node_status_allocatable{{resource="{_GPU}"}})))'
    ),
    Fact.GPU_UTIL: "avg_over_time(DCGM_FI_DEV_GPU_UTIL[5m])",
    Fact.GPU_UTIL_SPREAD: "stddev_over_time(DCGM_FI_DEV_GPU_UTIL[10m])",
    Fact.FLEET_UTIL_SPREAD: "stddev_over_time(avg(DCGM_FI_DEV_GPU_UTIL)[10m:15s])",
    Fact.TENSOR_ACTIVE: "avg_over_time(DCGM_FI_PROF_PIPE_TENSOR_ACTIVE[5m])",
    Fact.POWER_WATTS: "avg_over_time(DCGM_FI_DEV_POWER_USAGE[5m])",
    Fact.SM_CLOCK_MHZ: "avg_over_time(DCGM_FI_DEV_SM_CLOCK[5m])",
    Fact.THERMAL_VIOLATION: "increase(DCGM_FI_DEV_THERMAL_VIOLATION[5m])",
    Fact.XID: "DCGM_FI_DEV_XID_ERRORS > 0 and changes(DCGM_FI_DEV_XID_ERRORS[10m]) > 0",
    Fact.ROW_REMAP_FAILURE: "DCGM_FI_DEV_ROW_REMAP_FAILURE > 0",
    Fact.NEW_ROW_REMAPS: "delta(DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS[1h]) > 0",
    Fact.PCIE_REPLAYS_PER_MINUTE: "rate(DCGM_FI_DEV_PCIE_REPLAY_COUNTER[5m]) * 60",
    Fact.EFA_TX_BYTES: "sum by (instance) (rate(node_amazonefa_tx_bytes[1m]))",
    Fact.EFA_RETRANSMIT_TIMEOUTS: "sum by (instance) (rate(node_amazonefa_retrans_timeout_events[5m]))",
    Fact.EFA_UNRESPONSIVE: "sum by (instance) (increase(node_amazonefa_unresponsive_remote_events[10m]))",
    Fact.IOWAIT_SHARE: 'avg by (instance) (rate(node_cpu_seconds_total{mode="iowait"}[5m]))',
    Fact.FULL_CPU_SHARE: (
        '(count by (instance) (rate(node_cpu_seconds_total{mode="idle"}[5m]) < 0.05) or '
        '0 * count by (instance) (node_cpu_seconds_total{mode="idle"})) / '
        'count by (instance) (node_cpu_seconds_total{mode="idle"})'
    ),
    Fact.RECOVERY_SHARE: (
        "sum by (job_name) (training_auto_recovery_downtime) / (sum by (job_name) (training_time_ms) + "
        "sum by (job_name) (training_auto_recovery_downtime))"
    ),
}
"""Every fact that Prometheus has."""

EXPECTED: Final = frozenset(
    {Fact.GPU_UTIL, Fact.TENSOR_ACTIVE, Fact.POWER_WATTS, Fact.FREE_GPUS, Fact.PENDING, Fact.EFA_TX_BYTES}
    | {Fact.IOWAIT_SHARE, Fact.FULL_CPU_SHARE, Fact.FSX_DISK_IOPS_PERCENT, Fact.RECOVERY_SHARE}
)
"""Facts that a fully instrumented cluster always has: without one of them part of the answer is not visible."""


def usable(facts: Facts, fact: Fact) -> tuple[Sample, ...]:
    """The finite samples of a fact; empty where it is not visible."""
    return tuple(sample for sample in facts.get(fact, ()) if math.isfinite(sample.value))


def not_visible(facts: Facts) -> tuple[Fact, ...]:
    return tuple(fact for fact in Fact if fact in EXPECTED and not usable(facts, fact))
