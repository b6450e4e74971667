"""Chunk rows laid out over their documents: what both views, the page and the terminal, are drawn from."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import fmean, median
from typing import Any

from qchunker.errors import InputError
from qchunker.partitions import made_of
from qchunker.types import Span
from qchunker.view.scores import DocumentScore, read_scores

Row = Mapping[str, Any]

CUT_REASONS: Mapping[str, str] = {
    "": "reason not recorded",
    "start": "the document starts",
    "heading": "a heading starts a new section",
    "block": "a new paragraph or block starts",
    "sentence": "between two sentences, to keep to the size limit",
    "clause": "inside a sentence, after a clause: the sentence is too long",
    "word": "inside a sentence, between two words: no clause end in reach",
    "grapheme": "between two characters: no better place in reach",
    "row": "between two rows of a long table",
    "line": "between two lines of a long block",
    "item": "a new list item starts",
    "glued": "what belongs together does not fit",
    "size": "the size limit is reached",
}
FORCED_CUTS = frozenset({"clause", "word", "grapheme"})
"""Cuts that separate words of one sentence; the views show them as doubtful."""

INVISIBLE = re.compile(
    "[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)
"""Characters that act without being seen. Joiners are left out: emoji and Persian need them."""

SHORT_RATIO = 0.25
"""A chunk shorter than this part of the median of its document is called short."""

STYLED_BLOCKS = frozenset({"heading", "table", "code"})
_MAX_NAMED_OVERLAPS = 3


@dataclass(frozen=True, slots=True)
class ChunkView:
    """One chunk row, checked; ``number`` counts from 1 in reading order."""

    row: Row
    number: int
    id: str
    span: Span
    lead_in: Span | None
    context: tuple[Span, ...]
    flags: tuple[str, ...]
    independence: float | None = None
    """Logical independence of the chunk from the one before, where it was scored."""

    @property
    def size(self) -> int:
        return self.span.end - self.span.start

    @property
    def cut(self) -> str:
        return str(self.row.get("cut") or "")

    @property
    def heading_path(self) -> tuple[str, ...]:
        path = self.row.get("heading_path") or ()
        return (path,) if isinstance(path, str) else tuple(map(str, path))


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text with one look: one block style and one set of chunks that hold it.

    ``shared_with`` holds the indices of other chunks that hold the stretch too, nearest first
    and not all of them when there are many.
    """

    span: Span
    style: str
    owner: int | None
    shared_with: tuple[int, ...]


@dataclass(slots=True)
class Section:
    """Consecutive pieces shown under one boundary line.

    ``chunk`` is None for text that no chunk holds. ``continues`` is set where a chunk goes on
    after another one that lies inside it.
    """

    chunk: int | None
    continues: bool = False
    pieces: list[Piece] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Sizes:
    """Chunk sizes of a document in characters."""

    smallest: int
    median: float
    mean: float
    largest: int


@dataclass(frozen=True, slots=True)
class DocumentView:
    """A document, its chunks in reading order, and its whole text in sections."""

    id: str
    source: str
    text: str
    chunks: tuple[ChunkView, ...]
    sections: tuple[Section, ...]
    sizes: Sizes | None
    score: DocumentScore | None = None

    def lost(self) -> Iterator[Section]:
        """The sections that no chunk holds."""
        return (section for section in self.sections if section.chunk is None)


def read_views(documents: Sequence[Row], chunks: Sequence[Row], scores: Sequence[Row] = ()) -> tuple[DocumentView, ...]:
    """Check the rows and lay out every document, in the order of ``documents``.

    ``scores`` are rows of ``qchunker score -o``, of these chunks only.

    Raises:
        InputError: if a row lacks a required field, points outside its document, or names an
            unknown document.
    """
    rows: dict[str, list[tuple[Span, Row]]] = {}
    texts: dict[str, str] = {}
    for index, document in enumerate(documents, 1):
        doc_id, text = document.get("doc_id"), document.get("text")
        if not isinstance(doc_id, str) or not isinstance(text, str):
            raise InputError(f"document row {index}: doc_id and text must be strings")
        if doc_id in rows:
            raise InputError(f"document row {index}: doc_id {doc_id!r} occurs twice")
        rows[doc_id], texts[doc_id] = [], text
    for index, chunk in enumerate(chunks, 1):
        doc_id = chunk.get("doc_id")
        if not isinstance(doc_id, str) or doc_id not in rows:
            raise InputError(
                f"chunk row {index}: no document has the doc_id {doc_id!r}",
                hint="pass the documents that these chunks were made from",
            )
        try:
            span = checked_span((chunk.get("start"), chunk.get("end")), len(texts[doc_id]), "start, end")
        except InputError as error:
            raise InputError(f"chunk row {index}: {error.reason}") from None
        rows[doc_id].append((span, chunk))
    found = read_scores(
        scores,
        {doc_id: len(spans) for doc_id, spans in rows.items()},
        lambda doc_id: made_of(texts[doc_id], [span for span, _ in rows[doc_id]]),
    )
    return tuple(
        _document_view(document, rows[document["doc_id"]], found.get(document["doc_id"])) for document in documents
    )


