"""Agreement to what a project's file starts.

A file that came with a project can name any command. So what it asks for is
shown whole and started only after a yes, and the yes is for exactly that: for
this file, this entry as it is written, and what it comes to with its variables
put in. When any of that changes, it is asked again.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from workbench.config.entries import Entry, entry_values
from workbench.config.files import short
from workbench.config.place import settings_path
from workbench.config.saving import write_private
from workbench.config.secrets import display, shown_command, shown_environment, shown_headers, shown_url
from workbench.config.targets import Target, make_target
from workbench.errors import UsageError


class ConsentNeeded(UsageError):
    """Targets of a project's file that nobody has agreed to."""

    def __init__(self, targets: Iterable[Target]) -> None:
        self.targets = tuple(targets)
        first = self.targets[0]
        super().__init__(
            f"{short(first.origin)} asks to {_verb(first)} {first.name}: {display(first)}; "
            f"agree with --yes for this time, or with: mcp-workbench servers allow {shlex.quote(first.name)}"
        )


def consent_path(environ: Mapping[str, str] | None = None) -> Path:
    """Where agreements are remembered (it need not exist)."""
    return settings_path(environ).with_name("consent.json")


def claim_of(entry: Entry, environ: Mapping[str, str] | None = None) -> str:
    """What a yes to an entry is remembered by; empty when it needs none. Raises ``UsageError`` as
    ``entry_values`` does.

    Secrets count as masked: a token that is renewed is no reason to ask again, for what is done
    with it stands in the entry. An input that is typed each time counts as its place.
    """
    if not entry.file.project:
        return ""
    target = make_target(entry.where, entry_values(entry, None, environ))
    parts = [
        os.path.realpath(entry.file.path),
        *entry.path,
        entry.name,
        entry.node.plain(),
        *asked_lines(target),
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def needs_consent(target: Target, environ: Mapping[str, str] | None = None) -> bool:
    """Whether somebody has to say yes before the target is started."""
    return bool(target.claim) and target.claim not in _agreements(consent_path(environ))


def unagreed(targets: Iterable[Target], environ: Mapping[str, str] | None = None) -> list[Target]:
    """Those of the targets that need a yes first."""
    return [target for target in targets if needs_consent(target, environ)]


def asked_lines(target: Target) -> list[str]:
    """What would be done, whole, a line each: the command and its folder, or the address, and what
    goes with it. Nothing in it is shortened, and secrets are masked."""
    if target.transport != "stdio":
        headers = [f"{name}: {value}" for name, value in shown_headers(target).items()]
        return [shown_url(target), *([f"with the headers {', '.join(headers)}"] if headers else [])]
    lines = [shlex.join(shown_command(target)), f"in {os.path.abspath(target.cwd or os.curdir)}"]
    variables = [f"{name}={value}" for name, value in shown_environment(target).items()]
    return lines + ([f"with the variables {', '.join(variables)}"] if variables else [])


def question(target: Target) -> str:
    """The sentence before those lines."""
    return f"{short(target.origin)} asks to {_verb(target)} {target.name}:"


def agree(targets: Iterable[Target], environ: Mapping[str, str] | None = None) -> None:
    """Remember a yes to targets, for as long as they stay what they are. Raises ``UsageError`` when
    that cannot be written down."""
    path = consent_path(environ)
    known = _agreements(path)
    since = datetime.now(UTC).isoformat(timespec="seconds")
    for target in targets:
        if target.claim:
            known[target.claim] = {"file": target.origin, "name": target.name, "since": since}
    write_private(path, json.dumps({"allowed": known}, indent=2) + "\n")


def _agreements(path: Path) -> dict[str, Any]:
    """What was agreed to; a file that says nothing clear says no."""
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    allowed = value.get("allowed") if isinstance(value, dict) else None
    return allowed if isinstance(allowed, dict) else {}


def _verb(target: Target) -> str:
    return "start" if target.transport == "stdio" else "connect to"
