"""``mcp-workbench record`` with HTTP on one of its sides; ``record`` has read the command line."""

from __future__ import annotations

from workbench.cli.record import environment, last, recording
from workbench.config import Target, parse_targets
from workbench.config.targets import target_name
from workbench.errors import ConnectionFailed
from workbench.standin.web import Front, serve_command, speak_lines, stand_before
from workbench.wire import ready
from workbench.wire.command import NotStarted

Options = dict[str, list[str]]


def run(options: Options, words: list[str], front: str, *, tell: bool) -> int:
    """Stand in, and return the exit status. Raises ``WorkbenchError``."""
    ready.forget(last(options, "ready-file"))
    target = _target(options, words)
    made = recording(options, None, target.name)
    where = Front(
        last(options, "listen") or "127.0.0.1:0",
        tuple(options.get("host", ())),
        "anywhere" in options,
        last(options, "ready-file"),
    )
    try:
        if front == "stdio":
            return speak_lines(made, target, tell=tell)
        return (serve_command if words else stand_before)(made, target, where, tell=tell)
    except NotStarted as error:
        raise ConnectionFailed(str(error)) from None


def _target(options: Options, words: list[str]) -> Target:
    name = last(options, "name")
    if words:
        target = Target(
            command=words[0], args=tuple(words[1:]), env={**environment(options)}, cwd=last(options, "cwd")
        )
        return target.model_copy(update={"name": name or target_name(target)})
    kind = "http" if "http" in options else "sse"
    line = [f"--{kind}", options[kind][-1]]
    for header in options.get("header", ()):
        line += ["--header", header]
    for variable in options.get("token-env", ()):
        line += ["--token-env", variable]
    if name:
        line += ["--name", name]
    return parse_targets(line)[0]
