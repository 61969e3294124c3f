"""Which connections stand side by side, which of them has the keys, and which fit on the screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

#: Columns at most, and the cells one takes with the line beside it: two at 80, four at 160.
MOST = 4
CELLS = 40


class Chosen:
    """Connections by their numbers, in the order of their columns; places count from 0.

    ``at`` is the column with the keys, ``first`` the leftmost that is shown and ``fit`` how many
    are.
    """

    def __init__(self) -> None:
        self.numbers: list[int] = []
        self.at = 0
        self.first = 0
        self.fit = 1
        self._names: dict[int, str] = {}

    def begin(self, names: Mapping[int, str], current: int) -> None:
        """Choose the connection in view and those after it, from the start again at the end."""
        numbers = list(names)
        place = numbers.index(current) if current in names else 0
        chosen = (numbers[place:] + numbers[:place])[:MOST]
        self.numbers = sorted(chosen, key=numbers.index)
        self.at = self.numbers.index(current) if current in names else 0
        self.first = 0
        self._names = dict(names)

    def keep(self, names: Mapping[int, str]) -> None:
        """Hold on to what was chosen: a connection that was made again keeps its column."""
        if names == self._names:
            return
        free = {name: number for number, name in names.items() if number not in self.numbers}
        kept = [
            number if number in names else free.pop(self._names.get(number, ""), None)
            for number in self.numbers
        ]
        self.numbers = [number for number in kept if number is not None]
        self._names = dict(names)
        self.go(self.at)

    def widen(self, width: int) -> None:
        """Take as many columns as fit into ``width`` cells."""
        self.fit = max(1, min(width // CELLS, MOST, max(len(self.numbers), 1)))
        self.go(self.at)

    @property
    def shown(self) -> Sequence[int]:
        """The places that are on the screen."""
        return range(self.first, min(self.first + self.fit, len(self.numbers)))

    @property
    def paged(self) -> bool:
        return self.fit < len(self.numbers)

    @property
    def current(self) -> int | None:
        """The number of the connection that has the keys."""
        return self.numbers[self.at] if self.at < len(self.numbers) else None

    @property
    def words(self) -> str:
        """``1–2 of 4``, ``3 of 4``."""
        first, last = self.first + 1, min(self.first + self.fit, len(self.numbers))
        return (
            f"{first} of {len(self.numbers)}" if first == last else f"{first}–{last} of {len(self.numbers)}"
        )

    def go(self, at: int) -> None:
        """Give the keys to a column, and show it."""
        self.at = max(0, min(at, len(self.numbers) - 1))
        self.first = max(min(self.first, self.at), self.at - self.fit + 1)
        self.first = max(0, min(self.first, len(self.numbers) - self.fit))

    def page(self, step: int) -> None:
        """Show the columns before or behind, the last ones at most."""
        self.first = max(0, min(self.first + step * self.fit, len(self.numbers) - self.fit))
        self.at = max(self.first, min(self.at, self.first + self.fit - 1))

    def take(self, number: int) -> None:
        """Go to a connection's column; one that has none gets the column with the keys."""
        if number not in self.numbers:
            self.numbers[self.at] = number
        self.go(self.numbers.index(number))

    def next_of(self, numbers: Sequence[int]) -> int | None:
        """The connection that one more column would show."""
        return next((number for number in numbers if number not in self.numbers), None)

    def add(self, number: int) -> None:
        if len(self.numbers) < MOST:
            self.numbers.append(number)
            self.go(len(self.numbers) - 1)

    def drop(self) -> None:
        """Take the column with the keys out."""
        del self.numbers[self.at]
        self.go(self.at)
