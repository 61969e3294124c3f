"""What HTTP answers: statuses, content types, and bodies that should not be there."""

from __future__ import annotations

from workbench.check.rule import ALL, STATELESS, Rule
from workbench.check.traffic import Carriage, Traffic
from workbench.check.watched import Hooks, Watched
from workbench.core.credentials import url_secrets
from workbench.core.frame import Channel, Direction, Kind
from workbench.core.methods import REVISIONS

_SENDING = "Transports: Streamable HTTP, Sending messages"
_HTTP = (REVISIONS[1], REVISIONS[4])
_SESSIONS = (REVISIONS[1], REVISIONS[3])
_PING = '{"jsonrpc":"2.0","id":7,"method":"ping"}'
_NOTE = '{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}'

NOTIFICATION_STATUS = Rule(
    "notification-status",
    "warning",
    _HTTP,
    _SENDING,
    "A notification or an answer was taken with another status than 202 Accepted.",
    ("@http 2025-11-25", "1 POST /mcp => 200", f"1> {_NOTE}", "1< null"),
)
ACCEPTED_WITH_BODY = Rule(
    "accepted-with-body",
    "warning",
    _HTTP,
    _SENDING,
    "The answer 202 Accepted has a body; it should have none.",
    ("@http 2025-11-25", "1 POST /mcp => 202", f"1> {_NOTE}", "1< Accepted"),
)
REQUEST_ACCEPTED = Rule(
    "request-accepted",
    "error",
    _HTTP,
    _SENDING,
    "A request was answered with 202 Accepted or without content, so its answer can come nowhere.",
    ("@http 2025-11-25", "1 POST /mcp => 202", f"1> {_PING}"),
)
ANSWER_CONTENT_TYPE = Rule(
    "answer-content-type",
    "error",
    _HTTP,
    _SENDING,
    "The answer to a request has a content type other than application/json and text/event-stream.",
    (
        "@http 2025-11-25",
        "1 POST /mcp => 200 Content-Type: text/plain",
        f"1> {_PING}",
        '1< {"jsonrpc":"2.0","id":7,"result":{}}',
    ),
)
ANSWER_IS_A_PAGE = Rule(
    "answer-is-a-page",
    "info",
    _HTTP,
    _SENDING,
    "The answer is no JSON-RPC error but a page or plain text, from a proxy or a web framework perhaps.",
    (
        "@http 2025-11-25",
        "1 POST /mcp => 502 Content-Type: text/html",
        f"1> {_PING}",
        "1< <html>Bad Gateway</html>",
    ),
)
ACCEPT_HEADER = Rule(
    "accept-header",
    "error",
    _HTTP,
    _SENDING,
    "The client's POST does not accept both application/json and text/event-stream; servers answer 406.",
    (
        "@http 2025-11-25",
        "1 POST /mcp Accept: application/json => 200",
        f"1> {_PING}",
        '1< {"jsonrpc":"2.0","id":7,"result":{}}',
    ),
)
GET_ANSWERED_ODDLY = Rule(
    "get-answered-oddly",
    "warning",
    _SESSIONS,
    "Transports: Streamable HTTP, Listening for messages",
    "GET is answered with neither an event stream nor 405 Method Not Allowed.",
    (
        "@http 2025-11-25",
        "1 GET /mcp => 404",
        '! {"event":"stream","stream":1,"verb":"GET","state":"refused","status":404}',
    ),
)
GET_IN_STATELESS = Rule(
    "get-in-stateless",
    "warning",
    STATELESS,
    "Transports: HTTP",
    "The client sends GET or DELETE; 2026-07-28 has POST only; subscriptions/listen is for what GET was.",
    (
        "@ 2026-07-28",
        "1 POST /mcp => 200",
        '1> {"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"t","_meta":$META}}',
        '1< {"jsonrpc":"2.0","id":7,"result":{"resultType":"complete","content":[]}}',
        "2 GET /mcp => 405",
        '! {"event":"stream","stream":2,"verb":"GET","state":"refused","status":405}',
    ),
)
SECRET_IN_URL = Rule(
    "secret-in-url",
    "warning",
    ALL,
    "Authorization: Access token usage",
    "The URL seems to hold a secret; URLs end up in logs, so tokens go into the Authorization header.",
    (
        "@http 2025-11-25",
        "1 POST /mcp?access_token=abcdef => 200",
        f"1> {_PING}",
        '1< {"jsonrpc":"2.0","id":7,"result":{}}',
    ),
)

