"""One request on its way through a proxy: what is told of it, and what it says of its client."""

from __future__ import annotations

from workbench.core.frame import ANSWERS, Channel, Direction, Ending, Kind
from workbench.core.jsonrpc import Decoded
from workbench.core.sse import ServerEvent
from workbench.wire.http_errors import Trouble, refused
from workbench.wire.http_exchange import Outgoing
from workbench.wire.http_library import httpx
from workbench.wire.http_redirects import REDIRECTS
from workbench.wire.proxy_clients import Asked, Clients
from workbench.wire.proxy_frames import Frames

_LOST = "The server closed the stream."


class Passage:
    """Told as the client half tells its own requests. ``frames`` takes the answer's body."""

    def __init__(
        self, asked: Asked, clients: Clients, request: httpx.Request, after: str, of_protocol: bool
    ) -> None:
        self.client = clients.of(asked)
        self.id: str | None = None
        self.frames: Frames
        self._asked = asked
        self._clients = clients
        self._of_protocol = of_protocol
        self._after = after
        self._waits = {
            message.id
            for message in asked.decoded.messages
            if message.kind is Kind.REQUEST and message.id is not None
        }
        if len(self._waits) == 1:
            (self.id,) = self._waits
        self._posts_older = self._clients.is_endpoint(asked)
        self._status = 0
        self._resumes()
        repeated = clients.repeats(self.client, asked, request.content)
        self._told = repeated
        self._outgoing = Outgoing(self.client.tap, request, repeated or self._number)

    def _resumes(self) -> None:
        """A broken stream is taken up again, which the recording says of it."""
        self._number = 0
        old = self.client.events.get(self._after) if self._asked.verb == "GET" and self._after else None
        if old is not None:
            self._number = self.client.tap.sink.new_stream()
            why = "The client asks for what came after."
            self.client.tap.process(
                "reconnect", stream=old, seconds=0, why=why, attempt=1, resumes=True, next=self._number
            )

    # The request

    def asked(self, body: bytes) -> None:
        """Tell the request's body."""
        if self._told or not (body or self._waits):
            return
        if self._of_protocol:
            number = self._outgoing.number
            self.client.tap.message(Direction.TO_SERVER, body, Ending.NONE, Channel.HTTP, number)
            self.client.says(self._asked.decoded)
        else:
            self.client.tap.aside(Direction.TO_SERVER, body, self._outgoing.number)

    def failed(self, trouble: Trouble) -> None:
        """No answer has come."""
        self._outgoing.closed()
        if self._asked.verb == "GET" and self._asked.events:
            self._stream("lost", why=trouble.why)
        elif not self.client.settled:
            self.client.tap.process("unreachable", step=trouble.step, why=trouble.why)
        else:
            self._unanswered(trouble.why)
        self._clients.free(self.client, self._asked.origin)

    # The answer

    @property
    def may_be_older(self) -> bool:
        """Whether an ``endpoint`` may be named on it."""
        return self.frames.events and self._asked.verb == "GET" and not self._asked.session

    def answered(self, response: httpx.Response) -> None:
        """The head of the answer has come."""
        self._outgoing.answered(response)
        self._status = status = response.status_code
        succeeded = 200 <= status < 300
        self.frames = Frames(
            self.client.tap,
            self._outgoing.number,
            status,
            response.headers.get("content-type", "").partition(";")[0].strip().lower(),
            response.headers.get("content-encoding", ""),
            self._received,
            self._on_event,
            of_protocol=self._of_protocol,
            bare=self._asked.verb == "POST"
            and bool(self._asked.decoded.messages)
            and (bool(self._waits) or not succeeded)
            and status not in REDIRECTS,
            acknowledges=self._posts_older,
        )
        if status in REDIRECTS:
            self._redirected(response)
        if self.frames.events and self._is_long:
            self._stream("open", status=status)
        self._session(response, succeeded)

    @property
    def _is_long(self) -> bool:
        methods = {message.method for message in self._asked.decoded.messages}
        return self._asked.verb == "GET" or "subscriptions/listen" in methods

    def _redirected(self, response: httpx.Response) -> None:
        """Whoever follows it sends the same once more, which is one message all the same."""
        location = response.headers.get("location", "")
        try:
            url = response.request.url.join(location)
        except (httpx.InvalidURL, ValueError):
            return
        if not location or response.status_code not in (307, 308):
            return
        tap = self.client.tap
        number = tap.sink.new_stream()
        told = {"from": str(response.request.url), "to": str(url)}
        status = response.status_code
        tap.process("redirect", **told, status=status, stream=self._outgoing.number, next=number)
        self._clients.redirected(self.client, self._asked, url, response.request.content, number)

    def _session(self, response: httpx.Response, succeeded: bool) -> None:
        told = response.headers.get("mcp-session-id", "").strip()
        client, tap = self.client, self.client.tap
        if self._asked.verb == "DELETE" and self._asked.session:
            if succeeded:
                tap.process("session", state="ended", id=client.session)
                self._clients.lost(client)
                client.ended("closed")
            else:
                why = f"The server answered with status {self._status}."
                tap.process("session", state="kept", id=client.session, why=why)
        elif told and told != client.session:
            if succeeded and any(each.method == "initialize" for each in self._asked.decoded.messages):
                self._clients.granted(client, told)
                tap.process("session", state="granted", id=told)
            elif client.session:
                tap.process("session", state="other", id=told, ours=client.session)

    def _on_event(self, event: ServerEvent) -> None:
        """An event has come; called before its frame is told."""
        if event.id:
            self.client.noted(event.id, self._outgoing.number)
        if event.name == "endpoint" and self.may_be_older:
            self._older(event.data)

    def _older(self, data: bytes) -> None:
        try:
            url = self._outgoing.request.url.join(data.decode("utf-8", "replace").strip())
        except (httpx.InvalidURL, ValueError):
            return
        before = self.client
        self.client = self._clients.older(before, self._asked, url.raw_path.decode("ascii"))
        if self.client is not before:
            self._outgoing.belongs_to(self.client.tap)
            self.frames.tap = self.client.tap
            self._stream("open", status=self._status)
        elif before.refused:
            before.tap.process("fallback", to="sse", why=before.refused)

    def _received(self, decoded: Decoded) -> None:
        """Something of the server."""
        for message in decoded.messages:
            if message.kind in ANSWERS:
                self._waits.discard(message.id or "")
            self.client.hears(message)

    # Its end

    def ended(self) -> None:
        """All of the answer has come."""
        self._outgoing.how = "end"
        self.frames.end()
        if self.frames.events and self._is_long:
            self._ends_long(_LOST)
        elif self._asked.verb == "GET" and self._asked.events and self._of_protocol:
            self._stream("refused", status=self._status, why=self._why())
        if self._status >= 400:
            self._on_refusal()
        elif self.client.refused:
            self._clients.free(self.client, self._asked.origin)

    def _on_refusal(self) -> None:
        if self._asked.session and self._status == 404 and not self._has_unknown_method:
            self.client.tap.process("session", state="lost", id=self._asked.session)
            self._clients.lost(self.client)
            self.client.ended("session lost")
        elif not self.client.settled:
            if self.client.opening is not None:
                self.client.refused = self._why()
            self._clients.free(self.client, self._asked.origin)

    @property
    def _has_unknown_method(self) -> bool:
        return b"-32601" in self.frames.body

    def _why(self) -> str:
        return refused(self._status, self.frames.media, self.frames.body, self._outgoing.request.url).why

    def _ends_long(self, why: str) -> None:
        if self._asked.verb == "GET" or self._waits:
            self._stream("lost", why=why)
        else:
            self._stream("closed")

    def cut(self, trouble: Trouble) -> None:
        """The server broke off."""
        self._outgoing.how = "cut"
        self.frames.end()
        if self.frames.events and self._is_long:
            self._ends_long(trouble.why)
        elif not self.frames.resumable:
            self._unanswered(trouble.why)

    def left(self) -> None:
        """The client has gone, or we go."""
        if self._outgoing.how == "end":
            return
        self._outgoing.how = "closed"
        if self._status:
            self.frames.end()
            if self.frames.events and self._is_long:
                self._stream("closed")
        else:
            self._outgoing.closed()

    def closed(self, wire_bytes: int) -> None:
        """Tell the stream's end, once."""
        self._outgoing.closed(wire_bytes)

    def _unanswered(self, why: str) -> None:
        for id_text in sorted(self._waits):
            self.client.tap.process("unanswered", id=id_text, why=why)

    def _stream(self, state: str, **more: object) -> None:
        self.client.tap.process(
            "stream", stream=self._outgoing.number, verb=self._asked.verb, state=state, **more
        )
