"""Editing a recording: other answers, exchanges that go or come, rules; on the file as a whole or not at all.

Everything is done on the text form, which a SQLite file is turned into and made from again. What was
changed is kept with each frame as its provenance, so that nobody takes it for what was recorded.
"""

from __future__ import annotations

import io
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from workbench.config.redaction import own_redactor
from workbench.core.exchange import Exchange
from workbench.core.exchanges import exchanges
from workbench.core.frame import Channel, Direction, Frame
from workbench.core.jsonrpc import decode, dumps, error, loads, request, result
from workbench.core.peek import peek
from workbench.errors import RecordingError, UsageError
from workbench.replay import identity
from workbench.replay.diff import parts_of
from workbench.replay.spans import members, place
from workbench.replay.veil import Veil, highest
from workbench.store.copying import export, import_file
from workbench.store.formats.editing import LATER, Added, Edit, edited, retold
from workbench.store.formats.revising import is_text_form
from workbench.store.neighbours import LEFTOVERS
from workbench.store.reader import Reader

#: Members of a stateless request's ``_meta`` that a request made by hand takes from another.
_STATELESS = "io.modelcontextprotocol/"


class Asked(NamedTuple):
    """What a user asks for, by the numbers that the frames have now. ``sets`` are (seq, JSON pointer, JSON
    text); ``answers`` and ``errors`` (seq of a request or its answer, JSON text); ``drops`` seqs of any frame
    of an exchange; ``adds`` (method, params, result, whether that is an error) after the frame ``after``."""

    sets: Sequence[tuple[int, str, str]] = ()
    answers: Sequence[tuple[int, str]] = ()
    errors: Sequence[tuple[int, str]] = ()
    drops: Sequence[int] = ()
    adds: Sequence[tuple[str, str, str, bool]] = ()
    after: int | None = None
    rules: Sequence[tuple[str, str]] = ()
    forgotten: frozenset[tuple[str, str]] = frozenset()


class Made(NamedTuple):
    """An exchange that was recorded at another time: ``params`` as JSON text, the answer under any id."""

    connection: int
    method: str
    params: str | None
    body: bytes


def add(path: str, session: int, made: Sequence[Made]) -> None:
    """Add exchanges at the end of their connections, secrets out. Raises ``RecordingError``."""
    with _locked(path):
        veil, taken = Veil(own_redactor()), highest(text_of(path))

        def made_of(body: bytes, end: _End, connection: int, direction: Direction) -> Added:
            stored, spans = veil.stored(body, taken)
            return Added(end.seq, connection, direction, stored, LATER, spans, len(body))

        with Reader.open(path, session=session) as reader:
            which = reader.place
            ends = {number: _end(reader, number) for number in {each.connection for each in made}}
        added: list[Added] = []
        for each in made:
            end = ends[each.connection]
            end.last_id += 1
            id = str(end.last_id)
            asked = request(id, each.method, each.params)
            answer = identity.put(each.body, identity.ID, id)
            added += [
                made_of(asked, end, each.connection, Direction.TO_SERVER),
                made_of(answer, end, each.connection, Direction.TO_CLIENT),
            ]
        apply(path, Edit(which, added=added))


def edit_of(reader: Reader, asked: Asked, connection: int | None = None) -> Edit:
    """What the file changes by. ``connection`` is that of what is added. Raises ``UsageError`` for what
    cannot be, ``RecordingError`` where the recording cannot be read."""
    bodies: dict[int, bytes] = {}

    def body(seq: int) -> bytes:
        return bodies[seq] if seq in bodies else _frame(reader, seq).body

    for seq, text in asked.answers:
        answer = _answer(reader, seq)
        bodies[answer] = answered(body(answer), "result", _json(text, f"--answer {seq}"))
    for seq, text in asked.errors:
        answer = _answer(reader, seq)
        bodies[answer] = answered(body(answer), "error", _error(text, f"--error {seq}"))
    for seq, pointer, text in asked.sets:
        bodies[seq] = put(body(seq), pointer, _json(text, f"--set {seq} {pointer}"))
    dropped: set[int] = set()
    for seq in asked.drops:
        dropped |= _exchange_of(reader, seq)
    wrong = sorted(dropped & bodies.keys())
    if wrong:
        raise UsageError(f"frame {wrong[0]} cannot be changed and dropped at once; choose one")
    added = list(_additions(reader, asked, connection)) if asked.adds else []
    return Edit(1, bodies, frozenset(dropped), added, asked.rules, asked.forgotten)


