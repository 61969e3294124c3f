"""The recorder, in a process of its own beside the pumps.

The interpreter runs one thread at a time, and reading a frame takes it longer
than passing it on. With the recorder's thread in the pumps' process a burst went
through at a fifteenth of the speed, and single calls waited milliseconds for
their turn. Parted, the pumps only copy into a ring. A killed stand-in also loses
nothing: the recorder finds the other end gone, writes what is left and says
that the session was ``killed``.

The process is made by ``fork`` before there are threads, and before either has
loaded what only it needs. It leads a session of
its own, so a signal to the stand-in's process group does not reach it, and it
leaves standard input and output alone: they belong to the protocol.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from workbench.core.frame import Stream, Unit
from workbench.errors import RecordingError, WorkbenchError
from workbench.standin.recording import Recording
from workbench.standin.ring import MOST, Ring, Word
from workbench.wire.bell import Bell
from workbench.wire.pump import replace

if TYPE_CHECKING:
    from workbench.store.recorder import Recorder

#: How many stand-ins may be started in the same moment under one name.
NEIGHBOURS = 100

#: How long the recorder is waited for before it is given more although it has not kept up (seconds).
FLUSH = 10.0

#: How long what is put may gather before it is taken (seconds).
GATHER = 0.004


class Scribe:
    """The pumps' side: hand over to ``ring``, and ``end`` it at the end."""

    def __init__(self, recording: Recording, ours: Sequence[int] = ()) -> None:
        """Part the processes. ``ours`` are descriptors that the other one must not have as well."""
        bell = Bell()
        self.ring = Ring(bell)
        self._ended = False
        answer, tell = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            for descriptor in ours:
                os.close(descriptor)
            _be_the_recorder(recording, self.ring, bell, tell)
        os.close(tell)
        self._answer = answer

    def opened(self) -> str:
        """Wait until the file is there: its path. Raises ``RecordingError``."""
        with os.fdopen(self._answer, "rb") as pipe:
            said = pipe.read()
        if said.startswith(b"+"):
            return os.fsdecode(said[1:])
        os.waitpid(self._pid, 0)
        raise RecordingError(
            said[1:].decode("utf-8", "replace") or "The recorder could not be started; try it again."
        )

    def lost(self) -> bool:
        """Whether the recorder's process has ended although nobody asked it to; said once. From
        then on nothing is recorded and nothing waits for it."""
        if self.ring.abandoned or not self.ended():
            return False
        self.ring.abandoned = True
        return True

    def end(self, ended_how: str, connection: int = 0, facts: dict[str, Any] | None = None) -> None:
        """Say how the session ended: with that the recorder ends by itself. ``facts`` are the last ones of
        a connection, which is closed now."""
        if facts is not None:
            facts = {**facts, "closed_ns": time.time_ns()}
            self.ring.say(json.dumps(["describe", [connection, facts]]).encode())
        self.ring.say(json.dumps(["end", ended_how]).encode())

    def ended(self) -> bool:
        """Whether the recorder's process is gone; if it was asked to, the file is whole."""
        if not self._ended:
            try:
                self._ended = os.waitpid(self._pid, os.WNOHANG)[0] != 0
            except ChildProcessError:
                self._ended = True
        return self._ended


def _be_the_recorder(recording: Recording, ring: Ring, bell: Bell, tell: int) -> None:
    """The other process, from its beginning to its end."""
    status = 1
    try:
        _part()
        bell.listen()
        _record(recording, ring, tell)
        status = 0
    except WorkbenchError as error:
        with suppress(OSError):
            os.write(tell, b"-" + str(error).encode("utf-8", "replace"))
    except BaseException as error:
        complain(f"the recording has stopped ({error!r}); the server goes on without it")
    finally:
        os._exit(status)


def _part() -> None:
    os.setsid()
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    replace(0)
    replace(1)


