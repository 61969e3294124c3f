"""The steps that tell of HTTP and of eras: what no message says, in the words of a person."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.core.frame import Frame
from workbench.core.jsonrpc import loads
from workbench.core.lifecycle import Event
from workbench.core.story import Story, seconds_of, text_of
from workbench.core.stream_states import StreamState
from workbench.core.view import OpenStream

#: What the steps of reaching a server are called.
_REACHING = {
    "dns": "the name was not found",
    "tcp": "no connection",
    "tls": "no secure connection",
    "http": "no answer of HTTP",
}

#: A session's id is told by its last characters, if it is long enough to stay one.
TAIL = 4
LONG_ENOUGH = 12


class HttpStory:
    """Adds steps to ``story``. ``session_id`` is what the server granted, ``session`` says what
    became of it, ``era`` and ``era_found`` are what the connection found out."""

    def __init__(self, story: Story) -> None:
        self.session_id = ""
        self.session = ""
        self.era = ""
        self.era_found = ""
        self._story = story
        self._streams = story.streams

    def process(self, frame: Frame, event: Mapping[str, Any]) -> None:
        """Take a process event, if it is one of these."""
        take = _TAKEN.get(text_of(event.get("event")))
        if take is not None:
            take(self, frame, event)

    def _unreachable(self, frame: Frame, event: Mapping[str, Any]) -> None:
        step, why = text_of(event.get("step")), text_of(event.get("why"))
        self._story.step(frame, "not reached", ": ".join(filter(None, (_REACHING.get(step, step), why))))
        self._story.happened(Event.UNREACHABLE, why)

    def _stream(self, frame: Frame, event: Mapping[str, Any]) -> None:
        stream = self._streams.happened(frame, event)
        if stream is not None:
            parts = [
                f"{stream.name} {stream.state}",
                "" if stream.status in (None, 200) else str(stream.status),
            ]
            told = ", ".join(part for part in parts if part)
            self._story.step(frame, "stream", f"{told}: {stream.why}" if stream.why else told)

    def _reconnect(self, frame: Frame, event: Mapping[str, Any]) -> None:
        stream = self._streams.paused(frame, event)
        if stream is None and not event.get("seconds"):
            return
        name = stream.name if stream is not None else "stream"
        parts = [f"{name} in {seconds_of(event)}"]
        if isinstance(event.get("attempt"), int) and event["attempt"] > 1:
            parts.append(f"attempt {event['attempt']}")
        if event.get("resumes") is True:
            known = stream.event_id if stream is not None else None
            parts.append(f"after event {known}" if known else "from where it broke")
        self._story.step(frame, "reconnect", f"{', '.join(parts)}: {text_of(event.get('why'))}")

    def _session(self, frame: Frame, event: Mapping[str, Any]) -> None:
        state, identity = text_of(event.get("state")), event.get("id")
        told = masked(identity) if isinstance(identity, str) else ""
        why = text_of(event.get("why"))
        if state == "other":
            told = f"another id named, {told}, and not taken over"
        else:
            self.session = state
            if state == "granted" and isinstance(identity, str):
                self.session_id = identity
            told = f"{state}, {told}" if told else state
        self._story.step(frame, "session", f"{told}: {why}" if why else told)

    def _redirect(self, frame: Frame, event: Mapping[str, Any]) -> None:
        self._streams.redirected(event)
        self._story.step(frame, "redirect", f"{text_of(event.get('status'))} to {text_of(event.get('to'))}")

    def authorization(self, frame: Frame) -> None:
        """A step of getting a token: what came, and where that was not it, what was expected."""
        try:
            told = loads(frame.body)
        except (ValueError, RecursionError):
            return
        if not isinstance(told, dict) or "ok" not in told:
            return
        words = f"{text_of(told.get('step'))}: {text_of(told.get('came'))}"
        expected = text_of(told.get("expected"))
        if told["ok"] is not True:
            words = f"wrong: {words}" + (f", expected {expected}" if expected else "")
        self._story.step(frame, "auth", words)

    def _fallback(self, frame: Frame, event: Mapping[str, Any]) -> None:
        older = {"sse": "HTTP+SSE of 2024-11-05"}
        to = text_of(event.get("to"))
        self._story.step(frame, "fallback", f"to {older.get(to, to)}: {text_of(event.get('why'))}")

    def _era(self, frame: Frame, event: Mapping[str, Any]) -> None:
        self.era, self.era_found = text_of(event.get("era")), text_of(event.get("found"))
        self._story.step(frame, "era", ", ".join(filter(None, (self.era, self.era_found))))

    def _unanswered(self, frame: Frame, event: Mapping[str, Any]) -> None:
        told = f"request {text_of(event.get('id'))}: {text_of(event.get('why'))}"
        self._story.step(frame, "no answer", told)


_TAKEN = {
    "unreachable": HttpStory._unreachable,
    "stream": HttpStory._stream,
    "reconnect": HttpStory._reconnect,
    "session": HttpStory._session,
    "redirect": HttpStory._redirect,
    "fallback": HttpStory._fallback,
    "era": HttpStory._era,
    "unanswered": HttpStory._unanswered,
}


def masked(identity: str) -> str:
    """A session's id as it may be shown to bystanders: who has it can speak in the session."""
    if "<redacted:" in identity:
        return "id not recorded"
    return f"id ending in {identity[-TAIL:]}" if len(identity) >= LONG_ENOUGH else "id hidden"


def stream_words(stream: OpenStream) -> str:
    """A stream in a few words: ``listening open``, ``resumed call waiting 2.0 s, attempt 2``."""
    words = f"{stream.name} {stream.state}"
    if stream.posts:
        return f"{stream.posts:,} {stream.verb} {stream.state}"
    if stream.state == StreamState.WAITING and stream.seconds is not None:
        words += f" {stream.seconds:.3g} s"
    if stream.attempt > 1:
        words += f", attempt {stream.attempt}"
    if stream.status not in (None, 200):
        words += f", {stream.status}"
    return words