def apply(path: str, edit: Edit, target: str | None = None) -> str:
    """Write the edit into the recording at ``path``, or into a new file ``target``; returns which.

    Raises ``RecordingError`` if it cannot be read or written, or is being written; then nothing has changed.
    """
    return _rewritten(path, lambda lines: edited(lines, edit), target)


def by_hand(path: str, lines: bytes, before: bytes, target: str | None = None) -> str:
    """Write what a person has made of the text ``before``. As ``apply``."""
    return _rewritten(
        path, lambda _: retold(lines.splitlines(keepends=True), before.splitlines(keepends=True)), target
    )


def text_of(path: str) -> bytes:
    """The text form of a recording in either form."""
    if is_text_form(path):
        try:
            with open(path, "rb") as file:
                return file.read()
        except OSError as failed:
            raise RecordingError(f"{path} cannot be read: {failed.strerror}.") from None
    out = io.StringIO()
    export(path, out)
    return out.getvalue().encode()


def put(body: bytes, pointer: str, value: str) -> bytes:
    """A body with a JSON text in the place a pointer names; everything else stays as it is. A member that is
    not there yet is added. Raises ``UsageError`` where there is no such place."""
    if not pointer.startswith("/"):
        raise UsageError(f"{pointer!r} is no JSON pointer to something within; it begins with /, as /result")
    parts = parts_of(pointer)
    span = place(body, parts)
    if span is not None:
        return body[: span[0]] + value.encode("utf-8", "surrogateescape") + body[span[1] :]
    above = place(body, parts[:-1])
    if above is None or body[above[0] : above[1]].lstrip()[:1] != b"{":
        raise UsageError(f"there is nothing at {pointer} in that frame; see sessions frames --body")
    return _with_member(body, above, parts[-1], value, bool(members(body, above)))


def answered(body: bytes, key: str, value: str) -> bytes:
    """An answer with another ``result`` or ``error`` in place of what it had."""
    known = members(body)
    if key in known:
        return put(body, f"/{key}", value)
    if not known.keys() & {"result", "error"}:
        raise UsageError("that frame is no answer; name a request or its answer")
    messages = decode(body).messages
    return _answer_of((messages[0].id if messages else None) or "null", key, value)


def _answer_of(id: str, key: str, value: str) -> bytes:
    """An answer whose ``result`` or ``error`` is this JSON text."""
    if key == "result":
        return result(id, value)
    told = loads(value)
    return error(id, told["code"], told["message"], dumps(told["data"]) if "data" in told else None)


def _with_member(body: bytes, span: tuple[int, int], key: str, value: str, more: bool) -> bytes:
    end = body.rindex(b"}", span[0], span[1])
    return (
        body[:end]
        + f"{',' if more else ''}{dumps(key)}:{value}".encode("utf-8", "surrogateescape")
        + body[end:]
    )


def _json(text: str, what: str) -> str:
    try:
        loads(text)
    except (ValueError, RecursionError):
        raise UsageError(f"{what}: {text!r} is no JSON; a string needs its quotes, as '\"text\"'") from None
    return text


def _error(text: str, what: str) -> str:
    value = loads(_json(text, what))
    code, message = (value.get("code"), value.get("message")) if isinstance(value, dict) else (None, None)
    if not isinstance(code, int) or not isinstance(message, str):
        raise UsageError(
            f'{what}: an error is an object with a code and a message, as {{"code":-32000,"message":"…"}}'
        )
    return text


def _frame(reader: Reader, seq: int) -> Frame:
    try:
        return reader.frame(seq)
    except RecordingError as failed:
        raise UsageError(str(failed)) from None


def _answer(reader: Reader, seq: int) -> int:
    """The answer that a seq means: that of a request, or the answer itself."""
    frame = _frame(reader, seq)
    if members(frame.body).keys() & {"result", "error"}:
        return seq
    pair = reader.pair(seq)
    if pair is None:
        raise UsageError(f"frame {seq} is no request that was answered; name one, or an answer")
    return pair


