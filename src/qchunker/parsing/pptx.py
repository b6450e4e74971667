"""PPTX -> Markdown: one heading per slide, text in shape order, tables, charts, diagrams and notes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple
from xml.etree import ElementTree

from qchunker.parsing.archive import Archive, attribute, local, relation_id
from qchunker.parsing.markdown_writer import heading, paragraph, table
from qchunker.types import Note

PRESENTATION = "ppt/presentation.xml"
_TITLES = frozenset({"title", "ctrTitle"})
_FURNITURE = frozenset({"sldNum", "dt", "ftr", "hdr", "sldImg"})
_LISTS = frozenset({"body", "obj"})
_INDENT = "  "


class Slides(NamedTuple):
    """Markdown of a deck, with the offset of every slide and what was left out."""

    text: str
    page_starts: tuple[int, ...]
    notes: tuple[Note, ...]


class _Slide(NamedTuple):
    title: list[str]
    body: list[str]
    furniture: list[str]


def read_pptx(archive: Archive) -> Slides:
    """Turn a deck into Markdown."""
    parts: list[str] = []
    furniture: dict[str, list[int]] = {}
    blank: list[int] = []
    for number, part in enumerate(_slide_parts(archive), start=1):
        slide = _read_slide(archive, part)
        blocks = slide.body + _speaker_notes(archive, part)
        if slide.title or blocks:
            blocks.insert(0, heading(2, " ".join(slide.title) or f"Slide {number}"))
        else:
            blank.append(number)
        for line in slide.furniture:
            furniture.setdefault(line, []).append(number)
        parts.append("".join(f"{block}\n\n" for block in blocks))
    starts = (0, *accumulate(map(len, parts)))[: len(parts)]
    notes = [
        Note("furniture", f"removed from {len(slides)} slides: {line!r}", page=slides[0])
        for line, slides in furniture.items()
    ]
    if blank:
        notes.append(Note("blank_page", f"{len(blank)} slides without text: {blank}", page=blank[0]))
    return Slides("".join(parts).rstrip("\n"), starts, tuple(notes))


def _slide_parts(archive: Archive) -> Iterator[str]:
    relations = archive.relations(PRESENTATION)
    seen: set[str] = set()  # a small file may name one slide many thousand times
    for node in archive.xml(PRESENTATION).iter():
        if local(node) == "sldId":
            kind, part = relations.get(relation_id(node), ("", ""))
            if kind == "slide" and part in archive and part not in seen:
                seen.add(part)
                yield part


def _read_slide(archive: Archive, part: str) -> _Slide:
    slide = _Slide([], [], [])
    for shape in _shapes(archive.xml(part)):
        kind = local(shape)
        if kind == "graphicFrame":
            slide.body.extend(_graphic(archive, part, shape))
            continue
        role = _role(shape)
        lines = list(_text_lines(shape))
        if role in _FURNITURE:
            slide.furniture.extend(line for _, line in lines)
        elif role in _TITLES and lines:
            slide.title.append(" ".join(line for _, line in lines))
        elif lines:
            slide.body.append(_text_block(lines, is_list=role in _LISTS and len(lines) > 1))
    return slide


def _shapes(node: ElementTree.Element) -> Iterator[ElementTree.Element]:
    """Shapes and frames in drawing order, groups opened."""
    for child in node:
        kind = local(child)
        if kind in ("sp", "cxnSp", "graphicFrame"):
            yield child
        elif kind == "AlternateContent":
            yield from _shapes(child[0]) if len(child) else ()
        elif kind in ("cSld", "spTree", "grpSp"):
            yield from _shapes(child)


def _role(shape: ElementTree.Element) -> str:
    """What a placeholder is for; "obj" is the default of the format, "" is a free text box."""
    for node in shape.iter():
        if local(node) == "ph":
            return node.get("type", "obj")
    return ""


def _text_lines(node: ElementTree.Element) -> Iterator[tuple[int, str]]:
    """(indentation, text) of every paragraph with text."""
    for child in node.iter():
        if local(child) == "p":
            level = next((int(attribute(part, "lvl", "0")) for part in child if local(part) == "pPr"), 0)
            text = "".join(_run_texts(child)).strip()
            if text:
                yield level, text


def _run_texts(node: ElementTree.Element) -> Iterator[str]:
    for child in node.iter():
        if local(child) == "t":
            yield child.text or ""
        elif local(child) == "br":
            yield "\n"
        elif local(child) == "tab":
            yield "\t"


def _text_block(lines: list[tuple[int, str]], is_list: bool) -> str:
    if is_list:
        return "\n".join(f"{_INDENT * level}- {' '.join(text.split())}" for level, text in lines)
    return "\n\n".join(paragraph(text) for _, text in lines)


def _graphic(archive: Archive, part: str, frame: ElementTree.Element) -> list[str]:
    """A table, a chart as a table of its numbers, or the words of a diagram."""
    blocks = []
    relations = archive.relations(part)
    for node in frame.iter():
        kind = local(node)
        if kind == "tbl":
            rows = [[_cell(cell) for cell in row if local(cell) == "tc"] for row in node if local(row) == "tr"]
            blocks.append(table(rows))
        elif kind in ("chart", "relIds"):
            _, target = relations.get(attribute(node, "id" if kind == "chart" else "dm"), ("", ""))
            if target in archive:
                root = archive.xml(target)
                blocks.append(_chart(root) if kind == "chart" else _diagram(root))
    return [block for block in blocks if block]


def _diagram(root: ElementTree.Element) -> str:
    return "\n".join(f"- {' '.join(text.split())}" for _, text in _text_lines(root))


def _cell(cell: ElementTree.Element) -> str:
    return "\n".join(text for _, text in _text_lines(cell))


def _chart(root: ElementTree.Element) -> str:
    title_nodes = (node for node in root.iter() if local(node) == "title")
    titles = [" ".join(text for _, text in _text_lines(node)) for node in title_nodes]
    columns: list[list[str]] = []
    for series in (node for node in root.iter() if local(node) == "ser"):
        fields = {local(child): child for child in series}
        if not columns and "cat" in fields:
            columns.append(["", *_values(fields["cat"])])
        name = _values(fields["tx"]) if "tx" in fields else []
        values = fields.get("val", fields.get("yVal"))
        columns.append([" ".join(name), *(_values(values) if values is not None else [])])
    height = max(map(len, columns), default=0)
    rows = [[column[index] if index < len(column) else "" for column in columns] for index in range(height)]
    return "\n\n".join(block for block in [*map(paragraph, titles), table(rows)] if block)


def _values(node: ElementTree.Element) -> list[str]:
    return [child.text or "" for child in node.iter() if local(child) == "v"]


def _speaker_notes(archive: Archive, part: str) -> list[str]:
    for kind, target in archive.relations(part).values():
        if kind == "notesSlide" and target in archive:
            shapes = [shape for shape in _shapes(archive.xml(target)) if _role(shape) not in _FURNITURE]
            lines = [paragraph(text) for shape in shapes for _, text in _text_lines(shape)]
            return ["\n\n".join(["Notes:", *lines])] if lines else []
    return []
