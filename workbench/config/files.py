"""The files in which tools keep their servers: whose they are, where they lie, and reading one.

A file is a *project's* when it lies in the folder one works in or above it under
one of the known names: it came with the project, so nobody here has agreed to
what it starts. Anything else is the user's own.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from workbench.config.place import settings_path

#: Longer than any such file: what some tools keep beside their servers can grow to megabytes.
MAX_BYTES = 64 * 1024 * 1024

#: A project's files, nearest folder first, and whose form they have.
PROJECT_FILES = ((".mcp.json", "project"), (".vscode/mcp.json", "VS Code"), (".cursor/mcp.json", "Cursor"))

#: The places names are looked up in, by tier: files somebody named (from 0), the project's (nearer
#: folders first), our own list, the other tools' own.
PROJECT, OWN, TOOLS = 1000, 2000, 3000

#: Folders looked at from the one worked in upwards.
MAX_FOLDERS = 64


class ServerFile(NamedTuple):
    """A file that may hold servers.

    ``owner`` is whose it is, for people. ``workspace`` is the folder its servers belong to, empty for
    a user's file. ``project`` says whether it came with a project. ``tier`` orders the places a
    name is looked up in: what stands in a lower one is found first.
    """

    path: Path
    owner: str
    tier: int
    workspace: str = ""
    project: bool = False


class Unreadable(ValueError):
    """A file cannot be used; the message is a sentence's end without the file's name."""


def own_path(environ: Mapping[str, str] | None = None) -> Path:
    """Our own list, beside our settings (it need not exist)."""
    return settings_path(environ).with_name("servers.json")


def server_files(
    named: Sequence[str] = (),
    settings: Sequence[str] = (),
    folder: Path | None = None,
    environ: Mapping[str, str] | None = None,
) -> list[ServerFile]:
    """Every place servers are looked up in, in order, whether the file exists or not: the ``named``
    files, those of the ``settings``, the project's from ``folder`` upwards, our own list, the other
    tools' own. A file stands once."""
    environ = os.environ if environ is None else environ
    users = list(_tools(environ))
    theirs = {_same(path) for path, _ in users}
    found: list[ServerFile] = []
    for path in (*named, *settings):
        found.append(_named(Path(path).expanduser(), len(found), users))
    for depth, at in enumerate(_upwards(folder or Path.cwd())):
        for name, owner in PROJECT_FILES:
            if _same(at / name) not in theirs:
                found.append(ServerFile(at / name, owner, PROJECT + depth, str(at), True))
    found.append(ServerFile(own_path(environ), "MCP Workbench", OWN))
    found += [ServerFile(path, owner, TOOLS) for path, owner in users]
    seen: dict[str, ServerFile] = {}
    for file in found:
        seen.setdefault(_same(file.path), file)
    return list(seen.values())


def read_text(path: Path) -> str:
    """A file's text. Raises ``Unreadable``."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise Unreadable(f"is larger than {MAX_BYTES // 1024 // 1024} MB; name another file")
        return path.read_bytes().decode("utf-8")
    except OSError as error:
        raise Unreadable(f"cannot be read: {error.strerror}; correct it, or name another file") from None
    except UnicodeDecodeError as error:
        raise Unreadable(f"is not UTF-8 text (byte {error.start}); save it as UTF-8") from None


def short(path: Path | str) -> str:
    """A path as people write it: ``~`` for the home folder, and relative when it lies below here."""
    text = os.path.abspath(path)
    here, home = os.getcwd(), os.path.expanduser("~")
    if text.startswith(here.rstrip("/") + os.sep):
        return text[len(here.rstrip("/")) + 1 :]
    return f"~{text[len(home) :]}" if home != os.sep and text.startswith(home + os.sep) else text


def _named(path: Path, tier: int, users: Sequence[tuple[Path, str]]) -> ServerFile:
    """A file somebody named: by its name it may still have come with a project."""
    for user, owner in users:
        if _same(user) == _same(path):
            return ServerFile(path, owner, tier)
    full = path.absolute()
    for name, owner in PROJECT_FILES:
        if full.as_posix().endswith(f"/{name}"):
            workspace = full.parents[name.count("/")]
            return ServerFile(path, owner, tier, str(workspace), True)
    return ServerFile(path, path.name, tier)


def _upwards(folder: Path) -> Iterator[Path]:
    folder = folder.absolute()
    yield from (folder, *folder.parents)[:MAX_FOLDERS]


def _same(path: Path) -> str:
    return os.path.realpath(path)


def _tools(environ: Mapping[str, str]) -> Iterator[tuple[Path, str]]:
    """The files in which other tools keep the user's own servers."""
    home = Path(environ.get("HOME") or Path.home())
    if sys.platform == "win32":
        programs = Path(environ.get("APPDATA") or home / "AppData" / "Roaming")
    elif sys.platform == "darwin":
        programs = home / "Library" / "Application Support"
    else:
        programs = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    yield Path(environ.get("CLAUDE_CONFIG_DIR") or home) / ".claude.json", "Claude Code"
    yield programs / "Claude" / "claude_desktop_config.json", "Claude Desktop"
    yield programs / "Code" / "User" / "mcp.json", "VS Code"
    yield home / ".cursor" / "mcp.json", "Cursor"
    yield home / ".codeium" / "windsurf" / "mcp_config.json", "Windsurf"
