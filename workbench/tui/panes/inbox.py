"""What servers ask: requests that wait for the user, and how they are answered.

A request never takes the focus, and one that nobody waits for any more leaves the list, but not
from under the hands of a user: it says so in its place and keeps what was filled in until one goes
on. Below the requests stand the rules that answer without asking, and what was answered so far.
"""

from __future__ import annotations

import time
from functools import partial
from typing import NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.events import Resize

from workbench.core.jsonrpc import dumps
from workbench.core.jsontext import pretty
from workbench.core.rules import Rule
from workbench.core.view import ConnectionView
from workbench.tui.desk import Desk, Inquiry
from workbench.tui.inbox.answering import ELICITATION, Answering, Given, answering_of, is_url, noun_of
from workbench.tui.inbox.asking import age, asks, question, title
from workbench.tui.inbox.past import past_lines, past_of
from workbench.tui.inbox.ruling import PREFIX, narrow, rule_lines, rule_of, rule_rows
from workbench.tui.lines import Bit, Fixed, Line, Lines, wrapped
from workbench.tui.messages import Deciding, Hints, Said, Show
from workbench.tui.panes.pane import Pane
from workbench.tui.widgets.form import Form, Kept
from workbench.tui.widgets.rows import Cell, Rows, RowSpec

#: Below this height the list steps aside while a request is read or answered.
TIGHT = 14


class Gone(NamedTuple):
    """A request that nobody waits for any more, and why."""

    inquiry: Inquiry
    why: str


