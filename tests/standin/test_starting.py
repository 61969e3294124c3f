"""How a stand-in starts its server, and what it says when it cannot."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.standin.running import BARE, PROGRAM, ROOT, StandIn, ended_how, frames_of, python
from workbench.core.frame import Kind
from workbench.store.library import list_store

ENVIRONMENT = (
    "import json, os\n"
    "print(json.dumps({'cwd': os.getcwd(), 'HOME': os.environ.get('HOME'), 'TOKEN': os.environ.get('API_TOKEN'),"
    " 'group': os.getpgid(0) == os.getpid(), 'fds': sorted(map(int, os.listdir('/proc/self/fd')))}))"
)


def record(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*PROGRAM, *arguments],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )


def test_the_server_inherits_the_environment_and_gets_its_own_variables_and_folder(tmp_path: Path) -> None:
    options = ("--env", "API_TOKEN=hunter2hunter2", "--cwd", str(tmp_path))
    with StandIn(tmp_path / "a.db", python(ENVIRONMENT), *options) as stand_in:
        seen = json.loads(stand_in.line())
        assert stand_in.finish()[0] == 0
    assert (seen["cwd"], seen["HOME"], seen["TOKEN"]) == (str(tmp_path), os.environ["HOME"], "hunter2hunter2")
    assert seen["group"]
    assert set(seen["fds"]) <= {0, 1, 2, 3}  # listing the folder takes one itself
    assert b"hunter2" not in stand_in.file.read_bytes()
    assert stand_in.events()[0]["cwd"] == str(tmp_path)


def test_a_secret_of_the_command_line_reaches_the_server_and_not_the_recording(tmp_path: Path) -> None:
    script = "import sys\nprint(sys.argv[1:])\nprint(sys.argv[2:], file=sys.stderr)"
    command = [*python(script), "--api-key", "s3cr3ts3cr3t"]
    with StandIn(tmp_path / "a.db", command) as stand_in:
        assert stand_in.finish()[1] == b"['--api-key', 's3cr3ts3cr3t']\n"
    assert b"s3cr3t" not in stand_in.file.read_bytes()


def test_no_redact_keeps_what_passed(tmp_path: Path) -> None:
    options = ("--env", "API_TOKEN=hunter2hunter2", "--no-redact")
    with StandIn(tmp_path / "a.db", python(ENVIRONMENT), *options) as stand_in:
        assert stand_in.finish()[0] == 0
    assert b"hunter2hunter2" in stand_in.file.read_bytes()


def test_a_command_that_is_not_there_is_one_sentence_on_stderr_and_status_3(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    done = record("-o", str(file), "--cwd", str(tmp_path), "--", "no-such-bin")
    assert (done.returncode, done.stdout) == (3, b"")
    said = done.stderr.decode()
    assert said.count("\n") == 1
    for part in ("no-such-bin", os.environ["PATH"], str(tmp_path)):
        assert part in said
    (frame,) = frames_of(file)
    assert frame.kind is Kind.PROCESS
    assert json.loads(frame.body)["event"] == "start_failed"
    assert ended_how(file) == "closed"


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    done = record("-o", str(tmp_path / "a.db"), "--cwd", "/nope", "--", *BARE)
    assert (done.returncode, done.stdout) == (3, b"")
    assert b"/nope" in done.stderr


@pytest.mark.parametrize(
    ("content", "mode", "word"),
    [
        ("echo hi", 0o644, b"not executable"),
        ("echo hi", 0o755, b"#!"),
        ("#!/no/such/sh\n", 0o755, b"/no/such/sh"),
    ],
)
def test_a_file_that_is_no_program_is_told_apart(
    tmp_path: Path, content: str, mode: int, word: bytes
) -> None:
    script = tmp_path / "server"
    script.write_text(content)
    script.chmod(mode)
    done = record("-o", str(tmp_path / "a.db"), "--", str(script))
    assert (done.returncode, done.stdout) == (3, b"")
    assert word in done.stderr


def test_a_file_that_exists_is_kept_unless_force_is_given(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    assert record("-o", str(file), "--", *BARE).returncode == 0
    before = file.read_bytes()
    refused = record("-o", str(file), "--", *BARE)
    assert (refused.returncode, refused.stdout) == (2, b"")
    assert b"exists already" in refused.stderr
    assert file.read_bytes() == before
    assert record("-o", str(file), "--force", "--name", "anew", "--", *BARE).returncode == 0
    assert file.read_bytes() != before


def test_a_recording_that_cannot_be_made_is_said_and_nothing_is_started(tmp_path: Path) -> None:
    proof = tmp_path / "started"
    done = record("-o", str(tmp_path / "no" / "a.db"), "--", "touch", str(proof))
    assert (done.returncode, done.stdout) == (7, b"")
    assert done.stderr.count(b"\n") == 1
    assert not proof.exists()


def test_without_a_file_the_session_goes_to_the_store_and_stderr_stays_empty() -> None:
    done = record("--name", "bare", "--group", "g", "--", *BARE)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    (stored,) = list_store()
    assert stored.session is not None
    assert (stored.session.name, stored.session.group, stored.live) == ("bare", "g", False)
    assert os.stat(stored.path).st_mode & 0o777 == 0o600


def test_where_the_recording_is_is_said_when_asked() -> None:
    done = record("-v", "--", *BARE)
    (stored,) = list_store()
    assert done.stderr.decode() == f"mcp-workbench: recording to {stored.path}\n"


def test_stand_ins_that_start_in_the_same_moment_each_get_a_file() -> None:
    command = [*PROGRAM, "--name", "same", "--", *BARE]
    processes = [
        subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        for _ in range(5)
    ]
    assert [process.communicate(timeout=60)[0] for process in processes] == [b""] * 5
    assert [process.returncode for process in processes] == [0] * 5
    assert len(list_store()) == 5


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ([], b"needs a command"),
        (["--"], b"needs a command"),
        (["python"], b"Write -- before"),
        (["--frob", "--", "x"], b"--frob"),
        (["-o"], b"needs a value"),
        (["--name", "--", "x"], b"needs a value"),
        (["--env", "A", "--", "x"], b"NAME=VALUE"),
        (["--force", "--", "x"], b"--force"),
    ],
)
def test_a_wrong_command_line_is_one_sentence_and_status_2(arguments: list[str], word: bytes) -> None:
    done = record(*arguments)
    assert (done.returncode, done.stdout) == (2, b"")
    assert word in done.stderr
    assert done.stderr.count(b"\n") == 1


def test_help_names_every_option_and_status() -> None:
    done = record("--help")
    assert done.returncode == 0
    for word in (b"--output", b"--force", b"--name", b"--group", b"--env", b"--cwd", b"--no-redact", b"128"):
        assert word in done.stdout
