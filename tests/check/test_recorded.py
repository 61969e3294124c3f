"""A recording is checked as the session was, although it holds each HTTP stream once, as it ended."""

from __future__ import annotations

import json
from functools import partial

from workbench.check.recorded import Recorded
from workbench.check.rule import Finding
from workbench.core.frame import Channel, Direction, Frame, Kind, Stream
from workbench.demo.recording import RECORDING
from workbench.store.reader import Reader

SSE = (("Content-Type", "text/event-stream"),)
MS = 1_000_000


def frame(seq: int, at_ms: int, body: str, stream: int, event: str | None = None) -> Frame:
    channel = Channel.PROCESS if not stream else Channel.SSE
    to = Direction.NONE if not stream else Direction.TO_CLIENT
    data = body.encode()
    return Frame(
        seq, 1, at_ms * MS, at_ms * MS, to, channel, Kind.NOTE, data, len(data), stream=stream, event=event
    )


def note(found: set[str], _connection: int, finding: Finding) -> None:
    found.add(finding.rule.id)


def listening(number: int, opened_ms: int, closed_ms: int | None, *headers: tuple[str, str]) -> Stream:
    closed = None if closed_ms is None else closed_ms * MS
    url = "http://127.0.0.1/mcp"
    sent = (("Accept", "text/event-stream"), *headers)
    return Stream(
        number, 1, "GET", url, sent, opened_ms * MS, 200, SSE, "", None, closed, "end" if closed else ""
    )


def test_the_recording_of_the_demo_breaks_no_rule() -> None:
    found: list[Finding] = []
    checks = Recorded(lambda _, finding: found.append(finding))
    reader = Reader.open(str(RECORDING))
    for each in reader.frames():
        checks.take(each)
    reader.close()
    checks.finish()
    assert found == []


def test_a_client_that_came_back_too_soon_is_found_although_the_stream_is_known_from_the_beginning() -> None:
    changed = json.dumps({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
    opened = json.dumps({"event": "stream", "stream": 2, "verb": "GET", "state": "open", "status": 200})
    for again_ms, expected in ((400, ["retry-not-respected"]), (2_400, [])):
        found: set[str] = set()
        checks = Recorded(partial(note, found))
        checks.head(listening(1, 100, 300))
        checks.head(listening(2, again_ms, None, ("Last-Event-ID", "e1")))
        checks.take(frame(1, 200, changed, 1, '{"id":"e1","retry":2000}'))
        checks.take(frame(2, again_ms + 10, opened, 0))
        checks.finish()
        assert [each for each in found if each.startswith("retry")] == expected
