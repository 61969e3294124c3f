"""What is done with the connection in view, and how others come."""

from __future__ import annotations

from textual import on

from workbench.core.methods import LOG_LEVELS
from workbench.tui.admitting import Admission
from workbench.tui.ask import Ask
from workbench.tui.empty import Empty
from workbench.tui.screens.part import Part


class Connecting(Part):
    """Connecting, closing, reading the lists again, log levels, cancelling."""

    def do_new(self) -> None:
        about = "-- CMD ARGS…   https://host/mcp   --sse URL   --replay FILE   @NAME"
        self.query_one(Ask).ask("target", self._admit, about=about)

    def _admit(self, line: str) -> str:
        """Connect to what a line says, asking what has to be asked; returns a sentence when that
        cannot be."""

        def done() -> None:
            self.follow_new = True

        return Admission(self.desk, self.query_one(Ask), line, done).go()

    @on(Empty.Wanted)
    def _wanted(self, message: Empty.Wanted) -> None:
        message.stop()
        self.query_one(Empty).say(self._admit(message.line))

    def do_target(self) -> None:
        self.query_one(Empty).start()

    def do_found(self) -> None:
        self.query_one(Empty).choose()

    def do_demo(self) -> None:
        from workbench.tui.demo import demo_line

        wrong = self.desk.connect(demo_line())
        if wrong:
            self.query_one(Empty).say(wrong)

    def do_reconnect(self) -> None:
        if self.view is not None:
            self.desk.reconnect(self.view.number)

    def do_disconnect(self) -> None:
        if self.view is not None:
            self.desk.disconnect(self.view.number)

    def do_refresh(self) -> None:
        if self.view is not None:
            self.desk.refresh(self.view.number)

    def do_diagnose(self) -> None:
        """Walk the steps of connecting by themselves, and show them where the connection is told."""
        if self.view is not None:
            self.desk.diagnose(self.view.number)
            self.show_pane("server")

    def do_roots(self) -> None:
        view = self.view
        if view is None:
            return

        def answer(text: str) -> str:
            wrong = self.desk.set_roots(view.number, text.split())
            if not wrong:
                self.say(f"{view.name} has {_counted(len(text.split()))}")
            return wrong

        about = "Folders and URIs, with blanks between them (%20 is a blank); the server is told."
        self.query_one(Ask).ask("roots", answer, about=about, text=" ".join(self.desk.roots(view.number)))

    def do_hold_roots(self) -> None:
        held = not self.desk.holds_roots
        self.desk.hold_roots(held)
        self.say("servers that ask for roots wait for you now" if held else "roots are told at once again")

    def do_cancel(self) -> None:
        """Cancel the newest call of the connection in view."""
        view = self.view
        runs = self.desk.runs.open(view.number) if view is not None else []
        if runs:
            self.desk.cancel(runs[-1])

    def do_set_level(self) -> None:
        view = self.view
        if view is None:
            return

        def answer(text: str) -> str:
            chosen = [level for level in LOG_LEVELS if text and level.startswith(text.casefold())]
            if len(chosen) != 1:
                return f"{text or 'that'} is no level; type one of {', '.join(LOG_LEVELS)}."
            self.desk.call(view.number, chosen[0], "logging/setLevel", f'{{"level":"{chosen[0]}"}}')
            self.say(f"asked {view.name} for messages from {chosen[0]} on")
            return ""

        self.query_one(Ask).ask("level", answer, about=", ".join(LOG_LEVELS), ghost="its beginning is enough")


def _counted(roots: int) -> str:
    return "no roots" if not roots else "one root" if roots == 1 else f"{roots} roots"
