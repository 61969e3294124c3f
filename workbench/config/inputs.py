"""Inputs: values a server file leaves open (``${input:ID}``), to be asked for when a server needs them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from workbench.config.jsonc import Node
from workbench.errors import UsageError

_USED = re.compile(r"\$\{input:([^}]+)\}")

#: As many choices as a person can look through.
MAX_CHOICES = 1000


class Input(NamedTuple):
    """One open value. ``choices`` are (value, label), empty for any text; ``fault`` is a sentence
    when nobody here can be asked for it."""

    id: str
    description: str = ""
    default: str | None = None
    password: bool = False
    choices: tuple[tuple[str, str], ...] = ()
    fault: str = ""

    @property
    def question(self) -> str:
        """What to ask."""
        return self.description or self.id


class InputsNeeded(UsageError):
    """A target cannot be made before somebody has been asked for ``inputs``."""

    def __init__(self, name: str, inputs: Iterable[Input]) -> None:
        self.name = name
        self.inputs = tuple(inputs)
        faults = [one.fault for one in self.inputs if one.fault]
        wanted = " ".join(f"--input {one.id}=VALUE" for one in self.inputs)
        ids = ", ".join(repr(one.id) for one in self.inputs)
        word = "input" if len(self.inputs) == 1 else "inputs"
        why = f"; {faults[0]}" if faults else ""
        super().__init__(f"server {name} needs the {word} {ids}{why}; give {wanted}")


def read_inputs(node: Node | None) -> dict[str, Input]:
    """The inputs a file defines (VS Code's ``inputs``), by id; what is odd about one is its fault."""
    found: dict[str, Input] = {}
    for item in node.value if node is not None and isinstance(node.value, list) else ():
        value = item.plain()
        if isinstance(value, dict) and isinstance(value.get("id"), str):
            found[value["id"]] = _input(value)
    return found


def used_inputs(value: Any) -> list[str]:
    """The ids of the inputs that stand in a value, in their order, each once."""
    if isinstance(value, str):
        return list(dict.fromkeys(_USED.findall(value)))
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return list(dict.fromkeys(id for part in parts for id in used_inputs(part)))


def check_choice(wanted: Input, value: str) -> str:
    """The value an answer means: of a choice its label does as well. Raises ``ValueError``."""
    if not wanted.choices:
        return value
    for choice, label in wanted.choices:
        if value in (choice, label):
            return choice
    labels = ", ".join(label for _, label in wanted.choices[:20])
    raise ValueError(f"{value!r} is none of {labels}")


def _input(value: Mapping[str, Any]) -> Input:
    id, kind = value["id"], value.get("type", "promptString")
    description = _text(value.get("description"))
    default = value.get("default")
    default = default if isinstance(default, str) else None
    if kind == "promptString":
        return Input(id, description, default, value.get("password") is True)
    if kind == "pickString":
        choices = tuple(_choices(value.get("options")))
        fault = "" if choices else f"the file gives no options to choose {id!r} from"
        return Input(id, description, default, False, choices, fault)
    if kind == "command":
        return Input(
            id, description, fault=f"{id!r} is what a command of VS Code gives, which only VS Code runs"
        )
    return Input(
        id, description, fault=f"{id!r} is of the type {_text(kind) or kind!r}, which is not known here"
    )


def _choices(options: Any) -> Iterable[tuple[str, str]]:
    for option in options[:MAX_CHOICES] if isinstance(options, list) else ():
        if isinstance(option, str):
            yield option, option
        elif isinstance(option, dict) and isinstance(option.get("value"), str):
            yield option["value"], _text(option.get("label")) or option["value"]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
