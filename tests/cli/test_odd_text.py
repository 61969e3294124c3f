"""Wide, joined, stacked and right-to-left text comes out as it is, and columns stay in line."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from rich.cells import cell_len

from tests.cli.command import on_a_terminal, workbench

#: Text that is shown as it stands.
PLAIN = {
    "wide": "漢字かな교류ＡＢ",
    "right to left": "مرحبا שלום",
    "stacked": "Z̷̢̧̛̛̘͎̝͔̈́̈̽a̵l͠g̷o",
    "emoji": "🙂🏳️🇳🇴",
    "precomposed and not": "é e\u0301",
}
#: Text of which something is invisible, and how that is shown.
HIDDEN = {
    "joined": ("👨\u200d👩\u200d👧", "👨\\u200d👩\\u200d👧"),
    "nothing": ("a\0b", "a␀b"),
    "separators": ("a\u2028b\u2029c\x85d", "a\\u2028b\\u2029c\\x85d"),
    "soft": ("a\u00adb\ufeffc", "a\\xadb\\ufeffc"),
}
COLUMNS = 100


def shown(folder: Path, text: str) -> str:
    answer = {"jsonrpc": "2.0", "id": 0, "result": {"content": [{"type": "text", "text": text}]}}
    line = json.dumps(answer, ensure_ascii=False).replace('"id": 0', '"id": @ID@')
    (folder / "tool").write_text(line + "\n", encoding="utf-8")
    done = workbench(
        "call", "tool", "--", sys.executable, "-m", "tests.servers.answers_with_bytes", str(folder)
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_text_comes_out_with_every_character_and_what_is_invisible_is_shown(tmp_path: Path) -> None:
    assert shown(tmp_path, "\n".join(PLAIN.values())) == "\n".join(PLAIN.values()) + "\n"
    hidden, seen = ("\n".join(part) for part in zip(*HIDDEN.values(), strict=True))
    assert shown(tmp_path, hidden) == seen + "\n"


def test_tabs_reach_the_script_that_cuts_at_them(tmp_path: Path) -> None:
    assert shown(tmp_path, "a\tb\r\n1\t\t2") == "a\tb\n1\t\t2\n"


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """A connection and a tool for every odd name, the tools called once."""
    names = [*PLAIN.values(), *(hidden for hidden, _ in HIDDEN.values()), "plain"]
    lines: list[dict[str, object]] = [
        {"connection": number, "name": name, "server_info": {"name": name, "version": "1"}}
        for number, name in enumerate(names, 1)
    ]
    for number, name in enumerate(names, 1):
        call = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": name}}
        result = {"jsonrpc": "2.0", "id": number, "result": {"content": [{"text": name * 60}]}}
        for direction, body in (("to_server", call), ("to_client", result)):
            text = json.dumps(body, ensure_ascii=False)
            lines.append(
                {
                    "frame": len(lines) - len(names) + 1,
                    "connection": number,
                    "direction": direction,
                    "text": text,
                }
            )
            lines.append(
                {"frame": len(lines) - len(names) + 1, "connection": 1, "direction": direction, "text": text}
            )
    path = tmp_path / "odd.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def on_screen(*words: str) -> list[str]:
    status, written = on_a_terminal(["sessions", *words], {"COLUMNS": str(COLUMNS)})
    assert status == 0
    return re.sub(r"\x1b\[[0-9;]*m", "", written.decode()).splitlines()


def cells_before(lines: list[str], pattern: str) -> set[int]:
    """How many cells stand before what the pattern finds in each line."""
    return {cell_len(line[: found.start()]) for line in lines if (found := re.search(pattern, line))}


def test_a_line_of_the_log_fits_the_terminal_and_its_columns_are_in_line(recording: Path) -> None:
    lines = on_screen("frames", str(recording))
    assert len(lines) == 40
    assert max(map(cell_len, lines)) <= COLUMNS
    assert len(cells_before(lines, "-> request|<- result")) == 1


def test_a_table_has_its_columns_in_line(recording: Path) -> None:
    lines = [line for line in on_screen("show", str(recording)) if re.match(r" +(->|<-) ", line)]
    first = lines[: len(PLAIN) + len(HIDDEN) + 1]
    assert len(first) == 10
    assert len(cells_before(first, r"\d+ *$")) == 1


def test_a_preview_ends_before_a_character_it_does_not_hold_whole(recording: Path) -> None:
    for line in workbench("sessions", "frames", str(recording)).stdout.splitlines():
        assert "\\udc" not in line
