"""``mcp-workbench record``: read by hand, because loading click costs more than the stand-in itself."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from workbench.errors import EXIT_OK, UsageError, WorkbenchError
from workbench.standin import Command, Recording, stand_in
from workbench.standin.scribe import complain

HELP = """\
Usage: mcp-workbench record [OPTIONS] -- CMD ARGS…

Stand in for a stdio MCP server and record what passes.

Put this before a server's command, in a host's configuration or in a shell. The
server is started, and everything is passed on unchanged, in both directions;
its stderr goes to our stderr. Nothing of ours is ever written to stdout.

Options:
  -o, --output FILE  record into FILE; without it into a new file in your store,
                     where `mcp-workbench sessions list` shows it while it grows
  --force            replace FILE if it exists
  --name NAME        name of the session and of its connection; default: found
                     in the command
  --group NAME       list the session as part of a group
  --env NAME=VALUE   a variable for the server, beside those it inherits; may be
                     repeated
  --cwd DIR          the folder to start the server in
  --no-redact        keep secrets in the recording
  -v, --verbose      say on stderr where the recording is (on a terminal it is
                     said anyway; a host shows a server's stderr as trouble)
  -h, --help         show this help

Exit status: the server's own; 128 and the number of the signal that ended it;
2 wrong usage; 3 the server could not be started; 7 the recording could not be
made (the server has then not been started).

When the client closes our stdin or stops reading, the server's stdin is closed;
TERM follows after 2 s and KILL 1.5 s later. SIGTERM, SIGINT and SIGHUP are passed
on at once, and KILL follows after 1.5 s.
"""

_VALUED = {
    "-o": "output",
    "--output": "output",
    "--name": "name",
    "--group": "group",
    "--env": "env",
    "--cwd": "cwd",
}
_SWITCHES = {"--force": "force", "--no-redact": "no-redact", "-v": "verbose", "--verbose": "verbose"}


def main(argv: Sequence[str]) -> int:
    """Run ``record`` with the arguments after its name; returns the exit status."""
    try:
        options, words = _read(argv)
        if options is None:
            return _help()
        return stand_in(_recording(options, words), tell="verbose" in options or os.isatty(2))
    except WorkbenchError as error:
        complain(str(error))
        return error.exit_status


def _read(argv: Sequence[str]) -> tuple[dict[str, list[str]] | None, list[str]]:
    """The options before the command (``None``: help is asked for), and the command."""
    options: dict[str, list[str]] = {}
    words = list(argv)
    while words:
        word = words.pop(0)
        flag, equals, value = word.partition("=")
        if word == "--":
            break
        if word in ("-h", "--help"):
            return None, []
        if word in _SWITCHES:
            options[_SWITCHES[word]] = []
        elif flag in _VALUED:
            if not equals:
                if not words or words[0] == "--":
                    raise UsageError(f"{flag} needs a value; see mcp-workbench record --help.")
                value = words.pop(0)
            options.setdefault(_VALUED[flag], []).append(value)
        elif word.startswith("-"):
            raise UsageError(f"record has no option {flag}; see mcp-workbench record --help.")
        else:
            raise UsageError(f"Write -- before the command: mcp-workbench record [OPTIONS] -- {word} …")
    if not words:
        raise UsageError("record needs a command: mcp-workbench record [OPTIONS] -- CMD ARGS…")
    return options, words


def _recording(options: dict[str, list[str]], words: list[str]) -> Recording:
    def last(option: str) -> str | None:
        return options[option][-1] if option in options else None

    output = last("output")
    if output is None and "force" in options:
        raise UsageError("--force replaces the file that -o names; name one, or leave --force out.")
    if output is not None and os.path.exists(output) and "force" not in options:
        raise UsageError(f"{output} exists already; name another file, or replace it with --force.")
    return Recording(
        command=Command(words[0], tuple(words[1:]), _environment(options), last("cwd")),
        path=os.path.abspath(output) if output is not None else None,
        name=last("name") or "",
        group=last("group"),
        redact="no-redact" not in options,
        force="force" in options,
    )


def _environment(options: dict[str, list[str]]) -> dict[str, str]:
    environment: dict[str, str] = {}
    for given in options.get("env", ()):
        name, equals, value = given.partition("=")
        if not name or not equals:
            raise UsageError(f"--env: {given!r} is not NAME=VALUE; write for example --env TOKEN=abc.")
        environment[name] = value
    return environment


def _help() -> int:
    try:
        sys.stdout.write(HELP)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return EXIT_OK
