"""The shapes of tokens: secrets that are known by their looks, wherever they stand.

A table, so that a new kind is a new row. Nearly no body holds any of them, so one
search decides that there is nothing to do: it is made from the literals of all
shapes and anchored at their rarest character, which costs about a microsecond for
a small body and is linear for a large one. Only the shapes whose literal it finds
are searched.

No pattern backtracks over what it has taken: repeats are possessive or bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple


class Shape(NamedTuple):
    """A kind of token known by its looks.

    ``literals``: one of them stands in every such token. ``pattern``: what is replaced is its
    first group, else all of it. ``example`` is matched and is nobody's secret.
    """

    name: str
    literals: tuple[str, ...]
    pattern: str
    example: str


class Hit(NamedTuple):
    """A secret's place in a body (bytes) and what it is called."""

    start: int
    end: int
    label: str


# A token begins where a word does; the letter of an escape (``\n``) or of a colour (``ESC[31m``) before it
# is no part of one.
def _edge(letters: str) -> str:
    return rf"(?:(?<![{letters}])|(?<=\\[bfnrt])|(?<=[0-9;]m))"


_EDGE = _edge("A-Za-z0-9_-")
_TEXT = "a1B2"
_HEX = "a1b2c3d4"


def _row(name: str, literals: str, rest: str, example: str) -> Shape:
    """A token that begins with one of a few literals (divided by spaces); ``rest`` follows."""
    words = tuple(literals.split())
    return Shape(name, words, f"{_EDGE}(?:{'|'.join(map(re.escape, words))}){rest}", words[0] + example)


