"""A schema in one line: ``location: string, units?: metric|imperial|kelvin``.

For lists, where a row has room for no more. Schemas come from servers: they may
be no objects, refer to themselves, or hold five thousand enum members, so
everything here is bounded and nothing raises.
"""

from __future__ import annotations

import json
from typing import Any

from workbench.core.jsonrpc import Number

#: Characters of a signature; longer ones end in ``…``.
MAX_SIGNATURE = 200

#: Enum members, variants of a union and members of an object that are spelled out.
MAX_CHOICES = 4

#: Characters of one value or type name.
MAX_WORD = 40

#: How deep arrays, unions and references are followed.
MAX_DEPTH = 4

#: Parts of an ``allOf`` at the root whose properties are shown.
MAX_PARTS = 16


def signature(schema: Any) -> str:
    """The arguments of a tool's ``inputSchema``; ``()`` when it takes none, never raises."""
    if not isinstance(schema, dict):
        return "()" if schema is None else "any"
    properties, required = _properties(schema)
    parts: list[str] = []
    length = 0
    for name, value in properties.items():
        part = _argument(str(name), value, str(name) in required, schema)
        parts.append(part)
        length += len(part) + 2
        if length > MAX_SIGNATURE:
            break
    variants = schema.get("oneOf") or schema.get("anyOf")
    if isinstance(variants, list) and variants:
        parts.append(f"one of {len(variants)} forms")
    return cut(", ".join(parts), MAX_SIGNATURE) or "()"


def prompt_signature(arguments: Any) -> str:
    """The arguments of a prompt: names, with ``?`` where optional."""
    if not isinstance(arguments, list):
        return "()"
    parts: list[str] = []
    for argument in arguments[:MAX_SIGNATURE]:
        if isinstance(argument, dict) and isinstance(argument.get("name"), str):
            mark = "" if argument.get("required") is True else "?"
            parts.append(f"{cut(argument['name'], MAX_WORD)}{mark}")
    return cut(", ".join(parts), MAX_SIGNATURE) or "()"


def cut(text: str, length: int) -> str:
    """Text of at most ``length`` characters, ending in ``…`` where something was left out."""
    return text if len(text) <= length else f"{text[: length - 1]}…"


def _properties(schema: dict[str, Any]) -> tuple[dict[str, Any], set[str]]:
    """Properties and required names of the root and the parts of its ``allOf``."""
    properties: dict[str, Any] = {}
    required: set[str] = set()
    inner = schema.get("allOf")
    for part in [schema, *(inner[:MAX_PARTS] if isinstance(inner, list) else [])]:
        part = _resolved(part, schema)
        if not isinstance(part, dict):
            continue
        own = part.get("properties")
        if isinstance(own, dict):
            properties = {**properties, **own} if properties else own
        names = part.get("required")
        if isinstance(names, list):
            required.update(name for name in names if isinstance(name, str))
    return properties, required


def _argument(name: str, schema: Any, required: bool, root: dict[str, Any]) -> str:
    text = f"{cut(name, MAX_WORD)}{'' if required else '?'}: {_type(schema, root, MAX_DEPTH)}"
    if isinstance(schema, dict) and "default" in schema:
        text += f" = {_value(schema['default'], quoted=True)}"
    return text


def _type(schema: Any, root: dict[str, Any], depth: int) -> str:
    schema = _resolved(schema, root)
    if not isinstance(schema, dict) or depth <= 0:
        return "any"
    if isinstance(schema.get("enum"), list) and schema["enum"]:
        return _choices([_value(item) for item in schema["enum"][: MAX_CHOICES + 1]])
    if "const" in schema:
        return _value(schema["const"])
    for key in ("anyOf", "oneOf"):
        variants = schema.get(key)
        if isinstance(variants, list) and variants:
            names = [_type(item, root, depth - 1) for item in variants[: 2 * MAX_CHOICES]]
            return _choices(list(dict.fromkeys(names)))
    inner = schema.get("allOf")
    if isinstance(inner, list) and len(inner) == 1 and "type" not in schema:
        return _type(inner[0], root, depth - 1)
    kind = schema.get("type")
    if isinstance(kind, list):
        return _choices([cut(str(item), MAX_WORD) for item in kind[: MAX_CHOICES + 1]])
    return _simple(kind, schema, root, depth)


def _simple(kind: Any, schema: dict[str, Any], root: dict[str, Any], depth: int) -> str:
    if kind == "array" or (kind is None and "items" in schema):
        name = _type(schema.get("items"), root, depth - 1)
        return f"({name})[]" if "|" in name else f"{name}[]"
    if kind == "object" or (kind is None and "properties" in schema):
        members = schema.get("properties")
        if not isinstance(members, dict) or not members:
            return "object"
        names = [cut(str(key), MAX_WORD) for key in list(members)[: MAX_CHOICES + 1]]
        return f"{{{_listed(names, ', ')}}}"
    return cut(kind, MAX_WORD) if isinstance(kind, str) and kind else "any"


def _resolved(schema: Any, root: dict[str, Any]) -> Any:
    """What a ``$ref`` within the document names; ``None`` if it leads nowhere or round."""
    for _ in range(MAX_DEPTH):
        if not isinstance(schema, dict) or not isinstance(schema.get("$ref"), str):
            return schema
        ref: str = schema["$ref"]
        if not ref.startswith("#"):
            return None
        target: Any = root
        for key in ref[1:].split("/")[1 : 1 + 2 * MAX_DEPTH]:
            target = (
                target.get(key.replace("~1", "/").replace("~0", "~")) if isinstance(target, dict) else None
            )
        schema = target
    return None


def _choices(names: list[str]) -> str:
    return _listed(names, "|")


def _listed(names: list[str], by: str) -> str:
    shown = by.join(names[:MAX_CHOICES])
    return f"{shown}{by}…" if len(names) > MAX_CHOICES else shown


def _value(value: Any, *, quoted: bool = False) -> str:
    """A constant as text; strings bare where that cannot be mistaken."""
    if isinstance(value, Number):
        return cut(value.text, MAX_WORD)
    if isinstance(value, str) and not quoted and value and not set(value) & set('|", '):
        return cut(value, MAX_WORD)
    if isinstance(value, str):
        return cut(json.dumps(value[:MAX_WORD], ensure_ascii=False), MAX_WORD)
    if isinstance(value, (dict, list)):
        empty = "{}" if isinstance(value, dict) else "[]"
        return empty if not value else f"{empty[0]}…{empty[1]}"
    return cut(json.dumps(value), MAX_WORD) if value is None or isinstance(value, bool) else _integer(value)


def _integer(value: Any) -> str:
    try:
        return cut(str(value), MAX_WORD)
    except ValueError:  # an integer of more digits than Python turns into text
        return "…"
