"""Checks a call's arguments against its tool's schema, as far as the demo's schemas go."""

from __future__ import annotations

from typing import Any

JsonObject = dict[str, Any]

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


def problem(schema: JsonObject, value: Any, where: str = "arguments") -> str | None:
    """What is wrong with the value, as a sentence; ``None`` when it fits."""
    allowed = schema.get("type")
    if allowed is not None and not _is_of(value, [allowed] if isinstance(allowed, str) else allowed):
        return f"{where} must be of type {allowed if isinstance(allowed, str) else ' or '.join(allowed)}"
    if "enum" in schema and value not in schema["enum"]:
        return f"{where} must be one of {', '.join(map(str, schema['enum']))}"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if value < schema.get("minimum", value):
            return f"{where} must be at least {schema['minimum']}"
        if value > schema.get("maximum", value):
            return f"{where} must be at most {schema['maximum']}"
    if isinstance(value, dict):
        return _in_object(schema, value, where)
    if isinstance(value, list) and "items" in schema:
        found = (problem(schema["items"], item, f"{where}[{n}]") for n, item in enumerate(value))
        return next((text for text in found if text), None)
    return None


def _is_of(value: Any, names: list[str]) -> bool:
    if isinstance(value, bool):
        return "boolean" in names
    if isinstance(value, float) and value.is_integer() and "integer" in names:
        return True
    return any(isinstance(value, _TYPES[name]) for name in names)


def _in_object(schema: JsonObject, value: JsonObject, where: str) -> str | None:
    for name in schema.get("required", ()):
        if name not in value:
            return f"{name} is required"
    for name, inner in schema.get("properties", {}).items():
        if name in value:
            found = problem(inner, value[name], name if where == "arguments" else f"{where}.{name}")
            if found:
                return found
    return None
