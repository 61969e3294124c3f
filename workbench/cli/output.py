"""What a command writes: data on stdout, everything else on stderr.

Text of a server is always made harmless (``core.printable``), whether it goes to a
terminal or into a pipe that ends at one. JSON goes out as it is meant, with the
characters a terminal would obey as their JSON escapes.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from workbench.core.jsonrpc import Number, dumps
from workbench.core.printable import printable, printable_json, printable_lines

#: Tables that go to no terminal are not wrapped.
UNWRAPPED = 10_000


def _write(text: str) -> None:
    """Write to stdout whatever its encoding: what it lacks is escaped, never an error."""
    stream = sys.stdout
    try:
        stream.write(text)
    except UnicodeEncodeError:
        encoding = stream.encoding or "ascii"
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))


def text(what: str) -> None:
    """Text of a server, line by line. Tabs stay: they command nothing, and scripts cut at them."""
    _write("\t".join(map(printable_lines, what.split("\t"))) + "\n")


def line(what: str) -> None:
    """One line, whatever is in it."""
    _write(printable(what) + "\n")


def json_document(value: Any) -> None:
    """One JSON document on one line; numbers keep the spelling they came with (``jsonrpc.Number``).

    NaN and Infinity, which servers send and JSON does not have, become text.
    """
    text = dumps(value)
    if "NaN" in text or "Infinity" in text:
        text = dumps(_finite(value))
    json_text(text)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not isinstance(value, Number) and not math.isfinite(value):
        return json.dumps(value)
    return value


def json_text(text: str) -> None:
    """JSON that is text already."""
    encoded = printable_json(text)
    if (sys.stdout.encoding or "").lower().replace("-", "") != "utf8":
        encoded = "".join(c if ord(c) < 128 else _escape(c) for c in encoded)
    sys.stdout.write(encoded + "\n")


def _escape(character: str) -> str:
    units = character.encode("utf-16-be")
    return "".join(f"\\u{units[n]:02x}{units[n + 1]:02x}" for n in range(0, len(units), 2))


def note(what: str) -> None:
    """A remark for a person, on stderr."""
    try:
        print(printable_lines(what), file=sys.stderr, flush=True)
    except UnicodeEncodeError:
        print(printable_lines(what).encode("ascii", "backslashreplace").decode(), file=sys.stderr, flush=True)


def table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], *, indent: int = 0, header: bool = True
) -> None:
    """A table without rules, so that it looks the same in every locale; nothing is cut off."""
    from rich.console import Console
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    console = Console(
        highlight=False, markup=False, emoji=False, width=None if sys.stdout.isatty() else UNWRAPPED
    )
    made = Table(
        box=None,
        show_header=header and any(columns),
        pad_edge=False,
        padding=(0, 2, 0, 0),
        header_style="bold",
    )
    for column in columns:
        made.add_column(Text(printable(column)), overflow="fold")
    for row in rows:
        made.add_row(*(Text(printable(cell)) for cell in row))
    with console.capture() as captured:
        console.print(Padding(made, (0, 0, 0, indent)))
    _write("".join(f"{each.rstrip()}\n" for each in captured.get().splitlines()))


def width(what: str) -> int:
    """How many cells of a terminal a line takes, made harmless."""
    from rich.cells import cell_len

    return cell_len(printable(what))


def padded(what: str, cells: int) -> str:
    """The line, harmless, with blanks up to so many cells; a longer one stays as it is."""
    shown = printable(what)
    return shown + " " * max(0, cells - width(shown))


def cut(what: str, cells: int) -> str:
    """As much of the line, harmless, as goes into so many cells."""
    from rich.cells import cell_len, set_cell_size

    shown = printable(what)
    return shown if cell_len(shown) <= cells else set_cell_size(shown, cells)


def heading(what: str) -> None:
    """A line that begins a section."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, markup=False, emoji=False)
    with console.capture() as captured:
        console.print(Text(printable(what), style="bold"), soft_wrap=True)
    _write(captured.get())


def size(count: int) -> str:
    """A number of bytes for a person: ``812 B``, ``3.4 kB``, ``1.2 MB``."""
    if count < 1000:
        return f"{count} B"
    power = min(3, (len(str(count)) - 1) // 3)
    return f"{count / 1000**power:.1f} {('B', 'kB', 'MB', 'GB')[power]}"


def seconds(value: float) -> str:
    """A time for a person: ``0.4 ms``, ``23 ms``, ``1.25 s``."""
    if value < 0.01:
        return f"{value * 1000:.1f} ms"
    return f"{value * 1000:.0f} ms" if value < 1 else f"{value:.2f} s"
