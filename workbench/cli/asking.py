"""Questions on the terminal that a target can need before it is started: inputs, and a yes.

Only a person at a terminal is asked, on stderr. A script is told how to say it
beforehand.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.cli import output
from workbench.core.printable import printable
from workbench.errors import UsageError

if TYPE_CHECKING:
    from workbench.config import Settings, Target
    from workbench.config.inputs import Input


def take_targets_asking(args: Sequence[str], settings: Settings) -> tuple[list[Target], list[str]]:
    """``take_targets``, with somebody asked for what is open and for what needs a yes."""
    from workbench.config import take_targets
    from workbench.config.inputs import InputsNeeded

    answers: dict[str, str] = {}
    while True:
        try:
            targets, rest = take_targets(args, settings, answers)
            break
        except InputsNeeded as needed:
            if not _somebody_is_there() or any(one.fault for one in needed.inputs):
                raise
            answers.update({one.id: _ask(one) for one in needed.inputs})
    _agree(targets)
    return targets, rest


def _agree(targets: Sequence[Target]) -> None:
    from workbench.config.consent import ConsentNeeded, agree, asked_lines, question, unagreed

    open_ones = unagreed(targets)
    if open_ones and not _somebody_is_there():
        raise ConsentNeeded(open_ones)
    for target in open_ones:
        output.note(printable(question(target)))
        for line in asked_lines(target):
            output.note(f"  {printable(line)}")
        answer = _line("Do it? [y]es, always   [o]nce   [N]o: ").strip().lower()
        if answer in ("y", "yes"):
            agree([target])
        elif answer not in ("o", "once"):
            raise UsageError(f"{target.name} is not started, because nobody agreed to it")


def _ask(wanted: Input) -> str:
    from workbench.config.inputs import check_choice

    question = printable(wanted.question)
    if wanted.choices:
        output.note(f"{question}: {printable(', '.join(label for _, label in wanted.choices))}")
    default = f" [{printable(wanted.default)}]" if wanted.default and not wanted.password else ""
    while True:
        answer = _password(f"{question}: ") if wanted.password else _line(f"{question}{default}: ")
        try:
            return check_choice(wanted, answer or wanted.default or "")
        except ValueError as error:
            output.note(f"{error}; choose one of them")


def _line(prompt: str) -> str:
    print(prompt, end="", file=sys.stderr, flush=True)
    line = sys.stdin.readline()
    if not line:
        print(file=sys.stderr)
        raise UsageError("the question was not answered; nothing was started")
    return line.rstrip("\n")


def _password(prompt: str) -> str:
    from getpass import getpass

    try:
        return getpass(prompt, sys.stderr)
    except EOFError:
        raise UsageError("the question was not answered; nothing was started") from None


def _somebody_is_there() -> bool:
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()
