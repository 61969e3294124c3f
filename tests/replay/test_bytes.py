"""What a server wrote passes through ``record``, is stored, and comes out of the replay, byte for byte."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.command import PROGRAM, workbench
from workbench.core.frame import Direction
from workbench.store.reader import Reader

MIB = 1 << 20


def answer(result: bytes) -> bytes:
    return b'{"jsonrpc":"2.0","id":@ID@,"result":%s}' % result


def text(value: bytes) -> bytes:
    return answer(b'{"content":[{"type":"text","text":"%s"}]}' % value)


#: By the tool's name: what the server writes for its call. ``@ID@`` is the call's id.
ANSWERS = {
    "stray_bytes": text(b"a\xc3\x28b\xff"),
    "lone_surrogate": text(b"\\ud83d"),
    "numbers": answer(b'{"n":9007199254740993,"f":1.0,"h":1e400,"z":-0,"e":1E+2,"d":0.10}'),
    "no_number": answer(b'{"content":[],"x":NaN,"y":-Infinity}'),
    "equal_keys": answer(b'{"content":[],"a":1,"a":2}'),
    "order_and_space": b'{ "result" : {"content" : []} ,\t"id" :  @ID@ , "jsonrpc" : "2.0" }',
    "carriage_return": text(b"x") + b"\r",
    "escapes": text(b"\\u00e9\\/\\u001b[2J"),
    "unescaped": text("漢字 👩‍👩‍👧 مرحبا Z̷̢͝ \u2028 \u202e \x7f \x9b".encode()),
    "both": b'{"jsonrpc":"2.0","id":@ID@,"result":{},"error":{"code":1,"message":"x"}}',
    "kibibytes": text(b"k" * (64 * 1024 + 1)),
    "mebibyte": text(b"m" * MIB),
    "long": text(b"l" * (16 * MIB)),
    "long_and_stray": text(b"\xc3\x28" * MIB),
}

INITIALIZE = (
    b'{"jsonrpc":"2.0","id":%s,"method":"initialize","params":'
    b'{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}\n'
)
CALL = b'{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"%s"}}\n'

Ask = Callable[[bytes], bytes]


@contextmanager
def talking(command: list[str]) -> Iterator[Ask]:
    """A server as a child: send one line, get the line that comes back."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        to, back = child.stdin, child.stdout

        def ask(line: bytes) -> bytes:
            to.write(line)
            to.flush()
            return back.readline()

        yield ask
        to.close()
        assert child.wait(60) == 0


def all_answers(ask: Ask, id: bytes) -> dict[str, bytes]:
    ask(INITIALIZE % (id % 0))
    return {name: ask(CALL % (id % number, name.encode())) for number, name in enumerate(ANSWERS, 1)}


def written(id: bytes) -> dict[str, bytes]:
    return {
        name: body.replace(b"@ID@", id % number) + b"\n"
        for number, (name, body) in enumerate(ANSWERS.items(), 1)
    }


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One session of every answer, in both forms."""
    folder = tmp_path_factory.mktemp("bytes")
    for name, body in ANSWERS.items():
        (folder / name).write_bytes(body + b"\n")
    server = [sys.executable, "-m", "tests.servers.answers_with_bytes", str(folder)]
    path = folder / "odd.db"
    with talking([*PROGRAM, "record", "-o", str(path), "--", *server]) as ask:
        passed = all_answers(ask, b"%d")
    assert passed == written(b"%d")
    assert workbench("sessions", "copy", str(path), str(folder / "odd.jsonl")).returncode == 0
    return path


@pytest.mark.parametrize("form", [".db", ".jsonl"])
def test_the_recording_holds_the_bytes_of_the_wire(recording: Path, form: str) -> None:
    with Reader.open(str(recording.with_suffix(form))) as reader:
        frames = [frame for frame in reader.frames() if frame.direction is Direction.TO_CLIENT]
    assert [frame.body + b"\n" for frame in frames[1:]] == list(written(b"%d").values())
    assert [frame.size for frame in frames] == [len(frame.body) for frame in frames]


@pytest.mark.parametrize("form", [".db", ".jsonl"])
@pytest.mark.parametrize("id", [b"%d", b'"call-%d"'], ids=["same ids", "other ids"])
def test_the_replay_writes_the_bytes_of_the_recording_but_for_the_id(
    recording: Path, form: str, id: bytes
) -> None:
    with talking([*PROGRAM, "replay", "server", str(recording.with_suffix(form)), "--strict"]) as ask:
        replayed = all_answers(ask, id)
    expected = written(id)
    assert {name for name in expected if replayed[name] != expected[name]} == set()


def test_a_message_that_answers_nothing_is_written_again_where_it_stood(tmp_path: Path) -> None:
    neither = b'{"jsonrpc":"2.0","id":7}\n'
    (tmp_path / "tool").write_bytes(neither + answer(b"{}") + b"\n")
    server = [sys.executable, "-m", "tests.servers.answers_with_bytes", str(tmp_path)]
    path = tmp_path / "a.db"
    for command in (["record", "-o", str(path), "--", *server], ["replay", "server", str(path)]):
        with talking([*PROGRAM, *command]) as ask:
            ask(INITIALIZE % b"0")
            assert ask(CALL % (b"1", b"tool")) == neither
            assert ask(b"") == b'{"jsonrpc":"2.0","id":1,"result":{}}\n'
