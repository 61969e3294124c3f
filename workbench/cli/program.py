"""The click program: finds the command, which is then loaded, and nothing else."""

from __future__ import annotations

import atexit
import gc
import importlib
import os
import sys
from collections.abc import Sequence

import click

from workbench.cli.failures import STATUSES, guarded

#: Command -> module and function. The modules import what they need when they run, not before.
COMMANDS = {
    "demo": "workbench.cli.demo:demo",
    "probe": "workbench.cli.probe:probe",
    "doctor": "workbench.cli.doctor:doctor",
    "request": "workbench.cli.request:request",
    "call": "workbench.cli.request:call",
    "read": "workbench.cli.request:read",
    "prompt": "workbench.cli.request:prompt",
    "complete": "workbench.cli.request:complete",
    "record": "workbench.cli.light:record",
    "replay": "workbench.cli.light:replay",
    "login": "workbench.cli.login:login",
    "logout": "workbench.cli.login:logout",
    "logins": "workbench.cli.login:logins",
    "servers": "workbench.cli.servers:servers",
    "sessions": "workbench.cli.sessions:sessions",
    "open": "workbench.cli.screen:open_recording",
}

#: What runs when no command is named: the screen on the targets.
SCREEN = "workbench.cli.screen:screen"

NAME = "mcp-workbench"

EXIT_STATUSES = "\b\nExit status:\n" + "\n".join(f"  {number:>3}  {text}" for number, text in STATUSES)


def _load(place: str) -> click.Command:
    module, _, name = place.partition(":")
    command = getattr(importlib.import_module(module), name)
    assert isinstance(command, click.Command)
    return command


class Program(click.Group):
    """All commands, each loaded when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:  # noqa: ARG002
        return _load(COMMANDS[name]) if name in COMMANDS else None


@click.group(
    cls=Program,
    name=NAME,
    epilog=EXIT_STATUSES,
    context_settings={"help_option_names": ["--help"]},
)
@click.version_option(package_name="mcp-workbench", message="%(prog)s %(version)s")
def program() -> None:
    """A terminal workbench for the Model Context Protocol.

    \b
    mcp-workbench [TARGET…]         the screen, on any number of servers
    mcp-workbench COMMAND …         the same things without a screen

    \b
    A TARGET is a server, and stands last:
      -- CMD ARGS…          a stdio server: everything after -- is its command line
      --stdio 'CMD ARGS'    the same, as one word
      --http URL            a server over HTTP (--sse URL for the older kind)
      --replay FILE         a recording, replayed as a mock server
      @NAME                 a server of a config file (--config FILE, .mcp.json, …)

    After an internal error the log file has the traceback; --log FILE, anywhere on the line, names it.
    """


#: New objects between two looks for garbage. A start makes 100,000 that stay; looking through them again
#: and again, as Python does from 700 on, is a tenth of it.
_LOOK_EVERY = 50_000


def run(argv: Sequence[str]) -> int:
    """Run a command line; returns its exit status. ``--log FILE`` may stand anywhere before ``--``."""
    _provide_streams()
    gc.set_threshold(_LOOK_EVERY)
    # Nor need the interpreter look for garbage when it ends: that is another tenth of a short command.
    atexit.register(gc.freeze)
    arguments, log = _take_log(list(argv))

    def command() -> int:
        if log == "":
            raise click.UsageError("--log needs the name of a file.")
        status = _dispatch(arguments)
        return status if isinstance(status, int) else 0

    return guarded(command, log)


def _provide_streams() -> None:
    """Whoever starts us without a stdout or stderr gets a program that works and says nothing."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - open to the end


def _dispatch(arguments: list[str]) -> object:
    first = arguments[0] if arguments else ""
    if first in ("--help", "--version"):
        return _invoke(program, NAME, arguments[:1])
    if first in COMMANDS:
        return _invoke(_load(COMMANDS[first]), f"{NAME} {first}", arguments[1:])
    if first.startswith(("http://", "https://")):
        return _invoke(_load(SCREEN), NAME, ["--http", *arguments])
    if first[:1] in ("", "-", "@"):
        return _invoke(_load(SCREEN), NAME, arguments)
    import difflib

    near = difflib.get_close_matches(first, COMMANDS, 1)
    hint = (
        f" Did you mean {near[0]}?"
        if near
        else f" {NAME} --help lists them; a server's command stands after --."
    )
    raise click.UsageError(f"There is no command {first!r}.{hint}")


def _invoke(command: click.Command, name: str, arguments: list[str]) -> object:
    """As ``command.main`` without its handling of errors, which ends the process in its own ways."""
    with command.make_context(name, arguments) as context:
        return command.invoke(context)


def _take_log(argv: list[str]) -> tuple[list[str], str | None]:
    end = argv.index("--") if "--" in argv else len(argv)
    for place, word in enumerate(argv[:end]):
        if word == "--log":
            value = argv[place + 1] if place + 1 < end else ""
            return argv[:place] + argv[place + 2 :], value
        if word.startswith("--log="):
            return argv[:place] + argv[place + 1 :], word.removeprefix("--log=")
    return argv, None
