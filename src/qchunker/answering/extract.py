"""An answer without a language model: the sentences of the documents that fit the question best."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from qchunker.answering.answer import Answer, Cited
from qchunker.answering.coverage import coverage
from qchunker.answering.passages import passages
from qchunker.indexing.bm25 import BM25
from qchunker.indexing.lexical_tokens import lexical_tokens
from qchunker.indexing.question_tokens import question_tokens
from qchunker.indexing.records import lexical_text
from qchunker.models.embedder import Embedder
from qchunker.models.load import is_mostly_chinese
from qchunker.retrieval.hits import Hit

FOUND = 0.28
"""Confidence below which the documents are said not to answer (docs/adr/0007)."""

_MOST_SENTENCES = 3
_MOST_CASES = 8
_NEAR_BEST = 0.85
_HITS_READ = 4
_SAME = 0.95
_GAP = 12  # characters between a sentence and the next one: a number, a mark
_CODE = re.compile(r"[a-z]+[-_]?\d[\w.-]*")
# A name with a number of its own: AirMax 500. A year is no part of a name.
_MODEL = re.compile(r"(?<![A-Za-z])([A-Z][A-Za-z]+) ((?!(?:19|20)\d\d\b)\d{1,5})(?![\w.,%:])")
_PLACE = frozenset("section article chapter table figure part step page clause annex appendix item rule level".split())
_VERSION = re.compile(r"(?<![\w.])\d+\.\d+\.\d+(?![\w.]*\d)")
# A sentence that takes something back of the one before it: a rule is not quoted without it.
_TAKES_BACK = re.compile(
    r"\b(?:not apply|exempt(?:ed)?|except(?:ions?)?|unless|notwithstanding|need not|(?:is|are) not (?:needed|required))"
    r"\b|^(?:However|But|Only|In that case)\b|不适用|除外|例外|不在此限|不受[^，。；]{1,12}限制|无需|"
    r"^(?:但是?|然而|只有|仅在)",
    re.IGNORECASE,
)
_REVOKES = re.compile(r"\b(?:do|does|shall|will|must) not apply\b|不适用|不在此限", re.IGNORECASE)


class _Candidate(NamedTuple):
    text: str
    span: tuple[int, int] | None
    context: str
    hit: int


def extracted(question: str, hits: Sequence[Hit], embedder: Embedder, bm25: BM25) -> Answer:
    """Sentences of the hits, word for word, or that there is no answer where the evidence is weak.

    Args:
        question: in any words.
        hits: of a search, the best first.
        embedder: that compares the question with every sentence.
        bm25: of the index; it knows which words are rare.
    """
    language = "zh" if is_mostly_chinese(question) else "en"
    certainty = confidence(question, hits, bm25)
    if certainty < FOUND:
        return Answer(question, (), tuple(hits), found=False, confidence=certainty, language=language)
    hits = _quoted(hits)
    candidates = [
        _Candidate(*one, number) for number, hit in enumerate(hits[:_HITS_READ], 1) for one in passages(hit.row)
    ]
    if not candidates:
        return Answer(question, (), tuple(hits), found=False, confidence=certainty, language=language)
    wanted = question_tokens(question)
    vectors = embedder.encode([question, *(one.text for one in candidates)])
    cosines = vectors[1:] @ vectors[0]
    covered = np.array([coverage(wanted, lexical_tokens(f"{one.context} {one.text}"), bm25) for one in candidates])
    scores = covered + 0.5 * cosines - 0.02 * np.array([one.hit for one in candidates])
    best = [int(at) for at in np.argsort(-scores, kind="stable")]
    chosen: list[int] = []
    for at in best:
        if len(chosen) == _MOST_SENTENCES or scores[at] < _NEAR_BEST * scores[best[0]]:
            break
        if all(float(vectors[1 + at] @ vectors[1 + other]) < _SAME for other in chosen):
            chosen.append(at)
    chosen += [at for at in _taken_back(chosen, candidates) if at not in chosen]
    chosen.sort(key=lambda at: (candidates[at].hit != candidates[best[0]].hit, candidates[at].hit, at))
    sentences = tuple(Cited(candidates[at].text, (candidates[at].hit,), None, candidates[at].span) for at in chosen)
    sentences += tuple(_limits(sentences, hits))
    return Answer(question, sentences, tuple(hits), found=True, confidence=certainty, language=language)


def _quoted(hits: Sequence[Hit]) -> list[Hit]:
    """The hits with the chunk of a pair in the pair's place, each once: a cell alone, or a section, is no sentence."""
    found: dict[str, Hit] = {}
    for hit in hits:
        chunk = next((one.row for one in hit.related if one.kind == "chunk"), None)
        one = hit if chunk is None else replace(hit, row=chunk)
        found.setdefault(one.id, one)
    return list(found.values())


