"""Which era a server speaks: what an answer to the probe says, and how long one is waited for.

The probe is ``server/discover``. Nothing but the codes that 2026-07-28 brought,
a ``DiscoverResult``, or a 404 that says "unknown method" speaks for the
stateless era; every other answer, and silence, means ``initialize``.

Source: "Versioning and compatibility", 2026-07-28; the drafts of it had other
numbers for the same errors, which servers made before the release still send.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from workbench.core.actions import EraFound, error_sentence, sentence
from workbench.core.frame import Kind
from workbench.core.jsonrpc import Message
from workbench.core.methods import HANDSHAKE_REVISIONS, LATEST_HANDSHAKE
from workbench.core.peek import peek

#: How long an answer to the probe is waited for after the first sign of life (seconds).
AFTER_A_SIGN = 3.0

#: How long it is waited for at most, from the start (seconds).
AT_MOST = 10.0

HEADER_MISMATCH = -32020
CAPABILITY_MISSING = -32021
VERSION_UNSUPPORTED = -32022
METHOD_NOT_FOUND = -32601

#: The numbers that drafts had for these. The first one also means other things (a timeout, a lost
#: session), so it proves no era, and is about headers only where the status is 400: a server that has
#: looked at nothing but the headers says so.
DRAFT_HEADER_MISMATCH = -32001
DRAFT_CAPABILITY_MISSING = -32003
DRAFT_VERSION_UNSUPPORTED = -32004

#: Names of revisions that are read from one answer, and characters of one.
MAX_NAMES = 50
MAX_NAME = 60


class Finding(NamedTuple):
    """What an answer to ``server/discover`` says.

    ``found`` ends a sentence that begins with "the server". ``names`` are the revisions it names
    and ``version`` the first of ours among them. ``again`` tells that the request itself has to be
    sent once more, with ``version``. ``remark`` says what is wrong with the answer, if the era is
    clear all the same.
    """

    era: str
    found: str
    names: tuple[str, ...] = ()
    version: str | None = None
    again: bool = False
    remark: str = ""


def judge(message: Message, speak: Sequence[str], status: int | None = None) -> Finding:
    """Judge an answer to ``server/discover``. ``speak`` are the revisions we can speak, the best
    first; ``status`` is the HTTP status it came with, ``None`` where there is none."""
    if message.kind is Kind.RESULT:
        return _of_result(message, speak)
    error = peek(message, "error")
    code = error.get("code") if isinstance(error, dict) else None
    data = error.get("data") if isinstance(error, dict) else None
    names = supported(error)
    said = f"answered server/discover with {error_sentence(error)[:200]}"
    if code == VERSION_UNSUPPORTED or (code == DRAFT_VERSION_UNSUPPORTED and names):
        version = _common(names, speak)
        if version is None and names and all(map(has_handshake, names)):
            return Finding("legacy", f"{said}, and names only revisions with a handshake", names)
        return Finding("modern", said, names, version, again=version is not None)
    lacks = code == DRAFT_CAPABILITY_MISSING and isinstance(data, dict) and "requiredCapabilities" in data
    if code in (HEADER_MISMATCH, CAPABILITY_MISSING) or lacks:
        return Finding("modern", said, remark=sentence(f"The server {said}"))
    if code == METHOD_NOT_FOUND and status == 404:
        return Finding("modern", f"{said} and HTTP status 404", remark=sentence(f"The server {said}"))
    return Finding("legacy", said)


def _of_result(message: Message, speak: Sequence[str]) -> Finding:
    result = peek(message, "result")
    listed = result.get("supportedVersions") if isinstance(result, dict) else None
    if not isinstance(listed, list):
        if isinstance(result, dict) and "resultType" in result:
            remark = "The server's answer to server/discover names no revisions."
            return Finding("modern", "answered server/discover", remark=remark)
        return Finding("legacy", "answered server/discover with something else than what it is and speaks")
    names = _names(listed)
    version = _common(names, speak)
    if version is not None:
        return Finding("modern", f"answered server/discover and speaks {version}", names, version)
    if any(map(has_handshake, names)):
        return Finding(
            "legacy", "names only revisions with a handshake in its answer to server/discover", names
        )
    if names:
        return Finding("modern", "answered server/discover", names)
    remark = "The server's answer to server/discover names no revisions."
    return Finding("modern", "answered server/discover", remark=remark)


def headers_refused(message: Message, status: int | None) -> bool:
    """Whether an error over HTTP is about the headers of its request; ``status`` is the HTTP status."""
    code = peek(message, "error", "code")
    return code == HEADER_MISMATCH or (code == DRAFT_HEADER_MISMATCH and status == 400)


def supported(error: Any) -> tuple[str, ...]:
    """The revisions that an error says the server speaks (``data.supported``)."""
    data = error.get("data") if isinstance(error, dict) else None
    named = data.get("supported") if isinstance(data, dict) else None
    return _names(named) if isinstance(named, list) else ()


def mutual(error: Any, speak: Sequence[str], refused: str | None) -> str | None:
    """The revision to try again with after an error about the one that was ``refused``; ``None``
    where the error is not about that, or there is no other."""
    code = error.get("code") if isinstance(error, dict) else None
    names = supported(error)
    if code not in (VERSION_UNSUPPORTED, DRAFT_VERSION_UNSUPPORTED) or not names:
        return None
    version = _common(names, speak)
    return version if version != refused else None


def other_era(message: Message, doubt: str) -> EraFound | None:
    """What to do about an error to ``initialize`` where the handshake era was only supposed:
    because a probe was not answered (``probed``), or because it was found earlier (``known``)."""
    error = peek(message, "error")
    code = error.get("code") if isinstance(error, dict) else None
    names = supported(error)
    modern = not all(map(has_handshake, names)) if names else code == VERSION_UNSUPPORTED
    said = f"refused initialize with {error_sentence(error)[:200]}"
    if modern:
        return EraFound("modern", f"the server {said}", "It is locked to the stateless era.")
    if doubt == "known":
        return EraFound("auto", f"the server {said}", "It spoke the handshake era before and is asked anew.")
    return None


class Patience:
    """How long the answer to a probe is waited for: seconds of a monotonic clock."""

    def __init__(self, now: float) -> None:
        self.deadline = now + AT_MOST
        self._heard = False

    def heard(self, now: float) -> None:
        """The peer lives: from now on it has only so long."""
        if not self._heard:
            self._heard = True
            self.deadline = min(self.deadline, now + AFTER_A_SIGN)

    @property
    def why(self) -> str:
        """Why it is over, as the end of a sentence that begins with "the server"."""
        if self._heard:
            return f"did not answer server/discover within {AFTER_A_SIGN:.3g} s of its first sign of life"
        return f"did not answer server/discover within {AT_MOST:.3g} s"


def has_handshake(name: str) -> bool:
    """Whether a revision begins with ``initialize``, also one that was never released: they are
    named by their dates."""
    dated = name[:4].isdecimal() and name.count("-") == 2
    return name in HANDSHAKE_REVISIONS or (dated and name <= LATEST_HANDSHAKE)


def _names(listed: list[Any]) -> tuple[str, ...]:
    return tuple(name[:MAX_NAME] for name in listed[:MAX_NAMES] if isinstance(name, str))


def _common(names: Sequence[str], speak: Sequence[str]) -> str | None:
    return next((name for name in speak if name in names), None)
