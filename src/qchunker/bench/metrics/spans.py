"""Is the evidence in what was retrieved? By spans of the documents, and by answer strings where there are no spans.

Source: Chroma's chunking evaluation (recall, precision, IoU, precision_omega); the rest is at a fixed budget of text,
so that a chunker gains nothing by longer chunks. What is looked for is given by the questions, never by what the chunks
still hold, so text that a chunker drops is text that it misses. As published, precision and IoU still gain where text
around the evidence is dropped; chunks ``with_reach`` are charged for it, and those that hold everything stay the same.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from qchunker.errors import InputError, ScoringError
from qchunker.types import Span

TOP_K = 5

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_APPROXIMATE_TOKEN = re.compile(rf"[{_CJK}]|[^\W_{_CJK}]+")
_REMEMBERED_TEXTS = 1 << 14


class ChunkSpan(NamedTuple):
    """A chunk, as far as retrieval is judged.

    Args:
        doc_id: of its document.
        start: of the span it stands for.
        end: of that span.
        text: what is read when it is retrieved, and what costs budget; may be more than the span.
        reach: the span with the text beside it that no chunk holds, see ``with_reach``; None for the span itself.
    """

    doc_id: str
    start: int
    end: int
    text: str
    reach: Span | None = None

    @property
    def span(self) -> Span:
        return Span(self.start, self.end)

    @property
    def charged(self) -> Span:
        """What precision and IoU count as retrieved."""
        return self.reach or self.span


class GoldSpan(NamedTuple):
    """A stretch of a document that answers a question, or a part of the answer."""

    doc_id: str
    start: int
    end: int


class Overlap(NamedTuple):
    """Shares of characters: of the evidence that is retrieved, of what is retrieved that is evidence, and of both."""

    recall: float
    precision: float
    iou: float


class AnswerHit(NamedTuple):
    """Whether an answer string is in a budget of retrieved text.

    Args:
        hit: 1 where a chunk of a gold document holds it.
        reciprocal_rank: of the first such chunk; 0 without one.
        anywhere: 1 where any chunk holds it, whatever its document.
    """

    hit: float
    reciprocal_rank: float
    anywhere: float


def trimmed_chunks(chunks: Iterable[ChunkSpan], documents: Mapping[str, str]) -> list[ChunkSpan]:
    """Chunks without white space at the ends of spans and texts; blank ones are left out.

    So chunkers that keep white space and chunkers that drop it are compared alike.

    Raises:
        InputError: if a chunk names no document or lies outside of it.
    """
    kept = []
    for chunk in chunks:
        document = documents.get(chunk.doc_id)
        if document is None or not 0 <= chunk.start <= chunk.end <= len(document):
            raise InputError(
                f"the chunk {chunk.start}-{chunk.end} of {chunk.doc_id!r} is in no document",
                hint="score chunks with the documents that they were made of",
            )
        piece, text = document[chunk.start : chunk.end], chunk.text.strip()
        if piece.strip() and text:
            start = chunk.start + len(piece) - len(piece.lstrip())
            kept.append(ChunkSpan(chunk.doc_id, start, start + len(piece.strip()), text))
    return kept


def with_reach(chunks: Sequence[ChunkSpan], documents: Mapping[str, str]) -> list[ChunkSpan]:
    """Chunks that answer for the text which is lost beside them: it counts as retrieved with them, and as not found.

    Text between two chunks that no chunk holds is charged to both; white space is not. So leaving text out does not
    make the chunks beside it more precise.

    Raises:
        InputError: if a chunk names no document or lies outside of it.
    """
    edges: dict[str, list[Span]] = defaultdict(list)
    for chunk in trimmed_chunks(chunks, documents):
        edges[chunk.doc_id].append(chunk.span)
    lost_before, lost_behind = {}, {}
    for doc_id, spans in edges.items():
        document, held = documents[doc_id], _union(spans)
        gaps = zip([0, *(span.end for span in held)], [*(span.start for span in held), len(document)], strict=True)
        for start, end in gaps:
            if document[start:end].strip():
                lost_behind[doc_id, start], lost_before[doc_id, end] = end, start
    return [
        chunk._replace(
            reach=Span(
                lost_before.get((chunk.doc_id, chunk.start), chunk.start),
                lost_behind.get((chunk.doc_id, chunk.end), chunk.end),
            )
        )
        for chunk in chunks
    ]


def coverage(chunks: Iterable[ChunkSpan], documents: Mapping[str, str]) -> float:
    """Share of the characters of all documents, white space aside, that lie in the span of a chunk.

    Raises:
        InputError: if a chunk names no document or lies outside of it.
        ScoringError: if the documents are blank.
    """
    spans = defaultdict(list)
    for chunk in trimmed_chunks(chunks, documents):
        spans[chunk.doc_id].append(chunk.span)
    held = sum(_inked(documents[doc_id][slice(*span)]) for doc_id, found in spans.items() for span in _union(found))
    whole = sum(map(_inked, documents.values()))
    if not whole:
        raise ScoringError("the documents are blank")
    return held / whole


def evidence_overlap(ranked: Sequence[ChunkSpan], gold: Sequence[GoldSpan], k: int = TOP_K) -> Overlap:
    """Recall, precision and IoU of evidence by the first k chunks.

    Precision counts what chunks overlap in as often as it is retrieved, and chunks of other documents too. IoU is
    evidence found over what was retrieved and what was missed. Nothing retrieved: all 0.

    Raises:
        ScoringError: if there is no evidence to find.
    """
    size = _gold_size(gold)
    top = ranked[:k]
    met = _meet(((chunk.doc_id, chunk.span, chunk.charged) for chunk in top), gold)
    spent = sum(chunk.charged.end - chunk.charged.start for chunk in top)
    return Overlap(met.found / size, met.found / spent if spent else 0.0, met.found / (spent + met.missed))


def precision_omega(chunks: Iterable[ChunkSpan], gold: Sequence[GoldSpan]) -> float:
    """IoU if exactly the chunks that touch evidence were retrieved: what the cuts alone allow.

    Args:
        chunks: all chunks of the documents of the evidence; others change nothing.
        gold: evidence. A chunk that only borders on it touches it, as in the original.

    Raises:
        ScoringError: if there is no evidence to find.
    """
    _gold_size(gold)
    met = _meet(((chunk.doc_id, chunk.span, chunk.charged) for chunk in chunks), gold)
    return met.found / met.reached if met.found else 0.0


def recall_at_budget(ranked: Iterable[ChunkSpan], gold: Sequence[GoldSpan], characters: int) -> float:
    """Recall of evidence when chunks are read, best first, until so many characters of their texts are spent.

    The last chunk is cut to fit. What a text is longer by than its span is charged, and taken to stand before it.

    Raises:
        ScoringError: if there is no evidence to find.
    """
    size = _gold_size(gold)
    return _meet(_read(ranked, characters), gold).found / size


def gold_ranks(ranked: Sequence[ChunkSpan], gold: Sequence[GoldSpan], share: float = 1.0) -> tuple[int | None, ...]:
    """For each stretch of evidence, the rank (from 1) of the first chunk that holds that share of it alone.

    None where no chunk does. These are ranks for ``ranking``: their number is that of the evidence, not of the chunks
    that hold some.

    Raises:
        ScoringError: if there is no evidence to find.
    """
    _gold_size(gold)
    ranks: list[int | None] = []
    for doc_id, start, end in gold:
        holding = (
            rank
            for rank, chunk in enumerate(ranked, 1)
            if chunk.doc_id == doc_id and min(end, chunk.end) - max(start, chunk.start) >= share * (end - start)
        )
        ranks.append(next(holding, None))
    return tuple(ranks)


def approximate_tokens(text: str) -> int:
    """Chinese, Japanese and Korean characters, and runs of other letters and digits; signs and spaces cost nothing."""
    return sum(1 for _ in _APPROXIMATE_TOKEN.finditer(text))


def answer_in_text(answer: str, text: str) -> bool:
    """Whether a text holds an answer, without regard to width, case and white space; a number only as a whole number.

    Raises:
        ScoringError: if the answer is blank.
    """
    return _answer_pattern(answer).search(_comparable(text)) is not None


def answer_in_budget(
    ranked: Iterable[ChunkSpan], answer: str, gold_documents: Collection[str], tokens: int
) -> AnswerHit:
    """Whether an answer is whole within one text of the first so many approximate tokens of retrieved texts.

    The text that passes the budget is cut to fit.

    Raises:
        ScoringError: if the answer is blank.
    """
    pattern = _answer_pattern(answer)
    spent, anywhere = 0, 0.0
    for rank, chunk in enumerate(ranked, 1):
        if spent >= tokens:
            break
        cost = _cost(chunk.text)
        text = _comparable(chunk.text if spent + cost <= tokens else _first_tokens(chunk.text, tokens - spent))
        if pattern.search(text):
            anywhere = 1.0
            if chunk.doc_id in gold_documents:
                return AnswerHit(1.0, 1 / rank, 1.0)
        spent += cost
    return AnswerHit(0.0, 0.0, anywhere)


def answer_is_whole(chunks: Iterable[ChunkSpan], answer: str, gold_documents: Collection[str]) -> float:
    """1 where a chunk of a gold document holds the whole answer, retrieved or not; else its cuts destroyed it.

    Raises:
        ScoringError: if the answer is blank.
    """
    pattern = _answer_pattern(answer)
    return float(any(c.doc_id in gold_documents and pattern.search(_comparable(c.text)) is not None for c in chunks))


class _Met(NamedTuple):
    """Characters of evidence found and missed, and of the spans that touch it together with what is missed."""

    found: int
    missed: int
    reached: int


def _meet(read: Iterable[tuple[str, Span, Span]], gold: Sequence[GoldSpan]) -> _Met:
    """Evidence in what is read of some chunks, given as document, span, and span that is charged."""
    wanted, given = defaultdict(list), defaultdict(list)
    for one in gold:
        wanted[one.doc_id].append(Span(one.start, one.end))
    for doc_id, span, charged in read:
        if doc_id in wanted:
            given[doc_id].append((span, charged))
    found = missed = reached = 0
    for doc_id, stretches in wanted.items():
        pairs = [(span, stretch) for span, _ in given[doc_id] for stretch in stretches if _touch(span, stretch)]
        shared = _union(Span(max(a.start, b.start), min(a.end, b.end)) for a, b in pairs)
        left = [rest for stretch in stretches for rest in _without(stretch, shared)]
        touching = [charged for _, charged in given[doc_id] if any(_touch(charged, stretch) for stretch in stretches)]
        found += _total(shared)
        missed += _total(left)
        reached += _total(_union([*touching, *left]))
    return _Met(found, missed, reached)


def _read(ranked: Iterable[ChunkSpan], characters: int) -> Iterator[tuple[str, Span, Span]]:
    """What is read within a budget, the last chunk cut."""
    rest = characters
    for chunk in ranked:
        if rest <= 0:
            return
        size = chunk.end - chunk.start
        added = max(0, len(chunk.text) - size)
        kept = min(size, rest - added)
        if kept > 0:
            yield chunk.doc_id, Span(chunk.start, chunk.start + kept), chunk.span
        rest -= size + added


def _touch(one: Span, other: Span) -> bool:
    return max(one.start, other.start) <= min(one.end, other.end)


def _union(spans: Iterable[Span]) -> list[Span]:
    """Sorted, disjoint and not bordering on each other."""
    joined: list[Span] = []
    for span in sorted(spans):
        if joined and span.start <= joined[-1].end:
            joined[-1] = Span(joined[-1].start, max(joined[-1].end, span.end))
        else:
            joined.append(span)
    return joined


def _without(span: Span, taken: Iterable[Span]) -> Iterator[Span]:
    """What is left of a span; ``taken`` is sorted and disjoint."""
    at = span.start
    for start, end in taken:
        if at < min(start, span.end):
            yield Span(at, min(start, span.end))
        at = max(at, end)
    if at < span.end:
        yield Span(at, span.end)


def _total(spans: Iterable[Span]) -> int:
    return sum(end - start for start, end in spans)


def _gold_size(gold: Sequence[GoldSpan]) -> int:
    size = sum(one.end - one.start for one in gold)
    if size <= 0:
        raise ScoringError("a question without evidence has no recall", hint="leave it out, for every chunker")
    return size


def _inked(text: str) -> int:
    return sum(map(len, text.split()))


@lru_cache(_REMEMBERED_TEXTS)
def _cost(text: str) -> int:
    return approximate_tokens(text)


def _first_tokens(text: str, count: int) -> str:
    for number, match in enumerate(_APPROXIMATE_TOKEN.finditer(text)):
        if number == count:
            return text[: match.start()]
    return text


@lru_cache(_REMEMBERED_TEXTS)
def _comparable(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).split()).lower()


@lru_cache(_REMEMBERED_TEXTS)
def _answer_pattern(answer: str) -> re.Pattern[str]:
    """Finds an answer; '4万' is not in '20.4万', nor '20' in '20.4'."""
    wanted = _comparable(answer)
    if not wanted:
        raise ScoringError("the answer is blank", hint="leave the question out, for every chunker")
    before = r"(?<!\d)(?<!\d[.,])" if wanted[0].isdigit() else ""
    behind = r"(?!\d)(?!\.\d)" if wanted[-1].isdigit() else ""
    return re.compile(before + re.escape(wanted) + behind)
