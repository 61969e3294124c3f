"""What the documents tell a reader to type is typed here, in their order, and does what they say."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import ClientSession, StdioServerParameters, stdio_client

from tests.demo.conversation import FIXTURE, converse
from tests.docs.blocks import ROOT, Block, blocks
from tests.replay.mocked import started
from workbench.config import load_settings

pytestmark = pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning")

DOCUMENTS = ("README.md", "tutorial.md", "how-to.md", "replay.md", "ci.md")

#: Lines that are not run, and why.
NOT_RUN = {
    "make demo     # the workbench on its demo server and on a recording of it": "sets up an environment",
    "make test     # every test": "this is one of them",
    "mcp-workbench call simulate-research-query topic=otters --task-ttl 60 "
    "-- npx -y @modelcontextprotocol/server-everything": "needs a network, and tests/wire/test_tasks.py does it",
    "mcp-workbench login --http https://host/mcp": "needs a network, and tests/cli/test_login.py does it",
    "mcp-workbench record --http https://host/mcp --listen 127.0.0.1:8931": "goes on until it is ended, and "
    "tests/standin/test_record_http.py does it",
    "mcp-workbench record --front http --listen 127.0.0.1:8932 -- mcp-server-time": "goes on until it is ended, "
    "and tests/standin/test_record_front.py does it",
    "mcp-workbench record --front stdio --http https://host/mcp": "needs a network, and "
    "tests/standin/test_record_front.py does it",
    "mcp-workbench replay server sessions/weather.jsonl --listen 127.0.0.1:8933 --ready-file url.txt": "goes on "
    "until it is ended, and tests/replay/test_mock_http_command.py does it",
    "mcp-workbench replay server sessions/weather.jsonl --listen 127.0.0.1:0 --ready-file url.txt": "the same",
    "pip install .            # from a clone; gives you mcp-workbench": "the test of the wheel installs it",
}

#: Lines that open the screen. Without a terminal it says so, but only when all else is right.
SCREENS = {
    "mcp-workbench demo",
    "mcp-workbench -- npx -y @modelcontextprotocol/server-everything",
    "mcp-workbench --http https://host/mcp --header 'Authorization: Bearer ${MCP_TOKEN}'",
    "mcp-workbench --stdio 'python -m workbench.demo' --replay sessions/weather.jsonl",
    "mcp-workbench -- python -m workbench.demo",
    "mcp-workbench open last",
    "mcp-workbench open sessions/sum.jsonl",
}

#: What a line must at least print.
SAYS = {
    "mcp-workbench probe -- python -m workbench.demo": "weather_current(location: string",
    "mcp-workbench call ask_for_name --json --answer "
    """'elicitation={"action":"accept","content":{"name":"Zoe"}}' -- python -m workbench.demo""": "Zoe",
    "mcp-workbench call sample prompt=hello --json --answer 'sampling=text:Good day' "
    "-- python -m workbench.demo": "Good day",
    "mcp-workbench sessions keep last forecast": "replays 100 %",
    "mcp-workbench sessions keep last sum": "sessions/sum.jsonl",
    "mcp-workbench sessions list": "demo",
    "mcp-workbench sessions show edited.jsonl": "1 edited",
    "mcp-workbench sessions verify sessions/weather.jsonl": "weather replays 100 %",
    "mcp-workbench replay client sessions/weather.jsonl -- python -m workbench.demo": "agrees: 30 equal",
    "mcp-workbench replay client sessions/weather.jsonl --junit live.xml -- python -m workbench.demo": "agrees",
    "mcp-workbench replay report client.json --junit all.xml": "ok: 30 equal",
    "mcp-workbench sessions frames sessions/sum.jsonl": "tools/call calculator_arithmetic",
    "mcp-workbench probe --env API_TOKEN=… -- my-server": "workbench-demo",
}


class Desk:
    """A reader's folder: the recordings of the repository, and the program on the PATH."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env = dict(os.environ)
        programs = folder / "programs"
        programs.mkdir()
        for name in ("my-server", "mcp-server-time"):
            program = programs / name
            program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m workbench.demo\n')
            program.chmod(0o755)
        here = os.path.dirname(sys.executable)
        self.env["PATH"] = os.pathsep.join([str(programs), here, self.env["PATH"]])
        self.env["HOME"] = str(folder / "home")
        self.env["MCP_TOKEN"] = "a-token-of-the-reader"
        self.folder = folder / "project"
        (self.folder / "sessions").mkdir(parents=True)
        shutil.copy(FIXTURE, self.folder / "sessions")

    def run(self, line: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["sh", "-c", line],
            input=stdin,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=60,
            cwd=self.folder,
            env=self.env,
        )

    def use(self) -> None:
        """What a reader does on the screen before a session can be kept: one call, recorded to the store."""
        call = "mcp-workbench call calculator_arithmetic 'expression=2+3*4'"
        done = self.run(f"{call} -- mcp-workbench record -- python -m workbench.demo")
        assert done.returncode == 0, done.stderr

    def server(self, line: str) -> StdioServerParameters:
        """A documented command line as a client's server."""
        return StdioServerParameters(
            command="sh", args=["-c", f"exec {line}"], cwd=str(self.folder), env=self.env
        )


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    made = Desk(tmp_path)
    made.use()
    return made


