"""Making the script of the client half from the frames of a recorded session (``turns``)."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from typing import Any

from workbench.core.exchanges import Answered, GaveUp, Opened, Pairing, Told
from workbench.core.frame import MESSAGES, Channel, Direction, Frame, Kind, Stream
from workbench.core.jsonrpc import Decoded, dumps, id_text, notification
from workbench.core.methods import INPUT_METHODS, LIST_METHODS
from workbench.core.peek import peek
from workbench.replay.cues import Script
from workbench.replay.ends import Ends
from workbench.replay.proper import proper
from workbench.replay.reading import read
from workbench.replay.spans import items
from workbench.replay.turns import (
    ANSWERED,
    CANCEL,
    CANCELLED,
    CLOSE,
    LEFT,
    LOST,
    OPEN,
    SEND,
    TELLING,
    ClientScript,
    Query,
    Request,
    Telling,
    Turn,
)

#: The request that stays open for as long as somebody listens (2026-07-28).
LISTEN = "subscriptions/listen"

#: The member of ``_meta`` that says which stateless revision a request is of.
_MODERN = "io.modelcontextprotocol/protocolVersion"
_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"

#: Kinds of frames that are sent over any transport.
_SENT = frozenset((*MESSAGES, Kind.BATCH, Kind.INVALID))


def build(frames: Iterable[Frame], streams: Iterable[Stream] = ()) -> ClientScript:
    """The script of a session's frames, of one or of several connections; ``streams`` are those they
    came on over HTTP. Never raises on what was recorded."""
    several: dict[int, list[Frame]] = {}
    for frame in frames:
        several.setdefault(frame.connection, []).append(frame)
    builder = _Builder(streams)
    for frame in heapq.merge(*(proper(each) for each in several.values()), key=lambda frame: frame.seq):
        builder.take(frame)
    return builder.finish()


class _Builder:
    def __init__(self, streams: Iterable[Stream]) -> None:
        self.script = ClientScript()
        self._pairing = Pairing(keep_related=False)
        #: What is known of each stream, until its first frame.
        self._heads = {stream.number: stream for stream in streams}
        #: When the client closed the stream of a request itself (wall clock, nanoseconds), by stream.
        self._left = {
            each.number: each.closed_ns
            for each in self._heads.values()
            if each.closed_how == "closed" and each.closed_ns is not None
        }
        #: Requests of the stateless era on such streams: closing it cancels them.
        self._leaving: list[Request] = []
        #: When the last message was seen, and how long before this one (nanoseconds).
        self._last: int | None = None
        self._pause = 0
        self._key = 0
        self._requests: dict[tuple[int, int], Request] = {}
        self._queries: dict[tuple[int, int], Query] = {}
        self._tokens: dict[tuple[int, str], Query] = {}
        self._ends: dict[int, Ends] = {}
        self._opened: set[int] = set()
        self._closed: set[int] = set()
        self._told: dict[Telling, int] = {}
        self._asking: dict[tuple[int, str, str | None, str], int] = {}
        self._pages: dict[tuple[int, str, str], int] = {}
        self._polled: dict[tuple[int, str | None], Request] = {}
        #: What has come since the last turn, and since each question that is open.
        self._needs: list[int] = []
        self._asked: list[int] = []
        self._heard: dict[Telling, int] = {}
        self._since: dict[int, tuple[list[int], dict[Telling, int]]] = {}

    def take(self, frame: Frame) -> None:
        head = self._heads.pop(frame.stream, None)
        if head is not None:
            self._pairing.head(head)
        if frame.channel is Channel.PROCESS:
            self._process(frame)
            return
        if frame.channel is Channel.STDERR or frame.kind not in _SENT:
            return
        self._leave(frame)
        self._pause = 0 if self._last is None else max(0, frame.mono_ns - self._last)
        self._last = frame.mono_ns
        if frame.direction is Direction.TO_SERVER:
            self._client(frame)
        elif frame.direction is Direction.TO_CLIENT:
            self._server(frame)

    def finish(self) -> ClientScript:
        for connection in sorted(self._opened - self._closed):
            self._close(connection, 0)
        for request in self.script.requests.values():
            if request.method == "tasks/get" and request.name is not None:
                before = self._polled.get((request.connection, request.name))
                if before is not None:
                    before.polls = request.key
                self._polled[request.connection, request.name] = request
        return self.script

    # The client half

    def _leave(self, frame: Frame) -> None:
        """Cancel what the client had closed the stream of before this frame."""
        for request in list(self._leaving):
            if request.ends != LEFT:
                self._leaving.remove(request)
            elif request.connection == frame.connection and self._left[request.stream] <= frame.wall_ns:
                self._leaving.remove(request)
                request.ends = CANCELLED
                params = f'{{"requestId":{request.id}}}'
                turn = Turn(CANCEL, frame.connection, 0, notification("notifications/cancelled", params))
                turn.cancels = request.key
                self._add(turn)

    def _client(self, frame: Frame) -> None:
        if frame.connection in self._closed:
            return
        decoded = read(frame.body)
        events = self._pairing.take(frame, decoded)
        if len(events) == 1 and isinstance(events[0], Answered) and decoded.kind is not Kind.BATCH:
            if self._answer(frame, events[0]):
                return
        elif len(events) == 1 and isinstance(events[0], Told) and self._progress(frame, events[0]):
            return
        self._turn(frame, decoded, events)

    def _turn(self, frame: Frame, decoded: Decoded, events: list[Any]) -> None:
        if frame.connection not in self._opened:
            self._opened.add(frame.connection)
            self._add(Turn(OPEN, frame.connection, frame.seq))
        turn = Turn(SEND, frame.connection, frame.seq, frame.body)
        turn.messages = decoded.messages
        places = items(frame.body) if decoded.kind is Kind.BATCH else []
        for place, event in enumerate(events):
            if isinstance(event, Opened):
                turn.requests.append(self._request(event).key)
            elif isinstance(event, Told) and len(events) == 1:
                self._cancel(frame, event, turn)
            elif isinstance(event, Answered) and len(places) == len(events):
                query = self._queries.get(event.exchange.key)
                if query is not None:
                    query.answer = b"", frame.seq
                    turn.answers.append((query.key, place))
        self._add(turn)

    def _add(self, turn: Turn) -> None:
        turn.needs, turn.queries = tuple(self._needs), tuple(self._asked)
        if turn.what in (SEND, CANCEL):
            turn.pause_ns, self._pause = self._pause, 0
        turn.heard = tuple(self._heard.items())
        if turn.cancels is not None:
            progress: Telling = (turn.connection, "notifications/progress", turn.cancels)
            if progress in self._told:
                turn.heard = (*turn.heard, (progress, self._told[progress]))
        self._needs, self._asked, self._heard = [], [], {}
        self.script.turns.append(turn)

    def _request(self, event: Opened) -> Request:
        self._key += 1
        request = Request(self._key, event.exchange, event.message)
        self.script.requests[request.key] = self._requests[event.exchange.key] = request
        if request.stream in self._left and peek(event.message, "params", "_meta", _MODERN) is not None:
            self._leaving.append(request)
        offered = peek(event.message, "params", "_meta", _CAPABILITIES)
        if request.method == "initialize":
            offered = peek(event.message, "params", "capabilities")
        if isinstance(offered, dict):
            self.script.offered[request.connection] = offered
        if request.method in LIST_METHODS and isinstance(request.params, dict):
            cursor = request.params.get("cursor")
            if isinstance(cursor, str):
                place = (request.connection, request.method, cursor)
                request.page_of = self._pages.pop(place, None)
        if request.method in INPUT_METHODS and _is_a_round(request.params):
            state = dumps(request.params.get("requestState"))
            asked = (request.connection, request.method, request.name, state)
            request.round_of = self._asking.pop(asked, None)
        return request

    def _cancel(self, frame: Frame, event: Told, turn: Turn) -> None:
        if event.message.method != "notifications/cancelled":
            return
        exchange = event.owner
        if exchange is None:
            named = peek(event.message, "params", "requestId")
            identity = "" if named is None else id_text(named)
            # One that had timed out before is cancelled too.
            waiting = self._pairing.open.get((frame.connection, frame.direction, identity))
            exchange = waiting[0] if waiting else None
        request = self._requests.get(exchange.key) if exchange is not None else None
        if request is not None:
            request.ends = CANCELLED
            turn.what, turn.cancels = CANCEL, request.key

    def _answer(self, frame: Frame, event: Answered) -> bool:
        query = self._queries.get(event.exchange.key)
        if query is None:
            return False
        query.answer = frame.body, frame.seq
        needs, heard = self._since.pop(query.key, ([], {}))
        query.needs, query.heard = tuple(needs), tuple(heard.items())
        turns = len(self.script.turns)
        query.turns = turns if turns > query.asked else 0
        return True

    def _progress(self, frame: Frame, event: Told) -> bool:
        if event.message.method != "notifications/progress":
            return False
        token = peek(event.message, "params", "progressToken")
        query = None if token is None else self._tokens.get((frame.connection, id_text(token)))
        if query is None or query.answer is not None:
            return False
        query.notes.append((frame.body, frame.seq))
        return True

    # The server half

    def _server(self, frame: Frame) -> None:
        for event in self._pairing.take(frame, read(frame.body)):
            if isinstance(event, Answered):
                self._answered(frame, event)
            elif isinstance(event, Opened):
                self._query(event)
            elif isinstance(event, Told):
                self._notified(frame, event)

    def _answered(self, frame: Frame, event: Answered) -> None:
        request = self._requests.get(event.exchange.key)
        if request is None or request.ends == CANCELLED:
            return
        if request.method == LISTEN and frame.connection in self._closed:
            # A subscription ends because the client has gone: nobody waits for that.
            return
        request.ends, request.answer, request.answer_seq = ANSWERED, event.message, frame.seq
        request.took_ns = event.exchange.duration_ns
        self._needs.append(request.key)
        for needs, _ in self._since.values():
            needs.append(request.key)
        if peek(event.message, "result", "resultType") == "input_required":
            state = dumps(peek(event.message, "result", "requestState"))
            self._asking[request.connection, request.method, request.name, state] = request.key
        if request.method in LIST_METHODS:
            cursor = peek(event.message, "result", "nextCursor")
            if isinstance(cursor, str):
                self._pages[request.connection, request.method, cursor] = request.key
        if request.method == "tools/list":
            result = event.message.value("result")
            tools = result.get("tools") if isinstance(result, dict) else None
            for tool in tools if isinstance(tools, list) else ():
                if isinstance(tool, dict) and isinstance(tool.get("name"), str):
                    self.script.tools[tool["name"]] = tool

    def _query(self, event: Opened) -> None:
        if event.message.method == "ping":
            return
        self._key += 1
        query = Query(self._key, event.exchange, event.message)
        owner = self._requests.get(event.owner.key) if event.owner is not None else None
        query.owner = None if owner is None else owner.key
        query.asked = len(self.script.turns)
        self.script.queries[query.key] = self._queries[event.exchange.key] = query
        if query.token is not None:
            self._tokens[query.connection, query.token] = query
        self._asked.append(query.key)
        self._since[query.key] = [], {}

    def _notified(self, frame: Frame, event: Told) -> None:
        method = event.message.method or ""
        telling: Telling = (frame.connection, method, 0)
        if method == "notifications/progress" and event.owner is not None:
            owner = self._requests.get(event.owner.key)
            if owner is not None:
                telling = (frame.connection, method, owner.key)
                self._told[telling] = self._told.get(telling, 0) + 1
        elif method == "notifications/cancelled" and event.owner is not None:
            query = self._queries.get(event.owner.key)
            if query is not None:
                self._since.pop(query.key, None)
        elif method in TELLING:
            self._told[telling] = self._heard[telling] = self._told.get(telling, 0) + 1
            for _, heard in self._since.values():
                heard[telling] = self._told[telling]

    # Around it

    def _process(self, frame: Frame) -> None:
        for event in self._pairing.take(frame):
            if isinstance(event, GaveUp) and b'"unanswered"' in frame.body:
                self._lose(self._requests.get(event.exchange.key))
        ends = self._ends.setdefault(frame.connection, Ends(Script()))
        over = ends.told
        done = ends.take(frame)
        if done is not None:
            for request in self._open(frame.connection):
                self._lose(request)
            if done[0] == "end":
                self.script.codes[frame.connection] = done[1]
        elif ends.told and not over and frame.connection in self._opened - self._closed:
            self._close(frame.connection, frame.seq)

    def _open(self, connection: int) -> list[Request]:
        waiting = [exchange for several in self._pairing.open.values() for exchange in several]
        found = [self._requests.get(each.key) for each in waiting if each.connection == connection]
        return [each for each in found if each is not None]

    def _lose(self, request: Request | None) -> None:
        if request is not None and request.ends == LEFT:
            request.ends = LOST

    def _close(self, connection: int, seq: int) -> None:
        self._closed.add(connection)
        self._add(Turn(CLOSE, connection, seq))


def _is_a_round(params: Any) -> bool:
    return isinstance(params, dict) and ("requestState" in params or "inputResponses" in params)
