"""Targets and settings: what a user writes, as typed values (pydantic)."""

from workbench.config.arguments import parse_line, parse_targets, take_targets
from workbench.config.secrets import display, secrets_of, shown_command, shown_environment
from workbench.config.settings import Settings, load_settings, settings_path
from workbench.config.targets import Root, Target, Timeouts, default_capabilities
from workbench.core.naming import suggest_name, unique_name

__all__ = [
    "Root",
    "Settings",
    "Target",
    "Timeouts",
    "default_capabilities",
    "display",
    "load_settings",
    "parse_line",
    "parse_targets",
    "secrets_of",
    "settings_path",
    "shown_command",
    "shown_environment",
    "suggest_name",
    "take_targets",
    "unique_name",
]
