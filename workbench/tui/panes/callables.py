"""The three kinds of items a server lists, and how each is called."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.core.forms import FormModel, form_of, prompt_form, template_form
from workbench.core.jsonrpc import dumps, loads
from workbench.core.uri_template import expand
from workbench.core.view import ConnectionView, Item
from workbench.tui.lines import Bit, Line
from workbench.tui.panes.items import ItemsPane
from workbench.tui.runs import Run
from workbench.tui.widgets.form import Form
from workbench.tui.widgets.rows import Cell, RowSpec


class ToolsPane(ItemsPane):
    noun = "tools"
    method = "tools/call"

    def items_of(self, view: ConnectionView) -> Sequence[Item]:
        return view.tools

    def listings(self) -> tuple[str, ...]:
        return ("tools/list",)

    def model_of(self, item: Item) -> FormModel:
        return form_of(item.value.get("inputSchema", {}))

    def request_of(self, item: Item, arguments: str) -> tuple[str, str]:
        return "tools/call", f'{{"name":{dumps(item.name)},"arguments":{arguments}}}'


class PromptsPane(ItemsPane):
    noun = "prompts"
    method = "prompts/get"

    def items_of(self, view: ConnectionView) -> Sequence[Item]:
        return view.prompts

    def listings(self) -> tuple[str, ...]:
        return ("prompts/list",)

    def model_of(self, item: Item) -> FormModel:
        return prompt_form(item.value.get("arguments"))

    def request_of(self, item: Item, arguments: str) -> tuple[str, str]:
        return "prompts/get", f'{{"name":{dumps(item.name)},"arguments":{arguments}}}'


class ResourcesPane(ItemsPane):
    noun = "resources"
    method = "resources/read"

    def items_of(self, view: ConnectionView) -> Sequence[Item]:
        return (*view.resources, *view.templates)

    def listings(self) -> tuple[str, ...]:
        return ("resources/list", "resources/templates/list")

    def rows_of(self, items: Sequence[Item]) -> list[RowSpec]:
        rows = super().rows_of([item for item in items if item.kind != "template"])
        templates = super().rows_of([item for item in items if item.kind == "template"])
        if templates:
            rows += [RowSpec("templates", (Cell("templates"),), heading=True), *templates]
        return rows

    def row_of(self, item: Item) -> RowSpec:
        row = super().row_of(item)
        media = item.value.get("mimeType")
        named = item.title if item.title != item.name else item.description
        cells = (Cell(item.name or item.title), Cell(named if item.name else "", "quiet"))
        words = [media if isinstance(media, str) and not self.has_class("wide") else "", row.tail]
        return row._replace(cells=cells, tail="  ".join(word for word in words if word))

    def takes_arguments(self, item: Item) -> bool:
        return item.kind == "template"

    def model_of(self, item: Item) -> FormModel:
        if item.kind != "template":
            return FormModel()
        return template_form(item.name)

    def request_of(self, item: Item, arguments: str) -> tuple[str, str]:
        return "resources/read", dumps({"uri": self.uri_of(item, arguments)})

    def uri_of(self, item: Item, arguments: str) -> str:
        """What is read: the URI, for a template filled in with the arguments."""
        if item.kind != "template":
            return item.name
        try:
            values = loads(arguments)
        except (ValueError, RecursionError):
            return item.name
        given = values if isinstance(values, dict) else {}
        return expand(item.name, {name: str(value) for name, value in given.items()})

    def _run(self, number: int, item: Item) -> Run | None:
        return self.desk.runs.last(number, "resources/read", item.name)

    def words_of(self, run: Run) -> tuple[str, str]:
        from workbench.core.jsontext import lookup

        try:
            uri = loads(lookup(run.params, "/uri") or "")
        except (ValueError, RecursionError):
            return run.item, ""
        return (uri, "") if isinstance(uri, str) else (run.item, "")

    def _head_lines(self, item: Item | None, width: int) -> list[Line]:
        lines = super()._head_lines(item, width)
        if item is not None and item.kind == "template":
            lines.append([Bit("   reads  ", "quiet"), Bit(self.uri_of(item, self.form.wire), "text")])
        return lines

    def on_form_changed(self, message: Form.Changed) -> None:
        message.stop()
        item = self.item
        if item is not None and item.kind == "template":
            self.head.lay(lambda width: self._head_lines(item, width))
