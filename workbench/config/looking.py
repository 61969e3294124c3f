"""What is to be told of a server in a list: what it would do, and what stands in its way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from workbench.config.consent import claim_of, needs_consent
from workbench.config.entries import Entry, entry_values, needed_inputs
from workbench.config.inputs import Input
from workbench.config.secrets import display
from workbench.config.targets import Target, make_target
from workbench.errors import UsageError

#: ``ok``: can be used; ``asks``: somebody has to agree first; ``disabled``: by the tool whose file it
#: is, and usable; ``bad``: ``why`` says what is wrong with it.
State = Literal["ok", "asks", "disabled", "bad"]


class Look(NamedTuple):
    """An entry as it is listed. ``shown`` is the command or the address without secrets, empty for a
    bad one; ``inputs`` are to be asked for first."""

    entry: Entry
    state: State
    target: Target | None = None
    shown: str = ""
    why: str = ""
    inputs: tuple[Input, ...] = ()


def look(entry: Entry, environ: Mapping[str, str] | None = None) -> Look:
    """Look at an entry without using it; never raises for what is in it."""
    try:
        values = {**entry_values(entry, None, environ), "claim": claim_of(entry, environ)}
        target = make_target(entry.where, values)
    except UsageError as error:
        return Look(entry, "bad", why=str(error))
    state: State = "asks" if needs_consent(target, environ) else "ok"
    if entry.disabled:
        state = "disabled"
    return Look(entry, state, target, display(target), inputs=tuple(needed_inputs(entry)))
