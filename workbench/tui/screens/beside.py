"""Connections side by side: splitting the screen, going from column to column, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on
from textual.widget import Widget

from workbench.tui.beside.chosen import MOST
from workbench.tui.messages import Entered
from workbench.tui.panes.pane import Pane
from workbench.tui.screens.doing import Doing
from workbench.tui.widgets.frame_log import FrameLog

if TYPE_CHECKING:
    from workbench.tui.beside.side_by_side import SideBySide

_SIZES = ("small", "half", "whole")


class Beside(Doing):
    """What is different while the screen is split."""

    columns: SideBySide | None = None

    @property
    def split(self) -> SideBySide | None:
        """The columns, while they are what is shown."""
        return self.columns if self.has_class("beside") else None

    @property
    def pane(self) -> Pane | None:
        if self.split is None:
            return super().pane
        pane = self.split.column.pane
        return pane if pane is not None and self.split.display else None

    @property
    def focus_chain(self) -> list[Widget]:
        """Tab stays within a column."""
        chain = super().focus_chain
        split = self.split
        if split is None or not split.display:
            return chain
        return [each for each in chain if split.within(each)]

    @property
    def frames(self) -> FrameLog:
        return super().frames if self.split is None else self.split.column.tail

    # Splitting.

    def do_beside(self) -> None:
        """Connections side by side, or one again."""
        if self.split is not None:
            self._join()
            return
        if self.columns is None:
            from workbench.tui.beside.side_by_side import SideBySide

            self.columns = SideBySide(self.desk)
            self.query_one("#view").mount(self.columns)
        names = {view.number: view.name for view in self.desk.views}
        self.close_detail()
        self.columns.chosen.begin(names, self.view.number if self.view is not None else 0)
        self.columns.to_all = self.columns.answers = False
        self.dock_size = "small"
        self.add_class("beside")
        self.look()
        self.call_after_refresh(self.enter)

    def _join(self) -> None:
        self.remove_class("beside")
        self.dock_size = "small"
        self.look()
        if self.pane is not None:
            self.pane.start()

    def enter(self) -> None:
        """Give the keys to the column that is to have them."""
        split = self.split
        if split is None:
            return
        self.look()
        # A pane that has just been made can take the focus once it has been laid out.
        self.call_after_refresh(split.column.start)

    @on(Entered)
    def _entered(self, message: Entered) -> None:
        message.stop()
        self.look()

    def keep_place(self) -> None:
        """The connection in view is that of the column that has the keys."""
        split = self.split
        if split is not None:
            names = {view.number: view.name for view in self.desk.views}
            split.chosen.keep(names)
            if split.chosen.current in names:
                self.place = list(names).index(split.chosen.current)

    def show_columns(self) -> None:
        """Show the columns as they are now."""
        split = self.split
        if split is not None:
            split.show(self.desk.views, self.pane_name, self.dock_size)

    def came(self, number: int) -> None:
        """A new connection stands beside the others, in the place of one where there is no room."""
        split = self.split
        if split is not None:
            if len(split.chosen.numbers) < MOST:
                split.chosen.add(number)
            # The question that it was asked for in gives the focus back first.
            self.call_after_refresh(self._go_to, number)

    def _go_to(self, number: int) -> None:
        split = self.split
        if split is not None:
            split.chosen.take(number)
            self.enter()

    # From column to column.

    def do_column_next(self) -> None:
        self._step_column(1)

    def do_column_before(self) -> None:
        self._step_column(-1)

    def _step_column(self, step: int) -> None:
        split = self.split
        if split is not None:
            split.chosen.go((split.chosen.at + step) % len(split.chosen.numbers))
            self.enter()

    def do_page_on(self) -> None:
        self._page(1)

    def do_page_back(self) -> None:
        self._page(-1)

    def _page(self, step: int) -> None:
        split = self.split
        if split is not None:
            split.chosen.page(step)
            self.enter()

    def do_columns_pane(self) -> None:
        self.do_next_pane()

    def do_columns_pane_before(self) -> None:
        self.do_previous_pane()

    def do_add_column(self) -> None:
        split = self.split
        if split is not None:
            number = split.chosen.next_of([view.number for view in self.desk.views])
            if number is not None:
                split.chosen.add(number)
                self.enter()

    def do_drop_column(self) -> None:
        split = self.split
        if split is not None:
            split.chosen.drop()
            self.enter()

    def show_connection(self, place: int) -> None:
        split = self.split
        if split is None:
            super().show_connection(place)
        elif place < len(self.desk.views):
            self.close_detail()
            self._go_to(self.desk.views[place].number)

    # Back.

    def can_back(self) -> bool:
        return self.split is not None or super().can_back()

    def do_back(self) -> None:
        split = self.split
        if split is None or self.has_class("detail"):
            super().do_back()
            return
        pane = self.pane
        if split.column.tail.has_focus and self.pane_name != "frames":
            split.column.start()
        elif split.answers:
            self._close_answers()
        elif pane is not None and pane.back():
            pass
        elif self.dock_size != "small":
            self.dock_size = "small"
            self.enter()
        elif self.pane_name == "frames":
            self.show_pane("tools")
        else:
            self._join()

    def _close_answers(self) -> None:
        split = self.split
        if split is None:
            return
        split.answers = False
        self.look()
        pane = split.column.pane
        if pane is not None:
            pane.resume()

    def show_pane(self, name: str) -> None:
        split = self.split
        if split is None:
            super().show_pane(name)
            return
        self.pane_name = name
        split.answers = False
        self.close_detail()
        self.enter()

    def do_size(self) -> None:
        split = self.split
        if split is None:
            super().do_size()
            return
        self.dock_size = _SIZES[(_SIZES.index(self.dock_size) + 1) % 2]
        self.look()

    def source(self) -> tuple[str, bytes] | None:
        split = self.split
        if split is None or self.has_class("detail"):
            return super().source()
        row = split.column.tail.row if split.column.tail.has_focus else None
        if row is not None:
            return f"frame {row.seq}", b""
        if split.answer is not None:
            return "answer", split.answer
        return super().source()

    def split_words(self) -> set[str]:
        """What the split screen says of itself, for the table of commands."""
        others = {"neighbours"} if len(self.desk.views) > 1 else set()
        split = self.split
        if split is None:
            return others
        words = {"beside"} | others
        chosen = split.chosen
        if split.to_all:
            words.add("to_all")
        if chosen.paged:
            words.add("paged")
        if split.together is not None and split.together.running:
            words.add("running_together")
        if split.answer is not None:
            words.add("answered")
        if len(chosen.numbers) > 2:
            words.add("droppable")
        if len(chosen.numbers) < min(MOST, len(self.desk.views)):
            words.add("addable")
        return words
