"""Reports of replays as JUnit XML, and in a line: of a mock client, of a mock server, of many together.

A report is the JSON that ``--report`` writes (``Verification.value`` and ``Report.value``). A
mock client's has a case for each exchange, a mock server's one for each miss. Part of
the light path: standard library only, nothing imported that ``record`` would not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

#: Characters that XML 1.0 has no place for.
_NOWHERE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}

#: Verdicts of a mock client's exchange that fail nothing.
_AGREE = ("equal", "left open")


class Case(NamedTuple):
    """One test case; ``failure`` says in a line why it failed, empty if it did not, and ``details`` more
    of it. ``kind`` is the verdict in a word."""

    name: str
    seconds: float = 0.0
    failure: str = ""
    details: str = ""
    kind: str = ""


def is_report(value: Any) -> bool:
    """Whether a JSON value is a report of a replay."""
    return isinstance(value, dict) and isinstance(value.get("recording"), str) and "verdict" in value


def agrees(report: Mapping[str, Any]) -> bool:
    return report.get("verdict") == "ok"


def title(report: Mapping[str, Any]) -> str:
    """What a report is about."""
    connection = report.get("connection")
    return f"{report['recording']}{f'#/{connection}' if connection else ''}"


def cases(report: Mapping[str, Any]) -> Iterator[Case]:
    """The test cases of a report, at least one."""
    yield from _verified(report) if "exchanges" in report else _replayed(report)


def summary(report: Mapping[str, Any]) -> str:
    """A report in a line."""
    if "exchanges" in report:
        told = ", ".join(f"{number} {verdict}" for verdict, number in _items(report.get("counts")))
        asked = len(report.get("questions") or ())
        told += f", {asked} questions of the server differ" if asked else ""
    else:
        told = f"{report.get('answered', 0)} of {report.get('requests', 0)} requests answered"
        for number, word in (
            (report.get("live_count"), "by a live server"),
            (len(report.get("faults") or ()), "faults injected"),
            (report.get("missed"), "missed"),
            (report.get("differing_answers"), "answers of the client differ"),
            (report.get("unused_count"), "recorded requests unused"),
        ):
            told += f", {number} {word}" if number else ""
        told += f"; {report['ended']}" if report.get("ended") else ""
    return f"{report.get('verdict')}: {told or 'nothing to compare'}"


def document(reports: Iterable[Mapping[str, Any]]) -> str:
    """JUnit XML of any number of reports, a suite for each."""
    suites = [(title(report), list(cases(report))) for report in reports]
    every = [case for _, several in suites for case in several]
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f"<testsuites{_counts('mcp-workbench replay', every)}>",
    ]
    for name, several in suites:
        lines.append(f"  <testsuite{_counts(name, several)}>")
        for case in several:
            lines += _case(name, case)
        lines.append("  </testsuite>")
    return "\n".join([*lines, "</testsuites>", ""])


def _verified(report: Mapping[str, Any]) -> Iterator[Case]:
    for each in report["exchanges"]:
        verdict = str(each.get("verdict"))
        seconds = (each.get("seconds") or {}).get("live") or 0.0
        name = f"#{each.get('seq')} {each.get('method')} {each.get('name') or ''}".rstrip()
        if verdict in _AGREE:
            yield Case(name, seconds)
            continue
        details = [_difference(one) for one in each.get("differences") or ()]
        why = str(each.get("why") or (details[0] if details else verdict))
        yield Case(name, seconds, f"{verdict}: {why}", "\n".join(details), verdict)
    for each in report.get("questions") or ():
        verdict = str(each.get("verdict"))
        name = f"question #{each.get('seq')} {each.get('method')}"
        yield Case(name, 0.0, f"{verdict}: {each.get('sentence', verdict)}", "", verdict)


def _replayed(report: Mapping[str, Any]) -> Iterator[Case]:
    from workbench.replay.report import sentence

    for miss in report.get("misses") or ():
        found = (miss.get("nearest") or {}).get("differences") or ()
        name = f"{miss.get('method')} {miss.get('name') or ''}".rstrip()
        yield Case(name, 0.0, sentence(miss), "\n".join(map(_difference, found)), "miss")
    more = (report.get("missed") or 0) - len(report.get("misses") or ())
    if more > 0:
        yield Case("more misses", 0.0, f"{more} misses more", "", "miss")
    if report.get("differing_answers"):
        number = report["differing_answers"]
        yield Case("answers of the client", 0.0, f"{number} were not the recorded ones", "", "answers")
    unused = report.get("unused") or ()
    if not agrees(report) and not report.get("missed") and not report.get("differing_answers"):
        listed = "\n".join(f"#{each['seq']} {each['method']} {each.get('name') or ''}" for each in unused)
        number = report.get("unused_count", len(unused))
        yield Case("all is used", 0.0, f"{number} recorded requests were not asked for", listed, "unused")
    if agrees(report):
        yield Case(f"{report.get('requests', 0)} requests")


def _difference(shown: Mapping[str, Any]) -> str:
    """A difference as a report holds it, in a line."""
    where = shown.get("pointer") or "/"
    if shown.get("why"):
        return f"{where}: {shown['why']}"
    if "recorded" not in shown:
        return f"{where}: only now, {shown.get('live', '')}"
    if "live" not in shown:
        return f"{where}: no more, was {shown['recorded']}"
    return f"{where}: {shown['recorded']} is now {shown['live']}"


def _case(suite: str, case: Case) -> Iterator[str]:
    head = f'    <testcase classname="{_text(suite)}" name="{_text(case.name)}" time="{case.seconds:.3f}"'
    if not case.failure:
        yield f"{head}/>"
        return
    yield f"{head}>"
    yield (
        f'      <failure type="{_text(case.kind)}" message="{_text(case.failure)}">'
        f"{_text(case.details)}</failure>"
    )
    yield "    </testcase>"


def _counts(name: str, several: list[Case]) -> str:
    failed = sum(bool(case.failure) for case in several)
    seconds = sum(case.seconds for case in several)
    return (
        f' name="{_text(name)}" tests="{len(several)}" failures="{failed}" errors="0" skipped="0" '
        f'time="{seconds:.3f}"'
    )


def _text(text: str) -> str:
    """Text as it may stand in XML, in an attribute too; what XML cannot hold is shown as its number."""
    text = _NOWHERE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    return re.sub('[&<>"\n\r\t]', lambda found: _ESCAPES[found[0]], text)


def _items(counts: Any) -> Iterable[tuple[str, Any]]:
    return counts.items() if isinstance(counts, dict) else ()
