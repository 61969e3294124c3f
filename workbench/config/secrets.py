"""Which parts of a target are nobody's business, and how a target is shown without them."""

from __future__ import annotations

import shlex

from workbench.config.targets import Target
from workbench.core.credentials import USER_INFO, given_secrets, is_secret_name, secret_arguments

#: What stands where a secret stood.
MASK = "***"


def secrets_of(target: Target) -> dict[str, str]:
    """The values a recording must not hold, by the name they were given under."""
    return given_secrets(target.env, target.args)


def shown_command(target: Target) -> list[str]:
    """The command line with its secrets masked."""
    masked: list[str] = []
    for argument, secrets in zip(target.args, secret_arguments(target.args), strict=True):
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
            shown[name] = MASK if is_secret_name(name) else USER_INFO.sub(f"{MASK}:{MASK}", value)
    return shown


def display(target: Target) -> str:
    """A target as it is shown, stored and copied: one line, as typed, without secrets."""
    if target.recording is not None:
        return f"replay {target.recording}"
    return shlex.join(shown_command(target))
