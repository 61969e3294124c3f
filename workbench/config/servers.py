"""All servers that the files here hold, and the one that ``@name`` means.

A name is looked up place by place: files named with ``--config``, the settings'
files, the project's from here upwards, our own list, the other tools' own. The
first place that has it decides; two different servers of one name in one place
are told with both places, because no order between them is obvious.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from workbench.config.dialects import is_for, sections
from workbench.config.entries import Entry
from workbench.config.files import PROJECT, ServerFile, Unreadable, read_text, server_files, short
from workbench.config.inputs import read_inputs
from workbench.config.jsonc import Document, Fault
from workbench.errors import UsageError

#: Names that are told when another one was not found.
_MOST_NAMES = 20


class FileServers(NamedTuple):
    """What a file holds: its entries, or why it cannot be read."""

    file: ServerFile
    entries: tuple[Entry, ...] = ()
    fault: str = ""
    sections: int = 0


def found_servers(
    named: Sequence[str] = (),
    settings: Sequence[str] = (),
    folder: Path | None = None,
    environ: Mapping[str, str] | None = None,
) -> list[FileServers]:
    """Every file that exists and holds servers or cannot be read, in the order names are looked up
    in. A ``named`` file is there also when it does not exist."""
    found: list[FileServers] = []
    for file in server_files(named, settings, folder, environ):
        if file.tier >= PROJECT and not os.path.isfile(file.path):
            continue
        read = read_servers(file, folder)
        if read.entries or read.fault or file.tier < len(named):
            found.append(read)
    return found


def read_servers(file: ServerFile, folder: Path | None = None) -> FileServers:
    """The entries of one file for whoever works in ``folder``; never raises."""
    try:
        document = Document(read_text(file.path))
    except Unreadable as error:
        return FileServers(file, fault=f"{short(file.path)} {error}")
    except Fault as error:
        line, column = _place(file.path, error.at)
        return FileServers(file, fault=f"{short(file.path)}:{line}:{column}: {error}; correct it")
    return _entries(file, document, folder or Path.cwd())


def _place(path: Path, at: int) -> tuple[int, int]:
    before = read_text(path)[:at]
    return before.count("\n") + 1, at - (before.rfind("\n") + 1) + 1


def _entries(file: ServerFile, document: Document, folder: Path) -> FileServers:
    entries: dict[str, Entry] = {}
    count = 0
    for section in sorted(sections(document.root), key=lambda one: -len(one.folder)):
        count += 1
        if not isinstance(section.servers.value, dict):
            line, column = document.place(section.servers.start)
            key = ".".join(section.path)
            fault = f"{short(file.path)}:{line}:{column}: {key}: is not an object; write {{NAME: {{…}}}}"
            return FileServers(file, fault=fault, sections=count)
        if not is_for(section, folder):
            continue
        inputs = read_inputs(section.inputs)
        for name, node in section.servers.value.items():
            entries.setdefault(name, Entry(name, node, file, document, section.path, inputs))
    noted = [entry._replace(notes=tuple(_notes(entry, entries))) for entry in entries.values()]
    return FileServers(file, tuple(noted), sections=count)


def _notes(entry: Entry, entries: Mapping[str, Entry]) -> Iterator[str]:
    """What is odd about an entry that can be used."""
    place = entry.document.place
    for one in entry.document.repeated:
        lines = f"lines {place(one.first)[0]} and {place(one.second)[0]}"
        if one.second == entry.node.key:
            yield f"given twice, in {lines}; the last one counts"
        elif entry.node.start <= one.second < entry.node.end:
            yield f"{one.name} is given twice, in {lines}; the last one counts"
    for name, other in entries.items():
        if name != entry.name and name.casefold() == entry.name.casefold():
            yield f"differs from {name} (line {place(other.node.key)[0]}) only by case"


def find_entry(name: str, named: Sequence[str] = (), settings: Sequence[str] = ()) -> Entry:
    """The entry that ``@name`` means. Raises ``UsageError``."""
    places = found_servers(named, settings)
    for place in (place for place in places if place.file.tier < len(named)):
        if place.fault:
            raise UsageError(place.fault)
        if not place.sections:
            file = short(place.file.path)
            raise UsageError(
                f'{file} has no object "mcpServers" or "servers"; name another file with --config'
            )
    hits = _hits(name, places)
    if not hits:
        raise UsageError(_missing(name, places, bool(named)))
    first = [entry for entry in hits if entry.file.tier == hits[0].file.tier]
    if len({_meaning(entry) for entry in first}) > 1:
        ways = " or ".join(f"@{_way(entry, first)}" for entry in first)
        where = ", ".join(entry.where for entry in first)
        raise UsageError(
            f"@{name} is there more than once ({where}); write {ways}, or name a file with --config"
        )
    return first[0]


def _hits(name: str, places: Sequence[FileServers]) -> list[Entry]:
    """Entries of this name; else, of its last part in the file its first part means; else, written
    otherwise only by case."""
    entries = [entry for place in places for entry in place.entries]
    hits = [entry for entry in entries if entry.name == name]
    for cut in re.finditer("/", name) if not hits else ():
        part, rest = name[: cut.start()], name[cut.end() :]
        hits += [entry for entry in entries if entry.name == rest and _is_of(part, entry.file)]
    return hits or [entry for entry in entries if entry.name.casefold() == name.casefold()]


def _slug(owner: str) -> str:
    return owner.lower().replace(" ", "-")


def _is_of(part: str, file: ServerFile) -> bool:
    if not part:
        return False
    path = os.path.abspath(file.path)
    return part.lower() in (_slug(file.owner), file.path.name.lower()) or path.endswith(
        os.path.expanduser(part)
    )


def _way(entry: Entry, among: Sequence[Entry]) -> str:
    """What to write for this entry and none of the others."""
    if [other.name for other in among].count(entry.name) == 1:
        return entry.name
    slug = _slug(entry.file.owner)
    owners = [_slug(other.file.owner) for other in among]
    return f"{slug if owners.count(slug) == 1 else short(entry.file.path)}/{entry.name}"


def _meaning(entry: Entry) -> str:
    """Two entries that say the same are no choice."""
    value = entry.node.plain()
    if isinstance(value, dict):
        value = {key: value[key] for key in sorted(value) if key in _DECIDING}
    return repr(value)


_DECIDING = ("command", "args", "env", "cwd", "type", "url", "serverUrl", "headers")


def _missing(name: str, places: Sequence[FileServers], only_named: bool) -> str:
    known = [entry.name for place in places for entry in place.entries]
    names = ", ".join(known[:_MOST_NAMES]) or "none"
    files = ", ".join(short(place.file.path) for place in places) or "the files that are looked in"
    faults = [place.fault for place in places if place.fault]
    why = f"; {faults[0]}" if faults and not only_named else ""
    return f"no server is named @{name} in {files} (there: {names}){why}; mcp-workbench servers lists them"
