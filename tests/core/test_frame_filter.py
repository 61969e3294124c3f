"""The filter language: what is read, what is refused and how, what is offered while it is typed."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.frame_filter import COMPARED, KEYS, TEXT, Term, completion, matches, parse_filter
from workbench.errors import UsageError


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("", ()),
        ("   ", ()),
        ("timeout", (Term("text", ("timeout",)),)),
        ("two words", (Term("text", ("two",)), Term("text", ("words",)))),
        ('~"two words"', (Term("text", ("two words",)),)),
        ('"two words"', (Term("text", ("two words",)),)),
        ('~"not closed yet', (Term("text", ("not closed yet",)),)),
        ("~a:b", (Term("text", ("a:b",)),)),
        ('~""', ()),
        ("weather://Oslo/x", (Term("text", ("weather://Oslo/x",)),)),
        ('{"id":5', (Term("text", ('{"id":5',)),)),
        ("method:tools/*", (Term("method", ("tools/*",)),)),
        ("method:a|b name:c", (Term("method", ("a", "b")), Term("name", ("c",)))),
        ('name:"two words"|c', (Term("name", ("two words", "c")),)),
        ("-kind:stderr", (Term("kind", ("stderr",), negated=True),)),
        ("kind:ERROR|result", (Term("kind", ("error", "result")),)),
        ("-noise", (Term("text", ("noise",), negated=True),)),
        ("- x", (Term("text", ("-",)), Term("text", ("x",)))),
        ("dir:out", (Term("dir", ("out",)),)),
        ("dur>500ms", (Term("dur", than=">", number=500_000_000),)),
        ("dur<=1.5s", (Term("dur", than="<=", number=1_500_000_000),)),
        ("size>10k", (Term("size", than=">", number=10_000),)),
        ("size=0", (Term("size", than="=", number=0),)),
        ("is:open conn:git|2", (Term("is", ("open",)), Term("conn", ("git", "2")))),
    ],
)
def test_a_filter_is_read(text: str, terms: tuple[Term, ...]) -> None:
    assert parse_filter(text) == terms


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("methd:x", 'There is no methd: to filter by (method:, .*); text is looked for as ~"methd:x"'),
        ("kind:eror", "kind:eror is not known; it is one of request, result, error"),
        ("dir:up", "it is one of out, in, none"),
        ("is:shut", "it is one of open"),
        ("method:", "method: is followed by what it is to be, as method:tools"),
        ("method>3", "method is followed by a colon"),
        ("dur>soon", "dur is compared with a number, as dur>500ms"),
        ("dur:5", "dur is compared with a number"),
        ("size>10xy", "size is compared with a number, as size>10k"),
        ("size>1k2", "size is compared with a number"),
        ("stream:one", "streams have numbers"),
    ],
)
def test_what_is_wrong_is_said_with_what_would_be_right(text: str, says: str) -> None:
    with pytest.raises(UsageError, match=says.replace("(", r"\(").replace(")", r"\)")):
        parse_filter(text)


@given(st.text(max_size=40))
def test_anything_typed_is_read_or_refused(text: str) -> None:
    with suppress(UsageError):
        assert all(term.key in (*KEYS, *COMPARED, TEXT) for term in parse_filter(text))


@pytest.mark.parametrize(
    ("pattern", "text", "fits"),
    [
        ("a", "a", True),
        ("a", "ab", False),
        ("a*", "ab", True),
        ("*b", "ab", True),
        ("a*c*", "abcd", True),
        ("a.c", "abc", False),
        ("[a]*", "[a]b", True),
        ("*", "", True),
    ],
)
def test_a_star_stands_for_anything_and_nothing_else_does(pattern: str, text: str, fits: bool) -> None:
    assert matches(pattern, text) is fits


@pytest.mark.parametrize(
    ("typed", "rest"),
    [
        ("", ""),
        ("me", "thod:"),
        ("-me", "thod:"),
        ("du", "r>"),
        ("kind:e", "rror"),
        ("kind:error|re", "quest"),
        ("dir:out method:tools/c", "all"),
        ("conn:g", "it"),
        ("conn:git", ""),
        ("zzz", ""),
        ('~"me', ""),
        ("~me", ""),
    ],
)
def test_what_would_go_on_is_offered(typed: str, rest: str) -> None:
    assert completion(typed, {"method": ["tools/call"], "conn": ["git"]}) == rest
