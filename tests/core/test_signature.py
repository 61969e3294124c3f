"""Schemas in one line, bounded, whatever a server calls a schema."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.jsonrpc import loads
from workbench.core.signature import MAX_SIGNATURE, prompt_signature, signature


def of(text: str) -> str:
    return signature(loads(text))


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ("{}", "()"),
        ('{"type":"object"}', "()"),
        ("null", "()"),
        ("true", "any"),
        (
            '{"properties":{"query":{"type":"string"},"limit":{"type":"integer","default":10}},"required":["query"]}',
            "query: string, limit?: integer = 10",
        ),
        ('{"properties":{"u":{"enum":["metric","imperial","kelvin"]}}}', "u?: metric|imperial|kelvin"),
        ('{"properties":{"u":{"enum":["a","b","c","d","e"]}}}', "u?: a|b|c|d|…"),
        ('{"properties":{"u":{"enum":[1,2.50,null,"",true]}}}', 'u?: 1|2.50|null|""|…'),
        ('{"properties":{"n":{"type":["integer","null"],"default":null}}}', "n?: integer|null = null"),
        ('{"properties":{"n":{"anyOf":[{"type":"string"},{"type":"null"}]}}}', "n?: string|null"),
        ('{"properties":{"k":{"const":"mail"}}}', "k?: mail"),
        ('{"properties":{"f":{"type":"array","items":{"properties":{"a":{},"b":{}}}}}}', "f?: {a, b}[]"),
        ('{"properties":{"f":{"items":{"enum":["r","g"]}}}}', "f?: (r|g)[]"),
        ('{"properties":{"f":{"type":"array"}}}', "f?: any[]"),
        ('{"properties":{"f":{"type":"object"}}}', "f?: object"),
        (
            '{"properties":{"d":{"$ref":"#/$defs/D"}},"$defs":{"D":{"type":"number","default":1.0}}}',
            "d?: number",
        ),
        ('{"properties":{"d":{"type":"number","default":1.0}}}', "d?: number = 1.0"),
        ('{"properties":{"d":{"default":{"a":1}}}}', "d?: any = {…}"),
        ('{"properties":{"d":{"default":[]}}}', "d?: any = []"),
        ('{"properties":{"d":{"type":"string","default":"x"}}}', 'd?: string = "x"'),
        (
            '{"allOf":[{"properties":{"owner":{"type":"string"}},"required":["owner"]},{"properties":{"size":{}}}]}',
            "owner: string, size?: any",
        ),
        ('{"oneOf":[{"properties":{}},{"properties":{}}]}', "one of 2 forms"),
    ],
)
def test_a_schema_is_told_in_one_line(schema: str, text: str) -> None:
    assert of(schema) == text


@pytest.mark.parametrize(
    "schema",
    [
        '{"properties":{"a":{"$ref":"#"}}}',
        '{"properties":{"a":{"$ref":"#/properties/a"}}}',
        '{"properties":{"a":{"$ref":"#/$defs/missing"}}}',
        '{"properties":{"a":{"$ref":"https://example.invalid/schema"}}}',
        '{"properties":{"a":{"$ref":7}}}',
        '{"properties":{"a":{"anyOf":[{"$ref":"#/properties/a"}]}}}',
        '{"properties":{"a":{"items":{"$ref":"#/properties/a"}}}}',
        '{"properties":[]}',
        '{"required":{"a":1},"properties":{"a":7}}',
        '{"properties":{"a":{"enum":{},"type":{},"anyOf":7,"properties":7,"items":7}}}',
        '{"properties":{"a":{"default":' + "9" * 5_000 + "}}}",
        '{"allOf":7,"oneOf":7}',
    ],
)
def test_a_hostile_schema_gives_a_line(schema: str) -> None:
    assert of(schema)


def test_a_long_signature_is_cut() -> None:
    schema = {"properties": {f"argument_{number}": {"type": "string"} for number in range(100_000)}}
    assert len(signature(schema)) == MAX_SIGNATURE
    assert signature(schema).endswith("…")


def test_a_long_name_or_value_does_not_fill_the_line() -> None:
    schema = {"properties": {"a" * 10_000: {"enum": ["v" * 10_000]}}}
    assert len(signature(schema)) <= 2 * 40 + 3


hostile = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just("#"),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "type",
                    "properties",
                    "required",
                    "enum",
                    "items",
                    "anyOf",
                    "oneOf",
                    "allOf",
                    "$ref",
                    "default",
                    "x",
                ]
            ),
            inner,
            max_size=5,
        )
    ),
)


@given(hostile)
def test_no_schema_raises(schema: Any) -> None:
    assert len(signature(schema)) <= MAX_SIGNATURE
    assert len(prompt_signature(schema)) <= MAX_SIGNATURE


def test_the_arguments_of_a_prompt_are_named() -> None:
    assert (
        prompt_signature([{"name": "topic", "required": True}, {"name": "style"}, 7, {}]) == "topic, style?"
    )
    assert prompt_signature(None) == "()"
