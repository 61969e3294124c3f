"""What servers are known to do that the protocol does not have: each is found, and none ends a connection.

The numbers are those of the list this is held to: 1 to 6 what comes over stdio, 7 to 13 over HTTP, 14
to 20 what the messages hold, 22 the stateless era; B is a list of inputs that broke other tools. What
other tests hold live is named in ``test_every_deviation``, with what is missing here.
"""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from tests.check.examples import found
from tests.servers.http_script import (
    EVENTS,
    Asked,
    Table,
    Wire,
    as_json,
    event,
    message,
    reply,
    said,
    tells,
)
from tests.servers.targets import server
from tests.wire.http_stage import Stage, connected
from tests.wire.stage import MemorySink, arguments, call_tool, running, text_of, until
from workbench.check.recorded import Recorded
from workbench.core.frame import Frame, Kind, carried_kind
from workbench.core.lifecycle import State

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def rules(sink: MemorySink) -> set[str]:
    return {rule for _, rule, _, _ in sink.findings}


def recorded(sink: MemorySink) -> set[str]:
    """What is found in the same session when it is read again: all its frames, each stream once."""
    found: set[str] = set()
    checks = Recorded(lambda _, finding: found.add(finding.rule.id))
    for stream in sink.streams.values():
        checks.head(stream)
    for seq, unit in enumerate(sink.units, 1):
        kind = carried_kind(unit.channel, unit.data, unit.event) or Kind.NOTE
        head = (seq, unit.connection, unit.wall_ns, unit.mono_ns, unit.direction, unit.channel, kind)
        checks.take(
            Frame(*head, unit.data, len(unit.data), unit.ending, stream=unit.stream, event=unit.event)
        )
    checks.finish()
    return found


LOG = '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}'
PRETTY = '{\n  "jsonrpc": "2.0",\n  "method": "notifications/message",\n  "params": {\n    "level": "info"\n  }\n}\n'