def commands(document: str) -> Iterator[str]:
    """The lines of the blocks that are for a shell."""
    for block in blocks(document):
        if block.language == "" and re.match(r"(mcp-workbench|make|pip|git) ", block.text):
            yield from block.text.splitlines()


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_command_of_a_document_works_in_its_order(document: str, desk: Desk) -> None:
    for line in commands(document):
        if line in NOT_RUN:
            continue
        if "--strict" in line:
            anyio.run(converse, desk.server(line))
            assert json.loads((desk.folder / "replay.json").read_text())["verdict"] == "ok"
            continue
        if line.startswith("git "):
            desk.run("git init --quiet")
        done = desk.run(line)
        if line in SCREENS:
            assert (done.returncode, "needs a terminal" in done.stderr) == (2, True), line
        else:
            assert (done.returncode, "mcp-workbench: " in done.stderr) == (0, False), (line, done.stderr)
            assert SAYS.get(line, "") in done.stdout, line


def test_nothing_is_left_out_that_no_document_has_any_more() -> None:
    told = {line for document in DOCUMENTS for line in commands(document)}
    assert (NOT_RUN.keys() | SCREENS | SAYS.keys()) - told == set()


def test_every_block_of_a_document_is_tried_by_some_test() -> None:
    kinds = {(block.language or "text") for document in DOCUMENTS for block in blocks(document)}
    # Those of ts and yaml are tried by test_ci.
    assert kinds == {"text", "python", "json", "toml", "ts", "yaml"}
    rest = [
        block.text
        for document in DOCUMENTS
        for block in blocks(document)
        if block.language == "" and not re.match(r"(mcp-workbench|make|pip|git) ", block.text)
    ]
    assert rest == [ATTRIBUTES, MISS]


