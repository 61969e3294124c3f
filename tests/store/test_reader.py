"""A reader finds every frame, and never changes a byte of what it reads."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlite_utils import Database

from tests.store.session import REQUEST, RESULT, calls, record, unit
from workbench.core.frame import Direction, Kind
from workbench.core.frame_filter import TEXT, Term
from workbench.errors import RecordingError
from workbench.store import migrations, schema
from workbench.store.copying import copy, export, import_file
from workbench.store.reader import Reader
from workbench.store.schema import APPLICATION_ID, VERSION


def find(reader: Reader, text: bytes, **more: Any) -> Iterator[int]:
    """The seqs of frames with a text."""
    wanted = (Term(TEXT, (text.decode("utf-8", "surrogateescape"),)),)
    for piece in reader.matching(wanted, **more):
        yield from piece


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
        assert list(find(reader, b"text 299")) == [598, 597]
        assert list(find(reader, b"text 299", newest_first=False)) == [597, 598]
        assert next(find(reader, b"tools/call")) == 600
        assert list(find(reader, b"echo", first=3, last=5)) == [5, 4, 3]
        assert list(find(reader, b"text", stop=lambda: True)) == []


def test_text_is_found_in_large_bodies_and_in_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    record(path, [b"x" * 1_048_570 + b"needle" + b"x" * 9, b"\xc3\x28", b"none"]).close()
    with Reader.open(str(path)) as reader:
        assert list(find(reader, b"needle")) == [1]
        assert list(find(reader, b"\xc3\x28")) == [2]


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
            list(find(reader, b"x"))
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


def damage(path: Path) -> None:
    """Spoil pages in the middle of the frames."""
    data = bytearray(path.read_bytes())
    data[-60_000:-20_000] = b"\xa5" * 40_000
    path.write_bytes(data)


def test_a_damaged_recording_leaves_no_half_export(path: Path) -> None:
    damage(path)
    with pytest.raises(RecordingError, match="damaged"):
        copy(str(path), str(path.parent / "copy.jsonl"))
    assert os.listdir(path.parent) == ["a.db"]


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


def test_a_batch_of_requests_is_one_row_however_many_answers_it_gets(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    to_server = Direction.TO_SERVER
    batch = b'[{"id":1,"method":"a"},{"id":2,"method":"b"}]'
    record(path, [unit(batch, to_server), b'{"id":2,"result":{}}', b'{"id":1,"result":{}}']).close()
    with Reader.open(str(path)) as reader:
        rows = reader.window(1, 3)
    assert [(row.seq, row.pair, row.method) for row in rows] == [(1, 2, None), (2, 1, "b"), (3, 1, "a")]


def test_a_request_too_large_to_be_parsed_whole_is_known_by_its_name_too(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    body = REQUEST % (1, b"x" * 600_000)
    record(path, [unit(body, Direction.TO_SERVER), RESULT % (1, b"y")]).close()
    with Reader.open(str(path)) as reader:
        assert [(row.method, row.name) for row in reader.window(1, 2)] == [("tools/call", "echo")] * 2
        assert list(find(reader, b"echo")) == [2, 1]


def test_words_are_found_however_many_there_are(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    bodies = [b'{"method":"m/%d"}' % (number % 700) for number in range(1500)]
    record(path, bodies).close()
    with Reader.open(str(path)) as reader:
        assert [row.method for row in reader.rows([1500, 1, 701])] == ["m/99", "m/0", "m/0"]
        assert [frame.method for frame in reader.frames(first=699, last=702)] == [
            "m/698",
            "m/699",
            "m/0",
            "m/1",
        ]


def test_a_killed_recording_without_its_index_is_read_without_leaving_one(tmp_path: Path) -> None:
    recorder = record(tmp_path / "a.db", calls(5))
    recorder.flush()
    folder = tmp_path / "taken"
    folder.mkdir()
    killed(tmp_path / "a.db", folder / "b.db")
    recorder.close()
    with Reader.open(str(folder / "b.db")) as reader:
        assert reader.height() == 10
        assert not reader.live
        assert sorted(os.listdir(folder)) == ["b.db", "b.db-wal"]
    assert sorted(os.listdir(folder)) == ["b.db", "b.db-wal"]


def test_a_change_that_was_broken_off_is_not_seen(path: Path) -> None:
    writer = subprocess.run(
        [sys.executable, "-c", BREAK_OFF, str(path)], check=False, timeout=60, capture_output=True
    )
    assert writer.returncode == -9, writer.stderr
    assert os.path.getsize(f"{path}-journal") > 0
    before = path.read_bytes()
    with Reader.open(str(path)) as reader:
        assert reader.height() == 600
        assert reader.frame(1).kind is Kind.REQUEST
    assert path.read_bytes() == before


BREAK_OFF = """
import os, sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("PRAGMA cache_size=1")
db.execute("BEGIN")
db.execute("UPDATE frame SET kind=12, body=zeroblob(4000)")
os.kill(os.getpid(), 9)
"""


def test_an_older_version_is_read_migrated_and_stays_as_it_is(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rename(recording: Database) -> None:
        recording.table("session").update(1, {"note": "migrated"})

    before = path.read_bytes()
    monkeypatch.setattr(schema, "VERSION", VERSION + 1)
    monkeypatch.setattr(migrations, "STEPS", {VERSION: rename})
    with Reader.open(str(path)) as reader:
        assert reader.sessions()[0].note == "migrated"
        assert reader.height() == 600
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == ["a.db"]


def test_a_version_that_never_was_is_told(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version=0")
    with pytest.raises(RecordingError, match="format 0 is none"):
        Reader.open(str(path))


def test_rows_that_make_no_sense_are_told_as_damage(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("UPDATE frame SET kind=99 WHERE key=7")
    with Reader.open(str(path)) as reader:
        assert len(reader.window(1, 6)) == 6
        with pytest.raises(RecordingError, match="frame 7 holds 99"):
            reader.window(1, 10)
        with pytest.raises(RecordingError, match="damaged"):
            list(reader.frames())


def test_a_file_damaged_in_the_middle_is_told_in_a_sentence(path: Path) -> None:
    damage(path)
    with Reader.open(str(path)) as reader, pytest.raises(RecordingError, match="damaged"):
        list(reader.frames())


def test_a_recording_that_another_process_writes_is_live_and_looking_leaves_it_so(tmp_path: Path) -> None:
    recorder = record(tmp_path / "a.db", calls(1))
    recorder.flush()
    look = [sys.executable, "-c", LOOK, str(tmp_path / "a.db")]
    assert subprocess.run(look, check=True, timeout=60, capture_output=True, text=True).stdout == "True 2\n"
    # A look from here must not drop the locks by which others see that it is being written.
    with Reader.open(str(tmp_path / "a.db")) as reader:
        assert reader.live
    assert subprocess.run(look, check=True, timeout=60, capture_output=True, text=True).stdout == "True 2\n"
    recorder.close()
    assert subprocess.run(look, check=True, timeout=60, capture_output=True, text=True).stdout == "False 2\n"
    assert os.listdir(tmp_path) == ["a.db"]


LOOK = """
import sys
from workbench.store.reader import Reader
with Reader.open(sys.argv[1]) as reader:
    print(reader.live, reader.height())
"""


def test_a_reader_is_shared_by_threads(path: Path) -> None:
    wrong: list[object] = []
    with Reader.open(str(path)) as reader:

        def read(start: int) -> None:
            for first in range(start, 500, 7):
                rows = reader.window(first, first + 20)
                if [row.seq for row in rows] != list(range(first, first + 21)):
                    wrong.append(rows)
                wrong.extend(seq for seq in find(reader, b"text 250") if seq not in (499, 500))

        threads = [threading.Thread(target=read, args=(start,)) for start in range(1, 7)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert wrong == []


def test_a_recording_in_memory_is_read_from_a_thread_while_it_is_written() -> None:
    recorder = record(None, [])
    seen: list[int] = []
    with Reader.attach(recorder.uri) as reader:

        def read() -> None:
            while not seen or seen[-1] < 4000:
                top = reader.height()
                seen.append(len(reader.window(1, top)) and top)

        thread = threading.Thread(target=read)
        thread.start()
        for each in calls(2000):
            recorder.put(each)
        thread.join(60)
        assert not thread.is_alive()
        assert seen == sorted(seen)
        recorder.close()
        assert reader.height() == 4000
