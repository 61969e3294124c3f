"""What is handed over is what is recorded, in the order of handing over."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.store.session import REQUEST, RESULT, calls, record, unit
from workbench.core.frame import Channel, Direction, Ending, Kind
from workbench.errors import RecordingError
from workbench.store.reader import Reader
from workbench.store.recorder import BACKLOG_BYTES, Recorder


def test_tickets_of_whole_frames_are_their_seqs(tmp_path: Path) -> None:
    recorder = Recorder(str(tmp_path / "a.db"))
    tickets = [recorder.put(unit(b"{}")) for _ in range(5)]
    recorder.close()
    assert tickets == [1, 2, 3, 4, 5]
    with Reader.open(str(tmp_path / "a.db")) as reader:
        assert [frame.seq for frame in reader.frames()] == tickets


def test_a_clean_close_leaves_one_private_file_that_says_how_it_ended(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    record(path, calls(3)).close("signal:TERM")
    assert os.listdir(tmp_path) == ["a.db"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with Reader.open(str(path)) as reader:
        session = reader.sessions()[0]
    assert (session.ended_how, session.frames, session.connections) == ("signal:TERM", 6, 1)


def test_chunks_are_split_into_lines_per_stream_and_the_rest_is_an_unterminated_frame(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    to_server, to_client = Direction.TO_SERVER, Direction.TO_CLIENT
    pieces = [
        unit(b'{"id":1,"met', to_server, whole=False),
        unit(b"junk\r\nha", to_client, whole=False),
        unit(b'hod":"ping"}\n', to_server, whole=False),
        unit(b"lf", to_client, whole=False),
        unit(b"", to_client, whole=False),
    ]
    record(path, pieces).close()
    with Reader.open(str(path)) as reader:
        frames = list(reader.frames())
    assert [frame.body for frame in frames] == [b"junk\r", b'{"id":1,"method":"ping"}', b"half"]
    assert [frame.ending for frame in frames] == [Ending.LF, Ending.LF, Ending.NONE]


def test_an_unfinished_line_is_kept_when_the_recording_ends(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    record(path, [unit(b"no newline", whole=False)]).close()
    with Reader.open(str(path)) as reader:
        assert [frame.body for frame in reader.frames()] == [b"no newline"]


def test_an_answer_knows_its_request_and_how_long_it_took(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    record(path, calls(2)).close()
    with Reader.open(str(path)) as reader:
        rows = reader.window(1, 4)
        assert [reader.pair(seq) for seq in (1, 2, 3, 4)] == [2, 1, 4, 3]
    assert [row.pair for row in rows] == [2, 1, 4, 3]
    assert [(row.method, row.name) for row in rows] == [("tools/call", "echo")] * 4
    assert [row.duration_ns for row in rows] == [None, 1000, None, 1000]


def test_ids_pair_by_type_direction_and_connection(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    to_server = Direction.TO_SERVER
    bodies = [
        unit(b'{"id":8,"method":"ping"}', to_server),
        unit(b'{"id":8,"method":"roots/list"}'),
        unit(b'{"id":"8","result":{}}'),
        unit(b'{"id":8,"result":{}}', to_server),
        unit(b'{"id":8,"result":{}}', connection=2),
        unit(b'{"id":8,"result":{}}'),
    ]
    record(path, bodies).close()
    with Reader.open(str(path)) as reader:
        assert [row.pair for row in reader.window(1, 6)] == [6, 4, None, 2, None, 1]


def test_a_body_of_any_size_comes_back_byte_for_byte(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    bodies = [b"x" * size for size in (0, 1, 4095, 4096, 4097, 1 << 20, (1 << 20) + 1, 5_000_000)]
    record(path, bodies).close()
    with Reader.open(str(path)) as reader:
        assert [frame.body for frame in reader.frames()] == bodies
        assert [row.size for row in reader.window(1, 99)] == [len(body) for body in bodies]
        assert max(len(row.preview) for row in reader.window(1, 99)) == 240


def test_a_batch_and_several_objects_in_a_line_are_listed_one_by_one(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    record(
        path, [b'[{"id":1,"method":"ping"},{"method":"x"}]', b'{"id":1,"result":{}} {"id":2,"result":{}}']
    ).close()
    rows = sqlite3.connect(path).execute("SELECT key, item, kind, method, id FROM message").fetchall()
    assert rows == [
        (1, 0, Kind.REQUEST, "ping", "1"),
        (1, 1, Kind.NOTIFICATION, "x", None),
        (2, 0, Kind.RESULT, None, "1"),
        (2, 1, Kind.RESULT, None, "2"),
    ]


@pytest.mark.parametrize(("length", "most"), [(20, 2.2), (2048, 1.2)])
def test_a_recording_is_not_much_larger_than_what_crossed_the_wire(
    tmp_path: Path, length: int, most: float
) -> None:
    path = tmp_path / "a.db"
    bodies = []
    for number in range(4000):
        text = (b"%d " % number).ljust(length, b"x")
        bodies += [unit(REQUEST % (number, text), Direction.TO_SERVER), unit(RESULT % (number, text))]
    record(path, bodies).close()
    wire = sum(len(body.data) + 1 for body in bodies)
    assert path.stat().st_size <= most * wire


def test_a_recording_in_memory_is_read_while_it_grows() -> None:
    recorder = record(None, calls(2))
    recorder.flush()
    reader = Reader.attach(recorder.uri)
    assert reader.height() == 4
    recorder.put(unit(b"{}"))
    recorder.flush()
    assert reader.height() == 5
    reader.close()
    recorder.close()


def test_a_live_file_is_read_while_it_grows_and_every_commit_is_told(tmp_path: Path) -> None:
    told: list[int] = []
    recorder = Recorder(str(tmp_path / "a.db"), on_commit=told.append)
    recorder.put(unit(b"{}"))
    recorder.flush()
    with Reader.attach(recorder.uri) as reader:
        assert reader.height() == told[-1] == 1
        recorder.put(unit(b"{}"))
        assert recorder.flush() == reader.height() == told[-1] == 2
    recorder.close()


def test_facts_of_a_connection_are_written_down(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    recorder = record(path, [])
    recorder.describe(1, revision="2025-11-25", exit_code=3)
    recorder.close()
    with Reader.open(str(path)) as reader:
        [connection] = reader.connections()
    assert (connection.revision, connection.exit_code, connection.name) == ("2025-11-25", 3, "one")


def test_handing_over_never_blocks_and_a_full_backlog_says_there_is_no_room(tmp_path: Path) -> None:
    held = threading.Event()

    def hold(_: int) -> None:
        held.wait(30)

    recorder = Recorder(str(tmp_path / "a.db"), on_commit=hold)
    recorder.put(unit(b"first"))
    big = b"x" * (BACKLOG_BYTES // 4)
    for _ in range(5):
        recorder.put(unit(big))
    assert not recorder.has_room()
    assert not recorder.wait_room(0.01)
    held.set()
    assert recorder.wait_room(30)
    recorder.close()
    with Reader.open(str(tmp_path / "a.db")) as reader:
        assert reader.height() == 6


def test_a_full_disk_is_told_once_and_the_gap_is_counted_when_there_is_space_again(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    told: list[str] = []
    recorder = Recorder(str(path), on_trouble=told.append)
    recorder.put(unit(b'{"n":1}'))
    recorder.flush()
    pages = recorder._writer._db.execute("PRAGMA page_count").fetchone()[0]
    recorder._writer._db.execute(f"PRAGMA max_page_count={pages}")
    for _ in range(3):
        recorder.put(unit(b"x" * 100_000))
        recorder.flush()
    recorder._writer._db.execute("PRAGMA max_page_count=1000000")
    recorder.put(unit(b'{"n":2}'))
    recorder.close()
    assert len(told) == 1
    assert "cannot be written" in told[0]
    with Reader.open(str(path)) as reader:
        frames = list(reader.frames())
    assert [frame.body for frame in frames] == [b'{"n":1}', b'{"event":"gap","frames":3}', b'{"n":2}']
    assert [frame.seq for frame in frames] == [1, 2, 3]
    assert frames[1].channel is Channel.NOTE


def test_a_file_that_exists_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    path.write_text("mine")
    with pytest.raises(RecordingError, match="exists already"):
        Recorder(str(path))
    assert path.read_text() == "mine"


def test_secrets_given_for_a_target_are_not_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    recorder = Recorder(str(path))
    recorder.connect("one", "stdio", "server --token hush-hush-1234", secrets={"TOKEN": "hush-hush-1234"})
    recorder.put(unit(b'{"id":1,"result":{"token":"hush-hush-1234"}}'))
    recorder.put(unit(b"token is hush-hush-1234", channel=Channel.STDERR))
    recorder.describe(1, server_info='{"name":"hush-hush-1234"}')
    recorder.close()
    assert b"hush-hush" not in path.read_bytes()
    with Reader.open(str(path)) as reader:
        frame = reader.frame(1)
    assert frame.size == 44
    span = frame.spans[0]
    assert frame.body[span.offset : span.offset + span.length] == b"<redacted:1 env TOKEN>"
    assert span.wire == 14


def test_what_is_said_of_connections_waits_for_the_disk_instead_of_being_lost(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    recorder = record(path, [])
    recorder.flush()
    database = recorder._writer._db
    pages = database.execute("PRAGMA page_count").fetchone()[0]
    database.execute(f"PRAGMA max_page_count={pages}")
    recorder.connect("two", "stdio", "x" * 100_000)
    tickets = [recorder.put(unit(b"x" * 100_000, connection=2)) for _ in range(2)]
    recorder.flush()
    assert recorder.lost == 2
    assert "full" in recorder.trouble
    database.execute("PRAGMA max_page_count=1000000")
    tickets.append(recorder.put(unit(b"there", connection=2)))
    recorder.flush()
    assert recorder.trouble == ""
    assert [recorder.seq_of(ticket) for ticket in tickets] == [0, 0, 2]
    recorder.close()
    with Reader.open(str(path)) as reader:
        assert [connection.name for connection in reader.connections()] == ["one", "two"]
        assert [frame.body for frame in reader.frames()] == [b'{"event":"gap","frames":2}', b"there"]


def test_a_request_whose_frame_was_lost_is_not_paired_and_earlier_ones_still_are(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    recorder = record(path, [unit(REQUEST % (1, b"a"), Direction.TO_SERVER)])
    recorder.flush()
    database = recorder._writer._db
    database.execute(f"PRAGMA max_page_count={database.execute('PRAGMA page_count').fetchone()[0]}")
    recorder.put(unit(REQUEST % (2, b"b" * 100_000), Direction.TO_SERVER))
    recorder.flush()
    database.execute("PRAGMA max_page_count=1000000")
    for number in (1, 2):
        recorder.put(unit(RESULT % (number, b"c")))
    recorder.close()
    with Reader.open(str(path)) as reader:
        assert [row.pair for row in reader.window(1, 4)] == [3, None, 1, None]


def test_the_seq_of_a_ticket_is_known_when_it_is_committed(tmp_path: Path) -> None:
    recorder = record(tmp_path / "a.db", [])
    assert recorder.seq_of(1) is None
    assert [recorder.put(unit(b"{}")) for _ in range(3)] == [1, 2, 3]
    recorder.flush()
    for piece in (b"a\nb\nc\n", b"d", b""):
        recorder.put(unit(piece, whole=False))
    recorder.flush()
    recorder.put(unit(b"{}"))
    assert recorder.flush() == 8
    assert [recorder.seq_of(ticket) for ticket in (0, 1, 3, 7, 8)] == [None, 1, 3, 8, None]
    assert 3 < (recorder.seq_of(4) or 0) <= 7
    recorder.close()


def test_only_known_facts_of_a_connection_can_be_written_down(tmp_path: Path) -> None:
    recorder = record(tmp_path / "a.db", [])
    with pytest.raises(ValueError, match="no such facts of a connection: colour"):
        recorder.describe(1, colour="red")
    recorder.describe(1, closed_how="killed \udcff", closed_ns=5)
    recorder.connect("\udcfe", "stdio", "server \udcff")
    recorder.close()
    with Reader.open(str(tmp_path / "a.db")) as reader:
        one, two = reader.connections()
    assert (one.closed_how, one.closed_ns) == ("killed \\udcff", 5)
    assert (two.name, two.target) == ("\\udcfe", "server \\udcff")


def test_a_listener_that_fails_costs_no_frame(tmp_path: Path) -> None:
    def fail(seq: int) -> None:
        raise RuntimeError("the loop is closed")

    recorder = Recorder(str(tmp_path / "a.db"), on_commit=fail)
    for _ in range(3):
        recorder.put(unit(b"{}"))
        recorder.flush()
    recorder.close()
    with Reader.open(str(tmp_path / "a.db")) as reader:
        assert reader.height() == 3
        assert reader.sessions()[0].ended_how == "closed"


def test_what_is_handed_over_after_the_end_goes_nowhere_and_closing_twice_is_no_error(tmp_path: Path) -> None:
    recorder = record(tmp_path / "a.db", [b"{}"])
    recorder.close("first")
    recorder.close("second")
    assert recorder.put(unit(b"late")) == 2
    assert recorder.flush() == 1
    assert recorder.has_room()
    with Reader.open(str(tmp_path / "a.db")) as reader:
        assert reader.height() == 1
        assert reader.sessions()[0].ended_how == "first"


def test_methods_that_no_text_can_hold_and_endless_ones_are_kept_as_far_as_they_can(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    long = b"m" * 5000
    record(
        path,
        [
            b'{"method":"\\ud800"}',
            b'[{"method":"\\ud800"},{"method":"%s"}]' % long,
            b'{"method":"%s"}' % long,
        ],
    ).close()
    with Reader.open(str(path)) as reader:
        assert [row.method for row in reader.window(1, 3)] == ["\\ud800", None, "m" * 512]


def test_closing_while_another_process_reads_leaves_a_recording_that_needs_no_log(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    recorder = record(path, calls(3))
    recorder.flush()
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"6\n"
        recorder.put(unit(b"last"))
        recorder.close()
        assert path.with_name("a.db-wal").stat().st_size == 0
        alone = tmp_path / "alone"
        alone.mkdir()
        (alone / "a.db").write_bytes(path.read_bytes())
        other.communicate(b"\n", timeout=60)
    with Reader.open(str(alone / "a.db")) as reader:
        assert reader.height() == 7
        assert reader.sessions()[0].ended_how == "closed"
    assert os.listdir(alone) == ["a.db"]
    with Reader.open(str(path)) as reader:
        assert (reader.live, reader.height()) == (False, 7)


HOLD = """
import sys
from workbench.store.reader import Reader
with Reader.open(sys.argv[1]) as reader:
    print(reader.height(), flush=True)
    sys.stdin.readline()
"""


def test_all_threads_tickets_are_kept_in_the_order_they_were_given_out(tmp_path: Path) -> None:
    recorder = record(tmp_path / "a.db", [])
    given: dict[int, bytes] = {}

    def put(thread: int) -> None:
        for number in range(500):
            body = b"%d %d" % (thread, number)
            given[recorder.put(unit(body))] = body

    threads = [threading.Thread(target=put, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    recorder.close()
    with Reader.open(str(tmp_path / "a.db")) as reader:
        assert {frame.seq: frame.body for frame in reader.frames()} == given
