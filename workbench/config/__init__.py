"""Targets and settings: what a user writes, as typed values (pydantic).

The names are loaded when they are first used: pydantic takes half as long to
load as the screen, which paints before it knows its targets.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.config.arguments import parse_line, parse_targets, take_targets
    from workbench.config.own import forget, keep_target
    from workbench.config.place import are_given, settings_path
    from workbench.config.secrets import (
        display,
        secrets_of,
        shown_command,
        shown_environment,
        shown_headers,
        shown_url,
    )
    from workbench.config.settings import Settings, load_settings
    from workbench.config.targets import Root, Target, Timeouts, default_capabilities, target_name
    from workbench.core.naming import suggest_name, suggest_url_name, unique_name

_HOMES = {
    "workbench.config.arguments": ("parse_line", "parse_targets", "take_targets"),
    "workbench.config.own": ("forget", "keep_target"),
    "workbench.config.place": ("are_given", "settings_path"),
    "workbench.config.secrets": (
        "display",
        "secrets_of",
        "shown_command",
        "shown_environment",
        "shown_headers",
        "shown_url",
    ),
    "workbench.config.settings": ("Settings", "load_settings"),
    "workbench.config.targets": ("Root", "Target", "Timeouts", "default_capabilities", "target_name"),
    "workbench.core.naming": ("suggest_name", "suggest_url_name", "unique_name"),
}

__all__ = [
    "Root",
    "Settings",
    "Target",
    "Timeouts",
    "are_given",
    "default_capabilities",
    "display",
    "forget",
    "keep_target",
    "load_settings",
    "parse_line",
    "parse_targets",
    "secrets_of",
    "settings_path",
    "shown_command",
    "shown_environment",
    "shown_headers",
    "shown_url",
    "suggest_name",
    "suggest_url_name",
    "take_targets",
    "target_name",
    "unique_name",
]


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
