"""``sessions edit``, with options and in an editor."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.cli.command import on_a_terminal, workbench
from tests.replay.build import Tape, call, text
from tests.replay.serving import saved
from workbench.store.copying import copy
from workbench.store.reader import Reader

#: An editor that puts one text for another.
EDITOR = """\
import sys
path = sys.argv[-1]
text = open(path, encoding="utf-8").read()
open(path, "w", encoding="utf-8").write(text.replace(sys.argv[1], sys.argv[2]))
sys.exit(int(sys.argv[3]))
"""


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    made = saved(Tape().hello().c(call(2, "t")).s(text(2, "one")), tmp_path / "made.db")
    copy(str(made), str(tmp_path / "a.jsonl"))
    return tmp_path / "a.jsonl"


def test_it_says_what_it_wrote_whether_it_replays_and_marks_what_changed(recording: Path) -> None:
    done = workbench("sessions", "edit", str(recording), "--set", "5", "/result/content/0/text", '"two"')
    assert (done.returncode, done.stdout) == (0, "server-1 replays 100 %\n"), done.stderr
    assert str(recording) in done.stderr
    shown = workbench("sessions", "frames", str(recording)).stdout.splitlines()
    assert [" edited " in line for line in shown] == [False] * 4 + [True]
    frames = [
        json.loads(line)
        for line in workbench("sessions", "frames", str(recording), "--json").stdout.splitlines()
    ]
    assert [frame.get("how") for frame in frames] == [None] * 4 + ["edited"]
    assert "1 edited" in workbench("sessions", "show", str(recording)).stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "say what to change"),
        (["--answer", "4", "{oops"], "is no JSON"),
        (["--answer", "99", "{}"], "no frame 99"),
        (["--match-ignore", "n"], "JSON pointer begins with /"),
        (["--no-match-ignore", "/n"], "no rule /n is kept"),
        (["--drop", "4", "-o", "/nowhere/at/all.jsonl"], "does not exist"),
    ],
)
def test_what_cannot_be_is_a_sentence_and_changes_nothing(
    recording: Path, words: list[str], said: str
) -> None:
    before = recording.read_bytes()
    done = workbench("sessions", "edit", str(recording), *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert recording.read_bytes() == before


def in_editor(recording: Path, tmp_path: Path, *words: str) -> tuple[int, str]:
    script = tmp_path / "editor.py"
    script.write_text(EDITOR)
    command = " ".join([sys.executable, str(script), *words])
    status, written = on_a_terminal(["sessions", "edit", str(recording)], {"VISUAL": command})
    return status, " ".join(written.decode().split())


def test_an_editor_may_change_it(recording: Path, tmp_path: Path) -> None:
    status, said = in_editor(recording, tmp_path, '"one"', '"two"', "0")
    assert (status, "replays 100 %" in said) == (0, True)
    with Reader.open(str(recording)) as reader:
        assert json.loads(reader.body(5)) == text(2, "two")
        assert reader.provenance() == {5: "edited"}


def test_an_editor_that_fails_or_leaves_nonsense_changes_nothing_and_loses_nothing(
    recording: Path, tmp_path: Path
) -> None:
    before = recording.read_bytes()
    assert in_editor(recording, tmp_path, "nothing", "else", "0") == (0, "nothing was changed")
    status, said = in_editor(recording, tmp_path, '"one"', '"two"', "3")
    assert (status, "status 3" in said) == (2, True)
    status, said = in_editor(recording, tmp_path, "to_client", "sideways", "0")
    assert status == 7
    kept = Path(said.split("What you wrote is in ")[1].split(";")[0])
    assert "sideways" in kept.read_text()
    assert recording.read_bytes() == before
