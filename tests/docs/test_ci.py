"""The example for TypeScript and the workflow of docs/ci.md, run as they stand there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import pytest

from tests.docs.blocks import ROOT, blocks
from tests.peers.fixtures import or_skip
from tests.peers.install import VITEST, node_folder, npm_folder

#: Steps that a machine of CI needs and this one has done already, and what shows that it has.
DONE = {
    "pip install mcp-workbench": "mcp-workbench --version",
    "npm ci": "test -d node_modules/vitest && test -d node_modules/@modelcontextprotocol/client",
}


class Step(NamedTuple):
    """A command of the workflow; ``always``: also after one that failed."""

    command: str
    always: bool


class Ran(NamedTuple):
    step: Step
    status: int
    said: str


def steps() -> list[Step]:
    (workflow,) = (block.text for block in blocks("ci.md") if block.language == "yaml")
    found = re.findall(r"(?m)^      - run: (.+)\n(        if: always\(\)\n)?", workflow)
    return [Step(command, bool(always)) for command, always in found]


class Project:
    """A project that uses the example."""

    def __init__(self, folder: Path) -> None:
        modules = or_skip(lambda: [str(npm_folder("vitest", VITEST) / "node_modules")])
        self.folder = folder
        self.folder.mkdir()
        (folder / "node_modules").symlink_to(modules[0])
        (folder / "sessions").mkdir()
        shutil.copy(ROOT / "sessions" / "weather.jsonl", folder / "sessions")
        (folder / "package.json").write_text('{"type": "module", "private": true}\n')
        here = [str(Path(sys.executable).parent), str(node_folder()), os.environ["PATH"]]
        self.env = {**os.environ, "PATH": os.pathsep.join(here), "CI": "true", "HOME": str(folder)}

    def write(self, was: str = "", now: str = "") -> None:
        (example,) = (block.text for block in blocks("ci.md") if block.language == "ts")
        assert was in example
        (self.folder / "weather.test.ts").write_text(example.replace(was, now) if was else example)

    def workflow(self) -> list[Ran]:
        """Run the workflow as CI does: after a failure only what always runs."""
        ran: list[Ran] = []
        for step in steps():
            if any(each.status for each in ran) and not step.always:
                continue
            done = subprocess.run(
                ["bash", "-e", "-c", DONE.get(step.command, step.command)],
                cwd=self.folder,
                env=self.env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=120,
                check=False,
            )
            ran.append(Ran(step, done.returncode, done.stdout))
        return ran


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "project")


def test_the_workflow_is_green_on_what_was_recorded(project: Project) -> None:
    project.write()
    ran = project.workflow()
    assert [each.status for each in ran] == [0] * len(steps()), ran
    assert len(list((project.folder / "reports").glob("mcp-*.json"))) == 1
    suite = ElementTree.parse(project.folder / "reports" / "mcp.xml").getroot()
    assert suite.findall(".//testcase")
    assert not suite.findall(".//failure")


def test_a_call_that_was_not_recorded_fails_the_test_with_a_miss_that_can_be_read(project: Project) -> None:
    project.write("'1 / 0'", "'2 / 0'")
    ran = project.workflow()
    by_command = {each.step.command: each for each in ran}
    tested = by_command["npx vitest run"]
    assert tested.status == 1
    assert "The recording has no such tools/call calculator_arithmetic; the nearest is #" in tested.said
    assert "differs at /arguments/expression" in tested.said
    (told,) = (each for each in ran if "replay report" in each.step.command)
    assert told.status == 6
    assert "/arguments/expression" in told.said
    assert ElementTree.parse(project.folder / "reports" / "mcp.xml").getroot().findall(".//failure")


def test_a_miss_that_a_test_swallows_fails_the_workflow_all_the_same(project: Project) -> None:
    project.write(
        "  const told = await client.callTool({",
        "  await client.listPrompts().catch(() => []);\n"
        "  await client.callTool({ name: 'never_recorded', arguments: {} }).catch(() => null);\n"
        "  const told = await client.callTool({",
    )
    ran = project.workflow()
    assert [each.status for each in ran[:-1]] == [0] * (len(steps()) - 1), ran
    assert ran[-1].status == 6
    assert "never_recorded" in ran[-1].said


def test_every_block_of_the_page_is_used() -> None:
    assert [block.language for block in blocks("ci.md")] == ["ts", "yaml", ""]
    assert {step.command for step in steps()} >= DONE.keys()
