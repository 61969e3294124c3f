"""docs/recording-format.md says of the format what the store does."""

from __future__ import annotations

import io
import re
import sqlite3
from pathlib import Path

import pytest

from tests.docs.blocks import DOCS, blocks
from workbench.core.frame import PREVIEW_BYTES, Channel, Direction, Kind
from workbench.store import schema
from workbench.store.backlog import LINGER
from workbench.store.copying import copy
from workbench.store.formats.text import VERSION as TEXT_VERSION
from workbench.store.formats.text import export_text, import_to_memory
from workbench.store.reader import Reader
from workbench.store.rows import MAX_WORD

DOCUMENT = (DOCS / "recording-format.md").read_text(encoding="utf-8")
SECTIONS = re.split(r"(?m)^(?=##)", DOCUMENT)


def tables() -> dict[str, list[str]]:
    db = sqlite3.connect(":memory:")
    schema.create(db)
    names = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type='table'")]
    found = {name: [row[1] for row in db.execute(f'PRAGMA table_info("{name}")')] for name in names}
    db.close()
    return found


@pytest.mark.parametrize(
    ("table", "columns"), tables().items(), ids=lambda value: value if isinstance(value, str) else ""
)
def test_every_table_and_each_of_its_columns_is_described(table: str, columns: list[str]) -> None:
    about = [
        section
        for section in SECTIONS
        if f"`{table}`" in section.split("\n", 1)[0] or f"\n| `{table}` |" in section
    ]
    assert about, f"no section about the table {table}"
    missing = [column for column in columns if not any(f"`{column}`" in section for section in about)]
    assert missing == []


def test_no_table_or_column_is_described_that_there_is_not() -> None:
    known = {*tables(), *(column for columns in tables().values() for column in columns)}
    described = re.search(r"## Tables\n(.*?)\n## What is no message", DOCUMENT, re.DOTALL)
    assert described
    rows = re.findall(r"(?m)^\| (`[^|]*) \|", described[1])
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert named - known == set()


@pytest.mark.parametrize("words", [Direction, Channel, Kind])
def test_every_word_has_its_number(words: type[Direction] | type[Channel] | type[Kind]) -> None:
    assert ", ".join(f"{word.value} `{word.name.lower()}`" for word in words) in DOCUMENT


def test_sizes_and_versions_are_those_of_the_code() -> None:
    for said in (
        f"version is {TEXT_VERSION}, the tables' version is {schema.VERSION}",
        f"0x{schema.APPLICATION_ID:08X}",
        f"{schema.PAGE_BYTES // 1024} KiB",
        f"{schema.INLINE_BODY:,} bytes; of a longer one the first {PREVIEW_BYTES}",
        f"{schema.SMALL_PART_BYTES:,} bytes, or a mebibyte",
        f"{LINGER * 1000:.0f} ms",
        f"{MAX_WORD} characters",
    ):
        assert said in DOCUMENT
    assert schema.PART_BYTES == 1 << 20


def test_every_event_that_the_wire_tells_is_described() -> None:
    code = "".join(path.read_text(encoding="utf-8") for path in Path("workbench/wire").glob("*.py"))
    told = set(re.findall(r"""\.(?:process|note)\(\s*"(\w+)\"""", code))
    assert {"started", "exited", "failed"} <= told
    assert [event for event in told if f"`{event}`" not in DOCUMENT] == []


@pytest.fixture
def example(tmp_path: Path) -> Path:
    text = next(block.text for block in blocks("recording-format.md") if block.language == "json")
    path = tmp_path / "example.jsonl"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_example_of_the_text_form_is_one_and_comes_back_as_it_is(example: Path, tmp_path: Path) -> None:
    out = io.StringIO()
    export_text(import_to_memory(str(example)), out)
    assert out.getvalue() == example.read_text(encoding="utf-8")
    copy(str(example), str(tmp_path / "example.db"))
    with Reader.open(str(tmp_path / "example.db")) as reader:
        placed = [(span, frame.body) for frame in reader.frames() for span in frame.spans]
    ((offset, length, _), body), *more = placed
    assert (body[offset : offset + length], more) == (b"<redacted:1 env TOKEN>", [])
