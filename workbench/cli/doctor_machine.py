"""What this machine and this terminal can do, as far as the workbench is concerned."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from importlib.metadata import PackageNotFoundError, version

from workbench.errors import WorkbenchError
from workbench.wire.diagnose import FAILED, NOTED, OK, Step

#: Packages whose version matters when something is reported.
PACKAGES = ("textual", "rich", "anyio", "pydantic", "httpx", "mcp-types", "sqlite-utils")

#: Programs that servers are commonly started with.
LAUNCHERS = ("node", "npx", "uvx", "docker")

#: Less free space than this is told (bytes).
LITTLE_SPACE = 1_000_000_000

#: The smallest screen that everything can be reached on (columns, rows).
SMALLEST = (60, 15)


def machine() -> list[Step]:
    """All there is to say, in the order one reads it."""
    return [*_versions(), *_terminal(), *_places(), *_programs()]


def _versions() -> list[Step]:
    steps = [
        Step("mcp-workbench", OK, _version("mcp-workbench")),
        Step("Python", OK, f"{platform.python_version()} on {platform.system()} {platform.release()}"),
    ]
    missing = [name for name in PACKAGES if not _version(name)]
    told = ", ".join(f"{name} {_version(name)}" for name in PACKAGES if name not in missing)
    steps.append(Step("packages", OK, told))
    if missing:
        says = f"{', '.join(missing)} cannot be found."
        steps.append(Step("packages", FAILED, says, "Install mcp-workbench again with pip."))
    return steps


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _terminal() -> list[Step]:
    environ = os.environ
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        says = "stdin or stderr is no terminal; the screen needs one, every other command does not"
        return [Step("terminal", NOTED, says)]
    name = environ.get("TERM", "")
    columns, rows = shutil.get_terminal_size()
    steps = [Step("terminal", OK, f"TERM={name or 'not set'}, {columns} columns, {rows} rows")]
    if columns < SMALLEST[0] or rows < SMALLEST[1]:
        says = f"The screen needs at least {SMALLEST[0]} columns and {SMALLEST[1]} rows."
        steps.append(Step("size", FAILED, says, "Make the terminal larger."))
    steps.append(Step("colours", OK, _colours(environ.get("COLORTERM", ""), name)))
    encoding = sys.stdout.encoding or ""
    utf8 = encoding.lower().replace("-", "") == "utf8"
    steps.append(Step("characters", OK, encoding if utf8 else f"{encoding}; marks are drawn in ASCII"))
    if environ.get("TMUX") or environ.get("STY"):
        says = "inside tmux or screen: copying needs set-clipboard on (tmux)"
        steps.append(Step("multiplexer", NOTED, says))
    return steps


def _colours(colorterm: str, name: str) -> str:
    if os.environ.get("NO_COLOR"):
        return "none, because NO_COLOR is set"
    if colorterm in ("truecolor", "24bit"):
        return "all"
    return "256" if "256" in name else "16"


def _places() -> list[Step]:
    from workbench.config import load_settings, settings_path
    from workbench.store.library import folder

    path = settings_path()
    try:
        load_settings()
    except WorkbenchError as error:
        steps = [Step("settings", FAILED, str(error), f"Correct {path}.")]
    else:
        steps = [Step("settings", OK, f"{path}{'' if path.exists() else ' (not there: defaults)'}")]
    return [*steps, *_store(folder())]


def _store(store: str) -> list[Step]:
    there = store
    while there and not os.path.exists(there):  # it is made when the first recording is
        there = os.path.dirname(there)
    if not os.path.isdir(there or os.sep) or not os.access(there or os.sep, os.W_OK):
        says = f"{store} cannot be written to."
        return [Step("recordings", FAILED, says, "Name a writable folder with MCP_WORKBENCH_STORE.")]
    free = shutil.disk_usage(there or os.sep).free
    steps = [Step("recordings", OK, f"{store}, {free / 1e9:.1f} GB free")]
    if free < LITTLE_SPACE:
        steps.append(Step("space", FAILED, "Little space is left for recordings.", "Make room on the disk."))
    return steps


def _programs() -> list[Step]:
    found = {name: shutil.which(name) for name in LAUNCHERS}
    return [Step(name, OK if path else NOTED, path or "not found in PATH") for name, path in found.items()]
