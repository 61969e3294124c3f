"""A frame written by hand: any text, sent as it is typed, and what came of those that were."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.events import Resize
from textual.widgets import TextArea

from workbench.core.view import ConnectionView
from workbench.tui import figures
from workbench.tui.desk import Desk
from workbench.tui.lines import Bit, Fixed, Line, wrapped
from workbench.tui.marks import Marks, marks_of
from workbench.tui.messages import Hints, Said, Show
from workbench.tui.palette import Role
from workbench.tui.panes.pane import Pane
from workbench.tui.raw import RawFrame, Reading, read
from workbench.tui.safe import safe_json
from workbench.tui.widgets.json_area import JsonArea
from workbench.tui.widgets.result import ResultView
from workbench.tui.widgets.rows import Cell, Rows, RowSpec

#: From this width on what was sent stands beside what is written.
WIDE = 100

#: Rows that the frames that were sent may take below each other.
_SENT = 4

#: What stands there before anything is written.
BEGUN = '{"jsonrpc":"2.0","id":"by-hand-1","method":"ping"}'


class RawFramePane(Pane):
    """An editor, and below or beside it the frames that were sent with their answers."""

    has_steps = True

    def __init__(self, desk: Desk, *, id: str) -> None:
        super().__init__(desk, id=id)
        self.head = Fixed(classes="head")
        self.area = JsonArea()
        self.reading = Fixed()
        self.rows = Rows(empty="nothing was sent by hand")
        self.result = ResultView()
        self._shown: object = None

    def compose(self) -> ComposeResult:
        with Vertical(classes="writing"):
            yield self.head
            yield self.area
            yield self.reading
        with Vertical(classes="side"):
            yield self.rows
            yield self.result

    def on_mount(self) -> None:
        self._write(BEGUN)
        self.result.display = False
        self._read()

    def on_resize(self, event: Resize) -> None:
        self.set_class(event.size.width >= WIDE, "wide")
        self._fit()

    # What goes down.

    def show(self, view: ConnectionView | None) -> None:
        super().show(view)
        name = view.name if view is not None else "no connection"
        self.head.lay(
            lambda _: [
                [Bit(" "), Bit("a frame by hand", "bright"), Bit(f"  to {name}, as it is typed", "quiet")]
            ]
        )
        marks = marks_of(self)
        self.rows.set_rows([_row(raw, marks) for raw in reversed(self._sent())])
        self._read()
        self._fit()
        self._show_result()

    def _sent(self) -> list[RawFrame]:
        number = self.current.number if self.current is not None else 0
        return [raw for raw in self.desk.raw if raw.connection == number]

    @property
    def raw(self) -> RawFrame | None:
        """The frame under the cursor."""
        return next((raw for raw in self._sent() if raw.key == self.rows.key), None)

    def _show_result(self) -> None:
        raw = self.raw
        outcome = raw.outcome if raw is not None else None
        shown = (raw.key, outcome is not None) if raw is not None else None
        if shown == self._shown:
            return
        self._shown = shown
        self.result.display = outcome is not None
        if raw is not None and outcome is not None:
            self.result.show(outcome, raw.seq or None)
        self.post_message(Hints())

    def _fit(self) -> None:
        wide = self.has_class("wide")
        self.rows.styles.height = max(1, min(self.rows.count, self.size.height // 2 if wide else _SENT))

    def _read(self) -> None:
        view = self.current
        found = read(self._body(), lines=view is not None and view.transport == "stdio")
        self.reading.lay(lambda width: _told(found, width))

    def _write(self, text: str) -> None:
        self.area.text = text
        self.area.move_cursor(self.area.document.end)

    def _body(self) -> bytes:
        return self.area.text.encode("utf-8", "surrogateescape")

    # What happens.

    @on(TextArea.Changed)
    def _changed(self, message: TextArea.Changed) -> None:
        message.stop()
        self._read()

    @on(JsonArea.Sent)
    def _send_typed(self, message: JsonArea.Sent) -> None:
        message.stop()
        self._send(self._body())

    @on(JsonArea.Left)
    def _left(self, message: JsonArea.Left) -> None:
        message.stop()
        self.rows.focus()
        self.post_message(Hints())

    @on(Rows.Moved)
    def _moved(self, message: Rows.Moved) -> None:
        message.stop()
        self._show_result()

    @on(Rows.Chosen)
    def _chosen(self, message: Rows.Chosen) -> None:
        message.stop()
        raw = self.raw
        if raw is not None:
            self._write(safe_json(raw.body.decode("utf-8", "surrogateescape")))
            self.start()

    @on(ResultView.Opened)
    def _opened(self, message: ResultView.Opened) -> None:
        message.stop()
        self.post_message(Show(message.title, message.whole))

    def _send(self, body: bytes) -> None:
        view = self.current
        raw = self.desk.send_raw(view.number, body) if view is not None else None
        if raw is None:
            self.post_message(Said("There is no connection to send it on.", True))
            return
        if raw.reading.waits:
            # Nothing else would have the screen look when nothing comes.
            self.set_timer(raw.timeout, self.desk.changed)
        self.show(view)
        self.rows.select(raw.key)
        self._show_result()

    # What the screen asks.

    def start(self) -> None:
        self.area.focus()

    def words(self) -> set[str]:
        return {"sent"} if self.raw is not None else set()

    def back(self) -> bool:
        if self.result.has_focus:
            self.rows.focus()
            return True
        return False

    def source(self) -> tuple[str, bytes] | None:
        block = self.result.block if self.result.display else None
        if block is not None and self.result.has_focus:
            return "answer", block.whole
        raw = self.raw
        return ("frame", raw.body) if raw is not None else ("frame", self._body())

    def do_write_raw(self) -> None:
        self.start()

    def do_resend_raw(self) -> None:
        raw = self.raw
        if raw is not None:
            self._send(raw.body)


def _told(found: Reading, width: int) -> list[Line]:
    """What the server will take the text for."""
    after = "an answer is waited for" if found.waits else "nothing waits for an answer"
    role: Role = "finding" if found.wrong else "text"
    line: Line = [Bit("   "), Bit(found.kind, role), Bit(f"  {after}", "quiet")]
    more = found.wrong or found.name
    if 3 + len(f"{found.kind}  {after}  {more}") < width:
        return [[*line, Bit(f"  {more}", "text")]]
    return [line, *([Bit("   "), Bit(row, "text")] for row in wrapped(more, max(width - 4, 8), 2))]


def _row(raw: RawFrame, marks: Marks) -> RowSpec:
    mark, role, word = _end(raw, marks)
    text = raw.body.decode("utf-8", "replace")
    seq = f"#{raw.seq}" if raw.seq else ""
    return RowSpec(raw.key, (Cell(text),), mark, role, tail=f"{word}  {seq:>6}")


def _end(raw: RawFrame, marks: Marks) -> tuple[str, Role, str]:
    """Mark, its role, and the time taken, or the word that stands for it."""
    outcome = raw.outcome
    if outcome is None:
        return (marks.on_the_way, "waiting", "waits") if raw.waiting else (marks.to_server, "quiet", "sent")
    if outcome.how == "result":
        return marks.ok, "ok", figures.duration(round(outcome.seconds * 1e9))
    return marks.failed, "failed", outcome.how
