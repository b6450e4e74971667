"""The stack of open headings while a document is read."""

from __future__ import annotations


class HeadingStack:
    """Open headings by rank; a new heading closes all of the same or an inner rank."""

    def __init__(self) -> None:
        self._open: list[tuple[int, str, tuple[str, ...]]] = []
        self.path: tuple[str, ...] = ()

    def push(self, rank: int, title: str, parts: tuple[str, ...] = ()) -> tuple[str, ...]:
        """Open a heading. ``parts`` of its number close headings that it cannot stand under: 5.6 is not in 10."""
        self.close(rank)
        if parts:
            for depth, (_, _, above) in enumerate(self._open):
                if above and above != parts[: len(above)]:
                    del self._open[depth:]
                    break
        self._open.append((rank, title, parts))
        self.path = (*(entry[1] for entry in self._open[:-1]), title)
        return self.path

    def close(self, rank: int) -> None:
        """End all headings of this or an inner rank, as a heading without words does."""
        while self._open and self._open[-1][0] >= rank:
            self._open.pop()
        self.path = tuple(entry[1] for entry in self._open)
