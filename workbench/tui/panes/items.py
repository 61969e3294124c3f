"""Tools, resources and prompts: a list on one side; detail, form and result on the other."""

from __future__ import annotations

from collections.abc import Sequence

from textual import on
from textual.app import ComposeResult
from textual.events import Resize

from workbench.core.forms import FormModel
from workbench.core.jsonrpc import dumps
from workbench.core.jsontext import pretty
from workbench.core.lifecycle import State, group
from workbench.core.view import ConnectionView, Item
from workbench.tui.desk import Desk
from workbench.tui.lines import Line
from workbench.tui.marks import marks_of
from workbench.tui.messages import Call, Copy, Hints, Show
from workbench.tui.panes.filtered import FilteredRows
from workbench.tui.panes.item_head import head_lines, why_nothing
from workbench.tui.panes.item_rows import keyed, nothing, row_of
from workbench.tui.panes.item_side import ItemSide
from workbench.tui.panes.pane import Pane
from workbench.tui.panes.recent import Recent
from workbench.tui.runs import Run
from workbench.tui.widgets.field_keys import FieldKeys
from workbench.tui.widgets.form import Form
from workbench.tui.widgets.result import ResultView
from workbench.tui.widgets.rows import Rows, RowSpec

#: From this width on the list stands beside the rest.
WIDE = 100

#: Below this height the list steps aside while something else has the focus.
TIGHT = 12

#: From this height on a pane can afford blank rows and long descriptions.
ROOMY = 20


#: The pane whose items a method calls.
PANE_OF = {"tools/call": "tools", "prompts/get": "prompts", "resources/read": "resources"}


