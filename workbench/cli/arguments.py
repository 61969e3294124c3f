"""``k=v`` and ``k:=json`` on a command line -> the JSON text of a call's arguments.

Text goes where the tool's schema says text, a number where it says a number, with
its digits exactly as typed: the arguments are put together as text and never
pass through a float.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from workbench.core.jsonrpc import dumps, loads
from workbench.core.subschema import listed, resolve, variants_of
from workbench.errors import UsageError

_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?\Z")
_INTEGER = re.compile(r"-?(0|[1-9][0-9]*)\Z")

#: How deep variants of variants are followed to find a property's type.
MAX_DEPTH = 8


def arguments_text(words: Sequence[str], schema: Mapping[str, Any] | None) -> str:
    """The JSON text of the arguments object.

    ``schema`` is the tool's input schema, ``None`` when it is not known: then every ``k=v`` is
    text. A property that is an array may be given several times. Raises ``UsageError``.
    """
    plain: dict[str, list[str]] = {}
    members: dict[str, str] = {}
    for word in words:
        name, json_text, text = _split(word)
        if json_text is not None:
            if name in members or name in plain:
                raise UsageError(f"{name} is given twice; give it once")
            members[name] = _checked_json(name, json_text)
        else:
            if name in members and name not in plain:
                raise UsageError(f"{name} is given twice; give it once")
            plain.setdefault(name, []).append(text)
            members[name] = ""
    for name, values in plain.items():
        members[name] = _by_schema(name, values, _property(schema, name), schema)
    return "{" + ",".join(f"{dumps(name)}:{text}" for name, text in members.items()) + "}"


def strings_text(words: Sequence[str]) -> str:
    """The same for a prompt, whose arguments are all text."""
    members: dict[str, str] = {}
    for word in words:
        name, json_text, text = _split(word)
        if json_text is not None and not isinstance(loads(_checked_json(name, json_text)), str):
            raise UsageError(f"{name} is an argument of a prompt, which takes text; write {name}=TEXT")
        if name in members:
            raise UsageError(f"{name} is given twice; give it once")
        members[name] = json_text if json_text is not None else dumps(text)
    return "{" + ",".join(f"{dumps(name)}:{text}" for name, text in members.items()) + "}"


def object_text(text: str, what: str) -> str:
    """Checks that a text is one JSON object and gives it back as it is."""
    try:
        value = loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"{what} is not JSON ({error}); quote it for the shell, as in '{{\"a\":1}}'"
        ) from None
    if not isinstance(value, dict):
        raise UsageError(f"{what} must be a JSON object, as in '{{\"a\":1}}'")
    return text


def _split(word: str) -> tuple[str, str | None, str]:
    """(name, JSON text or None, plain text) of ``k=v`` or ``k:=json``."""
    name, equals, value = word.partition("=")
    if not equals or not name or name == ":":
        raise UsageError(f"{word!r} is no argument; write NAME=TEXT or NAME:=JSON")
    if name.endswith(":"):
        return name[:-1], value, ""
    return name, None, value


def _checked_json(name: str, text: str) -> str:
    try:
        loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{name}:= needs JSON ({error}); for text write {name}=TEXT") from None
    return text


def _by_schema(name: str, values: list[str], found: Any, root: Mapping[str, Any] | None) -> str:
    types = _types(found, root)
    if "array" in types and not (len(values) == 1 and _is_a(values[0], list)):
        if len(values) == 1 and types & {"string"}:
            return dumps(values[0])
        items = _resolved(found, root).get("items")
        return "[" + ",".join(_scalar(name, value, items, root) for value in values) + "]"
    if len(values) > 1:
        raise UsageError(f"{name} is given {len(values)} times, but is no array; give it once")
    return _scalar(name, values[0], found, root)


def _scalar(name: str, value: str, found: Any, root: Mapping[str, Any] | None) -> str:
    types = _types(found, root)
    if not types or "string" in types:
        return dumps(value)
    if types & {"integer", "number"} and (_NUMBER if "number" in types else _INTEGER).match(value):
        return value
    if "integer" in types and _NUMBER.match(value):
        # 1.0 and 1e3 are integers to JSON Schema; whether this one is, the server decides.
        return value
    if "boolean" in types and value in ("true", "false"):
        return value
    if "null" in types and value == "null":
        return value
    if ("object" in types and _is_a(value, dict)) or ("array" in types and _is_a(value, list)):
        return value
    wanted = " or ".join(sorted(types))
    raise UsageError(
        f"{name} takes {wanted}, which {value!r} is not; to send it all the same write {name}:=JSON"
    )


def _is_a(text: str, kind: type) -> bool:
    try:
        return isinstance(loads(text), kind)
    except (ValueError, RecursionError):
        return False


def _property(schema: Any, name: str) -> Any:
    """The schema of a property, also where a variant at the root (``oneOf``) holds it."""
    for part in (schema, *_variants(schema, schema)):
        properties = _resolved(part, schema).get("properties")
        if isinstance(properties, dict) and name in properties:
            return properties[name]
    return None


def _resolved(schema: Any, root: Any) -> dict[str, Any]:
    """The schema with its references followed and ``allOf`` put together; empty when it cannot be."""
    return resolve(schema, root if isinstance(root, dict) else {})[0] or {}


def _variants(schema: Any, root: Any) -> list[Any]:
    return variants_of(_resolved(schema, root))


def _types(schema: Any, root: Any, depth: int = MAX_DEPTH) -> set[str]:
    """The JSON types a schema allows; empty when it does not say."""
    schema = _resolved(schema, root)
    named = schema.get("type")
    if named is not None:
        return {name for name in (named if isinstance(named, list) else [named]) if isinstance(name, str)}
    values = [*listed(schema.get("enum")), *([schema["const"]] if "const" in schema else [])]
    found = {_type_of(value) for value in values}
    for part in variants_of(schema) if depth else ():
        found |= _types(part, root, depth - 1)
    return found


def _type_of(value: Any) -> str:
    for name, kinds in (("boolean", bool), ("string", str), ("array", list), ("object", dict)):
        if isinstance(value, kinds):
            return name
    if value is None:
        return "null"
    return "integer" if isinstance(value, int) else "number"
