"""What a mock client found, for people: each exchange, where it differs, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from workbench.cli import output
from workbench.replay.verification import AGREE, CHANGED, EXTRA, SLOWER, lines_of

if TYPE_CHECKING:
    from workbench.replay.verification import Compared, Verification

#: More exchanges than these are not all listed, only those that differ.
MAX_ROWS = 200

#: Differences of one exchange, and hints, that are shown.
MAX_SHOWN = 10
MAX_HINTS = 3


def print_verification(told: Verification, names: Mapping[int, str], target: str) -> None:
    """The whole of it on stdout."""
    output.heading(f"{told.recording} against {target}")
    shown = told.compared if len(told.compared) <= MAX_ROWS else told.disagreeing
    several = len(names) > 1
    columns = ("#", *(("connection",) if several else ()), "request", "verdict", "recorded", "live")
    rows = [_row(each, names if several else None) for each in shown]
    output.table(columns, rows, indent=2)
    if len(shown) < len(told.compared):
        output.line(f"  {len(told.compared) - len(shown)} that agree are not listed; --json has all")
    for each in told.disagreeing:
        _print_difference(each)
    for question in told.questions:
        output.line("")
        output.line(question.sentence)
    if told.notes:
        output.line("")
        for note in told.notes:
            output.line(f"note: {note}")
    output.line("")
    for hint in hints(told):
        output.line(f"hint: {hint}")
    output.line(f"{'agrees' if told.agrees else 'does not agree'}: {told.sentence}")


def _row(each: Compared, names: Mapping[int, str] | None) -> tuple[str, ...]:
    request = each.request
    return (
        str(request.seq),
        *(() if names is None else (names.get(request.connection, ""),)),
        " ".join(part for part in (request.method, request.name) if part),
        f"{each.verdict}, slow" if each.slow() and each.verdict in AGREE else each.verdict,
        _seconds(each.recorded_seconds),
        _seconds(each.seconds),
    )


def _seconds(value: float | None) -> str:
    return "-" if value is None else output.seconds(value)


def _print_difference(each: Compared) -> None:
    request = each.request
    output.line("")
    named = " ".join(part for part in (request.method, request.name) if part)
    output.line(f"#{request.seq} {named}: {each.verdict}{f', {each.why}' if each.why else ''}")
    for line in lines_of(each.differences[:MAX_SHOWN]):
        output.line(f"  {line}")
    if len(each.differences) > MAX_SHOWN:
        output.line(f"  and {len(each.differences) - MAX_SHOWN} places more; --json has them")


def hints(told: Verification) -> list[str]:
    """What may be done about what differs, at most ``MAX_HINTS``."""
    found = list(dict.fromkeys(_hints(told)))
    return found[:MAX_HINTS]


def _hints(told: Verification) -> Iterator[str]:
    changed = [each for each in told.compared if each.verdict == CHANGED and each.differences]
    if changed:
        first = changed[0]
        scope = ":".join(part for part in (first.request.method, first.request.name) if part)
        pointer = first.differences[0].pointer
        if pointer:
            yield f"leave a place out with --ignore '{scope}={pointer}' (* stands for one level)"
        yield f"compare keys and types only with --compare '{scope}=shape', or --compare shape for all"
    if any(each.verdict == EXTRA for each in told.questions):
        yield "answer what was not recorded with --answer METHOD=ANSWER behind the target"
    if any(each.verdict == SLOWER for each in told.compared):
        yield "without --slower times are shown and decide nothing"
    if told.disagreeing:
        yield "if the new answers are right, take them over with --update"
