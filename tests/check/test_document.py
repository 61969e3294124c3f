"""The page about findings says what the rules say."""

from __future__ import annotations

from tests.check.document import PAGE, page


def test_the_page_is_made_from_the_rules() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "write it anew with: make docs"
