"""What an authorization server says when it refuses, as the end of a sentence."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.wire.oauth_exchange import Reply, shown


def refusal(reply: Reply) -> str:
    """Why it refused: its error, or what came instead of one."""
    document = reply.document or {}
    if isinstance(document.get("error"), str):
        return error_words(document)
    return f"it answered {reply.said}."


def error_words(members: Mapping[str, object]) -> str:
    """``error`` and ``error_description`` (RFC 6749, 4.1.2.1 and 5.2), in a peer's own words."""
    told = shown(members.get("error"))
    description = members.get("error_description")
    return f"{told}, {shown(description)}." if isinstance(description, str) and description else f"{told}."
