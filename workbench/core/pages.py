"""Reading a listing to its end, with a guard.

A cursor is opaque; the end is a result without ``nextCursor`` ("Pagination",
all revisions). An empty string is a cursor, ``null`` is a defect that means the
end, and a server that names a page again would be read for ever without a
guard.
"""

from __future__ import annotations

from typing import Any

from workbench.core.jsonrpc import dumps

#: No listing is read further than this. At the usual 50 to 100 items a page it is 50,000 items.
MAX_PAGES = 1_000


class Pages:
    """Takes the results of one listing, page by page.

    ``params`` is what to ask next (JSON text, ``None`` for the first page) while ``more`` is
    true. ``items`` are the dicts of all pages so far; ``defects`` are short words for what led nowhere.
    """

    def __init__(self, member: str, max_pages: int = MAX_PAGES) -> None:
        self.member = member
        self.max_pages = max_pages
        self.items: list[dict[str, Any]] = []
        self.defects: list[str] = []
        self.more = True
        self.cursor: str | None = None
        self.count = 0
        self._seen: set[str] = set()

    @property
    def params(self) -> str | None:
        return None if self.cursor is None else dumps({"cursor": self.cursor})

    def take(self, result: Any) -> bool:
        """Take a page's result, whatever it is; whether there is another page to ask for."""
        self.count += 1
        self.more = False
        page = result.get(self.member) if isinstance(result, dict) else None
        items = page if isinstance(page, list) else []
        dicts = [item for item in items if isinstance(item, dict)]
        self.items += dicts
        if not isinstance(page, list) or len(dicts) < len(items):
            self._flag("items-shape")
        if isinstance(result, dict) and "nextCursor" in result:
            self._follow(result["nextCursor"])
        return self.more

    def _follow(self, cursor: Any) -> None:
        if cursor is None:
            self._flag("cursor-null")
        elif not isinstance(cursor, str):
            self._flag("cursor-type")
        elif cursor in self._seen:
            self._flag("cursor-loop")
        elif self.count >= self.max_pages:
            self._flag("too-many-pages")
        else:
            self._seen.add(cursor)
            self.cursor = cursor
            self.more = True

    def _flag(self, defect: str) -> None:
        if defect not in self.defects:
            self.defects.append(defect)
