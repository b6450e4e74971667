"""DOCX -> Markdown: headings with their automatic numbers, lists, tables, footnotes and text boxes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple
from xml.etree import ElementTree

from qchunker.parsing.archive import Archive, attribute, local
from qchunker.parsing.docx_numbering import Numbering
from qchunker.parsing.markdown_writer import heading, paragraph, table
from qchunker.types import Note

MAIN_PART = "word/document.xml"
# Stands in the text where a page ended when the document was last shown; removed at the end. It is a
# noncharacter, which no document may use for text.
_PAGE_BREAK = "\ufdd0"
_HEADING_NAME = re.compile(r"(?:heading|标题)\s*([1-9])$", re.IGNORECASE)
_CONTENTS_NAME = re.compile(r"(?:toc|contents|目录)\s*\d*$", re.IGNORECASE)
_LIST_NUMBER = re.compile(r"\d{1,9}[.)]$")
_SKIPPED = frozenset({"del", "moveFrom", "Fallback", "pPr", "rPr", "instrText", "delText", "sectPr"})
_CHARACTERS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}


class WordText(NamedTuple):
    """Markdown of a document, page offsets as the word processor last saw them, and what was left out."""

    text: str
    page_starts: tuple[int, ...]
    notes: tuple[Note, ...]


class _Style(NamedTuple):
    name: str
    based_on: str
    level: int
    number_id: str
    depth: int


def read_docx(archive: Archive) -> WordText:
    """Turn a document into Markdown."""
    main = _main_part(archive)
    return _Reader(archive, main).read()


def _main_part(archive: Archive) -> str:
    for kind, part in archive.relations("").values():
        if kind == "officeDocument":
            return part
    return MAIN_PART


class _Reader:
    def __init__(self, archive: Archive, main: str) -> None:
        self._archive = archive
        self._main = main
        self._parts: dict[str, list[str]] = {}
        for kind, part in archive.relations(main).values():
            if part in archive and part not in self._parts.setdefault(kind, []):
                self._parts[kind].append(part)
        self._styles = _read_styles(self._root("styles"))
        self._numbering = Numbering(self._root("numbering"))
        self._boxes: list[str] = []
        self._n_contents = 0
        self._below_title = 0  # 1 once the document's title stood above the headings

    def read(self) -> WordText:
        body = next((node for node in self._archive.xml(self._main) if local(node) == "body"), None)
        blocks = list(self._blocks(body)) if body is not None else []
        for kind, mark in (("footnotes", ""), ("endnotes", "e")):
            blocks.extend(self._footnotes(kind, mark))
        marked = "\n\n".join(blocks)
        pieces = marked.split(_PAGE_BREAK)
        starts = [0]
        for piece in pieces[:-1]:
            starts.append(starts[-1] + len(piece))
        return WordText("".join(pieces), tuple(starts) if len(pieces) > 1 else (), tuple(self._notes()))

    def _root(self, kind: str) -> ElementTree.Element | None:
        parts = self._parts.get(kind)
        return self._archive.xml(parts[0]) if parts else None

    def _notes(self) -> Iterator[Note]:
        for kind in ("header", "footer"):
            for text in dict.fromkeys(map(self._plain, self._parts.get(kind, []))):
                if text:
                    yield Note("furniture", f"page {kind} left out: {text!r}")
        if self._n_contents:
            yield Note("dropped_text", f"removed {self._n_contents} lines of a table of contents")
        for part in self._parts.get("comments", []):
            n_comments = sum(local(node) == "comment" for node in self._archive.xml(part))
            if n_comments:
                yield Note("dropped_text", f"comments left out: {n_comments}")

    def _plain(self, part: str) -> str:
        return " ".join("".join(self._runs(self._archive.xml(part))).replace(_PAGE_BREAK, "").split())

    def _blocks(self, container: ElementTree.Element) -> Iterator[str]:
        for node in container:
            kind = local(node)
            if kind == "p":
                block = self._paragraph(node)
                if block:
                    yield block
                yield from self._take_boxes()
            elif kind == "tbl":
                block = self._table(node)
                if block:
                    yield block
                yield from self._take_boxes()
            elif kind not in _SKIPPED:
                yield from self._blocks(node)

    def _take_boxes(self) -> list[str]:
        taken, self._boxes = self._boxes, []
        return taken

    def _paragraph(self, node: ElementTree.Element) -> str:
        style, level, label = self._format(node)
        raw = "".join(self._runs(node))
        text = raw.strip(" \t\n")
        if not text.strip(_PAGE_BREAK).strip():
            return _PAGE_BREAK * raw.count(_PAGE_BREAK)
        if _CONTENTS_NAME.match(style):
            self._n_contents += 1
            return _PAGE_BREAK * raw.count(_PAGE_BREAK)
        if level:
            if style.casefold() == "title":
                self._below_title = 1
            else:
                level += self._below_title
            lead = _PAGE_BREAK * text.count(_PAGE_BREAK)
            return lead + heading(level, f"{label or ''} {text.replace(_PAGE_BREAK, '')}")
        if label == "-" or (label and _LIST_NUMBER.match(label)):
            return f"{label} {' '.join(text.split(' '))}".replace("\n", " ")
        lead = _PAGE_BREAK * (len(text) - len(text.lstrip(_PAGE_BREAK)))
        text = text.lstrip(_PAGE_BREAK)
        return lead + paragraph(f"{label} {text}" if label else text)

    def _format(self, node: ElementTree.Element) -> tuple[str, int, str | None]:
        """(style name, heading level or 0, automatic label or None) of one paragraph."""
        own = next((_Style(*_style_fields(child)) for child in node if local(child) == "pPr"), _NO_STYLE)
        chain = [own, *self._style_chain(own.based_on)]
        level = next((style.level for style in chain if style.level >= 0), 0)
        number_id = next((style.number_id for style in chain if style.number_id), "")
        depth = next((style.depth for style in chain if style.depth >= 0), 0)
        label = self._numbering.label(number_id, depth) if number_id not in ("", "0") else None
        return (chain[1].name if len(chain) > 1 else ""), level, label

    def _style_chain(self, style_id: str) -> Iterator[_Style]:
        seen: set[str] = set()
        while style_id in self._styles and style_id not in seen:
            seen.add(style_id)
            yield self._styles[style_id]
            style_id = self._styles[style_id].based_on

    def _runs(self, node: ElementTree.Element) -> Iterator[str]:
        for child in node:
            kind = local(child)
            if kind == "t":
                yield child.text or ""
            elif kind == "lastRenderedPageBreak":
                yield _PAGE_BREAK
            elif kind in _CHARACTERS:
                yield "" if attribute(child, "type") == "page" else _CHARACTERS[kind]
            elif kind == "footnoteReference":
                yield f"[^{attribute(child, 'id')}]"
            elif kind == "endnoteReference":
                yield f"[^e{attribute(child, 'id')}]"
            elif kind == "sym":
                yield _symbol(attribute(child, "char"))
            elif kind == "txbxContent":
                # A list first: reading the box takes what ``_boxes`` holds so far.
                blocks = list(self._blocks(child))
                self._boxes.extend(blocks)
            elif kind not in _SKIPPED:
                yield from self._runs(child)

    def _table(self, node: ElementTree.Element) -> str:
        grid = [list(_descend(row, "tc")) for row in _descend(node, "tr")]
        if len(grid) == 1 and len(grid[0]) == 1:
            # A single cell is a frame around ordinary text.
            return "\n\n".join(self._blocks(grid[0][0]))
        rows: list[list[str]] = []
        for row in grid:
            cells: list[str] = []
            for cell in row:
                span, continues = _cell_shape(cell)
                above = rows[-1][len(cells)] if rows and len(rows[-1]) > len(cells) else ""
                text = above if continues else self._cell(cell)
                cells.extend([text] * span)
            rows.append(cells)
        breaks = _PAGE_BREAK * sum(cell.count(_PAGE_BREAK) for row in rows for cell in row[:1])
        return breaks + table([[_unmarked(cell) for cell in row] for row in rows])

    def _cell(self, cell: ElementTree.Element) -> str:
        """The text of a cell; a table inside it becomes one line per row."""
        lines: list[str] = []
        for node in cell:
            if local(node) == "tbl":
                rows = ([self._cell(inner) for inner in _descend(row, "tc")] for row in _descend(node, "tr"))
                lines.extend(", ".join(filter(None, row)) for row in rows)
            elif local(node) == "p":
                lines.extend([self._paragraph(node), *self._take_boxes()])
            elif local(node) not in _SKIPPED:
                lines.append(self._cell(node))
        return "\n".join(filter(None, lines))

    def _footnotes(self, kind: str, mark: str) -> Iterator[str]:
        root = self._root(kind)
        for node in root if root is not None else ():
            number = attribute(node, "id")
            if attribute(node, "type") in ("separator", "continuationSeparator", "continuationNotice"):
                continue
            text = " ".join(_unmarked("\n".join(self._blocks(node))).split())
            if text:
                yield f"[^{mark}{number}]: {text}"


def _read_styles(root: ElementTree.Element | None) -> dict[str, _Style]:
    styles = {}
    for node in root if root is not None else ():
        if local(node) == "style" and attribute(node, "type") == "paragraph":
            fields = {local(child): child for child in node}
            name = attribute(fields["name"], "val") if "name" in fields else ""
            based_on = attribute(fields["basedOn"], "val") if "basedOn" in fields else ""
            own = _Style(*_style_fields(fields["pPr"])) if "pPr" in fields else _NO_STYLE
            named = _HEADING_NAME.match(name)
            level = int(named.group(1)) if named else 1 if name.casefold() == "title" else own.level
            styles[attribute(node, "styleId")] = _Style(name, based_on, level, own.number_id, own.depth)
    return styles


_NO_STYLE = _Style("", "", -1, "", -1)


def _style_fields(properties: ElementTree.Element) -> tuple[str, str, int, str, int]:
    style_id, level, number_id, depth = "", -1, "", -1
    for child in properties:
        kind, value = local(child), attribute(child, "val")
        if kind == "pStyle":
            style_id = value
        elif kind == "outlineLvl" and value.isdigit():
            # Level 9 means body text.
            level = 0 if int(value) >= 9 else int(value) + 1
        elif kind == "numPr":
            for part in child:
                if local(part) == "numId":
                    number_id = attribute(part, "val")
                elif local(part) == "ilvl" and attribute(part, "val").isdigit():
                    depth = int(attribute(part, "val"))
    return "", style_id, level, number_id, depth


def _descend(node: ElementTree.Element, kind: str) -> Iterator[ElementTree.Element]:
    """Rows of a table or cells of a row, also inside content controls and tracked insertions."""
    for child in node:
        if local(child) == kind:
            yield child
        elif local(child) not in _SKIPPED and local(child) not in ("tbl", "p"):
            yield from _descend(child, kind)


def _cell_shape(cell: ElementTree.Element) -> tuple[int, bool]:
    """(columns it spans, whether it continues the cell above)."""
    span, continues = 1, False
    for properties in cell:
        if local(properties) == "tcPr":
            for child in properties:
                if local(child) == "gridSpan" and attribute(child, "val").isdigit():
                    span = min(int(attribute(child, "val")), 100)
                elif local(child) == "vMerge":
                    continues = attribute(child, "val", "continue") == "continue"
    return span, continues


def _unmarked(text: str) -> str:
    return text.replace(_PAGE_BREAK, "")


def _symbol(code: str) -> str:
    """A character of a symbol font; its private code is kept, so that nothing disappears."""
    try:
        return chr(int(code, 16))
    except (ValueError, OverflowError):
        return ""
