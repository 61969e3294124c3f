"""What a server may ask by a form, and what is an answer to it: every kind of 2025-06-18 and 2025-11-25."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.elicitation import choices_of, content_faults, defaults, form_asked, result_faults
from workbench.core.formats import format_doubt

COLOURS = [{"const": "r", "title": "Red"}, {"const": "g", "title": "Green"}]


def asked(required: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return {"message": "?", "requestedSchema": schema}


#: A member's schema, contents that fit it, and contents that do not.
KINDS: list[tuple[dict[str, Any], list[str], list[str]]] = [
    ({"type": "string"}, ['"x"', '""'], ["1", "null", "[]", "true"]),
    ({"type": "string", "minLength": 2, "maxLength": 3}, ['"ab"', '"abc"'], ['"a"', '"abcd"']),
    ({"type": "string", "format": "email"}, ['"a@b.c"'], ['"a"', '"a@"', '"a b@c"']),
    ({"type": "string", "format": "uri"}, ['"https://x.org/"', '"urn:a:b"'], ['"x.org"', '"a b:c d"']),
    ({"type": "string", "format": "date"}, ['"2026-02-28"'], ['"2026-02-30"', '"28.2.2026"', '"2026-2-1"']),
    (
        {"type": "string", "format": "date-time"},
        ['"2026-02-28T10:00:00Z"', '"2026-02-28t10:00:00.5+01:00"'],
        ['"2026-02-28"', '"2026-02-28T10:00:00"', '"2026-02-28T25:00:00Z"'],
    ),
    ({"type": "integer", "minimum": 1, "maximum": 3}, ["1", "3", "2.0"], ["0", "4", "1.5", '"2"']),
    ({"type": "integer"}, ["9007199254740993"], ["1e-1"]),
    ({"type": "number", "minimum": 0}, ["0", "1.5", "1e3"], ["-1", '"1"', "true"]),
    ({"type": "boolean"}, ["true", "false"], ["0", '"true"', "null"]),
    ({"type": "string", "enum": ["a", "b"]}, ['"a"'], ['"c"', "1"]),
    ({"type": "string", "enum": ["a", "b"], "enumNames": ["A!", "B!"]}, ['"b"'], ['"B!"']),
    ({"type": "string", "oneOf": COLOURS}, ['"r"'], ['"Red"', '"x"']),
    (
        {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "minItems": 1, "maxItems": 2},
        ['["a"]', '["a", "b"]'],
        ["[]", '["a","b","a"]', '["c"]', '"a"', "null"],
    ),
    ({"type": "array", "items": {"anyOf": COLOURS}}, ["[]", '["r"]'], ['["Red"]', '[{"const":"r"}]']),
]


@pytest.mark.parametrize(("schema", "good", "bad"), KINDS)
def test_each_kind_of_a_form_takes_what_fits_and_tells_what_does_not(
    schema: dict[str, Any], good: list[str], bad: list[str]
) -> None:
    params = asked(a=schema)
    for text in good:
        assert content_faults(params, f'{{"a":{text}}}') == [], text
    for text in bad:
        faults = content_faults(params, f'{{"a":{text}}}')
        assert len(faults) == 1, text
        assert faults[0].startswith("a "), text


def test_what_is_required_must_be_there_and_what_is_not_asked_for_must_not() -> None:
    params = asked(("a",), a={"type": "string"}, b={"type": "string"})
    assert content_faults(params, '{"b":"x"}') == ["a is required"]
    assert content_faults(params, '{"a":"x","c":1}') == ["c is not asked for"]
    assert content_faults(params, "[]") == ["the content is no JSON object"]


def test_titles_of_a_multi_select_are_known_for_showing() -> None:
    form = form_asked(asked(c={"type": "array", "items": {"anyOf": COLOURS}}, s={"type": "string"}))
    assert [(choice.text, choice.title) for choice in choices_of(form.fields[0]) or ()] == [
        ('"r"', "Red"),
        ('"g"', "Green"),
    ]
    assert choices_of(form.fields[1]) is None


def test_defaults_of_every_kind_make_the_content_digit_by_digit() -> None:
    params = asked(
        ("n",),
        s={"type": "string", "default": "Zoë"},
        n={"type": "integer", "default": 9007199254740993},
        b={"type": "boolean", "default": False},
        e={"type": "string", "oneOf": COLOURS, "default": "g"},
        m={"type": "array", "items": {"anyOf": COLOURS}, "default": ["r", "g"]},
        without={"type": "string"},
    )
    content, faults = defaults(params)
    assert faults == []
    assert content == '{"s":"Zoë","n":9007199254740993,"b":false,"e":"g","m":["r","g"]}'


def test_defaults_do_not_fit_where_one_is_missing_or_breaks_its_schema() -> None:
    assert defaults(asked(("a",), a={"type": "string"}))[1] == ["a has no default"]
    assert defaults(asked(a={"type": "integer", "minimum": 5, "default": 1}))[1] == ["a must be at least 5"]


@pytest.mark.parametrize(
    ("result", "fault"),
    [
        ('{"action":"accept","content":{"a":"x"}}', ""),
        ('{"action":"accept"}', "a is required"),
        ('{"action":"decline"}', ""),
        ('{"action":"cancel"}', ""),
        ('{"action":"decline","content":{}}', "decline carries no content"),
        ('{"action":"maybe"}', "no action"),
        ('{"action":1}', "no action"),
        ("{}", "no action"),
        ('"accept"', "no JSON object"),
    ],
)
def test_a_result_has_an_action_and_content_only_when_it_accepts(result: str, fault: str) -> None:
    faults = result_faults(asked(("a",), a={"type": "string"}), result)
    assert (fault in faults[0]) if fault else faults == []


def test_consent_to_a_url_carries_no_content() -> None:
    params = {"mode": "url", "url": "https://x.org/", "elicitationId": "1", "message": "?"}
    assert result_faults(params, '{"action":"accept"}') == []
    assert result_faults(params, '{"action":"accept","content":{}}') != []


@given(st.text(), st.sampled_from(["email", "uri", "date", "date-time", "unknown", None, 3]))
def test_no_text_breaks_a_format(text: str, name: object) -> None:
    assert isinstance(format_doubt(name, text), str)


hostile = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "properties", "items", "enum", "oneOf", "anyOf", "const", "default", "a"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=15,
)


@given(hostile, hostile)
def test_no_schema_and_no_content_raises(schema: Any, content: Any) -> None:
    from workbench.core.jsonrpc import dumps

    params = {"requestedSchema": schema}
    assert isinstance(content_faults(params, dumps(content)), list)
    assert isinstance(result_faults(params, dumps(content)), list)
    assert isinstance(defaults(params), tuple)
