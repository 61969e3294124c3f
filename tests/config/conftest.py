from __future__ import annotations

from pathlib import Path

import pytest

from tests.config.here import Here, set_up


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Here:
    """An empty home folder, and an empty project in it to work in."""
    return set_up(tmp_path, monkeypatch)
