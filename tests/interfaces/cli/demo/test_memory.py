"""Memory is counted over the whole tree of processes, whatever session they are in."""

from __future__ import annotations

import os
import subprocess
import sys

from interfaces.cli.demo.memory import pss_kib, total_pss_mib, tree


def test_a_child_in_a_session_of_its_own_is_counted() -> None:
    code = "import sys; block = bytearray(b'x') * (64 * 2**20); print('ready', flush=True); sys.stdin.read()"
    before = total_pss_mib(os.getpid())
    child = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )
    assert child.stdout is not None
    child.stdout.readline()
    try:
        assert child.pid in tree(os.getpid())
        assert total_pss_mib(os.getpid()) - before > 60
    finally:
        child.communicate()
    assert pss_kib(child.pid) == 0
