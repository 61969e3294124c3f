"""Reaching a server over HTTP, and all the ways in which that fails."""

from __future__ import annotations

import socket
import ssl
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio
import pytest
from anyio.abc import SocketAttribute, SocketStream

from tests.servers.http_script import EVENTS, Asked, Wire, as_json, event, message, reply, serve_http, streams
from tests.servers.http_script import RESULT as AGREED
from tests.wire.http_stage import case, connected, fails, target_of
from tests.wire.stage import MemorySink, running, until
from workbench.core.frame import Channel
from workbench.core.lifecycle import State
from workbench.errors import ConnectionFailed
from workbench.wire import http_clients

pytestmark = pytest.mark.anyio


async def test_a_handshake_answered_on_a_stream_is_as_good_as_one_in_json() -> None:
    primed = streams(event(id="p"), lambda asked: event(message(asked, AGREED), id="q"))
    async with connected({"initialize": primed}) as stage:
        assert stage.connection.state is State.READY


async def test_a_port_on_which_nothing_listens_is_named() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        sink = MemorySink()
        state, sentence = await fails(f"http://127.0.0.1:{port}/mcp", sink)
    assert state is State.UNREACHABLE
    assert f"Nothing listens on 127.0.0.1:{port}" in sentence
    assert "Start the server" in sentence
    (told,) = sink.events("unreachable")
    assert told["step"] == "tcp"
    assert [stream.closed_how for stream in sink.streams.values()] == ["failed"]


async def test_a_name_that_cannot_be_resolved_is_named() -> None:
    sink = MemorySink()
    state, sentence = await fails("http://no-such-host.invalid/mcp", sink)
    assert state is State.UNREACHABLE
    assert "no-such-host.invalid cannot be resolved" in sentence
    assert sink.events("unreachable")[0]["step"] == "dns"


async def test_tls_to_a_port_that_does_not_speak_it_fails_at_that_step() -> None:
    sink = MemorySink()
    async with serve_http({}) as site:
        state, sentence = await fails(site.url.replace("http:", "https:"), sink)
    assert state is State.UNREACHABLE
    assert "use http://" in sentence
    assert sink.events("unreachable")[0]["step"] == "tls"


