"""Every value that crosses a stage, in the order in which the pipeline makes them.

    Source -> Document (Block, Note) -> Outline (Question) -> Partition (Chunk, Link) -> Review (Gap)
           -> Chunk with Additions -> ChunkScore

All positions are half-open ``[start, end)`` in Unicode code points of ``Document.text``,
the only coordinate system there is.
"""

from __future__ import annotations

import dataclasses
import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import nan
from operator import itemgetter
from typing import Any, NamedTuple


class Span(NamedTuple):
    """A half-open range of code points."""

    start: int
    end: int


class Source(NamedTuple):
    """Bytes to parse, with the name they are known by."""

    name: str
    data: bytes


class Block(NamedTuple):
    """A stretch of a document that one structural rule explains.

    ``kind`` is one of heading, paragraph, list_item, table, code, quote, record, html,
    front_matter, rule, furniture. Blocks are sorted and disjoint and together cover every
    non-space character. ``heading_path`` ends with the heading itself for headings.
    ``level`` is the depth of a heading (1 = top) or of a list item (1 = outermost), else 0.
    ``header`` is the span a part of this block needs to be understood: the header rows of a
    table or record, the opening line of a fence, the item around an item.
    """

    kind: str
    start: int
    end: int
    heading_path: tuple[str, ...] = ()
    level: int = 0
    header: Span | None = None


_BLOCK_START = itemgetter(1)
_BLOCK_END = itemgetter(2)
ATOMIC_KINDS = frozenset({"table", "code"})


class Note(NamedTuple):
    """Something the parser did or doubts, for ``qchunker lint``; never silent.

    ``kind`` is one of replaced_characters, dropped_text, furniture, columns, blank_page, hyphenation,
    doubtful_records; ``qchunker lint`` adds more.
    """

    kind: str
    message: str
    span: Span | None = None
    page: int | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """The text of one source and its structure.

    ``text`` is the decoded source itself for text formats, and the extracted text for
    binary formats and HTML. ``id`` depends on the source name and the text, so that equal
    texts of two files stay two documents. ``page_starts`` holds where each page starts, empty when there are none;
    the first one has the number ``first_page``.
    """

    text: str
    blocks: tuple[Block, ...]
    source: str = ""
    media_type: str = "text/plain"
    notes: tuple[Note, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)
    page_starts: tuple[int, ...] = ()
    first_page: int = 1
    id: str = ""
    has_furniture: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "has_furniture", any(block.kind == "furniture" for block in self.blocks))
        if not self.id:
            digest = hashlib.sha256(f"{self.source}\0{self.text}".encode("utf-8", "surrogatepass"))
            object.__setattr__(self, "id", digest.hexdigest()[:16])

    def blocks_in(self, start: int, end: int) -> tuple[Block, ...]:
        """Blocks that share at least one character with ``[start, end)``, in order."""
        first = bisect_right(self.blocks, start, key=_BLOCK_END)
        return self.blocks[first : bisect_left(self.blocks, end, key=_BLOCK_START)]

    def page_at(self, offset: int) -> int | None:
        """The number of the page that holds a character; None when there are no pages."""
        return self.first_page - 1 + bisect_right(self.page_starts, offset) if self.page_starts else None

    def without_furniture(self, start: int, end: int) -> str:
        """``text[start:end]`` without running headers, footers and page numbers."""
        return "\n".join(self.text[slice(*span)] for span in self.kept_spans(start, end))

    def kept_spans(self, start: int, end: int) -> list[Span]:
        """The parts of ``[start, end)`` between page furniture, without white space at its edges."""
        if not self.has_furniture:
            return [Span(start, end)]
        gaps = [block for block in self.blocks_in(start, end) if block.kind == "furniture"]
        if not gaps:
            return [Span(start, end)]
        edges = [start, *(edge for block in gaps for edge in (block.start, block.end)), end]
        kept = []
        for low, high in zip(edges[::2], edges[1::2], strict=True):
            piece = self.text[low:high]
            if piece.strip():
                kept.append(Span(low + len(piece) - len(piece.lstrip()), high - len(piece) + len(piece.rstrip())))
        return kept


class Question(NamedTuple):
    """What a stretch of a document answers.

    ``text`` is made from the words at ``evidence`` and a fixed pattern; ``start`` and ``end`` bound the region that
    answers it.
    """

    text: str
    start: int
    end: int
    evidence: Span


