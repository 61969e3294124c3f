"""From a typed line to connections, with the questions on the way: what a file leaves open, and a yes
to what a project's file starts."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING

from workbench.tui.ask import Ask
from workbench.tui.desk import Desk, Prepared

if TYPE_CHECKING:
    from workbench.config.inputs import Input

#: Told when it is done.
Done = Callable[[], object]


class Admission:
    """One line on its way. Questions are asked in ``ask``, one after the other."""

    def __init__(self, desk: Desk, ask: Ask, line: str, done: Done) -> None:
        self._desk = desk
        self._ask = ask
        self._line = line
        self._done = done
        self._inputs: dict[str, str] = {}

    def go(self) -> str:
        """Go on as far as nobody has to be asked; returns a sentence when it cannot be."""
        prepared = self._desk.prepare(self._line, self._inputs)
        if prepared.wrong:
            return prepared.wrong
        if prepared.inputs:
            self._ask_for(prepared.inputs[0])
        elif prepared.unagreed:
            self._ask_to_agree(prepared)
        else:
            return self._open(prepared, remember=False)
        return ""

    def _ask_for(self, wanted: Input) -> None:
        def answer(text: str) -> str:
            from workbench.config.inputs import check_choice

            try:
                self._inputs[wanted.id] = check_choice(wanted, text or wanted.default or "")
            except ValueError as error:
                return f"{error}; type one of them."
            return self.go()

        labels = ", ".join(label for _, label in wanted.choices)
        about = f"{wanted.question}: {labels}" if labels else wanted.question
        ghost = "" if wanted.password else wanted.default or ""
        self._ask.ask(wanted.id, answer, about=about, ghost=ghost, secret=wanted.password)

    def _ask_to_agree(self, prepared: Prepared) -> None:
        from workbench.config.consent import asked_lines, question

        lines: list[str] = []
        for target in prepared.unagreed[1:]:
            lines += ["", question(target), *asked_lines(target)]
        first = prepared.unagreed[0]
        self._ask.decide(
            question(first),
            [*asked_lines(first), *lines],
            [
                ("y", "yes, and remember it", lambda _: self._open(prepared, remember=True)),
                ("o", "yes, this once", lambda _: self._open(prepared, remember=False)),
                ("n", "no", lambda _: ""),
            ],
        )

    def _open(self, prepared: Prepared, *, remember: bool) -> str:
        wrong = self._desk.open(prepared.targets, remember=remember)
        if not wrong:
            self._done()
        return wrong


def named_line(path: str, name: str) -> str:
    """The line that means a server of one file."""
    return shlex.join(["--config", path, f"@{name}"])
