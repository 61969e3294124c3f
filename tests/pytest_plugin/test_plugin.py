"""The plugin as a project uses it: a marker, three fixtures, and what a test that fails leaves."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.replay.build import Tape, call, request, result, text
from tests.replay.serving import saved
from workbench.store.reader import Reader

pytest_plugins = ["pytester"]

#: Plugins that the pytest within has no use for. It is a process of its own: one in this process would throw away
#: modules that it was the first to import, and whoever imports them again has other classes than before.
PLAIN = ("-p", "no:cacheprovider", "-p", "no:textual-snapshot", "-p", "no:syrupy")

#: One test that calls the tool of the recording, by way of each fixture.
TESTS = """
    import json, subprocess
    import anyio, httpx, pytest
    from mcp import ClientSession

    HELLO = {"jsonrpc": "2.0", "id": 1, "method": "initialize",
             "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}

    def ask(n):
        return {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "t", "arguments": {"n": n}}}

    @pytest.mark.mcp_recording("kept"%(more)s)
    def test_command(mcp_command):
        lines = "".join(json.dumps(each) + "\\n" for each in (HELLO, ask(%(n)s)))
        done = subprocess.run(mcp_command, input=lines, capture_output=True, text=True, timeout=60)
        answer = json.loads(done.stdout.splitlines()[1])
        assert %(expected)s in json.dumps(answer)

    @pytest.mark.mcp_recording("kept"%(more)s)
    def test_url(mcp_url):
        headers = {"accept": "application/json, text/event-stream"}
        with httpx.Client(trust_env=False, headers=headers, timeout=60) as client:
            client.headers["mcp-session-id"] = client.post(mcp_url, json=HELLO).headers["mcp-session-id"]
            assert %(expected)s in client.post(mcp_url, json=ask(%(n)s)).text

    @pytest.mark.mcp_recording("kept"%(more)s)
    def test_streams(mcp_streams):
        async def go():
            async with mcp_streams() as (read, write), ClientSession(read, write) as client:
                await client.initialize()
                try:
                    return (await client.call_tool("t", {"n": %(n)s})).content[0].text
                except Exception as error:
                    return str(error)
        assert %(expected)s in anyio.run(go)
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    """A project with a recording ``kept`` of two calls, ``n`` 1 and 2."""
    folder = pytester.path / "sessions"
    folder.mkdir()
    tape = Tape().hello().c(call(2, "t", n=1)).s(text(2, "one")).c(call(3, "t", n=2)).s(text(3, "two"))
    # Which the SDK's client asks for by itself.
    tape.c(request(4, "tools/list")).s(result(4, tools=[{"name": "t", "inputSchema": {"type": "object"}}]))
    saved(tape, folder / "kept.db")
    return pytester


def written(project: pytest.Pytester, n: int, expected: str, more: str = "") -> None:
    project.makepyfile(TESTS % {"n": n, "expected": repr(expected), "more": more})


def test_a_recording_answers_a_command_a_url_and_streams(project: pytest.Pytester) -> None:
    written(project, 1, "one")
    project.runpytest_subprocess("-q", *PLAIN).assert_outcomes(passed=3)
    assert not (project.path / "mcp-artifacts").exists()


def test_what_was_not_recorded_fails_the_test_with_the_nearest_and_leaves_its_replay(
    project: pytest.Pytester,
) -> None:
    # The tests themselves are content with an error; it is the plugin that fails them.
    written(project, 3, "The recording has no")
    result = project.runpytest_subprocess("-q", *PLAIN)
    result.assert_outcomes(failed=3)
    # As lines of their own: the summary at the end repeats them, whole where CI is set and cut elsewhere.
    said = result.stdout.str()
    assert result.outlines.count("This test and the recording kept do not agree:") == 3
    assert said.count("/arguments/n") >= 3
    assert sum(line.startswith("mcp-workbench open mcp-artifacts") for line in result.outlines) == 3
    folders = sorted((project.path / "mcp-artifacts").iterdir())
    assert len(folders) == 3
    for folder in folders:
        report = json.loads((folder / "report.json").read_text())
        assert (report["verdict"], report["missed"]) == ("mismatch", 1)
        (recording,) = folder.glob("*.db")
        with Reader.open(str(recording)) as reader:
            assert any(b"-32010" in frame.body for frame in reader.frames())


def test_with_strict_everything_has_to_be_asked_for(project: pytest.Pytester) -> None:
    written(project, 1, "one", ", strict=True")
    result = project.runpytest_subprocess("-q", *PLAIN)
    result.assert_outcomes(failed=3)
    result.stdout.fnmatch_lines(["*#6*tools/call*"])


def test_several_processes_of_pytest_do_not_disturb_each_other(project: pytest.Pytester) -> None:
    written(project, 2, "two")
    project.runpytest_subprocess("-q", *PLAIN, "-n", "2").assert_outcomes(passed=3)


