"""What the commands of the table do on the screen that is no part of a place of its own."""

from __future__ import annotations

from workbench.tui.ask import Ask
from workbench.tui.commands import by_name
from workbench.tui.dock import Dock
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
        from workbench.tui.panes.items import ItemsPane

        pane = self.pane
        if not isinstance(pane, ItemsPane):
            return
        text, sentence = edit(self.app, pane.form.text)
        if text is not None:
            pane.form.set_text(text.strip())
            pane.form.start()
        if sentence:
            self.say(sentence, bad=True)

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
        from workbench.tui.screens.overlay import PaletteOverlay

        self.app.push_screen(PaletteOverlay(self.available()), self._picked_command)

    def _picked_command(self, name: str | None) -> None:
        if name:
            self.call_after_refresh(self.do, by_name(name))
