"""``sessions frames``: the frames of a recording, one a line."""

from __future__ import annotations

import base64
import shutil
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import click

from workbench.cli import output
from workbench.cli.sessions.when import iso
from workbench.core.frame import PREVIEW_BYTES
from workbench.errors import UsageError
from workbench.store.about import PROVENANCE

if TYPE_CHECKING:
    from workbench.core.frame import Frame, Row, Stream
    from workbench.core.frame_filter import FrameFilter
    from workbench.store.reader import Reader

#: Rows read at a time.
CHUNK = 500


@click.command()
@click.argument("file")
@click.option("--connection", metavar="NAME", help="Only the frames of this connection (name or number).")
@click.option("--from", "first", type=click.IntRange(1), metavar="N", help="Begin with this frame.")
@click.option("--to", "last", type=click.IntRange(1), metavar="N", help="End with this frame.")
@click.option("--find", metavar="TEXT", help="Only frames whose body, method or name contains this text.")
@click.option(
    "--filter",
    "wanted",
    metavar="FILTER",
    help="Only frames that pass: as 'method:tools/* dir:out dur>500ms -kind:error', see the how-to.",
)
@click.option("--body", is_flag=True, help="Show the whole body of each frame below it.")
@click.option(
    "--json", "as_json", is_flag=True, help="One JSON document a line, with the body, for programs."
)
def frames(
    file: str,
    connection: str | None,
    first: int | None,
    last: int | None,
    find: str | None,
    wanted: str | None,
    body: bool,
    as_json: bool,
) -> int:
    """Show the frames of a recording, one a line.

    A line tells the frame's number, seconds since the session began, connection, direction
    (-> to the server, <- to the client), kind, method and id, size in bytes, for an answer the
    time it took, over HTTP the number of its stream and a status other than 200, whether it
    was edited or made by hand, and the beginning of the body.
    """
    from workbench.core.frame_filter import TEXT, Term, parse_filter
    from workbench.store.library import resolve
    from workbench.store.reader import Reader

    selection = resolve(file)
    with Reader.open(selection.path, session=selection.session) as reader:
        names = {row.number: row.name for row in reader.connections()}
        only = connection_number(names, connection or selection.connection)
        how = reader.provenance()
        terms = parse_filter(wanted or "") + ((Term(TEXT, (find,)),) if find else ())
        for row in _rows(reader, only, first or 1, last, terms):
            if as_json:
                data = _data(reader.frame(row.seq), row, names, reader.stream)
                output.json_document({**data, "how": how[row.seq]} if row.seq in how else data)
                continue
            output.line(_line(row, names, reader.started_ns, how.get(row.seq)))
            if body:
                output.text(_body_text(reader.body(row.seq)))
    return 0


def connection_number(names: dict[int, str], wanted: str | None) -> int | None:
    """The number of the connection that a user means; ``None`` for all. Raises ``UsageError``."""
    if wanted is None:
        return None
    for number, name in names.items():
        if wanted in (str(number), name):
            return number
    listed = ", ".join(f"{number} {name}" for number, name in names.items())
    raise UsageError(f"the session has no connection {wanted}; it has: {listed}")


def _rows(
    reader: Reader, only: int | None, first: int, last: int | None, terms: FrameFilter
) -> Iterator[Row]:
    end = reader.height() if last is None else min(last, reader.height())
    if not terms and only is None:
        for start in range(first, end + 1, CHUNK):
            yield from reader.window(start, min(end, start + CHUNK - 1))
        return
    for seqs in reader.matching(terms, first=first, last=end, newest_first=False, connection=only):
        for at in range(0, len(seqs), CHUNK):
            yield from reader.rows(seqs[at : at + CHUNK])


def _line(row: Row, names: dict[int, str], started_ns: int, how: str | None) -> str:
    arrow = ("  ", "->", "<-")[row.direction]
    subject = " ".join(part for part in (row.method, row.name) if part)
    identity = f" #{row.id}" if row.id is not None else ""
    took = f" {output.seconds(row.duration_ns / 1e9)}" if row.duration_ns is not None else ""
    told = f" {PROVENANCE.get(how, how)}" if how else ""
    name = output.padded(names.get(row.connection, "-"), max(map(output.width, names.values()), default=1))
    head = (
        f"{row.seq:>6} {(row.wall_ns - started_ns) / 1e9:>9.3f} {name} {arrow} "
        f"{row.kind.name.lower():<12} {subject}{identity} {row.size} B{took}{_carried(row)}{told}"
    )
    whole = f"{head}  {_beginning(row.preview)}"
    return output.cut(whole, shutil.get_terminal_size().columns) if sys.stdout.isatty() else whole


def _carried(row: Row) -> str:
    """What HTTP adds: the stream, and a status that says more than that all is well."""
    if not row.stream:
        return ""
    return f" stream {row.stream}" + (f" status {row.status}" if row.status not in (None, 200) else "")


def _beginning(preview: bytes) -> str:
    """A preview as text, without the half of a character that it may be cut off in."""
    from codecs import getincrementaldecoder

    return getincrementaldecoder("utf-8")("surrogateescape").decode(preview, len(preview) < PREVIEW_BYTES)


def _body_text(body: bytes) -> str:
    from workbench.core.jsontext import pretty

    text = body.decode("utf-8", "surrogateescape")
    shown = pretty(text) if text[:1] in ("{", "[") else text
    return "\n".join(f"       {line}" for line in shown.split("\n"))


def _data(
    frame: Frame, row: Row, names: dict[int, str], stream_of: Callable[[int], Stream | None]
) -> dict[str, Any]:
    data: dict[str, Any] = {
        "seq": frame.seq,
        "time": iso(frame.wall_ns),
        "connection": names.get(frame.connection),
        "direction": frame.direction.name.lower(),
        "channel": frame.channel.name.lower(),
        "kind": frame.kind.name.lower(),
        "method": frame.method,
        "name": frame.name,
        "id": frame.id,
        "size": frame.size,
        "pair": row.pair,
        "seconds": None if row.duration_ns is None else row.duration_ns / 1e9,
        "redacted": len(frame.spans),
        "findings": list(row.findings),
    }
    if frame.stream:
        data["stream"] = frame.stream
        data["event"] = _event(frame.event)
        stream = stream_of(frame.stream)
        data["http"] = None if stream is None else stream_data(stream)
    try:
        data["text"] = frame.body.decode("utf-8")
    except UnicodeDecodeError:
        data["base64"] = base64.b64encode(frame.body).decode()
    return data


def _event(text: str | None) -> Any:
    """What an SSE event had beside its data; as text where that cannot be read."""
    from workbench.core.jsonrpc import loads

    try:
        return loads(text) if text else None
    except (ValueError, RecursionError):
        return text


def stream_data(stream: Stream) -> dict[str, Any]:
    """A stream for programs."""
    return {
        "stream": stream.number,
        "verb": stream.verb,
        "url": stream.url,
        "status": stream.status,
        "encoding": stream.encoding or None,
        "wireBytes": stream.wire_bytes,
        "requestHeaders": [list(each) for each in stream.request_headers],
        "responseHeaders": [list(each) for each in stream.response_headers],
        "opened": iso(stream.opened_ns),
        "closed": iso(stream.closed_ns),
        "closedHow": stream.closed_how or None,
    }
