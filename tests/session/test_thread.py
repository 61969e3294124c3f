"""A session in a thread of its own, as the screen has it."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers.targets import ROOT, server
from tests.wire.stage import arguments, gone
from workbench.core.actions import Outcome
from workbench.core.lifecycle import State
from workbench.errors import RecordingError
from workbench.session import Change, SessionThread
from workbench.store.reader import Reader


@pytest.fixture
def thread() -> Iterator[SessionThread]:
    thread = SessionThread.start(record=False)
    yield thread
    thread.stop()


async def connect_and_call(thread: SessionThread, name: str) -> Outcome:
    connection = thread.session.connect(server(name))
    await connection.ready()
    return await connection.request("tools/call", arguments("x"))


def test_work_is_handed_in_and_its_result_comes_back(thread: SessionThread) -> None:
    outcome = thread.submit(connect_and_call, thread, "minimal").result(20)
    assert outcome.how == "result"
    [connection] = thread.session.connections.values()
    assert connection.view.state is State.READY


def test_an_error_of_the_work_comes_back_and_hurts_nothing_else(thread: SessionThread) -> None:
    assert isinstance(thread.submit(connect_and_call, thread, "exits_at_once").exception(20), Exception)
    assert thread.submit(connect_and_call, thread, "minimal").result(20).how == "result"


def test_listeners_are_called_in_the_sessions_thread(thread: SessionThread) -> None:
    seen: list[str] = []
    told = threading.Event()

    def listener(_: Change) -> None:
        seen.append(threading.current_thread().name)
        told.set()

    thread.call_soon(thread.session.listen, listener)
    thread.submit(connect_and_call, thread, "minimal").result(20)
    assert told.wait(10)
    assert set(seen) == {"session"}


def test_stopping_ends_the_servers_and_says_how_the_session_ended(tmp_path: Path) -> None:
    path = str(tmp_path / "thread.db")
    thread = SessionThread.start(path=path)
    thread.submit(connect_and_call, thread, "minimal").result(20)
    pid = thread.session.connections[1].view.pid
    assert pid is not None
    assert thread.stop("SIGHUP", timeout=20)
    assert gone(pid)
    with Reader.open(path) as reader:
        assert reader.sessions()[0].ended_how == "SIGHUP"
    assert thread.stop()


def test_work_for_a_session_that_is_over_is_refused(thread: SessionThread) -> None:
    thread.stop()
    with pytest.raises(RuntimeError, match="over"):
        thread.submit(connect_and_call, thread, "minimal").result(20)
    thread.call_soon(print, "nobody hears this")


def test_what_opening_raises_comes_out_of_start(tmp_path: Path) -> None:
    with pytest.raises(RecordingError):
        SessionThread.start(path=str(tmp_path / "no" / "such.db"))


def test_a_program_that_forgets_to_stop_leaves_no_server_and_a_whole_recording(tmp_path: Path) -> None:
    path = str(tmp_path / "forgotten.db")
    program = (
        "import sys\n"
        "from tests.servers.targets import server\n"
        "from workbench.session import SessionThread\n"
        "thread = SessionThread.start(path=sys.argv[1])\n"
        "async def connect():\n"
        "    connection = thread.session.connect(server('minimal'))\n"
        "    await connection.ready()\n"
        "    return connection.view.pid\n"
        "print(thread.submit(connect).result(20))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, path], cwd=ROOT, capture_output=True, text=True, timeout=30
    )
    assert done.stderr == ""
    assert gone(int(done.stdout))
    with Reader.open(path) as reader:
        assert not reader.live