@pytest.mark.parametrize(
    ("marker", "sentence"),
    [
        ('@pytest.mark.mcp_recording("none")', "There is no recording sessions/none.jsonl; make it with"),
        ('@pytest.mark.mcp_recording("kept", mode=1)', "mcp_recording knows no mode"),
        ("@pytest.mark.mcp_recording()", "takes the name of one recording"),
        ("", "wants a recording and names none"),
        ('@pytest.mark.mcp_recording("kept", match="x")', "--match"),
    ],
)
def test_what_is_wrong_with_a_marker_is_a_sentence(
    project: pytest.Pytester, marker: str, sentence: str
) -> None:
    project.makepyfile(f"import pytest\n{marker}\ndef test_it(mcp_command): pass\n")
    result = project.runpytest_subprocess("-q", *PLAIN)
    result.assert_outcomes(errors=1)
    assert sentence in result.stdout.str()
    assert "Traceback" not in result.stdout.str()


def test_a_live_server_is_recorded_once_and_replayed_from_then_on(project: pytest.Pytester) -> None:
    command = [sys.executable, "-m", "tests.servers.bare"]
    project.makepyfile(
        f"""
        import json, subprocess, pytest
        HELLO = {{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {{
            "protocolVersion": "2025-11-25", "capabilities": {{}}, "clientInfo": {{"name": "t", "version": "1"}}}}}}
        ASK = {{"jsonrpc": "2.0", "id": 2, "method": "tools/call",
                "params": {{"name": "echo", "arguments": {{"text": "hi"}}}}}}

        @pytest.mark.mcp_recording("fresh", server={command!r})
        def test_it(mcp_command):
            lines = "".join(json.dumps(each) + "\\n" for each in (HELLO, ASK))
            done = subprocess.run(mcp_command, input=lines, capture_output=True, text=True, timeout=60)
            assert '"hi"' in done.stdout, done.stderr
        """
    )
    project.runpytest_subprocess("-q", *PLAIN).assert_outcomes(errors=1)
    recorded = project.runpytest_subprocess("-q", *PLAIN, "--mcp-record=once")
    recorded.assert_outcomes(passed=1)
    assert "recorded sessions/fresh.jsonl" in recorded.stdout.str()
    before = (project.path / "sessions" / "fresh.jsonl").read_bytes()
    for mode in ("none", "once"):
        project.runpytest_subprocess("-q", *PLAIN, f"--mcp-record={mode}").assert_outcomes(passed=1)
    assert (project.path / "sessions" / "fresh.jsonl").read_bytes() == before


@pytest.mark.parametrize("test", ["command", "url", "streams"])
def test_a_live_server_answers_what_is_new_and_that_is_added(project: pytest.Pytester, test: str) -> None:
    command = [sys.executable, "-m", "tests.servers.bare"]
    kept = project.path / "sessions" / "kept.db"
    # The recording knows no echo, the live server does.
    body = TESTS % {"n": 1, "expected": repr("one"), "more": f", server={command!r}"}
    body = body.replace('"t", "arguments": {"n": n}', '"echo", "arguments": {"text": "new"}')
    body = body.replace('call_tool("t", {"n": 1})', 'call_tool("echo", {"text": "new"})').replace(
        "'one'", "'new'"
    )
    project.makepyfile(body)
    before = kept.read_bytes()
    project.runpytest_subprocess("-q", *PLAIN, "-k", test).assert_outcomes(failed=1, deselected=2)
    alone = ("-q", *PLAIN, f"test_a_live_server_answers_what_is_new_and_that_is_added.py::test_{test}")
    added = project.runpytest_subprocess(*alone, "--mcp-record=new_episodes")
    added.assert_outcomes(passed=1)
    assert "added to sessions/kept.db" in added.stdout.str()
    assert kept.read_bytes() != before
    with Reader.open(str(kept)) as reader:
        assert set(reader.provenance().values()) == {"recorded"}
    project.runpytest_subprocess(*alone).assert_outcomes(passed=1)


def test_what_is_new_is_added_only_if_the_test_passes(project: pytest.Pytester) -> None:
    command = [sys.executable, "-m", "tests.servers.bare"]
    project.makepyfile(TESTS % {"n": 9, "expected": repr("never said"), "more": f", server={command!r}"})
    before = (project.path / "sessions" / "kept.db").read_bytes()
    named = "test_what_is_new_is_added_only_if_the_test_passes.py::test_command"
    project.runpytest_subprocess("-q", *PLAIN, named, "--mcp-record=new_episodes").assert_outcomes(failed=1)
    assert (project.path / "sessions" / "kept.db").read_bytes() == before


def test_loading_the_plugin_loads_nothing_heavy() -> None:
    code = (
        "import sys, pytest; import workbench.pytest_plugin;"
        "print([each for each in ('textual', 'click', 'httpx', 'starlette', 'pydantic', 'mcp', 'anyio')"
        " if each in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
