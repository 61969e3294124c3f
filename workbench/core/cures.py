"""Errors that name their own cure: what a request can be sent again with, once.

-32022 says which revisions the server speaks. -32020 on a tool call over HTTP
can mean that the tool asks for other headers by now, so the tools are listed
again first ("Versioning" and "Transports: custom headers", 2026-07-28).
"""

from __future__ import annotations

from collections.abc import Sequence

from workbench.core import probing
from workbench.core.actions import Outcome, Send
from workbench.core.calling import Calling
from workbench.core.envelope import Envelope
from workbench.core.frame import Kind
from workbench.core.jsonrpc import Message
from workbench.core.pages import Pages
from workbench.core.peek import peek
from workbench.core.rounds import Work

TOOLS = "tools/list"


class Cures:
    """Those of one connection. ``speak`` are the revisions we can speak, the best first."""

    def __init__(self, calls: Calling, envelope: Envelope, speak: Sequence[str]) -> None:
        self._calls = calls
        self._envelope = envelope
        self._speak = speak
        self._relisting: dict[int, tuple[Pages, Work, Outcome]] = {}

    def version(self, work: Work, message: Message, refused: str | None) -> str | None:
        """Another revision to send a request with, ``None`` where its error is about something else."""
        version = probing.mutual(peek(message, "error"), self._speak, refused)
        if version is None or "version" in work.cured:
            return None
        work.cured.add("version")
        return version

    def headers(self, work: Work, failed: Outcome, now: float) -> list[Send]:
        """List the tools again, for the headers of a request that was refused for them; empty where it
        is no call, or that did not help. ``failed`` is how the call ends if it does not."""
        if work.method != "tools/call" or "headers" in work.cured:
            return []
        work.cured.add("headers")
        return [self._list(Pages("tools"), work, failed, now)]

    def listed(self, id: int, message: Message, now: float) -> tuple[Work, Outcome | None, list[Send]]:
        """Take an answer for which ``is_listing``: the call it is for, how that ends (``None``: it can
        be sent again), and what is to be sent first."""
        pages, work, failed = self._relisting.pop(id)
        if message.kind is Kind.ERROR:
            return work, failed, []
        if pages.take(peek(message, "result")):
            return work, None, [self._list(pages, work, failed, now)]
        return work, None, []

    def is_listing(self, id: int) -> bool:
        return id in self._relisting

    def given_up(self, id: int) -> Work | None:
        """A listing got no answer: the call that waited for it."""
        waited = self._relisting.pop(id, None)
        return None if waited is None else waited[1]

    def _list(self, pages: Pages, work: Work, failed: Outcome, now: float) -> Send:
        call = self._calls.open(TOOLS, self._envelope.params(pages.params), now, None, False)
        self._relisting[call.id] = (pages, work, failed)
        return self._envelope.request(call.id, TOOLS, call.params)
