"""Reports as JUnit XML that every reader takes, whatever is in them."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from tests.replay.build import Live, Tape, call, text
from workbench.replay.junit import agrees, cases, document, is_report, summary, title


def client_report(**members: Any) -> dict[str, Any]:
    exchange = {"seq": 3, "method": "tools/call", "name": "t", "verdict": "equal", "seconds": {"live": 0.25}}
    told = {"recording": "r.jsonl", "verdict": "ok", "counts": {"equal": 1}, "exchanges": [exchange]}
    return {**told, "questions": [], **members}


def server_report(*asked: dict[str, Any], strict: bool = False) -> dict[str, Any]:
    live = Live(Tape().hello().c(call(2, "a")).s(text(2, "x")), strict=strict)
    live.hello()
    for body in asked:
        live.say(body)
    return live.server.report_value()


def parsed(*reports: dict[str, Any]) -> ElementTree.Element:
    return ElementTree.fromstring(document(reports).encode())


def test_a_suite_for_each_report_with_its_cases_counted() -> None:
    root = parsed(client_report(), server_report(call(9, "b")))
    assert root.tag == "testsuites"
    assert (root.get("tests"), root.get("failures"), root.get("time")) == ("2", "1", "0.250")
    first, second = root
    assert (first.get("name"), second.get("name")) == ("r.jsonl", "tape.db#/one")
    [case] = first
    assert (case.get("classname"), case.get("name"), case.get("time")) == (
        "r.jsonl",
        "#3 tools/call t",
        "0.250",
    )


def test_a_miss_says_the_nearest_request_and_where_it_differs() -> None:
    report = server_report(call(9, "b"))
    [case] = cases(report)
    assert case.name == "tools/call b"
    assert "the nearest is #4, which differs at /name" in case.failure
    assert case.details == '/name: "a" is now "b"'
    assert summary(report).startswith("mismatch: 1 of 2 requests answered, 1 missed")


def test_the_line_of_a_report_tells_what_was_no_recording_s() -> None:
    report = {
        "recording": "r",
        "verdict": "ok",
        "answered": 3,
        "requests": 4,
        "live_count": 2,
        "faults": [{}],
    }
    assert summary(report) == "ok: 3 of 4 requests answered, 2 by a live server, 1 faults injected"


def test_a_mock_server_that_was_asked_what_was_recorded_has_one_case_that_passes() -> None:
    report = server_report(call(9, "a"))
    assert agrees(report)
    [case] = cases(report)
    assert (case.name, case.failure) == ("2 requests", "")


def test_what_was_not_asked_for_fails_where_that_counts() -> None:
    [case] = cases(server_report(strict=True))
    assert case.failure == "1 recorded requests were not asked for"
    assert case.details == "#4 tools/call a"


def test_more_misses_than_are_listed_are_counted() -> None:
    report = {**server_report(call(9, "b")), "missed": 5}
    assert [case.failure for case in cases(report)][1:] == ["4 misses more"]


def test_answers_of_a_client_that_differ_are_a_case() -> None:
    report = {**server_report(call(9, "a")), "verdict": "mismatch", "differing_answers": 2}
    [case] = cases(report)
    assert case.failure == "2 were not the recorded ones"


def test_questions_of_a_server_that_differ_are_cases() -> None:
    asked = {"seq": 8, "method": "roots/list", "verdict": "missing", "sentence": "The server did not ask."}
    _, case = cases(client_report(verdict="mismatch", questions=[asked]))
    assert (case.name, case.failure) == ("question #8 roots/list", "missing: The server did not ask.")


def test_what_is_no_report_is_known() -> None:
    assert is_report(client_report())
    assert is_report(server_report())
    others: list[Any] = [None, [], {}, {"recording": 1, "verdict": "ok"}, {"recording": "x"}]
    assert not any(map(is_report, others))
    assert title(client_report()) == "r.jsonl"


@given(st.text(), st.text())
def test_any_text_gives_xml_that_can_be_read_and_says_the_same(name: str, value: str) -> None:
    shown = {"pointer": f"/{name}", "recorded": value, "live": "x"}
    failed = {"seq": 3, "method": name, "verdict": "changed", "differences": [shown]}
    root = parsed(client_report(recording=name, verdict="mismatch", exchanges=[failed]))
    [failure] = root.iter("failure")
    if name.isprintable() and value.isprintable():
        assert failure.text == f"/{name}: {value} is now x"
        assert root[0].get("name") == name
