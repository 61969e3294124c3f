"""URI templates, with the RFC's own examples."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.forms import FieldKind, template_form
from workbench.core.uri_template import expand, variables_of

VALUES = {
    "var": "value",
    "hello": "Hello World!",
    "path": "/foo/bar",
    "empty": "",
    "x": "1024",
    "y": "768",
    "half": "50%",
    "base": "http://example.com/home/",
}


@pytest.mark.parametrize(
    ("template", "uri"),
    [
        ("{var}", "value"),
        ("{hello}", "Hello%20World%21"),
        ("{half}", "50%25"),
        ("O{empty}X", "OX"),
        ("O{undef}X", "OX"),
        ("{x,y}", "1024,768"),
        ("{x,hello,y}", "1024,Hello%20World%21,768"),
        ("?{x,empty}", "?1024,"),
        ("{var:3}", "val"),
        ("{var:30}", "value"),
        ("{+hello}", "Hello%20World!"),
        ("{+path}/here", "/foo/bar/here"),
        ("{+base}index", "http://example.com/home/index"),
        ("{+path:6}/here", "/foo/b/here"),
        ("{#x,hello,y}", "#1024,Hello%20World!,768"),
        ("X{.x,y}", "X.1024.768"),
        ("{/var,x}/here", "/value/1024/here"),
        ("{;x,y,empty}", ";x=1024;y=768;empty"),
        ("{?x,y,empty}", "?x=1024&y=768&empty="),
        ("?fixed=yes{&x}", "?fixed=yes&x=1024"),
        ("{undef}{?undef}", ""),
        ("test://static/{unclosed", "test://static/{unclosed"),
        ("a://{}", "a://"),
    ],
)
def test_a_template_gives_the_uri_of_the_rfc(template: str, uri: str) -> None:
    assert expand(template, VALUES) == uri


def test_the_variables_are_named_once_in_their_order() -> None:
    assert variables_of("a://{b}/{c*}{?b,d:3}") == ["b", "c", "d"]


def test_a_template_has_a_form_of_required_strings() -> None:
    form = template_form("demo://resource/{id}{?view}")
    assert [(field.name, field.kind, field.required) for field in form.fields] == [
        ("id", FieldKind.STRING, True),
        ("view", FieldKind.STRING, False),
    ]


@given(st.text(), st.dictionaries(st.text(), st.text()))
def test_no_template_fails(template: str, values: dict[str, str]) -> None:
    expand(template, values)
    variables_of(template)
    template_form(template)