@pytest.mark.parametrize("target", ["demo", "test"])
def test_the_two_commands_are_targets_of_the_makefile(target: str) -> None:
    done = subprocess.run(["make", "--dry-run", target], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


ATTRIBUTES = "*.db diff=mcp-recording\n"
MISS = """\
The recording has no such tools/call calculator_arithmetic; the nearest is #9,
which differs at /arguments/expression.
"""


def every(document: str, language: str) -> list[Block]:
    return [block for block in blocks(document) if block.language == language]


def only(document: str, language: str) -> Block:
    (block,) = every(document, language)
    return block


def test_the_client_of_the_readme_reaches_the_replay(desk: Desk) -> None:
    assert desk.run("mcp-workbench sessions keep last forecast").returncode == 0
    named: StdioServerParameters = eval(
        only("README.md", "python").text, {"StdioServerParameters": StdioServerParameters}
    )
    server = named.model_copy(update={"cwd": str(desk.folder), "env": desk.env})

    async def list_tools() -> list[str]:
        async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
            await session.initialize()
            return [tool.name for tool in (await session.list_tools()).tools]

    assert "calculator_arithmetic" in anyio.run(list_tools)


def test_the_mock_in_process_of_the_replay_page_does_what_it_says(desk: Desk) -> None:
    (desk.folder / "use.py").write_text(every("replay.md", "python")[0].text)
    done = desk.run("python use.py")
    assert done.returncode == 0, done.stderr


def test_the_pytest_test_of_the_replay_page_is_green_and_held_to_its_recording(desk: Desk) -> None:
    _, block = every("replay.md", "python")
    (desk.folder / "test_sum.py").write_text(block.text)
    done = desk.run("python -m pytest -q -p no:cacheprovider test_sum.py")
    assert done.returncode == 0, done.stdout
    (desk.folder / "test_sum.py").write_text(block.text.replace("(3 + 4)", "(3 + 5)"))
    done = desk.run("python -m pytest -q -p no:cacheprovider test_sum.py")
    assert done.returncode == 1, done.stdout
    assert "differs at /arguments/expression" in done.stdout


def test_the_rule_of_the_replay_page_is_kept_and_followed(desk: Desk) -> None:
    session, rest = (desk.folder / "sessions" / "weather.jsonl").read_text().split("\n", 2)[1:]
    kept = only("replay.md", "json").text.replace("tools/call:search=/arguments/now", "tools/call=/arguments")
    (desk.folder / "kept.jsonl").write_text(
        '{"mcp-workbench recording":1}\n' + session + "\n" + kept + rest, encoding="utf-8"
    )
    server = desk.server("mcp-workbench replay server kept.jsonl")

    async def call() -> str:
        async with stdio_client(server) as (read, write), ClientSession(read, write) as client:
            await client.initialize()
            told: Any = await client.call_tool("calculator_arithmetic", {"expression": "anything"})
            return str(told.content[0].text)

    assert anyio.run(call) == "2 * (3 + 4) = 14"


def test_the_settings_of_the_how_to_are_settings(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(only("how-to.md", "toml").text)
    settings = load_settings(path, {})
    assert (settings.era, settings.timeouts.start, settings.capabilities) == ("auto", 90, {"sampling": {}})
    assert settings.roots[0].name == "work"
    assert [rule.label for rule in settings.rules] == ["the usual"]


def test_git_shows_a_recording_as_text_as_the_readme_says(desk: Desk) -> None:
    setting = next(line for line in commands("README.md") if line.startswith("git "))
    (desk.folder / ".gitattributes").write_text(ATTRIBUTES)
    author = "git -c user.name=a -c user.email=a@b"
    script = f"git init --quiet && {setting} && mcp-workbench sessions copy last a.db && git add a.db && "
    done = desk.run(f"{script} {author} commit --quiet -m a && git log -p --textconv")
    assert done.returncode == 0, done.stderr
    assert '+{"frame":1,"connection":1,' in done.stdout


def test_the_test_of_the_tutorial_is_green_and_a_miss_reads_as_it_says(desk: Desk) -> None:
    assert desk.run("mcp-workbench sessions keep last sum").returncode == 0
    code = only("tutorial.md", "python").text
    (desk.folder / "test_sum.py").write_text(code)
    other = code.replace('{"expression": "2+3*4"}', '{"expression": "2+3"}').replace(
        "test_the_", "test_another_"
    )
    (desk.folder / "test_other.py").write_text(other)
    done = desk.run("python -m pytest -q -rA -p no:cacheprovider test_sum.py test_other.py")
    assert "PASSED test_sum.py::test_the_sum_is_right" in done.stdout, done.stdout
    assert "1 failed, 1 passed" in done.stdout
    told = re.sub(r"#\d+", "#9", " ".join(done.stdout.split()))
    assert " ".join(MISS.split()) in told


def test_the_configuration_of_the_how_to_starts_the_stand_in(desk: Desk) -> None:
    config = next(block for block in blocks("how-to.md") if "mcpServers" in block.text)
    (desk.folder / "host.json").write_text(config.text)
    done = desk.run("mcp-workbench probe @time --config host.json")
    assert done.returncode == 0, done.stderr
    assert "time-" in desk.run("mcp-workbench sessions list").stdout


def test_the_recording_by_hand_of_the_how_to_replays(desk: Desk) -> None:
    hand = next(block for block in blocks("how-to.md") if '"frame"' in block.text)
    (desk.folder / "hand.jsonl").write_text(hand.text)
    done = desk.run("mcp-workbench request tools/list --replay hand.jsonl")
    assert (done.returncode, json.loads(done.stdout)) == (0, {"tools": []}), done.stderr
    assert desk.run("mcp-workbench sessions import hand.jsonl -o hand.db").returncode == 0
    served = [
        "mcp-workbench",
        "replay",
        "server",
        "hand.jsonl",
        "--listen",
        "127.0.0.1:0",
        "--ready-file",
        "url.txt",
    ]
    ready = desk.folder / "url.txt"
    with started(served, ready, cwd=str(desk.folder), env=desk.env):
        done = desk.run(f"mcp-workbench request tools/list --http {ready.read_text().strip()}")
        assert (done.returncode, json.loads(done.stdout)) == (0, {"tools": []}), done.stderr


def links(kind: str) -> list[tuple[Path, str]]:
    """(document, target) of every link to a file of ours; ``kind`` is ``!`` for pictures, else empty."""
    found: list[tuple[Path, str]] = []
    for document in [ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").glob("*.md")]:
        text = re.sub(r"(?ms)^```.*?^```$", "", document.read_text(encoding="utf-8"))
        for mark, target in re.findall(r"(!?)\[[^\]]*\]\(([^)#\s]+)", text):
            if mark == kind and "://" not in target:
                found.append((document, target))
    return found


def test_links_between_documents_lead_somewhere() -> None:
    assert len(links("")) > 5
    assert [link for link in links("") if not (link[0].parent / link[1]).exists()] == []


@pytest.mark.skipif(
    not any((ROOT / "docs" / "pictures").glob("*.png")), reason="no picture has been drawn yet"
)
def test_the_pictures_of_the_documents_are_there() -> None:
    assert [link for link in links("!") if not (link[0].parent / link[1]).exists()] == []
