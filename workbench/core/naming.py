"""A short name for a server, found in its command line or its URL.

People know a server by its package (``npx -y @scope/server-git`` is ``git``),
not by the program that runs it, and a remote one by what its path names, else
by its host (``https://mcp.example.com/mcp`` is ``example``).
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence

#: Programs that run something else: the name is in their arguments.
_RUNNERS = frozenset(
    [
        *("npx", "npm", "pnpm", "bunx", "bun", "yarn", "node", "deno", "tsx"),
        *("uvx", "uv", "pipx", "python", "py", "pypy", "ruby", "sh", "bash", "env"),
    ]
)
#: First words of a runner that say how it runs, not what.
_VERBS = frozenset(("run", "exec", "dlx", "x", "tool"))
#: Options of runners whose value is not the name.
_VALUED = frozenset(("--directory", "--with", "--from", "--python", "-p", "--package", "--project", "-e"))

_SUFFIX = re.compile(r"\.(py|js|mjs|cjs|ts|sh|exe|cmd|rb)$")
_VERSION = re.compile(r"(?<=.)(@|==|>=|~=).*$")
_AROUND = re.compile(r"^(mcp-server-|server-|mcp-)|(-mcp-server|-mcp|-server)$")

#: Parts of a URL that say how a server is reached, not which it is.
_GENERIC = frozenset(
    ("mcp", "sse", "http", "api", "www", "server", "servers", "message", "messages", "stream", "rpc", "x")
)
#: What stands between a country's domain and the name (``example.co.uk``).
_SECOND_LEVEL = frozenset(("co", "com", "org", "net", "ac", "gov", "edu"))
_LOOPBACK = frozenset(("localhost", "127.0.0.1", "::1"))
#: A part of a path that reads like a name: begins with a letter, is short, and is no revision (``v1``).
_SUBJECT = re.compile(r"(?!v\d+$)@?[A-Za-z][A-Za-z0-9._-]{0,31}")
_WORD_OF_SECRET = re.compile(r"(^|[-_])(tokens?|secrets?|keys?|auth|s)($|[-_])", re.IGNORECASE)
#: What is this long without a break and has digits in it is an id or a credential, no name.
_ID = re.compile(r"(?=[A-Za-z]*\d)[A-Za-z0-9]{12,}")


def suggest_name(command: str, args: Sequence[str]) -> str:
    """A name for a command line, never empty."""
    program = _SUFFIX.sub("", os.path.basename(command))
    word = program
    if re.sub(r"[\d.]+$", "", program) in _RUNNERS:
        word = _subject(args) or program
    return _short(word) or program or "server"


def suggest_url_name(url: str) -> str:
    """A name for a URL, never empty. Nothing in it comes from the user, password or query."""
    from urllib.parse import unquote, urlsplit

    parts = urlsplit(url)
    subject = _path_subject([unquote(part) for part in parts.path.split("/") if part])
    return subject or _host_name(parts.hostname or "", parts.port) or "server"


def _path_subject(parts: Sequence[str]) -> str:
    """The last part of a path that names something; what follows a word for a secret never does."""
    subject = ""
    for before, part in zip(("", *parts), parts, strict=False):
        named = _SUBJECT.fullmatch(part) and not _ID.search(part) and part.lower() not in _GENERIC
        if named and not _WORD_OF_SECRET.search(part) and not _WORD_OF_SECRET.search(before):
            subject = part
    return _short(subject).lstrip("@") if subject else ""


def _host_name(host: str, port: int | None) -> str:
    at = f"-{port}" if port else ""
    if host in _LOOPBACK:
        return f"localhost{at}"
    labels = host.split(".")
    if ":" in host or labels[-1].isdigit() or len(labels) == 1:
        return host.replace(":", "-").strip("-") + at
    end = -2 if len(labels[-1]) == 2 and labels[-2] in _SECOND_LEVEL else -1
    kept = [label for label in labels[:end] if label not in _GENERIC]
    return "-".join(kept) or host


def unique_name(name: str, taken: Collection[str]) -> str:
    """``name``, or ``name-2``, ``name-3`` … when it is taken already."""
    if name not in taken:
        return name
    number = 2
    while f"{name}-{number}" in taken:
        number += 1
    return f"{name}-{number}"


def _subject(args: Sequence[str]) -> str:
    words = iter(args)
    for word in words:
        if word == "-m":
            return next(words, "").rpartition(".")[2]
        if word in _VALUED:
            next(words, "")
        elif not word.startswith("-") and word not in _VERBS and "=" not in word:
            return word
    return ""


def _short(word: str) -> str:
    word = _VERSION.sub("", word)
    word = _SUFFIX.sub("", os.path.basename(word.rstrip("/")))
    word = word.replace("_", "-")
    return _AROUND.sub("", word) or word
