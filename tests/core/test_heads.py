"""Secrets in what surrounds the messages of HTTP do not get into recordings."""

from __future__ import annotations

import json
import time

import pytest

from workbench.core.frame import Channel
from workbench.core.redact import MAX_LEARNED, Redactor

TOKEN = "s3cr3t-t0ken-of-24-bytes"


@pytest.mark.parametrize(
    ("name", "value", "stored"),
    [
        ("Authorization", f"Bearer {TOKEN}", "Bearer <redacted:1 header authorization>"),
        ("authorization", "Basic dXNlcjpwYXNz", "Basic <redacted:1 header authorization>"),
        ("Authorization", "short", "<redacted:1 header authorization>"),
        ("Cookie", "a=one; b=two", "a=<redacted:1 header cookie>; b=<redacted:2 header cookie>"),
        (
            "Set-Cookie",
            "sid=abc; Path=/; Max-Age=60",
            "sid=<redacted:1 header set-cookie>; Path=/; Max-Age=60",
        ),
        ("X-Api-Key", "k", "<redacted:1 header x-api-key>"),
        ("Mcp-Session-Id", "7", "<redacted:1 header mcp-session-id>"),
        ("Location", "https://h/?api_key=1&x=2", "https://h/?api_key=<redacted:1 query api_key>&x=2"),
        ("Content-Type", "text/event-stream; charset=utf-8", "text/event-stream; charset=utf-8"),
        ("MCP-Protocol-Version", "2025-11-25", "2025-11-25"),
        ("WWW-Authenticate", 'Bearer realm="x"', 'Bearer realm="x"'),
        ("X-Note", "the ghp_" + "a1B2" * 9, "the <redacted:1 github token>"),
        ("Authorization", "", ""),
    ],
)
def test_a_header_keeps_its_form_and_loses_its_secret(name: str, value: str, stored: str) -> None:
    assert Redactor().header(name, value) == stored


@pytest.mark.parametrize(
    ("url", "stored"),
    [
        ("http://127.0.0.1:8000/mcp", "http://127.0.0.1:8000/mcp"),
        ("https://h/mcp?token=abc&page=2", "https://h/mcp?token=<redacted:1 query token>&page=2"),
        ("https://h/m?sessionId=ab-1", "https://h/m?sessionId=<redacted:1 query sessionId>"),
        ("https://ann:pw@h/", "https://ann:<redacted:1 url password>@h/"),
        ("https://tok@h/", "https://<redacted:1 url password>@h/"),
        ("https://h/cb#access_token=xyz", "https://h/cb#access_token=<redacted:1 query access_token>"),
    ],
)
def test_a_url_loses_the_secrets_in_its_query_and_before_its_host(url: str, stored: str) -> None:
    assert Redactor().url(url) == stored


def test_a_secret_of_a_head_has_the_same_placeholder_in_bodies() -> None:
    redactor = Redactor()
    assert redactor.header("Authorization", f"Bearer {TOKEN}").startswith("Bearer ")
    body, [span] = redactor.redact(json.dumps({"echo": f"you sent Bearer {TOKEN}"}).encode(), Channel.HTTP)
    assert body == b'{"echo": "you sent Bearer <redacted:1 header authorization>"}'
    assert span.wire == len(TOKEN)
    assert redactor.url(f"http://h/?token={TOKEN}") == "http://h/?token=<redacted:1 header authorization>"


def test_a_secret_of_the_target_is_known_in_heads_by_the_name_it_was_given_under() -> None:
    redactor = Redactor()
    redactor.add_secret("API_TOKEN", TOKEN)
    assert redactor.header("authorization", f"Bearer {TOKEN}") == "Bearer <redacted:1 env API_TOKEN>"


def test_the_id_of_a_session_is_taken_out_of_the_event_that_tells_of_it_and_of_bodies() -> None:
    redactor = Redactor()
    event = b'{"event":"session","state":"granted","id":"1868a90c-8f2b-4e13"}'
    body, _ = redactor.redact(event, Channel.PROCESS)
    assert body == b'{"event":"session","state":"granted","id":"<redacted:1 header mcp-session-id>"}'
    assert redactor.header("mcp-session-id", "1868a90c-8f2b-4e13") == "<redacted:1 header mcp-session-id>"
    body, _ = redactor.redact(b'{"text":"1868a90c-8f2b-4e13"}', Channel.HTTP)
    assert b"1868a90c" not in body


def test_the_session_in_the_endpoint_of_the_older_transport_is_taken_out() -> None:
    body, _ = Redactor().redact(b"/messages/?session_id=0a1b2c3d4e5f60718293a4b5", Channel.SSE)
    assert body == b"/messages/?session_id=<redacted:1 query session_id>"


def test_a_server_cannot_make_the_words_of_messages_unreadable_by_calling_them_secret() -> None:
    redactor = Redactor()
    for word in ("jsonrpc", "structuredContent", "notifications/progress", "text"):
        redactor.header("Set-Cookie", f"x={word}")
    body = b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"text":"structuredContent"}}'
    assert redactor.redact(body, Channel.SSE) == (body, ())


def test_a_server_that_changes_its_cookie_all_the_time_makes_no_body_slow() -> None:
    redactor = Redactor()
    for number in range(5_000):
        stored = redactor.header("Set-Cookie", f"sid=a1b2c3d4e5f6a7b8{number}")
        assert "a1b2" not in stored
    before = time.perf_counter()
    for _ in range(100):
        redactor.redact(b'{"x":"' + b"y" * 1_000 + b'"}', Channel.HTTP)
    assert len(redactor._forms) <= 2 * MAX_LEARNED
    assert time.perf_counter() - before < 5