async def test_tls_that_never_begins_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_clients, "CONNECT", 0.5)
    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener:
        port = listener.extra(anyio.abc.SocketAttribute.local_port)
        sink = MemorySink()
        state, sentence = await fails(f"https://127.0.0.1:{port}/mcp", sink)
    assert state is State.UNREACHABLE
    assert f"127.0.0.1:{port} was reached, but did not begin TLS in time" in sentence
    assert sink.events("unreachable")[0]["step"] == "tls"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for 127.0.0.1 that no authority has signed, with its key, in one file."""
    folder = tmp_path_factory.mktemp("tls")
    pem, key = folder / "server.pem", folder / "server.key"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
         "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(pem)],
        check=True,
        capture_output=True,
    )  # fmt: skip
    pem.write_text(pem.read_text() + key.read_text())
    return pem


def tls_of(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


async def test_a_certificate_that_nobody_vouches_for_is_not_accepted(certificate: Path) -> None:
    async with serve_http({}, tls=tls_of(certificate)) as site:
        state, sentence = await fails(site.url)
    assert state is State.UNREACHABLE
    assert "certificate of 127.0.0.1" in sentence
    assert "SSL_CERT_FILE" in sentence
    assert site.asked == []


async def test_an_authority_of_the_environment_is_accepted(
    certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    async with (
        serve_http({}, tls=tls_of(certificate)) as site,
        running(target_of(site.url)) as (connection, _),
    ):
        await connection.ready()


@asynccontextmanager
async def one_port(without: int, within: int) -> AsyncIterator[int]:
    """A port that leads to one server without TLS and to another with it."""

    async def come(client: SocketStream) -> None:
        async with client, anyio.create_task_group() as group:
            first = await client.receive()
            async with await anyio.connect_tcp(
                "127.0.0.1", within if first[0] == 0x16 else without
            ) as server:
                await server.send(first)
                group.start_soon(carry, server, client)
                await carry(client, server)
                group.cancel_scope.cancel()

    async def carry(one: SocketStream, other: SocketStream) -> None:
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            async for piece in one:
                await other.send(piece)

    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    async with listener, anyio.create_task_group() as group:
        group.start_soon(listener.serve, come)
        yield listener.extra(SocketAttribute.local_port)
        group.cancel_scope.cancel()


@pytest.mark.parametrize("vouched", [True, False])
async def test_a_redirect_to_tls_asks_for_an_authority_like_any_other_url(
    vouched: bool, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if vouched:
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))

    def up(asked: Asked) -> bytes:
        return reply(308, location=f"https://{asked.headers['host']}/mcp")

    async with (
        serve_http({"POST": up, "initialize": up}) as bare,
        serve_http({}, tls=tls_of(certificate)) as secure,
        one_port(bare.port, secure.port) as port,
    ):
        if vouched:
            async with running(target_of(f"http://127.0.0.1:{port}/mcp")) as (connection, _):
                await connection.ready()
        else:
            state, sentence = await fails(f"http://127.0.0.1:{port}/mcp")
            assert state is State.UNREACHABLE
            assert "certificate of 127.0.0.1" in sentence
            assert secure.asked == []


async def test_a_redirect_to_tls_is_not_followed_where_the_environment_forbids_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/no/such/file.pem")

    def up(asked: Asked) -> bytes:
        return reply(307, location=f"https://{asked.headers['host']}/mcp")

    async with serve_http({"initialize": up}) as site:
        state, sentence = await fails(site.url)
    assert state is State.UNREACHABLE
    assert "Check SSL_CERT_FILE" in sentence


@pytest.mark.parametrize("status", [401, 403])
async def test_a_server_that_wants_a_token_is_told_with_its_challenge(status: int) -> None:
    refusal = reply(
        status,
        '{"error":"invalid_token"}',
        www_authenticate='Bearer realm="mcp"',
        content_type="application/json",
    )
    async with serve_http({"initialize": refusal}) as site:
        state, sentence = await fails(site.url)
        assert site.of("GET") == []
    assert state is State.UNAUTHORIZED
    assert f"status {status}" in sentence
    assert 'Bearer realm="mcp"' in sentence
    assert "--header 'Authorization: Bearer" in sentence


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (
            reply(404, "<html><title>Not Found</title></html>", content_type="text/html"),
            "status 404: an HTML page",
        ),
        (reply(405), "status 405"),
        (reply(500, "Internal error", content_type="text/plain"), "status 500: “Internal error”"),
        (reply(503), "The server behind it does not answer"),
        (reply(200, "<html><title>Login</title></html>", content_type="text/html"), "an HTML page, “Login”"),
        (reply(202), "sent no answer"),
    ],
    ids=case,
)
async def test_an_answer_that_is_no_handshake_says_what_answered(answer: bytes, says: str) -> None:
    sink = MemorySink()
    async with serve_http({"initialize": answer}) as site:
        state, sentence = await fails(site.url, sink)
        assert f"127.0.0.1:{site.port}" in sentence or "sent no answer" in sentence
    assert state is State.UNREACHABLE
    assert says in sentence
    assert sink.events("unreachable")[0]["step"] == "http"


async def test_a_json_rpc_error_with_a_status_is_the_servers_refusal() -> None:
    def refuse(asked: Asked) -> bytes:
        error = {"code": -32602, "message": "Unsupported protocol version"}
        return reply(400, message(asked, result=..., error=error), content_type="application/json")

    async with serve_http({"initialize": refuse}) as site:
        state, sentence = await fails(site.url)
    assert state is State.REFUSED
    assert "Unsupported protocol version" in sentence


async def test_a_server_that_never_answers_is_a_start_timeout() -> None:
    async def never(asked: Asked, wire: Wire) -> None:
        await wire.gone()

    async with serve_http({"initialize": never}) as site:
        state, _ = await fails(site.url, timeouts={"start": 0.5})
    assert state is State.START_TIMEOUT


async def test_a_stream_that_ends_before_the_handshake_is_answered_is_no_connection() -> None:
    async with serve_http({"initialize": EVENTS + event(b"{}")}) as site:
        state, sentence = await fails(site.url)
    assert state is State.UNREACHABLE
    assert "closed the stream before it answered" in sentence


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("ftp://127.0.0.1/mcp", "is no URL of a server"),
        ("http:///mcp", "is no URL of a server"),
        ("http://127.0.0.1:notaport/", "is no URL"),
    ],
)
async def test_what_is_no_url_of_a_server_is_refused_before_anything_is_sent(url: str, says: str) -> None:
    sink = MemorySink()
    state, sentence = await fails(url, sink)
    assert state is State.NOT_STARTED
    assert says in sentence
    assert sink.streams == {}


@pytest.mark.parametrize("headers", [{"Bad Name": "x"}, {"X-Token": "secret-token-12345\n"}])
async def test_what_can_be_no_header_is_refused_without_telling_its_value(headers: dict[str, str]) -> None:
    state, sentence = await fails("http://127.0.0.1:9/mcp", headers=headers)
    assert state is State.NOT_STARTED
    assert "secret-token" not in sentence
    assert next(iter(headers)) in sentence


async def test_a_token_of_any_characters_is_sent_as_it_is() -> None:
    async with connected({}, headers={"Authorization": "Bearer grün"}) as stage:
        assert stage.site.asked[0].headers["authorization"].encode("latin-1") == "Bearer grün".encode()


async def test_user_and_password_of_the_url_are_sent_as_a_header_and_not_told_in_the_url() -> None:
    async with serve_http({}) as site:
        url = site.url.replace("127.0.0.1", "ann:pass%20word@127.0.0.1")
        async with running(target_of(url)) as (connection, sink):
            await connection.ready()
            assert site.asked[0].headers["authorization"] == "Basic YW5uOnBhc3Mgd29yZA=="
            assert {stream.url for stream in sink.streams.values()} == {site.url}


async def test_credentials_of_a_netrc_file_are_never_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login ann password secret\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".netrc").write_text(netrc.read_text())
    async with connected({}) as stage:
        assert set(stage.site.headers("POST", "authorization")) == {None}


async def test_a_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serve_http({}) as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{proxy.port}")
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        async with running(target_of("http://mcp.example.invalid/mcp")) as (connection, _):
            await connection.ready()
        assert proxy.asked[0].path == "http://mcp.example.invalid/mcp"


async def test_a_proxy_that_cannot_be_reached_is_what_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{port}")
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        state, sentence = await fails("http://mcp.example.invalid/mcp")
    assert state is State.UNREACHABLE
    assert f"The proxy of the environment, 127.0.0.1:{port}, cannot be reached" in sentence
    assert "name mcp.example.invalid in NO_PROXY" in sentence


@pytest.mark.parametrize(
    ("scheme", "variable", "value"),
    [("https", "SSL_CERT_FILE", "/no/such/file.pem"), ("http", "ALL_PROXY", "gopher://127.0.0.1:1")],
)
async def test_an_environment_that_cannot_be_used_is_named(
    scheme: str, variable: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    state, sentence = await fails(f"{scheme}://127.0.0.1:9/mcp")
    assert state is State.NOT_STARTED
    assert variable in sentence


@pytest.mark.parametrize("era", ["auto", "modern"])
async def test_a_server_that_is_not_there_is_not_there_in_any_era(era: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        sink = MemorySink()
        state, sentence = await fails(f"http://127.0.0.1:{port}/mcp", sink, era=era)
    assert state is State.UNREACHABLE
    assert f"Nothing listens on 127.0.0.1:{port}" in sentence
    assert len(sink.streams) == 1


async def test_cookies_are_not_kept() -> None:
    def with_cookie(asked: Asked) -> bytes:
        return as_json(asked, AGREED, set_cookie="track=1; Path=/")

    async with connected({"initialize": with_cookie}) as stage:
        await until(lambda: stage.site.of("GET"))
        assert {each.headers.get("cookie") for each in stage.site.asked} == {None}


async def test_the_state_and_the_page_that_answered_are_in_the_recording() -> None:
    sink = MemorySink()
    page = "<html><title>Router</title></html>"
    async with serve_http({"initialize": reply(404, page, content_type="text/html")}) as site:
        await fails(site.url, sink)
    assert page.encode() in sink.bodies(Channel.HTTP)


async def test_connecting_can_be_given_up_while_the_server_is_silent() -> None:
    async def never(asked: Asked, wire: Wire) -> None:
        await wire.gone()

    async with serve_http({"initialize": never}) as site, running(target_of(site.url)) as (connection, _):
        await until(lambda: site.asked)
        with anyio.fail_after(20):
            await connection.close()
        assert connection.state is State.CLOSED
        with pytest.raises(ConnectionFailed):
            await connection.ready()
