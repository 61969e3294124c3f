"""The benchmarks' own arithmetic; their figures are taken with ``make bench``."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench.figures import Figure, table
from tests.bench.roundtrip import BARE, ECHO, Client
from tests.bench.start import first_text


@pytest.mark.parametrize(
    ("figure", "holds"),
    [
        (Figure("f", 3, 2, "s", "x", most=1.5), True),
        (Figure("f", 3.1, 2, "s", "x", most=1.5), False),
        (Figure("f", 1, 2, "s", "x", least=0.5), True),
        (Figure("f", 0.9, 2, "s", "x", least=0.5), False),
        (Figure("f", 1, 2, "s", "x"), None),
    ],
)
def test_a_figure_holds_within_what_is_asked_of_it(figure: Figure, holds: bool | None) -> None:
    assert figure.holds is holds
    assert figure.as_json()["holds"] is holds


def test_the_table_names_what_was_missed() -> None:
    lines = table([Figure("slow", 4, 2, "s", "x", most=1.5), Figure("fine", 2, 2, "s", "x", most=1.5)])
    assert "MISSED" in lines.splitlines()[1]
    assert "holds" in lines.splitlines()[2]


def test_the_client_of_the_round_trips_talks_to_the_bare_server(tmp_path: Path) -> None:
    client = Client(BARE)
    assert client.call("tools/call", ECHO) == {"content": [{"type": "text", "text": "hello"}]}
    assert len(client.times(ECHO, 3)) == 3
    client.close()


@pytest.mark.parametrize(
    ("seen", "text"),
    [
        (b"\x1b[?1049h\x1b[?25l\x1b[>1u", b""),
        (b"\x1b[?2026$p\x1b]11;?\x07\x1b[1;1H", b""),
        (b"\x1b[1;1H\x1b[38;2;1;2;3mpainted\x1b[0m", b"painted"),
    ],
)
def test_control_sequences_are_no_picture(seen: bytes, text: bytes) -> None:
    assert first_text(seen) == text