#: Where two match at one place, what either covers is replaced as one.
SHAPES = (
    # Where code is kept
    _row("github token", "ghp_ gho_ ghu_ ghs_ ghr_", r"[A-Za-z0-9]{30,255}+", _TEXT * 9),
    _row("github token", "github_pat_", r"[A-Za-z0-9_]{22,255}+", _TEXT * 8),
    _row(
        "gitlab token",
        "glpat- gldt- glrt- glcbt- glptt- glft- glsoat- glagent- gloas-",
        r"[A-Za-z0-9_.-]{20,}+",
        _TEXT * 5,
    ),
    _row("bitbucket token", "ATBB", r"[A-Za-z0-9_=]{28,}+", _TEXT * 8),
    _row("atlassian token", "ATATT3", r"[A-Za-z0-9_=-]{60,}+", _TEXT * 20),
    # Models
    _row("anthropic key", "sk-ant-", r"[A-Za-z0-9_-]{20,}+", _TEXT * 8),
    # A digit early on tells a key from a long hyphenated word.
    _row("openai key", "sk-", r"(?!ant-)(?=[A-Za-z_-]{0,40}[0-9])[A-Za-z0-9_-]{20,}+", "proj-" + _TEXT * 8),
    _row("hugging face token", "hf_", r"[A-Za-z0-9]{30,}+", _TEXT * 9),
    _row("groq key", "gsk_", r"[A-Za-z0-9]{40,}+", _TEXT * 12),
    _row("xai key", "xai-", r"[A-Za-z0-9]{60,}+", _TEXT * 20),
    _row("perplexity key", "pplx-", r"[A-Za-z0-9]{40,}+", _TEXT * 12),
    _row("replicate token", "r8_", r"[A-Za-z0-9]{37,}+", _TEXT * 10),
    # Clouds
    _row("aws key id", "AKIA ASIA", r"[A-Z0-9]{16}(?![A-Za-z0-9])", "A1B2" * 4),
    _row("google key", "AIza", r"[A-Za-z0-9_-]{35}", "a1B2c" * 7),
    _row("google token", "ya29.", r"[A-Za-z0-9_-]{20,}+", _TEXT * 8),
    _row("google refresh token", "1//0", r"[A-Za-z0-9_-]{38,}+", _TEXT * 12),
    _row("google client secret", "GOCSPX-", r"[A-Za-z0-9_-]{24,}+", _TEXT * 7),
    Shape(
        "azure key",
        ("AccountKey=", "AccessKey="),
        r"(?:AccountKey|SharedAccessKey|AccessKey)=([A-Za-z0-9+/\\]{32,128}+={0,2})",
        "AccountKey=" + _TEXT * 21 + "a1==",
    ),
    Shape(
        "azure client secret",
        ("8Q~",),
        _edge("A-Za-z0-9_~.-") + r"[A-Za-z0-9_~.]{3}8Q~[A-Za-z0-9_~.-]{31,34}+",
        "a1B8Q~" + _TEXT * 8,
    ),
    _row("digitalocean token", "dop_v1_ doo_v1_ dor_v1_", r"[a-f0-9]{64}", _HEX * 8),
    _row("fly token", "fo1_ fm1r_ fm2_", r"[A-Za-z0-9+/_=-]{40,}+", _TEXT * 12),
    _row("heroku key", "HRKU-", r"[A-Za-z0-9_-]{36,}+", _TEXT * 10),
    _row("netlify token", "nfp_", r"[A-Za-z0-9]{36,}+", _TEXT * 9),
    _row("supabase token", "sbp_ sb_secret_", r"[A-Za-z0-9_-]{28,}+", _HEX * 5),
    _row("planetscale token", "pscale_", r"(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{30,}+", "tkn_" + _TEXT * 9),
    _row("databricks token", "dapi", r"[a-f0-9]{32}(?![A-Za-z0-9])(?:-[0-9])?", _HEX * 4),
    _row("tailscale key", "tskey-", r"[a-z]+-[A-Za-z0-9-]{15,}+", "auth-" + _TEXT * 6),
    Shape(
        "signature of a url",
        ("-Signature=",),
        r"-Signature=([0-9A-Fa-f]{64,1024}+)",
        "X-Amz-Signature=" + _HEX * 8,
    ),
    # Running things
    _row("vault token", "hvs. hvb. hvr.", r"[A-Za-z0-9_-]{24,}+", _TEXT * 8),
    Shape(
        "terraform token",
        (".atlasv1.",),
        _EDGE + r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,}+",
        "a1B2a1B2a1B2a1.atlasv1." + _TEXT * 16,
    ),
    _row("pulumi token", "pul-", r"[a-f0-9]{40}", _HEX * 5),
    _row("doppler token", "dp.pt. dp.st. dp.ct. dp.sa.", r"[A-Za-z0-9._-]{40,}+", _TEXT * 11),
    _row("1password token", "ops_eyJ", r"[A-Za-z0-9+/_=-]{100,}+", _TEXT * 30),
    _row("age key", "AGE-SECRET-KEY-1", r"[0-9A-Z]{58}", "A2" * 29),
    _row("docker token", "dckr_pat_ dckr_oat_", r"[A-Za-z0-9_-]{27,}+", _TEXT * 7),
    _row("grafana token", "glsa_ glc_", r"[A-Za-z0-9+/_=]{32,}+", _TEXT * 10),
    _row("sentry token", "sntrys_ sntryu_", r"[A-Za-z0-9+/_=]{40,}+", _TEXT * 16),
    _row("new relic key", "NRAK- NRRA- NRJS- NRII-", r"[A-Za-z0-9_-]{19,}+", _TEXT * 7),
    _row("dynatrace token", "dt0c01. dt0s16.", r"[A-Z0-9]{24}\.[A-Z0-9]{64}", "A1B2" * 6 + "." + "A1B2" * 16),
    # Packages
    _row("npm token", "npm_", r"[A-Za-z0-9]{36}", _TEXT * 9),
    _row("pypi token", "pypi-", r"[A-Za-z0-9_-]{50,}+", _TEXT * 13),
    _row("rubygems key", "rubygems_", r"[a-f0-9]{48}", _HEX * 6),
    # Talking and writing
    _row(
        "slack token", "xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs-", r"[A-Za-z0-9-]{10,}+", "1234567890-" * 3
    ),
    _row("slack token", "xoxe.xox", r"[bp]-[A-Za-z0-9-]{10,}+", "p-1-" + _TEXT * 8),
    _row("slack token", "xapp-", r"[A-Za-z0-9-]{20,}+", "1-" + _TEXT * 6),
    Shape(
        "slack webhook",
        (r"slack.com/services/", r"slack.com\/services\/"),
        r"slack\.com\\?/services\\?/([A-Z0-9]{8,}\\?/[A-Z0-9]{8,}\\?/[A-Za-z0-9]{16,}+)",
        "https://hooks.slack.com/services/T0A1B2C3D/B0A1B2C3D/" + _TEXT * 6,
    ),
    Shape(
        "discord webhook",
        ("/webhooks/", r"\/webhooks\/"),
        r"\\?/webhooks\\?/[0-9]{16,20}\\?/([A-Za-z0-9_-]{40,}+)",
        "https://discord.com/api/webhooks/123456789012345678/" + _TEXT * 17,
    ),
    Shape(
        "telegram token",
        (":AA",),
        _edge("A-Za-z0-9_") + r"(?:bot)?([0-9]{8,10}:AA[A-Za-z0-9_-]{33})(?![A-Za-z0-9_-])",
        "123456789:AA" + "a1B2c3D4e5F" * 3,
    ),
    _row(
        "notion token",
        "ntn_ secret_",
        r"(?=[A-Za-z]{0,40}[0-9])[A-Za-z0-9]{40,50}+(?![A-Za-z0-9_-])",
        _TEXT * 11,
    ),
    _row("linear key", "lin_api_ lin_oauth_", r"[A-Za-z0-9]{32,}+", _TEXT * 10),
    _row("figma token", "figd_ figu_", r"[A-Za-z0-9_-]{36,}+", _TEXT * 10),
    _row("postman key", "PMAK-", r"[a-f0-9]{24}-[a-f0-9]{34}", _HEX * 3 + "-" + _HEX * 4 + "a1"),
    _row(
        "sendgrid key",
        "SG.",
        r"[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64}+",
        "a1B2c3D4e5F6g7H8i9J0k1." + _TEXT * 11,
    ),
    _row("brevo key", "xkeysib-", r"[a-f0-9]{64}-[A-Za-z0-9]{16}", _HEX * 8 + "-" + _TEXT * 4),
    _row("mailgun key", "key-", r"[a-f0-9]{32}(?![A-Za-z0-9])", _HEX * 4),
    Shape(
        "mailchimp key",
        ("-us",),
        _edge("A-Za-z0-9") + r"[a-f0-9]{32}-us[0-9]{1,2}(?![A-Za-z0-9])",
        _HEX * 4 + "-us12",
    ),
    # Money
    _row("stripe key", "sk_live_ sk_test_ rk_live_ rk_test_", r"[A-Za-z0-9]{16,}+", _TEXT * 6),
    _row("stripe secret", "whsec_", r"[A-Za-z0-9+/=]{24,}+", _TEXT * 8),
    _row("square token", "sq0atp- sq0csp-", r"[A-Za-z0-9_-]{22,}+", _TEXT * 7),
    _row("shopify token", "shpat_ shpca_ shppa_ shpss_", r"[A-Fa-f0-9]{32}", _HEX * 4),
    # Of no one maker
    Shape(
        "jwt",
        ("eyJ",),
        _EDGE + r"eyJ[A-Za-z0-9_-]{8,}+\.eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.c2lnbmF0dXJlMTIz",
    ),
    Shape(
        "private key",
        ("PRIVATE KEY-----", "PRIVATE KEY BLOCK-----"),
        # Up to its end line, or where that is missing (a cut text) as far as the letters go. A quote
        # ends it too, so that it never reaches out of the JSON string it stands in.
        r"-----BEGIN [A-Z ]{0,20}PRIVATE KEY(?: BLOCK)?-----(?:"
        r'(?:[^"-]|-(?!----)){16,16384}+-----END [A-Z ]{0,20}PRIVATE KEY(?: BLOCK)?-----'
        r"|(?:\\+[nr]|\s){0,8}+[A-Za-z0-9+/]{32,}+[A-Za-z0-9+/=\\\s]*+)",
        "-----BEGIN PRIVATE KEY-----" + _TEXT * 8 + "-----END PRIVATE KEY-----",
    ),
    Shape(
        "bearer token",
        ("Bearer ", "bearer ", "BEARER "),
        r"(?:[Bb]earer|BEARER) ([A-Za-z0-9._~+/=-]{16,}+)",
        "Bearer " + _TEXT * 6,
    ),
    Shape(
        "basic credentials",
        ("Basic ", "basic "),
        # A digit or an equals sign tells them from prose.
        r"[Bb]asic ((?=[A-Za-z+/]{0,200}[0-9=])[A-Za-z0-9+/]{16,}+={0,2})",
        "Basic " + _TEXT * 6,
    ),
    Shape(
        "password in a url",
        ("@",),
        r":\\?/\\?/[^\s/@:\"\\?#]{0,64}:([^\s/@\"\\<>]{3,256}+)@",
        "postgres://ann:a1B2a1B2@db.example/x",
    ),
)

