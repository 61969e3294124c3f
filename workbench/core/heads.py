"""Where secrets stand in what surrounds the messages of HTTP: headers, URLs, the ids of sessions.

They are found by the name they stand under, so that a secret of any shape is
kept out of a recording. Names, schemes and attributes stay: they tell what a
server wanted.

Part of the light path: standard library only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from workbench.core.credentials import is_secret_header
from workbench.core.shapes import Hit

#: A session id lets who has it speak in the session ("Session Management", 2025-11-25).
_SESSION_NAME = re.compile(r"session[-_]?id|(^|[-_.])sid($|[-_.])", re.IGNORECASE)
#: Parameters of signed URLs and of authorization that carry secrets under plain names.
_PARAMETER_NAME = re.compile(r"^(code|jwt|ticket|session)$|signature$", re.IGNORECASE)

#: ``Scheme credentials`` ("HTTP Authentication", RFC 9110, 11.4); without a scheme all of it.
_CREDENTIALS = re.compile(rb"\s*(?:[A-Za-z][A-Za-z0-9-]{0,40}[ \t]+)?(\S.*)", re.DOTALL)
_COOKIE = re.compile(rb"=([^;]*)")
#: A parameter of a query or of a fragment, wherever a URL stands.
_PARAMETER = re.compile(rb"[?&#;]([^=&#?;\s\"<>\\]{1,100})=([^&#;\s\"<>\\]+)")
#: ``user:password@`` or ``token@``, of which the user's name may stay.
_USER_INFO = re.compile(rb"://(?:[^/@\s:?#\"\\]{0,256}:)?([^/@\s:?#\"\\]{1,256})@")
#: What authorization hands from one to another (RFC 6749, 7521, 7636, 8693, 7592; device codes: RFC 8628).
_AUTH_SECRETS = (
    rb"access_token|refresh_token|id_token|registration_access_token|client_secret|client_assertion|assertion"
    rb"|subject_token|actor_token|code|code_verifier|device_code|user_code|state|password|logout_token|request"
)
_AUTH_FIELD = re.compile(rb"(?<![A-Za-z0-9_-])(" + _AUTH_SECRETS + rb")=([^&;#\s\"<>\\]+)")
_AUTH_MEMBER = re.compile(rb'"(' + _AUTH_SECRETS + rb')"\s*:\s*"((?:[^"\\]|\\.)+)"', re.DOTALL)
_SESSION = re.compile(rb'^\{"event": ?"session",.{0,200}?"id": ?"((?:[^"\\]|\\.){1,4096})"', re.DOTALL)


def header_hits(name: str, value: bytes) -> Iterator[Hit]:
    """The secrets in a header's value, labelled by its name."""
    if not _is_secret(name):
        yield from url_hits(value)
        return
    plain = name.lower()
    label = label_of("header", plain)
    if plain == "set-cookie":
        pattern, limit = _COOKIE, 1  # what follows are attributes: where and how long it is sent
    elif plain == "cookie":
        pattern, limit = _COOKIE, len(value)
    else:
        pattern, limit = _CREDENTIALS, 1
    found = [match.span(1) for _, match in zip(range(limit), pattern.finditer(value), strict=False)]
    if not found and value.strip():
        found = [(0, len(value))]
    yield from (Hit(start, end, label) for start, end in found if end > start)


def url_hits(text: bytes) -> Iterator[Hit]:
    """The secrets in a URL, or in the URLs of a text: parameters with telling names, and what
    stands before the host."""
    if b"://" in text:
        for match in _USER_INFO.finditer(text):
            yield Hit(*match.span(1), "url password")
    if b"=" in text:
        for match in _PARAMETER.finditer(text):
            name = match[1].decode("utf-8", "replace")
            if _is_secret(name) or _PARAMETER_NAME.search(name):
                yield Hit(*match.span(2), label_of("query", name))


def authorization_hits(body: bytes) -> Iterator[Hit]:
    """The secrets in a body of authorization, whatever they look like: fields of a form, members of a
    document, parameters of the URLs in it."""
    yield from url_hits(body)
    for pattern in (_AUTH_FIELD, _AUTH_MEMBER):
        for match in pattern.finditer(body):
            yield Hit(*match.span(2), label_of("auth", match[1].decode()))


def session_hits(body: bytes) -> Iterator[Hit]:
    """The id of a session in the process event that tells of it."""
    match = _SESSION.match(body)
    if match is not None:
        yield Hit(*match.span(1), label_of("header", "mcp-session-id"))


def _is_secret(name: str) -> bool:
    return is_secret_header(name) or _SESSION_NAME.search(name) is not None


def label_of(where: str, name: str) -> str:
    """What a placeholder says of a secret: where it stood, and under which name."""
    return f"{where} {re.sub(r'[^A-Za-z0-9_.-]', '_', name)[:60]}"
