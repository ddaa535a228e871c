"""Streamed text keeps inside its width, whatever the pieces are."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from interfaces.cli.flowing import Flow

TEXTS = st.text(alphabet=st.sampled_from("ab 区集\n-"), max_size=120)


def flow(pieces: list[str], width: int) -> str:
    stream = Flow(width)
    return "".join(stream.feed(piece) for piece in pieces) + stream.end()


def test_words_stay_whole() -> None:
    assert flow(["the quick bro", "wn fox"], 10) == "the quick \nbrown fox\n"


def test_chinese_breaks_anywhere() -> None:
    assert flow(["可用区容量"], 4) == "可用\n区容\n量\n"


@given(st.lists(TEXTS, max_size=6), st.integers(4, 30))
def test_no_line_is_wider_than_the_width(pieces: list[str], width: int) -> None:
    assert all(cell_len(line.rstrip()) <= width for line in flow(pieces, width).split("\n"))


@given(TEXTS, st.integers(4, 30), st.integers(0, 120))
def test_where_a_text_is_cut_makes_no_difference(text: str, width: int, cut: int) -> None:
    assert flow([text[:cut], text[cut:]], width) == flow([text], width)


@given(st.lists(TEXTS, max_size=6), st.integers(4, 30))
def test_nothing_but_blanks_is_lost(pieces: list[str], width: int) -> None:
    assert "".join(flow(pieces, width).split()) == "".join("".join(pieces).split())
