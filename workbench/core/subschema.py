"""One schema out of many: references followed, ``allOf`` put together, within bounds.

References are looked up within the document only (``#``, ``#/$defs/x``, ``#anchor``); nothing
is ever fetched. A schema that goes round, leads nowhere or has too many parts gives a reason
instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: References that are followed in a row.
MAX_HOPS = 32

#: Parts that are put together for one schema.
MAX_PARTS = 64


def resolve(schema: Any, root: dict[str, Any]) -> tuple[dict[str, Any] | None, str]:
    """The schema with its references followed and its ``allOf`` put together, or why not."""
    seen: set[str] = set()
    budget = [MAX_PARTS]
    return _merge(schema, root, seen, budget)


def _merge(
    schema: Any, root: dict[str, Any], seen: set[str], budget: list[int]
) -> tuple[dict[str, Any] | None, str]:
    if schema is True:
        return {}, ""
    if not isinstance(schema, dict):
        return None, "A part of the schema is no object"
    merged = dict(schema)
    reference = merged.pop("$ref", None)
    parts = merged.pop("allOf", None)
    todo: list[Any] = list(parts) if isinstance(parts, list) else []
    if reference is not None:
        if not isinstance(reference, str):
            return None, "A reference is no text"
        if reference in seen or len(seen) >= MAX_HOPS:
            return None, "The schema refers to itself"
        target = _target(reference, root)
        if target is None:
            where = "outside the schema" if not reference.startswith("#") else "to nothing"
            return None, f"The reference {reference[:80]} points {where}"
        todo.insert(0, target)
    whole: dict[str, Any] = {}
    for place, part in enumerate(todo):
        budget[0] -= 1
        if budget[0] < 0:
            return None, "The schema has too many parts"
        referred = isinstance(reference, str) and place == 0
        inner, why = _merge(part, root, seen | {reference} if referred else seen, budget)
        if inner is None:
            return None, why
        whole = joined(whole, inner)
    return joined(whole, merged), ""


def joined(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Both schemas at once: members and required names of both, of the rest ``second`` has its way."""
    joined = {**first, **second}
    one, two = first.get("properties"), second.get("properties")
    if isinstance(one, dict) and isinstance(two, dict):
        joined["properties"] = {**one, **two}
    names = [*listed(first.get("required")), *listed(second.get("required"))]
    if names:
        joined["required"] = names
    return joined


def _target(reference: str, root: dict[str, Any]) -> Any:
    """What a local reference (``#``, ``#/$defs/x``, ``#anchor``) points at, ``None`` for nothing."""
    if reference in ("#", "#/"):
        return root
    if not reference.startswith("#/"):
        return _anchored(reference[1:], root) if reference.startswith("#") else None
    here: Any = root
    for step in reference[2:].split("/"):
        key = step.replace("~1", "/").replace("~0", "~").replace("%24", "$").replace("%25", "%")
        if isinstance(here, dict):
            here = here.get(key)
        elif isinstance(here, list) and key.isdecimal() and len(key) < 9 and int(key) < len(here):
            here = here[int(key)]
        else:
            return None
    return here


def _anchored(name: str, root: dict[str, Any]) -> Any:
    for holder in ("$defs", "definitions"):
        parts = root.get(holder)
        for part in parts.values() if isinstance(parts, dict) else ():
            if isinstance(part, dict) and part.get("$anchor") == name:
                return part
    return None


def variants_of(schema: Mapping[str, Any]) -> list[Any]:
    for key in ("oneOf", "anyOf"):
        variants = schema.get(key)
        if isinstance(variants, list) and variants:
            return variants
    return []


def listed(value: Any) -> list[Any]:
    """The value if it is a list, else an empty one."""
    return value if isinstance(value, list) else []
