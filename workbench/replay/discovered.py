"""An answer to ``server/discover`` for a recording that has none.

A client that knew the era did not ask. One that does not know it must be told,
and every server of the era answers ("Versioning", 2026-07-28). It is told of no
more than was used.
"""

from __future__ import annotations

from typing import Any

from workbench.core.jsonrpc import decode
from workbench.core.methods import CHANGED_LISTS, REVISIONS
from workbench.core.peek import peek
from workbench.replay.cues import ANSWER, Script

_SERVER_INFO = "io.modelcontextprotocol/serverInfo"
_NAMED = _SERVER_INFO.encode()
_VERSION = "io.modelcontextprotocol/protocolVersion"


def discovered(script: Script) -> dict[str, Any]:
    """The result, as a value."""
    told: dict[str, Any] = {
        "resultType": "complete",
        "supportedVersions": sorted(_versions(script)) or [REVISIONS[-1]],
        "capabilities": _capabilities(script),
        "ttlMs": 0,
        "cacheScope": "private",
    }
    named = _server_info(script)
    return told if named is None else {**told, "_meta": {_SERVER_INFO: named}}


def _server_info(script: Script) -> Any:
    """Who the server said it is with any of its answers."""
    answers = (piece for piece in script.pieces() if piece.what == ANSWER and _NAMED in piece.body)
    found = (
        peek(message, "result", "_meta", _SERVER_INFO)
        for piece in answers
        for message in decode(piece.body).messages
    )
    return next((each for each in found if isinstance(each, dict)), None)


def _versions(script: Script) -> set[str]:
    found = set()
    for cue in script.requests:
        meta = cue.params.get("_meta") if isinstance(cue.params, dict) else None
        version = meta.get(_VERSION) if isinstance(meta, dict) else None
        if isinstance(version, str):
            found.add(version)
    return found


def _capabilities(script: Script) -> dict[str, Any]:
    used = {cue.method.partition("/")[0] for cue in script.requests}
    offered: dict[str, Any] = {name: {} for name in ("tools", "resources", "prompts") if name in used}
    if "completion" in used:
        offered["completions"] = {}
    told = {piece.method for piece in script.pieces()}
    for method in CHANGED_LISTS:
        if method in told:
            offered.setdefault(method.split("/")[1], {})["listChanged"] = True
    if "notifications/resources/updated" in told:
        offered.setdefault("resources", {})["subscribe"] = True
    return offered
