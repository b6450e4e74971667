"""Pieces to chunks: heading path, page, repeated headers, lead-in, and the proof that the limit holds."""

from __future__ import annotations

from collections.abc import Iterable

from qchunker.chunking.overlap import lead_in
from qchunker.chunking.packing import CUT_NAMES, Piece, pack, text_units
from qchunker.chunking.sizes import Measure
from qchunker.config import ChunkingConfig
from qchunker.types import Block, Chunk, Document, Partition, Span
from qchunker.version import __version__

_NO_BODY = frozenset({"heading", "furniture", "rule", "front_matter"})
_MAX_PARENT_CHARS = 120
_MAX_CONTEXT = 6
_NEAR_CHARS = 5000


def assemble(
    document: Document, pieces: Iterable[Piece], config: ChunkingConfig, measure: Measure, method: str
) -> Partition:
    """Make chunks of pieces. A chunk whose embedded text is over the limit is cut again, or says why it is not."""
    chunks: list[Chunk] = []
    for piece in _with_furniture(document, pieces) if document.has_furniture else pieces:
        chunks.extend(_chunks_of(document, piece, config, measure, chunks[-1] if chunks else None))
    return Partition(document, tuple(chunks), method, signature(config, method))


def chunk_at(document: Document, span: Span, config: ChunkingConfig, measure: Measure) -> Chunk:
    """One chunk of another tool, with its headings, page and repeated headers; nothing is cut or joined."""
    return _chunk(document, Piece(*span, "block"), config, measure, None)


def _with_furniture(document: Document, pieces: Iterable[Piece]) -> list[Piece]:
    """Pieces of nothing but page furniture join their neighbour: they add nothing to what is embedded."""
    joined: list[Piece] = []
    waiting: int | None = None
    for piece in pieces:
        if all(block.kind == "furniture" for block in document.blocks_in(piece.start, piece.end)):
            if joined:
                joined[-1] = joined[-1]._replace(end=piece.end)
            elif waiting is None:
                waiting = piece.start
            continue
        joined.append(piece if waiting is None else piece._replace(start=waiting, cut="start"))
        waiting = None
    return joined or [Piece(waiting or 0, len(document.text.rstrip()), "start")]


