"""The syntax of a target, the same on the command line and in the screen's line.

    -- CMD ARGS…            everything after it is the command (the last target)
    --stdio 'CMD ARGS'      a command in one argument, split as a shell splits it
    --http URL              a server over HTTP; a bare http://… or https://… in the screen's line
    --sse URL               a server over the older HTTP with SSE
    --transport NAME=PLACE  a server over a transport that another package brings
    --replay FILE           a recording that stands in for its server
    @NAME                   a server of a file (--config FILE)

An option that stands after a target belongs to that target; one that stands
before the first target belongs to all of them.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from workbench.config.consent import claim_of
from workbench.config.entries import entry_values
from workbench.config.files import short
from workbench.config.options import OPTIONS
from workbench.config.servers import find_entry
from workbench.config.settings import Settings
from workbench.config.targets import (
    Target,
    default_capabilities,
    make_target,
    switched_capabilities,
    target_name,
)
from workbench.config.urls import checked_url, merged_headers
from workbench.config.variables import Variables
from workbench.errors import UsageError

SYNTAX = "-- CMD ARGS…, --stdio 'CMD ARGS', --http URL, --sse URL, --replay FILE or @NAME"

#: The flags that begin a target, each with one value.
_KINDS = ("--stdio", "--http", "--sse", "--transport", "--replay")
#: The members of a target that are put together from what stands before all targets and after one.
_MERGED = ("env", "timeouts", "headers", "inputs", "secrets", "oauth")

_NO_HEADER = "--header is for HTTP targets, and a command is none; leave it out"


class _Draft:
    """A target that is being read: what it is, and its options so far."""

    def __init__(self, kind: str, value: Any) -> None:
        self.kind = kind
        self.value = value
        self.options: dict[str, Any] = {}


def parse_targets(
    argv: Sequence[str], settings: Settings | None = None, inputs: Mapping[str, str] | None = None
) -> list[Target]:
    """The targets of a command line that holds nothing else. Raises ``UsageError``."""
    targets, rest = take_targets(argv, settings, inputs)
    if rest:
        kind = "option" if rest[0].startswith("-") else "argument"
        raise UsageError(f"unknown {kind} {rest[0]!r}; a target is {SYNTAX}")
    return targets


def take_targets(
    argv: Sequence[str], settings: Settings | None = None, inputs: Mapping[str, str] | None = None
) -> tuple[list[Target], list[str]]:
    """The targets of a command line, and what in it belongs to no target, in its order.

    ``inputs`` are answers to what server files leave open. Raises ``UsageError``, and among them
    ``InputsNeeded`` when somebody has to be asked first.
    """
    drafts: list[_Draft] = []
    common: dict[str, Any] = {"inputs": dict(inputs or {})}
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
        elif word == "--yes":
            common["yes"] = True
        elif flag in _KINDS:
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
    targets = [_finish(draft, common, settings) for draft in drafts]
    if targets and common.get("headers") and not any(target.url for target in targets):
        raise UsageError(_NO_HEADER)
    return targets, rest


def parse_line(
    line: str, settings: Settings | None = None, inputs: Mapping[str, str] | None = None
) -> list[Target]:
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
    targets = parse_targets(words, settings, inputs)
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
    for merged in _MERGED:
        options[merged] = {**common.get(merged, {}), **draft.options.get(merged, {})}
    options["headers"] = merged_headers(common.get("headers", {}), draft.options.get("headers", {}))
    options["switched"] = (*common.get("switched", ()), *draft.options.get("switched", ()))
    options["rules"] = (*draft.options.get("rules", ()), *common.get("rules", ()))
    place = _place(draft, options, settings)
    _refuse_strangers(draft, place.get("transport", "stdio"))
    where = f"{short(place['origin'])}: {place['name']}" if draft.kind == "name" else "target"
    target = make_target(where, _joined(place, options, settings))
    return target if target.name else target.model_copy(update={"name": target_name(target)})


def _place(draft: _Draft, options: dict[str, Any], settings: Settings) -> dict[str, Any]:
    """What the target itself says: a command, or a transport and its address, or all of an entry."""
    files, inputs = options.pop("config", ()), options.pop("inputs")
    agreed = options.pop("yes", False)
    if draft.kind == "name":
        entry = find_entry(draft.value, files, settings.config)
        return {**entry_values(entry, inputs), "claim": "" if agreed else claim_of(entry)}
    if draft.kind == "--replay":
        return {**_replay(draft.value), "name": _recording_name(draft.value)}
    if draft.kind == "--transport":
        return _transport(draft.value)
    if draft.kind in ("--http", "--sse"):
        return _address(draft.kind.removeprefix("--"), draft.kind, draft.value)
    return _command(draft.kind, draft.value)


def _joined(place: dict[str, Any], options: dict[str, Any], settings: Settings) -> dict[str, Any]:
    """What is typed goes before what the target itself says, and that before the settings."""
    values = {"offer": settings.offer, "era": settings.era, "roots": settings.roots, **place}
    values.update(
        {name: value for name, value in options.items() if name not in (*_MERGED, "switched", "rules")}
    )
    if options["oauth"]:
        kept = place.get("oauth")
        values["oauth"] = {**(kept if isinstance(kept, dict) else {}), **options["oauth"]}
    for merged in ("env", "secrets"):
        values[merged] = {**place.get(merged, {}), **options[merged]}
    values["rules"] = (*options["rules"], *place.get("rules", ()), *settings.rules)
    values["headers"] = merged_headers(place.get("headers", {}), options["headers"])
    values["timeouts"] = _timeouts(
        settings.timeouts.model_dump(), place.get("timeouts", {}), options["timeouts"]
    )
    values["capabilities"] = _capabilities(values, options["switched"], settings)
    if place.get("transport", "stdio") == "stdio":
        values.pop("headers")
        values.pop("oauth", None)
    return values


def _timeouts(*given: Any) -> Any:
    values: dict[str, Any] = {}
    for one in given:
        values.update(one if isinstance(one, dict) else {"timeouts": one})
    # Who gives a request longer than the hard maximum means it.
    if isinstance(values["request"], (int, float)) and isinstance(values["maximum"], (int, float)):
        values["maximum"] = max(values["maximum"], values["request"])
    return values


def _capabilities(values: dict[str, Any], switched: Sequence[tuple[str, Any]], settings: Settings) -> Any:
    offered = values.get("capabilities", settings.capabilities)
    if not switched:
        return offered
    return switched_capabilities(
        default_capabilities(values["offer"]) if offered is None else offered, switched
    )


def _command(kind: str, words: Any) -> dict[str, Any]:
    if isinstance(words, str):
        try:
            words = shlex.split(words)
        except ValueError as error:
            raise UsageError(f"{kind}: the command cannot be split ({error}); close the quotes") from None
    if not words:
        raise UsageError(f"{'--' if kind == 'command' else kind} needs a command after it")
    return {"command": words[0], "args": tuple(words[1:])}


def _address(transport: str, flag: str, text: str) -> dict[str, Any]:
    variables = Variables()
    try:
        url = checked_url(variables.put_in(text))
    except ValueError as error:
        raise UsageError(f"{flag}: {error}") from None
    return {"transport": transport, "url": url, "secrets": variables.secrets}


def _transport(text: str) -> dict[str, Any]:
    """Our own transports are read as their own flags read them; another package's address is its own."""
    name, equals, address = text.partition("=")
    if not equals or not name or not address:
        raise UsageError(
            f"--transport: {name!r} is not NAME=ADDRESS; write for example http=https://host/mcp"
        )
    if name in ("http", "sse"):
        return _address(name, "--transport", address)
    if name == "stdio":
        return _command("--transport stdio", address)
    return {"transport": name, "url": address}


def _refuse_strangers(draft: _Draft, transport: str) -> None:
    """An option of the target itself that its transport has no use for is a mistake; one that stands
    before all targets is for those that can use it."""
    if transport == "stdio" and "headers" in draft.options:
        raise UsageError(_NO_HEADER)
    if transport not in ("http", "sse") and "oauth" in draft.options:
        raise UsageError("options of authorization are for HTTP targets, and this is none; leave them out")
    for member, flag in (("env", "--env"), ("cwd", "--cwd")) if transport in ("http", "sse") else ():
        if member in draft.options:
            raise UsageError(f"{flag} is for commands, and this target is a URL; leave it out")


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
