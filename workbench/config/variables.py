"""``${…}`` in what users write: variables of the environment, folders, and inputs.

All spellings of the tools whose files we read are known everywhere: ``${VAR}``,
``${VAR:-default}``, ``${env:VAR}``, ``${workspaceFolder}``, ``${userHome}`` and
``${input:ID}``. A plain ``$VAR`` is text, and so is a ``${…}`` of another shape;
``${$}`` is a dollar sign, for text that would be taken for a variable.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from types import MappingProxyType

from workbench.core.credentials import is_secret_name

_PLACE = re.compile(r"\$\{([A-Za-z_/$][\w/]*)(?::(?!-)([^}]*?))?(?::-([^}]*))?\}")
_NAME = re.compile(r"[A-Za-z_]\w*")

#: Before the id of an input, where secrets are told apart by the names of what they were put in for.
INPUT = "input:"


class Variables:
    """What stands for ``${…}``.

    ``workspace`` is the folder a project's file belongs to, ``inputs`` the values of ``${input:ID}``,
    ``None`` to leave inputs as they stand, ``passwords`` the ids of those that are secrets.
    ``secrets`` collects what was put in under a name that usually carries a secret.
    """

    def __init__(
        self,
        environ: Mapping[str, str] | None = None,
        workspace: str | None = None,
        inputs: Mapping[str, str] | None = MappingProxyType({}),
        passwords: Collection[str] = (),
    ) -> None:
        self.environ = os.environ if environ is None else environ
        self.inputs = inputs
        self.passwords = passwords
        self.secrets: dict[str, str] = {}
        folder = workspace or os.getcwd()
        self._folders = {
            "workspaceFolder": folder,
            "workspaceRoot": folder,
            "workspaceFolderBasename": os.path.basename(folder),
            "cwd": os.getcwd(),
            "userHome": self.environ.get("HOME") or str(Path.home()),
            "pathSeparator": os.sep,
            "/": os.sep,
            "$": "$",
        }

    def put_in(self, text: str) -> str:
        """The text with its variables put in. Raises ``ValueError`` with the end of a sentence."""
        return _PLACE.sub(self._value, text)

    def _value(self, found: re.Match[str]) -> str:
        kind, name, default = found[1], found[2], found[3]
        if kind == "input" and name:
            return found[0] if self.inputs is None else self._input(name, self.inputs)
        if kind == "env" and name is not None and _NAME.fullmatch(name):
            return self._variable(name, default)
        if name is not None or (not _NAME.fullmatch(kind) and kind not in self._folders):
            return found[0]
        if kind in self._folders and kind not in self.environ:
            return self._folders[kind]
        return self._variable(kind, default)

    def _input(self, id: str, inputs: Mapping[str, str]) -> str:
        if id not in inputs:
            raise ValueError(f"needs the input {id!r}; give it with --input {id}=VALUE")
        if id in self.passwords or is_secret_name(id):
            self.secrets[f"{INPUT}{id}"] = inputs[id]
        return inputs[id]

    def _variable(self, name: str, default: str | None) -> str:
        given = self.environ.get(name)
        if not given and default is not None:
            return default
        if given is None:
            raise ValueError(f"the variable {name} is not set; set it, or write ${{{name}:-default}}")
        if given and is_secret_name(name):
            self.secrets[name] = given
        return given


def put_back(text: str, secrets: Mapping[str, str]) -> str:
    """The text from which ``put_in`` makes this one, with each secret as the variable or input it
    came from."""
    text = text.replace("${", "${$}{")
    for name, value in sorted(secrets.items(), key=lambda item: -len(item[1])):
        if value and (name.startswith(INPUT) or _NAME.fullmatch(name)):
            text = text.replace(value.replace("${", "${$}{"), f"${{{name}}}")
    return text
