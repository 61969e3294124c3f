"""A connection as a report: for people, and as one JSON document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from workbench.check.rule import Finding
from workbench.cli import output
from workbench.cli.findings import as_data as finding_data
from workbench.cli.findings import print_findings
from workbench.core.frame import Direction
from workbench.core.view import ConnectionView, Item, Step

_ARROWS = {Direction.TO_SERVER: "->", Direction.TO_CLIENT: "<-", Direction.NONE: "  "}

#: Lines of the server's stderr that a report ends with.
LAST_STDERR = 20

#: Characters of a description in a list; the whole of it is in the JSON.
DESCRIPTION = 200


def print_report(view: ConnectionView, found: Sequence[Finding]) -> None:
    """Everything about a connection, on stdout."""
    output.heading(f"{view.name}  {view.target}")
    output.table(("", ""), _facts(view), indent=2, header=False)
    if view.instructions:
        _section("Instructions")
        output.text(_indented(view.instructions))
    _section("Lifecycle")
    output.table(("", "", "", "", ""), _steps(view.steps), indent=2, header=False)
    if view.server_info or view.server_capabilities:
        _section("Capabilities")
        rows = [
            ("server", _capabilities(view.server_capabilities)),
            ("client", _capabilities(view.client_capabilities)),
        ]
        output.table(("", ""), rows, indent=2, header=False)
    _lists(view)
    if found:
        _section(f"Findings ({view.findings.total})")
        print_findings(found)
    if view.stderr:
        _section(f"stderr (last {min(LAST_STDERR, len(view.stderr))} of {view.stderr_count} lines)")
        output.text(_indented("\n".join(text for _, text in view.stderr[-LAST_STDERR:])))


def _section(title: str) -> None:
    output.line("")
    output.heading(title)


def _indented(what: str) -> str:
    return "\n".join(f"  {line}" for line in what.rstrip("\n").split("\n"))


def _facts(view: ConnectionView) -> list[tuple[str, str]]:
    server = " ".join(str(view.server_info[key]) for key in ("name", "version") if view.server_info.get(key))
    title = view.server_info.get("title")
    facts = [
        ("state", _state(view)),
        ("server", f"{server} ({title})" if title else server),
        ("revision", _revision(view)),
        ("frames", str(view.frames)),
    ]
    if view.why:
        facts.insert(1, ("why", view.why))
    if view.next_step:
        facts.insert(2, ("next", view.next_step))
    return [(name, value) for name, value in facts if value]


def _state(view: ConnectionView) -> str:
    how = str(view.state).replace("_", " ")
    if view.signal:
        return f"{how} (ended by SIG{view.signal})"
    return f"{how} (exit code {view.exit_code})" if view.exit_code is not None else how


def _revision(view: ConnectionView) -> str:
    if not view.revision:
        return f"none agreed (offered {view.offered})" if view.offered else ""
    offered = "" if view.offered == view.revision else f" (offered {view.offered})"
    return f"{view.revision}{offered}{f', {view.era} era' if view.era else ''}"


def _steps(steps: Sequence[Step]) -> list[tuple[str, str, str, str, str]]:
    first = steps[0].mono_ns if steps else 0
    return [
        (
            output.seconds((step.mono_ns - first) / 1e9),
            _ARROWS[step.direction],
            step.label,
            "" if step.duration_ns is None else output.seconds(step.duration_ns / 1e9),
            step.detail,
        )
        for step in steps
    ]


def _capabilities(declared: dict[str, Any]) -> str:
    """``tools.listChanged, logging``: the dotted names of what is declared and not false."""
    names: list[str] = []
    for name, value in declared.items():
        inner = (
            [f"{name}.{key}" for key, item in value.items() if item is not False]
            if isinstance(value, dict)
            else []
        )
        names += inner or [name]
    return ", ".join(names) or "none"


def _lists(view: ConnectionView) -> None:
    lists = (
        ("Tools", "tools/list", view.tools),
        ("Resources", "resources/list", view.resources),
        ("Resource templates", "resources/templates/list", view.templates),
        ("Prompts", "prompts/list", view.prompts),
    )
    for title, method, items in lists:
        if items or method in view.listed:
            _section(f"{title} ({len(items)})")
            for item in items:
                _print_item(item)
        for told in (view.list_errors.get(method), view.list_notes.get(method)):
            if told:
                output.line(f"  {method}: {told}")


def _print_item(item: Item) -> None:
    """How it is called, and below it what it is for: neither has to give way to the other."""
    called = item.name
    if item.kind in ("tool", "prompt"):
        called += item.signature if item.signature.startswith("(") else f"({item.signature})"
    marks = "".join(f"  [{mark}]" for mark in item.marks)
    output.line(f"  {called}{marks}")
    described = " ".join((item.description or ("" if item.title == item.name else item.title)).split())
    if len(described) > DESCRIPTION:
        described = f"{described[: DESCRIPTION - 3]}..."
    if described:
        output.line(f"      {described}")


def as_data(view: ConnectionView, found: Sequence[Finding], *, ok: bool) -> dict[str, Any]:
    """The same as one JSON value; definitions as the server sent them, times in seconds. ``ok`` is
    whether the connection could be used."""
    first = view.steps[0].mono_ns if view.steps else 0
    return {
        "name": view.name,
        "target": view.target,
        "transport": view.transport,
        "state": str(view.state),
        "ok": ok,
        "why": view.why or None,
        "next": view.next_step or None,
        "era": view.era or None,
        "offered": view.offered,
        "revision": view.revision,
        "serverInfo": view.server_info,
        "clientInfo": view.client_info,
        "capabilities": {"server": view.server_capabilities, "client": view.client_capabilities},
        "instructions": view.instructions or None,
        "process": {"pid": view.pid, "exitCode": view.exit_code, "signal": view.signal},
        "lifecycle": [
            {
                "seq": step.seq,
                "at": (step.mono_ns - first) / 1e9,
                "direction": step.direction.name.lower(),
                "step": step.label,
                "detail": step.detail or None,
                "seconds": None if step.duration_ns is None else step.duration_ns / 1e9,
            }
            for step in view.steps
        ],
        "tools": [item.value for item in view.tools],
        "resources": [item.value for item in view.resources],
        "resourceTemplates": [item.value for item in view.templates],
        "prompts": [item.value for item in view.prompts],
        "listErrors": view.list_errors,
        "listNotes": view.list_notes,
        "findings": [finding_data(each) for each in found],
        "findingCounts": view.findings._asdict(),
        "logs": [
            {"seq": log.seq, "level": log.level, "logger": log.logger, "text": log.text} for log in view.logs
        ],
        "stderr": [text for _, text in view.stderr],
        "frames": view.frames,
    }
