"""What an answer means that does not answer the request."""

from __future__ import annotations

import re

from workbench.core.jsonrpc import Decoded
from workbench.wire.http_errors import Trouble, no_message, refused, unauthorized
from workbench.wire.http_exchange import Answer

#: The longest body of an answer that is a refusal; the rest is not read (bytes).
LONGEST_REFUSAL = 1024 * 1024


#: How servers say in a 400 that they do not know a session, and how far into the body it is looked for.
_FORGOTTEN = re.compile(
    rb"mcp-session-id"
    rb"|\b(?:no|not|unknown|invalid|expired|missing|bad)\b[^.]{0,40}\bsession\b"
    rb"|\bsession\b[^.]{0,40}\b(?:not|unknown|invalid|expired|required|missing|terminated|closed)\b",
    re.IGNORECASE,
)
_TOLD_WITHIN = 8192


def denied(answer: Answer) -> bool:
    """Whether access is what was refused."""
    return answer.status in (401, 403)


def trouble_in(answer: Answer, body: bytes) -> Trouble:
    """What an answer says that holds no message for its request."""
    if answer.succeeded:
        return no_message(answer.status, answer.media, body, answer.url)
    if denied(answer):
        challenges = answer.headers.get_list("www-authenticate")
        return unauthorized(answer.url, answer.status, challenges)
    return refused(answer.status, answer.media, body, answer.url)


def forgets_session(answer: Answer, body: bytes, decoded: Decoded) -> bool:
    """Whether the server does not know the session that the request named: 404 says so ("Session
    Management", since 2025-03-26), and some servers say it with 400."""
    if answer.status == 404:
        # A method it does not know is another matter.
        return not any(_code(message.members.get("error")) == -32601 for message in decoded.messages)
    if answer.status != 400 or any(_code(each.members.get("error")) == -32602 for each in decoded.messages):
        return False
    return _FORGOTTEN.search(body, 0, _TOLD_WITHIN) is not None


def _code(error: object) -> object:
    return error.get("code") if isinstance(error, dict) else None
