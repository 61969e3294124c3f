"""URLs that a server wants opened: told whole, never opened, known until they are done."""

from __future__ import annotations

from typing import Any

import pytest

from workbench.core.actions import error_sentence
from workbench.core.links import Link, Links, link_of, links_of


def error(*entries: Any) -> dict[str, Any]:
    return {"code": -32042, "message": "Authorize first", "data": {"elicitations": list(entries)}}


ENTRY = {"mode": "url", "elicitationId": "1", "url": "https://example.com/a?b=c", "message": "Log in"}


def test_the_error_is_a_sentence_with_its_urls_and_hosts() -> None:
    sentence = error_sentence(error(ENTRY, {"url": "https://other.example/"}))
    assert sentence == (
        "Authorize first (-32042). Open this if you trust example.com and other.example, then send the "
        "request again: https://example.com/a?b=c (Log in); https://other.example/"
    )


@pytest.mark.parametrize("data", [None, [], {}, {"elicitations": 3}, {"elicitations": [3, {}, {"url": 1}]}])
def test_an_error_without_readable_urls_is_told_as_any_other(data: Any) -> None:
    assert error_sentence({"code": -32042, "message": "x", "data": data}) == "x (-32042)"
    assert links_of({"code": -1, "data": {"elicitations": [ENTRY]}}) == []


def test_a_server_cannot_tell_without_end() -> None:
    many = [{"url": f"https://x.org/{'a' * 9000}"} for _ in range(1000)]
    assert len(error_sentence(error(*many))) < 25_000


@pytest.mark.parametrize(
    ("url", "word"),
    [
        ("https://example.com/", ""),
        ("http://example.com/", "not encrypted"),
        ("https://xn--80ak6aa92e.com/", "punycode"),
        ("https://аpple.com/", "punycode"),
        ("https://example.com@evil.org/", "before the host"),
        ("file:///etc/passwd", "no web address"),
        ("javascript:alert(1)", "no web address"),
        ("https://[bad", "no web address"),
        ("", "no web address"),
    ],
)
def test_what_a_person_should_know_of_a_url(url: str, word: str) -> None:
    warning = Link("", url).warning
    assert (word in warning) if word else warning == ""


def test_only_a_known_url_is_completed_and_only_once() -> None:
    links = Links()
    links.expect(link_of(ENTRY))
    links.expect(link_of({"url": "https://x.org"}))
    assert links.completed({"elicitationId": "other"}) is None
    assert links.completed(None) is None
    assert links.completed({"elicitationId": ["1"]}) is None
    assert links.completed({"elicitationId": "1"}) == link_of(ENTRY)
    assert links.completed({"elicitationId": "1"}) is None
