"""A home folder and a project of a test's own, and the files of other tools in them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

FILES = Path(__file__).parent / "files"


class Here:
    """``home`` and ``project``; the test works in the project."""

    def __init__(self, home: Path, project: Path) -> None:
        self.home = home
        self.project = project

    def write(self, path: str, content: Any) -> Path:
        """A file below the home folder (``~/…``) or the project: an object, text, or a file of ``files/``."""
        place = self.home / path[2:] if path.startswith("~/") else self.project / path
        place.parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
        place.write_text(text, encoding="utf-8")
        return place

    def copy(self, name: str, path: str) -> Path:
        text = (FILES / name).read_text(encoding="utf-8")
        return self.write(path, text.replace("@PROJECT@", os.fspath(self.project)))


def set_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Here:
    home, project = tmp_path / "home", tmp_path / "home" / "work" / "project"
    project.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    for name in ("XDG_CONFIG_HOME", "APPDATA", "CLAUDE_CONFIG_DIR", "MCP_WORKBENCH_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(project)
    return Here(home, project)
