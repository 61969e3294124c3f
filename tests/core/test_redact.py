"""Secrets do not get into recordings, and nothing else is harmed."""

from __future__ import annotations

import json
import shlex
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.frame import Channel
from workbench.core.redact import MAX_KEY_LINES, Redactor, looks_secret, placeholders
from workbench.core.shapes import SHAPES, Shape, may_hold_token


def restored(original: bytes, redactor: Redactor) -> bytes:
    """The redacted body with every span put back from the original."""
    body, spans = redactor.redact(original)
    out, at, taken = b"", 0, 0
    for span in spans:
        out += body[at : span.offset]
        taken = len(out)
        out += original[taken : taken + span.wire]
        at = span.offset + span.length
    return out + body[at:]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: f"{shape.name} {shape.example[:6]}")
def test_every_token_shape_is_found_in_json_and_in_plain_text(shape: Shape) -> None:
    for template in (b'{"x":"%s"}', b"export X=%s and on", b"%s"):
        body = template.replace(b"%s", shape.example.encode())
        out, spans = Redactor().redact(body)
        [span] = spans
        secret = body[span.offset : span.offset + span.wire]
        assert len(secret) >= 8
        assert secret not in out
        assert len(placeholders(out)) == 1
        assert restored(body, Redactor()) == body


@pytest.mark.parametrize(
    "harmless",
    [
        b'{"progressToken":"tok-1","cursor":"eyJwYWdlIjoyfQ"}',
        b'{"model":"sk-learn-pipeline-with-a-long-name"}',
        b'{"text":"task-force-alpha-bravo-charlie-delta"}',
        b'{"text":"the bearer of this letter"}',
        b'{"text":"AKIA is the prefix"}',
        b'{"text":"pypi-server and npm_config_cache"}',
        b'{"id":"ghp_short","method":"x"}',
        b'{"text":"Basic understanding of http://host:8080/path is needed, a@b.example"}',
        b'{"text":"file:///home/ann/notes@home and http://[::1]:80/"}',
        b'{"text":"-----BEGIN PUBLIC KEY-----MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKC"}',
        b'{"sha":"da39a3ee5e6b4b0d3255bfef95601890afd80709"}',
    ],
)
def test_what_only_looks_alike_stays(harmless: bytes) -> None:
    assert Redactor().redact(harmless) == (harmless, ())


def with_secret() -> Redactor:
    redactor = Redactor()
    redactor.add_secret("TOKEN", "correct-horse")
    return redactor


HIDDEN = "<redacted:1 env TOKEN>"
MEMBERS = ("progressToken", "cursor", "nextCursor", "requestState", "taskId", "elicitationId", "requestId")


@pytest.mark.parametrize("member", MEMBERS)
def test_what_the_protocol_lives_on_is_never_touched(member: str) -> None:
    value = {"params": {"_meta": {"x": "correct-horse", member: "correct-horse"}, member: "correct-horse"}}
    out, _ = with_secret().redact(json.dumps(value).encode())
    value["params"]["_meta"]["x"] = HIDDEN  # type: ignore[index]
    assert json.loads(out) == value


@pytest.mark.parametrize(
    "body", ['{"id": "correct-horse", "x": "correct-horse"}', '[{"id":"correct-horse"}]']
)
def test_the_id_of_a_message_is_never_touched_also_in_a_batch(body: str) -> None:
    out, _ = with_secret().redact(body.encode())
    assert json.loads(out) == json.loads(body.replace('"x": "correct-horse"', f'"x": "{HIDDEN}"'))


@pytest.mark.parametrize("member", ["id", "method", "cursor", "taskId"])
def test_a_member_of_arguments_or_content_is_not_protected_by_its_name(member: str) -> None:
    for value in (
        {"params": {"arguments": {"deep": [{member: "correct-horse"}]}}},
        {"result": {"structuredContent": {member: "correct-horse"}}},
        {"result": {"content": [{"type": "text", "text": json.dumps({member: "correct-horse"})}]}},
    ):
        out, spans = with_secret().redact(json.dumps(value).encode())
        assert b"correct-horse" not in out
        assert len(spans) == 1
        json.loads(out)


