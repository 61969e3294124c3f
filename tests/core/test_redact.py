"""Secrets do not get into recordings, and nothing else is harmed."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.redact import SHAPES, Redactor, Shape, looks_secret, placeholders


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
        out, _ = Redactor().redact(body)
        secret = shape.example.removeprefix("Bearer ").encode()
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
        b'{"sha":"da39a3ee5e6b4b0d3255bfef95601890afd80709"}',
    ],
)
def test_what_only_looks_alike_stays(harmless: bytes) -> None:
    assert Redactor().redact(harmless) == (harmless, ())


def test_what_the_protocol_lives_on_is_never_touched() -> None:
    redactor = Redactor()
    redactor.add_secret("TOKEN", "correct-horse")
    for member in ("id", "progressToken", "cursor", "nextCursor", "requestState", "taskId", "elicitationId"):
        body = b'{"%s":"correct-horse","x":"correct-horse"}' % member.encode()
        out, _ = redactor.redact(body)
        assert json.loads(out) == {member: "correct-horse", "x": "<redacted:1 env TOKEN>"}


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


def test_a_given_secret_is_found_escaped_and_percent_encoded_under_one_number() -> None:
    redactor = Redactor()
    secret = 'päss"w/ord\\9'
    redactor.add_secret("PASSWORD", secret)
    spellings = [
        json.dumps(secret),
        json.dumps(secret, ensure_ascii=False),
        json.dumps(secret).replace("/", "\\/"),
        '"https://x/?p=p%C3%A4ss%22w%2Ford%5C9"',
    ]
    out, spans = redactor.redact(("[" + ",".join(spellings) + "]").encode())
    assert len(spans) == 4
    assert set(placeholders(out)) == {b"<redacted:1 env PASSWORD>"}


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
