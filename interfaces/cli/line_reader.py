"""Reads what the person types while the main thread prints what happens meanwhile."""

from __future__ import annotations

import contextlib
import queue
import readline
import sys
import termios
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_MOST_HISTORY = 1000
END: Final = None
"""The input is over (Ctrl-D, or the pipe's end)."""


class LineReader:
    """One line at a time, on request. The thread is a daemon: an unfinished line never keeps the process."""

    def __init__(self, history: Path) -> None:
        self._history = history
        self._is_terminal = sys.stdin.isatty()
        self._wanted: queue.Queue[str] = queue.Queue()
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._thread = threading.Thread(target=self._read_on_request, name="line-reader", daemon=True)
        self._is_asked = False

    @contextmanager
    def reading(self) -> Iterator[None]:
        """The arrow keys bring earlier lines back; whatever happens, the terminal is left as it was."""
        if not self._is_terminal:
            self._thread.start()
            yield
            return
        before = termios.tcgetattr(sys.stdin)
        with contextlib.suppress(OSError):
            readline.read_history_file(self._history)
        readline.set_history_length(_MOST_HISTORY)
        self._thread.start()
        try:
            yield
        finally:
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
            with contextlib.suppress(OSError):
                readline.write_history_file(self._history)

    @property
    def is_terminal(self) -> bool:
        return self._is_terminal

    def ask(self, prompt: str) -> bool:
        """Begin to read a line below `prompt`. False when one is being read already."""
        if self._is_asked:
            return False
        self._is_asked = True
        self._wanted.put(prompt)
        return True

    def poll(self, seconds: float) -> tuple[bool, str | None]:
        """(True, line or `END`) once it is there, (False, None) when `seconds` pass without."""
        try:
            line = self._lines.get(timeout=seconds)
        except queue.Empty:
            return False, None
        self._is_asked = False
        return True, line

    def _read_on_request(self) -> None:
        while True:
            prompt = self._wanted.get()
            try:
                line = input(prompt) if self._is_terminal else _piped_line()
            except (EOFError, OSError, ValueError):
                self._lines.put(END)
                return
            except UnicodeDecodeError:
                line = ""
            self._lines.put(line)


def _piped_line() -> str:
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line.rstrip("\n")
