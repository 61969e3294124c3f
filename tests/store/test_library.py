"""The user's store lists what is there, finds what is meant, and keeps its bounds."""

from __future__ import annotations

import os
import sqlite3
import stat
from pathlib import Path

import pytest

from tests.store.session import calls, record
from workbench.errors import RecordingError, UsageError
from workbench.store import library


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "store"
    monkeypatch.setenv("MCP_WORKBENCH_STORE", str(folder))
    return folder


def keep(name: str) -> Path:
    path = Path(library.new_path(name))
    record(path, calls(2)).close()
    return path


def test_the_store_is_for_its_owner_only_and_a_name_becomes_a_plain_file_name(store: Path) -> None:
    path = library.new_path("../a b/é")
    assert stat.S_IMODE(store.stat().st_mode) == 0o700
    assert Path(path).parent == store
    assert Path(path).name.startswith("a-b-")


def test_two_sessions_of_the_same_second_get_files_of_their_own() -> None:
    assert keep("x") != keep("x")


def test_a_broken_file_is_listed_as_broken_and_hides_nothing(store: Path) -> None:
    good = keep("good")
    (store / "bad.db").write_bytes(b"x")
    os.utime(good, (1, 1))
    listed = library.list_store()
    assert listed[0].name == "bad"
    assert "neither SQLite nor our text form" in listed[0].broken
    assert listed[1].session is not None
    assert listed[1].session.frames == 4


def test_an_empty_store_is_an_empty_list() -> None:
    assert library.list_store() == []


def test_a_recording_is_meant_by_path_name_beginning_or_last() -> None:
    one, other = keep("weather"), keep("time")
    os.utime(one, (1, 1))
    assert library.resolve(str(one)).path == str(one)
    assert library.resolve(one.stem).path == str(one)
    assert library.resolve("weath").path == str(one)
    assert library.resolve("last").path == str(other)


def test_a_beginning_that_fits_several_asks_for_more() -> None:
    keep("same")
    keep("same")
    with pytest.raises(UsageError, match="fits several recordings"):
        library.resolve("same")


def test_nothing_that_fits_is_an_error() -> None:
    with pytest.raises(RecordingError, match="There is no recording nothing"):
        library.resolve("nothing")


def test_a_session_and_a_connection_are_named_behind_a_hash() -> None:
    path = keep("a")
    assert library.resolve(f"{path}#1/one") == (str(path), 1, "one")
    assert library.resolve(f"{path}#/one") == (str(path), None, "one")
    assert library.resolve(f"{path}#test") == (str(path), 1, None)
    with pytest.raises(UsageError, match="has no session 9"):
        library.resolve(f"{path}#9")


def test_old_sessions_are_pruned_but_never_tagged_ones() -> None:
    old, tagged, new = keep("old"), keep("tagged"), keep("new")
    with sqlite3.connect(tagged) as db:
        db.execute("UPDATE session SET tags='keep'")
    for path in (old, tagged):
        os.utime(path, (1, 1))
    assert [stored.path for stored in library.prune(dry=True)] == [str(old)]
    assert old.exists()
    library.prune()
    assert (old.exists(), tagged.exists(), new.exists()) == (False, True, True)


def test_too_much_is_pruned_oldest_first() -> None:
    one, other = keep("one"), keep("other")
    os.utime(one, (1_700_000_000, 1_700_000_000))
    removed = library.prune(days=1e9, most_bytes=other.stat().st_size)
    assert [stored.path for stored in removed] == [str(one)]
    assert other.exists()


def test_a_full_disk_is_noticed_before_it_is_full(store: Path) -> None:
    keep("a")
    assert library.space_is_short(str(store / "x"), share=1.1)
    assert not library.space_is_short(str(store / "x"), share=0.0)
