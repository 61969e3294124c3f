"""The syntax of a target, the same on the command line and in the screen's line.

    -- CMD ARGS…            everything after it is the command (the last target)
    --stdio 'CMD ARGS'      a command in one argument, split as a shell splits it
    --replay FILE           a recording that stands in for its server
    @NAME                   a server of a file (--config FILE)

An option that stands after a target belongs to that target; one that stands
before the first target belongs to all of them.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from workbench.config.options import OPTIONS
from workbench.config.servers import find_server
from workbench.config.settings import Settings
from workbench.config.targets import Target, default_capabilities, make_target
from workbench.core.credentials import plain_arguments
from workbench.core.naming import suggest_name
from workbench.errors import UsageError

SYNTAX = "-- CMD ARGS…, --stdio 'CMD ARGS', --replay FILE or @NAME"

_NOT_YET = {"--http": "HTTP", "--sse": "HTTP with SSE"}


class _Draft:
    """A target that is being read: what it is, and its options so far."""

    def __init__(self, kind: str, value: Any) -> None:
        self.kind = kind
        self.value = value
        self.options: dict[str, Any] = {}


def parse_targets(argv: Sequence[str], settings: Settings | None = None) -> list[Target]:
    """The targets of a command line that holds nothing else. Raises ``UsageError``."""
    targets, rest = take_targets(argv, settings)
    if rest:
        kind = "option" if rest[0].startswith("-") else "argument"
        raise UsageError(f"unknown {kind} {rest[0]!r}; a target is {SYNTAX}")
    return targets


def take_targets(argv: Sequence[str], settings: Settings | None = None) -> tuple[list[Target], list[str]]:
    """The targets of a command line, and what in it belongs to no target, in its order."""
    drafts: list[_Draft] = []
    common: dict[str, Any] = {}
    rest: list[str] = []
    words = list(argv)
    while words:
        word = words.pop(0)
        if word == "--":
            drafts.append(_Draft("command", words))
            break
        flag, equals, inline = word.partition("=")
        if word.startswith("@") and len(word) > 1:
            drafts.append(_Draft("name", word[1:]))
        elif flag in ("--stdio", "--replay", *_NOT_YET):
            drafts.append(_Draft(flag, _value(flag, inline, equals, words)))
        elif flag in OPTIONS:
            options = drafts[-1].options if drafts else common
            try:
                OPTIONS[flag](options, _value(flag, inline, equals, words))
            except ValueError as error:
                raise UsageError(f"{flag}: {error}") from None
        else:
            rest.append(word)
    settings = settings or Settings()
    return [_finish(draft, common, settings) for draft in drafts], rest


def parse_line(line: str, settings: Settings | None = None) -> list[Target]:
    """The targets of one line a user typed. A line that begins with a command needs no ``--``."""
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise UsageError(f"the line cannot be split into words ({error}); close the quotes") from None
    if not words:
        raise UsageError(f"the line is empty; type a target: {SYNTAX}")
    if words[0].startswith(("http://", "https://")):
        words.insert(0, "--http")
    elif words[0][:1] not in ("-", "@"):
        words.insert(0, "--")
    targets = parse_targets(words, settings)
    if not targets:
        raise UsageError(f"the line names no target; a target is {SYNTAX}")
    return targets


def _value(flag: str, inline: str, equals: str, words: list[str]) -> str:
    if equals:
        return inline
    if not words or words[0] == "--":
        raise UsageError(f"{flag} needs a value; see --help")
    return words.pop(0)


def _finish(draft: _Draft, common: dict[str, Any], settings: Settings) -> Target:
    options = {**common, **draft.options}
    for merged in ("env", "timeouts"):
        if merged in common or merged in draft.options:
            options[merged] = {**common.get(merged, {}), **draft.options.get(merged, {})}
    if draft.kind in _NOT_YET:
        raise UsageError(f"{_NOT_YET[draft.kind]} targets are not supported yet; use {SYNTAX}")
    if "header" in options:
        raise UsageError("--header is for HTTP targets, which are not supported yet; leave it out")
    files = options.pop("config", ()) or settings.config
    values = _values(options, settings)
    if draft.kind == "name":
        target = find_server(draft.value, tuple(files), values)
        return target.model_copy(update={"name": options["name"]}) if "name" in options else target
    values.update(_command(draft))
    values.setdefault("name", suggest_name(values["command"], plain_arguments(values["args"])))
    if draft.kind == "--replay":
        values["name"] = options.get("name") or _recording_name(draft.value)
    return make_target("target", values)


def _values(options: dict[str, Any], settings: Settings) -> dict[str, Any]:
    values = dict(options)
    values["timeouts"] = {**settings.timeouts.model_dump(), **values.get("timeouts", {})}
    # Who gives a request longer than the hard maximum means it.
    values["timeouts"]["maximum"] = max(values["timeouts"]["maximum"], values["timeouts"]["request"])
    values.setdefault("offer", settings.offer)
    switched = values.pop("switched", {})
    if switched:
        offered = default_capabilities(values["offer"])
        for name, on in switched.items():
            if on:
                offered.setdefault(name, {})
            else:
                offered.pop(name, None)
        values["capabilities"] = offered
    return values


def _command(draft: _Draft) -> dict[str, Any]:
    if draft.kind == "--replay":
        return _replay(draft.value)
    words = draft.value
    if isinstance(words, str):
        try:
            words = shlex.split(words)
        except ValueError as error:
            raise UsageError(f"--stdio: the command cannot be split ({error}); close the quotes") from None
    if not words:
        raise UsageError(f"{'--' if draft.kind == 'command' else draft.kind} needs a command after it")
    return {"command": words[0], "args": tuple(words[1:])}


def _replay(file: str) -> dict[str, Any]:
    """A replay is a stdio server like any other: our own program, asked to stand in for one.

    ``-P`` keeps a folder that happens to be named like our package from being run instead.
    """
    place = os.path.abspath(file) if os.path.exists(file.partition("#")[0]) else file
    args = ("-P", "-m", "workbench", "replay", "server", place)
    return {"command": sys.executable, "args": args, "recording": file}


def _recording_name(file: str) -> str:
    path, _, part = file.partition("#")
    return part.rpartition("/")[2] if part and not part.isdigit() else Path(path).stem or "replay"