def test_stderr_and_notes_have_no_protected_members() -> None:
    for channel in (Channel.STDERR, Channel.PROCESS, Channel.NOTE):
        out, _ = with_secret().redact(b'{"id":"correct-horse"}', channel)
        assert out == b'{"id":"%s"}' % HIDDEN.encode()


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        ("API_KEY", "abcdefgh1", True),
        ("api-key", "abcdefgh1", True),
        ("GITHUB_TOKEN", "abcdefgh1", True),
        ("PASSWORD", "abcdefgh1", True),
        ("TOKEN", "short", False),
        ("PATH", "/usr/bin:/bin", False),
        ("KEYBOARD", "qwerty-layout", False),
        ("ANYTHING", "ghp_" + "a1B2" * 9, True),
    ],
)
def test_a_value_is_secret_by_its_name_or_by_its_shape(name: str, value: str, secret: bool) -> None:
    assert looks_secret(name, value) is secret
    assert Redactor().add_secret(name, value) is secret


def test_a_given_secret_is_found_in_every_spelling_and_equal_strings_share_a_number() -> None:
    redactor = Redactor()
    secret = 'päss"w/ord\\9'
    redactor.add_secret("PASSWORD", secret)
    spellings = [
        json.dumps(secret),
        json.dumps(secret, ensure_ascii=False),
        json.dumps(secret).replace("/", "\\/"),
        json.dumps(secret).replace("w", "\\u0077").replace("e4", "E4"),
        json.dumps(json.dumps(secret)),
        '"https://x/?p=p%C3%A4ss%22w%2Ford%5C9"',
        '"https://x/?p=p%c3%a4ss%22w%2ford%5c9"',
    ]
    out, spans = redactor.redact(("[" + ",".join(spellings) + "]").encode())
    assert len(spans) == 7
    numbers = [found.split()[0] for found in placeholders(out)]
    # Another text has another number: a replay must send what was there.
    assert numbers[:4] == [b"<redacted:1"] * 4
    assert numbers[4:] == [b"<redacted:2", b"<redacted:3", b"<redacted:4"]
    for told, plain in zip(json.loads(out), spellings, strict=True):
        assert (told == HIDDEN.replace("TOKEN", "PASSWORD")) is (json.loads(plain) == secret)


def test_a_given_secret_is_found_in_a_command_line_quoted_for_a_shell() -> None:
    redactor = Redactor()
    redactor.add_secret("token", "it's a secret")
    line = shlex.join(["server", "--token", "it's a secret"])
    assert redactor.text(line) == "server --token '<redacted:1 env token>'"


def test_equal_secrets_keep_one_number_and_others_get_their_own() -> None:
    redactor = Redactor()
    one, other = ("ghp_" + letter * 36 for letter in "ab")
    first, _ = redactor.redact(f'["{one}","{other}","{one}"]'.encode())
    again, _ = redactor.redact(f'["{other}"]'.encode())
    assert [found[10:11] for found in placeholders(first)] == [b"1", b"2", b"1"]
    assert placeholders(again)[0][10:11] == b"2"
    assert redactor.found == {"github token": 4}


secrets = st.text(st.characters(codec="utf-8"), min_size=8, max_size=20).filter(lambda text: "<" not in text)


@given(secrets, st.lists(st.text(max_size=8), max_size=4))
def test_outside_the_spans_every_byte_is_as_it_was(secret: str, around: list[str]) -> None:
    redactor = Redactor()
    redactor.add_secret("SECRET", secret)
    body = json.dumps([text + secret for text in around] + around).encode()
    out, spans = redactor.redact(body)
    assert restored(body, redactor) == body
    assert sum(span.wire - span.length for span in spans) == len(body) - len(out)


@given(st.binary(max_size=200))
def test_redaction_never_raises_and_spans_always_fit(body: bytes) -> None:
    redactor = Redactor()
    redactor.add_secret("SECRET", "\x00\x01\x02\x03\x04\x05\x06\x07")
    assert restored(body, redactor) == body


@given(st.recursive(st.text() | st.integers() | st.booleans(), lambda inner: st.lists(inner, max_size=4)))
def test_redaction_never_changes_a_json_type(value: object) -> None:
    redactor = Redactor()
    redactor.add_secret("SECRET", "12345678")
    body = json.dumps(value).encode()
    out, _ = redactor.redact(body)
    before, after = json.loads(body), json.loads(out)
    assert type(before) is type(after)


def test_a_number_that_is_a_secret_stays_a_number() -> None:
    redactor = Redactor()
    redactor.add_secret("PASSWORD", "12345678")
    body = b'{"a":12345678,"b":"12345678","c":[12345678]}'
    out, _ = redactor.redact(body)
    assert json.loads(out) == {"a": 12345678, "b": "<redacted:1 env PASSWORD>", "c": [12345678]}


