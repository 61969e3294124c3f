"""Reading one member of a message without building the rest of a large body.

Small bodies are parsed already. A large one (above ``jsonrpc.INLINE_BYTES``)
holds its members as text; msgspec walks over that text about ten times faster
than a parser that builds it, and only the wanted piece is built.
"""

from __future__ import annotations

from typing import Any

from workbench.core.jsonrpc import INLINE_BYTES, Message, loads

#: An item of a listing whose text is longer than this (bytes) is not built, only named.
MAX_ITEM_BYTES = 1024 * 1024


def peek(message: Message, *path: str) -> Any:
    """The value at a path of object keys, e.g. ``peek(message, "params", "_meta", "progressToken")``.

    ``None`` when there is nothing there, when it cannot be read, or when it is itself so large
    that reading it would hold others up. Never raises.
    """
    if path[0] in message.members:
        return _walk(message.members[path[0]], path[1:])
    text = message.raw.get(path[0])
    for depth, key in enumerate(path[1:], 1):
        if text is None or len(text) <= INLINE_BYTES:
            return _walk(_loaded(text), path[depth:])
        text = _raw_members(text).get(key)
    return _loaded(text)


def peek_items(message: Message, *path: str) -> list[Any] | None:
    """The items of the array at a path, ``None`` if there is no array.

    Each item of a large body is parsed by itself, so that no single call takes long. An item
    above ``MAX_ITEM_BYTES`` is a dict with only its ``name``, ``uri`` and ``uriTemplate``.
    """
    if path[0] in message.members:
        value = _walk(message.members[path[0]], path[1:])
        return value if isinstance(value, list) else None
    text = message.raw.get(path[0])
    for key in path[1:]:
        if text is None:
            return None
        text = _raw_members(text).get(key)
    if text is None or text[:1] != b"[":
        return None
    return [_item(item) for item in _raw_items(text)]


def number(value: Any) -> float | None:
    """A JSON number as a float, ``None`` for anything else or one that no float can hold."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        return value if isinstance(value, float) else float(value)
    except OverflowError:
        return None


def _item(text: bytes) -> Any:
    if len(text) <= MAX_ITEM_BYTES:
        return _loaded(text)
    members = _raw_members(text)
    named = {key: _loaded(members.get(key)) for key in ("name", "uri", "uriTemplate")}
    return {key: value for key, value in named.items() if value is not None}


def _walk(value: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def _loaded(text: bytes | None) -> Any:
    if text is None or len(text) > MAX_ITEM_BYTES:
        return None
    try:
        return loads(text)
    except (ValueError, RecursionError):
        return None


def _raw_members(text: bytes) -> dict[str, bytes]:
    import msgspec

    try:
        members = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
    except (ValueError, RecursionError):
        return {}
    return {key: bytes(value) for key, value in members.items()}


def _raw_items(text: bytes) -> list[bytes]:
    import msgspec

    try:
        items = msgspec.json.decode(text, type=list[msgspec.Raw])
    except (ValueError, RecursionError):
        return []
    return [bytes(item) for item in items]
