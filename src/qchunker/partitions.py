"""Chunk rows of any tool as partitions of their documents."""

from __future__ import annotations

import dataclasses
import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from qchunker.errors import InputError
from qchunker.parsing import parse_string
from qchunker.types import Block, Document, Span

Row = dict[str, Any]
_DEEPEST = 1000
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class RowPartition:
    """The chunks of one document, without the overlap between them.

    ``n_trimmed`` chunks began in the one before and were cut back to its end; ``n_dropped`` held nothing else;
    ``n_blank`` held nothing but white space.
    """

    spans: tuple[Span, ...]
    method: str
    n_trimmed: int = 0
    n_dropped: int = 0
    n_blank: int = 0

    @property
    def notes(self) -> tuple[str, ...]:
        """What was changed, in words."""
        changes = (
            (self.n_trimmed, "scored without overlap"),
            (self.n_dropped, "inside others left out"),
            (self.n_blank, "without text left out"),
        )
        return tuple(f"{number} {'chunk' if number == 1 else 'chunks'} {what}" for number, what in changes if number)


def documents_of(rows: Sequence[Row], name: str = "documents") -> dict[str, Document]:
    """Documents by id, from rows of {doc_id, text}.

    Args:
        rows: of {doc_id, text}.
        name: of the file, for messages.

    Raises:
        InputError: if an id occurs twice or a field is not a string.
    """
    documents: dict[str, Document] = {}
    for number, row in enumerate(rows, 1):
        doc_id, text = row["doc_id"], row["text"]
        if not isinstance(doc_id, str) or not isinstance(text, str):
            raise InputError(f"{name}, row {number}: doc_id and text must be strings")
        if not doc_id or _SURROGATE.search(doc_id):
            raise InputError(f"{name}, row {number}: doc_id {doc_id!r} is empty or holds half a character")
        if doc_id in documents:
            raise InputError(f"{name}, row {number}: doc_id {doc_id!r} occurs twice")
        source = whole_characters(str(row.get("source") or doc_id))
        documents[doc_id] = Document(whole_characters(text), (), source=source, id=doc_id)
    return documents


def structured(document: Document, row: Row) -> Document:
    """A document of a row with its blocks: those of the row, else those that its text shows.

    Raises:
        InputError: if the blocks of the row are not sorted spans of its text.
    """
    if not row.get("blocks"):
        if row.get("blocks") not in (None, []):
            raise InputError(f"document {document.id!r}: its blocks are no list")
        parsed = parse_string(document.text, "text.md", document.id) if document.text.strip() else document
        return dataclasses.replace(document, blocks=parsed.blocks if parsed.text == document.text else ())
    try:
        made = [_block(one, len(document.text)) for one in row["blocks"]]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"document {document.id!r}: its blocks hold what they should not: {error!r}") from error
    if any(one.end > other.start for one, other in pairwise(made)):
        raise InputError(f"document {document.id!r}: its blocks are not sorted spans of its text")
    return dataclasses.replace(document, blocks=tuple(_with_gaps(document.text, made)))


def _block(one: Row, length: int) -> Block:
    path, level, header = one["heading_path"], one["level"], one.get("header")
    if type(level) is not int or not 0 <= level <= _DEEPEST:
        raise ValueError(f"level {level!r}")
    if not isinstance(path, list) or not all(isinstance(title, str) for title in path):
        raise ValueError(f"heading_path {path!r}")
    span = _span_in(length, one["start"], one["end"])
    above = None if header is None else _span_in(length, *header)
    if above is not None and above.start > span.start:
        raise ValueError(f"header {header!r} behind the block")
    return Block(whole_characters(str(one["kind"])), *span, tuple(map(whole_characters, path)), level, above)


def _span_in(length: int, start: Any, end: Any) -> Span:
    if type(start) is not int or type(end) is not int or not 0 <= start < end <= length:
        raise ValueError(f"span {start!r}-{end!r}")
    return Span(start, end)


