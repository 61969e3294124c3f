"""Headers that repeat a body: which there are, how values are written, and comparing them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.modern import META, REVISION
from tests.core.talk import Talk, every
from workbench.core.actions import Send
from workbench.core.jsonrpc import Message, decode
from workbench.core.routing import (
    MAX_NODES,
    annotated,
    encode,
    headers,
    mismatches,
)
from workbench.core.routing import decode as decoded

SCHEMA = {
    "type": "object",
    "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "n": {"type": "integer", "x-mcp-header": "N"},
        "deep": {"type": "object", "properties": {"on": {"type": "boolean", "x-mcp-header": "On"}}},
        "free": {"type": "string"},
    },
}


def message(method: str, params: Any = None, **more: Any) -> Message:
    body = (
        {"jsonrpc": "2.0", "id": 1, "method": method} | ({} if params is None else {"params": params}) | more
    )
    return decode(json.dumps(body).encode()).messages[0]


def call(arguments: str) -> Message:
    body = f'{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"t","arguments":{arguments}}}}}'
    return decode(body.encode()).messages[0]


# Values


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("plain", "plain"),
        ("with inner  spaces", "with inner  spaces"),
        ("", ""),
        (" edge", "=?base64?IGVkZ2U=?="),
        ("edge ", "=?base64?ZWRnZSA=?="),
        ("a\nb", "=?base64?YQpi?="),
        ("tab\t", "=?base64?dGFiCQ==?="),
        ("Zürich", "=?base64?WsO8cmljaA==?="),
        ("=?base64?YQ==?=", "=?base64?PT9iYXNlNjQ/WVE9PT89?="),
        ("=?other?=", "=?other?="),
    ],
)
def test_a_value_goes_as_it_is_where_a_header_can_hold_it(text: str, written: str) -> None:
    assert encode(text) == written
    assert decoded(written) == text


@given(st.text())
def test_every_value_comes_back(text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return
    written = encode(text)
    assert written.isascii()
    assert not set(written) & {"\r", "\n", "\0"}
    assert decoded(written) == text


@pytest.mark.parametrize("value", ["=?base64?***?=", "=?base64?YQ?=", "=?base64?/w==?=", "=?base64?YR==?="])
def test_a_value_that_only_claims_to_be_base64_is_none(value: str) -> None:
    assert decoded(value) is None


# Headers of a request


@pytest.mark.parametrize(
    ("method", "params", "name"),
    [
        ("tools/call", {"name": "t"}, "t"),
        ("prompts/get", {"name": "p"}, "p"),
        ("resources/read", {"uri": "a:/ü"}, "=?base64?YTovw7w=?="),
        ("tasks/get", {"taskId": "k"}, "k"),
        ("tasks/update", {"taskId": "k"}, "k"),
        ("tasks/cancel", {"taskId": "k"}, "k"),
        ("tools/list", {"name": "no"}, None),
        ("completion/complete", {"name": "no"}, None),
        ("tools/call", {"name": 7}, None),
        ("tools/call", None, None),
    ],
)
def test_the_method_and_what_it_is_about_are_repeated(method: str, params: Any, name: str | None) -> None:
    expected = [("MCP-Protocol-Version", REVISION), ("Mcp-Method", method)]
    expected += [] if name is None else [("Mcp-Name", name)]
    assert headers(message(method, params), REVISION) == tuple(expected)


def test_the_version_is_the_bodys_own_where_it_names_one() -> None:
    own = message("tools/list", {"_meta": {META + "protocolVersion": "1999-01-01"}})
    assert dict(headers(own, REVISION))["MCP-Protocol-Version"] == "1999-01-01"
    assert "MCP-Protocol-Version" not in dict(headers(message("initialize", {})))


def test_a_notification_names_the_version_alone() -> None:
    told = decode(b'{"jsonrpc":"2.0","method":"notifications/x"}').messages[0]
    assert headers(told, REVISION) == (("MCP-Protocol-Version", REVISION),)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ('{"region":"eu","n":5,"deep":{"on":true},"free":"x"}', {"Region": "eu", "N": "5", "On": "true"}),
        ('{"region":" eu","n":-3}', {"Region": "=?base64?IGV1?=", "N": "-3"}),
        ('{"region":null,"deep":{"on":false}}', {"On": "false"}),
        ('{"n":5.0}', {"N": "5"}),
        ('{"n":5.5,"region":[1],"deep":7}', {}),
        ('{"n":9007199254740993}', {"N": "9007199254740993"}),
        ("[]", {}),
    ],
)
def test_annotated_arguments_are_repeated(arguments: str, expected: dict[str, str]) -> None:
    found = dict(headers(call(arguments), REVISION, SCHEMA))
    assert {
        k.removeprefix("Mcp-Param-"): v for k, v in found.items() if k.startswith("Mcp-Param-")
    } == expected


# Annotations


@pytest.mark.parametrize(
    ("property_", "fault"),
    [
        ({"type": "string", "x-mcp-header": ""}, "no header name"),
        ({"type": "string", "x-mcp-header": "a b"}, "no header name"),
        ({"type": "string", "x-mcp-header": "ä"}, "no header name"),
        ({"type": "string", "x-mcp-header": 7}, "no header name"),
        ({"type": "number", "x-mcp-header": "X"}, "not on a string, an integer or a boolean"),
        ({"x-mcp-header": "X"}, "not on a string, an integer or a boolean"),
        ({"type": ["string"], "x-mcp-header": "X"}, "not on a string, an integer or a boolean"),
        ({"type": "array", "items": {"type": "string", "x-mcp-header": "X"}}, "properties alone"),
        ({"oneOf": [{"type": "string", "x-mcp-header": "X"}]}, "properties alone"),
        ({"not": {"type": "string", "x-mcp-header": "X"}}, "properties alone"),
        ({"additionalProperties": {"type": "string", "x-mcp-header": "X"}}, "properties alone"),
    ],
)
def test_an_annotation_where_none_may_be_is_told_and_gives_no_header(property_: Any, fault: str) -> None:
    schema = {"type": "object", "properties": {"p": property_}}
    found = annotated(schema)
    assert [each for each in found.faults if fault in each]
    assert not found.paths
    assert headers(call('{"p":"v"}'), None, schema) == headers(call('{"p":"v"}'))


def test_an_annotation_is_unique_whatever_its_case() -> None:
    names = ("Region", "REGION")
    schema = {"properties": {name: {"type": "string", "x-mcp-header": name} for name in names}}
    assert "used twice" in annotated(schema).faults[0]


def test_an_annotation_among_the_definitions_counts_for_nothing() -> None:
    schema = {
        "$defs": {"d": {"type": "string", "x-mcp-header": "X"}},
        "properties": {"p": {"$ref": "#/$defs/d"}},
    }
    assert "properties alone" in annotated(schema).faults[0]


@pytest.mark.parametrize("schema", [None, True, [], {}, {"properties": 7}, {"properties": {"a": None}}])
def test_any_schema_can_be_asked(schema: Any) -> None:
    assert annotated(schema) == ({}, ())


def test_a_schema_without_end_is_left_at_a_bound() -> None:
    deep: Any = {"type": "string", "x-mcp-header": "X"}
    for _ in range(MAX_NODES * 2):
        deep = {"properties": {"p": deep}}
    assert annotated(deep) == ({}, ())
    wide = {"properties": {str(n): {"type": "string"} for n in range(MAX_NODES * 2)}}
    assert annotated(wide).faults == ()


# Comparing


def test_headers_that_are_written_for_a_body_agree_with_it() -> None:
    params = {
        "name": "t",
        "arguments": {"region": " ü", "n": 3},
        "_meta": {META + "protocolVersion": REVISION},
    }
    asked = message("tools/call", params)
    assert mismatches(headers(asked, REVISION, SCHEMA), asked, SCHEMA) == []


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"Mcp-Method": "tools/list"}, "Mcp-Method says"),
        ({"mcp-method": "TOOLS/CALL"}, "Mcp-Method says"),
        ({"Mcp-Name": None}, "Mcp-Name is missing"),
        ({"Mcp-Name": "=?base64?*?="}, "no valid base64"),
        ({"MCP-Protocol-Version": "2025-11-25"}, "MCP-Protocol-Version says"),
        ({"Mcp-Param-Region": "us"}, "Mcp-Param-Region says"),
        ({"Mcp-Param-On": "true"}, "repeats nothing"),
        ({"Mcp-Param-N": "04"}, None),
        ({"Mcp-Param-N": "4.0"}, None),
        ({"Mcp-Param-N": "5"}, "Mcp-Param-N says"),
    ],
)
def test_a_header_that_says_something_else_is_told(change: dict[str, str | None], fault: str | None) -> None:
    params = {
        "name": "t",
        "arguments": {"region": "eu", "n": 4},
        "_meta": {META + "protocolVersion": REVISION},
    }
    asked = message("tools/call", params)
    sent = {name.lower(): value for name, value in headers(asked, REVISION, SCHEMA)}
    sent |= {name.lower(): value for name, value in change.items()}  # type: ignore[misc]
    found = mismatches([(name, value) for name, value in sent.items() if value is not None], asked, SCHEMA)
    assert [bool(fault and fault in each) for each in found] == ([] if fault is None else [True])


def test_a_header_that_is_there_twice_is_told() -> None:
    asked = message("tools/list", {"_meta": {META + "protocolVersion": REVISION}})
    both = [*headers(asked, REVISION), ("mcp-METHOD", "tools/list")]
    assert mismatches(both, asked) == ["the header Mcp-Method is there 2 times"]


# The handshake era


@pytest.mark.parametrize(
    ("version", "named"),
    [("2024-11-05", False), ("2025-03-26", False), ("2025-06-18", True), ("2025-11-25", True)],
)
def test_the_agreed_revision_is_named_on_everything_after_the_handshake(version: str, named: bool) -> None:
    talk = Talk()
    assert all(not each.headers for each in every(Send, talk.start()))
    actions = talk.reply(1, {"protocolVersion": version, "capabilities": {}})
    id, sends = talk.conversation.request("tools/call", "{}", 0.0)
    actions += [*sends, *talk.conversation.cancel(id, None, 0.0), *talk.ask(9, "ping")]
    actions += [*talk.conversation.notify("notifications/x"), *talk.conversation.send_raw(b"{}")]
    expected = ((("MCP-Protocol-Version", version),),) if named else ((),)
    assert {each.headers for each in every(Send, actions)} == set(expected)
    assert len(every(Send, actions)) == 6
