"""The lifecycle of a connection, told step by step.

The state follows the table in ``lifecycle``, and each step is one line of the
server pane: process events, the handshake with its times, list changes
(a burst is one line), requests of the peer, and the end (stdin closed, waited
2.00 s, TERM, exit). All of it comes from frames, so a recording tells the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.core.frame import Frame
from workbench.core.lifecycle import OVER, Event, State, advance
from workbench.core.signature import cut
from workbench.core.streams import Streams
from workbench.core.view import Step

#: The first steps are always kept (the handshake), and the last ones; between them some are left out.
KEPT_HEAD = 100
KEPT_TAIL = 400

#: Changes of one list that come within this time are one step, whatever came between them.
BURST_NS = 1_000_000_000

#: Characters of a detail, a reason or a command line.
MAX_DETAIL = 1_000

#: Last lines of stderr that explain an exit.
TOLD_STDERR = 3


class Story:
    """State, reason and steps. Command, cwd, pid, exit code and signal are those of the
    process, ``streams`` what is open to it."""

    def __init__(self) -> None:
        self.state = State.NEW
        self.why = ""
        self.next_step = ""
        self.command: tuple[str, ...] = ()
        self.cwd = ""
        self.pid: int | None = None
        self.exit_code: int | None = None
        self.signal: str | None = None
        self.streams = Streams()
        self._steps: dict[int, Step] = {}
        self._told: tuple[Step, ...] | None = ()
        self._count = 0
        self._waiting: int | None = None
        self._closed_ns: int | None = None
        self._bursts: dict[str, tuple[int, int, int]] = {}  # label -> step, times, last mono_ns

    @property
    def steps(self) -> tuple[Step, ...]:
        if self._told is None:
            self._told = tuple(self._steps.values())
        return self._told

    # The state

    def happened(self, event: Event, why: str = "", next_step: str = "") -> None:
        state = advance(self.state, event)
        if state is self.state:
            return
        self._become(state, why, next_step)

    def _become(self, state: State, why: str, next_step: str) -> None:
        self.state = state
        self.why = cut(why, MAX_DETAIL)
        self.next_step = cut(next_step, MAX_DETAIL)

    # The steps

    def step(self, frame: Frame, label: str, detail: str = "", duration_ns: int | None = None) -> int:
        """Add a step; returns its key for ``change``."""
        key = self._count
        self._count += 1
        self._steps[key] = Step(
            frame.seq, frame.mono_ns, frame.direction, label, cut(detail, MAX_DETAIL), duration_ns
        )
        if len(self._steps) > KEPT_HEAD + KEPT_TAIL:
            del self._steps[next(key for place, key in enumerate(self._steps) if place == KEPT_HEAD)]
        self._told = None
        return key

    def change(self, key: int, detail: str | None = None, duration_ns: int | None = None) -> None:
        """Change a step that is still kept."""
        step = self._steps.get(key)
        if step is None:
            return
        self._steps[key] = Step(
            step.seq,
            step.mono_ns,
            step.direction,
            step.label,
            step.detail if detail is None else cut(detail, MAX_DETAIL),
            step.duration_ns if duration_ns is None else duration_ns,
        )
        self._told = None

    def list_changed(self, frame: Frame, what: str) -> None:
        """A list of the peer has changed: one step for a burst, or for as long as nothing else happens."""
        key, times, last_ns = self._bursts.get(what, (-1, 0, 0))
        running = key in self._steps and (key == self._count - 1 or frame.mono_ns - last_ns <= BURST_NS)
        if running:
            times += 1
            self.change(key, f"{what}, {times:,} times")
        else:
            key, times = self.step(frame, "list changed", what), 1
        self._bursts[what] = (key, times, frame.mono_ns)

    # Process events

    def process(self, frame: Frame, event: Mapping[str, Any], stderr: list[str]) -> None:
        """Take a process event (see the wire's vocabulary); ``stderr`` are the last lines seen."""
        name = event.get("event")
        if name in ("waiting", "signal", "exited"):
            self._end_waiting(frame)
        if name == "started":
            self._started(frame, event)
        elif name == "start_failed":
            self._start_failed(frame, event)
        elif name == "stdin_closed":
            self.streams.closed("stdin")
            self._closed_ns = frame.mono_ns
            self.step(frame, "stdin closed")
            self.happened(Event.CLOSE)
        elif name == "stdout_closed":
            self.streams.closed("stdout")
            self.step(frame, "stdout closed")
        elif name == "waiting":
            self._waiting = self.step(frame, "waited", f"for {text_of(event.get('for'))}")
        elif name == "signal":
            self._signalled(frame, text_of(event.get("name")))
        elif name == "exited":
            self._exited(frame, event, stderr)
        elif name == "failed":
            self._failed(frame, event)
        elif name == "undelivered":
            self.step(
                frame, "not delivered", f"{text_of(event.get('bytes'))} bytes: {text_of(event.get('why'))}"
            )
        elif name == "timeout":
            self.step(frame, "timed out", f"request {text_of(event.get('id'))}, {seconds_of(event)}")
        elif name == "restart":
            self._restarted(frame, event)
        elif name == "closed":
            self.happened(Event.CLOSE)
            self.happened(Event.ENDED)
            self.step(frame, "closed", text_of(event.get("why")))
        if self.state in OVER:
            self.streams.over()

    def _end_waiting(self, frame: Frame) -> None:
        if self._waiting is not None:
            started = self._steps.get(self._waiting)
            if started is not None:
                self.change(self._waiting, duration_ns=frame.mono_ns - started.mono_ns)
            self._waiting = None

    def _started(self, frame: Frame, event: Mapping[str, Any]) -> None:
        command = event.get("command")
        self.command = tuple(text_of(part) for part in command) if isinstance(command, list) else ()
        self.cwd = text_of(event.get("cwd"))
        pid = event.get("pid")
        self.pid = pid if isinstance(pid, int) else None
        self.exit_code = self.signal = self._closed_ns = None
        self.streams.started()
        parts = ["started", f"pid {self.pid}" if self.pid is not None else "", " ".join(self.command)]
        self.step(frame, "process", ", ".join(part for part in parts if part))
        self.happened(Event.START)

    def _restarted(self, frame: Frame, event: Mapping[str, Any]) -> None:
        """The process is started anew: what is known of the old one is history, and stays in the steps."""
        self.step(frame, "restart", text_of(event.get("why")))
        self.command, self.cwd, self.pid, self.exit_code, self.signal = (), "", None, None, None
        self._waiting = self._closed_ns = None
        self.happened(Event.ENDED)
        self.happened(Event.START)

    def _start_failed(self, frame: Frame, event: Mapping[str, Any]) -> None:
        why = text_of(event.get("why")) or "The server could not be started."
        self.step(frame, "process", f"not started: {why}")
        self.happened(Event.START)
        self.happened(Event.START_FAILED, why, "Check the command, PATH and the working directory.")

    def _signalled(self, frame: Frame, name: str) -> None:
        detail = "to the whole process group" if name == "KILL" else ""
        self.step(frame, name or "signal", detail)
        if self._closed_ns is None:
            return
        waited = (frame.mono_ns - self._closed_ns) / 1e9
        why = f"The server still ran {waited:.3g} s after its stdin was closed, and was ended with {name}."
        if self.state is State.SHUTDOWN_TIMEOUT:
            self._become(self.state, why, self.next_step)
        else:
            self.happened(
                Event.FORCED,
                why,
                "A server should exit when its stdin closes; give it longer if it needs to.",
            )

    def _exited(self, frame: Frame, event: Mapping[str, Any], stderr: list[str]) -> None:
        code, signal = event.get("code"), event.get("signal")
        self.exit_code = code if isinstance(code, int) else None
        self.signal = text_of(signal) if signal is not None else None
        self.pid = None
        self.streams.closed()
        how = f"ended by {self.signal}" if self.signal else f"exited with code {text_of(code)}"
        duration = None
        if self._closed_ns is not None:
            duration = frame.mono_ns - self._closed_ns
        self.step(frame, "process", how, duration)
        why = f"The server {how}."
        if stderr:
            why += f" Its last words on stderr: {' / '.join(stderr[-TOLD_STDERR:])}"
        step = "Read its stderr, then connect again."
        if not stderr:
            step = "It wrote nothing to stderr; run its command in a terminal to see more."
        if self.state is State.CLOSING:
            self.happened(Event.ENDED)
        else:
            self.happened(Event.ENDED, why, step)

    def _failed(self, frame: Frame, event: Mapping[str, Any]) -> None:
        try:
            state = State(text_of(event.get("state")))
        except ValueError:
            return
        if state not in OVER:
            return
        why = text_of(event.get("why"))
        if state is not self.state or not self.why:
            self.step(frame, "failed", why)
        self._become(state, why or self.why, text_of(event.get("next")) or self.next_step)


def text_of(value: Any) -> str:
    """A member of an event as text, cut; empty for what is none."""
    if isinstance(value, str):
        return cut(value, MAX_DETAIL)
    return "" if value is None or isinstance(value, (dict, list)) else cut(repr(value), MAX_DETAIL)


def seconds_of(event: Mapping[str, Any]) -> str:
    """The time an event tells of, in words."""
    seconds = event.get("seconds")
    return f"{seconds:.3g} s" if isinstance(seconds, (int, float)) else "its time is over"
