"""A person at a terminal of 80 columns: a pseudo terminal with a process in it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from types import TracebackType

_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\r")


class Terminal:
    """`expect` reads on from where the last one stopped, so that an old line is never taken for a new one."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], *, columns: int = 80) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        self.process = subprocess.Popen(
            list(command),
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**environment, "TERM": "xterm"},
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(slave)
        self.raw = ""
        self._read_until = 0

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._master)

    @property
    def text(self) -> str:
        """All that was shown, without control sequences."""
        return _CONTROL.sub("", self.raw)

    def expect(self, *wanted: str, within_seconds: float = 60.0) -> str:
        """Reads until all of `wanted` were shown since the last call; returns what was shown in between."""
        deadline = time.monotonic() + within_seconds
        while True:
            fresh = self.text[self._read_until :]
            if all(text in fresh for text in wanted):
                self._read_until = len(self.text)
                return fresh
            if time.monotonic() > deadline or not self._read(0.2):
                raise AssertionError(f"{wanted} not shown within {within_seconds} s; shown:\n{fresh}")

    def expect_next(self, wanted: str, *, within_seconds: float = 60.0) -> None:
        """Like `expect`, but reads on right behind `wanted`; where a line was wrapped makes no difference."""
        pattern = re.compile(r"\s+".join(re.escape(word) for word in wanted.split()))
        deadline = time.monotonic() + within_seconds
        while (found := pattern.search(self.text, self._read_until)) is None:
            if time.monotonic() > deadline or not self._read(0.2):
                raise AssertionError(f"{wanted!r} not shown; shown:\n{self.text[self._read_until :]}")
        self._read_until = found.end()

    def type(self, line: str) -> None:
        os.write(self._master, line.encode() + b"\r")

    def press_ctrl_c(self) -> None:
        os.write(self._master, b"\x03")

    def end(self, *, within_seconds: float = 30.0) -> int:
        """The exit code, once the process has ended."""
        deadline = time.monotonic() + within_seconds
        while self.process.poll() is None and time.monotonic() < deadline:
            self._read(0.1)
        with contextlib.suppress(OSError):
            while self._read(0.05) and select.select([self._master], [], [], 0)[0]:
                pass
        if self.process.poll() is None:
            raise AssertionError(f"still running; shown:\n{self.text[-2000:]}")
        return self.process.returncode

    def kill(self, number: int = signal.SIGKILL) -> None:
        self.process.send_signal(number)

    def _read(self, seconds: float) -> bool:
        """False once the other side is gone and everything was read."""
        if not select.select([self._master], [], [], seconds)[0]:
            return True
        try:
            piece = os.read(self._master, 65536)
        except OSError:  # Linux's way of saying that nobody holds the other side
            return False
        self.raw += piece.decode(errors="replace")
        return bool(piece)
