"""What is done with the servers' requests."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.tui.commands.command import Command
from workbench.tui.commands.command import command as of


def commands() -> Iterator[Command]:
    """Answering, and what answers by itself."""
    quiet = "field json line log text"
    yield of(
        "decline", "d", "decline", "Decline the request", "inbox live cancellable", avoids=quiet, hint=80
    )
    yield of(
        "reject",
        "d",
        "reject",
        "Refuse the request with an error",
        "inbox live refusable",
        avoids=quiet,
        hint=80,
    )
    yield of(
        "cancel_request",
        "c",
        "cancel",
        "Answer that the user cancelled",
        "inbox live cancellable",
        avoids=quiet,
        hint=75,
    )
    yield of(
        "answer_json",
        "e",
        "edit JSON",
        "Write the whole answer as JSON",
        "inbox live fillable",
        avoids=quiet,
        hint=60,
    )
    yield of(
        "answer_editor",
        "E",
        "editor",
        "Write the whole answer in $EDITOR",
        "inbox live fillable",
        avoids="line log text",
        hint=30,
    )
    yield of(
        "always",
        "R",
        "always so",
        "Have a rule answer so from now on",
        "inbox live asked",
        avoids=quiet,
        hint=70,
    )
    yield of("whole_request", "o", "open", "Open the request whole", "inbox asked", avoids=quiet, hint=50)
    yield of(
        "remove_rule", "d", "remove", "Let the rule answer no more", "inbox live rule", avoids=quiet, hint=80
    )
    yield of(
        "hold_roots",
        "",
        "ask for roots",
        "Ask before roots are told, or tell them at once",
        "live connection",
    )
