"""The commands that do without click, as the help and the reference know them.

``workbench.cli.main`` runs them before this module is ever loaded.
"""

from __future__ import annotations

from importlib import import_module

import click

#: Commands of ``replay`` that click reads, loaded when they are asked for.
_LOADED = {
    "client": "workbench.cli.replay_client",
    "report": "workbench.cli.replay_report",
}


class _Replay(click.Group):
    """``server`` is here; the others are loaded when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*super().list_commands(ctx), *_LOADED]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in _LOADED:
            return super().get_command(ctx, name)
        command = getattr(import_module(_LOADED[name]), name)
        assert isinstance(command, click.Command)
        return command


@click.command(add_help_option=False, context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1)
def record(arguments: tuple[str, ...]) -> int:
    """Stand in for a server and record what passes."""
    from workbench.cli.record import main

    return main(list(arguments))


@click.group(cls=_Replay)
def replay() -> None:
    """Use a recording in place of a server or of a client."""


@replay.command(add_help_option=False, context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1)
def server(arguments: tuple[str, ...]) -> int:
    """Serve a recording as a mock server, over stdio or over HTTP."""
    from workbench.cli.replay_server import main

    return main(list(arguments))
