"""The headers that repeat what an HTTP request's body says, for whoever routes without reading bodies.

``MCP-Protocol-Version`` is as old as 2025-06-18; ``Mcp-Method``, ``Mcp-Name`` and
``Mcp-Param-*`` came with 2026-07-28 ("Transports: standard request headers" and
"custom headers from tool parameters"). The same rules serve the client, which
writes them, and a server or a check, which compares them with the body.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from workbench.core.jsonrpc import Message, Number
from workbench.core.peek import peek

VERSION_HEADER = "MCP-Protocol-Version"
METHOD_HEADER = "Mcp-Method"
NAME_HEADER = "Mcp-Name"
PARAM_HEADER = "Mcp-Param-"

#: The first revision in which a client names the agreed revision in a header.
VERSION_HEADER_SINCE = "2025-06-18"

#: Keys of ``params._meta`` that every request carries in the stateless era.
META = "io.modelcontextprotocol/"
VERSION_KEY = META + "protocolVersion"

#: The member of ``params`` that ``Mcp-Name`` repeats (the tasks extension brings the last three).
NAMED: Mapping[str, str] = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
    "tasks/get": "taskId",
    "tasks/update": "taskId",
    "tasks/cancel": "taskId",
}

#: The annotation in a property's schema.
ANNOTATION = "x-mcp-header"

#: Integers beyond it are not the same to every reader (the rule of 2026-07-28 for header values).
MAX_INTEGER = 2**53 - 1

#: Nodes of a schema that are searched for annotations, and how deep; a hostile one has more.
MAX_NODES = 10_000
MAX_DEPTH = 32

_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_PLAIN = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")
_SENTINEL = re.compile(r"=\?base64\?(.*)\?=", re.IGNORECASE | re.DOTALL)

Header = tuple[str, str]


# Values


def encode(text: str) -> str:
    """A value as a header carries it: as it is, or in base64 where a header could not hold it."""
    if (not text or _PLAIN.fullmatch(text)) and not _SENTINEL.fullmatch(text):
        return text
    raw = base64.b64encode(text.encode("utf-8", "surrogatepass")).decode("ascii")
    return f"=?base64?{raw}?="


def decode(value: str) -> str | None:
    """What a header's value stands for; ``None`` where it claims to be base64 and is not."""
    found = _SENTINEL.fullmatch(value)
    if found is None:
        return value
    try:
        raw = base64.b64decode(found[1], validate=True)
        if base64.b64encode(raw).decode("ascii") != found[1]:
            return None
        return raw.decode("utf-8")
    except (binascii.Error, ValueError):
        return None


def text_of(value: Any) -> str | None:
    """An argument as header text; ``None`` for what no header carries (null, numbers with a
    fraction, arrays, objects)."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Number) and value.is_integer():
        return str(int(value))
    return None


# Annotations of a tool


class Annotations(NamedTuple):
    """What a tool's schema asks for: the header's last part -> the path of the argument it repeats,
    and the faults that make the tool's annotations invalid (sentences without a full stop)."""

    paths: Mapping[str, tuple[str, ...]]
    faults: tuple[str, ...]


def annotated(schema: Any) -> Annotations:
    """The header annotations of an ``inputSchema``, whatever it is."""
    paths: dict[str, tuple[str, ...]] = {}
    faults: list[str] = []
    stack: list[tuple[Any, tuple[str, ...], bool]] = [(schema, (), True)]
    nodes = 0
    while stack and nodes < MAX_NODES:
        node, path, reachable = stack.pop()
        nodes += 1
        if isinstance(node, dict):
            if ANNOTATION in node:
                _take(node, path, reachable, paths, faults)
            if len(path) < MAX_DEPTH:
                stack += _below(node, path, reachable)
        elif isinstance(node, list):
            stack += [(item, path, False) for item in node]
    return Annotations(paths, tuple(faults[:20]))


def _below(
    node: dict[str, Any], path: tuple[str, ...], reachable: bool
) -> list[tuple[Any, tuple[str, ...], bool]]:
    """The schemas below one: those of its properties, which arguments reach, and all others."""
    further: list[tuple[Any, tuple[str, ...], bool]] = []
    for key, value in node.items():
        if key == "properties" and isinstance(value, dict):
            further += [(inner, (*path, name), reachable) for name, inner in value.items()]
        elif isinstance(value, (dict, list)) and key not in ("default", "const", "enum", "examples"):
            further.append((value, (*path, key), False))
    return further