@dataclass(frozen=True, slots=True)
class Outline:
    """The questions a document answers, in order of their regions. Never empty."""

    questions: tuple[Question, ...]

    def best_for(self, start: int, end: int) -> Question:
        """The question that fits ``[start, end)`` best: the one whose region agrees most, the narrower of equals."""

        def fit(question: Question) -> tuple[float, int]:
            shared = max(0, min(end, question.end) - max(start, question.start))
            either = max(end, question.end) - min(start, question.start)
            return shared / max(1, either), question.start - question.end

        return max(self.questions, key=fit)


GAP_KINDS = (
    "definition", "abbreviation", "coreference", "cross_reference", "heading_context", "table_header",
    "unit_or_scope", "exception_or_condition", "subject_entity", "time_or_place",
)  # fmt: skip


class Gap(NamedTuple):
    """Knowledge that a chunk needs and lacks, and that its document states elsewhere.

    Args:
        kind: one of ``GAP_KINDS``.
        surface: the expression in the chunk that cannot be understood from the chunk.
        text: the missing knowledge: the words at ``evidence[0]``.
        evidence: spans outside the chunk, each of which states the knowledge; the best first.
        necessity: ``required`` where a main statement cannot be understood without it, else ``helpful``.
    """

    kind: str
    surface: Span
    text: str
    evidence: tuple[Span, ...]
    necessity: str = "required"


@dataclass(frozen=True, slots=True)
class Review:
    """What one chunk ``[start, end)`` lacks.

    Args:
        start: of the chunk.
        end: of the chunk.
        missing: what it lacks, as far as the reviewer can say.
        is_incomplete: whether a discriminator judges that it lacks something; it does not say what.
    """

    start: int
    end: int
    missing: tuple[Gap, ...] = ()
    is_incomplete: bool = False

    @property
    def needs_completion(self) -> bool:
        return self.is_incomplete or any(gap.necessity == "required" for gap in self.missing)


class Addition(NamedTuple):
    """Words that completion adds to a chunk.

    Args:
        text: the added words, brackets and labels included.
        kind: of the gap that they fill.
        evidence: spans outside the chunk that hold every added word but those of a fixed list of connectives.
        at: where they stand, as a position of the document's text; the start of the chunk for what comes first.
        is_embedded: whether the embedded text has them too.
        until: end of the words of the document in whose place they stand, such as a pronoun; None where they come
            between words.
    """

    text: str
    kind: str
    evidence: tuple[Span, ...]
    at: int
    is_embedded: bool = True
    until: int | None = None


class Refusal(NamedTuple):
    """Something that completion was to add and did not.

    Args:
        kind: of the gap that it was to fill.
        text: what was to be added.
        reason: why it was not.
    """

    kind: str
    text: str
    reason: str


