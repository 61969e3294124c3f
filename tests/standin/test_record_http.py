"""``record --http``: how it begins, and that its recording is whole however it ends (trap 19)."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path

import httpx
import pytest

from tests.standin.over_http import StandIn, post, server, until
from tests.standin.running import PROGRAM, ROOT, at_rest, bodies, ended_how, frames_of, seqs_are_gapless
from tests.wire.raw import call, initialize, message
from workbench.core.frame import Channel, Direction
from workbench.store.reader import Reader


def test_it_says_where_clients_come_and_records_each_as_a_connection(tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    with (
        server() as there,
        StandIn(tmp_path / "a.db", ["--http", there, "--ready-file", str(ready)]) as proxy,
    ):
        assert ready.read_text() == proxy.url + "\n"
        assert proxy.url.endswith("/mcp")
        answers = [post(proxy.url, initialize()), post(proxy.url, initialize())]
        assert [each.json()["result"]["serverInfo"]["name"] for each in answers] == ["served", "served"]
        session = answers[0].headers["mcp-session-id"]
        called = post(proxy.url, call("hi", progress=2), mcp_session_id=session)
        assert called.text.count("event: message") == 3
        status, told = proxy.end(signal.SIGTERM)
    assert status == 143
    assert f"clients use {proxy.url} in place of {there}; ctrl-C, or TERM, ends it" in told
    assert ended_how(proxy.file) == "signal:TERM"
    assert at_rest(proxy.file)
    frames = frames_of(proxy.file)
    assert [json.loads(body)["method"] for body in bodies(frames, Direction.TO_SERVER, Channel.HTTP)] == [
        "initialize",
        "initialize",
        "tools/call",
    ]
    with Reader.open(str(proxy.file)) as reader:
        described = [(each.era, each.revision, each.transport, each.target) for each in reader.connections()]
    assert described == [("legacy", "2025-11-25", "http", there)] * 2


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_it_at_once_also_while_a_stream_is_open(tmp_path: Path, number: signal.Signals) -> None:
    with server() as there, StandIn(tmp_path / "a.db", ["--http", there]) as proxy:
        session = post(proxy.url, initialize()).headers["mcp-session-id"]
        headers = {"accept": "text/event-stream", "mcp-session-id": session}
        with (
            httpx.Client(trust_env=False) as client,
            client.stream("GET", proxy.url, headers=headers) as stream,
        ):
            assert stream.status_code == 200
            status, _ = proxy.end(number)
    assert status == 128 + number
    assert ended_how(proxy.file) == f"signal:{number.name[3:]}"
    with Reader.open(str(proxy.file)) as reader:
        assert [each.closed_how for each in reader.streams()] == ["end", "closed"]


def test_killed_it_leaves_all_that_was_passed_on(tmp_path: Path) -> None:
    with server() as there, StandIn(tmp_path / "a.db", ["--http", there]) as proxy:
        session = post(proxy.url, initialize()).headers["mcp-session-id"]
        for number in range(50):
            assert post(proxy.url, call("x", number), mcp_session_id=session).status_code == 200
        proxy.process.kill()
        proxy.process.wait()
        until(lambda: at_rest(proxy.file))
    frames = frames_of(proxy.file)
    assert seqs_are_gapless(frames)
    assert [json.loads(body)["id"] for body in bodies(frames, Direction.TO_CLIENT, Channel.HTTP)[1:]] == list(
        range(50)
    )
    assert ended_how(proxy.file) == "killed"


def test_secrets_given_for_the_server_reach_it_and_never_the_recording(tmp_path: Path) -> None:
    token = "abcdefgh-0123456789"
    words = ["--header", f"Authorization: Bearer {token}"]
    with server() as there, StandIn(tmp_path / "a.db", ["--http", there, *words]) as proxy:
        post(proxy.url, initialize())
        post(proxy.url, message("tools/call", 2, name="echo", arguments={"text": f"it is {token}"}))
        proxy.end(signal.SIGTERM)
    assert token.encode() not in proxy.file.read_bytes()
    with Reader.open(str(proxy.file)) as reader:
        heads = dict(next(iter(reader.streams())).request_headers)
    assert "redacted" in heads["Authorization"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--http", "http://127.0.0.1:9/mcp", "--listen", "0.0.0.0:0"], "can be reached from other machines"),
        (["--http", "http://127.0.0.1:9/mcp", "--listen", "127.0.0.1:9999999"], "no address to serve at"),
        (["--http", "nonsense"], "--http"),
        (["--http", "http://127.0.0.1:9/mcp", "--", "cat"], "one server"),
        (["--listen", "127.0.0.1:0", "--", "cat"], "--listen is for"),
        (["--header", "a: b", "--", "cat"], "--header is for"),
        (["--http", "http://127.0.0.1:9/mcp", "--env", "A=b"], "--env is for"),
    ],
)
def test_what_cannot_be_is_told_in_a_sentence_and_leaves_no_file(
    tmp_path: Path, words: list[str], told: str
) -> None:
    done = subprocess.run(
        [*PROGRAM, "-o", str(tmp_path / "a.db"), *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert told in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "a.db").exists()
