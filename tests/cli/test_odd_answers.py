"""An answer that breaks the protocol, or is unusual, is shown as it was written, and what is odd is said."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.cli.command import workbench


def answer(result: bytes) -> bytes:
    return b'{"jsonrpc":"2.0","id":@ID@,"result":%s}\n' % result


#: Little for the answer; the start may take longer on a busy machine.
PATIENCE = ("--start-timeout", "30", "--timeout", "0.5")


def asked(folder: Path, line: bytes, *options: str) -> tuple[int, str, str]:
    """Call a tool whose answer is this line; exit status, stdout and stderr."""
    (folder / "tool").write_bytes(line)
    target = ["--", sys.executable, "-m", "tests.servers.answers_with_bytes", str(folder)]
    done = workbench("call", "tool", *options, *target)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        (
            answer(b'{"content":[],"structuredContent":{"n":9007199254740993,"f":1.0,"h":1e400,"z":-0}}'),
            '{\n  "n": 9007199254740993,\n  "f": 1.0,\n  "h": 1e400,\n  "z": -0\n}\n',
        ),
        (answer(b'{"z":1,"a":1,"a":2}'), '{\n  "z": 1,\n  "a": 1,\n  "a": 2\n}\n'),
        (answer(b'{"e":"\\u00e9\\/","q":1E+2}'), '{\n  "e": "\\u00e9\\/",\n  "q": 1E+2\n}\n'),
        (b'{ "id" : @ID@, "result" : {"a": []}, "jsonrpc" : "2.0" }\r\n', '{\n  "a": []\n}\n'),
        (answer(b'{"content":[{"type":"text","text":"\\ud83d"}]}'), "\\ud83d\n"),
        (answer(b'{"resultType":"of_tomorrow","inputRequests":{}}'), '"resultType": "of_tomorrow"'),
        (answer(b'{"content":[{"type":"hologram","depth":1.50}]}'), '"depth": 1.50'),
    ],
    ids=["numbers", "equal keys", "escapes", "spaces", "lone surrogate", "unknown result", "unknown content"],
)
def test_a_result_is_shown_with_every_token_as_it_was_written(
    tmp_path: Path, line: bytes, shown: str
) -> None:
    status, out, err = asked(tmp_path, line)
    assert (status, err) == (0, "")
    assert shown in out


def test_numbers_of_a_json_document_are_those_of_the_wire(tmp_path: Path) -> None:
    numbers = '"n":9007199254740993,"f":1.0,"h":1e400,"z":-0,"d":-0.0'
    _, out, _ = asked(tmp_path, answer(b'{"content":[],%s}' % numbers.encode()), "--json")
    assert numbers in out


def test_bytes_that_are_no_text_are_shown_escaped_and_said(tmp_path: Path) -> None:
    status, out, err = asked(tmp_path, answer(b'{"content":[{"type":"text","text":"a\xc3\x28b"}]}'))
    assert (status, out) == (0, "a\\udcc3(b\n")
    assert "The body is not valid UTF-8; strict readers refuse it. (invalid-utf8)" in err


@pytest.mark.parametrize(
    ("line", "status", "says"),
    [
        (
            b'{"jsonrpc":"2.0","id":@ID@,"result":{},"error":{"code":1,"message":"x"}}\n',
            4,
            ["The answer has both a result and an error", "tools/call: x (1)"],
        ),
        (
            b'{"jsonrpc":"2.0","id":@ID@}\n',
            3,
            ["The object has none of method, result and error", "No answer to tools/call within 0.5 s"],
        ),
        (
            answer(b'{"x":' + b"[" * 50_000 + b"]" * 50_000 + b"}"),
            3,
            ["nested so deeply", "No answer to tools/call within 0.5 s"],
        ),
        (
            b'{"jsonrpc":"2.0","id":"@ID@","result":{}}\n',
            3,
            ["spells the id of an open request in another type"],
        ),
        (b'{"jsonrpc":"2.0","id":@ID@,"error":"no"}\n', 4, ['tools/call: the error is "no"']),
        (answer(b"null"), 0, ["The result is not an object"]),
    ],
    ids=["both", "neither", "too deep", "id of another type", "odd error", "result that is no object"],
)
def test_an_answer_that_is_none_ends_the_request_and_what_is_odd_is_said(
    tmp_path: Path, line: bytes, status: int, says: list[str]
) -> None:
    got, _, err = asked(tmp_path, line, *PATIENCE)
    assert got == status, err
    for each in says:
        assert each in err
    _, out, _ = asked(tmp_path, line, *PATIENCE, "--json")
    told = json.loads(out)
    assert ("result" in told, "error" in told) == (status == 0, status == 4)
    if status != 4 or "frame " in err:
        assert any(remark.startswith("frame ") for remark in told["remarks"])


@pytest.mark.parametrize("line", [b'{"level":"info"}\n', b"[]\n", b"42\n", b"{half\n", b"\n", b"a banner\n"])
def test_noise_on_stdout_before_an_answer_costs_nothing(tmp_path: Path, line: bytes) -> None:
    content = answer(b'{"content":[{"type":"text","text":"fine"}]}')
    assert asked(tmp_path, line * 2 + content + line) == (0, "fine\n", "")
