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
from workbench.store.maintenance import annotate, compact
from workbench.store.reader import Reader


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


def test_a_place_is_kept_at_once_and_is_no_recording_before_it_is_one(store: Path) -> None:
    places = {library.new_path("x") for _ in range(3)}
    assert len(places) == 3
    assert all(stat.S_IMODE(os.stat(place).st_mode) == 0o600 for place in places)
    assert library.list_store() == []
    record(Path(min(places)), calls(1)).close()
    assert [stored.path for stored in library.list_store()] == [min(places)]


def test_a_live_recording_is_listed_as_live_and_never_pruned(store: Path) -> None:
    recorder = record(Path(library.new_path("a")), calls(2))
    recorder.flush()
    [stored] = library.list_store()
    assert stored.live
    assert stored.session is not None
    assert stored.session.frames == 4
    assert library.prune(days=0, most_bytes=0, now_ns=1 << 62) == []
    recorder.close()
    [stored] = library.list_store()
    assert not stored.live


def test_a_connection_needs_no_session_in_front_where_there_is_only_one() -> None:
    path = keep("a")
    assert library.resolve(f"{path}#one") == (str(path), 1, "one")
    with pytest.raises(UsageError, match="has no session two"):
        library.resolve(f"{path}#two")


def test_a_path_with_a_hash_in_its_name_is_a_path(tmp_path: Path) -> None:
    path = tmp_path / "a#1.db"
    record(path, calls(1)).close()
    assert library.resolve(str(path)) == (str(path), None, None)
    with Reader.open(str(path)) as reader:
        assert reader.height() == 2


def test_a_store_that_cannot_be_written_to_says_how_to_choose_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("MCP_WORKBENCH_STORE", str(tmp_path / "file"))
    with pytest.raises(RecordingError, match="set MCP_WORKBENCH_STORE to another folder"):
        library.new_path("x")


@pytest.mark.parametrize(
    ("variables", "platform", "ending"),
    [
        ({"XDG_DATA_HOME": "/data"}, "linux", "/data/mcp-workbench"),
        ({}, "linux", "/.local/share/mcp-workbench"),
        ({}, "darwin", "/Library/Application Support/mcp-workbench"),
    ],
)
def test_the_store_is_in_the_platform_s_data_folder(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], platform: str, ending: str
) -> None:
    for name in ("MCP_WORKBENCH_STORE", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.platform", platform)
    assert library.folder().endswith(ending)


def test_people_s_words_about_a_session_are_written_into_it_and_keep_it() -> None:
    path = keep("a")
    annotate(str(path), note="the slow one", tags="bug")
    annotate(str(path), name="slow")
    with Reader.open(str(path)) as reader:
        session = reader.sessions()[0]
    assert (session.name, session.note, session.tags) == ("slow", "the slow one", "bug")
    assert os.listdir(path.parent) == [path.name]
    assert library.prune(days=0, most_bytes=0, now_ns=1 << 62) == []


def test_only_recordings_at_rest_are_changed() -> None:
    path = Path(library.new_path("a"))
    recorder = record(path, calls(1))
    recorder.flush()
    with pytest.raises(RecordingError, match="is not closed"):
        annotate(str(path), note="x")
    recorder.close()
    with pytest.raises(RecordingError, match="has no session 2"):
        annotate(str(path), session=2, note="x")


def test_a_recording_gives_back_the_space_of_what_was_removed() -> None:
    path = Path(library.new_path("a"))
    record(path, [b"x" * 200_000] * 5).close()
    with sqlite3.connect(path) as db:
        db.execute("DELETE FROM body WHERE key>2")
    assert compact(str(path)) > 500_000
    with Reader.open(str(path)) as reader:
        assert reader.body(2) == b"x" * 200_000
