"""Nothing that peers are known to do wrong is without a test: by number, where each is held.

The numbers are those of ``test_deviations``; D is the list of what goes wrong around a server: how it
is started and ends, the environment, files of other tools, scripts. What stands in no table there is
named here with the tests that hold it.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.check.test_deviations import BESIDE, FRAMES, INSTEAD, OVER_HTTP, STATELESS

TESTS = Path(__file__).parent.parent

#: Whatever the number stands for beside, or instead of, what the tables hold: file, names of tests.
ELSEWHERE: dict[str, dict[str, str]] = {
    "2": {
        "wire/test_calls.py": "a_last_line_without_an_end_is_a_frame_and_answers_its_call",
        "wire/test_ending.py": "an_exit_in_a_call_ends_it_at_once_with_status_and_last_words",
        "wire/test_load.py": "a_long_line_is_one_frame_and_one_result",
    },
    "3": {
        "wire/test_handshake.py": "a_server_that_exits_at_once_is_told_with_its_status_and_last_words a_slow_server_is_waited_for",
        "wire/test_ending.py": "a_server_that_ignores_its_closed_stdin_is_ended_with_term_and_that_is_a_state a_grandchild_that_holds_the_pipes_neither_hangs_us_nor_survives",
        "wire/test_load.py": "a_flood_on_stderr_is_drained_line_by_line_and_holds_nothing_up",
    },
    "4": {"wire/test_eras.py": "a_server_that_is_silent_to_the_probe_is_offered_a_handshake_on_the_same_pipe"},
    "8": {
        "wire/test_http_posts.py": "a_stream_may_end_its_lines_in_any_way_and_be_split_anywhere data_of_several_lines_is_one_message_with_its_lines priming_events_comments_and_other_data_are_recorded_and_answer_nothing the_last_event_counts_although_its_empty_line_is_missing a_stream_with_parameters_in_its_type_or_compressed_is_read_all_the_same",
    },
    "9": {
        "wire/test_http_redirects.py": "a_redirect_to_another_path_is_followed_with_method_headers_and_body",
        "wire/test_http_posts.py": "an_error_page_is_a_frame_and_fails_that_call_alone a_connection_that_was_closed_between_two_calls_is_made_anew a_server_that_hangs_up_fails_that_call_alone_and_is_not_asked_twice",
    },
    "10": {"wire/test_http_stateless.py": "there_is_no_session_no_listening_and_no_end_of_a_session"},
    "11": {
        "wire/test_http_listening.py": "an_answer_may_come_on_the_other_stream the_same_message_on_two_streams_is_seen_twice_and_hurts_nothing",
        "check/test_deviations.py": "a_message_on_the_wrong_stream_is_found",
    },
    "12": {"wire/test_http_session.py": "a_bad_request_that_does_not_speak_of_a_session_is_no_lost_session"},
    "13": {
        "wire/test_sse_client.py": "an_endpoint_of_another_server_is_refused_and_nothing_is_sent_there an_endpoint_elsewhere_is_told_with_what_differs a_lost_prefix_is_noticed_only_where_there_is_one replies_in_the_answer_to_a_post_are_taken",
    },
    "15": {
        "core/test_forms.py": "what_cannot_be_followed_is_a_json_field_with_the_reason no_schema_makes_a_form_fail a_reference_to_the_whole_schema_is_an_object_to_write_as_json",
        "tui/test_odd_lists.py": "every_entry_of_an_odd_list_can_be_looked_at_and_the_good_ones_called",
        "cli/test_no_other_connection.py": "nothing_a_server_says_makes_a_connection_elsewhere",
    },
    "16": {"tui/test_odd_lists.py": "two_tools_of_one_name_are_shown_as_two"},
    "20": {"wire/test_load.py": "a_large_result_is_not_parsed_before_somebody_asks_for_it a_connection_that_floods_does_not_hold_up_another_one"},
    "22": {
        "wire/test_eras_http.py": "whatever_proves_nothing_is_followed_by_a_handshake a_refused_version_is_tried_once_more",
        "check/test_rules.py": "the_example_of_a_rule_breaks_it_and_no_other",
    },
    "B20": {"wire/test_load.py": "a_long_line_is_one_frame_and_one_result"},
    "B24": {"wire/test_handshake.py": "capabilities_that_are_not_kept_break_no_other_list"},
    "B25": {
        "wire/test_handshake.py": "a_revision_nobody_accepts_is_a_state_with_the_way_out a_refused_handshake_names_the_revisions_the_server_lists",
        "wire/test_eras.py": "a_server_that_is_silent_to_the_probe_is_offered_a_handshake_on_the_same_pipe",
    },
    "B27": {
        "wire/test_peer_requests.py": "without_anybody_to_answer_all_is_declined_at_once_and_said a_request_the_server_takes_back_disappears",
        "tui/test_inbox.py": "of_many_requests_the_one_taken_back_disappears_and_the_call_goes_on",
    },
    "D38": {
        "wire/test_ending.py": "an_exit_in_a_call_ends_it_at_once_with_status_and_last_words",
        "tui/test_failures.py": "one_key_connects_again_and_the_history_stays_in_the_recording",
    },
    "D39": {
        "wire/test_start.py": "a_command_that_is_not_there_is_told_with_path_and_folder a_wrong_working_directory_is_told a_script_without_a_first_line_is_told a_name_for_windows_is_told_with_the_one_for_here a_file_without_permission_to_run_is_told",
    },
    "D40": {
        "wire/test_start.py": "the_environment_is_inherited_and_the_targets_variables_are_put_over_it secrets_of_the_command_line_are_masked_in_what_is_told",
        "config/test_dialects.py": "vs_codes_file_asks_for_its_inputs a_value_that_may_be_no_text_has_the_spelling_it_has_in_the_file",
        "core/test_redact.py": "a_given_secret_is_found_in_every_spelling_and_equal_strings_share_a_number",
    },
    "D41": {
        "wire/test_ending.py": "a_server_that_ignores_term_too_is_killed a_grandchild_does_not_survive_a_server_that_exits_by_itself",
        "tui/test_hangup.py": "a_signal_ends_servers_and_closes_the_recording",
    },
    "D42": {
        "tui/test_failures.py": "a_slow_start_shows_its_state_and_its_stderr_as_it_comes",
        "wire/test_handshake.py": "stderr_is_seen_live_while_a_server_starts_and_waiting_can_be_given_up",
    },
    "D43": {
        "cli/test_patience.py": "progress_keeps_a_call_alive_far_beyond_its_timeout a_call_without_progress_times_out_and_is_cancelled_and_its_late_answer_is_recorded",
    },
    "D47": {
        "config/test_dialects.py": "claude_desktops_file_is_found_and_read every_word_for_a_transport_is_known cursors_file_may_have_a_url_only windsurfs_file_says_server_url an_odd_entry_is_told_with_file_line_column_and_member_and_hides_no_other names_with_a_slash_a_blank_an_emoji_or_of_another_case_are_names",
        "config/test_own.py": "what_people_wrote_into_the_list_survives",
    },
    "D48": {
        "cli/test_scripting.py": "odd_surroundings_are_normal a_pipe_that_is_closed_early_is_normal only_json_is_on_stdout_while_the_server_writes_to_stderr",
    },
    "D49": {"wire/test_unknown_members.py": "a_server_with_members_that_nobody_knows_is_used_and_they_are_shown a_kind_of_result_that_nobody_knows_is_given_as_it_came"},
}  # fmt: skip


def numbers(*groups: str) -> list[str]:
    return [f"{group[0] if group[0].isalpha() else ''}{each}" for group in groups for each in _range(group)]


def _range(group: str) -> list[int]:
    first, _, last = group.lstrip("BD").partition("-")
    return list(range(int(first), int(last or first) + 1))


def test_every_number_stands_in_a_table_or_is_named_here() -> None:
    tables = (BESIDE, INSTEAD, FRAMES, OVER_HTTP)
    words = {word for table in tables for case in table for word in case[0].split()}
    assert STATELESS
    wanted = numbers("1-20", "22", "B17", "B19-20", "B22", "B24-25", "B27", "D38-43", "D47-49")
    assert [number for number in wanted if number not in words | set(ELSEWHERE)] == []


@pytest.mark.parametrize("number", ELSEWHERE)
def test_what_is_named_is_there(number: str) -> None:
    for file, names in ELSEWHERE[number].items():
        there = set(
            re.findall(r"^(?:async )?def test_(\w+)", (TESTS / file).read_text("utf-8"), re.MULTILINE)
        )
        assert there
        assert set(names.split()) <= there, file
