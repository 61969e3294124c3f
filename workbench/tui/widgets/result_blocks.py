"""A result as blocks to read: text, JSON, images and the rest, whatever the method.

Known shapes are those of tools/call, resources/read and prompts/get (revisions
2024-11-05 to 2025-11-25); members and types beyond them are shown as JSON, so
nothing that a server sent is missing. Pure, and slow for a large result: call it
where nobody waits.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from workbench.core.jsonrpc import loads
from workbench.core.jsontext import Part, elements, kind_of, members, pretty, problem
from workbench.tui import figures

#: Characters of a block that are laid out in the result's place; the whole is opened.
SHOWN = 64 * 1024

#: Blocks that are shown; a result with more is opened whole.
MAX_BLOCKS = 200

_CONTENT_LISTS = {"content": "", "contents": "", "messages": ""}


class Block(NamedTuple):
    """``title`` is a short line (empty: none), ``text`` what stands under it, ``json`` whether that
    is JSON; ``whole`` is what to open, copy or save. ``text`` is cut at ``SHOWN`` characters and
    ``left`` says how many are missing."""

    title: str
    text: str
    json: bool
    whole: bytes
    left: int = 0


def is_tool_error(result: str) -> bool:
    """Whether a result's JSON text says ``isError: true``; cheap also for a large one."""
    parts = members(result) or ()
    return any(part.key == "isError" and part.text == "true" for part in parts)


def blocks_of(result: str) -> list[Block]:
    """The blocks of a result's JSON text. Never raises."""
    parts = members(result)
    if parts is None:
        return [_json("", result)]
    if not any(part.key in _CONTENT_LISTS or part.key == "structuredContent" for part in parts):
        return [_json("", result)]
    blocks: list[Block] = []
    for part in parts:
        if len(blocks) >= MAX_BLOCKS:
            break
        if part.key in _CONTENT_LISTS:
            blocks += _contents(part)
        elif part.key == "structuredContent":
            blocks.append(_json("structured", part.text))
        elif part.key != "isError":
            blocks.append(_json(part.key, part.text))
    return blocks[:MAX_BLOCKS]


def _contents(part: Part) -> list[Block]:
    items = elements(part.text)
    if items is None:
        return [_json(part.key, part.text)]
    blocks: list[Block] = []
    for item in items[:MAX_BLOCKS]:
        blocks += _message(item.text) if part.key == "messages" else [_content(item.text)]
    return blocks


def _message(text: str) -> Iterator[Block]:
    """The blocks of a prompt's message: its role stands before each."""
    found = _strings(text)
    role = found.get("role", "")
    inner = _raw(text).get("content", "")
    items = elements(inner) if kind_of(inner) == "array" else [Part("0", inner)]
    for item in items or ():
        block = _content(item.text)
        yield block._replace(title="  ".join(word for word in (role, block.title) if word))


def _content(text: str) -> Block:
    """One content block, or one of the ``contents`` of a resource (which have no type)."""
    raw = _raw(text)
    words = _strings(text)
    kind = words.get("type", "")
    if kind == "resource" and kind_of(raw.get("resource", "")) == "object":
        inner = _content(raw["resource"])
        return inner._replace(title=f"resource  {inner.title}")
    if kind in ("image", "audio") and "data" in words:
        return _binary(kind, words.get("mimeType", ""), words["data"])
    if kind == "resource_link":
        named = [words.get(key, "") for key in ("name", "uri", "mimeType")]
        return _text("  ".join(["link", *filter(None, named)]), words.get("description", ""), text)
    title = "  ".join(word for word in (words.get("uri", ""), words.get("mimeType", "")) if word)
    if "text" in words and kind in ("text", ""):
        return _text(title, words["text"])
    if "blob" in words and not kind:
        return _binary(title, "", words["blob"])
    return _json(kind, text)


def _text(title: str, text: str, whole: str | None = None) -> Block:
    source = (text if whole is None else whole).encode("utf-8", "surrogateescape")
    if (
        whole is None
        and len(text) <= SHOWN
        and kind_of(text) in ("object", "array")
        and problem(text) is None
    ):
        return Block("  ".join(word for word in (title, "JSON as text") if word), pretty(text), True, source)
    return Block(title, text[:SHOWN], False, source, max(len(text) - SHOWN, 0))


def _json(title: str, text: str) -> Block:
    whole = text.encode("utf-8", "surrogateescape")
    if len(text) > SHOWN * 4:
        return Block(title, text[:SHOWN], False, whole, len(text) - SHOWN)
    shown = pretty(text)
    return Block(title, shown[:SHOWN], True, whole, max(len(shown) - SHOWN, 0))


def _binary(kind: str, media: str, data: str) -> Block:
    size = max(len(data) * 3 // 4 - data[-2:].count("="), 0)
    words = [kind, media, figures.size(size)]
    return Block("  ".join(filter(None, words)), "", False, data.encode("utf-8", "surrogateescape"))


def _raw(text: str) -> dict[str, str]:
    return {part.key: part.text for part in members(text) or ()}


def _strings(text: str) -> dict[str, str]:
    """The members that are strings, parsed."""
    found: dict[str, str] = {}
    for key, value in _raw(text).items():
        if kind_of(value) == "string":
            parsed: Any = loads(value)
            found[key] = parsed
    return found
