"""An answer without a language model: the sentences of the documents that fit the question best."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from qchunker.answering.answer import Answer, Cited
from qchunker.answering.coverage import coverage
from qchunker.indexing.bm25 import BM25
from qchunker.indexing.lexical_tokens import lexical_tokens
from qchunker.indexing.question_tokens import question_tokens
from qchunker.models.embedder import Embedder
from qchunker.models.load import is_mostly_chinese
from qchunker.retrieval.hits import Hit
from qchunker.sentences import sentence_spans

FOUND = 0.28
"""Confidence below which the documents are said not to answer (docs/adr/0007)."""

_MOST_SENTENCES = 3
_NEAR_BEST = 0.85
_LEAST_CHARS = 4
_HITS_READ = 4
_SAME = 0.95
_GAP = 12  # characters between a sentence and the next one: a number, a mark
_CELL_ENDS = re.compile(r"(?<!\\)\|")
_STOPS = (".", "!", "。", "！", "；", ";", ":", "：")
_QUESTION_MARKS = ("?", "？")
_CODE = re.compile(r"[a-z]+[-_]?\d[\w.-]*")
# The number of a model: BrewMaster 700. A year may be meant by words such as last year.
_MODEL = re.compile(r"(?<![A-Za-z])[A-Z][A-Za-z]+ (?!(?:19|20)\d\d\b)(\d{1,5})(?![\w.,%:])")
# A sentence that takes something back of the one before it: a rule is not quoted without it.
_TAKES_BACK = re.compile(
    r"\b(?:not apply|exempt(?:ed)?|except(?:ions?)?|unless|notwithstanding)\b|^(?:However|But|Only|In that case)\b|"
    r"不适用|除外|例外|不在此限|不受[^，。；]{1,12}限制|^(?:但是?|然而|只有|仅在)",
    re.IGNORECASE,
)


class _Candidate(NamedTuple):
    text: str
    hit: int
    span: tuple[int, int] | None
    context: str  # heading path, and the question or title right above


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
    candidates = [one for number, hit in enumerate(hits[:_HITS_READ], 1) for one in _sentences(number, hit)]
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
    return Answer(question, sentences, tuple(hits), found=True, confidence=certainty, language=language)


def _taken_back(chosen: Sequence[int], candidates: Sequence[_Candidate]) -> Iterator[int]:
    """The sentences right behind the chosen ones that limit them."""
    for at in chosen:
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
    codes = {token for token in wanted if _CODE.fullmatch(token)}.union(_MODEL.findall(question))
    read = {token for hit in hits for token in lexical_tokens(str(hit.row["embedding_text"]))} if codes else set()
    if not codes <= read:
        return 0.0
    best = 0.0
    for hit in hits:
        share = coverage(wanted, lexical_tokens(str(hit.row["embedding_text"])), bm25)
        best = max(best, 0.7 * share + 0.3 * max(0.0, hit.dense or 0.0))
    return min(1.0, best)


def _sentences(number: int, hit: Hit) -> Iterator[_Candidate]:
    """The sentences of a hit; of a question-answer pair the answer. Titles and questions belong to what follows."""
    row = hit.row
    if "answer" in row:
        yield _Candidate(str(row["answer"]), number, None, str(row["question"]))
        return
    text = str(row.get("text") or row["embedding_text"])
    start = row.get("start")
    above = " ".join(row.get("heading_path") or ())
    lead, columns = "", _header(row)
    for low, high in _pieces(text):
        sentence = text[low:high].strip()
        plain = sentence.lstrip("#*-•> \t")
        if len(plain) < _LEAST_CHARS:
            continue
        if plain.endswith(_QUESTION_MARKS) or sentence.startswith("#") or _is_title(plain):
            lead = plain
            continue
        span = (int(start) + low, int(start) + high) if isinstance(start, int) else None
        if "|" not in plain:
            yield _Candidate(" ".join(plain.split()), number, span, f"{above} {lead}")
        elif _is_underlined(text, high):
            columns = _cells(plain)
        else:
            yield _Candidate(_labelled(_cells(plain), columns), number, span, f"{above} {lead} {' '.join(columns)}")


def _header(row: Mapping[str, Any]) -> list[str]:
    """Names of the columns that completion gave to a table without its head."""
    given = (one["text"] for one in row.get("added") or () if one.get("kind") == "table_header")
    return next((_cells(text.splitlines()[0]) for text in given if text.strip()), [])


def _cells(line: str) -> list[str]:
    return [" ".join(cell.split()).replace("\\|", "|") for cell in _CELL_ENDS.split(line.strip().strip("|"))]


def _labelled(cells: list[str], columns: list[str]) -> str:
    """A row of a table as words: every cell with the name of its column, where the table has names."""
    if len(cells) != len(columns):
        return " | ".join(cells)
    colon, stop = ("：", "；") if is_mostly_chinese("".join(columns)) else (": ", "; ")
    filled = [(name, cell) for name, cell in zip(columns, cells, strict=True) if cell]
    return stop.join(f"{name}{colon}{cell}" if name else cell for name, cell in filled)


def _is_underlined(text: str, end: int) -> bool:
    """Whether the line behind is what stands between the head of a table and its rows."""
    below = text[end:].lstrip("\n\r \t").partition("\n")[0]
    return "-" in below and not any(char.isalnum() for char in below)


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """Sentences, and of tables the rows."""
    for low, high in sentence_spans(text):
        if not any(mark in text[low:high] for mark in "|\t"):
            yield low, high
            continue
        at = low
        for line in text[low:high].splitlines(keepends=True):
            if any(char.isalnum() for char in line):
                yield at, at + len(line.rstrip())
            at += len(line)


def _is_title(sentence: str) -> bool:
    return not sentence.endswith(_STOPS) and len(sentence) < 40 and "|" not in sentence and "\t" not in sentence