#: Characters that bodies hold few of; a literal is looked for at the first of these it has.
_RARE = "_-J@~.IQK=BA/"

#: So many letters of a token follow the ``_``, ``-`` or ``.`` in its literal at least: few words do that.
_FOLLOWING = r"(?=[A-Za-z0-9_.+/\\\\-]{10})"


def _rarest(literal: str) -> str:
    # A row of dashes is followed by no token.
    return next((rare for rare in _RARE if rare in literal and not (rare == "-" and "--" in literal)), "")


def _anchored(literals: list[str]) -> tuple[str, list[str]]:
    """One pattern for literals (their rarest character, then what stands around it), with a group for
    each, and which literal each group is."""
    groups: dict[tuple[str, str], list[str]] = {}
    for literal in literals:
        rare = _rarest(literal)
        following = "" if rare not in "_-." or literal.startswith("-") else _FOLLOWING
        groups.setdefault((rare, following), []).append(literal)
    order: list[str] = []
    parts: list[str] = []
    for (rare, following), group in groups.items():
        around: list[str] = []
        for literal in group:
            at = literal.index(rare)
            before = f"(?<={re.escape(literal[: at + 1])})" if at else ""
            around.append(f"({before}{re.escape(literal[at + 1 :])})")
            order.append(literal)
        parts.append(f"{re.escape(rare)}{following}(?:{'|'.join(around)})")
    return "|".join(parts), order


