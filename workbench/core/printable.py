r"""Text of a peer, made harmless and visible.

Whatever a server or client sends can hold terminal commands (set the
clipboard, clear the screen), characters that reorder or hide text (bidi
controls, zero-width and tag characters) and code points that no UTF-8 writer
takes (lone surrogates). None of it is obeyed and none of it is dropped: each
such character is shown.

* C0 controls and DEL become their control picture, one character for one;
* everything else that is invisible becomes its escape: ``\x9b``, ``\u202e``, ``\U000e0041``.

Whole scripts that run from right to left, combining marks and wide characters
are text and stay as they are.
"""

from __future__ import annotations

import re

_PICTURES = {code: chr(0x2400 + code) for code in range(0x20)} | {0x7F: "\u2421"}

#: C0, DEL and C1; soft hyphen, joiners and fillers without a glyph; bidi controls; line and
#: paragraph separators; invisible operators; byte order mark; annotation, shorthand and musical
#: format controls; tag characters and the supplementary variation selectors, with which text is
#: hidden in an emoji; surrogates; noncharacters that end a plane's first block.
_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff\ud800-\udfff]"
)
_HIDDEN_IN_LINES = re.compile(_HIDDEN.pattern.replace("\x00-\x1f", "\x00-\x09\x0b-\x1f"))
_HIDDEN_IN_JSON = re.compile(_HIDDEN.pattern.replace("\x00-\x1f", ""))


def printable(text: str) -> str:
    """The text as one line that a terminal can be given: every control and invisible character shown."""
    if text.isascii() and text.isprintable():
        return text
    return _HIDDEN.sub(_shown, text)


def printable_lines(text: str) -> str:
    """The same for text of several lines: ``\\n`` still ends a line, ``\\r\\n`` too, a tab is four spaces."""
    if text.isascii() and text.isprintable():
        return text
    return _HIDDEN_IN_LINES.sub(_shown, text.replace("\r\n", "\n").replace("\t", "    "))


def printable_json(text: str) -> str:
    """JSON text that means the same, with every hidden character as its JSON escape.

    In valid JSON they can stand inside strings only; line ends and tabs between values stay.
    """
    if text.isascii() and "\x7f" not in text:
        return text
    return _HIDDEN_IN_JSON.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code <= 0xFFFF:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"


def _shown(found: re.Match[str]) -> str:
    code = ord(found[0])
    picture = _PICTURES.get(code)
    if picture is not None:
        return picture
    if code <= 0xFF:
        return f"\\x{code:02x}"
    if code <= 0xFFFF:
        return f"\\u{code:04x}"
    return f"\\U{code:08x}"