#: Beside its answer: item, what the server says, the rules it breaks.
BESIDE: list[tuple[str, str, set[str]]] = [
    ("1 banner", "Server v1 up on stdin\n", {"stdout-text"}),
    ("1 colour", "\x1b[32mready\x1b[0m\n", {"stdout-ansi"}),
    ("1 box drawing", "╭──────╮\n", {"stdout-text"}),
    ("1 byte order mark", "\ufeff" + LOG + "\n", {"bom", "sender-lacks-capability"}),
    ("1 CRLF", LOG + "\r\n", {"crlf", "sender-lacks-capability"}),
    ("1 blank line", "\n", {"blank-line"}),
    ("1 invalid UTF-8", LOG.replace('"x"', '"\udcc3("') + "\n", {"invalid-utf8", "sender-lacks-capability"}),
    ("1 several values", LOG + LOG + "\n", {"several-values", "sender-lacks-capability"}),
    ("1 pretty-printed", PRETTY, {"pretty-printed"}),
    ("1 Content-Length", f"Content-Length: {len(LOG)}\r\n\r\n", {"lsp-framing", "crlf"}),
    ("4 answers before it is asked", '{"jsonrpc":"2.0","id":500,"result":{}}\n', {"answer-unknown"}),
    ("4 answers to a notification", '{"jsonrpc":"2.0","id":null,"result":{}}\n', {"id-null", "answer-unknown"}),
    ("4 an error without id", '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}\n', set()),
    ("4 id in another type", '{"jsonrpc":"2.0","id":"@ID@","result":{}}\n', {"answer-id-type"}),
    ("4 answers twice", '{"jsonrpc":"2.0","id":@ID@,"result":{"content":[{"type":"text","text":"still here"}]}}\n', {"answer-duplicate"}),
    (
        "5 a method we did not offer",
        '{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"?","requestedSchema":{}}}\n',
        {"receiver-lacks-capability"},
    ),
    ("6 no jsonrpc", '{"method":"ping","id":1}\n', {"jsonrpc-version"}),
    ("17 unknown token", '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"?","progress":1}}\n', {"progress-unknown-token"}),
    ("17 token of another type", '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"@ID@","progress":1}}\n', {"progress-token-type"}),
    (
        "17 progress not growing",
        '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":@ID@,"progress":1}}\n' * 2,
        {"progress-not-growing"},
    ),
    ("17 unknown level", LOG.replace("info", "warn") + "\n", {"log-level-unknown", "sender-lacks-capability"}),
    ("20 recursion bomb", '{"a":' * 60_000 + "1" + "}" * 60_000 + "\n", {"too-deep"}),
    ("B17 half a message", "{half\n", {"not-json"}),
    ("B17 an empty array", "[]\n", {"empty-batch"}),
    ("B17 a number", "42\n", {"not-an-object"}),
    ("B17 JSON that is no message", '{"level":"info","msg":"x"}\n', {"no-message"}),
    ("B19 a lone surrogate", LOG.replace('"x"', '"\\ud83d"') + "\n", {"sender-lacks-capability"}),
    ("B22 neither result nor error", '{"jsonrpc":"2.0","id":@ID@}\n', {"no-message"}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("says", "expected"), [case[1:] for case in BESIDE], ids=[case[0] for case in BESIDE]
)
async def test_what_a_server_says_beside_its_answer_is_found_and_the_call_is_answered(
    says: str, expected: set[str]
) -> None:
    async with running(server("says", capabilities={"roots": {}})) as (connection, sink):
        await connection.ready()
        assert rules(sink) == set()
        assert text_of(await call_tool(connection, says)) == "still here"
        assert text_of(await call_tool(connection, "")) == "still here"
        assert rules(sink) == expected
        assert connection.state is State.READY
    assert recorded(sink) == expected


#: Instead of its answer: item, the answer, how the call ends, the rules it breaks.
INSTEAD: list[tuple[str, str, str, set[str]]] = [
    ("6 null result", '{"jsonrpc":"2.0","id":@ID@,"result":null}', "result", {"result-not-object"}),
    ("6 array as result", '{"jsonrpc":"2.0","id":@ID@,"result":[]}', "result", {"result-not-object"}),
    ("6 string as result", '{"jsonrpc":"2.0","id":@ID@,"result":"x"}', "result", {"result-not-object"}),
    ("6 B22 both", '{"jsonrpc":"2.0","id":@ID@,"result":{},"error":{"code":1,"message":"x"}}', "error", {"result-and-error"}),
    ("6 error as text", '{"jsonrpc":"2.0","id":@ID@,"error":"x"}', "error", {"error-shape"}),
    ("6 code as text", '{"jsonrpc":"2.0","id":@ID@,"error":{"code":"1","message":"x"}}', "error", {"error-shape"}),
    ("6 no message", '{"jsonrpc":"2.0","id":@ID@,"error":{"code":1}}', "error", {"error-shape"}),
    ("6 no jsonrpc", '{"id":@ID@,"result":{"content":[]}}', "result", {"jsonrpc-version"}),
    ("14 isError as text", '{"jsonrpc":"2.0","id":@ID@,"result":{"content":[],"isError":"yes"}}', "result", set()),
    ("14 no content", '{"jsonrpc":"2.0","id":@ID@,"result":{"structuredContent":{}}}', "result", set()),
    ("14 content as object", '{"jsonrpc":"2.0","id":@ID@,"result":{"content":{"type":"text"}}}', "result", set()),
    ("14 unknown content", '{"jsonrpc":"2.0","id":@ID@,"result":{"content":[{"type":"hologram"}]}}', "result", set()),
    ("14 null for optional", '{"jsonrpc":"2.0","id":@ID@,"result":{"content":[],"_meta":null}}', "result", set()),
    ("14 toolResult", '{"jsonrpc":"2.0","id":@ID@,"result":{"toolResult":"x"}}', "result", set()),
    ("16 invalid base64", '{"jsonrpc":"2.0","id":@ID@,"result":{"content":[{"type":"image","data":"?","mimeType":"x"}]}}', "result", set()),
    ("22 modern members", '{"jsonrpc":"2.0","id":@ID@,"result":{"resultType":"complete","content":[]}}', "result", {"field-newer"}),
    ("18 declared and unknown", '{"jsonrpc":"2.0","id":@ID@,"error":{"code":-32601,"message":"no"}}', "error", {"capability-not-honoured"}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("answer", "how", "expected"), [case[1:] for case in INSTEAD], ids=[case[0] for case in INSTEAD]
)
async def test_an_odd_answer_ends_its_call_and_is_found(answer: str, how: str, expected: set[str]) -> None:
    async with running(server("says")) as (connection, sink):
        await connection.ready()
        outcome = await connection.request("tools/call", arguments(answer + "\n", only=True))
        assert outcome.how == how
        assert rules(sink) == expected
        assert text_of(await call_tool(connection, "")) == "still here"


#: 17, 18, 19 and 5 as frames: they need a handshake or a listing of their own, and a live server adds nothing.
LIST = '> {"jsonrpc":"2.0","id":7,"method":"tools/list"}'
FIRST = (
    '> {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",'
    '"capabilities":{},"clientInfo":{"name":"c","version":"1"}}}'
)
HELLO = (
    '< {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":%s,"capabilities":{},"serverInfo":{"name":"s"}}}'
)
CALL = '> {"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"t","_meta":$META}}'
TOOL = '{"name":"%s","inputSchema":{"type":"object"}}'


def listed(*names: str) -> str:
    tools = ",".join(TOOL % name for name in names)
    return '< {"jsonrpc":"2.0","id":7,"result":{"tools":[' + tools + "]}}"


FRAMES: list[tuple[str, list[str], list[str]]] = [
    ("5 request before initialized", [FIRST, HELLO % '"2025-11-25"', '< {"jsonrpc":"2.0","id":1,"method":"roots/list"}'], ["server-request-early", "receiver-lacks-capability"]),
    ("16 spaces", ["@ 2025-11-25", LIST, listed("a b")], ["tool-name-odd"]),
    ("16 slashes", ["@ 2025-11-25", LIST, listed("a/b")], ["tool-name-odd"]),
    ("16 unicode", ["@ 2025-11-25", LIST, listed("größe")], ["tool-name-odd"]),
    ("16 too long", ["@ 2025-11-25", LIST, listed("a" * 129)], ["tool-name-odd"]),
    ("16 twice", ["@ 2025-11-25", LIST, listed("a", "a")], ["tool-name-twice"]),
    ("16 any name before 2025-11-25", ["@ 2025-06-18", LIST, listed("a b")], []),
    ("17 cursor null", ["@ 2025-11-25", LIST, '< {"jsonrpc":"2.0","id":7,"result":{"tools":[],"nextCursor":null}}'], ["cursor-null"]),
    ("17 an empty cursor is one", ["@ 2025-11-25", LIST, '< {"jsonrpc":"2.0","id":7,"result":{"tools":[],"nextCursor":""}}'], []),
    (
        "4 out of order",
        ["@ 2025-11-25", CALL.replace(',"_meta":$META', ""), LIST.replace("7", "8"), listed().replace("7", "8"), '< {"jsonrpc":"2.0","id":7,"result":{"content":[]}}'],
        [],
    ),
    (
        "17 cursor that leads back",
        [
            "@ 2025-11-25",
            LIST,
            '< {"jsonrpc":"2.0","id":7,"result":{"tools":[],"nextCursor":"a"}}',
            '> {"jsonrpc":"2.0","id":8,"method":"tools/list","params":{"cursor":"a"}}',
            '< {"jsonrpc":"2.0","id":8,"result":{"tools":[],"nextCursor":"a"}}',
        ],
        ["cursor-loop"],
    ),
    (
        "17 total below the values",
        [
            "@ 2025-11-25",
            '> {"jsonrpc":"2.0","id":7,"method":"completion/complete","params":{}}',
            '< {"jsonrpc":"2.0","id":7,"result":{"completion":{"values":["x","y"],"total":1}}}',
        ],
        ["completion-total"],
    ),
    (
        "17 progress after the answer",
        [
            "@ 2025-11-25",
            '> {"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"t","_meta":{"progressToken":7}}}',
            '< {"jsonrpc":"2.0","id":7,"result":{"content":[]}}',
            '< {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":1}}',
        ],
        ["progress-after-answer"],
    ),
    ("17 level of another library", ["@ 2025-11-25", LOG.replace("info", "trace").join(("< ", ""))], ["log-level-unknown"]),
    ("18 not declared and empty", ["@ 2025-11-25 none", LIST.replace("tools", "prompts"), '< {"jsonrpc":"2.0","id":7,"result":{"prompts":[]}}'], ["receiver-lacks-capability"]),
    ("18 not declared and asked for", ["@ 2025-11-25 none", LIST, listed()], ["receiver-lacks-capability"]),
    ("19 never released", [FIRST, HELLO % '"2024-10-07"'], ["version-unreleased"]),
    ("19 a draft", [FIRST, HELLO % '"DRAFT-2026-v1"'], ["version-unreleased"]),
    ("19 no date", [FIRST, HELLO % '"latest"'], ["version-unreleased"]),
    ("19 missing", [FIRST, HELLO.replace('"protocolVersion":%s,', "")], ["version-missing"]),
    ("19 a number", [FIRST, HELLO % "1"], ["version-missing"]),
    ("B25 another century", [FIRST, HELLO % '"1999-01-01"'], ["version-unreleased"]),
    ("B24 no completions", ["@ 2025-11-25 none", '> {"jsonrpc":"2.0","id":7,"method":"completion/complete","params":{}}'], ["receiver-lacks-capability"]),
    ("22 no resultType", ["@ 2026-07-28", CALL, '< {"jsonrpc":"2.0","id":7,"result":{"content":[]}}'], ["result-type-missing"]),
    (
        "22 no hints and no server",
        [
            '> {"jsonrpc":"2.0","id":7,"method":"server/discover","params":{"_meta":$META}}',
            '< {"jsonrpc":"2.0","id":7,"result":{"resultType":"complete","supportedVersions":[],"capabilities":{}}}',
        ],
        ["server-info-missing", "cache-hint-missing"],
    ),
    ("22 draft codes", ["@ 2026-07-28", CALL, '< {"jsonrpc":"2.0","id":7,"error":{"code":-32003,"message":"x"}}'], ["error-code-draft"]),
    (
        "22 progress from a client",
        ["@ 2026-07-28", CALL, '> {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}'],
        ["method-wrong-way"],
    ),
    ("22 25c task", ["@ 2026-07-28", CALL, '< {"jsonrpc":"2.0","id":7,"result":{"resultType":"complete","task":{"taskId":"t"}}}'], ["task-in-old-shape"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("lines", "expected"), [case[1:] for case in FRAMES], ids=[case[0] for case in FRAMES]
)
def test_odd_frames_are_found(lines: list[str], expected: list[str]) -> None:
    assert found(lines) == expected


def odd_result(status: int, body: str, **headers: str) -> Table:
    return {"tools/call": [reply(status, body, **headers), tells("next")]}


def note(status: int, body: str = "", **headers: str) -> Table:
    return {"notifications/roots/list_changed": reply(status, body, **headers)}


def heartbeat(asked: Asked) -> bytes:
    return EVENTS + event('{"type":"heartbeat"}') + event(message(asked, said("next")))


def other_session(asked: Asked) -> bytes:
    return as_json(asked, said("next"), Mcp_Session_Id="session-2")


NO_SESSION = '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Unsupported"}}'

RESULT = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "s", "version": "1"},
}


#: Over HTTP: item, what is answered, the rules it breaks. Each is followed by a call that is answered.
OVER_HTTP: list[tuple[str, Table, set[str]]] = [
    ("7 200 and nothing", note(200), {"notification-status"}),
    ("7 200 and null", note(200, "null", content_type="application/json"), {"notification-status"}),
    ("7 200 and {}", note(200, "{}", content_type="application/json"), {"notification-status"}),
    ("7 204", note(204), {"notification-status"}),
    ("7 text on a 202", note(202, "Accepted", content_type="text/plain"), {"accepted-with-body"}),
    ("7 a type on an empty 202", note(202, content_type="application/json"), set()),
    ("8 heartbeat", {"tools/call": heartbeat}, {"no-message"}),
    ("8 closed without an answer", {"tools/call": [EVENTS, tells("next")]}, {"stream-without-answer"}),
    ("8 wrong type", {"tools/call": [lambda asked: reply(200, message(asked, said("x")), content_type="text/plain"), tells("next")]}, {"answer-content-type"}),
    ("8 parameters of a type", {"tools/call": lambda asked: as_json(asked, said("next")).replace(b"/json", b"/json; charset=utf-8")}, set()),
    ("9 a page", odd_result(502, "<html>Bad Gateway</html>", content_type="text/html"), {"answer-is-a-page"}),
    ("10 GET 404", {"GET": reply(404)}, {"get-answered-oddly"}),
    ("10 GET 400", {"GET": reply(400)}, {"get-answered-oddly"}),
    ("10 GET JSON", {"GET": reply(200, "{}", content_type="application/json")}, {"get-answered-oddly"}),
    ("10 GET page", {"GET": reply(200, "<html>", content_type="text/html")}, {"get-answered-oddly"}),
    ("10 session refused with 400", odd_result(400, NO_SESSION, content_type="application/json"), {"session-refused-oddly"}),
    ("10 another session", {"tools/call": other_session}, {"session-changed"}),
    ("10 no session at all", {"initialize": lambda asked: as_json(asked, RESULT)}, set()),
]  # fmt: skip


async def settled(stage: Stage) -> None:
    """Wait until what was asked beside the calls has been answered."""
    await until(lambda: all(stream.status for stream in stage.sink.streams.values()))


@pytest.mark.parametrize(
    ("table", "expected"), [case[1:] for case in OVER_HTTP], ids=[case[0] for case in OVER_HTTP]
)
async def test_what_comes_over_http_is_found_and_the_next_call_is_answered(
    table: Table, expected: set[str]
) -> None:
    async with connected({"tools/call": tells("next"), **table}) as stage:
        stage.connection.notify("notifications/roots/list_changed")
        await call_tool(stage.connection, "x")
        assert await stage.says() == "next"
        await settled(stage)
        await until(lambda: rules(stage.sink) >= expected)
        assert rules(stage.sink) == expected
        assert stage.connection.state is State.READY
    assert recorded(stage.sink) == expected


#: The stateless era, live: what the server leaves out or does, the rules it breaks.
STATELESS: list[tuple[tuple[str, ...], set[str]]] = [
    ((), set()),
    (("no-type",), {"result-type-missing"}),
    (("no-hints",), {"cache-hint-missing"}),
    (("no-info",), {"server-info-missing"}),
    (("draft",), {"error-code-draft"}),
]


@pytest.mark.parametrize(("words", "expected"), STATELESS, ids=str)
async def test_a_stateless_server_that_leaves_something_out_is_used_and_it_is_found(
    words: tuple[str, ...], expected: set[str]
) -> None:
    async with running(server("stateless", *words, era="modern"), listing=True) as (connection, sink):
        await connection.ready()
        await connection.listings.settled()
        assert text_of(await call_tool(connection, "x")) == "x"
    assert rules(sink) == recorded(sink) == expected


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (lambda asked: message(asked, said("next")), {"answer-on-other-stream"}),
        (lambda _: LOG, {"message-on-two-streams", "sender-lacks-capability"}),
    ],
    ids=["11 answer", "11 notification"],
)
async def test_a_message_on_the_wrong_stream_is_found(data: Any, expected: set[str]) -> None:
    calls: list[Asked] = []
    asked_for, told = anyio.Event(), anyio.Event()

    async def listens(_: Asked, wire: Wire) -> None:
        await wire.write(EVENTS)
        await asked_for.wait()
        await wire.write(event(data(calls[0])))
        told.set()
        await wire.gone()

    async def answers(asked: Asked, wire: Wire) -> None:
        calls.append(asked)
        await wire.write(EVENTS + (event(LOG) if "message-on-two-streams" in expected else b""))
        asked_for.set()
        await told.wait()
        if "message-on-two-streams" in expected:
            await wire.write(event(message(asked, said("next"))))
        await wire.gone()

    async with connected({"GET": listens, "tools/call": answers}) as stage:
        await until(lambda: any(stream.status == 200 for stream in stage.streams("GET")))
        assert await stage.says() == "next"
        await until(lambda: rules(stage.sink) >= expected)
        assert rules(stage.sink) == expected
    assert recorded(stage.sink) == expected
