"""Small pieces of Markdown, written so that the text of a document cannot be taken for structure."""

from __future__ import annotations

import re
from collections.abc import Sequence

_MAX_CELLS = 2_000_000
_LOOKS_LIKE_STRUCTURE = re.compile(r"#{1,6}(?:\s|$)|>|`{3}|~{3}|\||<[A-Za-z/!?]|[-=_*](?:[ \t]*[-=_*]){2,}\s*$")


def paragraph(text: str) -> str:
    """Text as a paragraph: outer and leading blanks removed, lines that look like structure escaped."""
    lines = [line.strip() for line in text.split("\n")]
    return "\n".join(f"\\{line}" if _LOOKS_LIKE_STRUCTURE.match(line) else line for line in lines if line)


def heading(level: int, text: str) -> str:
    """A heading on one line; empty for empty text."""
    words = " ".join(text.split())
    return f"{'#' * min(max(level, 1), 6)} {words}" if words else ""


def table(rows: Sequence[Sequence[str]]) -> str:
    """A pipe table with the first row as its header; rows and last columns without any text are left out."""
    cleaned = [[" ".join(cell.split()).replace("|", "\\|") for cell in row] for row in rows]
    filled = [row for row in cleaned if any(row)]
    if not filled:
        return ""
    width = max(index + 1 for row in filled for index, cell in enumerate(row) if cell)
    # Short rows are filled up, unless the filling would outgrow the table.
    padding = [""] * width if width * len(filled) <= _MAX_CELLS else []
    lines = ["| " + " | ".join((row + padding)[:width]) + " |" for row in filled]
    return "\n".join([lines[0], "|" + " --- |" * width, *lines[1:]])
