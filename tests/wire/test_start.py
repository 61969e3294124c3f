"""Programs that cannot be started, and the environment of those that can."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.servers.targets import server
from tests.wire.stage import call_tool, running, text_of
from workbench.config import Target
from workbench.core.lifecycle import State
from workbench.errors import ConnectionFailed

pytestmark = pytest.mark.anyio


async def why_not(target: Target) -> str:
    async with running(target) as (connection, sink):
        with pytest.raises(ConnectionFailed) as failure:
            await connection.ready()
    assert connection.view.state is State.NOT_STARTED
    assert sink.events("start_failed")
    assert connection.view.next_step in str(failure.value)
    return str(failure.value)


async def test_a_command_that_is_not_there_is_told_with_path_and_folder(tmp_path: Path) -> None:
    target = Target(name="x", command="no-such-bin", cwd=str(tmp_path), env={"PATH": "/nowhere:/else"})
    sentence = await why_not(target)
    for part in ("'no-such-bin'", "PATH (/nowhere:/else)", f"working directory {tmp_path}", "Install it"):
        assert part in sentence


async def test_a_path_that_is_not_there_is_told(tmp_path: Path) -> None:
    sentence = await why_not(Target(name="x", command="./server.py", cwd=str(tmp_path)))
    assert f"there is no file {tmp_path}/./server.py" in sentence


async def test_a_wrong_working_directory_is_told() -> None:
    sentence = await why_not(server("minimal", cwd="/nope"))
    assert "the working directory /nope does not exist" in sentence
    assert "--cwd" in sentence


async def test_a_working_directory_that_is_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert "is not a folder" in await why_not(server("minimal", cwd=str(tmp_path / "file")))


async def test_a_file_without_permission_to_run_is_told(tmp_path: Path) -> None:
    script = tmp_path / "server"
    script.write_text("#!/bin/sh\n")
    for command in (str(script), "server"):
        sentence = await why_not(Target(name="x", command=command, env={"PATH": str(tmp_path)}))
        assert "is not executable" in sentence
        assert f"chmod +x {script}" in sentence


async def test_a_script_without_a_first_line_is_told(tmp_path: Path) -> None:
    script = tmp_path / "server"
    script.write_text("echo hello\n")
    script.chmod(0o755)
    sentence = await why_not(Target(name="x", command=str(script)))
    assert "nor a script with a #! line" in sentence
    assert f"sh {script}" in sentence


async def test_a_name_for_windows_is_told_with_the_one_for_here(tmp_path: Path) -> None:
    for name in ("npx.cmd", "server.BAT", "uvx.exe"):
        shim = tmp_path / name
        shim.write_text("@echo off\n")
        for command, mode in ((name, 0o644), (str(shim), 0o644), (str(shim), 0o755), (f"/nowhere/{name}", 0)):
            shim.chmod(mode)
            sentence = await why_not(Target(name="x", command=command, env={"PATH": str(tmp_path)}))
            stem, ending = os.path.splitext(command)
            assert repr(command) in sentence
            assert f"{ending} is for Windows; leave it away on this machine: {stem}" in sentence


async def test_a_script_whose_interpreter_is_missing_is_told(tmp_path: Path) -> None:
    script = tmp_path / "server"
    script.write_text("#!/no/such/python\n")
    script.chmod(0o755)
    assert "(/no/such/python) is not there" in await why_not(Target(name="x", command=str(script)))


async def test_a_folder_is_no_command(tmp_path: Path) -> None:
    assert "is a folder" in await why_not(Target(name="x", command=str(tmp_path)))


async def test_a_script_beside_the_working_directory_is_found(tmp_path: Path) -> None:
    script = tmp_path / "run"
    script.write_text("#!/bin/sh\necho started >&2\n")
    script.chmod(0o755)
    async with running(Target(name="x", command="./run", cwd=str(tmp_path))) as (connection, _):
        with pytest.raises(ConnectionFailed, match="exited with code 0"):
            await connection.ready()
    assert connection.view.stderr[0][1] == "started"


async def environment(target: Target, name: str) -> dict[str, str | None]:
    async with running(target) as (connection, _):
        await connection.ready()
        told: dict[str, str | None] = json.loads(text_of(await call_tool(connection, name)))
    return told


async def test_the_environment_is_inherited_and_the_targets_variables_are_put_over_it() -> None:
    target = server("tells_its_environment", env={"TOKEN": "x", "N": 1, "FLAG": True})
    assert (await environment(target, "PATH"))["value"] == os.environ["PATH"]
    assert (await environment(target, "TOKEN"))["value"] == "x"
    assert (await environment(target, "N"))["value"] == "1"
    assert (await environment(target, "FLAG"))["value"] == "true"


async def test_a_variable_given_as_null_is_not_inherited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNWANTED", "here")
    assert (await environment(server("tells_its_environment"), "UNWANTED"))["value"] == "here"
    target = server("tells_its_environment", env={"UNWANTED": None})
    assert (await environment(target, "UNWANTED"))["value"] is None


async def test_the_server_starts_in_its_working_directory(tmp_path: Path) -> None:
    path = os.pathsep.join([str(Path.cwd()), os.environ.get("PYTHONPATH", "")])
    target = server("tells_its_environment", cwd=str(tmp_path), env={"PYTHONPATH": path})
    assert (await environment(target, "HOME"))["cwd"] == str(tmp_path)


async def test_secrets_of_the_command_line_are_masked_in_what_is_told() -> None:
    target = server("minimal", "--token", "s3cr3t-value")
    async with running(target) as (connection, sink):
        await connection.ready()
    assert sink.events("started")[0]["command"][-1] == "***"
    assert "s3cr3t-value" not in str(connection.view)


async def test_what_no_program_can_be_given_is_told() -> None:
    assert "cannot be given to a program" in await why_not(server("minimal", "a\0b"))
    assert "cannot be given to a program" in await why_not(server("minimal", env={"A=B": "1"}))
