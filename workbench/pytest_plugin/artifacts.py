"""What a test that failed leaves behind: its own replays as recordings, and the report."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
from collections.abc import Sequence
from typing import Any

import pytest

from workbench.core.jsonrpc import dumps
from workbench.errors import RecordingError
from workbench.store.copying import copy

#: Characters of a test's name that its folder has; file systems take 255 bytes.
_MOST = 100


def place(config: pytest.Config, nodeid: str) -> str:
    """The folder for what a test leaves; no two tests have the same."""
    readable = re.sub(r"[^A-Za-z0-9.]+", "-", nodeid).strip("-.")[-_MOST:]
    mark = hashlib.sha256(nodeid.encode("utf-8", "surrogateescape")).hexdigest()[:8]
    return os.path.join(config.rootpath, config.getoption("mcp_artifacts"), f"{readable}-{mark}")


def open_lines(recordings: Sequence[str], where: str) -> list[str]:
    """The commands that open what will be left in ``where``, to be typed where pytest was."""
    paths = (os.path.relpath(os.path.join(where, os.path.basename(path))) for path in recordings)
    return [f"mcp-workbench open {shlex.quote(path)}" for path in paths]


def leave(recordings: Sequence[str], report: dict[str, Any] | None, where: str) -> None:
    """Copy recordings there, in place of what an earlier run has left, and write the report."""
    shutil.rmtree(where, ignore_errors=True)
    os.makedirs(where)
    for path in recordings:
        try:
            copy(path, os.path.join(where, os.path.basename(path)))
        except RecordingError as error:
            with open(os.path.join(where, "trouble.txt"), "a", encoding="utf-8") as out:
                out.write(f"{error}\n")
    if report is not None:
        path = os.path.join(where, "report.json")
        with open(path, "w", encoding="utf-8", errors="backslashreplace") as out:
            out.write(dumps(report) + "\n")
