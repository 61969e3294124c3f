"""A text in the user's own editor, while the screen steps aside."""

from __future__ import annotations

import contextlib
import os
import shlex
import subprocess
import tempfile
from collections.abc import Mapping

from textual.app import App, SuspendNotSupported


def editor_of(environ: Mapping[str, str]) -> list[str]:
    """The command of the user's editor."""
    for name in ("VISUAL", "EDITOR"):
        words = shlex.split(environ.get(name, ""))
        if words:
            return words
    return ["vi"]


def edit(app: App[object], text: str, suffix: str = ".json") -> tuple[str | None, str]:
    """Have a text edited; the new text, ``None`` if it cannot be had, and a sentence that says why."""
    handle, path = tempfile.mkstemp(suffix=suffix, prefix="mcp-workbench-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)
        command = [*editor_of(os.environ), path]
        try:
            with app.suspend():
                done = subprocess.run(command, check=False)
        except SuspendNotSupported:
            return None, "This terminal cannot be lent to an editor; e edits in place."
        except OSError as error:
            return None, f"{command[0]} cannot be started ({error.strerror}); set EDITOR to another editor."
        if done.returncode:
            return None, f"{command[0]} ended with code {done.returncode}, so nothing was changed."
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read(), ""
    finally:
        with contextlib.suppress(OSError):
            os.unlink(path)
