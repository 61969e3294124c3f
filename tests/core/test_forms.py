"""Schemas as forms, and forms as the arguments' text."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.arguments import (
    ABSENT,
    NULL,
    Encoded,
    Entry,
    Presence,
    arguments_text,
    broken,
    doubts,
    encode,
    entries_of,
    initial,
    title_of,
    value,
)
from workbench.core.forms import Field, FieldKind, FormModel, form_of, prompt_form
from workbench.core.jsonrpc import loads


def one(schema: Any, name: str = "x", required: bool = False) -> Field:
    """The field of a member with this schema."""
    required_names = [name] if required else []
    form = form_of({"type": "object", "properties": {name: schema}, "required": required_names})
    field = form.field(name)
    assert field is not None
    return field


def sent(schema: Any, **entries: Entry) -> str:
    return arguments_text(form_of(schema), entries)


STRINGS = {"properties": {"q": {"type": "string"}, "tag": {"type": "string"}}, "required": ["q"]}


def test_an_optional_string_nobody_touched_is_absent() -> None:
    assert sent(STRINGS, q=value("x")) == '{"q":"x"}'


def test_absent_null_and_empty_are_three_different_things() -> None:
    assert sent(STRINGS, q=value(""), tag=ABSENT) == '{"q":""}'
    assert sent(STRINGS, q=value(""), tag=NULL) == '{"q":"","tag":null}'
    assert sent(STRINGS, q=value("x"), tag=value("")) == '{"q":"x","tag":""}'


def test_optional_arrays_and_objects_nobody_touched_are_absent() -> None:
    schema = {
        "properties": {"ids": {"type": "array", "items": {"type": "integer"}}, "opt": {"type": "object"}}
    }
    assert sent(schema) == "{}"
    assert sent(schema, ids=value("[]")) == '{"ids":[]}'


@pytest.mark.parametrize("text", ["01234", "true", "null", "1e5", "9007199254740993", "{}", '"'])
def test_a_string_that_looks_like_something_else_stays_a_string(text: str) -> None:
    assert encode(one({"type": "string"}), value(text)).json == json.dumps(text)


@pytest.mark.parametrize("text", ["9007199254740993", "-0", "1.0", "1e400", "0", "9" * 5000])
def test_the_digits_typed_are_the_digits_sent(text: str) -> None:
    for kind in ("integer", "number"):
        assert encode(one({"type": kind}), value(text)).json == text


@pytest.mark.parametrize("text", ["", "abc", "01", "1.", ".5", "+1", "NaN", "Infinity", "1 2", "١"])
def test_what_is_no_json_number_is_refused_in_a_number_field(text: str) -> None:
    encoded = encode(one({"type": "number"}), value(text))
    assert encoded.json is None
    assert encoded.broken


def test_what_breaks_the_schema_is_told_and_can_be_sent() -> None:
    field = one({"type": "integer", "minimum": 1, "maximum": 9007199254740993})
    assert encode(field, value("1.5")) == Encoded("1.5", doubt="is not a whole number")
    assert encode(field, value("0")) == Encoded("0", doubt="must be at least 1")
    assert encode(field, value("9007199254740994")).doubt == "must be at most 9007199254740993"
    assert encode(field, NULL) == Encoded("null", doubt="must not be null")
    assert encode(one({"type": "string", "minLength": 2}), value("a")).doubt == "needs at least 2 characters"
    assert encode(one({"type": "array"}), value('{"a":1}')).doubt == "must be array, not object"
    assert (
        encode(one({"type": "number", "exclusiveMinimum": 0.5}), value("0.5")).doubt
        == "must be more than 0.5"
    )


def test_a_required_member_left_out_is_a_doubt() -> None:
    form = form_of(STRINGS)
    assert doubts(form, {}) == {"q": "is required"}
    assert broken(form, {}) == {}


def test_a_nullable_member_with_default_null_can_be_absent_null_or_a_number() -> None:
    field = one({"type": ["integer", "null"], "default": None})
    assert (field.kind, field.nullable, field.default) == (FieldKind.INTEGER, True, "null")
    assert [encode(field, entry).json for entry in (initial(field), NULL, value("5"))] == [None, "null", "5"]
    assert not encode(field, NULL).doubt


@pytest.mark.parametrize(
    "schema",
    [
        {"anyOf": [{"type": "string"}, {"type": "null"}]},
        {"oneOf": [{"type": "null"}, {"type": "string"}], "title": "T"},
        {"type": "string", "nullable": True},
        {"anyOf": [{"$ref": "#/properties/other"}, {"type": "null"}]},
    ],
)
def test_each_way_to_write_a_nullable_string_is_one(schema: dict[str, Any]) -> None:
    form = form_of({"type": "object", "properties": {"x": schema, "other": {"type": "string"}}})
    field = form.field("x")
    assert field is not None
    assert (field.kind, field.nullable) == (FieldKind.STRING, True)


def test_a_default_is_sent_only_where_the_member_is_required() -> None:
    schema = {"type": "number", "default": 10}
    assert initial(one(schema)) == ABSENT
    assert initial(one(schema, required=True)) == Entry(Presence.VALUE, "10")
    assert one(loads('{"type":"number","default":1.0}')).default == "1.0"


def test_a_required_constant_is_filled_in() -> None:
    assert initial(one({"const": "mail"}, required=True)) == value('"mail"')
    assert initial(one({"const": "mail"})) == ABSENT


@pytest.mark.parametrize(
    ("schema", "titles", "texts"),
    [
        ({"enum": [1, 2]}, ["1", "2"], ["1", "2"]),
        ({"enum": ["", "a"]}, ['""', "a"], ['""', '"a"']),
        ({"enum": ["r", "g"], "enumNames": ["Red", "Green"]}, ["Red", "Green"], ['"r"', '"g"']),
        ({"enum": ["r", "g"], "enumNames": ["Red"]}, ["r", "g"], ['"r"', '"g"']),
        ({"oneOf": [{"const": "r", "title": "Red"}, {"const": 2}]}, ["Red", "2"], ['"r"', "2"]),
        ({"anyOf": [{"const": "r", "title": "Red"}]}, ["Red"], ['"r"']),
        ({"enum": [True, None, {"a": 1}]}, ["true", "null", '{"a":1}'], ["true", "null", '{"a":1}']),
    ],
)
def test_an_enum_shows_titles_and_sends_values(schema: Any, titles: list[str], texts: list[str]) -> None:
    field = one(schema)
    assert field.kind is FieldKind.ENUM
    assert [choice.title for choice in field.choices] == titles
    assert [encode(field, value(choice.text)).json for choice in field.choices] == texts
    assert title_of(field, texts[0]) == titles[0]


def test_an_enum_of_five_thousand_members_can_be_chosen_from() -> None:
    field = one({"type": "string", "enum": [f"member-{number}" for number in range(5000)]})
    assert len(field.choices) == 5000
    assert one({"enum": list(range(20_000))}).kind is FieldKind.JSON


def test_a_nullable_enum_keeps_its_choices() -> None:
    field = one({"anyOf": [{"enum": ["a", "b"]}, {"type": "null"}]})
    assert (field.kind, field.nullable, len(field.choices)) == (FieldKind.ENUM, True, 2)


ROOT_UNION = {
    "type": "object",
    "oneOf": [
        {"properties": {"via": {"const": "mail"}, "to": {"type": "string"}}, "required": ["via", "to"]},
        {"properties": {"via": {"const": "pager"}, "nr": {"type": "integer"}}, "required": ["via", "nr"]},
    ],
}


def test_a_union_at_the_root_is_written_as_json_and_says_why() -> None:
    form = form_of(ROOT_UNION)
    assert form.fields == ()
    assert form.reason == "The arguments take one of 2 forms, so they are written as JSON."
    assert form.skeleton == '{"via":"mail"}'


def test_a_root_union_that_only_says_what_is_required_keeps_its_fields() -> None:
    form = form_of(
        {
            "type": "object",
            "properties": {"id": {"type": "string"}, "name": {"type": "string"}},
            "anyOf": [{"required": ["id"]}, {"required": ["name"]}],
        }
    )
    assert [field.name for field in form.fields] == ["id", "name"]


def test_all_parts_of_a_root_all_of_are_fields() -> None:
    form = form_of(
        {
            "type": "object",
            "allOf": [
                {"properties": {"owner": {"type": "string"}}, "required": ["owner"]},
                {"properties": {"size": {"type": "integer", "default": 3}}},
            ],
        }
    )
    assert [(field.name, field.required, field.default) for field in form.fields] == [
        ("owner", True, None),
        ("size", False, "3"),
    ]


RECURSIVE = {
    "type": "object",
    "properties": {"root": {"$ref": "#/$defs/N"}},
    "$defs": {
        "N": {
            "type": "object",
            "properties": {
                "v": {"type": "string"},
                "kids": {"type": "array", "items": {"$ref": "#/$defs/N"}},
            },
        }
    },
}


def test_a_recursive_reference_ends_in_a_json_field() -> None:
    field = form_of(RECURSIVE).fields[0]
    assert (field.name, field.kind, field.word) == ("root", FieldKind.JSON, "object")


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"$ref": "#/$defs/missing"}, "the reference #/$defs/missing points to nothing"),
        (
            {"$ref": "https://example.com/x.json"},
            "the reference https://example.com/x.json points outside the schema",
        ),
        ({"$ref": "#/$defs/A"}, "the schema refers to itself"),
        ({"$ref": 5}, "a reference is no text"),
        ({"allOf": [{"type": "string"}] * 1000}, "the schema has too many parts"),
        (7, "its schema is no object"),
    ],
)
def test_what_cannot_be_followed_is_a_json_field_with_the_reason(schema: Any, why: str) -> None:
    form = form_of(
        {
            "type": "object",
            "properties": {"x": schema},
            "$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}},
        }
    )
    assert (form.fields[0].kind, form.fields[0].why) == (FieldKind.JSON, why)


def test_a_reference_to_the_whole_schema_is_an_object_to_write_as_json() -> None:
    field = form_of({"type": "object", "properties": {"x": {"$ref": "#"}}}).fields[0]
    assert (field.kind, field.word) == (FieldKind.JSON, "object")


def test_references_within_the_document_are_followed() -> None:
    form = form_of(
        {
            "$ref": "#/$defs/Args",
            "$defs": {
                "Args": {
                    "type": "object",
                    "properties": {"a/b": {"$ref": "#/$defs/a~1b"}, "c": {"$ref": "#u"}},
                },
                "a/b": {"type": "integer", "description": "inner"},
                "C": {"$anchor": "u", "type": "boolean"},
            },
        }
    )
    assert [(field.name, field.kind) for field in form.fields] == [
        ("a/b", FieldKind.INTEGER),
        ("c", FieldKind.BOOLEAN),
    ]
    assert form.fields[0].description == "inner"


@pytest.mark.parametrize("schema", [True, {}, None, 5, [], "object", {"type": "string"}, {"type": 7}])
def test_a_schema_that_describes_no_object_is_written_as_json(schema: Any) -> None:
    assert form_of(schema).reason


@pytest.mark.parametrize("schema", [{"type": "object"}, {"type": "object", "properties": {}}])
def test_a_tool_without_arguments_has_an_empty_form_that_sends_an_empty_object(schema: Any) -> None:
    assert form_of(schema) == FormModel()
    assert sent(schema) == "{}"


def test_members_that_are_required_but_not_described_are_fields_too() -> None:
    form = form_of({"type": "object", "properties": {}, "required": ["ghost", 5]})
    assert [(field.name, field.kind, field.required) for field in form.fields] == [
        ("ghost", FieldKind.JSON, True)
    ]


def test_a_schema_with_too_many_members_is_written_as_json() -> None:
    form = form_of({"properties": {f"p{number}": {"type": "string"} for number in range(5000)}})
    assert form.reason == "The schema has 5000 members, so the arguments are written as JSON."


@pytest.mark.parametrize("text", ["{", "[1,", "x", "NaN", "{} {}"])
def test_a_json_field_takes_json_only(text: str) -> None:
    encoded = encode(one({"type": "array", "items": {"type": "object"}}), value(text))
    assert encoded.json is None
    assert encoded.broken.startswith("is not JSON: ")


def test_an_array_of_objects_is_sent_as_written() -> None:
    schema = {"properties": {"rows": {"type": "array", "items": {"type": "object"}}}}
    assert (
        sent(schema, rows=value('[{"k":"a","v":1.0},{"k":"b"}]')) == '{"rows":[{"k":"a","v":1.0},{"k":"b"}]}'
    )


MANY = {
    "type": "object",
    "properties": {
        "s": {"type": "string"},
        "n": {"type": "number"},
        "b": {"type": "boolean"},
        "e": {"enum": ["a", 2]},
        "j": {"type": "object"},
        "z": {"type": ["string", "null"]},
    },
}


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        '{"s":"x","n":1.0,"b":true,"e":2,"j":{"a":[1]},"z":null}',
        '{"s":"","n":9007199254740993,"z":"null"}',
        '{"e":"zzz"}',
    ],
)
def test_fields_read_from_arguments_give_the_same_arguments_back(text: str) -> None:
    form = form_of(MANY)
    entries = entries_of(form, text)
    assert entries is not None
    assert arguments_text(form, entries) == text


@pytest.mark.parametrize("text", ["[]", "", '{"s":"a","s":"b"}', '{"unknown":1}', '{"n":"five"}', "{"])
def test_arguments_that_fields_cannot_show_are_left_to_json(text: str) -> None:
    assert entries_of(form_of(MANY), text) is None


def test_arguments_of_a_prompt_are_strings() -> None:
    form = prompt_form([{"name": "a", "required": True, "description": "d"}, {"name": "b"}, 5, {"name": 1}])
    assert [(field.name, field.kind, field.required) for field in form.fields] == [
        ("a", FieldKind.STRING, True),
        ("b", FieldKind.STRING, False),
    ]
    assert prompt_form(None) == FormModel()


def deep(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"x": schema}, "allOf": [schema]}
    return schema


def test_a_schema_nested_without_end_gives_a_form() -> None:
    assert isinstance(form_of(deep(3000)), FormModel)


KEYWORDS = st.sampled_from(
    [
        "type",
        "properties",
        "required",
        "enum",
        "const",
        "oneOf",
        "anyOf",
        "allOf",
        "$ref",
        "items",
        "default",
        "x",
    ]
)
ODD = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from(["object", "string", "null", "array", "#", "#/properties/x", "#/$defs/y", "", "x"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYWORDS, inner, max_size=5),
    max_leaves=30,
)


@given(ODD, st.sampled_from([ABSENT, NULL, value(""), value("5"), value("{}")]))
def test_no_schema_makes_a_form_fail(schema: object, entry: Entry) -> None:
    form = form_of(schema)
    entries = {field.name: entry for field in form.fields}
    text = arguments_text(form, entries)
    assert isinstance(loads(text), dict)
    assert form.fields or form.reason or text == "{}"
    for field in form.fields:
        initial(field)
