"""Training plans: capacity that was paid for, in one zone, for a time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from core.ids import InstanceTypeName, ZoneId
from core.json_value import JsonObject
from tools.arguments import NoArgs
from tools.clients.base import Clients
from tools.contract import ReadTool
from tools.reading import children, moment, number, text


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingPlan:
    """`status` is AWS's own word: only an `Active` plan gives instances."""

    name: str
    arn: str
    status: str
    instance_type: InstanceTypeName
    zone_id: ZoneId
    available: int
    ends_at: datetime | None

    @property
    def is_usable(self) -> bool:
        return self.status == "Active"

    def hours_left(self, now: datetime) -> int:
        return max(int((self.ends_at - now).total_seconds() // 3600), 0) if self.ends_at is not None else 0


def _plans(clients: Clients, args: NoArgs) -> tuple[TrainingPlan, ...]:
    """A plan with several reserved capacities counts under its first."""
    found = clients.aws.pages("sagemaker", "ListTrainingPlans", {}, "TrainingPlanSummaries")
    return tuple(sorted((_plan(row) for row in found), key=lambda plan: plan.name))


def _plan(row: JsonObject) -> TrainingPlan:
    reserved: JsonObject = next(iter(children(row, "ReservedCapacitySummaries")), {})
    return TrainingPlan(
        name=text(row, "TrainingPlanName"),
        arn=text(row, "TrainingPlanArn"),
        status=text(row, "Status"),
        instance_type=InstanceTypeName(text(reserved, "InstanceType")),
        zone_id=ZoneId(text(reserved, "AvailabilityZoneId")),
        available=number(row, "AvailableInstanceCount"),
        ends_at=moment(row, "EndTime"),
    )


TRAINING_PLANS: Final[ReadTool[NoArgs, tuple[TrainingPlan, ...]]] = ReadTool(name="training_plans", read=_plans)
