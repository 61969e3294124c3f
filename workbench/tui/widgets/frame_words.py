"""What a line of the frame log says, from a ``Row`` alone. All text is unsafe and unbounded in
width: whoever draws it cuts and cleans it."""

from __future__ import annotations

import re

from workbench.check.rule import SEVERITIES, Rule
from workbench.check.rules import RULES
from workbench.core.frame import Channel, Direction, Kind, Row
from workbench.core.jsonrpc import loads
from workbench.tui.marks import Marks
from workbench.tui.palette import Role

_NOTIFICATIONS = "notifications/"
_NUMBER = rb"\s*:\s*(-?[\d.eE+]+)"
_PROGRESS = re.compile(rb'"progress"' + _NUMBER)
_TOTAL = re.compile(rb'"total"' + _NUMBER)
_LEVEL = re.compile(rb'"level"\s*:\s*"([a-z]+)"')
_MESSAGE = re.compile(rb'"message"\s*:\s*("(?:[^"\\]|\\.)*"?)')
_CODE = re.compile(rb'"code"\s*:\s*(-?\d+)')
_INNER = re.compile(rb'"(?:arguments|params|result|error)"\s*:\s*')
_TEXT_KINDS = (Kind.INVALID, Kind.STDERR, Kind.HTTP, Kind.SSE, Kind.AUTH)

_BAD = ("failed", "start_failed", "undelivered", "unreachable", "unanswered")

#: What process events tell of HTTP and eras; each is filled with the members of its event.
_TOLD = {
    "session": "session {state}",
    "stream": "{verb} stream {state}",
    "reconnect": "asked for again in {seconds} s",
    "redirect": "redirected with {status} to {to}",
    "authorized": "sent again with another token",
    "era": "{era} era, {found}",
    "fallback": "fallback to {to}",
    "unanswered": "no answer to {id}",
    "abandoned": "what {id} asked for is not given",
}


def direction(row: Row, marks: Marks) -> tuple[str, Role]:
    """The mark of the way a frame went, and its role."""
    if row.channel in (Channel.STDERR, Channel.PROCESS, Channel.NOTE):
        return marks.event, "quiet"
    if row.direction is Direction.TO_SERVER:
        return marks.to_server, "accent"
    if row.direction is Direction.TO_CLIENT:
        return marks.to_client, "client"
    return marks.event, "quiet"


def warning(row: Row, marks: Marks) -> tuple[str, Role]:
    """The mark before a line that needs a look, empty for most."""
    if row.kind is Kind.INVALID or any(rule.severity != "info" for rule in broken(row)):
        return marks.finding, "finding"
    if row.kind is Kind.ERROR:
        return marks.failed, "failed"
    if row.kind is Kind.PROCESS and _event(row).get("event") in _BAD:
        return marks.failed, "failed"
    if row.status is not None and row.status >= 400:
        return marks.failed, "failed"
    return "", "text"


def broken(row: Row) -> list[Rule]:
    """The rules that a frame breaks, the worst first."""
    known = [RULES[each] for each in dict.fromkeys(row.findings) if each in RULES]
    return sorted(known, key=lambda rule: SEVERITIES.index(rule.severity))


def kind(row: Row) -> str:
    """The kind in a word: ``request``, ``not a frame`` for what is no message."""
    return "not a frame" if row.kind is Kind.INVALID else row.kind.name.lower()


def subject(row: Row) -> str:
    """What a frame is about: method and name, or what it tells."""
    # Of an answer over HTTP that is not simply there, the status comes first.
    told = _subject(row)
    if row.status in (None, 200) or row.direction is not Direction.TO_CLIENT:
        return told
    return f"{row.status}  {told}" if told else str(row.status)


