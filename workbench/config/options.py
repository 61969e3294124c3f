"""The options of a target, each with one value, and what each does to a target that is being read.

An option takes what is known so far and its value; it raises ``ValueError`` with the end of a
sentence, which the reader puts the option's name before.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from workbench.config.oauth_options import OAUTH_OPTIONS
from workbench.config.targets import root_of
from workbench.config.urls import checked_header, read_header
from workbench.config.variables import Variables
from workbench.core.methods import LOG_LEVELS
from workbench.core.rules import rule_from

#: How the first contact with a server is made: found out, with a handshake, without one.
ERAS = ("auto", "legacy", "modern")


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


def _capability(options: dict[str, Any], value: str) -> None:
    name, equals, text = value.partition("=")
    try:
        declared = json.loads(text) if equals else {}
    except ValueError:
        raise ValueError(f"{text!r} is not JSON; write for example --capability 'sampling={{}}'") from None
    _switch(options, name, declared)


def _no_capability(options: dict[str, Any], value: str) -> None:
    _switch(options, value, None)


def _switch(options: dict[str, Any], name: str, declared: Any) -> None:
    if not all(name.split(".")):
        raise ValueError(f"{name!r} is no capability; write for example sampling or sampling.tools")
    options["switched"] = (*options.get("switched", ()), (name, declared))


def _client_info(options: dict[str, Any], value: str) -> None:
    try:
        info = json.loads(value)
    except ValueError as error:
        raise ValueError(f"the value is not JSON ({error}); write for example {_EXAMPLE_INFO}") from None
    if not isinstance(info, dict):
        raise ValueError(f"the value is no JSON object; write for example {_EXAMPLE_INFO}")
    options["client_info"] = info


_EXAMPLE_INFO = """'{"name":"me","version":"1"}'"""


def _header(options: dict[str, Any], value: str) -> None:
    name, text = read_header(value)
    variables = Variables()
    options.setdefault("headers", {})[name] = checked_header(name, variables.put_in(text))
    options.setdefault("secrets", {}).update(variables.secrets)


def _input(options: dict[str, Any], value: str) -> None:
    name, equals, text = value.partition("=")
    if not equals or not name:
        raise ValueError(f"{name!r} is not ID=VALUE; write for example --input api-key=abc")
    options.setdefault("inputs", {})[name] = text


def _root(options: dict[str, Any], value: str) -> None:
    options["roots"] = (*options.get("roots", ()), root_of(value))


def _answer(options: dict[str, Any], value: str) -> None:
    options["rules"] = (*options.get("rules", ()), rule_from(value))


def _log_level(options: dict[str, Any], value: str) -> None:
    if value not in LOG_LEVELS:
        raise ValueError(f"{value!r} is no level; use one of {', '.join(LOG_LEVELS)}")
    options["log_level"] = value


def _era(options: dict[str, Any], value: str) -> None:
    if value not in ERAS:
        raise ValueError(f"{value!r} is no era; use one of {', '.join(ERAS)}")
    options["era"] = value


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
    "--capability": _capability,
    "--no-capability": _no_capability,
    "--client-info": _client_info,
    "--require": _collected("require"),
    "--root": _root,
    "--answer": _answer,
    "--log-level": _log_level,
    "--era": _era,
    "--header": _header,
    "--input": _input,
    "--config": _collected("config"),
    **OAUTH_OPTIONS,
}
