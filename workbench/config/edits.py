"""Changes to a JSON text that leave what stands around them as it is: comments, order, unknown members."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

from workbench.config.jsonc import Document, Fault, Node

_INDENT = "  "


def with_member(text: str, path: Sequence[str], value: Any) -> str:
    """The text with a value at the end of a path of names; objects on the way that are missing are
    made. Raises ``Fault`` when the text is not JSON, or something on the way is no object."""
    document = Document(text)
    node = document.root
    for depth, name in enumerate(path):
        if not isinstance(node.value, dict):
            raise Fault(f"{'.'.join(path[:depth]) or 'the document'} is not an object", node.start)
        member = node.value.get(name)
        if member is None:
            for missing in reversed(path[depth + 1 :]):
                value = {missing: value}
            return _inserted(document, node, depth + 1, name, value)
        node = member
    return f"{text[: node.start]}{_written(value, len(path))}{text[node.end :]}"


def without_member(text: str, path: Sequence[str]) -> str:
    """The text without what stands at the end of a path, as often as it is given; unchanged when
    there is nothing. Raises ``Fault`` when the text is not JSON."""
    while True:
        document = Document(text)
        holder: Node | None = document.root
        for name in path[:-1]:
            holder = holder.get(name) if holder is not None else None
        node = holder.get(path[-1]) if holder is not None else None
        if holder is None or node is None:
            return text
        text = _removed(document, holder, node)


def _written(value: Any, depth: int) -> str:
    lines = json.dumps(value, indent=_INDENT, ensure_ascii=False).splitlines()
    return "\n".join([lines[0], *(_INDENT * depth + line for line in lines[1:])])


def _inserted(document: Document, node: Node, depth: int, name: str, value: Any) -> str:
    text, end = document.text, node.end - 1
    last = max((member.end for member in node.value.values()), default=-1)
    comma = "," if last >= 0 and not _commas(document, last, end) else ""
    body = text[last:end] if last >= 0 else text[node.start + 1 : end]
    head = text[:last] if last >= 0 else text[: node.start + 1]
    member = f"{json.dumps(name, ensure_ascii=False)}: {_written(value, depth)}"
    inner, outer = _INDENT * depth, _INDENT * (depth - 1)
    return f"{head}{comma}{body.rstrip()}\n{inner}{member}\n{outer}{text[end:]}"


def _removed(document: Document, holder: Node, node: Node) -> str:
    text = document.text
    start, end = node.key, node.end
    after = _commas(document, end, _next_key(holder, node))
    if after:
        end = after[0] + 1
    else:
        before = _commas(document, holder.start, start)
        if before and before[-1] > _end_before(holder, node):
            text = f"{text[: before[-1]]} {text[before[-1] + 1 :]}"
    start, end = _whole_lines(text, start, end)
    return text[:start] + text[end:]


def _commas(document: Document, start: int, end: int) -> list[int]:
    commas = document.commas
    return commas[bisect_left(commas, start) : bisect_left(commas, end)]


def _next_key(holder: Node, node: Node) -> int:
    keys = [member.key for member in holder.value.values() if member.key > node.end]
    return min(keys, default=holder.end)


def _end_before(holder: Node, node: Node) -> int:
    return max((member.end - 1 for member in holder.value.values() if member.end < node.key), default=-1)


def _whole_lines(text: str, start: int, end: int) -> tuple[int, int]:
    """What is alone on its lines takes them with it."""
    line = text.rfind("\n", 0, start) + 1
    rest = text.find("\n", end)
    rest = len(text) if rest < 0 else rest
    if text[line:start].strip() or text[end:rest].strip():
        return start, end
    return line, min(rest + 1, len(text))