def _subject(row: Row) -> str:
    if row.kind is Kind.NOTIFICATION:
        return _notification(row)
    if row.kind is Kind.SSE and not row.size:
        return "an event without data"
    if row.kind in _TEXT_KINDS:
        return row.preview.decode("utf-8", "backslashreplace")
    if row.kind is Kind.PROCESS:
        return _process(row)
    if row.kind is Kind.NOTE:
        return _note(row)
    if row.method is None:
        return "answers no known request" if row.kind in (Kind.RESULT, Kind.ERROR) else ""
    return f"{row.method} {row.name}" if row.name is not None else row.method


def preview(row: Row) -> str:
    """The start of what a frame carries, its envelope left out; where ``subject`` says that, or there
    is nothing, what is wrong with the frame."""
    text = _preview(row)
    return text if text or not row.findings else next((rule.short for rule in broken(row)), "")


def _preview(row: Row) -> str:
    if row.kind in (*_TEXT_KINDS, Kind.PROCESS, Kind.NOTE):
        return ""
    if row.kind is Kind.ERROR:
        return error_words(row.preview)
    found = None
    for found in _INNER.finditer(row.preview, 0, 200):
        if b"arguments" not in found[0]:
            break
    asks = row.kind is Kind.REQUEST
    arguments = re.search(rb'"arguments"\s*:\s*', row.preview) if asks else None
    start = arguments.end() if arguments else found.end() if found else 0
    text = row.preview[start:].decode("utf-8", "backslashreplace")
    if len(row.preview) >= row.size:
        text = text[: -(2 if arguments else 1)] if text.endswith("}") else text
    return text


def error_words(body: bytes) -> str:
    """``-32601 Method not found`` of a JSON-RPC error, as far as the text shows it."""
    code = _CODE.search(body)
    message = _MESSAGE.search(body)
    parts = [code[1].decode() if code else "", _string(message[1]) if message else ""]
    return " ".join(part for part in parts if part)


def _string(text: bytes) -> str:
    try:
        value = loads(text)
    except ValueError:
        value = text.strip(b'"').decode("utf-8", "backslashreplace")
    return str(value)


def _notification(row: Row) -> str:
    name = row.method or ""
    short = name.removeprefix(_NOTIFICATIONS)
    if name == _NOTIFICATIONS + "progress":
        done, total = _PROGRESS.search(row.preview), _TOTAL.search(row.preview)
        if done:
            return f"{short} {done[1].decode()}" + (f" of {total[1].decode()}" if total else "")
    if name == _NOTIFICATIONS + "message":
        level = _LEVEL.search(row.preview)
        return f"{short} {level[1].decode()}" if level else short
    return f"{short} {row.name}" if row.name is not None else short


def _event(row: Row) -> dict[str, object]:
    try:
        value = loads(row.preview)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict):
        return value
    found = re.search(rb'"event"\s*:\s*"(\w+)"', row.preview)
    return {"event": found[1].decode()} if found else {}


class _Members(dict[str, object]):
    def __missing__(self, member: str) -> str:
        return "?"


def _process(row: Row) -> str:
    event = _event(row)
    name = str(event.get("event", ""))
    if name in _TOLD:
        told = _TOLD[name].format_map(_Members(event))
        return f"{told}: {event['why']}" if event.get("why") else told
    for member, words in (
        ("pid", f"{name}, pid {event.get('pid')}"),
        ("code", f"{name}, code {event.get('code')}"),
        ("signal", f"{name} by signal {event.get('signal')}"),
        ("name", f"{name} {event.get('name')} sent"),
        ("why", f"{name.replace('_', ' ')}: {event.get('why')}"),
        ("seconds", f"{name.replace('_', ' ')}, {event.get('seconds')} s"),
    ):
        if event.get(member) is not None:
            return words
    return name.replace("_", " ") or row.preview.decode("utf-8", "backslashreplace")


def _note(row: Row) -> str:
    event = _event(row)
    name = event.get("event")
    if name == "gap":
        return f"{event.get('frames')} frames were not recorded"
    if name == "answered":
        return f"answered by {event.get('by')}"
    if name == "probe":
        return "asks which era the server speaks"
    if name == "mark":
        return f"mark {event.get('text', '')}"
    return row.preview.decode("utf-8", "backslashreplace")
