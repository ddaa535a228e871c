"""What a terminal shows, byte by byte, and what a pipe gets instead."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from interfaces.cli.screen import Screen, bar, rows_of_cells


def a_screen(*, is_terminal: bool, width: int = 80, no_color: bool = False) -> tuple[Screen, io.StringIO]:
    file = io.StringIO()
    environment = {"TERM": "xterm", "NO_COLOR": "1"} if no_color else {"TERM": "xterm"}
    console = Console(file=file, width=width, force_terminal=is_terminal, _environ=environment)
    return Screen(console), file


def test_progress_of_one_run_rewrites_its_line_on_a_terminal() -> None:
    screen, file = a_screen(is_terminal=True)

    screen.progress("run-1", "nodes 1/4")
    screen.progress("run-1", "nodes 2/4")

    assert file.getvalue() == "nodes 1/4\n\r\x1b[K\x1b[1A\x1b[2Knodes 2/4\n"


def test_a_pipe_gets_each_progress_as_a_line() -> None:
    screen, file = a_screen(is_terminal=False)

    screen.progress("run-1", "nodes 1/4")
    screen.progress("run-1", "nodes 2/4")

    assert file.getvalue() == "nodes 1/4\nnodes 2/4\n"


def test_a_line_between_keeps_the_progress_above_it() -> None:
    screen, file = a_screen(is_terminal=True)

    screen.progress("run-1", "nodes 1/4")
    screen.line("bob answered")
    screen.progress("run-1", "nodes 2/4")

    assert file.getvalue() == "nodes 1/4\nbob answered\nnodes 2/4\n"


def test_what_is_printed_goes_above_the_prompt() -> None:
    screen, file = a_screen(is_terminal=True)
    screen.show_prompt("> ")

    screen.line("news")

    assert file.getvalue() == "\r\x1b[Knews\n> "


@pytest.mark.parametrize(("is_terminal", "no_color"), [(True, True), (False, False)])
def test_without_colour_no_colour_is_written(is_terminal: bool, no_color: bool) -> None:
    screen, file = a_screen(is_terminal=is_terminal, no_color=no_color)

    screen.line("failed", style="red")

    assert "\x1b[3" not in file.getvalue()


def test_a_long_line_is_wrapped_with_its_indent() -> None:
    screen, file = a_screen(is_terminal=False, width=30)

    screen.line("     because the quota of this zone is used up")

    assert file.getvalue() == "     because the quota of this\n     zone is used up\n"


@pytest.mark.parametrize(("done", "total", "cells"), [(0, 4, 0), (2, 4, 10), (4, 4, 20), (9, 4, 20), (1, 0, 0)])
def test_a_bar_is_filled_by_its_share(done: int, total: int, cells: int) -> None:
    assert bar(done, total).count("#") == cells


def test_columns_align_by_what_characters_take() -> None:
    assert rows_of_cells([["集群", "x"], ["ab", "y"]]) == ["集群  x", "ab    y"]
