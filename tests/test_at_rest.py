"""The recordings of the repository, and any other at rest: reading one changes nothing at all."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.command import workbench
from tests.servers.targets import ROOT
from tests.store.test_text import rows_of
from workbench.core.frame_filter import parse_filter
from workbench.demo.recording import RECORDING
from workbench.keep import check
from workbench.store.copying import copy, export, import_file
from workbench.store.reader import Reader

#: Every recording that is kept in the repository, in either form.
KEPT = sorted(
    path
    for folder in (ROOT / "sessions", Path(RECORDING).parent)
    for path in folder.iterdir()
    if path.suffix in (".db", ".jsonl")
)

#: Both forms of each; two files of the same bytes are one.
FORMS = [
    (path, suffix)
    for path in {path.read_bytes(): path for path in reversed(KEPT)}.values()
    for suffix in (".jsonl", ".db")
]

INITIALIZE = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": "first",
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"},
        },
    }
)

State = dict[str, tuple[int, int, bytes]]


def state(folder: Path) -> State:
    """Every file: its mode, when it was changed, its bytes. The folder's own time tells of a
    neighbour that came and went."""
    files = {
        path.name: (path.stat().st_mode, path.stat().st_mtime_ns, path.read_bytes())
        for path in sorted(folder.iterdir())
    }
    return {".": (folder.stat().st_mode, folder.stat().st_mtime_ns, b""), **files}


@pytest.fixture(params=FORMS, ids=lambda form: f"{form[0].parent.name}/{form[0].stem}{form[1]}")
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """A recording in a folder in which nothing may be made or changed; root may all the same, and is watched."""
    source, suffix = request.param
    folder = tmp_path / "at-rest"
    folder.mkdir()
    path = folder / f"{source.stem}{suffix}"
    if suffix == source.suffix:
        shutil.copyfile(source, path)
    else:
        copy(str(source), str(path))
    path.chmod(0o444)
    folder.chmod(0o555)
    before = state(folder)
    yield path
    after = state(folder)
    folder.chmod(0o755)
    assert after == before


def test_opening_and_walking_through_changes_nothing(file: Path) -> None:
    with Reader.open(str(file)) as reader:
        height = reader.height()
        assert not reader.live
        assert sum(1 for _ in reader.frames()) == len(reader.window(1, height)) == height > 0
        assert next(iter(reader.matching(parse_filter("jsonrpc"))))[0] <= height
        assert reader.sessions()[0].ended_how


def test_exporting_copying_and_checking_change_nothing(file: Path, tmp_path: Path) -> None:
    with open(tmp_path / "out.jsonl", "w", encoding="utf-8") as out:
        export(str(file), out)
    copy(str(file), str(tmp_path / "out.db"))
    assert all(each.verdict.whole for each in check(str(file)))


def test_every_command_that_reads_changes_nothing(file: Path, tmp_path: Path) -> None:
    for words in (
        ["sessions", "show", str(file)],
        ["sessions", "frames", "--body", str(file)],
        ["sessions", "export", str(file)],
        ["sessions", "keep", str(file), "again"],
    ):
        done = workbench(*words, cwd=str(tmp_path))
        assert done.returncode == 0, done.stderr


def test_replaying_changes_nothing(file: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    done = workbench("replay", "server", str(file), "--report", str(report), stdin=INITIALIZE + "\n")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[0])["id"] == "first"
    done = workbench("request", "tools/list", "--replay", str(file), cwd=str(tmp_path))
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("kept", KEPT, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_export_and_import_give_the_same_rows_and_the_same_text(kept: Path, tmp_path: Path) -> None:
    first, second, text = tmp_path / "first.db", tmp_path / "second.db", tmp_path / "text.jsonl"
    copy(str(kept), str(first))
    copy(str(first), str(text))
    import_file(str(text), str(second))
    assert rows_of(first) == rows_of(second)
    copy(str(second), str(tmp_path / "again.jsonl"))
    assert (tmp_path / "again.jsonl").read_bytes() == text.read_bytes()
    if kept.suffix == ".jsonl":
        assert text.read_bytes() == kept.read_bytes()


def test_there_is_a_recording_in_each_folder() -> None:
    assert {path.parent.name for path in KEPT} == {"sessions", "demo"}
