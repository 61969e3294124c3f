"""What a mock client made of a recording would follow: what the server gave and the client used later."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from workbench.core.frame import Frame
from workbench.replay.client_script import build
from workbench.replay.correlate import Correlations, Rules, spellings
from workbench.replay.diff import pointer_of
from workbench.replay.turns import ClientScript


class Followed(NamedTuple):
    """A value: the frame that gave it and where it stood in its result (or error, or params), and the frames
    of the client that had it."""

    seq: int
    pointer: str
    value: str
    used: tuple[int, ...]


def followable(frames: Sequence[Frame], rules: Rules) -> list[Followed]:
    """The values of one connection, in the order in which they were given."""
    script = build(frames)
    correlations = Correlations(script, unused=False, rules=rules)
    said = list(script.said())
    found: dict[str, Followed] = {}
    for seq, given in sorted(_given(script), key=lambda each: each[0]):
        for path, text in _strings(given):
            if text in found or not correlations.follows(path, text, seq):
                continue
            forms = spellings(text)
            used = tuple(at for at, body in said if at > seq and any(form in body for form in forms))
            if used:
                found[text] = Followed(seq, pointer_of(path), text, used)
    return list(found.values())


def _given(script: ClientScript) -> Iterator[tuple[int, Any]]:
    for request in script.requests.values():
        if request.answer is not None and request.answer_seq is not None:
            for member in ("result", "error"):
                value = request.answer.value(member)
                if value is not None:
                    yield request.answer_seq, value
    for query in script.queries.values():
        yield query.seq, query.params


def _strings(value: Any) -> Iterator[tuple[tuple[str, ...], str]]:
    stack: list[tuple[tuple[str, ...], Any]] = [((), value)]
    while stack:
        path, each = stack.pop()
        if isinstance(each, dict):
            stack += [((*path, key), item) for key, item in reversed(each.items())]
        elif isinstance(each, list):
            stack += [((*path, str(at)), item) for at, item in reversed(list(enumerate(each)))]
        elif isinstance(each, str) and each:
            yield path, each
