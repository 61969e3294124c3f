"""Finding the program of a server, and saying why it cannot be started.

The search is done here and not left to ``exec``, because ``exec`` only says "No
such file or directory" for four different mistakes. Each of them gets its own
sentence with the command, the PATH that was used and the working directory.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from typing import Protocol

from workbench.errors import ConnectionFailed


class Startable(Protocol):
    """What is needed of a target to start it. The stand-in has one of its own, because the
    configuration's costs more to import than everything else the stand-in does."""

    @property
    def command(self) -> str: ...

    @property
    def cwd(self) -> str | None: ...

    @property
    def env(self) -> Mapping[str, str | None]: ...


class NotStarted(ConnectionFailed):
    """A server could not be started. ``why`` is a sentence, ``next_step`` another one."""

    def __init__(self, why: str, next_step: str) -> None:
        super().__init__(f"{why} {next_step}")
        self.why = why
        self.next_step = next_step


def environment_of(target: Startable, inherited: Mapping[str, str] | None = None) -> dict[str, str]:
    """What the server sees: the inherited environment with the target's own variables put over
    it. A variable the target gives as ``None`` is removed."""
    environment = dict(os.environ if inherited is None else inherited)
    for name, value in target.env.items():
        if value is None:
            environment.pop(name, None)
        else:
            environment[name] = value
    return environment


def find_program(target: Startable, environment: Mapping[str, str]) -> str:
    """The path of the target's program. Raises ``NotStarted``.

    A command with a slash is looked up from the working directory, as ``exec`` would do it.
    """
    command, folder = target.command, _folder(target)
    if "/" in command or os.path.isabs(command):
        path = os.path.join(folder, os.path.expanduser(command))
        if not os.path.exists(path):
            raise NotStarted(
                f"{command!r} cannot be started: there is no file {path}{_where(folder)}.",
                _foreign(command) or "Give the path of the program, or the folder to start in with --cwd.",
            )
        _must_be_program(command, path, folder)
        return path
    search = environment.get("PATH", os.defpath)
    refused = ""
    for place in search.split(os.pathsep):
        path = os.path.join(folder, place or os.curdir, command)
        if os.path.isfile(path):
            if os.access(path, os.X_OK):
                return path
            refused = refused or path
    if refused:
        _must_be_program(command, refused, folder)
    raise NotStarted(
        f"{command!r} cannot be started: no such command in PATH ({search or 'empty'}){_where(folder)}.",
        _foreign(command) or "Install it, or give the full path of the program.",
    )


def explain(target: Startable, path: str, error: OSError) -> NotStarted:
    """What ``exec`` refusing a program that was found means."""
    folder = _folder(target)
    if error.errno == errno.ENOEXEC:
        return NotStarted(
            f"{target.command!r} cannot be started: {path} is neither a program for this machine"
            f" nor a script with a #! line{_where(folder)}.",
            _foreign(target.command) or f"Put its interpreter before it, for example: sh {path}",
        )
    if error.errno == errno.ENOENT:
        return NotStarted(
            f"{target.command!r} cannot be started: the interpreter its first line names"
            f" ({_interpreter(path)}) is not there{_where(folder)}.",
            "Install the interpreter, or correct the first line of the script.",
        )
    if error.errno == errno.E2BIG:
        return NotStarted(
            f"{target.command!r} cannot be started: arguments and environment are too long.",
            "Give the server less of them.",
        )
    return NotStarted(
        f"{target.command!r} cannot be started: {path}: {error.strerror or error}{_where(folder)}.",
        "Check the file, its permissions and the machine's limits.",
    )


def _folder(target: Startable) -> str:
    folder = os.path.abspath(os.path.expanduser(target.cwd or os.curdir))
    if not os.path.isdir(folder):
        what = "is not a folder" if os.path.exists(folder) else "does not exist"
        raise NotStarted(
            f"{target.command!r} cannot be started: the working directory {folder} {what}.",
            "Create it, or name another one with --cwd.",
        )
    return folder


def _must_be_program(command: str, path: str, folder: str) -> None:
    if os.path.isdir(path):
        raise NotStarted(
            f"{command!r} cannot be started: {path} is a folder{_where(folder)}.",
            "Give the path of the program in it.",
        )
    if not os.access(path, os.X_OK):
        raise NotStarted(
            f"{command!r} cannot be started: {path} is not executable{_where(folder)}.",
            _foreign(command) or f"Make it executable (chmod +x {path}), or put its interpreter before it.",
        )


def _foreign(command: str) -> str:
    """What to do about a name from a configuration that was written for Windows."""
    stem, ending = os.path.splitext(command)
    if os.name == "nt" or ending.lower() not in _WINDOWS:
        return ""
    return f"{ending} is for Windows; leave it away on this machine: {stem}"


_WINDOWS = (".cmd", ".bat", ".ps1", ".exe")


def _where(folder: str) -> str:
    return f", working directory {folder}"


def _interpreter(path: str) -> str:
    try:
        with open(path, "rb") as file:
            line = file.readline(256)
    except OSError:
        return "unreadable"
    return line.removeprefix(b"#!").strip().decode("utf-8", "replace") if line[:2] == b"#!" else "none"
