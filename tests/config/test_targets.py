"""What users write as a target, and what it means."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from workbench.config import (
    Settings,
    Target,
    Timeouts,
    default_capabilities,
    display,
    parse_line,
    parse_targets,
    secrets_of,
    shown_environment,
    take_targets,
)
from workbench.errors import UsageError


def only(line: str) -> Target:
    [target] = parse_line(line)
    return target


def test_everything_after_two_dashes_is_the_command() -> None:
    [target] = parse_targets(["--cwd", "/x", "--", "srv", "--env", "A=1", "--", "@b"])
    assert (target.command, target.args) == ("srv", ("--env", "A=1", "--", "@b"))
    assert (target.cwd, target.env) == ("/x", {})


def test_a_command_in_one_word_is_split_as_a_shell_splits_it() -> None:
    [target] = parse_targets(["--stdio", "srv 'two words' \"and $more\" --flag"])
    assert (target.command, target.args) == ("srv", ("two words", "and $more", "--flag"))


def test_a_line_that_begins_with_a_command_needs_no_dashes() -> None:
    target = only("npx -y @modelcontextprotocol/server-everything")
    assert (target.command, target.name) == ("npx", "everything")


def test_targets_may_be_repeated_and_mixed_and_options_belong_to_the_target_before_them() -> None:
    words = ["--env", "ALL=1", "--stdio", "a", "--env", "A=1", "--name", "one", "--stdio=b", "--", "c"]
    first, second, third = parse_targets(words)
    assert (first.name, first.env) == ("one", {"ALL": "1", "A": "1"})
    assert (second.name, second.env) == ("b", {"ALL": "1"})
    assert (third.name, third.env) == ("c", {"ALL": "1"})


def test_options_of_a_target() -> None:
    target = only(
        "--protocol-version 2024-11-05 --timeout 5 --start-timeout 90 --shutdown-timeout 0 --require tools"
        " --require resources.subscribe --root /work --log-level debug --no-capability sampling -- srv"
    )
    assert target.offer == "2024-11-05"
    assert target.timeouts == Timeouts(start=90, request=5, shutdown=0)
    assert target.require == ("tools", "resources.subscribe")
    assert [root.uri for root in target.roots] == ["file:///work"]
    assert target.log_level == "debug"
    assert target.offered_capabilities == {"roots": {"listChanged": True}}


def test_a_timeout_is_for_the_start_and_each_request_and_lifts_the_maximum_above_it() -> None:
    assert only("--timeout 1000 -- srv").timeouts == Timeouts(start=1000, request=1000, maximum=1000)


def test_any_text_may_be_offered_as_a_revision() -> None:
    assert only("--protocol-version DRAFT-2026-v1 -- srv").offer == "DRAFT-2026-v1"


def test_a_revision_is_offered_only_the_capabilities_it_has() -> None:
    assert set(default_capabilities("2024-11-05")) == {"roots", "sampling"}
    assert default_capabilities("2025-06-18")["elicitation"] == {}
    assert default_capabilities("2025-11-25")["elicitation"] == {"form": {}, "url": {}}


SWITCHED = [
    ("--capability sampling.tools", {"sampling": {"tools": {}}}),
    (
        "--capability tasks.requests.sampling.createMessage",
        {"tasks": {"requests": {"sampling": {"createMessage": {}}}}},
    ),
    ("--no-capability elicitation.url", {"elicitation": {"form": {}}}),
    ("--no-capability nothing.at.all", {"sampling": {}}),
    ("--no-capability sampling --capability sampling", {"sampling": {}}),
    ('--capability \'extensions={"io.example/x":{"a":1}}\'', {"extensions": {"io.example/x": {"a": 1}}}),
    ("--capability elicitation", {"elicitation": {"form": {}, "url": {}}}),
]


@pytest.mark.parametrize(("options", "expected"), SWITCHED)
def test_a_capability_is_switched_by_its_dotted_name(options: str, expected: dict[str, object]) -> None:
    offered = only(f"{options} -- srv").offered_capabilities
    assert {name: offered[name] for name in expected} == expected


def test_who_we_are_can_be_said() -> None:
    assert only("""--client-info '{"name":"me","version":"0"}' -- srv""").client_info == {
        "name": "me",
        "version": "0",
    }


def test_a_replay_is_our_own_program_as_a_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("talk.db").touch()
    target = only("--replay talk.db#2")
    assert target.command == sys.executable
    assert target.args[-4:] == ("workbench", "replay", "server", f"{tmp_path}/talk.db#2")
    assert (target.name, display(target)) == ("talk", "replay talk.db#2")
    assert only("--replay name-in-the-store").args[-1] == "name-in-the-store"


def test_what_belongs_to_no_target_is_given_back_in_order() -> None:
    words = ["tools/call", "--json", "--stdio", "srv", "--env", "A=1", "k=v"]
    targets, rest = take_targets(words)
    assert rest == ["tools/call", "--json", "k=v"]
    assert targets[0].env == {"A": "1"}


MISTAKES = [
    ("", "the line is empty"),
    ("--cwd /x", "the line names no target"),
    ("--", "-- needs a command"),
    ("--stdio ''", "--stdio needs a command"),
    ("--stdio", "--stdio needs a value"),
    ("--stdio 'a", "close the quotes"),
    ("--nope -- srv", "unknown option '--nope'"),
    ("-- srv @x --http", None),
    ("--header 'A: b' -- srv", "--header is for HTTP targets"),
    ("--env TOKEN -- srv", "'TOKEN' is not NAME=VALUE"),
    ("--env =x -- srv", "is not NAME=VALUE"),
    ("--timeout soon -- srv", "'soon' is no number of seconds"),
    ("--timeout -1 -- srv", "is no time to wait"),
    ("--timeout 0 -- srv", "is no time to wait"),
    ("--timeout nan -- srv", "is no time to wait"),
    ("--log-level loud -- srv", "'loud' is no level"),
    ("--era newest -- srv", "'newest' is no era; use one of auto, legacy, modern"),
    ("--capability sampling.=1 -- srv", "'sampling.' is no capability"),
    ("--capability sampling={ -- srv", "is not JSON"),
    ("--client-info nobody -- srv", "the value is not JSON"),
    ("--client-info 1 -- srv", "no JSON object"),
    ("--input key -- srv", "'key' is not ID=VALUE"),
    ("@nobody", "no server is named @nobody"),
]


@pytest.mark.parametrize(("line", "sentence"), MISTAKES)
def test_a_mistake_is_one_sentence_that_names_it(line: str, sentence: str | None) -> None:
    if sentence is None:
        assert len(parse_line(line)) == 1
        return
    with pytest.raises(UsageError) as failure:
        parse_line(line)
    assert sentence in str(failure.value)
    assert "\n" not in str(failure.value)


SHOWN = [
    ("srv --token abc --verbose", "srv --token '***' --verbose"),
    ("srv --api-key=abc", "srv '--api-key=***'"),
    ("srv -H 'Authorization: Bearer abc'", "srv -H 'Authorization: Bearer ***'"),
    ("srv https://user:pw@host/path", "srv 'https://user:***@host/path'"),
    ("srv --keyboard us --monkey 3", "srv --keyboard us --monkey 3"),
    ("srv TOKEN=abc", "srv 'TOKEN=***'"),
    ("srv --token --verbose", "srv --token --verbose"),
]


@pytest.mark.parametrize(("line", "shown"), SHOWN)
def test_a_target_is_shown_without_its_secrets(line: str, shown: str) -> None:
    assert display(only(line)) == shown


def test_secrets_are_collected_from_variables_and_arguments() -> None:
    target = only("--env TOKEN=t0 -- srv --password pw1 https://u:pw2@h/")
    assert {"t0", "pw1", "pw2"} <= set(secrets_of(target).values())


def test_variables_are_shown_without_their_secrets() -> None:
    target = Target(command="x", env={"API_KEY": "abc", "LEVEL": "3", "GONE": None, "DB": "pg://u:p@h"})
    shown = shown_environment(target)
    assert (shown["API_KEY"], shown["LEVEL"], shown["GONE"]) == ("***", "3", "(removed)")
    assert "u:p" not in shown["DB"]


@pytest.mark.parametrize(
    ("value", "text"), [(1, "1"), (1.5, "1.5"), (True, "true"), ("x", "x"), (None, None)]
)
def test_values_of_variables_have_one_spelling(value: object, text: str | None) -> None:
    assert Target.model_validate({"command": "x", "env": {"A": value}}).env == {"A": text}


def test_settings_fill_in_what_a_line_does_not_say() -> None:
    settings = Settings(timeouts=Timeouts(start=7), offer="2025-03-26")
    [target] = parse_targets(["--timeout", "9", "--", "srv"], settings)
    assert (target.timeouts.start, target.timeouts.request, target.offer) == (9, 9, "2025-03-26")
    [target] = parse_targets(["--", "srv"], settings)
    assert target.timeouts.start == 7
