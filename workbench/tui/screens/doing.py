"""What the commands of the table do on the screen."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any

from workbench.core.methods import LOG_LEVELS
from workbench.errors import WorkbenchError
from workbench.tui.aside import aside, tell
from workbench.tui.ask import Ask
from workbench.tui.commands import PANES
from workbench.tui.copying import copied, save
from workbench.tui.detail import Detail
from workbench.tui.dock import Dock
from workbench.tui.empty import Empty
from workbench.tui.messages import Body, Kept, Said
from workbench.tui.status import NoticeLine

if TYPE_CHECKING:
    from textual.screen import Screen

    from workbench.core.view import ConnectionView
    from workbench.tui.commands import Command
    from workbench.tui.desk import Desk
    from workbench.tui.panes.pane import Pane

    _Base = Screen[None]
else:
    _Base = object

_SIZES = ("small", "half", "whole")


class Doing(_Base):
    """The ``do_`` methods; mixed into the main screen, which has the rest."""

    desk: Desk
    place: int
    pane_name: str
    dock_size: str
    _follow_new = False

    if TYPE_CHECKING:

        @property
        def view(self) -> ConnectionView | None: ...

        @property
        def pane(self) -> Pane | None: ...

        def look(self) -> None: ...

        def hints(self) -> None: ...

        def available(self) -> list[Command]: ...

        def do(self, command: Command) -> None: ...

    def say(self, text: str, *, bad: bool = False) -> None:
        """A sentence, above the status line, until the next key."""
        self.query_one(NoticeLine).say(text, bad=bad)

    # Where one is.

    def show_pane(self, name: str) -> None:
        """Show a pane and take the focus there."""
        self.pane_name = name
        self.close_detail()
        if self.dock_size == "whole":
            self.dock_size = "small"
        self.look()
        if name == "frames":
            self.query_one(Dock).frames.focus()
        elif self.pane is not None:
            self.pane.start()

    def show_connection(self, place: int) -> None:
        self.place = place
        self.close_detail()
        self.look()

    def do_next_pane(self) -> None:
        self._step_pane(1)

    def do_previous_pane(self) -> None:
        self._step_pane(-1)

    def _step_pane(self, step: int) -> None:
        names = [name for name, _ in PANES]
        self.show_pane(names[(names.index(self.pane_name) + step) % len(names)])

    def do_size(self) -> None:
        """Small, half, whole, and small again."""
        if self.pane_name == "frames":
            self.show_pane("tools")
            return
        self.dock_size = _SIZES[(_SIZES.index(self.dock_size) + 1) % len(_SIZES)]
        self.look()
        if self.dock_size == "whole" or (self.pane is None and self.pane_name != "frames"):
            self.query_one(Dock).frames.focus()
        elif self.dock_size == "small" and self.pane is not None:
            self.pane.start()

    def can_back(self) -> bool:
        dock, pane = self.query_one(Dock), self.pane
        if self.has_class("detail") or dock.filtered or self.dock_size != "small":
            return True
        if pane is None:
            return self.pane_name == "frames"
        return pane.filtered or not _at_start(pane, self.focused)

    def do_back(self) -> None:
        """One step back, innermost first; never out of the program."""
        dock = self.query_one(Dock)
        if self.has_class("detail"):
            self.close_detail()
        elif dock.filtered and (dock.has_focus_within or self.pane is None):
            dock.clear()
        elif self.pane is not None and dock.has_focus_within:
            self.pane.start()
        elif self.pane is not None and self.pane.back():
            pass
        elif dock.filtered:
            dock.clear()
        elif self.dock_size != "small":
            self.dock_size = "small"
            self.look()
            if self.pane is not None:
                self.pane.start()
        elif self.pane_name == "frames":
            self.show_pane("tools")

    # Bodies.

    def show_body(self, title: str, body: bytes, seq: int | None = None, *, focus: bool = True) -> None:
        """Show a body whole, in the place of the pane."""
        detail = self.query_one(Detail)
        if not self.has_class("detail"):
            self._before_detail: Any = self.focused
            self.add_class("detail")
            self.look()
        detail.show(title, body, seq)
        if focus:
            detail.text.focus()
        self.hints()

    def close_detail(self) -> None:
        if not self.has_class("detail"):
            return
        self.remove_class("detail")
        self.look()
        before = self._before_detail
        if before is not None and before.is_attached and before.display:
            before.focus()
        elif self.pane is not None:
            self.pane.start()
        self.hints()

    def open_frame(self, seq: int, *, focus: bool = True) -> None:
        """Fetch the body of a frame in a thread, then show it."""
        reader = self.desk.reader
        if reader is None:
            return
        self._wanted_frame = (seq, focus)

        def fetch() -> Body | Said:
            try:
                frame = reader.frame(seq)
            except WorkbenchError as error:
                return Said(str(error), True)
            what = [frame.kind.name.lower(), frame.method or "", frame.name or ""]
            return Body(seq, f"#{seq}  {' '.join(word for word in what if word)}", frame.body)

        aside(self, fetch)

    def on_body(self, message: Body) -> None:
        message.stop()
        seq, focus = self._wanted_frame
        if message.seq == seq:
            self.show_body(message.title, message.body, seq, focus=focus)

    def source(self) -> tuple[str, bytes] | None:
        """What ``y`` and ``w`` take: what is in view."""
        detail = self.query_one(Detail)
        if self.has_class("detail"):
            return detail.title, detail.text.source
        dock = self.query_one(Dock)
        if dock.has_focus_within:
            row = dock.frames.row
            return None if row is None else (f"frame {row.seq}", b"")
        return self.pane.source() if self.pane is not None else None

    def _body(self) -> bytes:
        found = self.source()
        row = self.query_one(Dock).frames.row
        if found is not None and not found[1] and row is not None and self.desk.reader is not None:
            return self.desk.reader.body(row.seq)
        return found[1] if found is not None else b""

    def do_copy(self) -> None:
        try:
            sequence, sentence = copied(self._body())
        except WorkbenchError as error:
            sequence, sentence = "", str(error)
        driver = self.app._driver
        if sequence and driver is not None:
            driver.write(sequence)
        self.say(sentence, bad=not sequence)

    def do_save(self) -> None:
        body = self._body()

        def answer(path: str) -> str:
            wrong = save(body, path)
            if not wrong:
                self.say(f"saved to {path}")
            return wrong

        self.query_one(Ask).ask("save to", answer, ghost="file name")

    # Filters, levels.

    def do_filter(self) -> None:
        """The log's filter; a pane with one of its own has its own ``do_filter``."""
        self.query_one(Dock).filter()

    def do_only(self) -> None:
        view = self.view
        self.query_one(Dock).only(view.number if view is not None else None)

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

    # Connections.

    def do_new(self) -> None:
        def answer(text: str) -> str:
            wrong = self.desk.connect(text)
            self._follow_new = not wrong
            return wrong

        about = "-- CMD ARGS…   --stdio 'CMD ARGS'   --replay FILE   @NAME"
        self.query_one(Ask).ask("target", answer, about=about)

    def do_target(self) -> None:
        self.query_one(Empty).start()

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

    def do_cancel(self) -> None:
        """Cancel the newest call of the connection in view."""
        view = self.view
        runs = self.desk.runs.open(view.number) if view is not None else []
        if runs:
            self.desk.cancel(runs[-1])

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

    # Keeping.

    def do_keep(self) -> None:
        view, source = self.view, self.desk.source
        if source is None:
            self.say("Nothing of this session is recorded; start without --no-record to keep it.", bad=True)
            return
        pinned = self.query_one(Dock).frames.pinned
        several = len(self.desk.views) > 1
        what = f"connection {view.name}" if several and view is not None else "the session"
        if pinned:
            what = f"frames {min(pinned)} to {max(pinned)} of {what}"

        def answer(name: str) -> str:
            from workbench.keep import Part, fixture_path

            try:
                fixture_path(name)
            except WorkbenchError as error:
                return str(error)
            number = view.number if several and view is not None else None
            first, last = (min(pinned), max(pinned)) if pinned else (None, None)
            part = Part(source[1], number, first, last)
            work = threading.Thread(target=lambda: tell(self, kept(source[0], name, part)), daemon=True)
            work.start()
            self.say("keeping")
            return ""

        folder = os.path.join("sessions", "")
        self.query_one(Ask).ask("keep as", answer, about=f"Keep {what} in {folder}", ghost="name")

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
        from workbench.tui.commands import by_name

        if name:
            self.call_after_refresh(self.do, by_name(name))


def kept(path: str, name: str, part: Any) -> Kept:
    """Keep a recording, and tell of it."""
    from workbench.keep import keep, uses

    try:
        done = keep(path, name, part)
    except WorkbenchError as error:
        return Kept((str(error),), True)
    redacted = sum(done.redacted.values())
    lines = [f"kept {done.path}   {done.frames:,} frames"]
    if redacted:
        named = ", ".join(f"{word} {times}×" for word, times in done.redacted.items())
        lines.append(f"redacted: {named}")
    else:
        lines.append("nothing in it had to be redacted")
    lines += [f"{each.connection} {each.verdict}" for each in done.checked]
    lines += [
        problem for each in done.checked if not each.verdict.whole for problem in each.verdict.problems[:3]
    ]
    lines += ["", *uses(done.path)]
    return Kept(tuple(lines), False)


def _at_start(pane: Pane, focused: Any) -> bool:
    return focused is None or type(focused).__name__ == "Rows" or not pane.has_steps
