"""A question in its place above the status line: a line to type into, or just keys.

It hides nothing of what it asks about. A sentence about what is wrong with an
answer stands under it, and what came of it can stay there to be read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical

from workbench.tui.line_input import LineInput
from workbench.tui.lines import Bit, Fixed, Line, wrapped
from workbench.tui.marks import marks_of
from workbench.tui.messages import Hints

#: Takes what was typed; returns a sentence when it cannot be so.
Answer = Callable[[str], str]

#: A key, what it says, and what is done then.
Choice = tuple[str, str, Answer]


class Ask(Vertical, can_focus=True):
    """One question at a time."""

    DEFAULT_CSS = """
    Ask { height: auto; max-height: 60%; scrollbar-size: 1 1; }
    Ask.deciding { max-height: 90%; overflow-y: auto; }
    """

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.above = Fixed()
        self.line = LineInput("")
        self.below = Fixed()
        self._answer: Answer | None = None
        self._key = ""
        self._choices: Sequence[Choice] = ()
        self._before: object = None
        self.display = False

    def compose(self) -> ComposeResult:
        yield self.above
        yield self.line
        yield self.below

    @property
    def open(self) -> bool:
        return bool(self.display)

    @property
    def hints(self) -> list[tuple[str, str]]:
        """The keys that work on it now."""
        back = ("esc", "back")
        return [back] if self._choices else [("enter", "ok"), back]

    def ask(
        self,
        label: str,
        answer: Answer,
        *,
        about: str = "",
        ghost: str = "",
        text: str = "",
        secret: bool = False,
    ) -> None:
        """Have a line typed. ``answer`` gets it, and the question stays while it returns a sentence.
        What is typed into a ``secret`` one is not shown."""
        self._begin(answer, "")
        self.line.display = True
        self.line.secret = secret
        self.line.label, self.line.ghost, self.line.text = label, ghost, text
        self._lay(self.above, about, "")
        self._lay(self.below, "", "")
        self.line.focus()

    def confirm(self, question: str, key: str, answer: Answer) -> None:
        """Do it when ``key`` is pressed."""
        self._begin(answer, key)
        self.line.display = False
        self._lay(self.above, question, "")
        self._lay(self.below, "", "")
        self.focus()

    def decide(self, question: str, lines: Sequence[str], choices: Sequence[Choice]) -> None:
        """Have one of some keys pressed. The lines stand whole, scrolled when they are many, and enter
        decides nothing."""
        self._begin(None, "")
        self._choices = choices
        self.set_class(True, "deciding")
        self.line.display = False
        keys = "   ".join(f"{key} {words}" for key, words, _ in choices)

        def lay(width: int) -> list[Line]:
            laid: list[Line] = [
                [],
                *([Bit("   "), Bit(row, "quiet")] for row in wrapped(question, width - 4)),
            ]
            for line in lines:
                for place, row in enumerate(wrapped(line, width - 7)):
                    laid.append([Bit("     " if not place else "       "), Bit(row, "text")])
            return [*laid, [], *([Bit("   "), Bit(row, "bright")] for row in wrapped(keys, width - 4))]

        self.above.lay(lay)
        self._lay(self.below, "", "")
        self.focus()

    def tell(self, lines: Sequence[str], *, bad: bool = False) -> None:
        """Show lines until escape."""
        if not self.open:
            self._begin(None, "")
        self._answer = None
        self.line.display = False
        mark = marks_of(self).failed if bad else marks_of(self).ok

        def lay(width: int) -> list[Line]:
            laid: list[Line] = [[]]
            for place, text in enumerate(lines):
                rows = wrapped(text, width - 4, 4)
                first = Bit(f" {mark} ", "failed" if bad else "ok") if not place else Bit("   ")
                laid.append([first, Bit(rows[0], "text")])
                laid += [[Bit("   "), Bit(row, "text")] for row in rows[1:]]
            return laid

        self.above.lay(lay)
        self._lay(self.below, "", "")
        self.focus()

    def close(self) -> None:
        if not self.open:
            return
        self.display = False
        self._answer = None
        self._choices = ()
        self.line.text = ""
        before, self._before = self._before, None
        if getattr(before, "is_attached", False) and getattr(before, "display", False):
            before.focus()  # type: ignore[attr-defined]
        else:
            self.screen.set_focus(None)
        self.post_message(Hints())

    def _begin(self, answer: Answer | None, key: str) -> None:
        if not self.open:
            self._before = self.screen.focused
        self._answer, self._key = answer, key
        self._choices = ()
        self.set_class(False, "deciding")
        self.line.secret = False
        self.display = True
        self.post_message(Hints())

    def _lay(self, where: Fixed, text: str, bad: str) -> None:
        def lay(width: int) -> list[Line]:
            lines: list[Line] = [[]] if where is self.above else []
            mark = marks_of(self).failed
            for place, row in enumerate(wrapped(bad or text, width - 4, 6) if bad or text else ()):
                first = Bit(f" {mark} ", "failed") if bad and not place else Bit("   ")
                lines.append([first, Bit(row, "text" if bad else "quiet")])
            return lines

        where.lay(lay)

    def on_line_input_done(self, message: LineInput.Done) -> None:
        message.stop()
        self._take(message.line.text.strip())

    def on_line_input_left(self, message: LineInput.Left) -> None:
        message.stop()
        self.close()

    def on_line_input_edited(self, message: LineInput.Edited) -> None:
        message.stop()
        self._lay(self.below, "", "")

    def on_key(self, event: events.Key) -> None:
        if not self.has_focus:
            return
        if self._choices:
            self._decide(event)
        elif self._answer is None:
            # What was told has been read; any other key means what it always means.
            self.close()
            if event.key in ("escape", "enter"):
                event.stop()
        elif event.key == "escape":
            event.stop()
            self.close()
        elif event.key in (self._key, "enter"):
            event.stop()
            self._take("")

    def _decide(self, event: events.Key) -> None:
        """Any key but those offered, and those that scroll, decides nothing and goes nowhere."""
        event.stop()
        event.prevent_default()
        scrolls = {"up": -1, "down": 1, "pageup": -5, "pagedown": 5}
        if event.key == "escape":
            self.close()
        elif event.key in scrolls:
            self.scroll_relative(y=scrolls[event.key], animate=False)
        for key, _, answer in self._choices:
            if event.key == key:
                self._answer, self._choices = answer, ()
                self._take("")
                return

    def _take(self, text: str) -> None:
        if self._answer is None:
            return
        answer = self._answer
        wrong = answer(text)
        if wrong:
            self._lay(self.below, "", wrong)
        elif self._answer is answer:
            self.close()
