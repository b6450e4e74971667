"""Perplexity of chunks before and after completion, with the controls that the comparison needs (QChunker 4.6).

A completed chunk is longer, and longer text has a lower perplexity per token whatever it says. So two more numbers
stand beside each pair: a control, which is the original with equally long text from elsewhere in its document in the
same places; and the perplexity of the words of the original alone, read inside each of the three texts, over the same
tokens. Completion has helped where the words of the original are easier to read in the completed text than in the
control.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

import numpy as np

from qchunker.errors import InputError, ScoringError
from qchunker.models.causal_lm import CausalLM
from qchunker.scoring.perplexity import perplexity
from qchunker.types import Span

_BATCH_TEXTS = 48
_LEAST_KEPT = 4
"""Characters of a piece of the original that counts as kept; shorter ones are equal by chance."""

_START = re.compile(r"(?<=[\s。！？；，、])(?!\s)")
_NEAR_CHARS = 200


class CompletedChunk(NamedTuple):
    """A chunk and what completion made of it.

    Args:
        document: text of the whole document.
        start: of the chunk.
        end: of the chunk.
        completed: its completed text; the original where nothing was added.
        evidence: spans that the added words come from; the control is not taken from there.
    """

    document: str
    start: int
    end: int
    completed: str
    evidence: tuple[Span, ...] = ()

    @property
    def original(self) -> str:
        return self.document[self.start : self.end]


class CompletionPerplexity(NamedTuple):
    """Perplexities of one chunk; lower is easier to read.

    Args:
        original: of the chunk as it was cut.
        completed: of the completed text.
        control: of the original with unrelated text in place of what was added.
        kept_original: of the kept words of the original, read in the original.
        kept_completed: of the same words, read in the completed text.
        kept_control: of the same words, read in the control.
        kept_share: share of the characters of the original that the completed text keeps.
    """

    original: float
    completed: float
    control: float
    kept_original: float
    kept_completed: float
    kept_control: float
    kept_share: float


class _Piece(NamedTuple):
    """Characters that the original and the completed text share."""

    original: int
    completed: int
    size: int


class _Texts(NamedTuple):
    """The three texts of a chunk, and the places of the kept pieces in each."""

    texts: tuple[str, str, str]
    places: tuple[list[Span], list[Span], list[Span]]
    kept_share: float


def completion_perplexity(chunks: Sequence[CompletedChunk], lm: CausalLM, seed: int = 0) -> list[CompletionPerplexity]:
    """Perplexities of chunks before and after completion.

    Args:
        chunks: any; one that was not completed has the same numbers before, after and in the control.
        lm: the language model. Each text is read once as a whole, and up to each kept piece.
        seed: of the places that control texts are taken from.

    Raises:
        InputError: if a chunk lies outside of its document.
        ScoringError: if a chunk is blank, if its completed text keeps nothing of it, or if its document has no other
            text that is long enough for a control.
        ModelError: if the model fails.
    """
    made = [_texts_of(chunk, seed) for chunk in chunks]
    requests = [request for one in made for request in _requests(one)]
    logprobs = []
    for at in range(0, len(requests), _BATCH_TEXTS):
        texts, contexts = zip(*requests[at : at + _BATCH_TEXTS], strict=True)
        logprobs += lm.token_logprobs(texts, contexts)
    answers = iter(logprobs)
    values = []
    for one in made:
        whole = [perplexity(next(answers)) for _ in one.texts]
        kept = [perplexity(np.concatenate([next(answers) for _ in places])) for places in one.places]
        values.append(CompletionPerplexity._make((*whole, *kept, one.kept_share)))
    return values


def control_text(chunk: CompletedChunk, seed: int = 0) -> str:
    """The original with unrelated text of its document wherever completion added some, of the same length.

    Raises: as ``completion_perplexity``.
    """
    return _texts_of(chunk, seed).texts[2]


def _requests(one: _Texts) -> Iterator[tuple[str, str | None]]:
    """Texts to read, each with what stands before it."""
    for text in one.texts:
        yield text, None
    for text, places in zip(one.texts, one.places, strict=True):
        for start, end in places:
            yield text[start:end], text[:start] or None


def _texts_of(chunk: CompletedChunk, seed: int) -> _Texts:
    if not 0 <= chunk.start <= chunk.end <= len(chunk.document):
        raise InputError(f"the chunk {chunk.start}-{chunk.end} lies outside of its document")
    original, completed = chunk.original, chunk.completed
    if not original.strip():
        raise ScoringError("a blank chunk has no perplexity")
    pieces = list(_pieces(original, completed))
    if not pieces:
        raise ScoringError(f"the completed text keeps nothing of the chunk {chunk.start}-{chunk.end}")
    control, in_control = _control(chunk, pieces, seed)
    places = (
        [Span(piece.original, piece.original + piece.size) for piece in pieces],
        [Span(piece.completed, piece.completed + piece.size) for piece in pieces],
        in_control,
    )
    return _Texts((original, completed, control), places, sum(piece.size for piece in pieces) / len(original))


def _pieces(original: str, completed: str) -> Iterator[_Piece]:
    if original == completed:
        yield _Piece(0, 0, len(original))
        return
    matcher = SequenceMatcher(None, original, completed, autojunk=False)
    for block in matcher.get_matching_blocks():
        if len(original[block.a : block.a + block.size].strip()) >= min(_LEAST_KEPT, len(original.strip())):
            yield _Piece(block.a, block.b, block.size)


def _control(chunk: CompletedChunk, pieces: Sequence[_Piece], seed: int) -> tuple[str, list[Span]]:
    """The control text, and where the pieces are in it.

    What completion left out stays, and the text that takes the place of what it added is shorter by that much.
    """
    parts: list[str] = []
    places: list[Span] = []
    at_original = at_completed = at = 0
    ends = _Piece(len(chunk.original), len(chunk.completed), 0)
    for number, piece in enumerate([*pieces, ends]):
        removed = chunk.original[at_original : piece.original]
        added = piece.completed - at_completed - len(removed)
        filling = _unrelated(chunk, added, [seed, number]) if added > 0 else ""
        kept = chunk.original[piece.original : piece.original + piece.size]
        parts += [removed, filling, kept]
        at += len(removed) + len(filling)
        if kept:
            places.append(Span(at, at + len(kept)))
        at += len(kept)
        at_original, at_completed = piece.original + piece.size, piece.completed + piece.size
    return "".join(parts), places


def _unrelated(chunk: CompletedChunk, length: int, seed: Sequence[int]) -> str:
    """Text of the document outside of the chunk and its evidence; from the start of a word or clause that is near."""
    taken = sorted([Span(chunk.start, chunk.end), *chunk.evidence])
    free, at = [], 0
    for start, end in taken:
        if start - at >= length:
            free.append(Span(at, start))
        at = max(at, end)
    if len(chunk.document) - at >= length:
        free.append(Span(at, len(chunk.document)))
    if not free:
        raise ScoringError(
            f"the document has no {length} characters in a row outside of the chunk {chunk.start}-{chunk.end}",
            hint="leave the chunk out, for every method",
        )
    rng = np.random.default_rng([chunk.start, chunk.end, length, *seed])
    place = int(rng.integers(sum(end - start - length + 1 for start, end in free)))
    for start, end in free:
        starts = end - start - length + 1
        if place < starts:
            first, last = start + place, min(end - length, start + place + _NEAR_CHARS)
            found = _START.search(chunk.document, first, last)
            first = found.start() if found else first
            return chunk.document[first : first + length]
        place -= starts
    raise AssertionError("a place lies in one of the free stretches")