def _record(recording: Recording, ring: Ring, tell: int) -> None:
    # What only this process needs is loaded here, while the other one loads what it needs.
    from workbench.standin.handshake import Overheard

    recorder = _open(recording)
    assert recorder.path is not None
    os.write(tell, b"+" + os.fsencode(recorder.path))
    os.close(tell)
    overheard = Overheard() if recording.command is not None else None
    words = _Words(recorder)
    while not words.ended_how and (entries := _next(ring)):
        size = 0
        for entry in entries:
            if isinstance(entry, Word):
                words.take(*json.loads(entry.text))
            else:
                recorder.put(entry)
                size += len(entry.data)
                if overheard is not None and not overheard.over and (facts := overheard.take(entry)):
                    recorder.describe(entry.connection, **facts)
        if size >= MOST:
            # A backlog is better kept in the ring than in the recorder: there it needs no time of it.
            recorder.flush(FLUSH)
    recorder.close(words.ended_how or "killed")


class _Words:
    """What is said beside the units: connections, facts about them, streams, the end."""

    def __init__(self, recorder: Recorder) -> None:
        self.ended_how = ""
        self._recorder = recorder

    def take(self, what: str, about: Any) -> None:
        if what == "stream":
            number, connection, verb, url, asked, opened_ns, status, answered, *rest = about
            heads = (tuple(map(tuple, asked)), opened_ns, status, tuple(map(tuple, answered)))
            self._recorder.stream(Stream(number, connection, verb, url, *heads, *rest))
        elif what == "connect":
            name, transport, target, secrets = about
            self._recorder.connect(name, transport, target, secrets=secrets)
        elif what == "describe":
            connection, facts = about
            self._recorder.describe(connection, **facts)
        else:
            self.ended_how = about


def _open(recording: Recording) -> Recorder:
    from workbench.core.naming import suggest_name
    from workbench.store.library import new_path
    from workbench.store.neighbours import remove
    from workbench.store.recorder import Recorder

    command = recording.command
    name = recording.name
    if command is not None:
        from workbench.core.credentials import given_secrets, plain_arguments

        name = name or suggest_name(command.command, plain_arguments(command.args))

    def open_file(path: str) -> Recorder:
        return Recorder(
            path,
            name=name,
            origin="stand-in",
            group=recording.group,
            redact=recording.redact,
            on_trouble=_once(complain),
        )

    if recording.path is None:
        recorder = _first_free(open_file, lambda: new_path(name))
    else:
        if recording.force:
            remove(recording.path)
        recorder = open_file(recording.path)
    if command is not None:
        from shlex import quote

        shown = " ".join(map(quote, command.words))
        recorder.connect(name, "stdio", shown, secrets=given_secrets(command.env, command.args))
    return recorder


def _first_free(open_file: Callable[[str], Recorder], new_path: Callable[[], str]) -> Recorder:
    """A recorder at a new path, although other stand-ins may take the same one at the same moment."""
    for _ in range(NEIGHBOURS):
        path = new_path()
        try:
            return open_file(path)
        except RecordingError:
            if not os.path.exists(path):
                raise
    return open_file(new_path())


def _next(ring: Ring) -> list[Unit | Word]:
    """What there is to be recorded, when there is something; empty when nothing will come."""
    entries = ring.take()
    while not entries:
        if not ring.sleep():
            return []
        time.sleep(GATHER)
        entries = ring.take()
    return entries


def _once(say: Callable[[str], None]) -> Callable[[str], None]:
    """A disk may refuse, take some and refuse again: the first time says it all."""
    said: list[str] = []

    def say_once(sentence: str) -> None:
        if not said:
            said.append(sentence)
            say(sentence)

    return say_once


def complain(sentence: str) -> None:
    """One line for a person on stderr; a stderr that is gone is no reason to fail."""
    with suppress(OSError):
        os.write(2, f"mcp-workbench: {sentence}\n".encode("utf-8", "replace"))
