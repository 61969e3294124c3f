"""Which parts of a target are nobody's business, and how a target is shown without them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from workbench.config.targets import Target

#: What stands where a secret stood.
MASK = "***"

_NAME = re.compile(
    r"token|secret|passw(or)?d|passphrase|api[-_]?key|access[-_]?key|private[-_]?key|credential|cookie"
    r"|bearer|(^|[-_])(auth|authorization|pat|pwd|key)($|[-_])",
    re.IGNORECASE,
)
_ASSIGNED = re.compile(r"^(--?[A-Za-z][\w-]*|[A-Za-z_]\w*)=(.+)$", re.DOTALL)
_HEADER = re.compile(r"^([A-Za-z][A-Za-z-]*):\s*(?:(?:Bearer|Basic|Token)\s+)?(\S.*)$", re.DOTALL)
_USER_INFO = re.compile(r"(?<=://)[^/@\s]*?:([^/@\s]+)(?=@)")


def is_secret_name(name: str) -> bool:
    """Whether a variable, option or header of this name usually carries a secret."""
    return _NAME.search(name) is not None


def secrets_of(target: Target) -> dict[str, str]:
    """The values a recording must not hold, by the name they were given under: the variables of
    ``env``, and arguments that look like credentials. The recorder decides which of them are too
    short or too common to look for."""
    found = {name: value for name, value in target.env.items() if value}
    for secrets in _arguments(target.args):
        for name, value in secrets:
            found.setdefault(name, value)
    return found


def shown_command(target: Target) -> list[str]:
    """The command line with its secrets masked."""
    masked: list[str] = []
    for argument, secrets in zip(target.args, _arguments(target.args), strict=True):
        for _, value in secrets:
            # A credential stands at the end of its argument, or in a URL before its host.
            before, _, after = argument.rpartition(value)
            argument = f"{before}{MASK}{after}"
        masked.append(argument)
    return [target.command, *masked]


def shown_environment(target: Target) -> dict[str, str]:
    """``env`` with its secrets masked; a removed variable is shown as ``(removed)``."""
    shown: dict[str, str] = {}
    for name, value in target.env.items():
        if value is None:
            shown[name] = "(removed)"
        else:
            shown[name] = MASK if is_secret_name(name) else _USER_INFO.sub(f"{MASK}:{MASK}", value)
    return shown


def display(target: Target) -> str:
    """A target as it is shown, stored and copied: one line, as typed, without secrets."""
    if target.recording is not None:
        return f"replay {target.recording}"
    return shlex.join(shown_command(target))


def _arguments(args: Sequence[str]) -> list[list[tuple[str, str]]]:
    """For each argument, the names and values of the credentials in it."""
    found: list[list[tuple[str, str]]] = []
    named = ""
    for argument in args:
        found.append(_secrets_in(argument, named))
        option = argument.lstrip("-")
        named = option if option != argument and "=" not in option and is_secret_name(option) else ""
    return found


def _secrets_in(argument: str, named: str) -> list[tuple[str, str]]:
    if named and not argument.startswith("--"):
        return [(named, argument)] if argument else []
    assigned, header = _ASSIGNED.match(argument), _HEADER.match(argument)
    if header and is_secret_name(header[1]):
        return [(header[1], header[2])]
    if assigned and is_secret_name(assigned[1]):
        return [(assigned[1].lstrip("-"), assigned[2])]
    return [("password", secret) for secret in _USER_INFO.findall(argument)]
