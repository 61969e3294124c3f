"""Marks: one cell each, in Unicode or ASCII. A word or a place always says the same."""

from __future__ import annotations

from typing import NamedTuple


class Marks(NamedTuple):
    ready: str
    on_the_way: str
    closed: str
    failed: str
    to_server: str
    to_client: str
    event: str
    finding: str
    ok: str
    cursor: str
    line: str
    bar: str
    hairline: str
    ellipsis: str
    thumb: str
    caret: str
    pin: str


UNICODE = Marks(
    ready="◉",
    on_the_way="◌",
    closed="◦",
    failed="✗",
    to_server="▸",
    to_client="◂",
    event="∙",
    finding="!",
    ok="✓",
    cursor="›",
    line="─",
    bar="━",
    hairline="│",
    ellipsis="…",
    thumb="│",
    caret="▏",
    pin="▪",
)

ASCII = Marks(
    ready="*",
    on_the_way="~",
    closed="o",
    failed="x",
    to_server=">",
    to_client="<",
    event=".",
    finding="!",
    ok="+",
    cursor=">",
    line="-",
    bar="=",
    hairline="|",
    ellipsis="~",
    thumb="|",
    caret="|",
    pin="#",
)


def marks_of(widget: object) -> Marks:
    """The marks of the app a widget lives in (its attribute ``marks``), the Unicode ones without."""
    found = getattr(getattr(widget, "app", widget), "marks", UNICODE)
    return found if isinstance(found, Marks) else UNICODE
