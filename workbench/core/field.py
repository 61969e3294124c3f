"""One member of a form: what it takes, worked out from the part of a schema that describes it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from workbench.core.jsonrpc import dumps
from workbench.core.subschema import resolve, variants_of

#: Members of an enum that can be chosen from; the others can be written as JSON.
MAX_CHOICES = 10_000

_SCALARS = ("string", "integer", "number", "boolean")


class FieldKind(StrEnum):
    """How a field is filled in."""

    STRING = "string"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    ENUM = "enum"
    JSON = "json"


@dataclass(frozen=True)
class Choice:
    """A member of an enum: the JSON text of its value, and what it is called."""

    text: str
    title: str


@dataclass(frozen=True)
class Field:
    """One member of the arguments.

    ``word`` is its type in a word or two. ``default`` is JSON text, ``None`` without one. ``why``
    says why a JSON field is one, where that needs saying. ``schema`` is the part of the schema
    that describes the value, references followed. ``parts`` are the fields of an object's
    members, for forms that show them; ``kind`` stays ``JSON`` for it.
    """

    name: str
    kind: FieldKind
    word: str
    required: bool = False
    nullable: bool = False
    title: str = ""
    description: str = ""
    default: str | None = None
    choices: tuple[Choice, ...] = ()
    why: str = ""
    schema: Any = None
    parts: tuple[Field, ...] = ()


def field_of(name: str, schema: Any, root: dict[str, Any], required: bool) -> Field:
    """The field of one member. Never raises (but for the recursion ``form_of`` catches)."""
    if schema is True or schema == {}:
        return Field(name, FieldKind.JSON, "any", required, schema=schema)
    if not isinstance(schema, dict):
        return Field(name, FieldKind.JSON, "any", required, why="its schema is no object", schema=schema)
    merged, why = resolve(schema, root)
    if merged is None:
        return Field(name, FieldKind.JSON, "any", required, why=why.lower(), schema=schema)
    merged, nullable = _without_null(merged, root)
    kind, word, choices, why = _kind(merged)
    return Field(
        name,
        kind,
        word,
        required,
        nullable,
        text_of(merged.get("title")) or text_of(schema.get("title")),
        text_of(schema.get("description")) or text_of(merged.get("description")),
        dumps(merged["default"]) if "default" in merged else None,
        choices,
        why,
        merged,
    )


def _kind(schema: dict[str, Any]) -> tuple[FieldKind, str, tuple[Choice, ...], str]:
    """The kind of a member, its word, its choices, and why it is a JSON field."""
    choices = _choices(schema)
    if choices is not None:
        if len(choices) > MAX_CHOICES:
            return FieldKind.JSON, "enum", (), f"its enum has {len(choices)} members"
        return FieldKind.ENUM, "enum", choices, ""
    variants = variants_of(schema)
    if variants:
        return FieldKind.JSON, "union", (), f"it takes one of {len(variants)} forms"
    kind = schema.get("type")
    if isinstance(kind, list) and len(kind) == 1:
        kind = kind[0]
    if isinstance(kind, str) and kind in _SCALARS:
        form = schema.get("format")
        word = f"{kind}, {form[:20]}" if isinstance(form, str) and form else kind
        return FieldKind(kind), word, (), ""
    if isinstance(kind, list):
        return FieldKind.JSON, " or ".join(str(item)[:20] for item in kind[:4]), (), ""
    if kind == "array":
        items = schema.get("items")
        inner = items.get("type") if isinstance(items, dict) else None
        return FieldKind.JSON, f"array of {inner[:20]}s" if isinstance(inner, str) else "array", (), ""
    if kind == "null":
        return FieldKind.ENUM, "null", (Choice("null", "null"),), ""
    return FieldKind.JSON, kind[:20] if isinstance(kind, str) else "any", (), ""


def _choices(schema: dict[str, Any]) -> tuple[Choice, ...] | None:
    if "const" in schema:
        return (Choice(dumps(schema["const"]), text_of(schema.get("title")) or _shown(schema["const"])),)
    values = schema.get("enum")
    if isinstance(values, list) and values:
        names = schema.get("enumNames")
        named = names if isinstance(names, list) and len(names) == len(values) else [None] * len(values)
        return tuple(
            Choice(dumps(value), text_of(name) or _shown(value))
            for value, name in zip(values, named, strict=True)
        )
    variants = variants_of(schema)
    if variants and all(isinstance(variant, dict) and "const" in variant for variant in variants):
        return tuple(
            Choice(dumps(variant["const"]), text_of(variant.get("title")) or _shown(variant["const"]))
            for variant in variants
        )
    return None


def item_choices(schema: Any) -> tuple[Choice, ...] | None:
    """What the elements of an array are chosen from; ``None`` if they are not, or for no array."""
    items = schema.get("items") if isinstance(schema, dict) and schema.get("type") == "array" else None
    return _choices(items) if isinstance(items, dict) else None


def _shown(value: Any) -> str:
    return value if isinstance(value, str) and value else dumps(value)


def _without_null(schema: dict[str, Any], root: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """The schema of the value when it is not null, and whether it may be."""
    kind = schema.get("type")
    if isinstance(kind, list) and "null" in kind and len(kind) > 1:
        rest = [item for item in kind if item != "null"]
        return {**schema, "type": rest[0] if len(rest) == 1 else rest}, True
    if schema.get("nullable") is True:
        return schema, True
    for key in ("anyOf", "oneOf"):
        variants = schema.get(key)
        if not isinstance(variants, list) or not any(_is_null(variant) for variant in variants):
            continue
        rest = [variant for variant in variants if not _is_null(variant)]
        outer = {name: value for name, value in schema.items() if name != key}
        if len(rest) != 1:
            return {**outer, key: rest} if rest else outer | {"type": "null"}, bool(rest)
        inner, _ = resolve(rest[0], root)
        if inner is None:
            return {**outer, key: rest}, True
        return {**inner, **outer}, True
    return schema, False


def _is_null(schema: Any) -> bool:
    return isinstance(schema, dict) and (
        schema.get("type") == "null" or ("const" in schema and schema["const"] is None)
    )


def text_of(value: Any) -> str:
    """The value if it is a string, else an empty one."""
    return value if isinstance(value, str) else ""
