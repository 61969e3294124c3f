"""What servers asked so far and what became of it, and the URLs they want opened."""

from __future__ import annotations

from typing import NamedTuple

from workbench.core.frame import Direction
from workbench.tui.desk import Desk, Opening
from workbench.tui.lines import Bit, Line


class Past(NamedTuple):
    """Steps as (frame, server, method, what became of it), and URLs as (server, URL)."""

    steps: list[tuple[int, str, str, str]]
    openings: list[tuple[str, Opening]]


def past_of(desk: Desk) -> Past:
    """What a desk tells of it."""
    names = {view.number: view.name for view in desk.views}
    steps = [
        (step.seq, view.name, step.label, step.detail)
        for view in desk.views
        for step in view.steps
        if step.direction is Direction.TO_CLIENT and "/" in step.label
    ]
    openings = [(names.get(each.connection, ""), each) for each in desk.openings]
    return Past(sorted(steps), openings)


def past_lines(past: Past) -> list[Line]:
    """As lines, the newest last."""
    lines: list[Line] = [[], [Bit(" "), Bit("asked so far", "text")]] if past.steps else []
    for _, name, method, detail in past.steps:
        lines.append(
            [Bit("   "), Bit(name, "quiet", 16), Bit("  "), Bit(method, "text", 24), Bit(detail, "quiet")]
        )
    for name, opening in past.openings:
        word = "done, says the server" if opening.done else "waits for the server's word"
        url = Bit(opening.link.host or opening.link.url, "text", 24)
        lines.append([Bit("   "), Bit(name, "quiet", 16), Bit("  "), url, Bit(word, "quiet")])
    return lines