def _take(
    node: dict[str, Any],
    path: tuple[str, ...],
    reachable: bool,
    paths: dict[str, tuple[str, ...]],
    faults: list[str],
) -> None:
    name = node[ANNOTATION]
    where = "/".join(path)[:100] or "the root"
    if not isinstance(name, str) or not _TOKEN.fullmatch(name):
        faults.append(f"{ANNOTATION} of {where} is no header name")
    elif not reachable or not path:
        faults.append(
            f"{ANNOTATION} of {where} is not on a property that is reached through properties alone"
        )
    elif node.get("type") not in ("string", "integer", "boolean"):
        faults.append(f"{ANNOTATION} of {where} is not on a string, an integer or a boolean")
    elif name.lower() in (known.lower() for known in paths):
        faults.append(f"{ANNOTATION} {name[:40]} is used twice")
    else:
        paths[name] = path


# Headers of a request


def headers(message: Message, version: str | None = None, schema: Any = None) -> tuple[Header, ...]:
    """The headers of a request or notification as it is about to be sent over HTTP.

    ``version`` is the revision to name where the body names none; ``schema`` is the called
    tool's ``inputSchema``, if it is known. An annotation that is invalid gives no header.
    """
    named = peek(message, "params", "_meta", VERSION_KEY)
    revision = named if isinstance(named, str) else version
    found: list[Header] = [] if revision is None else [(VERSION_HEADER, encode(revision))]
    if message.id is None or message.method is None:
        return tuple(found)
    found.append((METHOD_HEADER, encode(message.method)))
    name = _name(message)
    if name is not None:
        found.append((NAME_HEADER, encode(name)))
    if message.method == "tools/call" and schema is not None:
        found += _parameters(message, schema)
    return tuple(found)


def _name(message: Message) -> str | None:
    member = NAMED.get(message.method or "")
    value = peek(message, "params", member) if member else None
    return value if isinstance(value, str) else None


def _parameters(message: Message, schema: Any) -> list[Header]:
    found: list[Header] = []
    for name, path in annotated(schema).paths.items():
        text = text_of(peek(message, "params", "arguments", *path))
        if text is not None:
            found.append((PARAM_HEADER + name, encode(text)))
    return found


# Headers against a body


def mismatches(sent: Iterable[Header], message: Message, schema: Any = None) -> list[str]:
    """What is wrong with the headers of a request, each as a sentence without a full stop; empty
    where they say what the body says. ``schema`` is the called tool's ``inputSchema``."""
    values: dict[str, list[str]] = {}
    for name, value in sent:
        values.setdefault(name.lower(), []).append(value)
    faults: list[str] = []
    for name, wanted in _wanted(message).items():
        faults += _compare(name, values.get(name.lower(), []), wanted)
    if message.method == "tools/call" and schema is not None:
        for name, path in annotated(schema).paths.items():
            argument = peek(message, "params", "arguments", *path)
            header = PARAM_HEADER + name
            faults += _compare(header, values.get(header.lower(), []), text_of(argument), argument)
    return faults


def _wanted(message: Message) -> dict[str, str | None]:
    version = peek(message, "params", "_meta", VERSION_KEY)
    wanted: dict[str, str | None] = {VERSION_HEADER: version if isinstance(version, str) else None}
    if message.id is not None:
        wanted[METHOD_HEADER] = message.method
        if message.method in NAMED:
            wanted[NAME_HEADER] = _name(message)
    return wanted


def _compare(name: str, values: list[str], wanted: str | None, argument: Any = None) -> list[str]:
    if len(values) > 1:
        return [f"the header {name} is there {len(values)} times"]
    if not values:
        return [] if wanted is None else [f"the header {name} is missing"]
    said = decode(values[0])
    if said is None:
        return [f"the header {name} is no valid base64"]
    if wanted is None:
        return [] if name == VERSION_HEADER else [f"the header {name} repeats nothing of the body"]
    same = said == wanted or (_is_integer(argument) and _as_integer(said) == int(argument))
    return [] if same else [f"the header {name} says {said[:60]!r}, the body {wanted[:60]!r}"]


def _is_integer(value: Any) -> bool:
    if isinstance(value, bool):
        return False
    return isinstance(value, int) or (isinstance(value, Number) and value.is_integer())


def _as_integer(text: str) -> int | None:
    if not re.fullmatch(r"-?\d{1,20}(\.0+)?", text, re.ASCII):
        return None
    return int(text.partition(".")[0])