class Link(NamedTuple):
    """A relation from one chunk to another.

    ``kind`` is ``limits`` (this chunk limits or excepts a rule in the target) or
    ``limited_by`` (the reverse). ``evidence`` spans quote the words that say so.
    """

    kind: str
    target: str
    evidence: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Chunk:
    """One span of a document with what is needed to read it alone.

    ``text`` is always ``document.text[start:end]``. ``lead_in`` is the overlap with the text
    before, ``context`` the header rows that this part lacks; both are spans outside the chunk,
    and only ``embedding_text`` contains them. ``cut`` tells why the chunk starts here, ``oversize`` why
    it is longer than allowed. ``embedded_path`` is the part of the heading path that lies outside the chunk.
    ``question`` is what the chunk answers, ``added`` what completion adds, in order of position, and ``refused`` what a
    language model wanted to add and was not let; the text itself never changes.
    """

    document: Document = field(repr=False)
    start: int
    end: int
    kind: str
    heading_path: tuple[str, ...] = ()
    page: int | None = None
    cut: str = "start"
    lead_in: Span | None = None
    context: tuple[Span, ...] = ()
    oversize: str | None = None
    links: tuple[Link, ...] = ()
    embedded_path: tuple[str, ...] = ()
    question: str | None = None
    added: tuple[Addition, ...] = ()
    refused: tuple[Refusal, ...] = ()

    @property
    def id(self) -> str:
        return f"{self.document.id}:{self.start}-{self.end}"

    @property
    def text(self) -> str:
        return self.document.text[self.start : self.end]

    @property
    def embedding_text(self) -> str:
        """What is embedded and indexed: headings above, repeated header, lead-in and body with what completion adds.

        Headings inside the chunk are not repeated, and page furniture is left out.
        """
        start = self.lead_in.start if self.lead_in is not None else self.start
        embedded = [addition for addition in self.added if addition.is_embedded]
        woven = {span for addition in embedded for span in addition.evidence}
        parts = [" > ".join(self.embedded_path)] if self.embedded_path else []
        parts.extend(self.document.text[begin:end] for begin, end in self.context if (begin, end) not in woven)
        parts.append(self._with(embedded, start))
        return "\n".join(parts)

    @property
    def completed_text(self) -> str | None:
        """The text with everything that completion adds; None where it adds nothing."""
        return self._with(self.added, self.start) if self.added else None

    def _with(self, additions: Sequence[Addition], start: int) -> str:
        kept = self.document.kept_spans(start, self.end)
        parts: list[str] = []
        waiting = list(additions)
        for number, (low, high) in enumerate(kept):
            last = number == len(kept) - 1
            at = low
            while waiting and (waiting[0].at <= high or last):
                stop = min(max(waiting[0].at, at), high)
                one = waiting.pop(0)
                parts += [self.document.text[at:stop], one.text]
                at = stop if one.until is None else min(max(stop, one.until), high)
            parts += [self.document.text[at:high], "" if last else "\n"]
        return "".join(parts)

    def replace(self, **changes: Any) -> Chunk:
        """A copy with some fields changed."""
        return dataclasses.replace(self, **changes)


@dataclass(frozen=True, slots=True)
class Partition:
    """A lossless cut of one document: sorted, disjoint chunks that hold every non-space character."""

    document: Document = field(repr=False)
    chunks: tuple[Chunk, ...]
    method: str
    signature: str

    @property
    def spans(self) -> tuple[Span, ...]:
        return tuple(Span(chunk.start, chunk.end) for chunk in self.chunks)


@dataclass(frozen=True, slots=True)
class ChunkScore:
    """How good a partition is: each chunk independent of the one before, and all of them different.

    Numbers that cannot be had are nan, and ``reason`` says why: a document in one chunk is unscorable, a partition that
    leaves text out too. Raw numbers compare only partitions of the same document with the same number of chunks
    (or the same mean length); the corrected ones say how many standard deviations the partition lies above random
    partitions of the same text into the same number of chunks.

    Args:
        document_id: of the document.
        method: how the partition was made.
        n_chunks: number of chunks (the paper's K).
        li: mean logical independence of the inner boundaries; near 1 when a chunk does not help to read the next.
        sd: semantic dispersion, mean log eigenvalue of the Gram matrix; higher when chunks differ more.
        value: ChunkScore, ``li_weight * li + (1 - li_weight) * sd``.
        li_corrected: ``li`` in standard deviations from chance.
        sd_corrected: ``sd`` in standard deviations from chance.
        corrected: ``value`` in standard deviations from chance.
        corrected_se: standard error of ``corrected`` that comes from reading only a sample of random boundaries.
        boundaries: logical independence at each inner boundary, n_chunks - 1 values.
        gram: Gram matrix of the chunks, (n_chunks, n_chunks), without the ridge.
        mean_chars: mean chunk length in code points.
        sd_chars: standard deviation of the chunk lengths.
        draws: random partitions compared with.
        notes: what a reader of the numbers must know.
        signature: everything the numbers depend on.
        reason: why there is no score, else None.
    """

    document_id: str
    method: str
    n_chunks: int
    mean_chars: float
    sd_chars: float
    signature: str
    li: float = nan
    sd: float = nan
    value: float = nan
    li_corrected: float = nan
    sd_corrected: float = nan
    corrected: float = nan
    corrected_se: float = nan
    boundaries: tuple[float, ...] = ()
    gram: tuple[tuple[float, ...], ...] = field(default=(), repr=False)
    draws: int = 0
    notes: tuple[str, ...] = ()
    reason: str | None = None

    @property
    def li_above_one(self) -> int:
        """How many boundaries have a chunk that is harder to read after the one before than alone."""
        return sum(value > 1 for value in self.boundaries)

    def replace(self, **changes: Any) -> ChunkScore:
        """A copy with some fields changed."""
        return dataclasses.replace(self, **changes)
