"""How a call ended, in one line, and in words where no result came."""

from __future__ import annotations

from typing import NamedTuple

from workbench.core.actions import Outcome
from workbench.core.jsonrpc import dumps
from workbench.core.links import Link, links_of
from workbench.tui import figures
from workbench.tui.marks import Marks
from workbench.tui.palette import Role
from workbench.tui.widgets.result_blocks import Block, blocks_of


class Head(NamedTuple):
    """The first line: mark, words, and the frames at its right edge."""

    mark: str
    role: Role
    words: str
    frames: str


def head_of(outcome: Outcome, request_seq: int | None, marks: Marks, tool_error: bool) -> Head:
    """The head line of an outcome; ``tool_error``: it is a result with ``isError: true``."""
    took = figures.duration(round(outcome.seconds * 1e9))
    seqs = [seq for seq in (request_seq, outcome.seq) if seq is not None]
    frames = " ".join(f"#{seq}" for seq in seqs)
    if outcome.how == "result":
        if tool_error:
            return Head(marks.failed, "failed", f"tool error  {took}", frames)
        return Head(marks.ok, "ok", f"result  {took}", frames)
    if outcome.how == "error":
        code = outcome.error.get("code") if isinstance(outcome.error, dict) else None
        shown = f" {dumps(code)[:40]}" if code is not None else ""
        return Head(marks.failed, "failed", f"error{shown}  {took}", frames)
    if outcome.how == "cancelled":
        return Head(marks.closed, "quiet", f"cancelled  {took}", frames)
    return Head(marks.failed, "failed", f"{outcome.how}  {took}", frames)


def failure_blocks(outcome: Outcome) -> list[Block]:
    """What there is to read of an end that is no result."""
    if outcome.how != "error":
        return [Block("", outcome.why, False, outcome.why.encode())] if outcome.why else []
    error = outcome.error
    whole = dumps(error).encode("utf-8", "surrogateescape")
    message = error.get("message") if isinstance(error, dict) else None
    if not isinstance(message, str):
        return [Block("", dumps(error), True, whole)]
    blocks = [Block("", message, False, whole), *map(_link_block, links_of(error))]
    if "data" in error:
        blocks += [block._replace(title="data") for block in blocks_of(dumps(error["data"]))[:1]]
    return blocks


def _link_block(link: Link) -> Block:
    """A URL that has to be opened before the call can go on; copying takes the URL alone."""
    said = [link.url, f"host: {link.host or 'none'}", link.warning, link.message]
    title = "open this yourself if you trust it, then r sends the call again"
    text = "\n".join(line for line in said if line)
    return Block(title, text, False, link.url.encode("utf-8", "surrogatepass"))