def test_secrets_that_overlap_are_replaced_as_one_and_no_part_stays() -> None:
    redactor = Redactor()
    redactor.add_secret("TOKEN", "abc ghp_a1B2")
    body = b'"x abc ghp_a1B2' + b"a1B2" * 9 + b' y"'
    redactor.add_secret("OTHER_TOKEN", "a1B2a1B2 y")
    out, spans = redactor.redact(body)
    assert out == b'"x <redacted:1 env TOKEN>"'
    assert restored(body, redactor) == body
    assert len(spans) == 1


PEM = [
    "-----BEGIN RSA PRIVATE KEY-----",
    "MIIEpAIBAAKCAQEA" * 4,
    "a1B2" * 10 + "==",
    "-----END RSA PRIVATE KEY-----",
]


def test_a_private_key_inside_json_is_replaced_up_to_its_end_and_never_beyond_its_string() -> None:
    whole = json.dumps(
        {"key": "\n".join(PEM), "next": "\n".join(PEM[:-1]), "text": "-----END PRIVATE KEY-----"}
    )
    out, _ = Redactor().redact(whole.encode())
    told = json.loads(out)
    assert told["key"] == "<redacted:1 private key>"
    assert told["next"] == "<redacted:2 private key>"
    assert told["text"] == "-----END PRIVATE KEY-----"


def test_a_private_key_on_stderr_is_replaced_line_by_line() -> None:
    redactor = Redactor()
    lines = ["loading", *PEM, "a1B2a1B2", "done"]
    shown = [redactor.redact(line.encode(), Channel.STDERR, 1)[0].decode() for line in lines]
    assert shown[:2] == ["loading", PEM[0]]
    assert all(line.endswith(" private key>") for line in shown[2:4])
    assert shown[4:] == [PEM[-1], "a1B2a1B2", "done"]


def test_a_key_that_never_ends_does_not_swallow_the_rest_nor_another_server_s_lines() -> None:
    redactor = Redactor()
    redactor.redact(PEM[0].encode(), Channel.STDERR, 1)
    assert redactor.redact(b"word", Channel.STDERR, 2) == (b"word", ())
    shown = [redactor.redact(b"word", Channel.STDERR, 1)[0] for _ in range(MAX_KEY_LINES + 5)]
    assert shown[-6:] == [b"word"] * 6
    assert shown[0] != b"word"


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: f"{shape.name} {shape.example[:6]}")
def test_the_first_look_sees_every_literal_of_every_shape(shape: Shape) -> None:
    for literal in shape.literals:
        assert literal in shape.example or len(shape.literals) > 1
        assert may_hold_token(b"some text " + literal.encode() + b"a1B2" * 4)


@pytest.mark.parametrize(
    "piece",
    [
        "eyJ",
        "eyJabcdefgh.",
        "sk-a",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----" + "a" * 60 + "\\n",
        "ghp_",
        "Basic aaaaaaaaaaaaaaaa ",
        "Bearer ",
        "://a:b",
        '"id":"correct-horse",',
        '"password":"hunter2222",<redacted:1 env TOKEN>',
        '"password":"',
        "secret_secret_",
        "\\\\u0041%41",
    ],
)
def test_a_body_made_to_be_slow_takes_linear_time(piece: str) -> None:
    redactor = with_secret()

    def seconds(size: int) -> float:
        body = b"{" + piece.encode() * (size // len(piece))
        began = time.perf_counter()
        redactor.redact(body)
        return time.perf_counter() - began

    seconds(10_000)
    # A quadratic one would take 32 times as long for 32 times as much, and minutes for 10 MB.
    small = min(seconds(50_000) for _ in range(3)) + 0.002
    assert seconds(1_600_000) < 32 * small * 6


@pytest.mark.parametrize("points", [(0xE9, 0xD83D), (0xD83D,), (0xDCFF,), (0xDCFF, 0xD83D)])
def test_half_a_character_and_a_stray_byte_are_no_trouble(points: tuple[int, ...]) -> None:
    """A peer may write half a character as an escape, and a program may be given any byte."""
    text = "".join(map(chr, points))
    redactor = Redactor()
    assert redactor.add_value("known", f"secret-{text}-value")
    assert redactor.text(text) == text
    assert redactor.header("x-any", text) == text
    assert redactor.url(f"http://host/{text}") == f"http://host/{text}"
    assert "secret-" not in redactor.text(f"it is secret-{text}-value")
    assert not looks_secret("any", text)
