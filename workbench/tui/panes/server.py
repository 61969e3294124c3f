"""The lifecycle of a connection, told from its start to its end, and what both sides declared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from textual.app import ComposeResult

from workbench.core.frame import Direction
from workbench.core.http_story import masked, stream_words
from workbench.core.lifecycle import State, group
from workbench.core.view import ConnectionView, OpenStream, Step
from workbench.tui import figures
from workbench.tui.desk import Desk, Diagnosis
from workbench.tui.diagnosed import diagnosis_lines
from workbench.tui.lines import Bit, Line, Lines, wrapped
from workbench.tui.marks import Marks, marks_of
from workbench.tui.palette import Role
from workbench.tui.panes.pane import Pane
from workbench.tui.strip import state_mark, state_word

_LABEL = 15
_TITLE = 12
_LONGEST = 22

#: Lines of stderr at the end.
STDERR = 8


class ServerPane(Pane):
    """One column of lines, scrolled by keys."""

    def __init__(self, desk: Desk, *, id: str) -> None:
        super().__init__(desk, id=id)
        self.lines = Lines()
        self._seen: object = None

    def compose(self) -> ComposeResult:
        yield self.lines

    def show(self, view: ConnectionView | None) -> None:
        super().show(view)
        diagnosis = self.desk.diagnosis(view.number) if view is not None else None
        seen = (_face(view), diagnosis)
        if seen == self._seen:
            return
        self._seen = seen
        marks = marks_of(self)
        live = self.desk.live
        self.lines.lay(
            lambda width: list(_story(view, width, marks, live, diagnosis)) if view is not None else []
        )

    def start(self) -> None:
        self.lines.focus()

    def words(self) -> set[str]:
        return {"server"}

    def source(self) -> tuple[str, bytes] | None:
        if self.current is None:
            return None
        told = "\n".join(
            "".join(bit.text for bit in line).rstrip()
            for line in _story(
                self.current, 200, marks_of(self), self.desk.live, self.desk.diagnosis(self.current.number)
            )
        )
        return "lifecycle", told.encode("utf-8", "surrogateescape")


def _face(view: ConnectionView | None) -> object:
    if view is None:
        return None
    told = (view.state, view.steps, view.stderr_count, view.revision, view.why, view.next_step)
    return (view.number, told, view.streams, view.session, view.session_id, view.era_found, view.reconnects)


def _story(
    view: ConnectionView, width: int, marks: Marks, live: bool, diagnosis: Diagnosis | None
) -> Iterator[Line]:
    yield from _summary(view, width, marks, live)
    if diagnosis is not None:
        yield []
        yield from diagnosis_lines(diagnosis, width, marks)
    yield []
    yield from _steps(view.steps, width, marks)
    yield []
    yield from _facts(view, width)
    if view.stderr:
        yield []
        total = figures.count(view.stderr_count)
        shown = view.stderr[-STDERR:]
        yield [Bit(" "), Bit("stderr", "text"), Bit(f"  last {len(shown)} of {total} lines", "quiet")]
        for _, text in shown:
            yield [Bit("   "), Bit(text, "quiet")]


def _summary(view: ConnectionView, width: int, marks: Marks, live: bool) -> Iterator[Line]:
    mark, role = state_mark(view.state, marks)
    words = [state_word(view)]
    if view.era:
        words.append(f"{view.era} era")
    if view.revision:
        same = view.revision == view.offered
        words.append(f"{view.revision}, as offered" if same else f"{view.revision}, offered {view.offered}")
    elif view.offered:
        words.append(f"offered {view.offered}")
    head = [Bit(" "), Bit(mark, role), Bit(f" {view.name}", "bright")]
    yield [*head, *(Bit(f"   {word}", "text" if not place else "quiet") for place, word in enumerate(words))]
    if group(view.state) == "failed" or (view.why and view.state is not State.READY):
        for place, row in enumerate(wrapped(view.why, width - 5, 6)):
            yield [Bit("   "), Bit(row, "failed" if not place else "text")]
        for row in wrapped(view.next_step, width - 5, 3) if view.next_step else ():
            yield [Bit("   "), Bit(row, "text")]
        if live:
            keys = [Bit("   "), Bit("c", "text"), Bit(" connects again", "quiet")]
            find = [Bit("   "), Bit("D", "text"), Bit(" finds out which step fails", "quiet")]
            yield [*keys, *(find if group(view.state) == "failed" else ())]


def _steps(steps: Sequence[Step], width: int, marks: Marks) -> Iterator[Line]:
    if not steps:
        yield [Bit("   nothing has happened yet", "quiet")]
        return
    began = steps[0].mono_ns
    label = min(max(_LABEL, *(len(step.label) for step in steps), 0), _LONGEST if width >= 100 else _LABEL)
    detail = label + 16
    for step in steps:
        mark: str = marks.event
        role: Role = "quiet"
        if step.direction is Direction.TO_SERVER:
            mark, role = marks.to_server, "accent"
        elif step.direction is Direction.TO_CLIENT:
            mark, role = marks.to_client, "client"
        elif step.label == "failed":
            mark, role = marks.failed, "failed"
        time = figures.offset(step.mono_ns - began).lstrip("+")
        took = figures.duration(step.duration_ns)
        left: list[Bit] = [
            Bit(" "),
            Bit(time, "quiet", 9, right=True),
            Bit("  "),
            Bit(mark, role),
            Bit(" "),
            Bit(step.label, "text", max(label, min(len(step.label), _LONGEST))),
            Bit("  "),
        ]
        rows = wrapped(step.detail, max(width - detail - 10, 10), 3)
        yield [*left, Bit(f"{rows[0]}   " if rows[0] else "", "quiet"), Bit(took, "text")]
        for row in rows[1:]:
            yield [Bit(" " * detail), Bit(row, "quiet")]


def _facts(view: ConnectionView, width: int) -> Iterator[Line]:
    said = [
        ("server", [_identity(view.server_info)]),
        ("we are", [_identity(view.client_info)]),
        ("we offer", ["  ".join(_flat(view.client_capabilities))]),
        ("it offers", ["  ".join(_flat(view.server_capabilities))]),
        ("agreed", ["  ".join(view.agreed)]),
        ("era", [_era(view)]),
        ("target", [view.target]),
        ("process", [_process(view)]),
        ("session", [_session(view)]),
        ("streams", _streams(view)),
        ("calls", [_calls(view)]),
        ("instructions", [view.instructions]),
    ]
    room = max(width - _TITLE - 4, 10)
    for title, texts in said:
        rows = [row for text in texts if text for row in wrapped(text, room, 4)]
        for place, row in enumerate(rows):
            head = [Bit(" " * (_TITLE + 3))] if place else [Bit(" "), Bit(title, "quiet", _TITLE), Bit("  ")]
            yield [*head, Bit(row, "text")]


def _calls(view: ConnectionView) -> str:
    # A subscription is a request that stays open; it stands among the streams.
    count = sum(call.method != "subscriptions/listen" for call in view.open_calls)
    return f"{count} open" if count else ""


def _era(view: ConnectionView) -> str:
    """By what the era was found out; which it is stands at the top."""
    return view.era_found


def _session(view: ConnectionView) -> str:
    if not view.session:
        return ""
    return f"{view.session}, {masked(view.session_id)}" if view.session_id else view.session


def _streams(view: ConnectionView) -> list[str]:
    """Pipes in one line, each stream of HTTP in one of its own."""
    pipes = [f"{pipe.name} {pipe.state}" for pipe in view.streams if not pipe.verb]
    told = ["   ".join(pipes)]
    told += [_stream(stream) for stream in view.streams if stream.verb]
    if view.reconnects:
        told.append(f"asked for again {_times(view.reconnects)}")
    return told


def _times(number: int) -> str:
    return "once" if number == 1 else f"{figures.count(number)} times"


def _stream(stream: OpenStream) -> str:
    words = [stream_words(stream)]
    if stream.event_id is not None:
        words.append(f"last event {stream.event_id}")
    if stream.retry_ms is not None:
        words.append(f"retry {figures.duration(stream.retry_ms * 1_000_000)}")
    told = "   ".join(words)
    return f"{told}   {stream.why}" if stream.why else told


def _identity(info: Mapping[str, Any]) -> str:
    words = [info.get("title"), info.get("name"), info.get("version")]
    return "  ".join(word for word in words if isinstance(word, str))


def _process(view: ConnectionView) -> str:
    parts = [f"pid {view.pid}" if view.pid is not None else ""]
    if view.signal:
        parts.append(f"ended by {view.signal}")
    elif view.exit_code is not None:
        parts.append(f"exited with code {view.exit_code}")
    parts.append(f"in {view.cwd}" if view.cwd else "")
    return "   ".join(part for part in parts if part)


def _flat(capabilities: Mapping[str, Any]) -> list[str]:
    """``tools.listChanged``; a capability without members by its own name."""
    names: list[str] = []
    for name, value in capabilities.items():
        inner = [key for key, on in value.items() if on is not False] if isinstance(value, dict) else []
        names += [f"{name}.{key}" for key in inner] or [name]
    return names