def _exchange_of(reader: Reader, seq: int) -> set[int]:
    """The frames that go with one: all of its exchange, or it alone."""
    frame = _frame(reader, seq)
    for exchange in exchanges(reader.frames(connection=frame.connection)):
        found = {
            exchange.request,
            *exchange.related,
            *([exchange.answer] if exchange.answer is not None else []),
        }
        if seq in found and not _shares_a_frame(reader, exchange):
            return found
    return {seq}


def _shares_a_frame(reader: Reader, exchange: Exchange) -> bool:
    return len(decode(reader.body(exchange.request)).messages) > 1


def _additions(reader: Reader, asked: Asked, connection: int | None) -> Iterator[Added]:
    known = {row.number: row for row in reader.connections()}
    if connection is None:
        if len(known) != 1:
            names = ", ".join(row.name or str(number) for number, row in known.items())
            raise UsageError(f"there are several connections ({names}); name one with FILE#/NAME")
        connection = next(iter(known))
    end = _end(reader, connection)
    meta = end.meta
    after = end.seq if asked.after is None else asked.after
    for method, params, answer, fails in asked.adds:
        end.last_id += 1
        id = str(end.last_id)
        told = loads(_json(params, f"--add {method}"))
        if not isinstance(told, dict):
            raise UsageError(f"--add {method}: params are a JSON object, as {{}}")
        if meta:
            told = {**told, "_meta": {**meta, **(told.get("_meta") or {})}}
            params = dumps(told)
        key, check = ("error", _error) if fails else ("result", _json)
        answer = check(answer, f"--{'add-error' if fails else 'add'} {method}")
        yield Added(after, connection, Direction.TO_SERVER, request(id, method, params))
        yield Added(after, connection, Direction.TO_CLIENT, _answer_of(id, key, answer))


class _End:
    """Where a connection's messages end: the ``seq`` of its last one, the last number its client used as
    an id, and what each of its stateless requests says of itself."""

    def __init__(self) -> None:
        self.seq = self.last_id = 0
        self.meta: dict[str, Any] = {}


def _end(reader: Reader, connection: int) -> _End:
    end = _End()
    for frame in reader.frames(connection=connection):
        if frame.channel not in (Channel.PROCESS, Channel.NOTE):
            end.seq = frame.seq
        if frame.direction is Direction.TO_SERVER:
            for message in decode(frame.body).messages:
                if message.id is not None and message.id.isdecimal():
                    end.last_id = max(end.last_id, int(message.id))
                found = peek(message, "params", "_meta")
                if isinstance(found, dict):
                    end.meta = {key: value for key, value in found.items() if key.startswith(_STATELESS)}
    return end


@contextmanager
def _locked(path: str) -> Iterator[None]:
    """One at a time adds to the recordings of a folder, also with several processes."""
    import fcntl

    try:
        folder = os.open(os.path.dirname(os.path.realpath(path)), os.O_RDONLY)
    except OSError as failed:
        raise RecordingError(f"{path} cannot be written ({failed.strerror}).") from None
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def _rewritten(path: str, change: Callable[[list[bytes]], list[bytes]], target: str | None) -> str:
    place = os.path.realpath(target or path)
    for suffix in LEFTOVERS:
        if target is None and os.path.exists(place + suffix):
            raise RecordingError(
                f"{path} is being written, or was not closed; edit a copy: sessions copy {path} COPY."
            )
    lines = change(text_of(path).splitlines(keepends=True))
    with _beside(place) as folder:
        text = os.path.join(folder, os.path.basename(place) if place.endswith(".jsonl") else "edited.jsonl")
        try:
            with open(text, "wb") as out:
                out.writelines(lines)
            made = text
            if not (place.endswith(".jsonl") or (target is None and is_text_form(path))):
                made = os.path.join(folder, os.path.basename(place))
                import_file(text, made)
            # What cannot be read takes nobody's place.
            Reader.open(made).close()
            if os.path.exists(place):
                shutil.copymode(place, made)
            os.replace(made, place)
        except OSError as failed:
            raise RecordingError(
                f"{place} cannot be written ({failed.strerror}); nothing has changed."
            ) from None
    return target or path


@contextmanager
def _beside(place: str) -> Iterator[str]:
    """A folder on the same disk, for the time being."""
    try:
        folder = tempfile.mkdtemp(prefix=".mcp-workbench-", dir=os.path.dirname(place))
    except OSError as failed:
        raise RecordingError(
            f"{place} cannot be written ({failed.strerror}); choose another place with -o."
        ) from None
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
