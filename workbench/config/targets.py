"""What to connect to, as one typed value.

A target says everything that decides how a connection comes about: the command,
its environment and folder, what is offered in the handshake and how long is
waited. It comes from the command line, from the screen's line, or from a file
that other tools share, and it is the same value in all three.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from workbench.config.oauth import OAuth
from workbench.core.credentials import plain_arguments
from workbench.core.methods import LATEST_HANDSHAKE, LATEST_STATELESS
from workbench.core.naming import suggest_name, suggest_url_name
from workbench.core.pending import Timeouts as CoreTimeouts
from workbench.core.rules import Rule
from workbench.errors import UsageError

#: The revision that gave elicitation its modes (``form`` and ``url``).
_MODES_SINCE = "2025-11-25"
_ELICITATION_SINCE = "2025-06-18"


class Timeouts(BaseModel):
    """Seconds: ``start`` until the handshake is answered, ``request`` until a request is answered
    or makes progress, ``maximum`` for a request however much progress it makes, ``shutdown`` for
    each step of ending a server."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    start: float = Field(default=60.0, gt=0)
    request: float = Field(default=60.0, gt=0)
    maximum: float = Field(default=600.0, gt=0)
    shutdown: float = Field(default=2.0, ge=0)

    def plain(self) -> CoreTimeouts:
        """The same for ``core``, which knows no pydantic."""
        return CoreTimeouts(self.start, self.request, self.maximum, self.shutdown)


def environment_text(value: Any) -> str | None:
    """How a value of ``env`` reaches the server: text as it is, ``true``/``false`` for a boolean,
    a number in its JSON spelling, and ``None`` for ``null``, which removes an inherited variable.

    Raises ``ValueError`` for anything else, because no spelling of it is obvious.
    """
    if value is None or isinstance(value, str):
        if value is not None and "\0" in value:
            raise ValueError("holds a NUL character, which no environment can carry")
        return value
    if isinstance(value, (bool, int, float)):
        return json.dumps(value)
    raise ValueError("is neither text, a number, true, false nor null")


EnvironmentValue = Annotated[str | None, BeforeValidator(environment_text)]


class Root(BaseModel):
    """A root as ``roots/list`` tells it: a ``file://`` URI and a name."""

    model_config = ConfigDict(frozen=True, extra="allow")

    uri: str
    name: str | None = None


class Target(BaseModel):
    """One server to connect to.

    ``transport`` is ``stdio`` (``command``, ``args``, ``env``, ``cwd``), ``http`` or ``sse`` (``url``,
    ``headers``), or the name of one that another package brings (``url`` is then its address, as it
    likes it). ``http`` finds out by itself when a server only has the older HTTP with SSE. ``era``
    is how the first contact is made: ``legacy`` begins with ``initialize``, ``modern`` with
    ``server/discover``, ``auto`` finds out.
    ``env`` is merged over the inherited environment. ``offer`` is the revision to offer, any text.
    ``capabilities`` are the client's, ``None`` for everything the workbench can do in that
    revision. ``require`` are dotted server capabilities without which the connection is of no use.
    ``recording`` is set when the server is a replay of that file. ``origin`` says where the target
    was written. ``rules`` answer the server's requests, the first that fits. ``secrets`` are values in
    it that are nobody's business, by name. ``oauth`` is how authorization is got, ``None`` for the usual
    way. ``claim`` is set when a project's file asks for the
    target: what a yes is remembered by.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = ""
    transport: str = "stdio"
    command: str = ""
    args: tuple[str, ...] = ()
    url: str = ""
    headers: dict[str, str] = Field(default_factory=dict)
    era: Literal["auto", "legacy", "modern"] = "auto"
    env: dict[str, EnvironmentValue] = Field(default_factory=dict)
    cwd: str | None = None
    offer: str = LATEST_HANDSHAKE
    capabilities: dict[str, Any] | None = None
    require: tuple[str, ...] = ()
    client_info: dict[str, Any] | None = None
    roots: tuple[Root, ...] = ()
    rules: tuple[Rule, ...] = ()
    log_level: str | None = None
    timeouts: Timeouts = Timeouts()
    recording: str | None = None
    origin: str = "command line"
    secrets: dict[str, str] = Field(default_factory=dict, repr=False)
    oauth: OAuth | None = None
    claim: str = ""

    @model_validator(mode="after")
    def _is_complete(self) -> Target:
        if self.transport == "stdio" and not self.command:
            raise ValueError("a stdio server needs a command")
        if self.transport != "stdio" and not self.url:
            raise ValueError(f"a server over {self.transport} needs a URL")
        return self

    @property
    def offered_capabilities(self) -> dict[str, Any]:
        """What the handshake offers the server."""
        return default_capabilities(self.offer) if self.capabilities is None else self.capabilities


def root_of(text: str) -> Root:
    """The root of a folder's path, or of a URI."""
    uri = text if "://" in text else Path(text).expanduser().absolute().as_uri()
    return Root(uri=uri, name=uri.rstrip("/").rpartition("/")[2] or uri)


def default_capabilities(offer: str) -> dict[str, Any]:
    """Everything a user can answer to in a revision. Revisions compare as text, so a draft's
    name gets what the newest has."""
    # Without a session there is nobody to be told that the roots have changed.
    roots = {} if offer >= LATEST_STATELESS else {"listChanged": True}
    offered: dict[str, Any] = {"roots": roots, "sampling": {}}
    if offer >= _MODES_SINCE:
        offered["elicitation"] = {"form": {}, "url": {}}
    elif offer >= _ELICITATION_SINCE:
        offered["elicitation"] = {}
    return offered


def switched_capabilities(offered: Mapping[str, Any], switched: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Capabilities with some switched: a dotted name and what to declare under it, ``None`` for
    nothing. Switching on keeps what stands below the name already, unless something is given."""
    made = copy.deepcopy(dict(offered))
    for name, declared in switched:
        *above, last = name.split(".")
        place = made
        for part in above:
            if declared is None and part not in place:
                break
            below = place.get(part)
            place[part] = place = below if isinstance(below, dict) else {}
        else:
            if declared is None:
                place.pop(last, None)
            elif declared != {} or last not in place:
                place[last] = declared
    return made


def target_name(target: Target) -> str:
    """A short name for a target that was given none."""
    if target.transport == "stdio":
        return suggest_name(target.command, plain_arguments(target.args))
    return suggest_url_name(target.url) if target.transport in ("http", "sse") else target.transport


def make_target(where: str, values: Mapping[str, Any]) -> Target:
    """A target from values; raises ``UsageError`` that begins with ``where`` and names the value."""
    try:
        return Target(**values)
    except ValidationError as error:
        raise UsageError(f"{where}: {first_fault(error)}") from None


def first_fault(error: ValidationError) -> str:
    """The first fault pydantic found, as the end of a sentence: which value, and what is wrong with it."""
    fault = error.errors()[0]
    place = ".".join(str(part) for part in fault["loc"] if part not in ("str", "none"))
    message = fault["msg"].removeprefix("Value error, ")
    return f"{place}: {message[:1].lower()}{message[1:]}; correct it"
