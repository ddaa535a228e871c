"""The folder and its locks."""

from __future__ import annotations

import stat
from pathlib import Path

from interfaces.bootstrap.home import Home, locked, locked_if_free, read_json, write_json


def test_the_folder_is_its_owners_alone(tmp_path: Path) -> None:
    home = Home(tmp_path / "deep" / "muster")

    home.create()

    assert stat.S_IMODE(home.root.stat().st_mode) == 0o700


def test_shared_holders_meet_and_keep_others_out(tmp_path: Path) -> None:
    lock = tmp_path / "lock"

    with locked(lock, shared=True), locked(lock, shared=True), locked_if_free(lock) as is_free:
        assert not is_free
    with locked_if_free(lock) as is_free:
        assert is_free


def test_a_half_written_file_reads_as_absent(tmp_path: Path) -> None:
    (tmp_path / "half.json").write_text('{"pid": ')

    assert read_json(tmp_path / "half.json") is None
    assert read_json(tmp_path / "none.json") is None


def test_what_was_written_is_read_and_leaves_nothing_else_behind(tmp_path: Path) -> None:
    write_json(tmp_path / "status.json", {"pid": 7})

    assert read_json(tmp_path / "status.json") == {"pid": 7}
    assert [path.name for path in tmp_path.iterdir()] == ["status.json"]
