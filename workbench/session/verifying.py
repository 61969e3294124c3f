"""A recorded session verified against live servers: the mock client, and what it takes around it."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Mapping
from itertools import count

import anyio
from anyio.abc import TaskStatus

from workbench.config import Target, display, secrets_of
from workbench.core.frame import Frame, Stream, StreamSink, Unit
from workbench.core.jsonrpc import Decoded
from workbench.core.redact import Redactor
from workbench.errors import UsageError
from workbench.replay.client import MockClient
from workbench.replay.client_script import build
from workbench.replay.manner import Manner
from workbench.replay.veil import needed
from workbench.replay.verification import Verification
from workbench.store.recorder import Recorder
from workbench.store.whole import Whole
from workbench.wire.drive import drive
from workbench.wire.tap import Tap


class Verifying:
    """One run. ``targets`` are the servers by recorded connection; ``unreached`` says why none of them
    could be talked to, empty if one could."""

    def __init__(self, whole: Whole, targets: Mapping[int, Target], manner: Manner) -> None:
        """Raises ``UsageError`` where something is missing without which not all can be sent."""
        self.whole = whole
        self._targets = dict(targets)
        script = build(whole.frames, whole.streams)
        missing = needed(script, manner.secrets)
        if missing:
            first = missing[0]
            raise UsageError(
                f"#{first.seq} sends {first.placeholder} at {first.pointer or '/'}, which the recording does "
                f"not hold; give it with --secret {first.number}=env:NAME"
            )
        # Those that are sent from the recording are as secret as those of the target.
        self._secrets = {f"secret {number}": value for number, value in manner.secrets.items()}
        redactor = Redactor()
        for target in self._targets.values():
            for name, value in secrets_of(target).items():
                redactor.add_secret(name, value)
        self.client = MockClient(script, manner, redactor=redactor, recording=whole.path)
        self.unreached = ""

    async def run(self, path: str | None = None) -> Verification:
        """Verify; the run is recorded to ``path``, if one is given. SIGTERM and SIGHUP end it in good
        order and then the program (``SystemExit``). Raises ``RecordingError``."""
        recorder = None if path is None else Recorder(path, name=self.whole.name, origin="verify")
        ended = "interrupted"
        received = 0
        try:
            async with anyio.create_task_group() as group:

                async def heed(*, task_status: TaskStatus[None]) -> None:
                    nonlocal received
                    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGHUP) as signals:
                        task_status.started()
                        async for number in signals:
                            received = int(number)
                            group.cancel_scope.cancel()

                if threading.current_thread() is threading.main_thread():
                    await group.start(heed)
                await drive(
                    self.client, self._targets, _Taps(self.whole, self._targets, recorder, self._secrets)
                )
                ended = "closed"
                group.cancel_scope.cancel()
        finally:
            if recorder is not None:
                recorder.close(ended)
        if received:
            raise SystemExit(128 + received)
        self.unreached = self.client.unreached
        return self.client.verification()


class _Taps:
    """Makes the tap of each connection: into a recording, or past nobody."""

    def __init__(
        self,
        whole: Whole,
        targets: Mapping[int, Target],
        recorder: Recorder | None,
        secrets: Mapping[str, str],
    ) -> None:
        self.whole = whole
        self._targets = targets
        self._recorder = recorder
        self._secrets = secrets

    def __call__(self, connection: int, saw: Callable[[Frame, Decoded | None], None]) -> Tap:
        recorder = self._recorder
        if recorder is None:
            sink: StreamSink = _Counting()
            return Tap(sink, connection, saw)
        target = self._targets[connection]
        name = self.whole.names[connection]
        secrets = {**secrets_of(target), **self._secrets}
        number = recorder.connect(name, target.transport, display(target), secrets=secrets)

        def seen(frame: Frame, decoded: Decoded | None) -> None:
            saw(frame, decoded)
            if b'"exited"' in frame.body[:40] or b'"closed"' in frame.body[:40]:
                recorder.describe(number, closed_ns=time.time_ns())

        return Tap(recorder, number, seen)


class _Counting:
    """Keeps nothing, and numbers what it is given."""

    def __init__(self) -> None:
        self._frames = count(1)
        self._streams = count(1)

    def put(self, unit: Unit) -> int:  # noqa: ARG002
        return next(self._frames)

    def has_room(self) -> bool:
        return True

    def new_stream(self) -> int:
        return next(self._streams)

    def stream(self, stream: Stream) -> None:
        """A stream is nobody's business here."""

    def finding(self, seq: int, rule: str, severity: str, pointer: str = "") -> None:
        """Nothing is checked here."""
