"""A fault in words."""

from __future__ import annotations

import pytest

from core.health.diagnosis.diagnose import diagnose_report
from core.health.diagnosis.explain import cause_name, evidence_lines, explain, remediation_name
from core.health.faults import FaultClass, Remediation
from core.messages.message import Language

OFF_BUS = "NVRM: Xid (PCI:0000:5e:00): 79, GPU has fallen off the bus."


@pytest.mark.parametrize("language", Language)
def test_a_fault_reads_in_both_languages_with_its_source(language: Language) -> None:
    text = explain(diagnose_report(OFF_BUS)).render(language)

    assert "xid:79" in text
    assert "NVIDIA Xid catalogue" in text


@pytest.mark.parametrize("language", Language)
def test_every_class_and_every_remediation_has_a_name(language: Language) -> None:
    names = [cause_name(one).render(language) for one in FaultClass]
    steps = [remediation_name(one).render(language) for one in Remediation]

    assert len(set(names)) == len(FaultClass)
    assert len(set(steps)) == len(Remediation)


def test_the_evidence_is_the_line_itself_and_each_line_once() -> None:
    assert evidence_lines(diagnose_report(OFF_BUS)) == (OFF_BUS,)