class InboxPane(Pane):
    """Requests of every connection that wait, the rules, and what was answered."""

    has_steps = True

    def __init__(self, desk: Desk, *, id: str) -> None:
        super().__init__(desk, id=id)
        self.rows = Rows(empty="no server asks for anything")
        self.head = Fixed(classes="head")
        self.question = Lines(classes="question")
        self.form = Form()
        self.past = Lines(stick=True, classes="past")
        self._waiting: dict[str, Inquiry] = {}
        self._rules: dict[str, tuple[int, Rule]] = {}
        self._names: dict[int, str] = {}
        #: What was answered and may still stand in the desk's inbox.
        self._answered: set[str] = set()
        #: What a rule made of an answer is to answer.
        self._ruled: set[str] = set()
        self._kept: dict[str, Kept] = {}
        self._gone: Gone | None = None
        self._shown: str | None = None
        self._answering: Answering | None = None
        self._past_seen: object = None

    def compose(self) -> ComposeResult:
        yield self.rows
        with Vertical(classes="side"):
            yield self.head
            yield self.question
            yield self.form
        yield self.past

    def on_mount(self) -> None:
        self.set_interval(1.0, self._grow_older)

    # What goes down.

    def show(self, view: ConnectionView | None) -> None:
        super().show(view)
        self._names = {each.number: each.name for each in self.desk.views}
        waiting = {each.key: each for each in self.desk.inbox}
        self._note_gone(waiting)
        self._answered &= waiting.keys()
        self._ruled &= waiting.keys()
        self._waiting = {key: each for key, each in waiting.items() if key not in self._answered}
        self._rules = {f"{PREFIX}{place}": each for place, each in enumerate(self.desk.rules)}
        known = self._waiting.keys() | ({self._gone.inquiry.key} if self._gone else set())
        self._kept = {key: kept for key, kept in self._kept.items() if key in known}
        self._show_rows()
        self._show_current()
        self._show_past()

    def _note_gone(self, waiting: dict[str, Inquiry]) -> None:
        """Keep what is open in front of the user and was not answered by them."""
        inquiry = self._waiting.get(self._shown or "")
        if inquiry is None or inquiry.key in waiting or inquiry.key in self._answered | self._ruled:
            return
        if self.form.touched or self.form.has_focus_within or self.question.has_focus:
            self._gone = Gone(inquiry, self.desk.gone(inquiry))

    def _show_rows(self) -> None:
        now = time.monotonic()
        rows = [_row(each, self._names, now) for each in self._waiting.values()]
        if self._gone is not None:
            rows.append(_row(self._gone.inquiry, self._names, now)._replace(tail="gone", tail_role="failed"))
        self.rows.set_rows(rows + rule_rows(list(self._rules.values()), self._names))
        self._fit()

    def _grow_older(self) -> None:
        if self.display and self._waiting and self.screen.is_current:
            self._show_rows()
            self._lay_head()

    @property
    def inquiry(self) -> Inquiry | None:
        """The request under the cursor, if it can be answered."""
        return self._waiting.get(self.rows.key or "")

    @property
    def _lost(self) -> Gone | None:
        """What is under the cursor and cannot be answered any more."""
        gone = self._gone
        return gone if gone is not None and gone.inquiry.key == self.rows.key else None

    @property
    def rule(self) -> tuple[int, Rule] | None:
        return self._rules.get(self.rows.key or "")

    def _show_current(self) -> None:
        lost = self._lost
        inquiry = lost.inquiry if lost is not None else self.inquiry
        key = inquiry.key if inquiry is not None else None
        if key != self._shown:
            self._change(key, inquiry)
        self.set_class(inquiry is None and self.rule is None, "no-item")
        self.question.display = self.form.display = inquiry is not None
        self._lay_head()
        if inquiry is not None:
            self.question.lay(lambda width: question(inquiry, width))
        self._fit()
        self.post_message(Hints())

    def _change(self, key: str | None, inquiry: Inquiry | None) -> None:
        """Another request than before."""
        was_here = self.form.has_focus_within or self.question.has_focus
        if self._shown is not None and self._answering is not None:
            self._kept[self._shown] = self.form.kept
        self._shown = key
        self._answering = answering_of(inquiry) if inquiry is not None else None
        if self._answering is not None and key is not None:
            self._answering.show(self.form, self._kept.get(key))
            self.question.scroll_line(0)
        if was_here:
            self.rows.focus()

    def _lay_head(self) -> None:
        lost, inquiry, rule = self._lost, self.inquiry, self.rule

        def lay(width: int) -> list[Line]:
            if lost is not None:
                head = title(lost.inquiry, self._names.get(lost.inquiry.connection, ""), "")[:-1]
                told = [
                    *wrapped(lost.why, width - 4, 3),
                    "What was filled in is kept: y copies it, esc ends it.",
                ]
                return [
                    head,
                    *([Bit(" ! " if not at else "   ", "failed"), Bit(row)] for at, row in enumerate(told)),
                ]
            if inquiry is not None:
                waits = age(time.monotonic() - inquiry.since)
                return [title(inquiry, self._names.get(inquiry.connection, ""), waits)]
            return rule_lines(rule[1], width) if rule is not None else []

        self.head.lay(lay)

    def _show_past(self) -> None:
        past = past_of(self.desk)
        if past == self._past_seen:
            return
        self._past_seen = past
        self.past.lay(lambda _: past_lines(past))

    # Layout.

    def on_resize(self, event: Resize) -> None:  # noqa: ARG002 - the size is the pane's
        self._fit()

    def on_descendant_focus(self) -> None:
        self._fit()

    def _fit(self) -> None:
        """The list takes a third at most, the request what the form leaves, and more while it is read."""
        height = self.size.height
        if not height:
            return
        inside = self.form.has_focus_within or self.question.has_focus
        asked = self._shown is not None
        self.rows.display = not (asked and inside and height < TIGHT)
        listed = max(1, min(self.rows.count, max(height // 3, 2))) if self.rows.display else 0
        self.rows.styles.height = listed
        self.past.display = not asked or height >= 2 * TIGHT
        if asked:
            left = height - listed - max(self.head.size.height, 1) - 2
            past = height // 3 if self.past.display else 0
            wanted = self.form.needs if not self.question.has_focus else 2
            share = left - past - min(wanted, left // 2)
            self.question.styles.height = max(1, min(int(self.question.virtual_size.height), share))

    # What happens.

    @on(Rows.Moved)
    def _moved(self, message: Rows.Moved) -> None:
        message.stop()
        self._forget_gone()
        self._show_current()

    @on(Rows.Chosen)
    def _chosen(self, message: Rows.Chosen) -> None:
        message.stop()
        if self.inquiry is not None and self.desk.live:
            self.form.start()
            self.post_message(Hints())

    def _forget_gone(self, *, even_here: bool = False) -> None:
        """What is gone leaves the list when one has gone on."""
        if self._gone is not None and (even_here or self.rows.key != self._gone.inquiry.key):
            self._gone = None
            self._show_rows()

    @on(Form.Changed)
    def _changed(self, message: Form.Changed) -> None:
        message.stop()
        self._fit()
        self.post_message(Hints())

    @on(Form.Submitted)
    def _submitted(self, message: Form.Submitted) -> None:
        message.stop()
        inquiry, answering = self.inquiry, self._answering
        if inquiry is not None and answering is not None:
            self._answer(inquiry, Given(answering.accepted, "", self.form.sent))
        elif self._lost is not None:
            self.post_message(Said("Nobody waits for this answer any more; y copies it.", True))

    def do_decline(self) -> None:
        if self.inquiry is not None and self._answering is not None:
            self._answer(self.inquiry, self._answering.decline)

    do_reject = do_decline

    def do_cancel_request(self) -> None:
        if self.inquiry is not None and self._answering is not None and self._answering.cancel is not None:
            self._answer(self.inquiry, self._answering.cancel)

    def _answer(self, inquiry: Inquiry, given: Given) -> None:
        self.desk.answer(inquiry, given.result, given.error)
        self._answered.add(inquiry.key)
        self.rows.focus()
        self.show(self.current)
        self.post_message(Said(f"{noun_of(inquiry)} #{inquiry.seq} {given.how}"))

    # Rules.

    def do_always(self) -> None:
        """Have the answer given from now on without being asked."""
        inquiry, answering = self.inquiry, self._answering
        if inquiry is None or answering is None:
            return
        faults = self.form.faults
        decline = answering.decline
        choices = [("d", f"{decline.word} every {noun_of(inquiry)}", decline, dict[str, str]())]
        if not faults:
            given = Given(answering.accepted, "", self.form.sent)
            choices = [(key, words, given, filters) for key, words, filters in narrow(inquiry)] + choices
        self.post_message(
            Deciding(
                f"The answer is not right yet: {'; '.join(faults)}." if faults else "Always answer so?",
                [] if faults else [self.form.sent],
                [
                    (key, words, partial(self._make, inquiry, given, filters))
                    for key, words, given, filters in choices
                ],
            )
        )

    def _make(self, inquiry: Inquiry, given: Given, filters: dict[str, str], _: str) -> str:
        try:
            rule = rule_of(inquiry, given, filters)
        except ValueError as error:
            return f"No rule can answer so: {error}."
        self._ruled.add(inquiry.key)
        self.desk.add_rule(inquiry, rule)
        self.rows.focus()
        self.post_message(Said(f"from now on a rule answers: {rule.label}"))
        return ""

    def do_remove_rule(self) -> None:
        if self.rule is not None:
            self.desk.remove_rule(*self.rule)
            self.post_message(Said(f"the rule {self.rule[1].label} answers no more"))

    # By hand.

    def do_answer_json(self) -> None:
        self.form.start()
        if not self.form.by_hand:
            self.form.toggle()

    def do_answer_editor(self) -> None:
        from workbench.tui.editor import edit

        text, sentence = edit(self.app, self.form.text)
        if text is not None:
            if not self.form.by_hand:
                self.form.toggle()
            self.form.set_text(text.strip())
            self.form.start()
        if sentence:
            self.post_message(Said(sentence, True))

    def do_whole_request(self) -> None:
        """Open the request as it came."""
        inquiry = self._lost.inquiry if self._lost is not None else self.inquiry
        if inquiry is not None:
            body = pretty(dumps(inquiry.params)).encode("utf-8", "surrogateescape")
            self.post_message(Show(f"{inquiry.method}  #{inquiry.seq}", body))

    # What the screen asks.

    def start(self) -> None:
        self.rows.display = True
        self.rows.focus()

    def words(self) -> set[str]:
        words = {"inbox"}
        inquiry = self.inquiry
        if inquiry is not None:
            words |= {"item", "asked"}
            words.add("cancellable" if inquiry.method == ELICITATION else "refusable")
            words.add("consent" if is_url(inquiry) else "fillable")
        if self.rule is not None:
            words.add("rule")
        return words

    def back(self) -> bool:
        if self._lost is not None:
            self._forget_gone(even_here=True)
            self.start()
            self._show_current()
            return True
        if not self.rows.has_focus:
            self.start()
            return True
        return False

    def source(self) -> tuple[str, bytes] | None:
        if self._lost is not None:
            return "answer", self.form.sent.encode("utf-8", "surrogateescape")
        inquiry = self.inquiry
        if inquiry is None:
            return None
        if (
            is_url(inquiry)
            and isinstance(inquiry.params, dict)
            and isinstance(inquiry.params.get("url"), str)
        ):
            return "URL", inquiry.params["url"].encode("utf-8", "surrogatepass")
        return "request", pretty(dumps(inquiry.params)).encode("utf-8", "surrogateescape")


def _row(inquiry: Inquiry, names: dict[int, str], now: float) -> RowSpec:
    cells = (
        Cell(noun_of(inquiry)),
        Cell(names.get(inquiry.connection, ""), "quiet"),
        Cell(asks(inquiry)),
    )
    return RowSpec(inquiry.key, cells, tail=f"waits {age(now - inquiry.since)}", tail_role="waiting")
