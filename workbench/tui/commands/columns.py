"""Connections side by side."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.tui.commands.command import Command
from workbench.tui.commands.command import command as of


def commands() -> Iterator[Command]:
    """Columns, and what goes to all of them."""
    yield of(
        "send_to_all",
        "a",
        "send to all",
        "Send to all connections that stand side by side",
        "beside live",
        avoids="to_all",
        hint=68,
    )
    yield of("send_to_one", "a", "send to one", "Send to this connection only", "beside live to_all", hint=68)
    yield of(
        "open_answer", "enter", "open whole", "Open the answer whole", "compared answered", hint=90, own=True
    )
    yield of(
        "difference",
        "n",
        "next difference",
        "Go to the next difference",
        "compared answered",
        hint=80,
        own=True,
    )
    yield of(
        "only_different",
        "d",
        "differences only",
        "Leave out the lines that are the same, or show them again",
        "compared answered",
        hint=75,
        own=True,
    )
    yield of("cancel_all", "X", "cancel all", "Cancel the call everywhere", "running_together", hint=84)
    yield of(
        "page_on",
        "right_square_bracket",
        "more columns",
        "Show the columns that do not fit",
        "beside paged",
        hint=57,
    )
    yield of("page_back", "left_square_bracket", "columns before", "Show the columns before", "beside paged")
    yield of("column_next", "greater_than_sign", "next column", "Go to the next column", "beside", hint=56)
    yield of("column_before", "less_than_sign", "column before", "Go to the column before", "beside")
    yield of(
        "columns_pane",
        "right_curly_bracket",
        "next pane",
        "The next pane in the columns",
        "beside",
        hint=15,
    )
    yield of(
        "columns_pane_before", "left_curly_bracket", "pane before", "The pane before in the columns", "beside"
    )
    yield of("add_column", "plus", "add column", "Put one more connection beside these", "addable", hint=14)
    yield of("drop_column", "minus", "drop column", "Take this column out", "droppable", hint=13)
