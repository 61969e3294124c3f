"""The commands that do without click, as the help and the reference know them.

``workbench.cli.main`` runs them before this module is ever loaded.
"""

from __future__ import annotations

import click


@click.command(add_help_option=False, context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1)
def record(arguments: tuple[str, ...]) -> int:
    """Stand in for a server and record what passes."""
    from workbench.cli.record import main

    return main(list(arguments))


@click.group()
def replay() -> None:
    """Use a recording in place of a server."""


@replay.command(add_help_option=False, context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1)
def server(arguments: tuple[str, ...]) -> int:
    """Serve a recording as a mock server over stdio."""
    from workbench.cli.replay_server import main

    return main(list(arguments))
