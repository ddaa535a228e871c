"""Why the GPUs are not full: each cause from its facts, in the fixed order."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.health.utilisation.diagnose import CHECKS, diagnose_utilisation, power_limit
from core.health.utilisation.facts import EXPECTED, PROMQL, Fact, Facts, Sample
from core.health.utilisation.verdicts import UtilisationCause
from core.messages.message import Language

C = UtilisationCause


def sample(value: float, **labels: str) -> Sample:
    return Sample(labels=labels, value=value)


def gpus(value: float, odd: float | None = None) -> tuple[Sample, ...]:
    """Eight pods with one GPU each on eight hosts; the first may differ."""
    values = [odd if odd is not None else value, *[value] * 7]
    return tuple(
        sample(one, Hostname=f"h{number}", gpu="0", pod=f"p{number}", modelName="NVIDIA H100 80GB HBM3")
        for number, one in enumerate(values)
    )


def hosts(value: float, odd: float | None = None) -> tuple[Sample, ...]:
    values = [odd if odd is not None else value, *[value] * 7]
    return tuple(sample(one, instance=f"h{number}") for number, one in enumerate(values))


def busy(**changes: tuple[Sample, ...]) -> Facts:
    """A fully visible, fully used cluster."""
    facts: dict[Fact, tuple[Sample, ...]] = {
        Fact.GPU_UTIL: gpus(98),
        Fact.GPU_UTIL_SPREAD: gpus(3),
        Fact.FLEET_UTIL_SPREAD: (sample(2),),
        Fact.TENSOR_ACTIVE: gpus(0.55),
        Fact.POWER_WATTS: gpus(640),
        Fact.SM_CLOCK_MHZ: gpus(1980),
        Fact.THERMAL_VIOLATION: gpus(0),
        Fact.FREE_GPUS: (sample(0),),
        Fact.PENDING: (sample(0, cluster_queue="q", status="inadmissible"),),
        Fact.EFA_TX_BYTES: hosts(4e9),
        Fact.EFA_RETRANSMIT_TIMEOUTS: hosts(0),
        Fact.EFA_UNRESPONSIVE: hosts(0),
        Fact.IOWAIT_SHARE: hosts(0.01),
        Fact.FULL_CPU_SHARE: hosts(0.0),
        Fact.FSX_DISK_IOPS_PERCENT: (sample(20, FileSystemId="fs-1"),),
        Fact.FSX_WRITE_SHARE: (sample(0.1, FileSystemId="fs-1"),),
        Fact.RECOVERY_SHARE: (sample(0.01, job_name="j"),),
    }
    return facts | {Fact(name): value for name, value in changes.items()}


WAITING: dict[str, tuple[Sample, ...]] = {
    "free_gpus": (sample(16),),
    "pending": (sample(3, cluster_queue="q", status="inadmissible"),),
}
CASES: list[tuple[UtilisationCause, dict[str, tuple[Sample, ...]]]] = [
    (C.WAITING_QUOTA, WAITING | {"quota_use": (sample(1.0, cluster_queue="q"),)}),
    (C.WAITING_HEALTH, WAITING | {"unschedulable_nodes": (sample(2),)}),
    (C.WAITING_FRAGMENTED, WAITING | {"largest_free_block": (sample(4),)}),
    (C.NOT_REQUESTED, {"free_gpus": (sample(16),)}),
    (C.IDLE, {"gpu_util": gpus(98, odd=0)}),
    (C.NETWORK, {"tensor_active": gpus(0.01), "power_watts": gpus(200), "efa_tx_bytes": hosts(4e9, odd=0)}),
    (C.NETWORK, {"efa_unresponsive": hosts(0, odd=3)}),
    (C.CPU_BINDING, {"gpu_util_spread": gpus(40), "full_cpu_share": hosts(0.05)}),
    (C.DATA, {"gpu_util_spread": gpus(40), "iowait_share": hosts(0.3)}),
    (C.DATA, {"gpu_util_spread": gpus(40), "fsx_disk_iops_percent": (sample(99, FileSystemId="fs-1"),)}),
    (
        C.CHECKPOINT,
        {"gpu_util_spread": gpus(40), "fleet_util_spread": (sample(38),), "fsx_write_share": (sample(0.9),)},
    ),
    (C.THROTTLING, {"sm_clock_mhz": gpus(1980, odd=1200)}),
    (C.THROTTLING, {"thermal_violation": gpus(0, odd=5)}),
    (C.GPU_FAULT, {"xid": (sample(94, Hostname="h0", gpu="0"),)}),
    (C.GPU_FAULT, {"pcie_replays_per_minute": gpus(0, odd=20)}),
    (C.SLOW_RANK, {"tensor_active": gpus(0.40, odd=0.80)}),
    (C.BADPUT, {"recovery_share": (sample(0.2, job_name="j"),)}),
]


@pytest.mark.parametrize(
    ("cause", "changes"), CASES, ids=[f"{cause}-{number}" for number, (cause, _) in enumerate(CASES)]
)
def test_each_cause_is_found_from_its_facts_and_cites_them(
    cause: UtilisationCause, changes: dict[str, tuple[Sample, ...]]
) -> None:
    report = diagnose_utilisation(busy(**changes))

    assert report.leading is not None
    assert report.leading.cause is cause
    assert report.leading.evidence
    assert {one.fact.value for one in report.leading.evidence} & changes.keys()


def test_a_busy_cluster_has_no_verdict() -> None:
    report = diagnose_utilisation(busy())

    assert (report.verdicts, report.missing, report.leading) == ((), (), None)


@pytest.mark.parametrize("fact", sorted(EXPECTED))
def test_a_missing_metric_is_named_and_never_health(fact: Fact) -> None:
    report = diagnose_utilisation({name: value for name, value in busy().items() if name is not fact})

    assert report.missing == (fact,)
    assert report.leading is not None
    assert report.leading.cause is C.NOT_VISIBLE
    assert fact.value in report.leading.message.english()


def test_nothing_visible_is_only_that() -> None:
    assert [verdict.cause for verdict in diagnose_utilisation({}).verdicts] == [C.NOT_VISIBLE]


def test_without_queue_metrics_free_gpus_are_not_called_unwanted() -> None:
    facts = {name: value for name, value in busy(free_gpus=(sample(8),)).items() if name.value != "pending"}

    assert C.NOT_REQUESTED not in {verdict.cause for verdict in diagnose_utilisation(facts).verdicts}


def test_pinned_cpus_are_asked_about_before_the_file_system() -> None:
    facts = busy(
        gpu_util_spread=gpus(40), full_cpu_share=hosts(0.05), fsx_disk_iops_percent=(sample(90, FileSystemId="fs"),)
    )

    assert [verdict.cause for verdict in diagnose_utilisation(facts).verdicts] == [C.CPU_BINDING, C.DATA]


def test_an_idle_gpu_that_clocks_down_is_not_throttled() -> None:
    facts = busy(sm_clock_mhz=gpus(1980, odd=345), gpu_util=gpus(98, odd=0))

    assert C.THROTTLING not in {verdict.cause for verdict in diagnose_utilisation(facts).verdicts}


def test_a_gpu_that_belongs_to_no_pod_is_not_idle_but_free() -> None:
    free = (sample(0, Hostname="h9", gpu="0"), *gpus(98))

    assert C.IDLE not in {verdict.cause for verdict in diagnose_utilisation(busy(gpu_util=free)).verdicts}


def test_values_that_are_no_numbers_are_not_visible() -> None:
    report = diagnose_utilisation(busy(recovery_share=(sample(math.nan, job_name="j"),)))

    assert report.missing == (Fact.RECOVERY_SHARE,)


@pytest.mark.parametrize(
    ("model", "watts"), [("NVIDIA L40S", 350), ("NVIDIA L4", 72), ("NVIDIA H100 80GB", 700), ("", 700)]
)
def test_the_power_limit_is_that_of_the_model(model: str, watts: float) -> None:
    assert power_limit(sample(1, modelName=model)) == watts


@pytest.mark.parametrize("language", Language)
@pytest.mark.parametrize(("cause", "changes"), CASES, ids=[str(number) for number in range(len(CASES))])
def test_verdict_and_next_test_read_in_both_languages(
    cause: UtilisationCause, changes: dict[str, tuple[Sample, ...]], language: Language
) -> None:
    for verdict in diagnose_utilisation(busy(**changes)).verdicts:
        assert verdict.message.render(language)
        assert verdict.settled_by.render(language)


def test_every_fact_but_those_of_cloudwatch_has_an_expression() -> None:
    assert set(Fact) - PROMQL.keys() == {
        Fact.FSX_THROUGHPUT_SHARE,
        Fact.FSX_DISK_IOPS_PERCENT,
        Fact.FSX_WRITE_SHARE,
    }


any_samples = st.lists(
    st.builds(
        lambda value, host, pod: sample(value, Hostname=host, gpu="0", pod=pod),
        st.floats(),
        st.sampled_from(["a", "b", "c", "d", "e"]),
        st.sampled_from(["", "p", "q", "r", "s"]),
    ),
    max_size=6,
).map(tuple)


@settings(max_examples=120, deadline=None)
@given(st.dictionaries(st.sampled_from(Fact), any_samples))
def test_no_facts_raise_and_verdicts_keep_the_order_of_the_checks(facts: Facts) -> None:
    causes = [verdict.cause for verdict in diagnose_utilisation(facts).verdicts]
    order = list(UtilisationCause)

    assert causes == sorted(causes, key=order.index)
    assert len(CHECKS) == 11