class ItemsPane(Pane):
    """A list of items that can be called. Subclasses say which, and how."""

    has_steps = True
    #: What the items are called, and what is said when there are none.
    noun = "items"
    #: The request that calls one.
    method = ""

    def __init__(self, desk: Desk, *, id: str) -> None:
        super().__init__(desk, id=id)
        self.recent = Recent(self.words_of)
        self.list = FilteredRows(below=self.recent, id=f"{id}-list")
        self.side = ItemSide()
        self.head, self.form, self.result = self.side.head, self.side.form, self.side.result
        self._items: dict[str, Item] = {}
        self._shown_item: tuple[int, Item] | None = None
        self._shown_state: State | None = None
        self._drafts: dict[tuple[int, str], str] = {}
        self._seen: object = None

    def compose(self) -> ComposeResult:
        yield self.list
        yield self.side

    # What a subclass says.

    def items_of(self, view: ConnectionView) -> Sequence[Item]:
        raise NotImplementedError

    def listings(self) -> tuple[str, ...]:
        """The listings the items come from."""
        raise NotImplementedError

    def model_of(self, item: Item) -> FormModel:
        """The form of an item's arguments."""
        raise NotImplementedError

    def request_of(self, item: Item, arguments: str) -> tuple[str, str]:
        """Method and params (JSON text) that call an item with these arguments."""
        raise NotImplementedError

    def takes_arguments(self, item: Item) -> bool:  # noqa: ARG002 - for subclasses
        return True

    def words_of(self, run: Run) -> tuple[str, str]:
        """Name and arguments of a call, for the list of recent ones."""
        return run.item, self.arguments_of(run) or ""

    # What goes down.

    def show(self, view: ConnectionView | None) -> None:
        super().show(view)
        if view is None:
            self.list.rows.set_rows((), empty="no connection")
            self._items = {}
        else:
            seen = (view.number, self.items_of(view), view.listed, view.state)
            if seen != self._seen:
                self._seen = seen
                items = self.items_of(view)
                rows, self._items = keyed(self.rows_of(items), items)
                self.list.rows.set_rows(rows, empty=nothing(view, self.noun, self.listings()))
                self._fit()
        self._show_item()
        self._show_run()

    def rows_of(self, items: Sequence[Item]) -> list[RowSpec]:
        return [self.row_of(item) for item in items]

    @property
    def item(self) -> Item | None:
        key = self.list.rows.key
        return self._items.get(key) if key is not None else None

    def _show_item(self) -> None:
        item = self.item
        number = self.current.number if self.current is not None else 0
        shown = (number, item) if item is not None else None
        state = self.current.state if self.current is not None else None
        if shown == self._shown_item and (item is not None or state == self._shown_state):
            return
        self._shown_state = state
        before, self._shown_item = self._shown_item, shown
        if before is not None and (shown is None or before[1].name != shown[1].name or before[0] != number):
            self._remember(before)
        self.side.define(item)
        trouble = self.current is not None and group(self.current.state) == "failed"
        self.set_class(item is None and not trouble, "no-item")
        self.form.display = item is not None and self.takes_arguments(item)
        if item is not None and (before is None or before[1] != item or before[0] != number):
            self.form.set_form(self.model_of(item), self._draft(number, item))
        self._fit()
        self.post_message(Hints())

    def _draft(self, number: int, item: Item) -> str | None:
        draft = self._drafts.get((number, item.name))
        if draft is not None:
            return draft
        run = self._run(number, item)
        return None if run is None or self.desk.live else self.arguments_of(run)

    def arguments_of(self, run: Run) -> str | None:
        """The arguments a call was made with, for the form."""
        from workbench.core.jsontext import lookup

        return lookup(run.params, "/arguments")

    def _remember(self, shown: tuple[int, Item]) -> None:
        if self.takes_arguments(shown[1]):
            self._drafts[shown[0], shown[1].name] = self.form.text

    def _head_lines(self, item: Item | None, width: int) -> list[Line]:
        if item is None:
            return why_nothing(self.current, width)
        return head_lines(
            item,
            width,
            self.about(item),
            arguments=self.takes_arguments(item),
            roomy=self.size.height >= ROOMY,
            called=bool(self.result.display),
            marks=marks_of(self),
        )

    def row_of(self, item: Item) -> RowSpec:
        return row_of(item)

    def about(self, item: Item) -> str:
        return item.description

    def _run(self, number: int, item: Item) -> Run | None:
        method, _ = self.request_of(item, "{}")
        return self.desk.runs.last(number, method, item.name)

    def _show_run(self) -> None:
        number = self.current.number if self.current is not None else 0
        item = self.item
        self.side.show_open(self.desk.runs.open(number), item.name if item else "")
        self._show_recent()
        run = self._run(number, item) if item is not None else None
        if not self.side.news(run):
            return
        self.result.display = run is not None
        self.set_class(run is not None, "called")
        self._fit()
        self.side.show_run(run)
        self.post_message(Hints())

    def _show_recent(self) -> None:
        number = self.current.number if self.current is not None else 0
        self.recent.show(self.desk.runs.recent(number, self.method), self._room_below())

    # Layout.

    def on_descendant_focus(self) -> None:
        self._fit()

    def on_resize(self, event: Resize) -> None:
        self.set_class(event.size.width >= WIDE, "wide")
        self._fit()

    def _fit(self) -> None:
        """Stacked, the list takes what it needs, a third at most while there is more to show, and
        less beside a result."""
        item = self.item
        self.head.lay(lambda width: self._head_lines(item, width))
        height = self.size.height
        wide = self.has_class("wide")
        self.list.display = wide or height >= TIGHT or not self.side.has_focus_within
        self._show_recent()
        if not height or wide:
            self.list.styles.height = "1fr"
            return
        most = max(3, height // (5 if self.result.display else 3))
        wanted = self.list.rows.count + (1 if self.list.filtering else 0)
        stretch = item is None and self.has_class("no-item")
        self.list.styles.height = "1fr" if stretch else max(1, min(wanted, most))

    def _room_below(self) -> int:
        """Rows that the list leaves free."""
        if not self.has_class("wide"):
            return 0
        return self.size.height - self.list.rows.count - (1 if self.list.filtering else 0)

    # What happens.

    @on(Rows.Moved)
    def _moved(self, message: Rows.Moved) -> None:
        message.stop()
        self._show_item()
        self._show_run()

    @on(FilteredRows.Filtered)
    def _filtered(self, message: FilteredRows.Filtered) -> None:
        message.stop()
        self._show_item()
        self._show_run()

    @on(Rows.Chosen)
    def _chosen(self, message: Rows.Chosen) -> None:
        message.stop()
        self._show_item()
        item = self.item
        if item is None:
            return
        if not self.desk.live:
            self.post_message(Show(item.name, pretty(dumps(item.value)).encode("utf-8", "surrogateescape")))
        elif self.takes_arguments(item):
            self.form.start()
            self.post_message(Hints())
        else:
            self._call(item, "{}")

    @on(Form.Submitted)
    def _submitted(self, message: Form.Submitted) -> None:
        message.stop()
        item = self.item
        if item is not None:
            self._call(item, message.text)

    def _call(self, item: Item, arguments: str) -> None:
        view = self.current
        if view is None or not self.desk.live:
            return
        method, params = self.request_of(item, arguments)
        self.post_message(Call(view.number, item, method, params, arguments))
        fields = self.form.query_one(FieldKeys)
        if fields.editing:
            fields.action_done()

    @on(Form.Changed)
    def _changed(self, message: Form.Changed) -> None:
        message.stop()
        self.post_message(Hints())

    @on(ResultView.Opened)
    def _opened(self, message: ResultView.Opened) -> None:
        message.stop()
        item = self.item
        title = "  ".join(word for word in (item.name if item else "", message.title) if word)
        self.post_message(Show(title, message.whole))

    # What the screen asks.

    def start(self) -> None:
        self.list.display = True
        self.list.rows.focus()

    def resume(self) -> None:
        if self.item is not None and self.takes_arguments(self.item):
            self.form.start()
        else:
            self.start()

    def words(self) -> set[str]:
        words = {"items", "filter"}
        item = self.item
        if item is not None:
            words.add("item")
            if self.takes_arguments(item):
                words.add("arguments")
            if self.result.display and self.result.outcome is not None:
                words.add("called")
        return words

    @property
    def filtered(self) -> bool:
        return self.list.filtering

    def back(self) -> bool:
        if self.list.clear():
            return True
        if not self.list.rows.has_focus:
            self.start()
            return True
        return False

    def source(self) -> tuple[str, bytes] | None:
        block = self.result.block
        if block is not None:
            return "result", block.whole
        item = self.item
        if item is None:
            return None
        return "definition", pretty(dumps(item.value)).encode("utf-8", "surrogateescape")

    def start_filter(self) -> bool:
        self.list.display = True
        self.list.filter()
        self._fit()
        return True

    def recall(self, run: Run) -> bool:
        """Go to what a call was made of, with its arguments filled in; false when that is not listed."""
        key = next((key for key, item in self._items.items() if item.name == run.item), None)
        if key is None:
            return False
        self.list.clear()
        self.list.rows.select(key)
        arguments = self.arguments_of(run)
        item = self._items[key]
        self._show_item()
        if arguments is not None and self.takes_arguments(item):
            self.form.set_form(self.model_of(item), arguments)
        self._show_run()
        self.resume()
        return True

    def do_copy_command(self) -> None:
        """Copy the call whose result is shown as a command line."""
        item, view = self.item, self.current
        run = self._run(view.number, item) if item is not None and view is not None else None
        if view is not None and run is not None:
            self.post_message(Copy(self.desk.command_line(view.number, run.method, run.params)))

    def do_again(self) -> None:
        """Send the call whose result is shown once more, as it was."""
        item, view = self.item, self.current
        run = self._run(view.number, item) if item is not None and view is not None else None
        if item is not None and view is not None and run is not None and run.outcome is not None:
            arguments = self.arguments_of(run) or "{}"
            self.post_message(Call(view.number, item, run.method, run.params, arguments))

    def do_json(self) -> None:
        self.form.start()
        if not self.form.by_hand:
            self.form.toggle()