def signature(config: ChunkingConfig, method: str) -> str:
    """Everything that decides the result besides the text."""
    tokenizer = config.tokenizer
    unit = "chars" if tokenizer is None else tokenizer if isinstance(tokenizer, str) else "custom"
    return (
        f"qchunker={__version__} method={method} target={config.target} max={config.limit} "
        f"min={config.min_chars} overlap={config.overlap:g} unit={unit} "
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
    """Join pieces under ``min_chars`` to the neighbour whose headings they share.

    Where both are as near, what continues a section joins the piece before, what opens one the piece after.
    """
    # A minimum near the target would undo the cutting.
    minimum = min(config.min_chars, config.target // 4)
    joined: list[Piece] = []
    waiting = list(reversed(pieces))
    while waiting:
        piece = waiting.pop()
        if _size(document, piece, measure) + _n_wide(document.text, piece, minimum) >= minimum:
            joined.append(piece)
            continue
        before = _nearness(document, joined[-1], piece, config, measure) if joined else -1
        after = _nearness(document, piece, waiting[-1], config, measure) if waiting else -1
        if max(before, after) < 0:
            joined.append(piece)
        elif after > before or (after == before and piece.cut in ("heading", "start")):
            following = waiting.pop()
            waiting.append(Piece(piece.start, following.end, piece.cut))
        else:
            joined[-1] = Piece(joined[-1].start, piece.end, joined[-1].cut)
    return joined


def _nearness(document: Document, one: Piece, other: Piece, config: ChunkingConfig, measure: Measure) -> int:
    """How many headings two neighbours share; negative when they do not fit together."""
    if measure.span(document.text, one.start, other.end) > config.limit - measure.overhead:
        return -1
    return len(_common([_path(document, one), _path(document, other)]))


def _path(document: Document, piece: Piece) -> tuple[str, ...]:
    blocks = document.blocks_in(piece.start, piece.end)
    return next((block for block in blocks if block.kind not in _NO_BODY), blocks[-1]).heading_path


def _n_wide(text: str, piece: Piece, limit: int) -> int:
    """Chinese characters of a short piece: each says as much as two Latin ones, so it counts twice."""
    if piece.end - piece.start > limit or text.isascii():
        return 0
    return sum("\u3400" <= char <= "\u9fff" for char in text[piece.start : piece.end])


def _size(document: Document, piece: Piece, measure: Measure) -> int:
    return measure.span(document.text, piece.start, piece.end)


def _chunks_of(
    document: Document, piece: Piece, config: ChunkingConfig, measure: Measure, before: Chunk | None
) -> list[Chunk]:
    chunk = _chunk(document, piece, config, measure, before)
    if _surely_fits(chunk, config, measure) or measure.whole(chunk.embedding_text) <= config.limit:
        return [chunk]
    if chunk.lead_in is not None:
        chunk = chunk.replace(lead_in=None)
    opening = document.blocks_in(piece.start, piece.start + 1)
    if measure.whole(chunk.embedding_text) > config.limit and opening and opening[0].kind not in ("table", "record"):
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
    made: list[Chunk] = []
    ranges = pack(units, max(1, room))
    if len(ranges) == 1:  # tokens of parts add up to less than those of the whole
        ranges = [(at, at + 1) for at in range(len(units))]
    for first, stop in ranges:
        cut = CUT_NAMES[units[first].strength] if first else piece.cut
        made.extend(_chunks_of(document, Piece(units[first].start, units[stop - 1].end, cut), config, measure, None))
    return made


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


def _chunk(document: Document, piece: Piece, config: ChunkingConfig, measure: Measure, before: Chunk | None) -> Chunk:
    blocks = document.blocks_in(piece.start, piece.end)
    if len(blocks) == 1:
        kind, path = blocks[0].kind, blocks[0].heading_path
        outside = path if kind != "heading" else path[:-1]
    else:
        kind, path, outside = _summary(blocks)
    context = _context(document, piece, blocks[0], config, measure)
    overlap = None
    if before is not None and not context:
        overlap = lead_in(document, piece, blocks[0].kind, before.start, config, measure)
    return Chunk(
        document,
        piece.start,
        piece.end,
        kind,
        path,
        document.page_at(piece.start),
        piece.cut,
        overlap,
        context,
        piece.oversize,
        (),
        fitted_path(outside, config.limit - measure.overhead, measure) if outside else (),
    )


def _summary(blocks: tuple[Block, ...]) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Kind, heading path, and the part of the path that lies outside of some blocks."""
    body = [block for block in blocks if block.kind not in _NO_BODY] or blocks
    path = body[0].heading_path
    if path != body[-1].heading_path:
        path = _common([block.heading_path for block in body])
    inside = {block.heading_path for block in blocks if block.kind == "heading"}
    outside = path
    if inside:
        outside = tuple(title for depth, title in enumerate(path, 1) if path[:depth] not in inside)
    kinds = {block.kind for block in body}
    return kinds.pop() if len(kinds) == 1 else "mixed", path, outside


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
    header = first.header
    if header is not None and first.kind != "list_item":
        if header.end <= piece.start and measure.span(document.text, *header) <= config.limit // 2:
            spans.append(header)
        header = None
    if first.level and first.kind not in ("list_item", "heading"):
        header = _item_around(document, first)
    # The lines above an item name what it belongs to; a whole paragraph there would crowd out the item.
    while header is not None and len(spans) < _MAX_CONTEXT:
        if header.end <= piece.start and header.end - header.start <= _MAX_PARENT_CHARS:
            spans.append(header)
        parents = document.blocks_in(*header)
        above = parents[0].header if parents and parents[0].kind == "list_item" else None
        header = above if above is not None and above.start < header.start else None
    return tuple(reversed(spans))


def _item_around(document: Document, block: Block) -> Span | None:
    """The item that holds a code block, table or quote."""
    near = document.blocks_in(max(0, block.start - _NEAR_CHARS), block.start)
    item = next((one for one in reversed(near) if one.kind == "list_item" and one.level <= block.level), None)
    return Span(item.start, item.end) if item is not None else None
