"""`diagnose_utilisation`: the checks, in their fixed order.

Each check looks at visible facts only and returns a verdict with its evidence, or nothing. All of them are asked, so
that people see every cause at once; the first is the one to work on, since a GPU that nobody was given is not slow
because of the network. Thresholds: EKS node-monitoring-agent (EFA), yuhuiaws/GPU-Fault-Recovery-System (idle, PCIe),
AWS performance skill (FSx, heat).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from core.health.detectors.robust import median, robust_z
from core.health.utilisation.facts import Fact, Facts, Sample, not_visible, usable
from core.health.utilisation.verdicts import (
    MetricEvidence,
    UtilisationCause,
    UtilisationReport,
    UtilisationVerdict,
    evidence,
)

IDLE_PERCENT: Final = 5.0
SPINNING_UTIL_PERCENT, SPINNING_TENSOR_SHARE, SPINNING_POWER_SHARE = 95.0, 0.05, 0.4
UNEVEN_PERCENT: Final = 30.0
"""Standard deviation over ten minutes of a GPU that works in bursts."""
IOWAIT_SHARE: Final = 0.1
FSX_BUSY_SHARE, FSX_BUSY_IOPS_PERCENT, FSX_WRITING_SHARE = 0.8, 80.0, 0.5
FEW_FULL_CPUS: Final = 0.2
TOGETHER_SHARE: Final = 0.7
"""All ranks dip together when the fleet's spread is that much of a GPU's own."""
THROTTLED_CLOCK_SHARE: Final = 0.85
REPLAYS_PER_MINUTE: Final = 8.0
RETRANSMIT_TIMEOUTS_PER_SECOND: Final = 100.0
SLOW_RANK_DEVIATIONS: Final = 3.0
BADPUT_SHARE: Final = 0.05
DEFAULT_POWER_LIMIT_WATTS: Final = 700.0
POWER_LIMIT_WATTS: Final[Mapping[str, float]] = {
    "A100": 400.0,
    "H100": 700.0,
    "H200": 700.0,
    "B200": 1000.0,
    "B300": 1400.0,
    "A10G": 300.0,
    "L40S": 350.0,
    "L4": 72.0,
    "T4": 70.0,
}
_MINIMUM_RANKS: Final = 4


def diagnose_utilisation(facts: Facts) -> UtilisationReport:
    """Why the GPUs are not full, as far as the facts show."""
    found = tuple(verdict for check in CHECKS if (verdict := check(facts)) is not None)
    return UtilisationReport(verdicts=found, missing=not_visible(facts))


def invisible(facts: Facts) -> UtilisationVerdict | None:
    missing = not_visible(facts)
    return UtilisationVerdict(cause=UtilisationCause.NOT_VISIBLE, evidence=(), missing=missing) if missing else None


def unallocated(facts: Facts) -> UtilisationVerdict | None:
    """GPUs that nobody was given: quota, health, fragmentation, or no demand."""
    free = tuple(sample for sample in usable(facts, Fact.FREE_GPUS) if sample.value >= 1)
    if not free:
        return None
    found = evidence(Fact.FREE_GPUS, free, 1)
    pending = tuple(sample for sample in usable(facts, Fact.PENDING) if sample.value > 0)
    if not pending:
        # Without Kueue's metrics nobody knows whether somebody waits.
        return _verdict(UtilisationCause.NOT_REQUESTED, found) if usable(facts, Fact.PENDING) else None
    found += evidence(Fact.PENDING, pending, 0)
    full = _at_least(facts, Fact.QUOTA_USE, 1.0)
    if full:
        return _verdict(UtilisationCause.WAITING_QUOTA, found + evidence(Fact.QUOTA_USE, full, 1.0))
    sick = _at_least(facts, Fact.UNSCHEDULABLE_NODES, 1)
    if sick:
        return _verdict(UtilisationCause.WAITING_HEALTH, found + evidence(Fact.UNSCHEDULABLE_NODES, sick, 1))
    blocks = usable(facts, Fact.LARGEST_FREE_BLOCK)
    if blocks and max(sample.value for sample in blocks) < sum(sample.value for sample in free):
        largest = evidence(Fact.LARGEST_FREE_BLOCK, blocks, sum(sample.value for sample in free))
        return _verdict(UtilisationCause.WAITING_FRAGMENTED, found + largest)
    return None


def idle(facts: Facts) -> UtilisationVerdict | None:
    """Allocated to a pod, and nothing runs: image pull, data preparation, a dead process."""
    idle_gpus = tuple(
        sample for sample in usable(facts, Fact.GPU_UTIL) if sample.label("pod") and sample.value < IDLE_PERCENT
    )
    return _verdict(UtilisationCause.IDLE, evidence(Fact.GPU_UTIL, idle_gpus, IDLE_PERCENT))


def network(facts: Facts) -> UtilisationVerdict | None:
    """NCCL's kernels spin while they wait, so utilisation lies: the tensor cores and the power do not."""
    tensor = _by_gpu(facts, Fact.TENSOR_ACTIVE)
    power = _by_gpu(facts, Fact.POWER_WATTS)
    spinning = tuple(
        sample
        for key, sample in _by_gpu(facts, Fact.GPU_UTIL).items()
        if sample.value > SPINNING_UTIL_PERCENT
        and key in tensor
        and tensor[key].value < SPINNING_TENSOR_SHARE
        and key in power
        and power[key].value < SPINNING_POWER_SHARE * power_limit(power[key])
    )
    found = evidence(Fact.GPU_UTIL, spinning, SPINNING_UTIL_PERCENT)
    timeouts = _above(facts, Fact.EFA_RETRANSMIT_TIMEOUTS, RETRANSMIT_TIMEOUTS_PER_SECOND)
    found += evidence(Fact.EFA_RETRANSMIT_TIMEOUTS, timeouts, RETRANSMIT_TIMEOUTS_PER_SECOND)
    # This counter accuses the peers of the instance that it stands on.
    found += evidence(Fact.EFA_UNRESPONSIVE, _above(facts, Fact.EFA_UNRESPONSIVE, 0), 0)
    if spinning and (traffic := usable(facts, Fact.EFA_TX_BYTES)):
        quietest = min(traffic, key=lambda sample: sample.value)
        found += evidence(Fact.EFA_TX_BYTES, (quietest,), median([sample.value for sample in traffic]))
    return _verdict(UtilisationCause.NETWORK, found)


