"""Errors of the scheduling core.

OpsError
+- InputRefused
   +- WorldInvalid    a fact that no decision can rest on; names the field (and the row of a file)
"""

from __future__ import annotations

from enum import StrEnum

from core.messages.message import Message, MessageParam, message
from core.reasons import InputRefused, RefusalReason


class WorldField(StrEnum):
    """What is wrong with the world that was handed in; also the catalogue key of its sentence."""

    COHORT_CYCLE = "scheduling.cohort_cycle"
    NAME_TWICE = "scheduling.name_twice"
    QUOTA_NEGATIVE = "scheduling.quota_negative"
    QUOTA_TOO_LARGE = "scheduling.quota_too_large"
    WEIGHT_NEGATIVE = "scheduling.weight_negative"
    QUOTA_RESOURCE_MISSING = "scheduling.quota_resource_missing"
    PREFERENCE_NEEDS_TRY_NEXT = "scheduling.preference_needs_try_next"
    BORROW_NEEDS_RECLAIM = "scheduling.borrow_needs_reclaim"
    STRATEGIES_INVALID = "scheduling.strategies_invalid"
    COUNT_NEGATIVE = "scheduling.count_negative"
    COUNTS_CROSSED = "scheduling.counts_crossed"
    REQUEST_NEGATIVE = "scheduling.request_negative"
    PODSETS_MISSING = "scheduling.podsets_missing"
    QUEUE_UNKNOWN = "scheduling.queue_unknown"
    FLAVOR_UNKNOWN = "scheduling.flavor_unknown"
    TOPOLOGY_UNKNOWN = "scheduling.topology_unknown"
    ELASTIC_RANGE = "scheduling.elastic_range"
    TRACE_EMPTY = "scheduling.trace_empty"
    TRACE_COLUMN_MISSING = "scheduling.trace_column_missing"
    TRACE_VALUE = "scheduling.trace_value"
    TRACE_OUT_OF_ORDER = "scheduling.trace_out_of_order"
    CHANGE_INCOMPLETE = "scheduling.change_incomplete"
    TEAM_MISSING = "scheduling.team_missing"
    INSTANCE_TYPE_UNKNOWN = "scheduling.instance_type_unknown"
    QUOTA_AMOUNT_MISSING = "scheduling.quota_amount_missing"
    MIG_PROFILE_UNKNOWN = "scheduling.mig_profile_unknown"
    TOO_MANY = "scheduling.too_many"
    OUT_OF_RANGE = "scheduling.out_of_range"
    TIME_NOT_FINITE = "scheduling.time_not_finite"


class WorldInvalid(InputRefused):
    """`problem` says which rule is broken; the message names the field."""

    def __init__(self, problem: WorldField, sentence: Message) -> None:
        super().__init__(RefusalReason.PARAMETER_INVALID, sentence)
        self.problem = problem


def world_invalid(problem: WorldField, /, **params: MessageParam) -> WorldInvalid:
    return WorldInvalid(problem, message(problem.value, **params))
