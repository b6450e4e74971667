"""What a reader should know about a document before trusting its chunks. Reports, never changes."""

from __future__ import annotations

from collections.abc import Iterator

from qchunker.config import ChunkingConfig
from qchunker.debate.offline.segmenter import sizes_for
from qchunker.models.load import is_mostly_chinese
from qchunker.parsing import headings
from qchunker.types import ATOMIC_KINDS, Block, Document, Note, Span

_LONG_SENTENCE_RATIO = 2
_SERIES = 3
_WITHOUT_MARKUP = frozenset({"text/plain", "application/pdf"})


def lint(document: Document, config: ChunkingConfig | None = None) -> list[Note]:
    """Findings, in order of place; those without a place first.

    Kinds, besides the parser's own (replaced_characters, dropped_text, furniture, columns, blank_page,
    hyphenation, doubtful_records): ``doubtful_heading`` (taken for a heading by its look alone), ``skipped_level``,
    ``empty_section``, ``oversize_block`` (cannot be kept whole under the limit), ``long_header`` (too long to be
    repeated with each part of its table), ``no_stops`` (prose that has to be cut inside sentences),
    ``repeated_text`` (the same long block more than twice).
    """
    settings = sizes_for(config or ChunkingConfig(), chinese=is_mostly_chinese(document.text))
    found = [*document.notes, *_headings(document), *_sizes(document, settings), *_repeats(document)]
    return sorted(found, key=lambda note: (note.span is not None, note.span or (0, 0), note.kind))


def _headings(document: Document) -> Iterator[Note]:
    marked = document.media_type not in _WITHOUT_MARKUP
    lines = [_first_line(document, block) for block in document.blocks if block.kind == "heading"]
    numbers = [found.parts for line in lines if (found := headings.numbering(line)) and found.parts]
    # A bare number is trusted when others stand under it, or when it is one of a series.
    parents = {parts[:1] for parts in numbers if len(parts) > 1}
    series = [parts for parts in numbers if len(parts) == 1]
    in_order = series == sorted(series, key=lambda parts: int(parts[0]))
    if in_order and (len(series) >= _SERIES or not parents.isdisjoint(series)):
        parents.update(series)
    open_level = 0
    for block, following in zip(document.blocks, [*document.blocks[1:], None], strict=True):
        if block.kind != "heading":
            continue
        line = _first_line(document, block)
        numbered = headings.numbering(line)
        by_number = numbered is not None and (not numbered.weak or numbered.parts in parents)
        if not marked and not by_number:
            yield _note("doubtful_heading", f"taken for a heading by its look: {line!r}", block)
        if marked and open_level and block.level > open_level + 1:
            yield _note("skipped_level", f"level {block.level} under level {open_level}: {line!r}", block)
        open_level = block.level
        if following is None or (following.kind == "heading" and following.level <= block.level):
            yield _note("empty_section", f"no text under {line!r}", block)


def _sizes(document: Document, config: ChunkingConfig) -> Iterator[Note]:
    for block in document.blocks:
        size = block.end - block.start
        if block.kind in ATOMIC_KINDS and size > config.limit:
            parts = "rows" if block.kind == "table" else "lines"
            message = (
                f"{block.kind} of {size} characters is over the limit of {config.limit}: it is cut between {parts}"
            )
            yield _note("oversize_block", message, block)
            if block.kind == "table" and block.header and block.header.end - block.header.start > config.limit // 2:
                yield _note("long_header", "the table header is too long to be repeated with each part", block)
        elif block.kind == "paragraph" and size > _LONG_SENTENCE_RATIO * config.limit and _lacks_stops(document, block):
            yield _note("no_stops", f"{size} characters without the end of a sentence", block)


def _lacks_stops(document: Document, block: Block) -> bool:
    stops = sum(document.text.count(stop, block.start, block.end) for stop in "。！？；.!?;\n")
    return stops * 1000 < block.end - block.start


def _repeats(document: Document) -> Iterator[Note]:
    seen: dict[str, int] = {}
    for block in document.blocks:
        if block.kind in ("paragraph", "table") and block.end - block.start >= 80:
            text = document.text[block.start : block.end]
            seen[text] = seen.get(text, 0) + 1
            if seen[text] == 3:
                yield _note("repeated_text", "the same block stands here for the third time", block)


def _first_line(document: Document, block: Block) -> str:
    text = document.text[block.start : min(block.end, block.start + 100)].lstrip("# ")
    return (text.splitlines() or [""])[0].strip()


def _note(kind: str, message: str, block: Block) -> Note:
    return Note(kind, message, Span(block.start, block.end))
