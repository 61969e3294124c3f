"""An app full of text as a hostile server writes it, for the test that reads what a terminal gets."""

from __future__ import annotations

import json

from textual.widget import Widget

from tests.tui.stage import Stage
from workbench.core.actions import Outcome
from workbench.core.forms import form_of
from workbench.core.frame import Channel, Direction, Kind, Row
from workbench.core.jsonrpc import decode
from workbench.tui.widgets.form import Form
from workbench.tui.widgets.frame_log import FrameLog
from workbench.tui.widgets.json_view import TextView
from workbench.tui.widgets.progress_line import ProgressLine, Running
from workbench.tui.widgets.result import ResultView
from workbench.tui.widgets.rows import Cell, Rows, RowSpec

EVIL = (
    "[red]\x1b[2J\x1b]0;title\x07\x1b]52;c;QUJD\x1b\\\x1b[?1049l\x07\r\x08\x9b5m\x9d\x00"
    "\u202e\u2066\u200b\ufeff\u2028[/nope]"
)


class OneFrame:
    """A source of one evil frame."""

    def height(self) -> int:
        return 1

    def window(self, first: int, last: int) -> list[Row]:
        body = EVIL.encode()
        way, channel = Direction.TO_CLIENT, Channel.STDIO
        row = Row(1, 1, 0, 0, way, channel, Kind.RESULT, 99, body, EVIL, EVIL, EVIL, None, 1)
        return [row] if first <= 1 <= last else []

    def rows(self, seqs: object) -> list[Row]:  # noqa: ARG002
        return self.window(1, 1)

    def find(self, text: bytes, **_: object) -> object:  # noqa: ARG002
        return iter(())


def build() -> list[Widget]:
    return [Rows(), FrameLog(), TextView(), Form(), ResultView(), ProgressLine()]


class HostileApp(Stage):
    CSS = "Rows, FrameLog, TextView, ResultView { height: 4; } Form { height: 8; }"

    def on_mount(self) -> None:
        rows = self.query_one(Rows)
        rows.set_rows([RowSpec(EVIL, (Cell(EVIL), Cell(EVIL)), tail=EVIL)], empty=EVIL)
        self.query_one(FrameLog).open(OneFrame(), 1)  # type: ignore[arg-type]
        self.query_one(TextView).show_text(EVIL)
        schema = {"properties": {EVIL: {"enum": [EVIL], "description": EVIL, "default": EVIL}}}
        self.query_one(Form).set_form(form_of(schema))
        self.query_one(Form).start()
        body = json.dumps({"id": 1, "result": {"content": [{"type": EVIL}, {"type": "text", "text": EVIL}]}})
        self.query_one(ResultView).show(Outcome("result", 1.0, decode(body.encode()).messages[0], 1))
        self.query_one(ProgressLine).set_running([Running("1", EVIL, 0.0, 1, 2, EVIL)])
        self.set_timer(1.0, self.exit)


if __name__ == "__main__":
    HostileApp(build).run()
