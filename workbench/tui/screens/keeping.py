"""Keeping what was seen as a fixture."""

from __future__ import annotations

import os
import threading
from typing import Any

from workbench.errors import WorkbenchError
from workbench.tui.aside import tell
from workbench.tui.ask import Ask
from workbench.tui.messages import Kept
from workbench.tui.screens.part import Part


class Keeping(Part):
    """``k``."""

    def do_keep(self) -> None:
        view, source = self.view, self.desk.source
        if source is None:
            self.say("Nothing of this session is recorded; start without --no-record to keep it.", bad=True)
            return
        pinned = self.frames.pinned
        several = len(self.desk.views) > 1
        what = f"connection {view.name}" if several and view is not None else "the session"
        if pinned:
            what = f"frames {min(pinned)} to {max(pinned)} of {what}"

        def answer(name: str) -> str:
            from workbench.keep import Part, fixture_path

            try:
                fixture_path(name)
            except WorkbenchError as error:
                return str(error)
            number = view.number if several and view is not None else None
            first, last = (min(pinned), max(pinned)) if pinned else (None, None)
            part = Part(source[1], number, first, last)
            work = threading.Thread(target=lambda: tell(self, kept(source[0], name, part)), daemon=True)
            work.start()
            self.say("keeping")
            return ""

        folder = os.path.join("sessions", "")
        self.query_one(Ask).ask("keep as", answer, about=f"Keep {what} in {folder}", ghost="name")


def kept(path: str, name: str, part: Any) -> Kept:
    """Keep a recording, and tell of it."""
    from workbench.keep import keep, uses

    try:
        done = keep(path, name, part)
    except WorkbenchError as error:
        return Kept((str(error),), True)
    redacted = sum(done.redacted.values())
    lines = [f"kept {done.path}   {done.frames:,} frames"]
    if redacted:
        named = ", ".join(f"{word} {times}×" for word, times in done.redacted.items())
        lines.append(f"redacted: {named}")
    else:
        lines.append("nothing in it had to be redacted")
    lines += [f"{each.connection} {each.verdict}" for each in done.checked]
    lines += [
        problem for each in done.checked if not each.verdict.whole for problem in each.verdict.problems[:3]
    ]
    lines += ["", *uses(done.path)]
    return Kept(tuple(lines), False)
