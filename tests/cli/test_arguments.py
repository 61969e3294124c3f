"""k=v and k:=json become exactly the JSON that the tool's schema asks for."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.cli.arguments import arguments_text, object_text, strings_text
from workbench.errors import UsageError

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "zip": {"type": "string"},
        "id": {"type": "integer"},
        "ratio": {"type": "number"},
        "sure": {"type": "boolean"},
        "count": {"type": ["integer", "null"]},
        "note": {"type": ["string", "null"]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "ids": {"type": "array", "items": {"type": "integer"}},
        "address": {"type": "object"},
        "level": {"enum": [1, 2, 3]},
        "colour": {"enum": ["red", "green"]},
        "maybe": {"anyOf": [{"type": "number"}, {"type": "null"}]},
        "linked": {"$ref": "#/$defs/Count"},
        "lost": {"$ref": "#/$defs/none"},
        "remote": {"$ref": "https://example.com/schema.json"},
        "loop": {"$ref": "#/properties/loop"},
        "free": {},
    },
    "allOf": [{"properties": {"owner": {"type": "boolean"}}}],
    "$defs": {"Count": {"type": "integer"}},
}


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ([], "{}"),
        (["zip=01234"], '{"zip":"01234"}'),
        (["zip=true"], '{"zip":"true"}'),
        (["zip=null"], '{"zip":"null"}'),
        (["zip=1e5"], '{"zip":"1e5"}'),
        (["zip="], '{"zip":""}'),
        (["zip=a=b"], '{"zip":"a=b"}'),
        (["zip=ü\x1b\n"], '{"zip":"ü\\u001b\\n"}'),
        (["id=9007199254740993"], '{"id":9007199254740993}'),
        (["id=1.0"], '{"id":1.0}'),
        (["ratio=1.0"], '{"ratio":1.0}'),
        (["ratio=1e400"], '{"ratio":1e400}'),
        (["ratio=-0"], '{"ratio":-0}'),
        (["sure=false"], '{"sure":false}'),
        (["count=null"], '{"count":null}'),
        (["count=5"], '{"count":5}'),
        (["note=null"], '{"note":"null"}'),
        (["note:=null"], '{"note":null}'),
        (["tags=a"], '{"tags":["a"]}'),
        (["tags=a", "tags=1"], '{"tags":["a","1"]}'),
        (['tags=["a"]'], '{"tags":["a"]}'),
        (["ids=1", "zip=x", "ids=2"], '{"ids":[1,2],"zip":"x"}'),
        (["ids:=[]"], '{"ids":[]}'),
        (['address={"street": "x"}'], '{"address":{"street": "x"}}'),
        (["level=2"], '{"level":2}'),
        (["colour=red"], '{"colour":"red"}'),
        (["maybe=null"], '{"maybe":null}'),
        (["maybe=0.10"], '{"maybe":0.10}'),
        (["linked=7"], '{"linked":7}'),
        (["owner=true"], '{"owner":true}'),
        (["lost=1"], '{"lost":"1"}'),
        (["remote=1"], '{"remote":"1"}'),
        (["loop=1"], '{"loop":"1"}'),
        (["free=1"], '{"free":"1"}'),
        (["unknown=1"], '{"unknown":"1"}'),
        (['any:={"a":1.0,"a":2}'], '{"any":{"a":1.0,"a":2}}'),
    ],
)
def test_a_value_is_sent_as_the_schema_says(words: list[str], text: str) -> None:
    assert arguments_text(words, SCHEMA) == text


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["word"], "NAME=TEXT"),
        (["=x"], "NAME=TEXT"),
        ([":=1"], "NAME=TEXT"),
        (["id=five"], "integer"),
        (["id=0x10"], "integer"),
        (["id=01"], "integer"),
        (["sure=yes"], "boolean"),
        (["ids=a"], "integer"),
        (["address=x"], "object"),
        (["zip=a", "zip=b"], "twice|2 times"),
        (["zip=a", "zip:=1"], "twice"),
        (["zip:=1", "zip=a"], "twice"),
        (["zip:={"], "needs JSON"),
    ],
)
def test_a_value_that_cannot_be_meant_is_a_usage_error(words: list[str], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        arguments_text(words, SCHEMA)


def test_without_a_schema_everything_is_text() -> None:
    assert arguments_text(["a=1", "b:=1"], None) == '{"a":"1","b":1}'


def test_the_arguments_of_a_prompt_are_text() -> None:
    assert strings_text(["a=1", 'b:="x"']) == '{"a":"1","b":"x"}'
    with pytest.raises(UsageError, match="takes text"):
        strings_text(["a:=1"])


def test_params_must_be_an_object_and_are_sent_as_they_stand() -> None:
    assert object_text('{"a" : 1.0, "a":2}', "PARAMS") == '{"a" : 1.0, "a":2}'
    for wrong in ("[]", "{", "x", ""):
        with pytest.raises(UsageError):
            object_text(wrong, "PARAMS")


@given(
    st.dictionaries(st.text(min_size=1).filter(lambda name: "=" not in name and name[-1] != ":"), st.text())
)
def test_any_text_arrives_as_that_text(values: dict[str, str]) -> None:
    words = [f"{name}={value}" for name, value in values.items()]
    assert json.loads(arguments_text(words, None)) == values
