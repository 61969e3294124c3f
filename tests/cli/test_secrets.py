"""A secret of a config file reaches its server, and no file that any command writes."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import pytest

from tests.cli.command import on_a_terminal, workbench
from tests.servers.targets import ROOT

TOKEN = "9c1f-Vh2/QyR+\"tök'en\\7"
KEY = "k3y Zk93nd Q7bXw2"
DIGESTS = " ".join(hashlib.sha256(secret.encode()).hexdigest() for secret in (TOKEN, KEY))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a project file, as hosts read it; its secret comes partly from a variable."""
    monkeypatch.setenv("KEY_OF_THIS_MACHINE", KEY)
    entry = {
        "command": sys.executable,
        "args": ["-m", "tests.servers.knows_a_secret", "--api-key", "${KEY_OF_THIS_MACHINE}"],
        "env": {"SERVICE_TOKEN": TOKEN, "PYTHONPATH": str(ROOT)},
    }
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / ".mcp.json").write_text(json.dumps({"mcpServers": {"keeper": entry}}))
    return folder


def forms() -> set[str]:
    """How the secrets may be written: as they are, in JSON, in JSON in JSON, in a URL."""
    from urllib.parse import quote

    found = set()
    for secret in (TOKEN, KEY):
        for ascii_only in (True, False):
            once = json.dumps(secret, ensure_ascii=ascii_only)[1:-1]
            found |= {secret, once, json.dumps(once, ensure_ascii=ascii_only)[1:-1]}
        found.add(quote(secret, safe=""))
    return found


def has_none(text: str) -> None:
    assert [form for form in forms() if form in text] == []


def written_under(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_bytes().decode("utf-8", "replace")
        for path in folder.rglob("*")
        if path.is_file() and path.name != ".mcp.json"
    }


def run(project: Path, *words: str, status: int = 0) -> str:
    """Run a command in the project; both of its streams, which hold no secret."""
    done = workbench(*words, cwd=str(project))
    assert done.returncode == status, done.stderr
    has_none(done.stdout + done.stderr)
    return done.stdout + done.stderr


def test_a_token_of_a_config_file_reaches_the_server_and_nothing_that_is_written(
    project: Path, tmp_path: Path
) -> None:
    assert DIGESTS in run(project, "call", "digest", "--json", "-o", "one.db", "--yes", "@keeper")
    leaked = workbench("request", "call", "leak", "-o", "two.db", "--yes", "@keeper", cwd=str(project))
    assert TOKEN in leaked.stdout  # what a server answers is shown as it is
    assert (
        workbench(
            "request", "call", "none", "-o", "three.db", "--yes", "@keeper", cwd=str(project)
        ).returncode
        == 4
    )
    assert workbench("probe", "-o", "four.db", "--yes", "@keeper", cwd=str(project)).returncode == 0
    assert "keeper" in run(project, "sessions", "show", "one.db")
    run(project, "sessions", "show", "--json", "one.db")
    run(project, "sessions", "frames", "--json", "three.db")
    run(project, "sessions", "frames", "--body", "two.db")
    for name in ("one", "two", "three", "four"):
        run(project, "sessions", "keep", f"{name}.db", name)
    for name, text in written_under(tmp_path).items():
        assert [form for form in forms() if form in text] == [], name
    assert "<redacted:1 " in (project / "sessions" / "two.jsonl").read_text()


def test_the_replay_of_a_session_with_a_secret_knows_none_and_its_report_neither(
    project: Path, tmp_path: Path
) -> None:
    run(project, "call", "digest", "-o", "one.db", "--yes", "@keeper")
    asked = json.dumps({"name": "digest", "arguments": {"with": f"{TOKEN} and {KEY}"}})
    workbench("request", "tools/call", asked, "-o", "two.db", "--yes", "@keeper", cwd=str(project))
    replayed = run(project, "call", "digest", "--replay", "one.db", "-o", "three.db")
    assert DIGESTS in replayed
    for recording, params in (("two.db", asked), ("one.db", '{"name":"digest","arguments":{"a":1}}')):
        server = [
            sys.executable,
            "-m",
            "workbench",
            "replay",
            "server",
            recording,
            "--report",
            f"{recording}.json",
        ]
        workbench("request", "tools/call", params, "--", *server, cwd=str(project))
        assert json.loads((project / f"{recording}.json").read_text())["verdict"]
    for name, text in written_under(tmp_path).items():
        assert [form for form in forms() if form in text] == [], name


def test_what_is_ours_to_say_names_no_secret_not_even_when_the_start_fails(project: Path) -> None:
    config = json.loads((project / ".mcp.json").read_text())
    config["mcpServers"]["gone"] = config["mcpServers"]["keeper"] | {"command": "no-such-program"}
    (project / ".mcp.json").write_text(json.dumps(config))
    told = run(project, "probe", "--json", "-o", "gone.db", "--yes", "@gone", status=3)
    assert "no-such-program" in told
    run(project, "call", "digest", "--yes", "@gone", status=3)
    run(project, "probe", "@nowhere", status=2)
    for name, text in written_under(project).items():
        assert [form for form in forms() if form in text] == [], name


def test_last_words_with_a_secret_are_kept_without_it(project: Path) -> None:
    words = ["probe", "-o", "stop.db", "--env", "STOP=1", "--yes", "@keeper"]
    assert workbench(*words, cwd=str(project)).returncode == 3
    frames = run(project, "sessions", "frames", "--body", "stop.db")
    assert "starting with <redacted:" in frames
    assert "exited" in frames


def test_the_target_on_a_terminal_shows_no_secret(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    status, written = on_a_terminal(["call", "digest", "--yes", "@keeper"])
    assert status == 0
    has_none(written.decode())
