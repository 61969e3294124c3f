"""The options of a target, each with one value, and what each does to a target that is being read.

An option takes what is known so far and its value; it raises ``ValueError`` with the end of a
sentence, which the reader puts the option's name before.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from workbench.core.methods import LOG_LEVELS


def _env(options: dict[str, Any], value: str) -> None:
    name, equals, text = value.partition("=")
    if not equals or not name:
        raise ValueError(f"{value!r} is not NAME=VALUE; write for example --env TOKEN=abc")
    options.setdefault("env", {})[name] = text


def _text(member: str) -> Callable[[dict[str, Any], str], None]:
    def take(options: dict[str, Any], value: str) -> None:
        options[member] = value

    return take


def _collected(member: str) -> Callable[[dict[str, Any], str], None]:
    def take(options: dict[str, Any], value: str) -> None:
        options[member] = (*options.get(member, ()), value)

    return take


def _seconds(*members: str) -> Callable[[dict[str, Any], str], None]:
    def take(options: dict[str, Any], value: str) -> None:
        try:
            seconds = float(value)
        except ValueError:
            raise ValueError(f"{value!r} is no number of seconds; write for example 30") from None
        if not seconds >= 0 or (seconds == 0 and members != ("shutdown",)):
            raise ValueError(f"{value!r} is no time to wait; give a positive number of seconds")
        options.setdefault("timeouts", {}).update(dict.fromkeys(members, seconds))

    return take


def _switch(on: bool) -> Callable[[dict[str, Any], str], None]:
    def take(options: dict[str, Any], value: str) -> None:
        options.setdefault("switched", {})[value] = on

    return take


def _root(options: dict[str, Any], value: str) -> None:
    uri = value if "://" in value else Path(value).expanduser().absolute().as_uri()
    name = uri.rstrip("/").rpartition("/")[2] or uri
    options["roots"] = (*options.get("roots", ()), {"uri": uri, "name": name})


def _log_level(options: dict[str, Any], value: str) -> None:
    if value not in LOG_LEVELS:
        raise ValueError(f"{value!r} is no level; use one of {', '.join(LOG_LEVELS)}")
    options["log_level"] = value


def _era(options: dict[str, Any], value: str) -> None:  # noqa: ARG001 - only one era to choose yet
    if value not in ("legacy", "auto"):
        raise ValueError(f"{value!r} is not supported yet; use legacy")


#: Options of a target, each with one value: flag -> what takes it.
OPTIONS: dict[str, Callable[[dict[str, Any], str], None]] = {
    "--env": _env,
    "--cwd": _text("cwd"),
    "--name": _text("name"),
    "--protocol-version": _text("offer"),
    "--timeout": _seconds("start", "request"),
    "--start-timeout": _seconds("start"),
    "--max-timeout": _seconds("maximum"),
    "--shutdown-timeout": _seconds("shutdown"),
    "--capability": _switch(True),
    "--no-capability": _switch(False),
    "--require": _collected("require"),
    "--root": _root,
    "--log-level": _log_level,
    "--era": _era,
    "--header": _collected("header"),
    "--config": _collected("config"),
}