def cpu_binding(facts: Facts) -> UtilisationVerdict | None:
    """Asked before the file system is blamed: a few full CPUs among many idle ones starve the data loader."""
    bursts = _bursts(facts)
    few_full = tuple(sample for sample in usable(facts, Fact.FULL_CPU_SHARE) if 0 < sample.value < FEW_FULL_CPUS)
    if not bursts or not few_full or _above(facts, Fact.IOWAIT_SHARE, IOWAIT_SHARE):
        return None
    found = evidence(Fact.GPU_UTIL_SPREAD, bursts, UNEVEN_PERCENT)
    return _verdict(UtilisationCause.CPU_BINDING, found + evidence(Fact.FULL_CPU_SHARE, few_full, FEW_FULL_CPUS))


def data(facts: Facts) -> UtilisationVerdict | None:
    """GPUs work in bursts and the storage is why."""
    bursts = _bursts(facts)
    if not bursts or _is_saving(facts):
        return None
    waits = evidence(Fact.IOWAIT_SHARE, _above(facts, Fact.IOWAIT_SHARE, IOWAIT_SHARE), IOWAIT_SHARE)
    waits += evidence(
        Fact.FSX_THROUGHPUT_SHARE, _above(facts, Fact.FSX_THROUGHPUT_SHARE, FSX_BUSY_SHARE), FSX_BUSY_SHARE
    )
    busy = _above(facts, Fact.FSX_DISK_IOPS_PERCENT, FSX_BUSY_IOPS_PERCENT)
    waits += evidence(Fact.FSX_DISK_IOPS_PERCENT, busy, FSX_BUSY_IOPS_PERCENT)
    if not waits:
        return None
    return _verdict(UtilisationCause.DATA, evidence(Fact.GPU_UTIL_SPREAD, bursts, UNEVEN_PERCENT) + waits)


def checkpoint(facts: Facts) -> UtilisationVerdict | None:
    """All ranks dip together while the storage is written to."""
    if not _is_saving(facts):
        return None
    found = evidence(Fact.FLEET_UTIL_SPREAD, usable(facts, Fact.FLEET_UTIL_SPREAD), UNEVEN_PERCENT * TOGETHER_SHARE)
    writing = _above(facts, Fact.FSX_WRITE_SHARE, FSX_WRITING_SHARE)
    return _verdict(UtilisationCause.CHECKPOINT, found + evidence(Fact.FSX_WRITE_SHARE, writing, FSX_WRITING_SHARE))


