"""The lifecycle of a connection, told from its start to its end, and what both sides declared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from textual.app import ComposeResult

from workbench.core.frame import Direction
from workbench.core.http_story import stream_words
from workbench.core.lifecycle import State, group
from workbench.core.view import ConnectionView, Step
from workbench.tui import figures
from workbench.tui.desk import Desk
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
        seen = _face(view)
        if seen == self._seen:
            return
        self._seen = seen
        marks = marks_of(self)
        self.lines.lay(lambda width: list(_story(view, width, marks)) if view is not None else [])

    def start(self) -> None:
        self.lines.focus()

    def words(self) -> set[str]:
        return {"server"}

    def source(self) -> tuple[str, bytes] | None:
        if self.current is None:
            return None
        told = "\n".join(
            "".join(bit.text for bit in line).rstrip() for line in _story(self.current, 200, marks_of(self))
        )
        return "lifecycle", told.encode("utf-8", "surrogateescape")


def _face(view: ConnectionView | None) -> object:
    if view is None:
        return None
    return (view.number, view.state, view.steps, view.stderr_count, view.streams, view.revision)


def _story(view: ConnectionView, width: int, marks: Marks) -> Iterator[Line]:
    yield from _summary(view, width, marks)
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


def _summary(view: ConnectionView, width: int, marks: Marks) -> Iterator[Line]:
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
        yield [Bit("   "), Bit("c", "text"), Bit(" connects again", "quiet")]


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
        ("server", _identity(view.server_info)),
        ("we are", _identity(view.client_info)),
        ("we offer", "  ".join(_flat(view.client_capabilities))),
        ("it offers", "  ".join(_flat(view.server_capabilities))),
        ("agreed", "  ".join(view.agreed)),
        ("target", view.target),
        ("process", _process(view)),
        ("streams", "   ".join(stream_words(stream) for stream in view.streams)),
        ("calls", f"{len(view.open_calls)} open" if view.open_calls else ""),
        ("instructions", view.instructions),
    ]
    for title, text in said:
        if text:
            rows = wrapped(text, max(width - _TITLE - 4, 10), 4)
            yield [Bit(" "), Bit(title, "quiet", _TITLE), Bit("  "), Bit(rows[0], "text")]
            for row in rows[1:]:
                yield [Bit(" " * (_TITLE + 3)), Bit(row, "text")]


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
