"""Server files that other tools share: ``{"mcpServers": {NAME: {"command": …}}}``.

An entry is read by itself, so that one odd entry never hides the others. Members
nobody here knows are left alone: they belong to the tool that wrote them.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench.config.targets import Target, make_target
from workbench.errors import UsageError

#: Where ``@name`` is looked up when no file is named, in the folder one works in.
PROJECT_FILES = (".mcp.json",)

_VARIABLE = re.compile(r"\$\{(?:env:)?([A-Za-z_]\w*)(?::-([^}]*))?\}")
_INPUT = re.compile(r"\$\{input:([^}]*)\}")


def find_server(name: str, files: tuple[str, ...] = (), base: Mapping[str, Any] | None = None) -> Target:
    """The target of ``@name``. ``files`` are searched in order, else the project's own; ``base``
    are values for what an entry does not say. Raises ``UsageError``."""
    known: list[str] = []
    searched = [Path(file).expanduser() for file in files] or [Path(file) for file in PROJECT_FILES]
    for file in searched:
        if not files and not file.exists():
            continue
        servers = read_servers(file)
        if name in servers:
            return server_target(file, name, servers[name], base or {})
        known += servers
    names = ", ".join(known[:20]) or "none"
    places = ", ".join(str(file) for file in searched)
    raise UsageError(
        f"no server is named @{name} in {places} (there: {names}); name the file with --config FILE"
    )


def read_servers(path: Path) -> dict[str, Any]:
    """The entries of a file by name, as they stand. Raises ``UsageError``."""
    try:
        text = path.read_text("utf-8-sig")
        value = json.loads(text)
    except OSError as error:
        raise UsageError(
            f"cannot read {path}: {error.strerror}; name a readable file with --config"
        ) from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is not JSON: {error}; correct that line") from None
    servers = value.get("mcpServers", value.get("servers")) if isinstance(value, dict) else None
    if not isinstance(servers, dict):
        raise UsageError(f'{path} has no object "mcpServers"; name another file with --config')
    return servers


def server_target(path: Path, name: str, entry: Any, base: Mapping[str, Any]) -> Target:
    """The target of one entry. Raises ``UsageError`` that names file, entry and member."""
    where = f"{path}, server {name}"
    if not isinstance(entry, dict):
        raise UsageError(f'{where}: is not an object; write {{"command": …}}')
    if "command" not in entry:
        if "url" in entry or "serverUrl" in entry:
            raise UsageError(f"{where}: HTTP servers are not supported yet; use one with a command")
        raise UsageError(f'{where}: has no "command"; add one')
    values = {**base, "name": name, "origin": str(path)}
    values.pop("inputs", None)
    for member in ("command", "args", "env", "cwd"):
        if entry.get(member) is not None:
            values[member] = _expanded(f"{where}, {member}", entry[member])
    if base.get("env"):
        values["env"] = {**_object(values.get("env")), **base["env"]}
    return make_target(where, values)


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _expanded(where: str, value: Any) -> Any:
    """Text with ``${VAR}``, ``${env:VAR}`` and ``${VAR:-default}`` put in from the environment."""
    if isinstance(value, dict):
        return {key: _expanded(f"{where}.{key}", item) for key, item in value.items()}
    if isinstance(value, list):
        return [_expanded(where, item) for item in value]
    if not isinstance(value, str):
        return value
    asked = _INPUT.search(value)
    if asked:
        raise UsageError(
            f"{where}: needs the input {asked[1]!r}, which is not asked for yet; give it with --env"
        )

    def put_in(found: re.Match[str]) -> str:
        name, default = found[1], found[2]
        given = os.environ.get(name)
        if given or (given is not None and default is None):
            return given
        if default is None:
            raise UsageError(
                f"{where}: the variable {name} is not set; set it, or write ${{{name}:-default}}"
            )
        return default

    return _VARIABLE.sub(put_in, value)
