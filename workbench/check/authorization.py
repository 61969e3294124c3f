"""What servers do wrong in authorization: the steps that did not bring what they should."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping

from workbench.check.rule import Rule
from workbench.check.watched import Watched
from workbench.core.frame import Direction, Frame
from workbench.core.jsonrpc import loads
from workbench.core.methods import REVISIONS

_SINCE_RESOURCES = (REVISIONS[2], REVISIONS[4])
_SINCE_ISSUERS = (REVISIONS[3], REVISIONS[4])
_STEP = '* {"event":"authorization","ok":false,"step":'

#: Answers that are remembered, to say which one a step was about.
MAX_ANSWERS = 100

NO_CHALLENGE = Rule(
    "auth-no-challenge",
    "warning",
    _SINCE_RESOURCES,
    "Authorization: Protected Resource Metadata Discovery; RFC 6750, 3",
    "Access was refused without a challenge for Bearer, so a client has to guess where the metadata is.",
    (_STEP + '"challenge","came":"status 401, no WWW-Authenticate"}',),
)
RESOURCE_MISMATCH = Rule(
    "auth-resource-mismatch",
    "error",
    _SINCE_RESOURCES,
    "RFC 9728, 3.3",
    "The resource in the metadata is not the server that was asked; clients must not use it.",
    (_STEP + '"resource","came":"resource https://other.example"}',),
)
NO_SERVERS = Rule(
    "auth-no-servers",
    "error",
    _SINCE_RESOURCES,
    "Authorization: Authorization Server Location",
    "The metadata of the resource names no authorization server.",
    (_STEP + '"authorization servers"}',),
)
ISSUER_MISMATCH = Rule(
    "auth-issuer-mismatch",
    "error",
    _SINCE_RESOURCES,
    "RFC 8414, 3.3",
    "The issuer in the metadata is not, letter for letter, the one it was looked up for.",
    (_STEP + '"issuer","expected":"https://as.example","came":"https://as.example/"}',),
)
METADATA_PLACE = Rule(
    "auth-metadata-place",
    "warning",
    _SINCE_RESOURCES,
    "RFC 8414, 3.1",
    "The authorization server's metadata is not where its issuer's path says, where few clients find it.",
    (_STEP + '"place of the metadata"}',),
)
NO_PKCE = Rule(
    "auth-no-pkce",
    "error",
    _SINCE_ISSUERS,
    "Authorization: Authorization Code Protection",
    "The authorization server's metadata does not say that it knows PKCE with S256; clients must refuse.",
    (_STEP + '"PKCE"}',),
)
REDIRECT_ISSUER = Rule(
    "auth-redirect-issuer",
    "error",
    _SINCE_ISSUERS,
    "RFC 9207, 2.4",
    "The redirect does not name the issuer that was asked, although it does name one or should.",
    (_STEP + '"issuer of the redirect"}',),
)

RULES = (
    NO_CHALLENGE,
    RESOURCE_MISMATCH,
    NO_SERVERS,
    ISSUER_MISMATCH,
    METADATA_PLACE,
    NO_PKCE,
    REDIRECT_ISSUER,
)

_OF_STEP: Mapping[str, Rule] = {
    "challenge": NO_CHALLENGE,
    "resource": RESOURCE_MISMATCH,
    "authorization servers": NO_SERVERS,
    "issuer": ISSUER_MISMATCH,
    "place of the metadata": METADATA_PLACE,
    "PKCE": NO_PKCE,
    "issuer of the redirect": REDIRECT_ISSUER,
}


class Authorization:
    """Looks at the frames of authorization; a finding stands at the answer its step was about."""

    def __init__(self, watched: Watched) -> None:
        self._watched = watched
        self._answers: OrderedDict[int, int] = OrderedDict()

    def take(self, frame: Frame) -> None:
        """Take the next frame of this channel."""
        if frame.direction is Direction.TO_CLIENT:
            self._answers[frame.stream] = frame.seq
            if len(self._answers) > MAX_ANSWERS:
                self._answers.popitem(last=False)
        if frame.direction is not Direction.NONE or b'"ok"' not in frame.body:
            return
        try:
            step = loads(frame.body)
        except (ValueError, RecursionError):
            return
        if not isinstance(step, dict) or step.get("ok") is not False:
            return
        rule = _OF_STEP.get(str(step.get("step")))
        if rule is not None:
            came = step.get("came")
            detail = came if isinstance(came, str) else ""
            self._watched.found(rule, detail=detail, seq=self._answers.get(frame.stream, frame.seq))