def _limits(sentences: Sequence[Cited], hits: Sequence[Hit]) -> Iterator[Cited]:
    """What another clause takes back of the rules that are quoted, with the number of the hit that it came with."""
    said = {one.text for one in sentences}
    for number in dict.fromkeys(number for one in sentences for number in one.hits):
        for row in (one.row for one in hits[number - 1].related if one.kind == "limited_by"):
            pieces = list(passages(row))
            at = next((at for at, one in enumerate(pieces) if _TAKES_BACK.search(one.text)), None)
            if at is None or pieces[at].text in said:
                continue
            said.add(pieces[at].text)
            yield Cited(pieces[at].text, (number,), None, pieces[at].span)
            if not pieces[at].text.endswith((":", "：")):
                continue
            for one in pieces[at + 1 : at + 1 + _MOST_CASES]:  # the cases are listed behind it
                yield Cited(one.text, (number,), None, one.span)
                if one.text.endswith((".", "。")):
                    break


def _taken_back(chosen: Sequence[int], candidates: Sequence[_Candidate]) -> Iterator[int]:
    """The sentences right behind the chosen ones that limit them, and one of their record that says what is exempt."""
    for at in chosen:
        same = [one for one, candidate in enumerate(candidates) if candidate.hit == candidates[at].hit]
        yield from [one for one in same if _REVOKES.search(candidates[one].text)][:1]
        behind = at + 1
        if behind < len(candidates) and candidates[behind].hit == candidates[at].hit:
            one, other = candidates[at].span, candidates[behind].span
            adjacent = one is not None and other is not None and other[0] - one[1] <= _GAP
            if adjacent and _TAKES_BACK.search(candidates[behind].text):
                yield behind


def confidence(question: str, hits: Sequence[Hit], bm25: BM25) -> float:
    """How much of the question the best covering hit speaks of, between 0 and 1: rare words, and the meaning.

    Nothing where the question names a code, such as E99, or the number of a model that no hit has: what is said of
    others is no answer.
    """
    wanted = question_tokens(question)
    if _names_another(question, wanted, hits):
        return 0.0
    best = 0.0
    for hit in hits:
        share = coverage(wanted, lexical_tokens(lexical_text(hit.row)), bm25)
        best = max(best, 0.7 * share + 0.3 * max(0.0, hit.dense or 0.0))
    return min(1.0, best)


def _names_another(question: str, wanted: Sequence[str], hits: Sequence[Hit]) -> bool:
    """Whether a question names a code, version or model that the hits lack, though they may have others of its kind."""
    texts = [lexical_text(hit.row) for hit in hits]
    codes = {token for token in wanted if _CODE.fullmatch(token)}
    if codes and not codes <= {token for text in texts for token in lexical_tokens(text)}:
        return True
    everything = "\n".join(texts)
    if any(version not in everything for version in _VERSION.findall(question)):
        return True
    for name, number in _MODEL.findall(question):
        if name.lower() in _PLACE:
            continue
        found = {match[1] for match in re.finditer(rf"\b{name}[ -]?(\d+)\b", everything, re.IGNORECASE)}
        if found and number not in found:
            return True
    return False
