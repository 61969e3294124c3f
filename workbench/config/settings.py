"""The user's own settings: one TOML file, and environment variables over it.

The file is ``config.toml`` in the platform's configuration folder
(``MCP_WORKBENCH_CONFIG`` names another one). Every setting can be given as a
variable too: ``MCP_WORKBENCH_`` and its name in capitals, for a timeout
``MCP_WORKBENCH_TIMEOUTS_START``. A setting nobody knows is an error, because a
misspelt one would otherwise be ignored in silence.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from workbench.config.place import ELSEWHERE, PREFIX, settings_path
from workbench.config.redaction import check_redaction
from workbench.config.targets import Root, Timeouts, first_fault, root_of
from workbench.core.methods import LATEST_HANDSHAKE
from workbench.core.rules import Rule
from workbench.errors import UsageError

#: Settings that no variable can hold.
_TABLES = (*ELSEWHERE, "keys", "timeouts", "capabilities", "rules", "redaction")


class Settings(BaseModel):
    """Settings, all with a default.

    ``record``: record from the first frame. ``offer``: the revision to offer. ``era``: how the first contact
    is made, unless a target says. ``theme``,
    ``mouse``, ``animation``, ``keys`` (action to key): the screen's. ``config``: files of other
    tools in which ``@name`` is looked up. ``rules`` answer the requests of every server, after its
    own rules. ``redaction``: values and patterns to keep out of recordings (``config.redaction``).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    timeouts: Timeouts = Timeouts()
    offer: str = LATEST_HANDSHAKE
    era: Literal["auto", "legacy", "modern"] = "auto"
    record: bool = True
    redact: bool = True
    redaction: dict[str, list[str]] = Field(default_factory=dict)
    theme: str = ""
    mouse: bool = True
    animation: bool = False
    keys: dict[str, str] = Field(default_factory=dict)
    config: tuple[str, ...] = ()
    roots: tuple[Root, ...] = ()
    capabilities: dict[str, Any] | None = None
    rules: tuple[Rule, ...] = ()

    @field_validator("redaction", mode="before")
    @classmethod
    def _redaction(cls, value: Any) -> Any:
        return check_redaction(value)

    @field_validator("roots", mode="before")
    @classmethod
    def _folders(cls, value: Any) -> Any:
        items = value.split(os.pathsep) if isinstance(value, str) else value
        return [root_of(item) if isinstance(item, str) else item for item in items]


def load_settings(path: Path | None = None, environ: Mapping[str, str] | None = None) -> Settings:
    """Read the settings. A file that is not there means the defaults; raises ``UsageError``."""
    environ = os.environ if environ is None else environ
    path = path or settings_path(environ)
    values = _read(path)
    from_variables = _variables(environ)
    if "timeouts" in from_variables and isinstance(values.get("timeouts"), dict):
        from_variables["timeouts"] = {**values["timeouts"], **from_variables["timeouts"]}
    try:
        return Settings(**{**values, **from_variables})
    except ValidationError as error:
        raise UsageError(f"settings ({path} and {PREFIX}… variables): {first_fault(error)}") from None


def _read(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            return tomllib.load(file)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise UsageError(
            f"cannot read the settings {path}: {error.strerror}; correct its permissions"
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"the settings {path} are not TOML: {error}; correct that line") from None


def _variables(environ: Mapping[str, str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    timeouts: dict[str, str] = {}
    for name, value in environ.items():
        if not name.startswith(PREFIX):
            continue
        setting = name.removeprefix(PREFIX).lower()
        if setting.startswith("timeouts_"):
            timeouts[setting.removeprefix("timeouts_")] = value
        elif setting in Settings.model_fields and setting not in _TABLES:
            values[setting] = value
    if timeouts:
        values["timeouts"] = timeouts
    return values
