"""What a test's marker says: which recording, and how it is replayed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

import pytest

from workbench.pytest_plugin import MARKER

#: Keyword -> option of ``replay server`` with a value.
_VALUED = {
    "match": "--match",
    "after": "--after",
    "on_answer": "--on-answer",
    "order": "--order",
    "timing": "--timing",
}
_REPEATED = {"ignore": "--ignore", "fault": "--fault"}
_OTHERS = ("strict", *_REPEATED, "connection", "transport", "server")

#: The forms a recording can have, in the order they are looked for.
_SUFFIXES = (".jsonl", ".db")


class Marked(NamedTuple):
    """``name`` as in the marker, ``path`` the file (which may not be there), ``words`` options of ``replay
    server``. ``connection`` is the one that every client gets, empty for one after the other."""

    name: str
    path: str
    words: tuple[str, ...]
    connection: str
    strict: bool
    transport: str
    server: Any

    @property
    def file(self) -> str:
        """FILE as ``replay server`` takes it, where it can play one connection only."""
        return f"{self.path}#/{self.connection}" if self.connection else self.path


def marked(item: pytest.Item) -> Marked:
    """What the closest marker of a test says. Raises ``pytest.UsageError``."""
    marker = item.get_closest_marker(MARKER)
    if marker is None:
        raise pytest.UsageError(
            f'{item.nodeid} wants a recording and names none; add @pytest.mark.{MARKER}("NAME").'
        )
    if len(marker.args) != 1 or not isinstance(marker.args[0], str) or not marker.args[0]:
        raise pytest.UsageError(f'{MARKER} takes the name of one recording: {MARKER}("NAME").')
    unknown = sorted(marker.kwargs.keys() - {*_VALUED, *_OTHERS})
    if unknown:
        known = ", ".join((*_OTHERS[:3], *_VALUED, *_OTHERS[3:]))
        raise pytest.UsageError(f"{MARKER} knows no {unknown[0]}; there are {known}.")
    given = marker.kwargs
    transport = given.get("transport", "http")
    if transport not in ("http", "sse"):
        raise pytest.UsageError(f"{MARKER}: transport is http or sse, and is that of mcp_url.")
    return Marked(
        marker.args[0],
        _path(item.config, marker.args[0]),
        tuple(_words(given)),
        str(given.get("connection", "")),
        bool(given.get("strict", False)),
        transport,
        given.get("server"),
    )


def _words(given: Any) -> Sequence[str]:
    words = [f"{option}={given[name]}" for name, option in _VALUED.items() if name in given]
    for name, option in _REPEATED.items():
        several = given.get(name, ())
        words += [f"{option}={each}" for each in ([several] if isinstance(several, str) else several)]
    return [*words, "--strict"] if given.get("strict") else words


def _path(config: pytest.Config, name: str) -> str:
    """Where the recording is, or would be: in the folder of recordings, whatever its form."""
    folder = os.path.join(config.rootpath, config.getini("mcp_sessions"))
    path = os.path.join(folder, name)
    if name.endswith(_SUFFIXES):
        return path
    for suffix in _SUFFIXES:
        if os.path.exists(path + suffix):
            return path + suffix
    return path + _SUFFIXES[0]
