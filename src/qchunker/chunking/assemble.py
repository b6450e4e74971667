"""Pieces to chunks: heading path, page, repeated headers, lead-in, and the proof that the limit holds."""

from __future__ import annotations

from collections.abc import Iterable

from qchunker.chunking.packing import CUT_NAMES, Piece, text_units, word_spans
from qchunker.chunking.sizes import Measure
from qchunker.config import ChunkingConfig
from qchunker.sentences import clause_spans, sentence_spans
from qchunker.types import Block, Chunk, Document, Partition, Span
from qchunker.version import __version__

_NO_BODY = frozenset({"heading", "furniture", "rule", "front_matter"})
_CUTS_INSIDE_A_BLOCK = frozenset({"sentence", "clause", "word", "grapheme", "size"})
_MAX_PARENT_CHARS = 120
_PROSE = frozenset({"paragraph", "list_item", "quote", "html"})


def assemble(
    document: Document, pieces: Iterable[Piece], config: ChunkingConfig, measure: Measure, method: str
) -> Partition:
    """Make chunks of pieces. A chunk whose embedded text is over the limit is cut again, or says why it is not."""
    chunks: list[Chunk] = []
    for piece in pieces:
        chunks.extend(_chunks_of(document, piece, config, measure, chunks[-1] if chunks else None))
    return Partition(document, tuple(chunks), method, signature(config, method))


def signature(config: ChunkingConfig, method: str) -> str:
    """Everything that decides the result besides the text."""
    tokenizer = config.tokenizer
    unit = "chars" if tokenizer is None else tokenizer if isinstance(tokenizer, str) else "custom"
    return (
        f"qchunker={__version__} method={method} target={config.target_chars} max={config.limit} "
        f"min={config.min_chars} overlap={config.overlap_ratio:g} unit={unit} "
        f"merge_headings={int(config.merge_headings)}"
    )


def fitted_path(path: tuple[str, ...], limit: int, measure: Measure) -> tuple[str, ...]:
    """The inner elements of a heading path that fit into a third of the limit."""
    if measure.in_characters and sum(map(len, path)) + 3 * len(path) <= limit // 3:
        return path
    for first in range(len(path)):
        if measure.whole(" > ".join(path[first:])) - measure.overhead <= limit // 3:
            return path[first:]
    return ()


