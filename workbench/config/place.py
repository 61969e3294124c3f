"""Where the user's settings lie, and whether there are any; light, so that a screen can ask first."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

PREFIX = "MCP_WORKBENCH_"

#: Variables with our prefix that are no settings of the file: the file's place and the store's.
ELSEWHERE = frozenset(("config", "store"))


def settings_path(environ: Mapping[str, str] | None = None) -> Path:
    """Where the settings file is (it need not exist)."""
    environ = os.environ if environ is None else environ
    named = environ.get(f"{PREFIX}CONFIG")
    if named:
        return Path(named).expanduser()
    home = Path(environ.get("HOME") or Path.home())
    if sys.platform == "win32":
        folder = Path(environ.get("APPDATA") or home / "AppData" / "Roaming")
    elif sys.platform == "darwin":
        folder = home / "Library" / "Application Support"
    else:
        folder = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    return folder / "mcp-workbench" / "config.toml"


def are_given(environ: Mapping[str, str] | None = None) -> bool:
    """Whether there are settings at all; without any, the defaults hold and nothing need be read."""
    environ = os.environ if environ is None else environ
    named = any(
        name.startswith(PREFIX) and name.removeprefix(PREFIX).lower() not in ELSEWHERE for name in environ
    )
    return named or settings_path(environ).exists()
