"""The forms server files have: where in a document the servers are, and what a server's members are called.

    {"mcpServers": {NAME: …}}                          Claude Desktop, Claude Code, Cursor, Windsurf
    {"projects": {FOLDER: {"mcpServers": …}}}          Claude Code, for one folder
    {"servers": {NAME: …}, "inputs": [ … ]}            VS Code
    {"mcp": {"servers": …, "inputs": … }}              VS Code's settings of old

A file is read by what stands in it, not by its name, so every form works everywhere.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from workbench.config.jsonc import Node

#: The transports by the words the tools have for them.
TYPES = {
    "stdio": "stdio",
    "local": "stdio",
    "http": "http",
    "streamable-http": "http",
    "streamableHttp": "http",
    "streamable_http": "http",
    "sse": "sse",
}
TYPE_MEMBERS = ("type", "transport", "transportType")
URL_MEMBERS = ("url", "serverUrl", "httpUrl")

#: The member in which we keep what no other tool has a member for.
OURS = "workbench"


class Section(NamedTuple):
    """Servers of a document: the object that holds them, the path to it, the inputs beside it, and
    the folder they are for (empty for every folder)."""

    servers: Node
    path: tuple[str, ...]
    inputs: Node | None = None
    folder: str = ""


def sections(root: Node) -> Iterator[Section]:
    """The servers of a document, those for one folder first. A member of the right name that is no
    object is given too, for its reader to tell."""
    for folder, project in _members(root.get("projects")):
        servers = project.get("mcpServers")
        if servers is not None:
            yield Section(servers, ("projects", folder, "mcpServers"), None, folder)
    for name in ("mcpServers", "servers"):
        servers = root.get(name)
        if servers is not None:
            yield Section(servers, (name,), root.get("inputs"))
    old = root.get("mcp")
    servers = old.get("servers") if old is not None else None
    if old is not None and servers is not None:
        yield Section(servers, ("mcp", "servers"), old.get("inputs"))


def is_for(section: Section, folder: Path) -> bool:
    """Whether the servers are for somebody who works in this folder."""
    if not section.folder:
        return True
    here, there = os.path.realpath(folder), os.path.realpath(section.folder)
    return here == there or here.startswith(there.rstrip(os.sep) + os.sep)


def _members(node: Node | None) -> Iterator[tuple[str, Node]]:
    if node is not None and isinstance(node.value, dict):
        yield from node.value.items()