def checked_span(value: Any, length: int, name: str) -> Span:
    """A pair of numbers as a span inside a text of some length."""
    match value:
        case [int(start), int(end)] if 0 <= start < end <= length:
            return Span(start, end)
    raise InputError(f"{name} must be 0 <= start < end <= {length}, not {value!r}")


def _document_view(document: Row, rows: list[tuple[Span, Row]], score: DocumentScore | None) -> DocumentView:
    text = document["text"]
    rows = sorted(rows, key=lambda item: item[0])
    spans = [span for span, _ in rows]
    sizes = _sizes([span.end - span.start for span in spans])
    pieces = tuple(_pieces(text, spans, document.get("blocks") or ()))
    shared = {index for piece in pieces for index in (piece.owner, *piece.shared_with) if piece.shared_with}
    short_below = sizes.median * SHORT_RATIO if sizes else 0.0
    views = []
    for index, (span, row) in enumerate(rows):
        chunk_id = str(row.get("chunk_id") or f"{document['doc_id']}:{span.start}-{span.end}")
        flags = _flags(row, text[span.start : span.end], short_below, index in shared)
        try:
            lead_in = checked_span(row["lead_in"], len(text), "lead_in") if row.get("lead_in") else None
            context = tuple(checked_span(value, len(text), "context") for value in row.get("context") or ())
        except InputError as error:
            raise InputError(f"chunk {chunk_id}: {error.reason}") from None
        independence = score.boundaries[index - 1] if score and score.boundaries and index else None
        views.append(ChunkView(row, index + 1, chunk_id, span, lead_in, context, flags, independence))
    source = str(document.get("source") or (rows[0][1].get("source") if rows else "") or document["doc_id"])
    return DocumentView(document["doc_id"], source, text, tuple(views), _sections(text, spans, pieces), sizes, score)


def _sizes(sizes: list[int]) -> Sizes | None:
    return Sizes(min(sizes), float(median(sizes)), fmean(sizes), max(sizes)) if sizes else None


def _flags(row: Row, body: str, short_below: float, shared: bool) -> tuple[str, ...]:
    claims = {
        "oversize": bool(row.get("oversize")),
        "short": len(body) < short_below,
        "overlap": shared,
        "differs": row.get("text") is not None and row["text"] != body,
        "invisible": INVISIBLE.search(body) is not None,
        "linked": bool(row.get("links")),
        "completed": bool(row.get("added")) or row.get("completed_text") not in (None, "", body),
    }
    return tuple(name for name, holds in claims.items() if holds)


def _pieces(text: str, spans: Sequence[Span], blocks: Sequence[Row]) -> Iterator[Piece]:
    """Cut the text at every chunk and styled block edge; chunks may overlap and nest."""
    styled = [
        (checked_span((block.get("start"), block.get("end")), len(text), "block start, end"), str(block["kind"]))
        for block in blocks
        if block.get("kind") in STYLED_BLOCKS
    ]
    starts, ends = defaultdict(list), defaultdict(list)
    for index, span in enumerate(spans):
        starts[span.start].append(index)
        ends[span.end].append(index)
    styles = {}
    for span, kind in styled:
        # The line break after a block belongs to it on screen; alone it would show as an empty line.
        end = span.end + (text[span.end : span.end + 1] == "\n" and kind != "heading")
        styles[span.start] = kind
        styles.setdefault(end, "")
    edges = sorted({0, len(text), *starts, *ends, *styles})
    active: list[int] = []
    style = ""
    for start, end in pairwise(edges):
        for index in ends.get(start, ()):
            active.remove(index)
        active.extend(starts.get(start, ()))
        style = styles.get(start, style)
        shared = tuple(active[-2 : -2 - _MAX_NAMED_OVERLAPS : -1])
        yield Piece(Span(start, end), style, active[-1] if active else None, shared)


def _sections(text: str, spans: Sequence[Span], pieces: Sequence[Piece]) -> tuple[Section, ...]:
    sections: list[Section] = []
    pending: list[Piece] = []
    opened = 0
    gap: list[Piece] = []

    def close_gap() -> None:
        if gap and text[gap[0].span.start : gap[-1].span.end].strip():
            sections.append(Section(None, pieces=[*pending, *gap]))
            pending.clear()
        elif sections:
            sections[-1].pieces.extend(gap)
        else:
            pending.extend(gap)
        gap.clear()

    for piece in pieces:
        if piece.owner is None:
            gap.append(piece)
            continue
        close_gap()
        while opened < len(spans) and spans[opened].start <= piece.span.start:
            sections.append(Section(opened, pieces=list(pending)))
            pending.clear()
            opened += 1
        if not sections or sections[-1].chunk != piece.owner:
            sections.append(Section(piece.owner, continues=True))
        sections[-1].pieces.append(piece)
    close_gap()
    return tuple(sections)