def join_small(document: Document, pieces: list[Piece], config: ChunkingConfig, measure: Measure) -> list[Piece]:
    """Join pieces under ``min_chars`` to a neighbour: the one before in the same section, else the one after."""
    # A minimum near the target would undo the cutting.
    minimum = min(config.min_chars, config.target_chars // 4)
    joined: list[Piece] = []
    for piece in pieces:
        last = joined[-1] if joined else None
        if last is not None and _fits(document, last, piece, config, measure):
            small_before = _size(document, last, measure) < minimum
            small_rest = _size(document, piece, measure) < minimum and piece.cut not in ("heading", "start")
            if small_before or small_rest:
                joined[-1] = Piece(last.start, piece.end, last.cut)
                continue
        joined.append(piece)
    if len(joined) > 1 and _size(document, joined[-1], measure) < minimum:
        last, tail = joined[-2], joined[-1]
        if _fits(document, last, tail, config, measure):
            joined[-2:] = [Piece(last.start, tail.end, last.cut)]
    return joined


def _size(document: Document, piece: Piece, measure: Measure) -> int:
    return measure.span(document.text, piece.start, piece.end)


def _fits(document: Document, one: Piece, other: Piece, config: ChunkingConfig, measure: Measure) -> bool:
    return measure.span(document.text, one.start, other.end) <= config.limit - measure.overhead


def _chunks_of(
    document: Document, piece: Piece, config: ChunkingConfig, measure: Measure, before: Chunk | None
) -> list[Chunk]:
    blocks = document.blocks_in(piece.start, piece.end)
    chunk = _chunk(document, piece, blocks, config, measure)
    chunk = _with_lead_in(chunk, before, blocks, config, measure)
    if _surely_fits(chunk, config, measure) or measure.whole(chunk.embedding_text) <= config.limit:
        return [chunk]
    if chunk.lead_in is not None:
        chunk = chunk.replace(lead_in=None)
    if measure.whole(chunk.embedding_text) > config.limit and chunk.kind == "list_item":
        chunk = chunk.replace(context=())
    excess = measure.whole(chunk.embedding_text) - config.limit
    if excess <= 0:
        return [chunk]
    body = measure.span(document.text, piece.start, piece.end)
    room = body - excess
    if room < body // 4 and chunk.context:
        return [chunk.replace(oversize="one row with its repeated header is longer than the limit")]
    units = list(text_units(document.text, piece.start, piece.end, 0, max(1, room), measure))
    if len(units) == 1:
        return [chunk.replace(oversize="one character sequence that cannot be cut is longer than the limit")]
    parts = [
        Piece(unit.start, unit.end, CUT_NAMES[unit.strength] if index else piece.cut)
        for index, unit in enumerate(units)
    ]
    return [made for part in parts for made in _chunks_of(document, part, config, measure, None)]


def _surely_fits(chunk: Chunk, config: ChunkingConfig, measure: Measure) -> bool:
    """A bound that needs no text; only characters add up."""
    if not measure.in_characters:
        return False
    size = chunk.end - (chunk.lead_in.start if chunk.lead_in is not None else chunk.start)
    if chunk.embedded_path:
        size += sum(map(len, chunk.embedded_path)) + 3 * len(chunk.embedded_path)
    if chunk.context:
        size += sum(end - start + 1 for start, end in chunk.context)
    return size <= config.limit


def _chunk(
    document: Document, piece: Piece, blocks: tuple[Block, ...], config: ChunkingConfig, measure: Measure
) -> Chunk:
    body = [block for block in blocks if block.kind not in _NO_BODY] or blocks
    path = body[0].heading_path
    if path != body[-1].heading_path:
        path = _common([block.heading_path for block in body])
    inside = {block.heading_path for block in blocks if block.kind == "heading"}
    outside = path
    if inside:
        outside = tuple(title for depth, title in enumerate(path, 1) if path[:depth] not in inside)
    kinds = {block.kind for block in body}
    return Chunk(
        document,
        piece.start,
        piece.end,
        kinds.pop() if len(kinds) == 1 else "mixed",
        path,
        blocks[0].page,
        piece.cut,
        None,
        _context(document, piece, blocks[0], config, measure),
        piece.oversize,
        (),
        fitted_path(outside, config.limit - measure.overhead, measure) if outside else (),
    )


def _common(paths: list[tuple[str, ...]]) -> tuple[str, ...]:
    """The part of the heading path that holds for the whole chunk."""
    shortest, longest = min(paths), max(paths)
    depth = 0
    while depth < len(shortest) and depth < len(longest) and shortest[depth] == longest[depth]:
        depth += 1
    return shortest[:depth]


def _context(
    document: Document, piece: Piece, first: Block, config: ChunkingConfig, measure: Measure
) -> tuple[Span, ...]:
    """Spans before the chunk that its first block needs: header rows, the fence line, the parent items."""
    spans: list[Span] = []
    block: Block | None = first
    while block is not None and block.header is not None and block.header.end <= piece.start and len(spans) < 6:
        if measure.span(document.text, *block.header) > (config.limit - measure.overhead) // 2:
            break
        if block.kind != "list_item":
            spans.append(block.header)
            break
        # The line above an item names what it belongs to; a whole paragraph there would crowd out the item.
        if block.header.end - block.header.start <= _MAX_PARENT_CHARS:
            spans.append(block.header)
        parents = document.blocks_in(*block.header)
        block = parents[0] if parents else None
    return tuple(reversed(spans))


def _with_lead_in(
    chunk: Chunk, before: Chunk | None, blocks: tuple[Block, ...], config: ChunkingConfig, measure: Measure
) -> Chunk:
    """Overlap with the text before: whole sentences, and inside a block else whole words.

    None across headings or out of tables.
    """
    if before is None or config.overlap_ratio == 0 or chunk.cut in ("heading", "start") or chunk.context:
        return chunk
    if blocks[0].kind not in _PROSE:
        return chunk
    text, document = chunk.document.text, chunk.document
    spare = config.target_chars - measure.span(text, chunk.start, chunk.end)
    budget = min(int(config.target_chars * config.overlap_ratio), spare)
    if budget <= 0:
        return chunk
    # A budget in tokens reaches back further in characters than its number says.
    reach = budget if measure.in_characters else budget * 8
    floor = max(before.start, chunk.start - reach)
    for block in reversed(document.blocks_in(floor, chunk.start)):
        if block.kind not in _PROSE:
            floor = max(floor, block.end)
            break
    words = chunk.cut in _CUTS_INSIDE_A_BLOCK
    start = _lead_start(text, floor, chunk.start, floor == before.start, budget, measure, words)
    return chunk if start is None else chunk.replace(lead_in=start)


def _lead_start(
    text: str, floor: int, end: int, floor_is_start: bool, budget: int, measure: Measure, words: bool
) -> Span | None:
    sentences = sentence_spans(text, floor, end)
    # The first one may begin in the middle of a sentence, unless the window begins where a chunk does.
    starts = [span.start for span in (sentences if floor_is_start else sentences[1:])]
    if words:
        finer = [*clause_spans(text, floor, end)[1:], *word_spans(text, floor, end)[1:]]
        starts += [start for start, _ in finer if not starts or start > starts[-1]]
    stop = floor + len(text[floor:end].rstrip())
    for start in starts:
        if start < stop and measure.span(text, start, stop) <= budget:
            return Span(start, stop)
    return None
