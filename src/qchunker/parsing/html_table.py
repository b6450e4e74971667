"""HTML tables to plain rows: spanning cells repeated where they apply, header rows folded into one."""

from __future__ import annotations

import re
from typing import NamedTuple

from selectolax.lexbor import LexborNode

_MAX_SPAN = 1_000  # the limit of the HTML standard for columns
_MAX_CELLS = 2_000_000
_MAX_REPEATED_CHARS = 5_000_000
_BREAKING = frozenset({"br", "p", "div", "li", "ul", "ol", "dt", "dd", "pre", "tr", "td", "th", "hr", "blockquote"})
_UNSEEN = frozenset({"script", "style", "template", "svg", "noscript"})
_SPACE = re.compile(r"\s+")


class Table(NamedTuple):
    """``header`` has one name per column and is empty when the table has no header cells."""

    header: list[str]
    body: list[list[str]]


class _Cell(NamedTuple):
    text: str
    is_header: bool


def table_rows(table: LexborNode) -> Table | None:
    """Rows of a data table; None for a table that only lays out other content."""
    attributes = table.attributes
    if attributes.get("role") in ("presentation", "none") or table.css_first(
        "table table, td h1, td h2, td h3, td pre"
    ):
        return None
    rows = table.css("tr")
    grid, in_head = _grid(rows)
    grid = _without_empty_columns(grid)
    if not grid or max(map(len, grid)) < 2:
        return None
    n_head = 0
    while n_head < len(grid) and (in_head[n_head] or all(cell.is_header for cell in grid[n_head] if cell.text)):
        n_head += 1
    if n_head == len(grid) and not all(in_head):
        n_head = min(1, len(grid))
    width = max(map(len, grid))
    header = [_column_name([row[column].text for row in grid[:n_head] if column < len(row)]) for column in range(width)]
    # Short rows are filled up, unless the filling would outgrow the table.
    filled = width if width * len(grid) <= _MAX_CELLS else 0
    body = [[cell.text for cell in row] + [""] * (filled - len(row)) for row in grid[n_head:]]
    return Table(header if n_head else [], body)


def _grid(rows: list[LexborNode]) -> tuple[list[list[_Cell]], list[bool]]:
    """Cells in their columns. A cell that spans rows or columns stands in each of them."""
    grid: list[list[_Cell]] = []
    in_head: list[bool] = []
    carried: dict[int, tuple[int, _Cell]] = {}  # column -> rows still to fill, cell
    n_cells = repeated = 0
    for row in rows:
        line: list[_Cell] = []
        for node in _cells(row):
            _fill(line, carried)
            text = _cell_text(node).replace("|", "\\|")
            # A long text in a cell that spans many is not repeated without bound.
            repeated += len(text) * (_span(node, "colspan") * _span(node, "rowspan") - 1)
            cell = _Cell(text, node.tag == "th")
            columns = _span(node, "colspan") if n_cells < _MAX_CELLS and repeated < _MAX_REPEATED_CHARS else 1
            for _ in range(columns):
                if (more := _span(node, "rowspan") - 1) > 0 and repeated < _MAX_REPEATED_CHARS:
                    carried[len(line)] = (more, cell)
                line.append(cell)
            n_cells += columns
        _fill(line, carried)
        if any(cell.text for cell in line):
            grid.append(line)
            in_head.append(row.parent is not None and row.parent.tag == "thead")
    return grid, in_head


def _without_empty_columns(grid: list[list[_Cell]]) -> list[list[_Cell]]:
    """Columns for icons and spacing go; what is left of a table with one column is not a table."""
    used = {column for row in grid for column, cell in enumerate(row) if cell.text}
    if not used or len(used) == max(map(len, grid)):
        return grid
    return [[cell for column, cell in enumerate(row) if column in used] for row in grid]


def _cell_text(cell: LexborNode) -> str:
    """The text of a cell on one line; inline elements add no space of their own."""
    parts: list[str] = []
    stack = [cell.first_child]
    while stack:
        node = stack.pop()
        if node is None:
            continue
        stack.append(node.next)
        if node.tag == "-text":
            parts.append(node.text_content or "")
        elif node.tag not in _UNSEEN:
            if node.tag in _BREAKING:
                parts.append(" ")
            stack.append(node.first_child)
    return _SPACE.sub(" ", "".join(parts)).strip()


def _cells(row: LexborNode) -> list[LexborNode]:
    cells = []
    child = row.first_child
    while child is not None:
        if child.tag in ("td", "th"):
            cells.append(child)
        child = child.next
    return cells


def _fill(line: list[_Cell], carried: dict[int, tuple[int, _Cell]]) -> None:
    while len(line) in carried:
        more, cell = carried.pop(len(line))
        if more > 1:
            carried[len(line)] = (more - 1, cell)
        line.append(cell)


def _span(node: LexborNode, name: str) -> int:
    value = (node.attributes.get(name) or "").strip()
    return max(1, min(int(value), _MAX_SPAN)) if value.isascii() and value.isdigit() and len(value) < 9 else 1


def _column_name(texts: list[str]) -> str:
    """Names from all header rows, outer first, each once."""
    return " ".join(dict.fromkeys(text for text in texts if text))
