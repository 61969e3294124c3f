"""How a command ends when something goes wrong: one sentence on stderr, and its exit status."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable

from workbench.core.printable import printable_lines
from workbench.errors import EXIT_INTERNAL, EXIT_INTERRUPTED, EXIT_OK, EXIT_USAGE, WorkbenchError

#: What each exit status means; shown by ``--help`` and in the reference.
STATUSES = (
    (0, "success; also when whoever read the output closed it early"),
    (2, "usage: the command line or a setting is wrong"),
    (3, "connection: the server could not be started, did not finish the handshake, ended or gave no answer"),
    (4, "protocol: the server answered with an error, or broke the protocol"),
    (5, "tool error: the tool's result says isError"),
    (6, "mismatch: a replay or a verification did not agree"),
    (7, "recording: a recording cannot be read or written"),
    (70, "internal error: the traceback is in the log file (--log FILE)"),
    (130, "interrupted"),
)


_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EIO)


def guarded(command: Callable[[], int], log: str | None) -> int:
    """The exit status of a command, whatever it raises; nobody ever sees a traceback."""
    import click

    try:
        status = command()
        sys.stdout.flush()
        return status
    except WorkbenchError as error:
        say(str(error))
        return error.exit_status
    except click.exceptions.NoArgsIsHelpError as error:
        print(error.format_message(), file=sys.stderr)
        return EXIT_USAGE
    except click.UsageError as error:
        hint = f" Try '{error.ctx.command_path} --help'." if error.ctx else ""
        say(f"{error.format_message()}{hint}")
        return EXIT_USAGE
    except click.ClickException as error:
        say(error.format_message())
        return EXIT_USAGE
    except click.exceptions.Exit as end:
        return end.exit_code
    except (KeyboardInterrupt, click.Abort):
        say("interrupted")
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        drop_stdout()
        return EXIT_OK
    except OSError as error:
        if error.errno not in _NO_ROOM:
            return _internal(error, log)
        say(f"the output cannot be written: {error.strerror}; make room, then run it again")
        drop_stdout()
        return EXIT_INTERNAL
    except Exception as error:
        return _internal(error, log)


def say(sentence: str) -> None:
    """One line for a person, on stderr; a stderr that is gone is no reason to fail."""
    try:
        print(f"mcp-workbench: {printable_lines(sentence)}", file=sys.stderr, flush=True)
    except OSError:
        return


def drop_stdout() -> None:
    """Stop writing to a pipe that was closed, so that the interpreter's last flush is quiet."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)


def _internal(error: Exception, log: str | None) -> int:
    path = log or default_log()
    try:
        _write_traceback(error, path)
    except OSError as trouble:
        say(f"internal error: {error!r} (and the log file cannot be written: {trouble})")
        return EXIT_INTERNAL
    say(f"internal error: {type(error).__name__}; please report it with what stands in {path}")
    return EXIT_INTERNAL


def _write_traceback(error: Exception, path: str) -> None:
    import time
    import traceback

    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    opener = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    with os.fdopen(opener, "a", encoding="utf-8", errors="backslashreplace") as file:
        file.write(time.strftime("\n%Y-%m-%d %H:%M:%S %z\n"))
        file.writelines(traceback.format_exception(error))


def default_log() -> str:
    """Where tracebacks go without ``--log``: the user's state folder."""
    state = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(state, "mcp-workbench", "log.txt")
