"""A reader finds every frame, and never changes a byte of what it reads."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
from pathlib import Path

import pytest

from tests.store.session import calls, record, unit
from workbench.core.frame import Direction
from workbench.errors import RecordingError
from workbench.store.copying import copy, export, import_file
from workbench.store.reader import Reader
from workbench.store.schema import APPLICATION_ID, VERSION


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "a.db"
    record(path, calls(300)).close()
    return path


def test_a_window_holds_what_is_there_of_it(path: Path) -> None:
    with Reader.open(str(path)) as reader:
        assert [row.seq for row in reader.window(-5, 2)] == [1, 2]
        assert [row.seq for row in reader.window(599, 700)] == [599, 600]
        assert reader.window(601, 700) == []
        assert [row.seq for row in reader.rows([600, 3, 9999])] == [600, 3]


def test_a_frame_that_is_not_there_is_an_error_that_says_how_many_there_are(path: Path) -> None:
    with Reader.open(str(path)) as reader, pytest.raises(RecordingError, match="has 600"):
        reader.frame(601)


def test_text_is_found_newest_first_in_bodies_methods_and_names(path: Path) -> None:
    with Reader.open(str(path)) as reader:
        assert list(reader.find(b"text 299")) == [598, 597]
        assert list(reader.find(b"text 299", newest_first=False)) == [597, 598]
        assert next(reader.find(b"tools/call")) == 600
        assert list(reader.find(b"echo", first=3, last=5)) == [5, 4, 3]
        assert list(reader.find(b"text", stop=lambda: True)) == []


def test_text_is_found_in_large_bodies_and_in_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    record(path, [b"x" * 1_048_570 + b"needle" + b"x" * 9, b"\xc3\x28", b"none"]).close()
    with Reader.open(str(path)) as reader:
        assert list(reader.find(b"needle")) == [1]
        assert list(reader.find(b"\xc3\x28")) == [2]


def test_frames_of_one_connection_are_walked_through(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    bodies = [unit(b"%d" % number, connection=1 + number % 2) for number in range(2500)]
    record(path, bodies).close()
    with Reader.open(str(path)) as reader:
        assert [frame.seq for frame in reader.frames(connection=2)] == list(range(2, 2501, 2))


def test_reading_from_a_read_only_folder_changes_no_byte_and_leaves_no_neighbour(path: Path) -> None:
    before = path.read_bytes()
    os.chmod(path, 0o400)
    os.chmod(path.parent, 0o500)
    try:
        with Reader.open(str(path)) as reader:
            assert reader.height() == 600
            list(reader.find(b"x"))
        assert os.listdir(path.parent) == ["a.db"]
    finally:
        os.chmod(path.parent, 0o700)
    assert path.read_bytes() == before


def killed(source: Path, target: Path) -> None:
    """What a kill -9 leaves: the file and its log as they are at this moment."""
    for name in ("", "-wal"):
        shutil.copyfile(f"{source}{name}", f"{target}{name}")


def test_a_killed_recording_is_read_to_its_last_commit_and_says_it_did_not_end(tmp_path: Path) -> None:
    recorder = record(tmp_path / "a.db", calls(5))
    recorder.flush()
    killed(tmp_path / "a.db", tmp_path / "b.db")
    recorder.close()
    with Reader.open(str(tmp_path / "b.db")) as reader:
        assert reader.height() == 10
        assert reader.sessions()[0].ended_how is None


def test_a_killed_recording_in_a_read_only_folder_is_read_through_a_private_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = record(tmp_path / "a.db", calls(5))
    recorder.flush()
    folder = tmp_path / "fixed"
    folder.mkdir()
    killed(tmp_path / "a.db", folder / "b.db")
    recorder.close()
    # Root may write anywhere, so the look at the folder is what is set, not its mode.
    monkeypatch.setattr("os.access", lambda *_: False)
    with Reader.open(str(folder / "b.db")) as reader:
        assert reader.height() == 10
    assert sorted(os.listdir(folder)) == ["b.db", "b.db-wal"]


def test_a_live_recording_is_copied_to_one_closed_file(tmp_path: Path) -> None:
    recorder = record(tmp_path / "a.db", calls(5))
    recorder.flush()
    copy(str(tmp_path / "a.db"), str(tmp_path / "copy.db"))
    recorder.close()
    assert not (tmp_path / "copy.db-wal").exists()
    assert stat.S_IMODE((tmp_path / "copy.db").stat().st_mode) == 0o600
    with Reader.open(str(tmp_path / "copy.db")) as reader:
        assert not reader.live
        assert reader.height() == 10


def test_a_copy_in_the_text_form_reads_like_the_original(path: Path) -> None:
    text = path.with_suffix(".jsonl")
    copy(str(path), str(text))
    with Reader.open(str(path)) as one, Reader.open(str(text)) as other:
        assert one.window(1, 600) == other.window(1, 600)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "neither SQLite nor our text form"),
        (b"hello", "neither SQLite nor our text form"),
        (b"SQLite format 3\x00" + b"x" * 500, "damaged or no recording"),
    ],
)
def test_a_file_that_is_no_recording_is_told_in_a_sentence(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "a.db"
    path.write_bytes(content)
    with pytest.raises(RecordingError, match=said):
        Reader.open(str(path))


def test_a_missing_file_is_told_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="There is no recording"):
        Reader.open(str(tmp_path / "none.db"))


def test_another_product_s_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE x (y)")
    db.close()
    with pytest.raises(RecordingError, match="no recording of this product"):
        Reader.open(str(path))


def test_a_newer_format_asks_for_an_upgrade(path: Path) -> None:
    db = sqlite3.connect(path)
    assert db.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID
    db.execute(f"PRAGMA user_version={VERSION + 1}")
    db.close()
    with pytest.raises(RecordingError, match="upgrade"):
        Reader.open(str(path))


def test_a_session_that_is_not_there_is_an_error(path: Path) -> None:
    with pytest.raises(RecordingError, match="no session 7"):
        Reader.open(str(path), session=7)


def test_export_and_import_name_files_that_cannot_be_used(path: Path, tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match=r"missing\.jsonl cannot be read"):
        import_file(str(tmp_path / "missing.jsonl"), str(tmp_path / "new.db"))
    with pytest.raises(RecordingError, match="exists already"):
        copy(str(path), str(path))
    with open(tmp_path / "out.jsonl", "w") as out:
        export(str(path), out)
    import_file(str(tmp_path / "out.jsonl"), str(tmp_path / "new.db"))
    with Reader.open(str(tmp_path / "new.db")) as reader:
        assert reader.frame(1).direction is Direction.TO_SERVER
