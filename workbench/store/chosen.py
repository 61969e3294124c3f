"""The connections of a recording that a command works on, read no further than needed.

A replay answers its first request after a handful of frames, so the frames come
one by one: from the database in pieces, from the text form line by line without
making a database of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from workbench.core.frame import Channel, Frame, Stream
from workbench.errors import UsageError
from workbench.store.library import Selection, resolve

if TYPE_CHECKING:
    from workbench.store.formats.outline import Outline
    from workbench.store.reader import Reader

#: Frames of the first piece: enough for most handshakes.
FIRST = 64


class Named(NamedTuple):
    """A connection as a user may name it: by the number of its session, its own, or its name."""

    session: int
    number: int
    name: str
    target: str = ""
    revision: str = ""


class Chosen:
    """A connection and its frames. Use it as a context, in which ``frames`` may be walked once.

    ``target`` is what it was made to, ``revision`` what was agreed on, empty where that is not known;
    ``stream`` gives the head of an HTTP stream by its number, ``rules`` what is kept with its session,
    ``process`` the frames that tell of its server's process, from a seq on; ``body`` reads the body of a
    frame again, where that is quick.
    """

    def __init__(
        self,
        path: str,
        named: Named,
        frames: Iterator[Frame],
        stream: Callable[[int], Stream | None],
        rules: Callable[[], list[tuple[str, str]]],
        process: Callable[[int], Iterator[Frame]],
        body: Callable[[int], bytes] | None = None,
        close: Callable[[], None] = lambda: None,
    ) -> None:
        self.path = path
        self.name = named.name or str(named.number)
        self.session = named.session
        self.number = named.number
        self.target = named.target
        self.revision = named.revision
        self.stream = stream
        self.rules = rules
        self.process = process
        self.body = body
        self._frames = frames
        self._close = close

    def frames(self) -> Iterator[Frame]:
        """The frames in order; raises ``RecordingError`` where one cannot be read."""
        return self._frames

    def __enter__(self) -> Chosen:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()


def choose(file: str) -> Chosen:
    """The connection that FILE names, or its only one.

    Raises ``UsageError`` listing them when there are several, ``RecordingError`` when there is no
    such recording.
    """
    return _chosen(file, _pick)[0]


def choose_all(file: str) -> list[Chosen]:
    """The connections to one target that FILE names, in recorded order; the context of the first is
    that of all.

    Raises ``UsageError`` listing them where they have several targets, ``RecordingError`` when there is
    no such recording.
    """
    return _chosen(file, _pick_target)


#: Chooses of the connections that a recording holds.
_Picks = Callable[[Selection, "list[Named]"], "list[Named]"]


def _chosen(file: str, pick: _Picks) -> list[Chosen]:
    selection = resolve(file)
    text = _outline(selection.path)
    if text is not None:
        named = pick(selection, [Named(*connection) for connection in text.connections])
        return [_from_text(selection.path, each, text) for each in named]
    return _from_database(selection, pick)


def _from_text(path: str, named: Named, text: Outline) -> Chosen:
    session = named.session
    frames = text.frames(session, named.number)
    return Chosen(
        path,
        named,
        frames,
        lambda number: text.stream(session, number),
        lambda: text.rules(session),
        partial(text.process, session, named.number),
    )


def _outline(path: str) -> Outline | None:
    """The outline of a text form, ``None`` for what must be read as a database."""
    # Each form's modules are loaded only for it: a client waits for its first answer meanwhile.
    with suppress(OSError), open(path, "rb") as file:
        if file.read(1) == b"{":
            from workbench.store.formats.outline import outline

            return outline(path)
    return None


def _from_database(selection: Selection, pick: _Picks) -> list[Chosen]:
    from workbench.store.reader import Reader

    reader = Reader.open(selection.path, session=selection.session)
    try:
        numbers = [selection.session] if selection.session else [row.number for row in reader.sessions()]
        if len(numbers) > 1:
            reader.close()
            named = pick(
                selection, [each for number in numbers for each in _connections(selection.path, number)]
            )
            reader = Reader.open(selection.path, session=named[0].session)
        else:
            named = pick(selection, _named(reader))
    except BaseException:
        reader.close()
        raise
    return [
        Chosen(
            selection.path,
            each,
            _pieces(reader, each.number),
            reader.stream,
            reader.rules,
            partial(_process, reader, each.number),
            reader.body,
            reader.close,
        )
        for each in named
    ]


def _connections(path: str, session: int) -> list[Named]:
    from workbench.store.reader import Reader

    with Reader.open(path, session=session) as reader:
        return _named(reader)


def _named(reader: Reader) -> list[Named]:
    return [
        Named(reader.session, row.number, row.name, row.target, row.revision or "")
        for row in reader.connections()
    ]


def _pieces(reader: Reader, number: int) -> Iterator[Frame]:
    yield from reader.frames(connection=number, last=FIRST)
    yield from reader.frames(connection=number, first=FIRST + 1)


def _process(reader: Reader, number: int, first: int) -> Iterator[Frame]:
    return reader.frames(connection=number, channel=Channel.PROCESS, first=first)


def _pick(selection: Selection, known: list[Named]) -> list[Named]:
    fitting = _fitting(selection, known)
    if len(fitting) == 1:
        return fitting
    raise _several(selection, known, fitting)


def _pick_target(selection: Selection, known: list[Named]) -> list[Named]:
    fitting = _fitting(selection, known)
    if fitting and len({(named.session, named.target) for named in fitting}) == 1:
        return fitting
    raise _several(selection, known, fitting)


def _fitting(selection: Selection, known: list[Named]) -> list[Named]:
    return [
        named
        for named in known
        if selection.session in (None, named.session)
        and selection.connection in (None, named.name, str(named.number))
    ]


def _several(selection: Selection, known: list[Named], fitting: list[Named]) -> UsageError:
    if not known:
        return UsageError(f"{selection.path} holds no connection that could be replayed; record one first.")
    listed = fitting or known
    names = [named.name for named in listed]
    words = [
        named.name if named.name and names.count(named.name) == 1 else str(named.number) for named in listed
    ]
    what = f"has {len(listed)} connections" if fitting else f"has no connection {selection.connection}"
    example = f"{selection.path}#{listed[0].session}/{words[0]}"
    return UsageError(f"{selection.path} {what} ({', '.join(words)}); name one, for example {example}.")
