"""Sub-codes of NVLink 5 errors."""

from __future__ import annotations

from core.health.table.nvlink5 import read_nvlink5

PEER = (37 << 20) | 0b0111000110
SIGNAL_INTEGRITY = 0x004505C6


def line(word: int, severity: str = "Fatal") -> str:
    return f"149, NETIR_LINK_EVT {severity} XC0 i0 Link 08 (0x{word:08x} 0x00000000 0x00000000)"


def test_a_sub_code_for_the_peer_accuses_the_peer() -> None:
    sub_code = read_nvlink5(149, line(PEER))

    assert sub_code is not None
    assert sub_code.accuses_peer


def test_a_sub_code_for_signal_integrity_accuses_nobody_else() -> None:
    sub_code = read_nvlink5(149, line(SIGNAL_INTEGRITY))

    assert sub_code is not None
    assert (sub_code.accuses_peer, sub_code.look_at, sub_code.link) == (False, "link_si", 8)


def test_nonfatal_needs_no_reset() -> None:
    sub_code = read_nvlink5(145, "145, RLW_RXPIPE Nonfatal XC0 i0 Link 11 (0x00000862 0x00000001)")

    assert sub_code is not None
    assert not sub_code.needs_reset


def test_an_unlisted_sub_code_keeps_the_severity_of_its_line() -> None:
    sub_code = read_nvlink5(149, line(0x03FFFFFF))

    assert sub_code is not None
    assert sub_code.needs_reset


def test_another_shape_is_no_sub_code() -> None:
    assert read_nvlink5(149, "149, something else") is None
