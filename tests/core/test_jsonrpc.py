"""What a body means: classified by the presence of keys, without ever raising."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.examples import many
from workbench.core import jsonrpc
from workbench.core.frame import Kind
from workbench.core.jsonrpc import DEFECTS, INLINE_BYTES, Number, decode, dumps, id_text, loads

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
)
KEYS = ("jsonrpc", "id", "method", "params", "result", "error", "x")
envelopes = st.dictionaries(st.sampled_from(KEYS), values | st.sampled_from(["2.0", "ping", 1]), max_size=6)
bodies = (
    st.binary(max_size=200)
    | (envelopes | st.lists(envelopes, max_size=3)).map(lambda value: json.dumps(value).encode())
    | st.lists(st.sampled_from([b"{", b"}", b"[", b"]", b'"id"', b":", b"1", b",", b"null", b"\xff"])).map(
        b"".join
    )
)


@given(bodies)
@example(b"\xef\xbb\xbf{}")
@example(b"[" * 100_000)
@example(b'{"id":' + b"9" * 5_000 + b"}")
def test_no_body_raises_and_every_defect_has_a_text(body: bytes) -> None:
    decoded = decode(body)
    assert set(decoded.defects) <= set(DEFECTS)
    for message in decoded.messages:
        assert set(message.defects) <= set(DEFECTS)


@given(envelopes)
@settings(max_examples=many(50))
def test_a_large_body_is_classified_like_a_small_one(envelope: dict[str, Any]) -> None:
    padded = {**envelope, "pad": "x" * INLINE_BYTES}
    small, large = decode(json.dumps(envelope).encode()), decode(json.dumps(padded).encode())
    assert large.kind is small.kind
    assert [message.id for message in large.messages] == [message.id for message in small.messages]
    assert [message.method for message in large.messages] == [message.method for message in small.messages]


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ('{"jsonrpc":"2.0","id":1,"method":"ping"}', Kind.REQUEST),
        ('{"jsonrpc":"2.0","id":null,"method":"ping"}', Kind.REQUEST),
        ('{"jsonrpc":"2.0","method":"x"}', Kind.NOTIFICATION),
        ('{"jsonrpc":"2.0","id":0,"result":{}}', Kind.RESULT),
        ('{"jsonrpc":"2.0","id":"","result":null}', Kind.RESULT),
        ('{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}', Kind.ERROR),
        ('{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"x"}}', Kind.ERROR),
        ('{"jsonrpc":"2.0","id":3}', Kind.INVALID),
        ('[{"jsonrpc":"2.0","id":1,"method":"ping"}]', Kind.BATCH),
        ("[]", Kind.INVALID),
        ("42", Kind.INVALID),
        ("{half", Kind.INVALID),
        ("", Kind.INVALID),
        ('{"level":"info","msg":"x"}', Kind.INVALID),
        ("Server v1 up on stdin", Kind.INVALID),
    ],
)
def test_presence_of_keys_decides_the_kind(body: str, kind: Kind) -> None:
    assert decode(body.encode()).kind is kind


@pytest.mark.parametrize(
    ("body", "defect"),
    [
        ('{"jsonrpc":"2.0","id":null,"method":"x"}', "id-null"),
        ('{"jsonrpc":"2.0","id":1.5,"method":"x"}', "id-type"),
        ('{"jsonrpc":"2.0","id":true,"method":"x"}', "id-type"),
        ('{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"x"}}', "result-and-error"),
        ('{"jsonrpc":"2.0","id":1,"result":[]}', "result-type"),
        ('{"jsonrpc":"2.0","id":1,"error":"no"}', "error-shape"),
        ('{"jsonrpc":"2.0","id":1,"error":{"code":"1","message":"x"}}', "error-shape"),
        ('{"jsonrpc":"2.0","error":{"code":1,"message":"x"}}', "no-id"),
        ('{"id":1,"method":"x"}', "no-jsonrpc"),
        ('{"jsonrpc":"2.0","id":1,"method":7}', "method-type"),
        ('{"jsonrpc":"2.0","id":1,"method":"x","params":[]}', "params-type"),
        ('{"jsonrpc":"2.0","id":1,"result":{"n":NaN}}', "non-finite"),
        ("[]", "empty-batch"),
        ("\ufeff{}", "bom"),
        ('{"jsonrpc":"2.0","method":"a"} {"jsonrpc":"2.0","method":"b"}', "several"),
        ("[" * 100_000, "too-deep"),
    ],
)
def test_a_defect_is_named(body: str, defect: str) -> None:
    assert defect in decode(body.encode()).defects


def test_the_word_nan_in_a_string_is_no_defect() -> None:
    assert decode(b'{"jsonrpc":"2.0","method":"NaN Infinity"}').defects == ()


def test_invalid_utf8_is_a_defect_and_the_message_is_still_read() -> None:
    decoded = decode(b'{"jsonrpc":"2.0","id":1,"result":{"a":"\xc3\x28"}}')
    assert decoded.kind is Kind.RESULT
    assert "invalid-utf8" in decoded.defects


def test_several_objects_in_a_line_are_listed_one_by_one() -> None:
    decoded = decode(b'{"jsonrpc":"2.0","id":1,"result":{}}{"jsonrpc":"2.0","method":"x"}')
    assert [message.kind for message in decoded.messages] == [Kind.RESULT, Kind.NOTIFICATION]


def test_an_odd_element_of_a_batch_does_not_hide_the_others() -> None:
    decoded = decode(b'[1,{"jsonrpc":"2.0","id":1,"method":"ping"}]')
    assert [message.kind for message in decoded.messages] == [Kind.INVALID, Kind.REQUEST]


def test_ids_of_different_type_or_spelling_differ() -> None:
    texts = [decode(f'{{"id":{text},"result":{{}}}}'.encode()).messages[0].id for text in ("1", '"1"', "1.0")]
    assert texts == ["1", '"1"', "1.0"]


def test_the_escaping_of_a_string_id_does_not_matter() -> None:
    one, other = decode('{"id":"é","result":{}}'.encode()), decode(b'{"id":"\\u00e9","result":{}}')
    assert one.messages[0].id == other.messages[0].id


def test_integers_of_any_length_are_read() -> None:
    digits = "9" * 5_000
    decoded = decode(f'{{"jsonrpc":"2.0","id":1,"result":{{"n":{digits},"m":7}}}}'.encode())
    assert decoded.defects == ()
    assert dumps(decoded.messages[0].value("result")) == f'{{"n":{digits},"m":7}}'


@pytest.mark.parametrize("depth", [*range(960, 1010), *range(1_990, 2_010), 50_000])
def test_no_depth_of_an_id_raises(depth: int) -> None:
    nested = b"[" * depth + b"]" * depth
    for pad in (b"", b'"x":"' + b"y" * INLINE_BYTES + b'",'):
        assert decode(b"{" + pad + b'"id":' + nested + b',"method":"m"}').kind in (Kind.REQUEST, Kind.INVALID)


def test_a_small_message_comes_with_its_text_and_those_of_a_batch_do_not() -> None:
    body = '{"jsonrpc":"2.0", "id":1, "result":{"a":1,"a":"é"}}'
    assert decode(body.encode()).messages[0].text == body
    assert decode(f"[{body}]".encode()).messages[0].text == ""


def test_a_large_body_is_not_parsed_until_its_value_is_asked_for() -> None:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"text": "x" * INLINE_BYTES}}).encode()
    message = decode(body).messages[0]
    assert "result" not in message.members
    assert message.raw["result"] == body[len('{"jsonrpc": "2.0", "id": 1, "result": ') : -1]
    assert message.value("result") == {"text": "x" * INLINE_BYTES}


def test_numbers_keep_how_they_were_written() -> None:
    text = '{"a":1.0,"b":1e400,"c":-0.0,"d":9007199254740993,"e":[1.50,-0],"f":-0}'
    assert dumps(loads(text)) == text
    assert dumps(loads("-0")) == "-0"
    assert loads('["-0,",-0, 1]') == ["-0,", 0, 1]
    assert loads("1e400") == math.inf


@given(values.filter(lambda value: "NaN" not in repr(value)))
def test_what_is_written_reads_back_the_same(value: Any) -> None:
    text = dumps(value)
    assert dumps(loads(text)) == text
    text.encode("utf-8")


def test_a_lone_surrogate_is_written_as_its_escape() -> None:
    assert dumps(loads(b'"\\ud83d"')) == '"\\ud83d"'
    assert (
        jsonrpc.request("1", "m", '{"a":"\ud83d"}')
        == b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"\\ud83d"}}'
    )


def test_stray_bytes_in_params_go_out_as_they_came() -> None:
    params = b'{"a":"\xc3\x28"}'.decode("utf-8", "surrogateescape")
    assert jsonrpc.notification("m", params).endswith(b'"params":{"a":"\xc3\x28"}}')


@given(values)
def test_an_id_text_is_ascii_json(value: Any) -> None:
    assert id_text(value).isascii()


def test_written_messages_are_what_they_say() -> None:
    assert decode(jsonrpc.request("1", "ping")).kind is Kind.REQUEST
    assert decode(jsonrpc.notification("x", "{}")).kind is Kind.NOTIFICATION
    assert decode(jsonrpc.result('"a"', "{}")).kind is Kind.RESULT
    assert decode(jsonrpc.error("1", -32601, "no", '{"a":1}')).defects == ()
    assert decode(jsonrpc.error(None, -32700, "no")).messages[0].id == "null"


def test_a_number_is_a_float_with_a_text() -> None:
    number = loads("2.50")
    assert isinstance(number, Number)
    assert number + 1 == 3.5
    assert number.text == "2.50"
