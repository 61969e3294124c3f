"""An answer reaches its client in a read of its own where progress went before it.

The TypeScript SDK hands out notifications a moment after it has read them, and answers at once: of what it
reads together with an answer, the progress comes too late and is dropped.
"""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.replay.build import Tape, call, progress, request, result, text
from tests.replay.serving import SERVE, hello_lines, lines, saved
from workbench.replay.actions import Send
from workbench.replay.report import Report
from workbench.replay.script import build
from workbench.replay.server import MockServer


def called() -> Tape:
    tape = Tape().hello().c(call(2, "t", token="p")).s(progress("p", 1)).s(progress("p", 2)).s(text(2, "x"))
    return tape.c(call(3, "u")).s(text(3, "y"))


@contextmanager
def ends(kind: str) -> Iterator[tuple[int, int]]:
    """Where a server writes, and where its client reads: a pipe, or what Node.js uses in its place."""
    if kind == "pipe":
        read, write = os.pipe()
        yield write, read
        os.close(read)
    else:
        left, right = socket.socketpair()
        yield left.detach(), right.fileno()
        right.close()


@pytest.mark.parametrize("kind", ["pipe", "socket"])
def test_progress_is_read_before_the_answer_is_written(kind: str, tmp_path: Path) -> None:
    path = saved(called(), tmp_path / "a.db")
    with (
        ends(kind) as (write, read),
        subprocess.Popen([*SERVE, str(path)], stdin=subprocess.PIPE, stdout=write) as mock,
    ):
        os.close(write)
        assert mock.stdin is not None
        mock.stdin.write(hello_lines())
        mock.stdin.flush()
        assert b'"id":1' in os.read(read, 65536)
        mock.stdin.write(lines(call(7, "t", token=5)))
        mock.stdin.flush()
        time.sleep(0.3)  # a client that is slow to read
        first = os.read(read, 65536)
        assert first.count(b"notifications/progress") == 2
        assert b'"id":7' not in first
        assert b'"id":7' in os.read(read, 65536)
        mock.stdin.close()
        assert mock.wait(30) == 0


def test_a_client_that_does_not_read_gets_everything_all_the_same(tmp_path: Path) -> None:
    path = saved(called(), tmp_path / "a.db")
    read, write = os.pipe()
    with subprocess.Popen([*SERVE, str(path)], stdin=subprocess.PIPE, stdout=write) as mock:
        os.close(write)
        assert mock.stdin is not None
        mock.stdin.write(hello_lines() + lines(call(7, "t", token=5)))
        mock.stdin.close()
        assert mock.wait(30) == 0
        assert b'"id":7' in os.read(read, 65536)
    os.close(read)


def test_only_an_answer_after_progress_is_kept_apart() -> None:
    tape = called().c(call(4, "v", token="q")).s(request("r", "roots/list")).c(result("r", roots=[]))
    tape.s(progress("q", 1)).s(text(4, "z"))
    server = MockServer(build(tape.frames), Report("tape.db", "one"))
    server.start()
    bodies = hello_lines().splitlines()
    bodies += lines(
        call(7, "t", token=5), call(8, "u"), call(9, "v", token=6), result("r", roots=[])
    ).splitlines()
    actions = [action for body in bodies for action in server.feed(body) if isinstance(action, Send)]
    assert [action.seq for action in actions if action.apart] == [7, 14]
