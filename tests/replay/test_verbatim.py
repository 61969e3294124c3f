"""What a recorded server sent comes back byte for byte, whatever it was (trap 16)."""

from __future__ import annotations

import json

import pytest

from tests.replay.build import Live, Tape, call, note, request, result, text
from workbench.replay.actions import Send
from workbench.replay.correlate import NO_RULES
from workbench.replay.options import Options
from workbench.replay.selfcheck import selfcheck
from workbench.replay.server import MISS, MockServer


def bodies(server: MockServer, said: object) -> list[bytes]:
    body = said if isinstance(said, bytes) else json.dumps(said).encode()
    return [action.body for action in server.feed(body) if isinstance(action, Send)]


@pytest.mark.parametrize(
    "tail",
    [
        b'{"big":9007199254740993,"half":1.0,"huge":1e400,"minus":-0}',
        b'{"a":1,"a":2}',
        b'{ "spaced" :\t[ 1 , 2 ] }',
        b'{"text":"\xc3\x28"}',
        b'{"text":"\\ud83d"}',
        b'{"nan":NaN,"inf":-Infinity}',
        b'{"unicode":"\xe2\x80\xa8\\u0000\\/"}',
        b"[" * 100_000 + b"]" * 100_000,
        b'{"long":"' + b"x" * 1_000_000 + b'"}',
    ],
    ids=["numbers", "twice", "spaces", "utf8", "surrogate", "nan", "separators", "deep", "long"],
)
@pytest.mark.parametrize("last", [True, False], ids=["id last", "id first"])
def test_trap_16_only_the_id_of_an_answer_is_spliced_in(tail: bytes, last: bool) -> None:
    shape = b'{"jsonrpc":"2.0","result":%s,"id":%s}' if last else b'{"id":%s,"jsonrpc":"2.0","result":%s}'
    fill = (lambda id: (tail, id)) if last else (lambda id: (id, tail))
    tape = Tape().hello().c(call(2, "t")).s(shape % fill(b"2"))
    assert bodies(Live(tape).server, call("live", "t")) == [shape % fill(b'"live"')]
    assert selfcheck(tape.frames).whole


def test_requests_that_no_parser_reads_match_only_themselves() -> None:
    def deep(id: int, depth: int) -> bytes:
        value = b"[" * depth + b"]" * depth
        head = b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"t","arguments":{"v":'
        return head % id + value + b"}}}"

    tape = Tape().hello().c(call(2, "t")).s(text(2, "flat")).c(deep(3, 50_000)).s(text(3, "deep"))
    live = Live(tape)
    [answer] = live.say(deep(8, 50_000))
    assert answer == text(8, "deep")
    [miss] = live.say(deep(9, 50_001))
    assert miss["error"]["code"] == MISS


def test_numbers_that_no_float_holds_are_told_apart() -> None:
    def asked(id: int, number: bytes) -> bytes:
        return (
            b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"t","arguments":{"n":%s}}}'
            % (id, number)
        )

    tape = Tape().hello().c(asked(2, b"1e400")).s(text(2, "a")).c(asked(3, b"NaN")).s(text(3, "b"))
    live = Live(tape)
    assert "error" in live.say(asked(5, b"1e500"))[0]
    assert live.say(asked(6, b"1e400")) == [text(6, "a")]
    assert live.say(asked(7, b"NaN")) == [text(7, "b")]


def test_lines_of_junk_and_their_endings_come_back() -> None:
    tape = Tape().s(b"\xef\xbb\xbfServer up\r").hello().c(call(2, "t")).s(b"").s(text(2, "x"))
    server = Live(tape).server
    assert bodies(server, call(3, "t")) == [b"", json.dumps(text(3, "x"), separators=(",", ":")).encode()]


def test_trap_20_a_batch_is_one_batch_again_for_a_client_that_batches() -> None:
    answers = b' [ {"id":2,"jsonrpc":"2.0","result":{"tools":[]}} , {"id":3,"jsonrpc":"2.0","result":{}}]'
    tape = Tape().hello().c([request(2, "tools/list"), request(3, "resources/list")]).s(answers)
    assert selfcheck(tape.frames).whole
    server = Live(tape).server
    live = bodies(server, [request("a", "tools/list"), request("b", "resources/list")])
    assert live == [answers.replace(b'"id":2', b'"id":"a"').replace(b'"id":3', b'"id":"b"')]


def test_trap_20_for_a_client_that_does_not_batch_each_answer_of_a_batch_is_its_own() -> None:
    batch = [result(3, resources=[]), note("notifications/message", data=1), result(2, tools=[])]
    tape = Tape().hello().c([request(2, "tools/list"), request(3, "resources/list")]).s(batch)
    live = Live(tape)
    assert result(7, tools=[]) in live.say(request(7, "tools/list"))
    assert result(8, resources=[]) in live.say(request(8, "resources/list"))


def test_equal_params_in_another_spelling_match() -> None:
    tape = Tape().hello().c(call(2, "t", b=1, a=[1.0, "é"])).s(text(2, "x"))
    server = Live(tape).server
    spelled = (
        b'{"id":9,"method":"tools/call","jsonrpc":"2.0",'
        b'"params":{"arguments":{"a":[1,"\\u00e9"],"b":1.0},"name":"t"}}'
    )
    assert json.loads(bodies(server, spelled)[0]) == text(9, "x")


def test_ids_keep_the_type_and_spelling_the_client_gave_them() -> None:
    tape = Tape().hello()
    for number in range(2, 6):
        tape.c(call(number, "t", n=number)).s(text(number, "x"))
    server = Live(tape).server
    for number, id in enumerate((b"0", b'""', b"12345678901234567890123", b'"1"'), 2):
        asked = b'{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"t","arguments":{"n":%d}}}'
        [answer] = bodies(server, asked % (id, number))
        assert answer.startswith(b'{"jsonrpc":"2.0","id":' + id + b",")


def test_options_are_named_as_on_the_command_line() -> None:
    assert Options()._asdict() == {
        "match": "exact",
        "after": "",
        "ignores": (),
        "on_answer": "warn",
        "order": "causal",
        "strict": False,
        "timing": 0.0,
        "faults": (),
        "on_miss": "error",
        "correlations": NO_RULES,
    }
