"""No answer comes before its request in a recording, however fast the server is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.standin.running import BARE, CALL, StandIn, seqs_are_gapless
from workbench.core.frame import Kind


@pytest.mark.parametrize(
    "calls", [5_000, pytest.param(100_000, marks=[pytest.mark.long, pytest.mark.timeout(600)])]
)
def test_no_answer_of_a_server_that_answers_at_once_has_a_smaller_seq_than_its_request(
    tmp_path: Path, calls: int
) -> None:
    with StandIn(tmp_path / "a.db", BARE) as stand_in:
        for number in range(calls):
            stand_in.send(CALL % number)
            assert stand_in.process.stdout is not None
            while not stand_in.process.stdout.read(65536).endswith(b"\n"):
                pass
        assert stand_in.finish()[0] == 0
        frames = stand_in.frames()
    requests = {frame.id: frame.seq for frame in frames if frame.kind is Kind.REQUEST}
    answers = {frame.id: frame.seq for frame in frames if frame.kind is Kind.RESULT}
    assert len(requests) == len(answers) == calls
    assert [identity for identity, seq in answers.items() if seq < requests[identity]] == []
    assert seqs_are_gapless(frames)
