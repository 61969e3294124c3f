"""The seam between requests and their authorization: which answers ask for it, and what comes of that.

Light: what does the work is loaded for connections that need it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.config import Target
from workbench.core.frame import Direction
from workbench.wire.http_clients import HttpClients
from workbench.wire.http_errors import Trouble, unauthorized
from workbench.wire.http_exchange import Answer
from workbench.wire.http_library import httpx
from workbench.wire.http_refusals import LONGEST_REFUSAL, denied
from workbench.wire.http_session import HttpSession
from workbench.wire.http_target import url_of
from workbench.wire.tap import Tap
from workbench.wire.transport import Peer

if TYPE_CHECKING:
    from workbench.wire.oauth import Authorization

#: How often one request is sent again for the sake of authorization.
MOST_AGAIN = 5


def authorization_of(target: Target, tap: Tap, peer: Peer, clients: HttpClients) -> Authorization | None:
    """What authorizes a connection, whichever transports it tries; ``None`` where nothing would. Raises
    ``NotStarted`` for a target without a URL."""
    if peer.logins is None:
        return None
    url = url_of(target).copy_with(fragment=None)
    return peer.logins.for_connection(target, url, tap, clients)


class Authorizing:
    """What the requests of one connection ask when they are refused. Their headers come from it, too."""

    def __init__(self, authorization: Authorization | None, tap: Tap, session: HttpSession) -> None:
        self._tap = tap
        self._session = session
        self._authorization = authorization
        if authorization is not None:
            session.bearer = lambda: authorization.header

    def concerns(self, answer: Answer, used: str) -> bool:
        """Whether an answer is for want of another token than the request carried (``used``)."""
        if self._authorization is None:
            return False
        if not denied(answer):
            self._authorization.accepted(used)
            return False
        return self._authorization.concerns(answer.status, answer.headers.get_list("www-authenticate"))

    async def take(self, answer: Answer) -> None:
        """Record the body of such an answer, which answers no request. Raises ``HttpFailed``."""
        body, _ = await answer.body(LONGEST_REFUSAL)
        if body:
            self._tap.aside(Direction.TO_CLIENT, body, answer.stream)

    async def settle(self, answer: Answer, used: str) -> Trouble | None:
        """Get another token; returns why there is none. ``used`` is the header that was refused."""
        from workbench.wire.oauth_exchange import AuthorizationFailed

        assert self._authorization is not None
        challenges = answer.headers.get_list("www-authenticate")
        try:
            await self._authorization.answered(answer.status, challenges, used, self._session.version)
        except AuthorizationFailed as failure:
            return Trouble(failure.why, failure.next_step)
        return None

    def next_stream(self, number: int) -> int:
        """The stream of a request that is sent again, which is told."""
        following = self._tap.sink.new_stream()
        self._tap.process("authorized", stream=number, next=following)
        return following


def in_vain(answer: Answer) -> Trouble:
    """Why a request is not sent once more."""
    return unauthorized(answer.url, answer.status, answer.headers.get_list("www-authenticate"))


def used_by(request: httpx.Request) -> str:
    """The ``Authorization`` that a request carries."""
    return str(request.headers.get("authorization", ""))
