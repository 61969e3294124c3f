"""One server of a file: where it stands, what is odd about it, and the values of its target.

An entry is read by itself, so that one odd entry never hides the others. Members
nobody here knows are left alone: they belong to the tool that wrote them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from workbench.config.dialects import OURS, TYPE_MEMBERS, TYPES, URL_MEMBERS
from workbench.config.env_file import read_env_file
from workbench.config.files import ServerFile, Unreadable, short
from workbench.config.inputs import Input, InputsNeeded, check_choice, used_inputs
from workbench.config.jsonc import Document, Node
from workbench.config.urls import checked_header, checked_url
from workbench.config.variables import Variables
from workbench.errors import UsageError

#: The members of a target that an entry may keep under ``workbench``.
KEPT = (
    *("era", "offer", "capabilities", "require", "client_info", "roots", "log_level", "timeouts"),
    *("recording", "transport", "rules", "oauth"),
)


class Entry(NamedTuple):
    """An entry as it stands in its file.

    ``path`` leads to the object that holds it. ``inputs`` are those its file defines, ``notes``
    what is to be told of it although it can be used.
    """

    name: str
    node: Node
    file: ServerFile
    document: Document
    path: tuple[str, ...]
    inputs: Mapping[str, Input] = MappingProxyType({})
    notes: tuple[str, ...] = ()

    @property
    def where(self) -> str:
        """File and line, for people."""
        return f"{short(self.file.path)}:{self.document.place(self.node.key)[0]}"

    @property
    def disabled(self) -> bool:
        """Whether the tool whose file it is leaves it out."""
        off, on = self.node.get("disabled"), self.node.get("enabled")
        return (off is not None and off.value is True) or (on is not None and on.value is False)

    def fault(self, node: Node | None, path: str, what: str) -> UsageError:
        """An error about a value of the entry: file, line, column, member, what is wrong with it."""
        at = self.node if node is None else node
        line, column = self.document.place(at.start)
        key = ".".join((*self.path, self.name, *([path] if path else [])))
        return UsageError(f"{short(self.file.path)}:{line}:{column}: {key}: {what}")


def needed_inputs(entry: Entry, given: Mapping[str, str] | None = None) -> list[Input]:
    """What is to be asked before the entry can be used, without what has been ``given``."""
    ids = used_inputs(_used(entry))
    return [entry.inputs.get(id, Input(id)) for id in ids if id not in (given or {})]


def entry_values(
    entry: Entry, inputs: Mapping[str, str] | None = None, environ: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """The values of the entry's target, variables and ``inputs`` put in; without inputs those stay
    as they stand. Raises ``UsageError`` that names file, line, column and member, and
    ``InputsNeeded``."""
    if inputs is not None:
        missing = needed_inputs(entry, inputs)
        if missing:
            raise InputsNeeded(entry.name, missing)
        inputs = _answers(entry, inputs)
    passwords = [one.id for one in entry.inputs.values() if one.password]
    return _Reading(entry, Variables(environ, entry.file.workspace, inputs, passwords)).values()


def _answers(entry: Entry, inputs: Mapping[str, str]) -> dict[str, str]:
    answers = dict(inputs)
    for one in entry.inputs.values():
        if one.id in answers:
            try:
                answers[one.id] = check_choice(one, answers[one.id])
            except ValueError as error:
                raise UsageError(f"--input {one.id}: {error}") from None
    return answers


def _used(entry: Entry) -> dict[str, Any]:
    names = ("command", "args", "env", "envFile", "cwd", *URL_MEMBERS, "headers", "requestInit")
    value = entry.node.plain()
    return {name: value[name] for name in names if name in value} if isinstance(value, dict) else {}


class _Reading:
    """Reads one entry once."""

    def __init__(self, entry: Entry, variables: Variables) -> None:
        self._entry = entry
        self._variables = variables

    def values(self) -> dict[str, Any]:
        entry = self._entry
        if not isinstance(entry.node.value, dict):
            raise entry.fault(None, "", 'is not an object; write {"command": …} or {"url": …}')
        if not entry.name:
            raise entry.fault(None, "", "has no name; give it one")
        values: dict[str, Any] = {"name": entry.name, "origin": str(entry.file.path)}
        ours = self._ours()
        values.update(ours)
        values.update(self._place(ours.get("transport") or self._transport()))
        values["secrets"] = self._variables.secrets
        return values

    def _place(self, transport: str) -> dict[str, Any]:
        if transport == "stdio":
            return self._stdio()
        if transport in ("http", "sse"):
            return self._http(transport)
        address = self._first("url")
        return {"transport": transport, "url": self._text(address[1], "url") if address else ""}

    def _transport(self) -> str:
        """The transport: what the entry says, else what it has."""
        entry = self._entry
        address = self._first(*URL_MEMBERS)
        for member in TYPE_MEMBERS:
            node = entry.node.get(member)
            if node is not None and node.value is not None:
                transport = TYPES.get(node.value) if isinstance(node.value, str) else None
                if transport is None:
                    seen = entry.document.text[node.start : node.end][:40]
                    raise entry.fault(node, member, f"{seen} is no transport; use stdio, http or sse")
                return transport
        if entry.node.get("command") is not None and address is not None:
            raise entry.fault(
                None, "", 'has a "command" and a "url"; leave one out, or say which with "type"'
            )
        if address is None and entry.node.get("command") is None:
            raise entry.fault(None, "", 'has no "command" and no "url"; add one')
        return "stdio" if address is None else "http"

    def _first(self, *members: str) -> tuple[str, Node] | None:
        for member in members:
            node = self._entry.node.get(member)
            if node is not None and node.value is not None:
                return member, node
        return None

    def _stdio(self) -> dict[str, Any]:
        command = self._first("command")
        if command is None:
            raise self._entry.fault(None, "", 'has no "command"; add one')
        values: dict[str, Any] = {"command": self._text(command[1], "command")}
        if not values["command"].strip():
            raise self._entry.fault(command[1], "command", "is empty; write the program to start")
        values["args"] = tuple(self._args())
        values["env"] = {**self._env_file(), **self._texts("env", self._entry.node.get("env"), removing=True)}
        values["cwd"] = self._cwd()
        return values

    def _args(self) -> list[str]:
        node = self._entry.node.get("args")
        if node is None or node.value is None:
            return []
        if not isinstance(node.value, list):
            raise self._entry.fault(node, "args", 'is no list; write ["ONE", "TWO"]')
        return [self._text(item, f"args[{place}]") for place, item in enumerate(node.value)]

    def _cwd(self) -> str | None:
        """A project's servers run in its folder, wherever in it one works."""
        found = self._first("cwd")
        workspace = self._entry.file.workspace
        text = self._text(found[1], "cwd") if found else ""
        if not workspace:
            return text or None
        folder = os.path.normpath(os.path.join(workspace, os.path.expanduser(text)))
        return text or None if folder == os.getcwd() else folder

    def _env_file(self) -> dict[str, str | None]:
        found = self._first("envFile")
        if found is None:
            return {}
        path = Path(self._text(found[1], "envFile")).expanduser()
        try:
            return dict(read_env_file(Path(self._entry.file.workspace or os.getcwd()) / path))
        except Unreadable as error:
            raise self._entry.fault(found[1], "envFile", f"{short(path)} {error}") from None

    def _http(self, transport: str) -> dict[str, Any]:
        found = self._first(*URL_MEMBERS)
        if found is None:
            raise self._entry.fault(None, "", 'has no "url"; add one')
        member, node = found
        url = self._text(node, member)
        if not used_inputs(url):  # what is still open cannot be checked
            url = self._checked(node, member, checked_url, url)
        init = self._entry.node.get("requestInit")
        headers: dict[str, Any] = {}
        if init is not None:
            headers = self._texts("requestInit.headers", init.get("headers"))
        headers.update(self._texts("headers", self._entry.node.get("headers")))
        return {"transport": transport, "url": url, "headers": headers}

    def _texts(self, path: str, node: Node | None, *, removing: bool = False) -> dict[str, Any]:
        """An object of texts: the variables of a command, or the headers of an address."""
        if node is None or node.value is None:
            return {}
        if not isinstance(node.value, dict):
            raise self._entry.fault(node, path, 'is not an object; write {"NAME": "VALUE"}')
        found: dict[str, Any] = {}
        for name, value in node.value.items():
            at = f"{path}.{name}"
            if removing and value.value is None:
                found[name] = None
                continue
            text = self._text(value, at)
            found[name] = text if removing else self._checked(value, at, _header(name), text)
        return found

    def _text(self, node: Node, path: str) -> str:
        """Text with its variables put in; a number, true and false as they are spelt."""
        if isinstance(node.value, (bool, int, float)):
            return self._entry.document.text[node.start : node.end]
        if not isinstance(node.value, str):
            raise self._entry.fault(
                node, path, "is neither text, a number, true nor false; write it in quotes"
            )
        if "\0" in node.value:
            raise self._entry.fault(node, path, "holds a NUL character; leave it out")
        return self._checked(node, path, self._variables.put_in, node.value)

    def _checked(self, node: Node, path: str, check: Callable[[str], str], text: str) -> str:
        try:
            return check(text)
        except ValueError as error:
            raise self._entry.fault(node, path, str(error)) from None

    def _ours(self) -> dict[str, Any]:
        """What only we have a member for."""
        node = self._entry.node.get(OURS)
        if node is None:
            return {}
        if not isinstance(node.value, dict):
            raise self._entry.fault(node, OURS, "is not an object; leave it out")
        for name, value in node.value.items():
            if name not in KEPT:
                raise self._entry.fault(value, f"{OURS}.{name}", "is not known; leave it out")
            if name == "rules" and not isinstance(value.value, list):
                raise self._entry.fault(value, f"{OURS}.{name}", "is no list; write [{…}]")
        kept: dict[str, Any] = node.plain()
        return kept


def _header(name: str) -> Callable[[str], str]:
    return lambda text: checked_header(name, text)
