"""Which parts of a command line, a URL or a header are credentials, by the names they are given under."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from workbench.core.naming import unique_name

_NAME = re.compile(
    r"token|secret|passw(or)?d|passphrase|api[-_]?key|access[-_]?key|private[-_]?key|credential|cookie"
    r"|bearer|(^|[-_])(auth|authorization|pat|pwd|key)($|[-_])",
    re.IGNORECASE,
)
_ASSIGNED = re.compile(r"^(--?[A-Za-z][\w-]*|[A-Za-z_]\w*)=(.+)$", re.DOTALL)
_HEADER = re.compile(r"^([A-Za-z][A-Za-z-]*):\s*(?:(?:Bearer|Basic|Token)\s+)?(\S.*)$", re.DOTALL)
_SCHEME = re.compile(r"^(?:[A-Za-z][\w-]*\s+)(?=\S)")
_QUERY = re.compile(r"(?<=[?&;])([^=&;#\s]+)=([^&;#\s]+)")
USER_INFO = re.compile(r"(?<=://)[^/@\s]*?:([^/@\s]+)(?=@)")


def is_secret_name(name: str) -> bool:
    """Whether a variable, option or header of this name usually carries a secret."""
    return _NAME.search(name) is not None


def is_secret_header(name: str) -> bool:
    """Whether a header or a parameter of a URL of this name usually carries a secret. They name
    credentials more loosely than programs do: anything with ``key`` in it counts."""
    return is_secret_name(name) or "key" in name.lower() or name.lower() in ("sig", "signature")


def header_secrets(name: str, value: str) -> list[str]:
    """The credentials in a header: what follows the scheme in ``Authorization``, each value of a
    cookie, else all of it; none when the name does not look like it."""
    if not is_secret_header(name):
        return []
    if name.lower() in ("cookie", "set-cookie"):
        parts = [part.partition("=")[2].strip() for part in value.split(";")]
        return [part for part in parts if part] or [value]
    return [_SCHEME.sub("", value) if "auth" in name.lower() else value]


def url_secrets(url: str) -> list[tuple[str, str]]:
    """The names and values of the credentials in a URL, as they are written there."""
    found = [("password", secret) for secret in USER_INFO.findall(url)]
    return found + [(name, value) for name, value in _QUERY.findall(url) if is_secret_header(name)]


def given_secrets(env: Mapping[str, str | None], args: Sequence[str]) -> dict[str, str]:
    """The values a recording must not hold, by the name they were given under: the variables of
    ``env``, and arguments that look like credentials. The recorder decides which of them are too
    short or too common to look for. A name that is given twice is told apart (``token-2``)."""
    found = {name: value for name, value in env.items() if value}
    for secrets in secret_arguments(args):
        for name, value in secrets:
            found[unique_name(name, found)] = value
    return found


def plain_arguments(args: Sequence[str]) -> list[str]:
    """The arguments that hold no credential, for what is made of a command line (a name)."""
    return [word for word, secrets in zip(args, secret_arguments(args), strict=True) if not secrets]


def secret_arguments(args: Sequence[str]) -> list[list[tuple[str, str]]]:
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
    return [("password", secret) for secret in USER_INFO.findall(argument)]
