"""``servers``: the servers that the config files here hold, and our own list of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from workbench.cli import output
from workbench.cli.targets import TargetCommand, target_line
from workbench.core.printable import printable

if TYPE_CHECKING:
    from workbench.config.looking import Look
    from workbench.config.servers import FileServers

_config = click.option("--config", "configs", multiple=True, metavar="FILE", help="Look in this file first.")
_json = click.option("--json", "as_json", is_flag=True, help="Write one JSON document to stdout.")


class _Servers(click.Group):
    """Without a command it lists."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or (args[0].startswith("-") and args[0] != "--help"):
            args = ["list", *args]
        return super().parse_args(ctx, args)


@click.group(cls=_Servers)
def servers() -> None:
    """The servers of config files, for @NAME.

    Looked at are the files named with --config, those of the settings, the project's (.mcp.json,
    .vscode/mcp.json and .cursor/mcp.json in this folder and above), our own list, and the user's
    own of Claude Code, Claude Desktop, VS Code, Cursor and Windsurf.
    """


@servers.command("list")
@_config
@_json
def list_servers(configs: tuple[str, ...], as_json: bool) -> int:
    """Every file that was found, and each server in it with its state.

    ok: can be used. asks: came with a project, somebody has to agree first. disabled: switched off
    in its file, and usable all the same. bad: what is wrong, with file, line and column.
    """
    from workbench.config import load_settings
    from workbench.config.looking import look
    from workbench.config.servers import found_servers

    found = found_servers(configs, load_settings().config)
    looks = [(file, [look(entry) for entry in file.entries]) for file in found]
    if as_json:
        output.json_document({"files": [_file_document(file, seen) for file, seen in looks]})
        return 0
    if not looks:
        output.note(
            "No config file with servers was found; mcp-workbench servers keep NAME TARGET begins one."
        )
    for place, (file, seen) in enumerate(looks):
        _show(file, seen, first=not place)
    return 0


@servers.command(cls=TargetCommand)
@click.argument("name")
@_json
@click.pass_context
def keep(ctx: click.Context, name: str, as_json: bool) -> int:
    """Put a target on our own list, to be used as @NAME.

    What was given as ${VAR} is kept as that, so that no token stands in the file.
    """
    from workbench.config import keep_target

    path = keep_target(name, target_line(ctx).only())
    return _told(as_json, path, f"@{name} is kept in", name)


@servers.command()
@click.argument("name")
@_json
def forget(name: str, as_json: bool) -> int:
    """Take a server off our own list."""
    from workbench.config.own import forget as forget_server

    return _told(as_json, forget_server(name), f"@{name} is no more in", name)


@servers.command()
@click.argument("name")
@_config
@_json
def allow(name: str, configs: tuple[str, ...], as_json: bool) -> int:
    """Agree to what a project's file starts under a name.

    The yes is remembered for exactly that entry: when the file changes it, it is asked again.
    """
    from workbench.config import load_settings
    from workbench.config.consent import agree, asked_lines, consent_path
    from workbench.config.looking import look
    from workbench.config.servers import find_entry
    from workbench.errors import UsageError

    seen = look(find_entry(name, configs, load_settings().config))
    if seen.target is None:
        raise UsageError(seen.why)
    if not seen.target.claim:
        output.note(f"{seen.entry.where} is a file of your own; @{name} needs no agreement")
        return 0
    agree([seen.target])
    for line in asked_lines(seen.target):
        output.note(f"  {printable(line)}")
    return _told(as_json, consent_path(), f"agreed to @{name} of {seen.entry.where}, remembered in", name)


def _told(as_json: bool, path: Any, words: str, name: str) -> int:
    from workbench.config.files import short

    if as_json:
        output.json_document({"name": name, "file": str(path)})
    output.note(f"{words} {short(path)}")
    return 0


def _show(file: FileServers, seen: list[Look], *, first: bool) -> None:
    from workbench.config.files import short

    if not first:
        output.line("")
    output.heading(f"{short(file.file.path)}  {file.file.owner}")
    if file.fault:
        output.line(f"  {file.fault}")
    rows: list[tuple[str, str, str]] = []
    for one in seen:
        rows.append((one.entry.name, one.state, one.why or one.shown))
        rows += [("", "", f"asks for {wanted.id}: {wanted.question}") for wanted in one.inputs]
        rows += [("", "", note) for note in one.entry.notes]
    if rows:
        output.table(("", "", ""), rows, indent=2)


def _file_document(file: FileServers, seen: list[Look]) -> dict[str, Any]:
    return {
        "path": str(file.file.path.absolute()),
        "owner": file.file.owner,
        "project": file.file.project,
        "fault": file.fault or None,
        "servers": [_document(one) for one in seen],
    }


def _document(one: Look) -> dict[str, Any]:
    target = one.target
    return {
        "name": one.entry.name,
        "line": one.entry.document.place(one.entry.node.key)[0],
        "state": one.state,
        "why": one.why or None,
        "transport": target.transport if target is not None else None,
        "target": one.shown or None,
        "env": list(target.env) if target is not None else [],
        "headers": list(target.headers) if target is not None else [],
        "inputs": [wanted.id for wanted in one.inputs],
        "notes": list(one.entry.notes),
    }
