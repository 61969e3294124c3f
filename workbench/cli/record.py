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
       mcp-workbench record [OPTIONS] --http URL

Stand in for an MCP server and record what passes.

Put the first form before a server's command, in a host's configuration or in a
shell. The server is started, and everything is passed on unchanged, in both
directions; its stderr goes to our stderr. Nothing of ours is written to stdout.

The second form stands before a server over HTTP, streamable or with SSE, at the
address that --listen names. It says on stdout which URL clients use in place of
the server's. All paths of the server are there, many clients may come at once,
and each is a connection of its own in the recording. ctrl-C ends it.

Options:
  -o, --output FILE  record into FILE; without it into a new file in your store,
                     where `mcp-workbench sessions list` shows it while it grows
  --force            replace FILE if it exists
  --name NAME        name of the session and of its connection; default: found
                     in the command or URL
  --group NAME       list the session as part of a group
  --no-redact        keep secrets in the recording
  -v, --verbose      say on stderr where the recording is (on a terminal it is
                     said anyway; a host shows a server's stderr as trouble)
  -h, --help         show this help

For a command:
  --env NAME=VALUE   a variable for the server, beside those it inherits; may be
                     repeated
  --cwd DIR          the folder to start the server in

For a URL (--sse URL is the same for a server of the older HTTP with SSE):
  --header 'NAME: VALUE'  a header of every request to the server; VALUE may hold
                     ${VAR}; may be repeated
  --token-env VARIABLE  a token for the server, from a variable, so that clients
                     need none

What clients see:
  --front stdio|http another transport on their side: HTTP before a command, which
                     is started for each client, or standard input and output
                     before a URL
  --listen HOST:PORT where to listen for HTTP; default 127.0.0.1 and any free port
  --ready-file FILE  write the URL there once clients can come
  --host NAME        a name by which clients may call us, beside localhost; may be
                     repeated
  --anywhere         let other machines come; without it only this one's addresses
                     can be listened on

Exit status: the server's own; 128 and the number of the signal that ended it, or
us; 2 wrong usage; 3 the server could not be started; 7 the recording could not be
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
    "--http": "http",
    "--sse": "sse",
    "--header": "header",
    "--token-env": "token-env",
    "--front": "front",
    "--listen": "listen",
    "--ready-file": "ready-file",
    "--host": "host",
}
_SWITCHES = {
    "--force": "force",
    "--no-redact": "no-redact",
    "--anywhere": "anywhere",
    "-v": "verbose",
    "--verbose": "verbose",
}

#: What is for one kind of server, or for one kind of client, alone.
_OF_COMMANDS = ("env", "cwd")
_OF_URLS = ("header", "token-env")
_OF_LISTENING = ("listen", "ready-file", "host", "anywhere")


def main(argv: Sequence[str]) -> int:
    """Run ``record`` with the arguments after its name; returns the exit status."""
    try:
        options, words = _read(argv)
        if options is None:
            return _help()
        tell = "verbose" in options or os.isatty(2)
        over_http, front = _sides(options, words)
        if over_http or front == "http":
            from workbench.cli import record_http

            return record_http.run(options, words, front, tell=tell)
        command = Command(words[0], tuple(words[1:]), environment(options), last(options, "cwd"))
        return stand_in(recording(options, command, last(options, "name") or ""), tell=tell)
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
    return options, words


def _sides(options: dict[str, list[str]], words: list[str]) -> tuple[bool, str]:
    """Whether the server is one over HTTP, and what clients see: ``stdio`` or ``http``."""
    urls = options.get("http", []) + options.get("sse", [])
    if not words and not urls:
        raise UsageError("record needs a command or a URL: mcp-workbench record [OPTIONS] -- CMD ARGS…")
    if len(urls) + bool(words) > 1:
        raise UsageError("record stands before one server; give one command, or one URL.")
    front = last(options, "front") or ("http" if urls else "stdio")
    if front not in ("stdio", "http"):
        raise UsageError(f"--front is one of stdio, http, not {front}.")
    for names, fits, what in (
        (_OF_COMMANDS, bool(words), "commands, and the server is a URL"),
        (_OF_URLS, bool(urls), "URLs, and the server is a command"),
        (_OF_LISTENING, front == "http", "clients over HTTP; give --front http with it, or leave it out"),
    ):
        wrong = [name for name in names if name in options]
        if wrong and not fits:
            raise UsageError(f"--{wrong[0]} is for {what}.")
    return bool(urls), front


def recording(options: dict[str, list[str]], command: Command | None, name: str) -> Recording:
    """Where to record, and how."""
    output = last(options, "output")
    if output is None and "force" in options:
        raise UsageError("--force replaces the file that -o names; name one, or leave --force out.")
    if output is not None and os.path.exists(output) and "force" not in options:
        raise UsageError(f"{output} exists already; name another file, or replace it with --force.")
    return Recording(
        command=command,
        path=os.path.abspath(output) if output is not None else None,
        name=name,
        group=last(options, "group"),
        redact="no-redact" not in options,
        force="force" in options,
    )


def last(options: dict[str, list[str]], option: str) -> str | None:
    """The value that counts where an option is given several times."""
    return options[option][-1] if options.get(option) else None


def environment(options: dict[str, list[str]]) -> dict[str, str]:
    """The variables of ``--env``."""
    variables: dict[str, str] = {}
    for given in options.get("env", ()):
        name, equals, value = given.partition("=")
        if not name or not equals:
            raise UsageError(f"--env: {given!r} is not NAME=VALUE; write for example --env TOKEN=abc.")
        variables[name] = value
    return variables


def _help() -> int:
    try:
        sys.stdout.write(HELP)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return EXIT_OK
