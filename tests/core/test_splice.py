"""A progress token goes into params without touching anything else of them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.jsonrpc import INLINE_BYTES
from workbench.core.splice import Spliced, with_progress_token

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
)


def test_without_params_there_is_only_the_token() -> None:
    assert with_progress_token(None, "7") == Spliced('{"_meta":{"progressToken":7}}', "7")


@pytest.mark.parametrize(
    ("params", "spliced"),
    [
        ("{}", '{"_meta":{"progressToken":7}}'),
        (" { } ", ' {"_meta":{"progressToken":7} } '),
        ('{"a":1.0, "b" : 1e400}\n', '{"a":1.0, "b" : 1e400,"_meta":{"progressToken":7}}\n'),
        ('{"_meta":{}}', '{"_meta":{"progressToken":7}}'),
        ('{"_meta": {"x":1 } ,"a":2}', '{"_meta": {"x":1,"progressToken":7 } ,"a":2}'),
        ('{"a":{"_meta":{}}}', '{"a":{"_meta":{}},"_meta":{"progressToken":7}}'),
        ('{"a":"\\"_meta\\":{}"}', '{"a":"\\"_meta\\":{}","_meta":{"progressToken":7}}'),
    ],
)
def test_the_token_is_put_in_and_all_else_stays(params: str, spliced: str) -> None:
    assert with_progress_token(params, "7") == Spliced(spliced, "7")


@pytest.mark.parametrize(
    ("params", "token"),
    [('{"_meta":{"progressToken":"mine"}}', '"mine"'), ('{"_meta":{"progressToken": 1.0}}', "1.0")],
)
def test_a_token_of_the_users_stays_and_is_told(params: str, token: str) -> None:
    assert with_progress_token(params, "7") == Spliced(params, token)


@pytest.mark.parametrize(
    "params",
    [
        "",
        " ",
        "[]",
        "7",
        "null",
        '"x"',
        "{half",
        '{"a":1,}',
        '{"a":1}}',
        '{"a" 1}',
        "{1:2}",
        '{"_meta":null}',
        "{,}",
        '{"_meta":[]}',
        "[" * 100000,
        '{"a":' * 100000,
        '{"a":1} x',
        '{"a":1 "b":2}',
        "{",
    ],
)
def test_what_is_no_object_goes_out_untouched(params: str) -> None:
    assert with_progress_token(params, "7") == Spliced(params, None)


@given(
    st.dictionaries(st.text(max_size=6) | st.just("_meta"), values, max_size=4), st.sampled_from([None, 1])
)
def test_only_the_token_is_added(params: dict[str, Any], indent: int | None) -> None:
    text = json.dumps(params, indent=indent)
    spliced, token = with_progress_token(text, "7")
    assert spliced is not None
    after = json.loads(spliced)
    if token == "7" and "progressToken" not in (params.get("_meta") or {}):
        assert after.pop("_meta") == {**params.pop("_meta", {}), "progressToken": 7}
    assert after == params


@given(st.text(alphabet='{}[]":, \\_meta17nul\n', max_size=40))
def test_no_text_raises(text: str) -> None:
    spliced, token = with_progress_token(text, "7")
    assert (spliced == text) or token is not None


def test_large_params_are_spliced_too() -> None:
    text = '{"a":"' + "x" * INLINE_BYTES + '"}'
    assert with_progress_token(text, "7").text == text[:-1] + ',"_meta":{"progressToken":7}}'
    assert with_progress_token(text[:-1], "7") == Spliced(text[:-1], None)
    own = text[:-1] + ',"_meta":{"k":1}}'
    assert with_progress_token(own, "7").text == own[:-2] + ',"progressToken":7}}'
