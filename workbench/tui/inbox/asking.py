"""What is shown of a request: what it is, from whom, during which call, and all it says.

All of it is the server's, and bounded: what is longer is opened whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from workbench.core.jsonrpc import dumps
from workbench.core.links import MAX_SHOWN, Link, link_of
from workbench.core.question import Question
from workbench.core.signature import signature
from workbench.tui import figures
from workbench.tui.desk import Inquiry
from workbench.tui.inbox.answering import ELICITATION, ROOTS, SAMPLING, is_url, noun_of
from workbench.tui.lines import Bit, Line, wrapped
from workbench.tui.palette import Role

#: Rows of one text, messages and tools of a request that are shown.
MAX_ROWS = 200
MAX_MESSAGES = 50
MAX_TOOLS = 50

#: Where the values begin, in cells.
_VALUE = 14


def age(seconds: float) -> str:
    """How long somebody waits, in steps that do not flicker: ``12 s``, ``3 min``, ``2 h``."""
    whole = max(int(seconds), 0)
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60} min" if whole < 3600 else f"{whole // 3600} h"


def asks(inquiry: Inquiry) -> str:
    """What is asked, in one line."""
    if inquiry.method == ROOTS:
        return "asks for the roots"
    said = Question(inquiry.method, inquiry.params).message
    if is_url(inquiry):
        link = link_of(inquiry.params)
        return f"{link.host}: {said}" if link is not None and link.host else said
    if not said and inquiry.method == SAMPLING:
        messages = inquiry.params.get("messages") if isinstance(inquiry.params, dict) else None
        count = len(messages) if isinstance(messages, list) else 0
        return f"{count} message{'' if count == 1 else 's'}, no text in the last"
    return said


def title(inquiry: Inquiry, server: str, waits: str) -> list[Bit]:
    """The line above everything."""
    bits = [Bit(" "), Bit(noun_of(inquiry), "bright"), Bit(f"  {server}", "text")]
    for name, seq in inquiry.during[:3]:
        bits += [Bit("  during ", "quiet"), Bit(name, "text"), Bit(f" #{seq}" if seq else "", "quiet")]
    return [*bits, Bit(f"  #{inquiry.seq}", "quiet"), Bit(f"  waits {waits}", "waiting")]


def question(inquiry: Inquiry, width: int) -> list[Line]:
    """All that it says."""
    params = inquiry.params if isinstance(inquiry.params, dict) else None
    if inquiry.method == ROOTS:
        return _text("The server asks for the roots. What goes out can be edited here.", width)
    if params is None:
        return _text("The request is too large to be shown here; its frame holds it.", width, "quiet")
    if is_url(inquiry):
        return _url(params, width)
    if inquiry.method == SAMPLING:
        return list(_sampling(inquiry, params, width))
    if inquiry.method == ELICITATION:
        return _text(Question(inquiry.method, params).message, width)
    return _text(dumps(params), width)


def url_lines(link: Link, width: int) -> list[Line]:
    """A URL whole, its host marked; it is cut only at the edge of the screen, and nowhere indented, so
    that it can be taken with the mouse."""
    before, _, after = link.url.partition(link.host) if link.host else (link.url, "", "")
    pieces: list[tuple[str, Role]] = [(before, "link"), (link.host, "bright"), (after, "link")]
    lines: list[list[Bit]] = [[]]
    room = width
    for text, role in pieces:
        shown = wrapped_hard(text, room, width)
        for place, row in enumerate(shown):
            if place:
                lines.append([])
            lines[-1].append(Bit(row, role))
        room = width - sum(len(bit.text) for bit in lines[-1])
    told: list[Line] = [*lines]
    told.append([Bit("   host", "quiet", _VALUE), Bit(link.host or "none", "bright")])
    if link.warning:
        told.append([Bit(" ! ", "finding"), Bit(link.warning, "text")])
    return told


def wrapped_hard(text: str, first: int, width: int) -> list[str]:
    """Printable text on rows of exactly so many cells, the first one shorter."""
    from workbench.tui.safe import safe_text

    shown = safe_text(text)
    if first <= 0:
        return ["", *(shown[at : at + width] for at in range(0, len(shown), width))]
    return [shown[:first], *(shown[at : at + width] for at in range(first, len(shown), width))]


def _url(params: dict[str, Any], width: int) -> list[Line]:
    lines = _text(Question(ELICITATION, params).message, width)
    link = link_of(params)
    if link is None:
        return [*lines, *_text("It names no URL.", width, "finding")]
    lines += [[], *url_lines(link, width)]
    if len(params["url"]) > MAX_SHOWN:
        lines += _text(
            f"It goes on: {figures.count(len(params['url']))} characters in all.", width, "finding"
        )
    words = "Nothing is opened here: y copies it, and accepting says that you have opened it."
    return [*lines, *_text(words, width, "quiet")]


def _sampling(inquiry: Inquiry, params: dict[str, Any], width: int) -> Iterator[Line]:
    if isinstance(params.get("systemPrompt"), str):
        yield from _said("system", params["systemPrompt"], width)
    messages = params.get("messages")
    messages = messages if isinstance(messages, list) else []
    if len(messages) > MAX_MESSAGES:
        left = len(messages) - MAX_MESSAGES
        yield from _text(f"{left} earlier messages are not shown", width, "quiet")
    for message in messages[-MAX_MESSAGES:]:
        role = message.get("role") if isinstance(message, dict) else None
        content = message.get("content") if isinstance(message, dict) else message
        for place, block in enumerate(content if isinstance(content, list) else [content]):
            name = role if isinstance(role, str) else "no role"
            yield from _said("" if place else name, _block(block), width)
    for name, text in _wishes(params):
        yield from _said(name, text, width, "quiet")
    tools = params.get("tools")
    for place, tool in enumerate(tools[:MAX_TOOLS] if isinstance(tools, list) else ()):
        yield from _said("" if place else "tools", _tool(tool), width)
    if inquiry.era == "modern":
        yield from _text("Rejecting it ends the call: it is not sent again.", width, "quiet")


def _wishes(params: dict[str, Any]) -> Iterator[tuple[str, str]]:
    wanted = params.get("modelPreferences")
    wanted = wanted if isinstance(wanted, dict) else {}
    hints = wanted.get("hints")
    names = [hint.get("name") for hint in hints if isinstance(hint, dict)] if isinstance(hints, list) else []
    words = [name for name in names if isinstance(name, str)]
    words += [f"{key.removesuffix('Priority')} {dumps(wanted[key])}" for key in _PRIORITIES if key in wanted]
    if words:
        yield "model", "  ".join(words)
    limits = [f"{label} {dumps(params[key])}" for key, label in _LIMITS.items() if key in params]
    if limits:
        yield "limits", "   ".join(limits)
    if isinstance(params.get("toolChoice"), dict):
        yield "choice", str(params["toolChoice"].get("mode", "auto"))


_PRIORITIES = ("costPriority", "speedPriority", "intelligencePriority")
_LIMITS = {
    "maxTokens": "max tokens",
    "temperature": "temperature",
    "stopSequences": "stop at",
    "includeContext": "context",
}


def _tool(tool: Any) -> str:
    if not isinstance(tool, dict):
        return dumps(tool)
    about = tool.get("description")
    words = f"{tool.get('name', '')}({signature(tool.get('inputSchema'))})".replace("(())", "()")
    return f"{words}  {about}" if isinstance(about, str) else words


def _block(block: Any) -> str:
    """A block of a message: its text, or what it is and how large."""
    if not isinstance(block, dict):
        return block if isinstance(block, str) else dumps(block)
    kind = block.get("type")
    if kind == "text" and isinstance(block.get("text"), str):
        return str(block["text"])
    if kind in ("image", "audio") and isinstance(block.get("data"), str):
        size = figures.size(len(block["data"].rstrip("=")) * 3 // 4)
        return f"{kind}, {block.get('mimeType', 'no type')}, {size}"
    if kind == "tool_use":
        return f"uses {block.get('name', '')} {dumps(block.get('input'))}"
    if kind == "tool_result":
        failed = ", an error" if block.get("isError") is True else ""
        content = block.get("content")
        inner = "  ".join(_block(each) for each in content) if isinstance(content, list) else ""
        return f"result of {dumps(block.get('toolUseId'))}{failed}: {inner}"
    return dumps(block)


def _text(text: str, width: int, role: Role = "text") -> list[Line]:
    return [[Bit("   "), Bit(row, role)] for row in wrapped(text, width - 4, MAX_ROWS)]


def _said(name: str, text: str, width: int, role: Role = "text") -> list[Line]:
    rows: Sequence[str] = wrapped(text, width - _VALUE - 1, MAX_ROWS)
    return [
        [Bit("   "), Bit("" if place else name, "quiet", _VALUE - 5), Bit("  "), Bit(row, role)]
        for place, row in enumerate(rows)
    ]
