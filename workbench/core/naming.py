"""A short name for a server, found in its command line.

People know a server by its package (``npx -y @scope/server-git`` is ``git``),
not by the program that runs it.
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


def suggest_name(command: str, args: Sequence[str]) -> str:
    """A name for a command line, never empty."""
    program = _SUFFIX.sub("", os.path.basename(command))
    word = program
    if re.sub(r"[\d.]+$", "", program) in _RUNNERS:
        word = _subject(args) or program
    return _short(word) or program or "server"


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
