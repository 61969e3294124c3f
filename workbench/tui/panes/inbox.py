"""What servers ask: requests that wait for the user, and how they are answered.

A request never takes the focus. An elicitation is answered by a form of its
schema, sampling by the text a model would have written, or as JSON.
"""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical

from workbench.core.forms import Field, FieldKind, FormModel, form_of
from workbench.core.frame import Direction
from workbench.core.jsonrpc import dumps, loads
from workbench.core.jsontext import pretty
from workbench.core.view import ConnectionView
from workbench.tui.desk import Desk, Inquiry
from workbench.tui.lines import Bit, Fixed, Line, Lines, wrapped
from workbench.tui.messages import Hints, Said
from workbench.tui.panes.pane import Pane
from workbench.tui.widgets.form import Form
from workbench.tui.widgets.rows import Cell, Rows, RowSpec

_SHORT = {"elicitation/create": "elicitation", "sampling/createMessage": "sampling"}

#: What a declined sampling request is answered with (the specification's example).
_DECLINED = (-1, "User rejected sampling request")


class InboxPane(Pane):
    """Requests of every connection that wait, and below them what was answered."""

    has_steps = True

    def __init__(self, desk: Desk, *, id: str) -> None:
        super().__init__(desk, id=id)
        self.rows = Rows(empty="no server asks for anything")
        self.head = Fixed(classes="head")
        self.form = Form()
        self.past = Lines(stick=True)
        self._inquiries: dict[str, Inquiry] = {}
        self._shown: Inquiry | None = None
        self._past_seen: object = None

    def compose(self) -> ComposeResult:
        yield self.rows
        with Vertical(classes="side"):
            yield self.head
            yield self.form
            yield self.past

    def show(self, view: ConnectionView | None) -> None:
        super().show(view)
        names = {each.number: each.name for each in self.desk.views}
        self._inquiries = {f"{each.connection}:{each.id}": each for each in self.desk.inbox}
        self.rows.set_rows([_row(key, each, names) for key, each in self._inquiries.items()])
        self.rows.styles.height = max(1, min(self.rows.count, max(self.size.height // 3, 3)))
        self._show_current()
        self._show_past()

    @property
    def inquiry(self) -> Inquiry | None:
        return self._inquiries.get(self.rows.key) if self.rows.key is not None else None

    def _show_current(self) -> None:
        inquiry = self.inquiry
        if inquiry == self._shown:
            return
        was_here = self.form.has_focus_within
        self._shown = inquiry
        self.set_class(inquiry is None, "no-item")
        self.form.display = inquiry is not None
        self.head.lay(lambda width: _question(inquiry, width))
        if inquiry is not None:
            self.form.set_form(_model(inquiry), sent=self._result)
        if was_here:
            self.rows.focus()
        self.post_message(Hints())

    def _show_past(self) -> None:
        steps = [
            (view.name, step)
            for view in self.desk.views
            for step in view.steps
            if step.direction is Direction.TO_CLIENT and "/" in step.label
        ]
        steps.sort(key=lambda each: each[1].seq)
        if steps == self._past_seen:
            return
        self._past_seen = steps

        def lay(_: int) -> list[Line]:
            lines: list[Line] = [[], [Bit(" "), Bit("asked so far", "text")]] if steps else []
            for name, step in steps:
                lines.append(
                    [
                        Bit("   "),
                        Bit(name, "quiet", 16),
                        Bit("  "),
                        Bit(step.label, "text", 24),
                        Bit("  "),
                        Bit(step.detail, "quiet"),
                    ]
                )
            return lines

        self.past.lay(lay)

    @on(Rows.Moved)
    def _moved(self, message: Rows.Moved) -> None:
        message.stop()
        self._show_current()

    @on(Rows.Chosen)
    def _chosen(self, message: Rows.Chosen) -> None:
        message.stop()
        if self.inquiry is not None and self.desk.live:
            self.form.start()
            self.post_message(Hints())

    @on(Form.Changed)
    def _changed(self, message: Form.Changed) -> None:
        message.stop()
        self.post_message(Hints())

    @on(Form.Submitted)
    def _submitted(self, message: Form.Submitted) -> None:
        message.stop()
        inquiry = self.inquiry
        if inquiry is None:
            return
        how = "accepted" if inquiry.method == "elicitation/create" else "answered"
        self._answer(inquiry, self._result(message.text), how)

    def _result(self, text: str) -> str:
        """The result that answers with what the form holds."""
        method = self._shown.method if self._shown is not None else ""
        if method == "elicitation/create":
            return f'{{"action":"accept","content":{text}}}'
        if method == "sampling/createMessage":
            return _sampled(text, self.form.by_hand)
        return text

    def do_decline(self) -> None:
        inquiry = self.inquiry
        if inquiry is None:
            return
        if inquiry.method == "elicitation/create":
            self._answer(inquiry, '{"action":"decline"}', "declined")
        else:
            self.desk.answer(inquiry, None, _DECLINED)
            self._after("declined", inquiry)

    def do_cancel_request(self) -> None:
        inquiry = self.inquiry
        if inquiry is None:
            return
        if inquiry.method == "elicitation/create":
            self._answer(inquiry, '{"action":"cancel"}', "cancelled")
        else:
            self.do_decline()

    def _answer(self, inquiry: Inquiry, result: str, how: str) -> None:
        self.desk.answer(inquiry, result)
        self._after(how, inquiry)

    def _after(self, how: str, inquiry: Inquiry) -> None:
        self.rows.focus()
        self.post_message(Said(f"{_SHORT.get(inquiry.method, inquiry.method)} #{inquiry.seq} {how}"))

    # What the screen asks.

    def start(self) -> None:
        self.rows.focus()

    def words(self) -> set[str]:
        return {"inbox", "item"} if self.inquiry is not None else {"inbox"}

    def back(self) -> bool:
        if not self.rows.has_focus:
            self.rows.focus()
            return True
        return False

    def source(self) -> tuple[str, bytes] | None:
        inquiry = self.inquiry
        if inquiry is None:
            return None
        return "request", pretty(dumps(inquiry.params)).encode("utf-8", "surrogateescape")


def _row(key: str, inquiry: Inquiry, names: dict[int, str]) -> RowSpec:
    cells = (
        Cell(_SHORT.get(inquiry.method, inquiry.method)),
        Cell(names.get(inquiry.connection, ""), "quiet"),
        Cell(_asks(inquiry)),
    )
    return RowSpec(key, cells, tail="waits for you", tail_role="waiting")


def _asks(inquiry: Inquiry) -> str:
    """What is asked, in the server's words."""
    params = inquiry.params if isinstance(inquiry.params, dict) else {}
    message = params.get("message")
    if isinstance(message, str):
        return message
    messages = params.get("messages")
    texts: list[object] = []
    for each in messages if isinstance(messages, list) else ():
        content = each.get("content") if isinstance(each, dict) else None
        blocks = content if isinstance(content, list) else [content]
        texts += [block.get("text") for block in blocks if isinstance(block, dict)]
    return " ".join(text for text in texts if isinstance(text, str))


def _question(inquiry: Inquiry | None, width: int) -> list[Line]:
    if inquiry is None:
        return []
    title = f"{_SHORT.get(inquiry.method, inquiry.method)}  #{inquiry.seq}"
    lines: list[Line] = [[Bit(" "), Bit(title, "bright")]]
    lines += [[Bit("   "), Bit(row, "text")] for row in wrapped(_asks(inquiry), width - 4, 6)]
    params = inquiry.params if isinstance(inquiry.params, dict) else {}
    for name in ("systemPrompt", "maxTokens", "url"):
        if name in params:
            value = params[name]
            shown = value if isinstance(value, str) else dumps(value)
            lines.append([Bit("   "), Bit(name, "quiet", 14), Bit(shown, "text")])
    return lines


def _model(inquiry: Inquiry) -> FormModel:
    params = inquiry.params if isinstance(inquiry.params, dict) else {}
    if inquiry.method == "elicitation/create":
        return form_of(params.get("requestedSchema", {"type": "object"}))
    if inquiry.method == "sampling/createMessage":
        about = "What the model would have answered; e writes the whole result as JSON"
        return FormModel(
            (
                Field("text", FieldKind.STRING, "string", required=True, description=about),
                Field("model", FieldKind.STRING, "string", default='"written by hand"'),
            )
        )
    return FormModel(reason="The result is written as JSON.")


def _sampled(text: str, by_hand: bool) -> str:
    """A sampling result from the form's two fields; by hand, the text is the result if it has a role."""
    try:
        fields = loads(text)
    except (ValueError, RecursionError):
        return text
    if not isinstance(fields, dict) or (by_hand and "role" in fields):
        return text
    return dumps(
        {
            "role": "assistant",
            "content": {"type": "text", "text": str(fields.get("text", ""))},
            "model": str(fields.get("model", "written by hand")),
            "stopReason": "endTurn",
        }
    )
