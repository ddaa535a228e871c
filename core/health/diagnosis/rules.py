"""The order in which rules are asked. Between the two lists stand the verdicts of the Xid and SXid tables."""

from __future__ import annotations

from core.health.diagnosis import rules_hardware as hardware
from core.health.diagnosis import rules_harmless as harmless
from core.health.diagnosis import rules_infrastructure as infrastructure
from core.health.diagnosis import rules_software as software
from core.health.diagnosis.rule import CauseRule

BEFORE_TABLE: tuple[CauseRule, ...] = (
    *harmless.RULES,
    *software.LOOKS_LIKE_HARDWARE,
    *infrastructure.SITE,
    *hardware.BEFORE_TABLE,
)

AFTER_TABLE: tuple[CauseRule, ...] = (
    *software.JOB,
    *infrastructure.NETWORK,
    *hardware.AFTER_TABLE,
    *infrastructure.STORAGE,
    *infrastructure.GENERIC,
    *software.GENERIC,
    *harmless.LAST,
    *harmless.TOPICS,
)
