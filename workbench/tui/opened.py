"""The desk of an opened recording: the same panes over the same fold, fed in a thread, read-only."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

from workbench.check.noted import Noted
from workbench.check.recorded import Recorded
from workbench.check.rule import Finding
from workbench.core.actions import Outcome
from workbench.core.fold import ConnectionFold
from workbench.core.frame import ANSWERS, Direction, Frame, Kind, Stream
from workbench.core.jsonrpc import decode
from workbench.core.view import ConnectionView
from workbench.errors import WorkbenchError
from workbench.store.reader import Reader
from workbench.tui.desk import Desk, Post, Sign
from workbench.tui.runs import Run

#: How often what has been read so far is shown, and a live recording is looked at again (seconds).
EVERY = 0.1
LOOK_AGAIN = 0.3

#: Frames whose findings are kept at hand, about 1 kB each.
MAX_FOUND = 20_000

#: Requests whose end is looked for, as the runs of their items.
RUN_METHODS = ("tools/call", "resources/read", "prompts/get")


class RecordingDesk(Desk):
    """A session of a recording; ``only`` shows one connection of it."""

    def __init__(self, reader: Reader, only: str | None = None) -> None:
        super().__init__()
        self.reader = reader
        self._only = only
        self._folds: dict[int, ConnectionFold] = {}
        self._heads: dict[int, Stream] = {}
        self._checks = Recorded(self._found)
        self._noted = Noted(MAX_FOUND)
        self._shown: tuple[ConnectionView, ...] = ()
        self._height = reader.height()
        self._read = 0
        self._open: dict[tuple[int, str | None], Frame] = {}
        self._over = threading.Event()
        self._worker: threading.Thread | None = None
        session = next(row for row in reader.sessions() if row.number == reader.session)
        self.title = session.name

    def start(self, post: Post) -> None:
        super().start(post)
        self._worker = threading.Thread(target=self._work, name="reading", daemon=True)
        self._worker.start()

    def close(self, how: str = "closed") -> None:  # noqa: ARG002 - nothing is written
        self._over.set()
        if self._worker is not None:
            self._worker.join()
        if self.reader is not None:
            self.reader.close()

    @property
    def opening(self) -> str:
        return "" if self._shown else "reading the recording"

    @property
    def views(self) -> Sequence[ConnectionView]:
        return self._shown

    @property
    def height(self) -> int:
        return self._height

    @property
    def sign(self) -> Sign:
        if self._read < self._height:
            return Sign(f"READING {100 * self._read // max(self._height, 1)} %", "waiting", self._height)
        live = self.reader is not None and self.reader.live
        return Sign("FOLLOWING" if live else "RECORDING", "quiet", self._height)

    def findings(self, seq: int) -> Sequence[Finding]:
        return self._noted.of(seq)

    @property
    def source(self) -> tuple[str, int | None] | None:
        return None if self.reader is None else (self.reader.path, self.reader.session)

    # In the thread.

    def _work(self) -> None:
        reader = self.reader
        assert reader is not None
        try:
            self._take_up(reader)
            while not self._over.is_set():
                self._read_on(reader)
                if not reader.live:
                    self._checks.finish()
                    self._show()
                    return
                self._over.wait(LOOK_AGAIN)
                self._take_up(reader)
                self._height = reader.height()
        except WorkbenchError as error:
            self.say(str(error), bad=True)

    def _take_up(self, reader: Reader) -> None:
        for row in reader.connections():
            if row.number not in self._folds and self._only in (None, row.name, str(row.number)):
                self._folds[row.number] = ConnectionFold(row.number, row.name, row.transport, row.target)
        # Heads come before the frames they belong to; most connections have none.
        for stream in reader.streams():
            fold = self._folds.get(stream.connection)
            if fold is not None and self._heads.get(stream.number) != stream:
                self._heads[stream.number] = stream
                fold.stream(stream)
                self._checks.head(stream)

    def _read_on(self, reader: Reader) -> None:
        if self._read >= self._height:
            return
        shown = time.monotonic()
        for frame in reader.frames(first=self._read + 1, last=self._height):
            if self._over.is_set():
                return
            self._read = frame.seq
            fold = self._folds.get(frame.connection)
            if fold is not None:
                fold.advance(frame)
                self._checks.take(frame)
                self._find_run(frame)
            if time.monotonic() - shown > EVERY:
                self._show()
                shown = time.monotonic()
        self._read = self._height
        self._show()

    def _show(self) -> None:
        self._shown = tuple(fold.snapshot() for fold in self._folds.values())
        self.changed()

    def _found(self, connection: int, finding: Finding) -> None:
        self._noted.add((finding,))
        fold = self._folds.get(connection)
        if fold is not None:
            fold.found(finding.rule.severity)

    def _find_run(self, frame: Frame) -> None:
        if frame.method not in RUN_METHODS or frame.name is None:
            return
        key = (frame.connection, frame.id)
        if frame.kind is Kind.REQUEST and frame.direction is Direction.TO_SERVER:
            self._open[key] = frame
        elif frame.kind in ANSWERS and key in self._open:
            asked = self._open.pop(key)
            self.runs.add(_run_of(asked, frame))


def _run_of(asked: Frame, answer: Frame) -> Run:
    messages = decode(asked.body).messages
    params = messages[0].value("params") if messages else None
    from workbench.core.jsonrpc import dumps

    run = Run(str(asked.seq), asked.connection, asked.name or "", asked.method or "", dumps(params))
    answers = decode(answer.body).messages
    how = "result" if answer.kind is Kind.RESULT else "error"
    seconds = (answer.mono_ns - asked.mono_ns) / 1e9
    run.ended = Outcome(how, seconds, answers[0] if answers else None, answer.seq)
    run.request_seq = asked.seq
    return run
