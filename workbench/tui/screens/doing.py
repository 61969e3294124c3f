"""What the commands of the table do on the screen that is no part of a place of its own."""

from __future__ import annotations

from workbench.tui.ask import Ask
from workbench.tui.commands import by_name
from workbench.tui.dock import Dock
from workbench.tui.marks import marks_of
from workbench.tui.panes.items import PANE_OF, ItemsPane
from workbench.tui.runs import Run
from workbench.tui.screens.connecting import Connecting
from workbench.tui.screens.keeping import Keeping
from workbench.tui.screens.places import Places


class Doing(Places, Connecting, Keeping):
    """The ``do_`` methods; the main screen has the rest."""

    def do_filter(self) -> None:
        """The filter of what has the focus; the log's where the pane has none."""
        dock, pane = self.query_one(Dock), self.pane
        if pane is None or dock.has_focus_within or not pane.start_filter():
            dock.filter()

    def do_only(self) -> None:
        view = self.view
        self.query_one(Dock).only(view.number if view is not None else None)

    def do_editor(self) -> None:
        from workbench.tui.editor import edit

        pane = self.pane
        if not isinstance(pane, ItemsPane):
            return
        text, sentence = edit(self.app, pane.form.text)
        if text is not None:
            pane.form.set_text(text.strip())
            pane.form.start()
        if sentence:
            self.say(sentence, bad=True)

    def do_history(self) -> None:
        """Every call of the connection in view; the one that is chosen is filled in again."""
        from workbench.tui.screens.history import history

        if self.view is None:
            return
        number = self.view.number

        def picked(key: str | None) -> None:
            self.call_after_refresh(self._picked_run, number, key)

        self.app.push_screen(history(self.desk.runs.of(number), marks_of(self)), picked)

    def _picked_run(self, number: int, key: str | None) -> None:
        run = next((run for run in self.desk.runs.of(number) if run.key == key), None)
        pane = None if run is None else PANE_OF.get(run.method)
        if run is None or pane is None:
            return
        self.show_pane(pane)
        self.call_after_refresh(self._recall, run)

    def _recall(self, run: Run) -> None:
        pane = self.pane
        if not isinstance(pane, ItemsPane) or not pane.recall(run):
            self.say(f"{run.item} is not listed any more.", bad=True)
        self.hints()

    def do_quit(self) -> None:
        running = self.desk.runs.open()
        if not running or not self.desk.live:
            self.app.exit(0)
            return
        calls = "A call runs" if len(running) == 1 else f"{len(running)} calls run"

        def answer(_: str) -> str:
            self.app.exit(0)
            return ""

        self.query_one(Ask).confirm(f"{calls}. q ends them and leaves, esc stays.", "q", answer)

    def do_help(self) -> None:
        from workbench.tui.screens.overlay import HelpOverlay

        self.app.push_screen(HelpOverlay(self.available(), self.pane_name))

    def do_palette(self) -> None:
        from workbench.tui.screens.overlay import palette

        self.app.push_screen(palette(self.available()), self._picked_command)

    def _picked_command(self, name: str | None) -> None:
        if name:
            self.call_after_refresh(self.do, by_name(name))
