"""The pages of a list, which compare as the one list they are.

A server that lists one tool less may cut all its pages elsewhere, and need one page less. What
differs is the list, so the pages of both sides are put together first.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from workbench.core.frame import Kind
from workbench.core.jsonrpc import Message, dumps, request
from workbench.core.methods import LIST_METHODS
from workbench.core.peek import peek
from workbench.core.splice import with_members
from workbench.replay.judging import Judge
from workbench.replay.lines import Line, Run

#: Pages beyond those recorded that are asked for.
MAX_MORE = 100


def next_cursor(answer: Message | None) -> str | None:
    """Where the list goes on, ``None`` where it does not."""
    if answer is None or answer.kind is not Kind.RESULT:
        return None
    cursor = peek(answer, "result", "nextCursor")
    return cursor if isinstance(cursor, str) else None


def ends_before(previous: Run) -> bool:
    """Whether the live list ended with the page before, so that the next one cannot be asked for."""
    return previous.unneeded or (
        previous.live is not None and previous.live.kind is Kind.RESULT and next_cursor(previous.live) is None
    )


def further_page(run: Run, live: Message) -> bytes | None:
    """The request for one page more than was recorded, without its id; ``None`` for none."""
    recorded = run.request.answer
    cursor = next_cursor(live)
    if run.request.method not in LIST_METHODS or cursor is None or len(run.pages) >= MAX_MORE:
        return None
    if recorded is None or recorded.kind is not Kind.RESULT or next_cursor(recorded) is not None:
        return None
    if any(next_cursor(page) == cursor for page, _ in run.pages):
        return None
    params = run.request.params
    text = dumps(params) if isinstance(params, dict) else None
    return request("0", run.request.method, with_members(text, {"cursor": dumps(cursor)}))


def settle(runs: list[Run], line: Line, judge: Judge) -> str:
    """Compare the pages of one list, in order; returns a note about them, empty for none."""
    first = runs[0]
    asked = [run for run in runs if not run.unneeded]
    if not any(run.differences or run.unneeded or run.pages for run in runs):
        return ""
    if any(run.live is None or run.live.kind is not Kind.RESULT for run in asked):
        return ""
    was = [_result(run.request.answer) for run in runs]
    now = [_result(page) for run in asked for page in (run.live, *(more for more, _ in run.pages))]
    if not all(isinstance(each, dict) for each in (*was, *now)):
        return ""
    member = LIST_METHODS[first.request.method]
    for run in runs:
        # A page takes the place of the recorded one only where all of them do.
        run.renew = bool(run.differences) and len(was) == len(now)
    for run in asked[1:]:
        before, after = (_bare(_result(each), member) for each in (run.request.answer, run.live))
        run.differences = judge.compare(run.request, Kind.RESULT, before, after, line.tools)
    before, after = ({**_bare(several[0], member), **_items(several, member)} for several in (was, now))
    first.differences = judge.compare(first.request, Kind.RESULT, before, after, line.tools)
    first.why = "in all pages as one list"
    if len(was) == len(now):
        return ""
    return f"{first.request.method} came on {len(now)} pages, and on {len(was)} when it was recorded."


def _result(answer: Message | None) -> Any:
    return None if answer is None else answer.value("result")


def _bare(page: Any, member: str) -> dict[str, Any]:
    """A page without what makes it one of several."""
    return {key: value for key, value in page.items() if key not in (member, "nextCursor")}


def _items(pages: Iterable[dict[str, Any]], member: str) -> dict[str, list[Any]]:
    lists = [page.get(member) for page in pages]
    return {member: [item for each in lists if isinstance(each, list) for item in each]}
