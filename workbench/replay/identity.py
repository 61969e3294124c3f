"""Where a body names its identity, so that only that is rewritten.

A body is cut at the few places that must carry a live value (the id of an
answer, a progress token, the id a cancel names); everything between stays as
the bytes that were recorded. The value put in keeps its live JSON type.
"""

from __future__ import annotations

from typing import NamedTuple

from workbench.core.splice import members_of


class Cut(NamedTuple):
    """A body in ``parts``, with a place between each two; ``values`` is what stood there (JSON text)
    and ``places`` what it is: ``id``, ``token`` or ``request`` (the id that a cancel names)."""

    parts: tuple[bytes, ...]
    places: tuple[str, ...] = ()
    values: tuple[str, ...] = ()

    def filled(self, live: dict[str, str]) -> bytes:
        """The body with live values (JSON text) put in; a place without one keeps its own."""
        if not self.places:
            return self.parts[0]
        out = [self.parts[0]]
        for place, value, part in zip(self.places, self.values, self.parts[1:], strict=True):
            out.append(live.get(place, value).encode("utf-8", "surrogateescape"))
            out.append(part)
        return b"".join(out)


def cut_answer(body: bytes) -> Cut:
    return _cut(body, (("id",),), ("id",))


def cut_request(body: bytes) -> Cut:
    return _cut(body, (("id",),), ("id",))


def cut_notification(body: bytes, method: str) -> Cut:
    if method == "notifications/progress":
        return _cut(body, (("params", "progressToken"),), ("token",))
    if method == "notifications/cancelled":
        return _cut(body, (("params", "requestId"),), ("request",))
    return Cut((body,))


def _cut(body: bytes, paths: tuple[tuple[str, ...], ...], places: tuple[str, ...]) -> Cut:
    text = body.decode("utf-8", "surrogateescape")
    parts: list[bytes] = []
    kept: list[str] = []
    values: list[str] = []
    at = 0
    for path, place in zip(paths, places, strict=True):
        found = _find(text, path)
        if found is None:
            continue
        start, end = found
        parts.append(text[at:start].encode("utf-8", "surrogateescape"))
        kept.append(place)
        values.append(text[start:end])
        at = end
    if not kept:
        return Cut((body,))
    parts.append(text[at:].encode("utf-8", "surrogateescape"))
    return Cut(tuple(parts), tuple(kept), tuple(values))


def _find(text: str, path: tuple[str, ...]) -> tuple[int, int] | None:
    offset, end = 0, len(text)
    if text.startswith("\ufeff"):
        offset = 1
    for key in path:
        members = members_of(text[offset:end])
        if members is None or key not in members:
            return None
        member = members[key]
        offset, end = offset + member.start, offset + member.end
    return offset, end
