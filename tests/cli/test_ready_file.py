"""The file that tells where clients come: never what another run has left, and never half of a URL."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from workbench.errors import RecordingError
from workbench.wire import ready


@pytest.mark.parametrize(
    "words",
    [["replay", "server", "missing.db", "--listen", "127.0.0.1:0"], ["record", "--http", "http://[::1"]],
)
def test_what_another_run_has_left_is_gone_before_anything_can_fail(tmp_path: Path, words: list[str]) -> None:
    left = tmp_path / "url"
    left.write_text("http://127.0.0.1:1/mcp\n")
    command = [sys.executable, "-m", "workbench", *words, "--ready-file", str(left)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False, timeout=60)
    assert done.returncode in (2, 7), done.stderr
    assert not left.exists()


def test_it_is_whole_and_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    ready.tell(None, "http://nowhere")
    ready.tell(str(tmp_path / "url"), "http://here/mcp")
    assert (tmp_path / "url").read_text() == "http://here/mcp\n"
    assert os.listdir(tmp_path) == ["url"]
    with pytest.raises(RecordingError, match="cannot be written"):
        ready.tell(str(tmp_path / "none" / "url"), "http://here/mcp")