def _with_gaps(text: str, blocks: Sequence[Block]) -> Iterator[Block]:
    """The blocks, and paragraphs of the text that no block holds."""
    at = 0
    for block in [*blocks, None]:
        stop = len(text) if block is None else block.start
        piece = text[at:stop]
        if piece.strip():
            yield Block("paragraph", at + len(piece) - len(piece.lstrip()), at + len(piece.rstrip()))
        if block is not None:
            yield block
            at = block.end


def whole_characters(text: str) -> str:
    """Half of a surrogate pair is no character: models cannot read it, and files cannot hold it."""
    return _SURROGATE.sub("\ufffd", text)


def partitions_of(rows: Sequence[Row], documents: dict[str, Document], name: str) -> dict[str, RowPartition]:
    """The partition of every document that has chunks with text, by document id.

    Args:
        rows: of {doc_id, start, end}, in any order.
        documents: that the spans point into.
        name: of the file, for messages; also the method where a row names none.

    Raises:
        InputError: if a row names an unknown document or points outside it.
    """
    found: dict[str, list[Span]] = {}
    methods: dict[str, str] = {}
    for number, row in enumerate(rows, 1):
        document = documents.get(row["doc_id"]) if isinstance(row["doc_id"], str) else None
        if document is None:
            hint = "pass the documents that these chunks were made from"
            raise InputError(f"{name}, row {number}: no document has the doc_id {row['doc_id']!r}", hint=hint)
        match row["start"], row["end"]:
            case int(start), int(end) if 0 <= start <= end <= len(document.text) and type(start) is type(end) is int:
                found.setdefault(document.id, []).append(Span(start, end))
            case pair:
                raise InputError(
                    f"{name}, row {number}: start, end must be 0 <= start <= end <= {len(document.text)}, not {pair!r}"
                )
        methods.setdefault(document.id, whole_characters(str(row.get("method") or name)))
        _check_text(row, document, f"{name}, row {number}")
    partitions = {key: _disjoint(documents[key].text, sorted(spans), methods[key]) for key, spans in found.items()}
    return {key: partition for key, partition in partitions.items() if partition.spans}


def _check_text(row: Row, document: Document, where: str) -> None:
    """A row that carries its text must agree with the documents: else they are others, or the offsets are bytes.

    The text may have context around it.
    """
    if not isinstance(row.get("text"), str):
        return
    text = "".join(whole_characters(row["text"]).split())
    span = "".join(document.text[row["start"] : row["end"]].split())
    if span not in text and text not in span:
        hint = "are these the documents that the chunks were made from, and do start and end count characters?"
        raise InputError(f"{where}: its text is not what stands at {row['start']}-{row['end']}", hint=hint)


def _disjoint(text: str, spans: Sequence[Span], method: str) -> RowPartition:
    kept: list[Span] = []
    at = n_trimmed = n_dropped = n_blank = 0
    for span in spans:
        if not text[span.start : span.end].strip():
            n_blank += 1
            continue
        start = max(span.start, at)
        if start >= span.end or (start > span.start and not text[start : span.end].strip()):
            n_dropped += 1
            continue
        n_trimmed += start > span.start
        kept.append(Span(start, span.end))
        at = span.end
    return RowPartition(tuple(kept), method, n_trimmed, n_dropped, n_blank)


def made_of(text: str, spans: Sequence[Span]) -> str:
    """A hash of a text and where it is cut: tells whether scores belong to chunks. White space at cuts does not count.

    Overlapping chunks count from the end of the one before, as they are scored.
    """
    digest = hashlib.sha256(whole_characters(text).encode())
    kept = _disjoint(text, sorted(spans), "").spans
    digest.update(repr([kept[0].start if kept else 0, *cuts(text, kept)]).encode())
    return digest.hexdigest()[:16]


def cuts(text: str, spans: Sequence[Span]) -> Iterator[int]:
    """Where the inner boundaries of a partition are: at the first character after each that is not white space."""
    for span in spans[1:]:
        piece = text[span.start : span.end]
        yield span.start + len(piece) - len(piece.lstrip())
