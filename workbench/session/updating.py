"""Taking the answers of a verified server over into the recording it was verified with."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

from workbench.replay.veil import highest
from workbench.replay.verification import Verification
from workbench.session.verifying import Verifying
from workbench.store.formats.revising import Revised, Revision, revise


class Updated(NamedTuple):
    """How many answers were taken over, and how many differences no answer can settle."""

    taken: int
    left: int

    @property
    def whole(self) -> bool:
        """Whether the recording and the server agree from now on."""
        return not self.left

    @property
    def sentence(self) -> str:
        answers = "1 answer was" if self.taken == 1 else f"{self.taken} answers were"
        left = f"; {self.left} differences are no answers, and stay" if self.left else ""
        return f"{answers} taken over{left}"


def update_recording(
    verifying: Verifying, told: Verification, source: str, rules: Sequence[tuple[str, str]]
) -> Updated:
    """Write what differs into the recording, as recorded from ``source`` now, and keep ``rules`` with it.

    Lines of exchanges that agree stay as they are. Raises ``UsageError`` for a recording that is no
    text form, ``RecordingError`` if it cannot be written.
    """
    whole = verifying.whole
    taken = max((highest(frame.body) for frame in whole.frames if frame.spans), default=0)
    frames: dict[int, Revised] = {}
    for each in told.compared:
        if each.renew and each.request.answer_seq is not None:
            frames[each.request.answer_seq] = Revised(*verifying.client.stored(each, taken))
    if frames or rules:
        when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        detail = f"replay client --update, {when}, from {source}"
        revise(whole.path, Revision(whole.session, frames, "recorded", detail, rules))
    left = sum(not each.renew for each in told.disagreeing) + len(told.questions)
    return Updated(len(frames), left)
