"""What every parser needs to keep its promise: each non-space character lies in one block."""

from __future__ import annotations

from qchunker.types import Block


def cover_gaps(text: str, blocks: list[Block]) -> list[Block]:
    """Put a paragraph block over every stretch of text that no block holds.

    Markup without visible text (link definitions, for example) belongs to no block of a parser, but it
    is part of the source and must not be lost.
    """
    covered: list[Block] = []
    at = 0
    path: tuple[str, ...] = ()
    page: int | None = None
    for block in [*blocks, Block("end", len(text), len(text))]:
        gap = text[at : block.start]
        if gap and not gap.isspace():
            start = at + len(gap) - len(gap.lstrip())
            covered.append(Block("paragraph", start, at + len(gap.rstrip()), path, 0, None, page))
        if block.kind != "end":
            covered.append(block)
            at, path, page = max(at, block.end), block.heading_path, block.page
    return covered