def throttling(facts: Facts) -> UtilisationVerdict | None:
    """Clocks below those of the same model elsewhere, or time lost to heat. Idle GPUs clock down by themselves."""
    util = _by_gpu(facts, Fact.GPU_UTIL)
    clocks: dict[str, list[Sample]] = {}
    for key, sample in _by_gpu(facts, Fact.SM_CLOCK_MHZ).items():
        if key in util and util[key].value >= IDLE_PERCENT:
            clocks.setdefault(sample.label("modelName"), []).append(sample)
    found: tuple[MetricEvidence, ...] = ()
    for samples in clocks.values():
        limit = THROTTLED_CLOCK_SHARE * median([sample.value for sample in samples])
        found += evidence(Fact.SM_CLOCK_MHZ, tuple(one for one in samples if one.value < limit), limit)
    found += evidence(Fact.THERMAL_VIOLATION, _above(facts, Fact.THERMAL_VIOLATION, 0), 0)
    return _verdict(UtilisationCause.THROTTLING, found)


def gpu_fault(facts: Facts) -> UtilisationVerdict | None:
    found: tuple[MetricEvidence, ...] = ()
    for fact in (Fact.XID, Fact.ROW_REMAP_FAILURE, Fact.NEW_ROW_REMAPS):
        found += evidence(fact, _above(facts, fact, 0), 0)
    replays = _above(facts, Fact.PCIE_REPLAYS_PER_MINUTE, REPLAYS_PER_MINUTE)
    found += evidence(Fact.PCIE_REPLAYS_PER_MINUTE, replays, REPLAYS_PER_MINUTE)
    return _verdict(UtilisationCause.GPU_FAULT, found)


def slow_rank(facts: Facts) -> UtilisationVerdict | None:
    """In synchronous training the slow rank computes all the time and the others wait: it stands out upwards."""
    by_pod: dict[str, list[Sample]] = {}
    for sample in usable(facts, Fact.TENSOR_ACTIVE):
        if sample.label("pod"):
            by_pod.setdefault(sample.label("pod"), []).append(sample)
    means = {pod: sum(one.value for one in samples) / len(samples) for pod, samples in by_pod.items()}
    if len(means) < _MINIMUM_RANKS:
        return None
    floor = 0.02 * median(list(means.values()))
    outliers = {
        pod: value
        for pod, value in means.items()
        if abs(robust_z(value, list(means.values()), floor=floor)) > SLOW_RANK_DEVIATIONS
    }
    found = tuple(
        MetricEvidence(fact=Fact.TENSOR_ACTIVE, value=value, threshold=median(list(means.values())), where=pod)
        for pod, value in outliers.items()
    )
    return _verdict(UtilisationCause.SLOW_RANK, found) if len(outliers) * 2 < len(means) else None


def badput(facts: Facts) -> UtilisationVerdict | None:
    """Nothing is slow now: the time went to recoveries."""
    lost = _above(facts, Fact.RECOVERY_SHARE, BADPUT_SHARE)
    return _verdict(UtilisationCause.BADPUT, evidence(Fact.RECOVERY_SHARE, lost, BADPUT_SHARE))


CHECKS: Final[tuple[Callable[[Facts], UtilisationVerdict | None], ...]] = (
    *(invisible, unallocated, idle, network, cpu_binding, data, checkpoint, throttling, gpu_fault, slow_rank, badput),
)


def power_limit(sample: Sample) -> float:
    """Watts of the board that a sample is from, by the model in its labels."""
    model = sample.label("modelName").upper()
    # The longest name first: "L4" stands in "L40S", too.
    known = sorted((name for name in POWER_LIMIT_WATTS if name in model), key=len, reverse=True)
    return POWER_LIMIT_WATTS[known[0]] if known else DEFAULT_POWER_LIMIT_WATTS


def _verdict(cause: UtilisationCause, found: tuple[MetricEvidence, ...]) -> UtilisationVerdict | None:
    return UtilisationVerdict(cause=cause, evidence=found) if found else None


def _above(facts: Facts, fact: Fact, threshold: float) -> tuple[Sample, ...]:
    return tuple(sample for sample in usable(facts, fact) if sample.value > threshold)


def _at_least(facts: Facts, fact: Fact, threshold: float) -> tuple[Sample, ...]:
    return tuple(sample for sample in usable(facts, fact) if sample.value >= threshold)


def _by_gpu(facts: Facts, fact: Fact) -> dict[tuple[str, str], Sample]:
    return {
        (sample.label("Hostname", "instance", "node"), sample.label("gpu", "device")): sample
        for sample in usable(facts, fact)
    }


def _bursts(facts: Facts) -> tuple[Sample, ...]:
    return _above(facts, Fact.GPU_UTIL_SPREAD, UNEVEN_PERCENT)


def _is_saving(facts: Facts) -> bool:
    together = [sample.value for sample in usable(facts, Fact.FLEET_UTIL_SPREAD)]
    dips = bool(together) and max(together) > UNEVEN_PERCENT * TOGETHER_SHARE
    return dips and bool(_above(facts, Fact.FSX_WRITE_SHARE, FSX_WRITING_SHARE))
