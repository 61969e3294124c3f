"""What the light commands may load: they start beside every server, so each millisecond counts."""

from __future__ import annotations

import socket
import subprocess
import sys

import pytest

HEAVY = {
    "anyio",
    "asyncio",
    "click",
    "dataclasses",
    "httpx",
    "inspect",
    "jsonschema",
    "logging",
    "msgspec",
    "pydantic",
    "rich",
    "sqlite_utils",
    "tempfile",
    "textual",
    "uuid",
}

LIGHT_MODULES = [
    "workbench.cli",
    "workbench.cli.record",
    "workbench.cli.replay_server",
    "workbench.core.frame",
    "workbench.core.jsonrpc",
    "workbench.core.lines",
    "workbench.core.methods",
    "workbench.core.printable",
    "workbench.core.redact",
    "workbench.demo.server",
    "workbench.replay.server",
    "workbench.standin",
    "workbench.store.library",
    "workbench.store.reader",
    "workbench.store.recorder",
    "workbench.wire.pump",
    "workbench.wire.serve",
]


def modules_after(statement: str) -> set[str]:
    """The names in ``sys.modules`` of a new interpreter that ran the statement."""
    script = f"{statement}\nimport sys\nsys.stdout.write(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.rpartition("\n")[2].split())


@pytest.mark.parametrize("module", LIGHT_MODULES)
def test_a_light_module_loads_nothing_heavy(module: str) -> None:
    assert modules_after(f"import {module}") & HEAVY == modules_after("pass") & HEAVY


@pytest.mark.parametrize("command", [["record", "--help"], ["replay", "server", "--help"]])
def test_a_light_command_runs_without_anything_heavy(command: list[str]) -> None:
    loaded = modules_after(f"from workbench.cli import main\nmain({command})")
    assert loaded & HEAVY == modules_after("pass") & HEAVY


#: What stands where a server stands, what draws, and what reads schemas; ``rich`` comes with httpx's own command line.
NOT_FOR_A_REQUEST = {"jsonschema", "mcp", "mcp_types", "pygments", "rich", "starlette", "textual", "uvicorn"}


def test_a_request_over_stdio_loads_no_http() -> None:
    command = ["request", "ping", "--", sys.executable, "-m", "workbench.demo.server"]
    loaded = modules_after(f"from workbench.cli import main\nmain({command})")
    assert "workbench.wire.stdio" in loaded
    assert not loaded & {*NOT_FOR_A_REQUEST, "httpx", "httpcore"}


def test_a_request_over_http_loads_nothing_of_a_server_or_a_screen() -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        command = ["request", "ping", "--http", f"http://127.0.0.1:{nobody.getsockname()[1]}/mcp"]
        loaded = modules_after(f"from workbench.cli import main\nmain({command})")
    assert {"httpx", "httpcore"} <= loaded
    assert not loaded & NOT_FOR_A_REQUEST
    # Nobody has logged in anywhere, so there is nothing that could authorize.
    assert not loaded & {"jwt", "keyring", "cryptography", "workbench.wire.oauth"}


def test_httpx_is_whole_for_whoever_else_uses_it() -> None:
    loaded = modules_after("import workbench.wire.http, httpx._main")
    assert "rich" in loaded


def test_the_help_of_the_whole_program_loads_neither_the_screen_nor_the_wire() -> None:
    loaded = modules_after("from workbench.cli import main\nmain(['--help'])")
    assert "click" in loaded
    assert not loaded & {"textual", "anyio", "pydantic", "sqlite3", "rich", "jsonschema"}
