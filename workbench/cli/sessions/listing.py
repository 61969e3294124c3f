"""``sessions list`` and ``sessions show``."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from workbench.cli import output
from workbench.cli.live import json_option
from workbench.cli.sessions.frames import stream_data
from workbench.cli.sessions.when import iso, moment, span

if TYPE_CHECKING:
    from workbench.core.frame import Stream
    from workbench.replay.followable import Followed
    from workbench.store.library import Stored
    from workbench.store.reader import ConnectionRow, Reader, SessionRow

#: Rows read at a time when a session is counted through.
CHUNK = 5_000


@click.command("list")
@json_option
def list_sessions(as_json: bool) -> int:
    """List the sessions of the store, newest first."""
    from workbench.store.library import folder, list_store

    stored = list_store()
    if as_json:
        output.json_document([_stored_data(each) for each in stored])
        return 0
    if not stored:
        output.note(f"There is no session in {folder()} yet.")
        return 0
    columns = ("name", "started", "took", "conn.", "frames", "size", "state", "tags")
    output.table(columns, [_stored_row(each) for each in stored])
    return 0


def _stored_row(stored: Stored) -> tuple[str, ...]:
    session = stored.session
    if session is None:
        return stored.name, "", "", "", "", output.size(stored.size), f"cannot be read: {stored.broken}", ""
    return (
        stored.name,
        moment(session.started_ns),
        _took(session),
        str(session.connections),
        str(session.frames),
        output.size(stored.size),
        _state(session, stored.live),
        session.tags or "",
    )


def _took(session: SessionRow) -> str:
    return "" if session.ended_ns is None else span((session.ended_ns - session.started_ns) / 1e9)


def _state(session: SessionRow, live: bool) -> str:
    if session.ended_how:
        return session.ended_how
    return "live" if live else "not ended cleanly"


def _stored_data(stored: Stored) -> dict[str, Any]:
    head = {"name": stored.name, "path": stored.path, "size": stored.size, "live": stored.live}
    if stored.session is None:
        return {**head, "broken": stored.broken}
    return {**head, **_session_data(stored.session)}


def _session_data(session: SessionRow) -> dict[str, Any]:
    return {
        "session": session.number,
        "title": session.name or None,
        "group": session.group,
        "started": iso(session.started_ns),
        "ended": iso(session.ended_ns),
        "endedHow": session.ended_how,
        "origin": session.origin,
        "note": session.note,
        "tags": session.tags,
        "version": session.product,
        "frames": session.frames,
        "connections": session.connections,
    }


@click.command()
@click.argument("file")
@click.option(
    "--correlations", is_flag=True, help="Show which values a mock client follows from answers to requests."
)
@json_option
def show(file: str, correlations: bool, as_json: bool) -> int:
    """Show what a recording holds.

    Its sessions and their connections, both sides' identities, and how often each request was sent.
    """
    from workbench.store.library import resolve
    from workbench.store.reader import Reader

    selection = resolve(file)
    with Reader.open(selection.path, session=selection.session) as first:
        numbers = [row.number for row in first.sessions()]
        live = first.live
    shown = numbers if selection.session is None else [selection.session]
    told: list[dict[str, Any]] = []
    for number in shown:
        with Reader.open(selection.path, session=number) as reader:
            session = next(row for row in reader.sessions() if row.number == number)
            connections = reader.connections()
            usage = _usage(reader)
            streams = reader.streams()
            changed = Counter(reader.provenance().values())
            rules = reader.rules()
            followed = _followed(reader, connections, rules) if correlations else {}
        if as_json:
            kept = [{"what": what, "value": value} for what, value in rules]
            data = _show_data(session, connections, usage, streams)
            data = {**data, "changedFrames": dict(changed), "rules": kept}
            if correlations:
                data["correlations"] = [
                    {"connection": number, **each._asdict()}
                    for number, several in followed.items()
                    for each in several
                ]
            told.append(data)
        else:
            _show(selection.path, session, connections, usage, live, streams, _added(changed, rules))
            if correlations:
                _show_followed(connections, followed)
    if as_json:
        output.json_document({"path": selection.path, "live": live, "sessions": told})
    return 0


#: (connection, direction's arrow, method, name) -> how often.
Usage = Counter[tuple[int, str, str, str]]


def _usage(reader: Reader) -> tuple[Usage, Usage]:
    """How often each request was sent, and how often it was answered with an error."""
    from workbench.core.frame import Direction, Kind

    sent: Usage = Counter()
    failed: Usage = Counter()
    height = reader.height()
    for first in range(1, height + 1, CHUNK):
        for row in reader.window(first, first + CHUNK - 1):
            if row.kind is Kind.REQUEST:
                arrow = "->" if row.direction is Direction.TO_SERVER else "<-"
                sent[row.connection, arrow, row.method or "", row.name or ""] += 1
            elif row.kind is Kind.ERROR and row.pair is not None:
                arrow = "<-" if row.direction is Direction.TO_SERVER else "->"
                failed[row.connection, arrow, row.method or "", row.name or ""] += 1
    return sent, failed


def _show(
    path: str,
    session: SessionRow,
    connections: list[ConnectionRow],
    usage: tuple[Usage, Usage],
    live: bool,
    streams: list[Stream],
    added: list[tuple[str, str]],
) -> None:
    output.heading(f"{path}  session {session.number}{f' {session.name}' if session.name else ''}")
    facts = [
        ("started", moment(session.started_ns)),
        ("took", _took(session)),
        ("state", _state(session, live)),
        ("origin", session.origin),
        ("frames", str(session.frames)),
        ("tags", session.tags or ""),
        ("note", session.note or ""),
        ("recorded by", session.product),
        *added,
    ]
    output.table(("", ""), [fact for fact in facts if fact[1]], indent=2, header=False)
    for connection in connections:
        output.line("")
        output.heading(f"Connection {connection.number}  {connection.name}  {connection.target}")
        output.table(("", ""), _connection_facts(connection), indent=2, header=False)
        carried = [stream for stream in streams if stream.connection == connection.number]
        if carried:
            output.table(("stream", "status", "times", ""), _stream_rows(carried), indent=2)
        sent, failed = usage
        rows = [
            (arrow, method, name, str(count), f"{failed[key]} failed" if failed[key] else "")
            for key, count in sent.items()
            for number, arrow, method, name in [key]
            if number == connection.number
        ]
        if rows:
            output.table(("", "request", "name", "times", ""), rows, indent=2)


def _followed(
    reader: Reader, connections: list[ConnectionRow], rules: list[tuple[str, str]]
) -> dict[int, list[Followed]]:
    """What is followed, by connection."""
    from workbench.replay.correlate import NO_RULES
    from workbench.replay.followable import followable

    said = NO_RULES.and_kept(rules)
    return {
        each.number: followable(list(reader.frames(connection=each.number)), said) for each in connections
    }


def _show_followed(connections: list[ConnectionRow], followed: dict[int, list[Followed]]) -> None:
    for connection in connections:
        output.line("")
        rows = [
            (str(each.seq), each.pointer, each.value, ", ".join(map(str, each.used)))
            for each in followed[connection.number]
        ]
        if rows:
            output.heading(f"Followed in connection {connection.number}  {connection.name}")
            output.table(("given by", "at", "value", "used by"), rows, indent=2)
        else:
            output.line(f"Nothing is followed in connection {connection.number} {connection.name}.")


def _added(changed: Counter[str], rules: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """What people have put into it."""
    from workbench.store.about import PROVENANCE

    told = ", ".join(f"{count} {PROVENANCE.get(how, how)}" for how, count in sorted(changed.items()))
    return [("changed frames", told), *(("rule", f"{what} {value}") for what, value in rules)]


def _connection_facts(connection: ConnectionRow) -> list[tuple[str, str]]:
    how = (connection.closed_how or "not ended").replace("_", " ")
    code = connection.exit_code
    era = ", ".join(part for part in (connection.era, connection.era_found) if part)
    facts = [
        ("transport", connection.transport),
        ("era", era),
        ("server", _identity(connection.server_info)),
        ("client", _identity(connection.client_info)),
        ("revision", connection.revision or ""),
        # A stand-in says how its server ended with the code in it.
        ("ended", how if code is None or how.endswith(f" {code}") else f"{how} (exit code {code})"),
    ]
    return [fact for fact in facts if fact[1]]


def _stream_rows(streams: list[Stream]) -> list[tuple[str, str, str, str]]:
    """How often each verb was answered with each status, and how many of these broke off."""
    counted: Counter[tuple[str, str]] = Counter()
    broken: Counter[tuple[str, str]] = Counter()
    for stream in streams:
        key = (stream.verb, "no answer" if stream.status is None else str(stream.status))
        counted[key] += 1
        broken[key] += stream.closed_how == "cut"
    return [
        (*key, str(count), f"{broken[key]} broke off" if broken[key] else "")
        for key, count in sorted(counted.items())
    ]


def _identity(text: str | None) -> str:
    info = _json(text)
    if not isinstance(info, dict):
        return ""
    return " ".join(str(info[key]) for key in ("name", "version") if info.get(key))


def _json(text: str | None) -> Any:
    from workbench.core.jsonrpc import loads

    if text is None:
        return None
    try:
        return loads(text)
    except (ValueError, RecursionError):
        return text


def _show_data(
    session: SessionRow,
    connections: list[ConnectionRow],
    usage: tuple[Usage, Usage],
    streams: list[Stream],
) -> dict[str, Any]:
    sent, failed = usage
    return {
        **_session_data(session),
        "connections": [
            {
                "connection": each.number,
                "name": each.name,
                "transport": each.transport,
                "target": each.target,
                "era": each.era,
                "eraFound": each.era_found,
                "revision": each.revision,
                "clientInfo": _json(each.client_info),
                "serverInfo": _json(each.server_info),
                "clientCapabilities": _json(each.client_capabilities),
                "serverCapabilities": _json(each.server_capabilities),
                "opened": iso(each.opened_ns),
                "closed": iso(each.closed_ns),
                "closedHow": each.closed_how,
                "exitCode": each.exit_code,
                "parent": each.parent,
                "streams": [stream_data(stream) for stream in streams if stream.connection == each.number],
                "requests": [
                    {
                        "from": "client" if key[1] == "->" else "server",
                        "method": key[2],
                        "name": key[3] or None,
                        "count": count,
                        "failed": failed[key],
                    }
                    for key, count in sent.items()
                    if key[0] == each.number
                ],
            }
            for each in connections
        ],
    }
