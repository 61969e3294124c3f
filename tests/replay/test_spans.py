"""Members are found in bytes, however the text is written, and nothing around them is touched."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.replay.identity import put
from workbench.replay.spans import items, member, members

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=10,
)
styles = st.sampled_from([(",", ":"), (", ", ": "), (" ,\t", " :\n")])


def piece(body: bytes, span: tuple[int, int]) -> Any:
    return json.loads(body[span[0] : span[1]])


@given(st.dictionaries(st.text(max_size=4), values, max_size=5), styles, st.booleans())
def test_every_member_of_an_object_is_found(
    value: dict[str, Any], style: tuple[str, str], ascii_only: bool
) -> None:
    body = json.dumps(value, separators=style, ensure_ascii=ascii_only).encode()
    found = members(body)
    assert {key: piece(body, span) for key, span in found.items()} == value


@given(st.lists(values, max_size=5), styles)
def test_every_item_of_an_array_is_found(value: list[Any], style: tuple[str, str]) -> None:
    body = json.dumps(value, separators=style).encode()
    assert [piece(body, span) for span in items(body)] == value


@given(values, st.integers() | st.text(max_size=4))
def test_only_the_id_of_an_answer_changes(value: Any, live: Any) -> None:
    body = json.dumps({"result": {"id": value, "x": [{"id": 1}]}, "id": 7}).encode()
    assert put(body, ("id",), json.dumps(live)) == body[:-2] + json.dumps(live).encode() + b"}"


def test_the_last_of_equal_keys_counts_as_for_every_parser() -> None:
    body = b'{"id":1,"id":2,"result":{}}'
    assert put(body, ("id",), '"x"') == b'{"id":1,"id":"x","result":{}}'


def test_an_escaped_key_is_the_same_key() -> None:
    assert put(b'{"\\u0069d":1}', ("id",), "5") == b'{"\\u0069d":5}'


@pytest.mark.parametrize("body", [b"", b"42", b"[1]", b"{", b'{"a"', b"null", b'"id":1', b"\xff\xfe"])
def test_what_is_no_object_has_no_members(body: bytes) -> None:
    assert member(body, "id") is None
    assert put(body, ("id",), "5") == body


def test_nesting_deeper_than_any_parser_reads_is_walked_over() -> None:
    deep = b"[" * 100_000 + b"]" * 100_000
    body = b'{"id":1,"result":' + deep + b',"jsonrpc":"2.0"}'
    assert put(body, ("id",), "2") == body.replace(b'"id":1', b'"id":2')
