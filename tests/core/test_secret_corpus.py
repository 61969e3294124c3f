"""Every planted secret is found, nothing that looks alike is harmed, and a message stays what it was."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.secret_corpus import GIVEN, Planted, look_alikes, planted
from workbench.core.frame import Channel
from workbench.core.redact import PROTOCOL_MEMBERS, Redactor


def knowing() -> Redactor:
    redactor = Redactor()
    for name, value in GIVEN.items():
        assert redactor.add_secret(name, value)
    return redactor


@pytest.mark.parametrize("each", planted(), ids=lambda each: each.what)
def test_no_planted_secret_is_left(each: Planted) -> None:
    assert each.secret in each.body or json.dumps(each.secret.decode())[1:-1].encode() in each.body
    out, spans = knowing().redact(each.body, each.channel)
    assert each.secret not in out
    assert spans
    if each.channel is Channel.STDIO:
        json.loads(out)


@pytest.mark.parametrize("body", look_alikes(), ids=lambda body: body[-60:].decode())
def test_nothing_that_looks_alike_is_harmed(body: bytes) -> None:
    assert knowing().redact(body) == (body, ())
    assert knowing().redact(body, Channel.STDERR) == (body, ())


def test_there_are_enough_of_both() -> None:
    assert len(planted()) >= 100
    assert len(look_alikes()) >= 100


names = st.sampled_from(
    [
        *("password", "token", "apiKey", "text", "method", "id", "arguments", "content", "x", "data"),
        *(member.decode() for member in sorted(PROTOCOL_MEMBERS)),
    ]
)
words = st.sampled_from(
    [
        *(each.secret.decode() for each in planted()[:120:7]),
        *GIVEN.values(),
        *("hunter2222", "assistant", "tools/call", "resource_link", "n" + GIVEN["API_KEY"], "8675309867"),
        *("password=hunter2222", "<redacted:1 env API_KEY>", "<redacted:7 jwt>", "\n" + GIVEN["API_KEY"]),
    ]
)
values: Any = st.recursive(
    words | st.text(max_size=12) | st.integers() | st.just(8675309867) | st.booleans() | st.none(),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(names | st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)


def walk(before: Any, after: Any, path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], Any, Any]]:
    """Pairs of leaves; fails where the two are not of one make."""
    assert type(before) is type(after)
    if isinstance(before, dict):
        assert len(before) == len(after)
        pairs = zip(before.items(), after.items(), strict=True)
        return [leaf for (name, one), (_, two) in pairs for leaf in walk(one, two, (*path, name))]
    if isinstance(before, list):
        assert len(before) == len(after)
        return [leaf for one, two in zip(before, after, strict=True) for leaf in walk(one, two, path)]
    return [(path, before, after)]


@given(values, st.booleans())
def test_redaction_changes_no_type_no_protocol_field_and_not_whether_two_are_equal(
    value: Any, ascii_only: bool
) -> None:
    message = {"jsonrpc": "2.0", "id": "8675309867", "method": "tools/call", "params": value}
    redactor = knowing()
    out, _ = redactor.redact(json.dumps(message, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass"))
    leaves = walk(message, json.loads(out))
    for path, before, after in leaves:
        if path in (("jsonrpc",), ("id",), ("method",)) or not isinstance(before, str):
            assert before == after
    protected = {member.decode() for member in PROTOCOL_MEMBERS}
    free = [each for each in leaves if len(each[0]) > 1 and not protected.intersection(each[0])]
    told: dict[str, str] = {}
    back: dict[str, str] = {}
    for _, before, after in free:
        if isinstance(before, str) and "<redacted:" not in before:
            assert told.setdefault(before, after) == after
            assert back.setdefault(after, before) == before
    assert redactor.redact(out) == (out, ())


@pytest.mark.parametrize("member", sorted(PROTOCOL_MEMBERS))
def test_a_protocol_member_is_left_alone(member: bytes) -> None:
    name = member.decode()
    body = json.dumps({"method": "x", "params": {name: GIVEN["API_KEY"], "_meta": {name: GIVEN["API_KEY"]}}})
    assert knowing().redact(body.encode()) == (body.encode(), ())
