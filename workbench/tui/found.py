"""The servers of config files as rows: each file's name, and below it what it holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.tui.admitting import named_line
from workbench.tui.marks import Marks
from workbench.tui.widgets.rows import Cell, RowSpec

if TYPE_CHECKING:
    from workbench.config.looking import Look
    from workbench.config.servers import FileServers


class FoundServers:
    """What was found, and in which ``places`` (path, owner) it was looked for. ``rows`` are to be
    shown; of a row's key ``line`` is what connects to it, and ``why`` the sentence that says why
    nothing can."""

    def __init__(
        self,
        files: Sequence[tuple[FileServers, Sequence[Look]]] = (),
        places: Sequence[tuple[str, str]] = (),
    ) -> None:
        self.places = places
        self._files = files
        self._lines: dict[str, str] = {}
        self._faults: dict[str, str] = {}

    def line(self, key: str) -> str:
        return self._lines.get(key, "")

    def why(self, key: str) -> str:
        return self._faults.get(key, "")

    def rows(self, marks: Marks) -> list[RowSpec]:
        from workbench.config.files import short

        rows: list[RowSpec] = []
        for place, (file, looks) in enumerate(self._files):
            heading = f"{short(file.file.path)}  {file.file.owner}"
            rows.append(RowSpec(f"file {place}", (Cell(heading),), heading=True))
            if file.fault:
                key = f"fault {place}"
                self._faults[key] = file.fault
                cells = (Cell("unreadable", "struck"), Cell(_within(file.fault, file), "quiet"))
                rows.append(RowSpec(key, cells, mark=marks.failed, mark_role="failed"))
            rows += [self._row(f"{place} {number}", look, marks) for number, look in enumerate(looks)]
        return rows

    def _row(self, key: str, look: Look, marks: Marks) -> RowSpec:
        entry = look.entry
        search = f"@{entry.name} {look.shown} {entry.file.owner} {entry.file.path}"
        if look.why:
            self._faults[key] = look.why
            cells = (Cell(entry.name, "struck"), Cell(_reason(look), "quiet"))
            return RowSpec(key, cells, mark=marks.failed, mark_role="failed", search=search)
        self._lines[key] = named_line(str(entry.file.path.absolute()), entry.name)
        cells = (Cell(entry.name), Cell(look.shown, "quiet"))
        return RowSpec(key, cells, tail=_tail(look), search=search)


def _tail(look: Look) -> str:
    if look.state == "disabled":
        return "disabled"
    if look.state == "asks":
        return "asks first"
    return "asks for values" if look.inputs else ""


def _within(fault: str, file: FileServers) -> str:
    """A fault of a file without the file's name, which stands above it."""
    from workbench.config.files import short

    place = fault.removeprefix(short(file.file.path))
    return f"line {place[1:]}" if place.startswith(":") else place.strip()


def _reason(look: Look) -> str:
    """What is wrong, without file and server, which stand beside it: the member and the sentence."""
    _, found, rest = look.why.partition(f"{look.entry.name}.")
    return rest if found else look.why.partition(f"{look.entry.name}: ")[2] or look.why
