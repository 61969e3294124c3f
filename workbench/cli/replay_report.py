"""``replay report FILE…``: what several replays told, as one."""

from __future__ import annotations

from typing import Any

import click

from workbench.cli import output
from workbench.cli.live import json_option
from workbench.cli.replay_client import write_report
from workbench.errors import EXIT_MISMATCH, EXIT_OK, RecordingError, UsageError
from workbench.replay.junit import agrees, cases, document, is_report, summary, title


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@click.option("--junit", metavar="FILE", help="Write them as JUnit XML.")
@json_option
def report(files: tuple[str, ...], junit: str | None, as_json: bool) -> int:
    """Join reports of replays, and set the exit status.

    FILE is what `replay server --report` or `replay client --report` wrote. The exit status is 6 if
    one of them does not agree.
    """
    reports = [each for file in files for each in _read(file)]
    if junit is not None:
        write_report(junit, document(reports))
    whole = all(map(agrees, reports))
    if as_json:
        output.json_document({"verdict": "ok" if whole else "mismatch", "reports": reports})
    else:
        for each in reports:
            _print(each)
    return EXIT_OK if whole else EXIT_MISMATCH


def _print(told: dict[str, Any]) -> None:
    output.line(f"{title(told)}  {summary(told)}")
    for case in cases(told):
        if case.failure:
            output.line(f"  {case.name}: {case.failure}")
            for line in case.details.splitlines():
                if line not in case.failure:
                    output.line(f"    {line}")


def _read(file: str) -> list[dict[str, Any]]:
    from workbench.core.jsonrpc import loads

    try:
        with open(file, "rb") as opened:
            value = loads(opened.read())
    except OSError as error:
        raise RecordingError(f"The report {file} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError):
        value = None
    several = value.get("reports") if isinstance(value, dict) and "reports" in value else [value]
    if not isinstance(several, list) or not all(map(is_report, several)):
        raise UsageError(f"{file} is no report of a replay; write one with --report")
    return several