RULES = (
    NOTIFICATION_STATUS,
    ACCEPTED_WITH_BODY,
    REQUEST_ACCEPTED,
    ANSWER_CONTENT_TYPE,
    ANSWER_IS_A_PAGE,
    ACCEPT_HEADER,
    GET_ANSWERED_ODDLY,
    GET_IN_STATELESS,
    SECRET_IN_URL,
)

_MEDIA = ("application/json", "text/event-stream")

#: Answers to a GET that say something about the session or the way to it, not about GET.
_ABOUT_SOMETHING_ELSE = frozenset((401, 403, 405, 409, 429))


class Posts:
    """Looks at the head of every HTTP exchange, and at bodies that come where none should."""

    def __init__(self, watched: Watched, hooks: Hooks, traffic: Traffic) -> None:
        self._watched = watched
        self._traffic = traffic
        hooks.frames.append(self._on_frame)
        traffic.opened.append(self._on_opened)
        traffic.answered.append(self._on_answered)

    def _on_opened(self, carriage: Carriage) -> None:
        watched, stream = self._watched, carriage.stream
        if url_secrets(stream.url):
            watched.found(SECRET_IN_URL, seq=carriage.seq)
        if stream.verb == "POST" and not self._traffic.older:
            accept = (carriage.header("accept") or "").lower()
            if "*/*" not in accept and not all(media in accept for media in _MEDIA):
                watched.found(ACCEPT_HEADER, detail=accept, seq=carriage.seq)
        elif watched.modern and stream.verb in ("GET", "DELETE"):
            watched.found(GET_IN_STATELESS, detail=stream.verb, seq=carriage.seq)

    def _on_answered(self, carriage: Carriage) -> None:
        stream = carriage.stream
        status = stream.status or 0
        if self._traffic.older:
            return
        if stream.verb == "GET":
            self._on_get(carriage, status)
        elif stream.verb == "POST" and 200 <= status < 300:
            if carriage.asks:
                self._on_request(carriage, status)
            elif status != 202:
                self._watched.found(NOTIFICATION_STATUS, detail=f"status {status}", seq=carriage.seq)

    def _on_get(self, carriage: Carriage, status: int) -> None:
        streams = _media(carriage) == "text/event-stream"
        if self._watched.modern or (status == 200 and streams):
            return
        if status < 500 and not 300 <= status < 400 and status not in _ABOUT_SOMETHING_ELSE:
            self._watched.found(GET_ANSWERED_ODDLY, detail=f"status {status}", seq=carriage.seq)

    def _on_request(self, carriage: Carriage, status: int) -> None:
        watched = self._watched
        if status in (202, 204):
            watched.found(REQUEST_ACCEPTED, detail=f"status {status}", seq=carriage.seq)
        elif _media(carriage) not in _MEDIA:
            watched.found(ANSWER_CONTENT_TYPE, detail=_media(carriage) or "none", seq=carriage.seq)

    def _on_frame(self) -> None:
        watched = self._watched
        frame, carriage = watched.frame, self._traffic.here
        if (
            carriage is None
            or frame.channel is not Channel.HTTP
            or frame.direction is not Direction.TO_CLIENT
        ):
            return
        status, empty = carriage.stream.status or 0, not frame.body.strip()
        if carriage.sent and not carriage.asks and 200 <= status < 300:
            watched.excused = watched.decoded.kind is Kind.INVALID
            if status == 202 and not empty and not self._traffic.older:
                watched.found(ACCEPTED_WITH_BODY)
        elif status >= 300:
            watched.excused = watched.decoded.kind is Kind.INVALID
            if watched.excused and not empty:
                watched.found(ANSWER_IS_A_PAGE, detail=f"status {status}, {_media(carriage) or 'no type'}")
        elif self._traffic.older or carriage.stream.verb != "POST":
            watched.excused = watched.decoded.kind is Kind.INVALID


def _media(carriage: Carriage) -> str:
    return (carriage.answer_header("content-type") or "").partition(";")[0].strip().lower()
