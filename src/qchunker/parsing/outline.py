"""The stack of open headings while a document is read."""

from __future__ import annotations


class HeadingStack:
    """Open headings by rank; a new heading closes all of the same or an inner rank."""

    def __init__(self) -> None:
        self._ranks: list[int] = []
        self._titles: list[str] = []
        self.path: tuple[str, ...] = ()

    def push(self, rank: int, title: str) -> tuple[str, ...]:
        self.close(rank)
        self._ranks.append(rank)
        self._titles.append(title)
        self.path = tuple(self._titles)
        return self.path

    def close(self, rank: int) -> None:
        """End all headings of this or an inner rank, as a heading without words does."""
        while self._ranks and self._ranks[-1] >= rank:
            self._ranks.pop()
            self._titles.pop()
        self.path = tuple(self._titles)