class _FirstLook:
    """Which shapes may be in a body, by their literals: those with a rare character are found by one
    search, the few others each by one of their own."""

    def __init__(self) -> None:
        literals = sorted({literal for shape in SHAPES for literal in shape.literals})
        pattern, self._order = _anchored([literal for literal in literals if _rarest(literal)])
        self._others = [literal for literal in literals if not _rarest(literal)]
        self._sought = [literal.encode() for literal in self._others]
        self._search = re.compile(pattern.encode())
        # Of two literals at one place, one in the other, only one is found.
        self._shapes = {
            literal: frozenset(
                shape
                for shape in SHAPES
                if any(literal in each or each in literal for each in shape.literals)
            )
            for literal in literals
        }

    def sees(self, body: bytes) -> bool:
        if self._search.search(body) is not None:
            return True
        return any(literal in body for literal in self._sought)

    def shapes(self, body: bytes) -> set[Shape]:
        found: set[Shape] = set()
        for match in self._search.finditer(body):
            if match.lastindex is not None:
                found |= self._shapes[self._order[match.lastindex - 1]]
        for literal, sought in zip(self._others, self._sought, strict=True):
            if sought in body:
                found |= self._shapes[literal]
        return found


_look: _FirstLook | None = None


def _first_look() -> _FirstLook:
    # Compiling takes longer than everything else here: at the first body, not at import.
    global _look
    if _look is None:
        _look = _FirstLook()
    return _look


def may_hold_token(body: bytes) -> bool:
    """False for a body that holds no token of any shape; the cheap answer nearly always given."""
    return (_look or _first_look()).sees(body)


def tokens(body: bytes) -> Iterator[Hit]:
    """Everything in a body that has the shape of a token, in no order; places may overlap."""
    for shape in (_look or _first_look()).shapes(body):
        # ``re`` compiles a pattern when it is first needed, and remembers it.
        for match in re.finditer(shape.pattern.encode(), body):
            group = 1 if match.re.groups else 0
            yield Hit(match.start(group), match.end(group), shape.name)
