"""The lines of the text form: their types, their members in order, and what these stand for."""

from __future__ import annotations

import binascii
from typing import Any

from workbench.core.frame import Channel, Direction
from workbench.store.formats.exact import COMPACT, STYLES, Parsed, write

#: The version of the text form, in its first line.
VERSION = 1

#: The first line's member.
HEAD = "mcp-workbench recording"

DIRECTIONS = {direction.name.lower(): direction for direction in Direction}
CHANNELS = {channel.name.lower(): channel for channel in Channel}

#: Tables of which each session has its own rows, numbered: columns after the number.
NUMBERED: dict[str, tuple[str, ...]] = {
    "session": (
        *("name", "group", "started_ns", "mono_ns", "ended_ns", "ended_how", "product", "origin"),
        *("note", "tags"),
    ),
    "connection": (
        *("name", "transport", "target", "era", "era_found", "revision", "client_info", "server_info"),
        *("client_capabilities", "server_capabilities", "opened_ns", "closed_ns", "closed_how"),
        *("exit_code", "parent"),
    ),
    "stream": (
        *("connection", "verb", "url", "status", "encoding", "wire_bytes", "request_headers"),
        *("response_headers", "opened_ns", "closed_ns", "closed_how"),
    ),
    "rule": ("what", "value"),
}

#: Tables with a row for some frames: columns after the frame's number.
PLACED: dict[str, tuple[str, ...]] = {"mark": ("text",), "provenance": ("how", "detail")}

#: A frame's members after its number. A body has one of the last three; ``style`` goes with ``json``.
FRAME = (
    *("connection", "ns", "wall", "direction", "channel", "ending", "size", "spans", "stream", "event"),
    *("style", "json", "text", "base64"),
)

#: Members of a frame's line that go with its body.
OF_BODY = frozenset(("style", "json", "text", "base64", "size", "spans"))


def without_body(members: dict[str, Any]) -> dict[str, Any]:
    """A frame's line for another body. The raw bytes of an event go with the one they held."""
    kept = {key: value for key, value in members.items() if key not in OF_BODY}
    event = kept.get("event")
    if isinstance(event, dict):
        kept["event"] = {key: value for key, value in event.items() if key != "raw"}
    return kept


#: Columns that hold JSON text; it is shown as JSON.
JSON_COLUMNS = frozenset(
    (
        *("client_info", "server_info", "client_capabilities", "server_capabilities"),
        *("request_headers", "response_headers"),
    )
)


def body_of(line: dict[str, Any], *, plain: bool = False) -> bytes:
    """The exact bytes of a frame's body. ``plain``: as ``exact.parse`` says of the line.

    Raises ``ValueError``.
    """
    if "json" in line:
        style = STYLES.get(line.get("style", ""))
        if style is None:
            raise ValueError(f"style {line['style']!r} is not one of {', '.join(filter(None, STYLES))}")
        return _encoded(write(Parsed(line["json"], plain), style))
    if "text" in line:
        if not isinstance(line["text"], str):
            raise ValueError("text is no string")
        return _encoded(line["text"])
    if "base64" in line:
        return binascii.a2b_base64(line["base64"], strict_mode=True)
    raise ValueError("the frame has no body: give json, text or base64")


def column_of(name: str, value: Any, *, plain: bool = False) -> Any:
    """What a column holds that a line's member stands for."""
    if name in JSON_COLUMNS and isinstance(value, (dict, list)):
        return write(Parsed(value, plain), COMPACT)
    return value


def event_of(line: dict[str, Any], *, plain: bool = False) -> str | None:
    """What an SSE event had beside its data, as the JSON text that a frame has. Raises ``ValueError``."""
    event = line.get("event")
    if isinstance(event, dict):
        return write(Parsed(event, plain), COMPACT)
    if event is None or isinstance(event, str):
        return event
    raise ValueError("event is no JSON object and no string")


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise ValueError("the body holds half a character, which no UTF-8 has; give base64") from None
