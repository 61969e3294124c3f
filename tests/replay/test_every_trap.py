"""Where other recorders and replayers fell: by number, where each is held.

The names of most tests say which trap they are of. Others are named here. Falling through to a live
server (23) is not offered, so nothing can be marked wrongly there.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parent.parent

TRAPS = range(1, 26)

NOT_OFFERED = 23

#: File, and the test without its ``test_``.
ELSEWHERE: dict[int, list[tuple[str, str]]] = {
    7: [
        ("replay/test_client.py", "a_question_gets_its_recorded_answer_under_its_live_id_and_token"),
        ("replay/test_client.py", "a_cancel_waits_for_the_progress_there_had_been"),
    ],
    11: [
        ("replay/test_server.py", "initialize_is_answered_whoever_asks_with_the_recorded_version"),
        ("replay/test_mock_http.py", "each_client_has_its_own_queue_and_the_nth_gets_the_nth_connection"),
    ],
    14: [
        ("wire/test_proxy.py", "a_request_is_sent_once_also_where_the_server_breaks_off"),
        ("wire/test_proxy.py", "an_event_is_passed_on_before_the_next_one_is_there"),
        ("wire/test_proxy.py", "the_server_gets_its_own_host_and_origin_and_everything_else_as_it_was_sent"),
        ("replay/test_mock_http.py", "a_stream_that_broke_breaks_again_and_goes_on_where_it_is_taken_up"),
    ],
    19: [
        ("standin/test_ends.py", "the_exit_code_of_the_server_is_ours"),
        ("standin/test_ends.py", "a_client_that_stops_reading_ends_the_server_and_nothing_spins"),
        ("standin/test_record_http.py", "killed_it_leaves_all_that_was_passed_on"),
    ],
    25: [("replay/test_round_trip.py", "a_recording_replayed_against_itself_gives_every_frame_back")],
}


def names(path: Path) -> list[str]:
    return re.findall(r"^(?:async )?def test_(\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)


def test_no_trap_is_without_a_test() -> None:
    told = {
        int(found[1])
        for path in TESTS.rglob("test_*.py")
        for name in names(path)
        if (found := re.match(r"trap_(\d+)_", name))
    }
    assert told | ELSEWHERE.keys() == set(TRAPS) - {NOT_OFFERED}


@pytest.mark.parametrize("trap", sorted(ELSEWHERE))
def test_what_is_named_is_there(trap: int) -> None:
    for file, name in ELSEWHERE[trap]:
        assert name in names(TESTS / file), f"{file} has no test_{name}"
