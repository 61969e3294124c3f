"""``doctor``: what this machine and terminal can do, and which step of connecting fails."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from workbench.cli import output
from workbench.cli.live import json_option
from workbench.cli.targets import TargetCommand, target_line
from workbench.errors import EXIT_CONNECTION, EXIT_OK

if TYPE_CHECKING:
    from workbench.config import Target
    from workbench.wire.diagnose import Step


@click.command(cls=TargetCommand)
@json_option
@click.pass_context
def doctor(ctx: click.Context, as_json: bool) -> int:
    """Say what this machine can do, or which step of connecting to TARGET fails.

    Without a target: versions, terminal, places of settings and recordings, programs that
    servers are started with. With one: each step on the way to it, from the command or the
    host's name to its lists, the first that fails with what to do about it. The exit status is 3
    when a step fails.
    """
    import anyio

    if not target_line(ctx).targets:
        from workbench.cli.doctor_machine import machine

        steps = machine()
    else:
        steps = anyio.run(_walk, target_line(ctx).only())
    failed = [step for step in steps if step.verdict == "failed"]
    if as_json:
        output.json_document({"ok": not failed, "steps": [step._asdict() for step in steps]})
    else:
        _print(steps)
    return EXIT_CONNECTION if failed else EXIT_OK


async def _walk(target: Target) -> list[Step]:
    from workbench.session.doctor import walk

    return [step async for step in walk(target)]


def _print(steps: list[Any]) -> None:
    rows = []
    for step in steps:
        mark = {"ok": "ok", "failed": "FAILED", "noted": ""}[step.verdict]
        rows.append(
            (mark, step.name, "" if step.seconds is None else output.seconds(step.seconds), step.says)
        )
        if step.verdict == "failed" and step.next:
            rows.append(("", "", "", step.next))
    output.table(("", "", "", ""), rows, header=False)
