"""Our own list of servers: ``servers.json`` beside our settings, in the form other tools share."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench.config.dialects import OURS
from workbench.config.edits import with_member, without_member
from workbench.config.entries import KEPT
from workbench.config.files import Unreadable, own_path, read_text, short
from workbench.config.jsonc import Document, Fault
from workbench.config.saving import write_private
from workbench.config.targets import Target
from workbench.config.variables import put_back
from workbench.errors import UsageError

_SECTION = "mcpServers"

#: What we write into an entry; everything else in it is left as it is.
_WRITTEN = ("type", "command", "args", "env", "cwd", "url", "headers", OURS)


def keep_target(name: str, target: Target, path: Path | None = None) -> Path:
    """Put a target on the list under a name, in the place of one that has it; returns the list's
    file. Secrets that came from a variable or an input are written as that. Raises ``UsageError``."""
    if not name.strip():
        raise UsageError("the name is empty; give the server a name to keep it under")
    path = path or own_path()
    text = _text(path)
    try:
        servers = Document(text).root.get(_SECTION)
        found = servers.get(name) if servers is not None else None
        before = found.plain() if found is not None else {}
        others = (
            {key: value for key, value in before.items() if key not in _WRITTEN} if _is_map(before) else {}
        )
        write_private(path, with_member(text, (_SECTION, name), {**entry_of(target), **others}))
    except Fault as error:
        raise _broken(path, text, error) from None
    return path


def forget(name: str, path: Path | None = None) -> Path:
    """Take a server off the list; returns the list's file. Raises ``UsageError`` when it is not on it."""
    path = path or own_path()
    text = _text(path)
    try:
        servers = Document(text).root.get(_SECTION)
        names = list(servers.value) if servers is not None and _is_map(servers.value) else []
        if name not in names:
            there = ", ".join(names[:20]) or "none"
            raise UsageError(
                f"{short(path)} has no server {name!r} (there: {there}); only our own list is changed"
            )
        write_private(path, without_member(text, (_SECTION, name)))
    except Fault as error:
        raise _broken(path, text, error) from None
    return path


def entry_of(target: Target) -> dict[str, Any]:
    """A target as an entry of a server file."""

    def text(value: str) -> str:
        return put_back(value, target.secrets)

    def texts(values: Mapping[str, str | None]) -> dict[str, Any]:
        return {name: None if value is None else text(value) for name, value in values.items()}

    entry: dict[str, Any]
    if target.transport == "stdio":
        entry = {"command": text(target.command), "args": [text(word) for word in target.args]}
        entry["env"] = texts(target.env)
        entry["cwd"] = None if target.cwd is None else text(target.cwd)
    else:
        entry = {"type": target.transport} if target.transport in ("http", "sse") else {}
        entry |= {"url": text(target.url), "headers": texts(target.headers)}
    entry[OURS] = _ours(target)
    return {key: value for key, value in entry.items() if value not in (None, {}, [])}


def _ours(target: Target) -> dict[str, Any]:
    if target.oauth is not None and target.oauth.secrets:
        raise UsageError(
            "a client's secret or key is not kept; leave it out here, and give it when the server is used"
        )
    kept = target.model_dump(mode="json", include=set(KEPT) - {"transport"}, exclude_defaults=True)
    if target.transport not in ("stdio", "http", "sse"):
        kept["transport"] = target.transport
    return kept


def _text(path: Path) -> str:
    if not path.exists():
        return "{}\n"
    try:
        return read_text(path)
    except Unreadable as error:
        raise UsageError(f"{short(path)} {error}") from None


def _broken(path: Path, text: str, error: Fault) -> UsageError:
    before = text[: error.at]
    line, column = before.count("\n") + 1, error.at - before.rfind("\n")
    return UsageError(f"{short(path)}:{line}:{column}: {error}; correct it, nothing was written")


def _is_map(value: Any) -> bool:
    return isinstance(value, dict)
