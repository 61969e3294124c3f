"""What the parts of the screen say, and what becomes of it."""

from __future__ import annotations

from textual import on

from workbench.tui.ask import Ask
from workbench.tui.detail import Detail
from workbench.tui.messages import Copy, Deciding, Kept, Owner, Said, Show
from workbench.tui.screens.keys import Keys
from workbench.tui.strip import ConnectionStrip
from workbench.tui.tab_line import TabLine
from workbench.tui.widgets.frame_log import FrameLog


class Hearing(Keys):
    """Messages that come up."""

    @on(Said)
    def _said(self, message: Said) -> None:
        message.stop()
        self.say(message.text, bad=message.bad)

    @on(Show)
    def _show(self, message: Show) -> None:
        message.stop()
        self.show_body(message.title, message.body)

    @on(Copy)
    def _copy(self, message: Copy) -> None:
        message.stop()
        self.copy(message.text.encode("utf-8", "surrogateescape"))

    @on(Deciding)
    def _deciding(self, message: Deciding) -> None:
        message.stop()
        self.query_one(Ask).decide(message.question, message.lines, message.choices)
        self.hints()

    @on(FrameLog.Opened)
    def _frame_opened(self, message: FrameLog.Opened) -> None:
        message.stop()
        if not isinstance(message, FrameLog.Moved):  # which is one of the same family
            self.open_frame(message.seq)

    @on(FrameLog.Moved)
    def _frame_moved(self, message: FrameLog.Moved) -> None:
        message.stop()
        if self.has_class("detail") and self.query_one(Detail).seq is not None:
            self.open_frame(message.seq, focus=False)

    @on(Owner)
    def _owner(self, message: Owner) -> None:
        message.stop()
        self.take_up(message.connection)

    @on(ConnectionStrip.Picked)
    def _picked(self, message: ConnectionStrip.Picked) -> None:
        message.stop()
        self.show_connection(message.place)

    @on(TabLine.Picked)
    def _tab_picked(self, message: TabLine.Picked) -> None:
        message.stop()
        self.show_pane(message.name)

    @on(Kept)
    def _kept(self, message: Kept) -> None:
        message.stop()
        self.say("")
        self.query_one(Ask).tell(message.lines, bad=message.bad)
        self.hints()
