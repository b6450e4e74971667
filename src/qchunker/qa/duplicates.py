"""Pairs that ask the same merged into one: equal but for writing, or equal in meaning.

Two questions mean the same only if they rest on the same sentences, their answers agree, and they differ in no number,
name, negation or pair of opposites: questions about two models of a pump are close in every embedding.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from qchunker.debate.verify_words import NEGATION, facts, fold, lex
from qchunker.models.embedder import Embedder
from qchunker.qa.figures import figures
from qchunker.qa.pairs import QAPair, RefusedPair
from qchunker.qa.support import WHETHER
from qchunker.qa.swaps import swaps
from qchunker.qa.words import Said, content_words

SAME_MEANING = 0.8
"""Cosine of two questions from which on they may mean the same."""

_SAME_ANSWER = 0.6  # likewise, where their answers are equal
_DASHES = str.maketrans(dict.fromkeys("‐‑‒–—―−－", "-"))
# Words, and the signs that are part of numbers, identifiers and names: "3.5", "-5", "10:30", "C++", "R-1.2", "os.path".
_WRITTEN = re.compile(
    r"[^\W_]+|[%‰°$€£¥<>≤≥≈±=^]|[+#](?=[^\W_])|(?<=[^\W_])[+#]+|-(?=\s?\d)|(?<=[a-z0-9])-(?![\w-])"
    r"|(?<=\d)[,:*×](?=\d)|(?<=[a-z0-9])[./&@_](?=[a-z0-9])|(?<![\w.])\.(?=[a-z0-9])"
)
_WORD = re.compile(r"[A-Za-z]+|[\u3400-\u9fff]")
_OPPOSITES = frozenset(
    "maximum minimum max min first last second third open opens opened close closes closed start "
    "starts started stop stops "
    "stopped begin begins began end ends ended before after above below high low higher lower highest lowest upper "
    "left right inside outside internal external in out input output inlet outlet suction discharge buyer seller north "
    "south east west hot cold more less most least increase decrease increases decreases rise fall add remove enable "
    "disable install uninstall accept refuse old new early late earliest latest front rear top "
    "bottom primary secondary "
    "active passive public private import export sender receiver lender borrower lessor lessee".split()
)
_OPPOSITES_ZH = frozenset(
    "甲乙丙丁上下前后左右大小高低开关启停始终进出入内外新旧早晚先首末买卖借贷增减升降热冷公私主从东西南北男女一二三四五六七八九十"
)
_KINDS = (
    ("who|whom|whose|which party", "谁|哪个部门|哪一方"), ("when|at what time", "什么时候|何时|起算|时间"),
    ("where", "哪里|何处|在哪"),
    ("why|for what reason", "为什么|为何|原因"), ("how many|how much", "多少|几"),
    ("how long|what length|what duration|length|duration|period|for how many", "多久|多长|期限"),
    ("how often|at what intervals?", "多久.{0,4}次"),
)  # fmt: skip
_KIND = tuple(re.compile(rf"\b(?:{english})\b|{chinese}", re.IGNORECASE) for english, chinese in _KINDS)


class Merged(NamedTuple):
    """Pairs without those that say what another says.

    Args:
        pairs: kept, with the wordings of merged ones among their variants.
        n_equal: merged because they differ in case, width, spaces or marks only.
        n_alike: merged because they mean the same.
        refused: that ask what another asks and answer otherwise.
    """

    pairs: list[QAPair]
    n_equal: int
    n_alike: int
    refused: list[RefusedPair]


def merged(pairs: Sequence[QAPair], embedder: Embedder | None, threshold: float = SAME_MEANING) -> Merged:
    """One pair for each thing that is asked; of those that ask the same the first one stays.

    Args:
        pairs: in the order in which they are preferred.
        embedder: compares questions; None compares their writing only.
        threshold: cosine from which on questions may mean the same; above 1 none do.
    """
    kept: list[QAPair] = []
    by_writing: dict[str, int] = {}
    refused: list[RefusedPair] = []
    n_equal = 0
    for pair in pairs:
        key = normalised(pair.question)
        if key not in by_writing:
            by_writing[key] = len(kept)
            kept.append(pair)
        elif _agree(kept[by_writing[key]].answer, pair.answer):
            n_equal += 1
        else:
            refused.append(RefusedPair(pair.question, pair.answer, pair.group, "another answer"))
    n_alike = 0
    if embedder is not None and threshold <= 1:
        kept, n_alike = _without_alike(kept, embedder, threshold)
    return Merged(kept, n_equal, n_alike, refused)


def normalised(question: str) -> str:
    """A question without what differs in writing only: case, width, spaces, quotation marks, marks between words.

    Signs that belong to numbers, identifiers and names stay, and so does the space between two numbers.
    """
    parts = _WRITTEN.findall(fold(question).casefold().translate(_DASHES))
    return "".join(
        f" {part}" if at and part[0].isdigit() and parts[at - 1][-1].isdigit() else part
        for at, part in enumerate(parts)
    )


def _without_alike(pairs: list[QAPair], embedder: Embedder, threshold: float) -> tuple[list[QAPair], int]:
    vectors = embedder.encode([pair.question for pair in pairs])
    kept: list[int] = []
    wordings: dict[int, list[str]] = {}
    by_evidence: dict[int, list[int]] = {}
    known: Said | None = None
    of = None
    for at, pair in enumerate(pairs):
        near = sorted({other for span in pair.evidence for other in by_evidence.get(span.start, ())})
        cosines = {other: float(vectors[at] @ vectors[other]) for other in near}
        if near and (known is None or pair.document is not of):
            of, known = pair.document, Said(pair.document.text)
        same = [other for other in near if _means_same(pair, pairs[other], cosines[other], threshold, known)]
        if same:
            wordings.setdefault(max(same, key=lambda other: (cosines[other], -other)), []).append(pair.question)
            continue
        kept.append(at)
        for span in pair.evidence:
            by_evidence.setdefault(span.start, []).append(at)
    result = []
    for at in kept:
        more = tuple(dict.fromkeys([*pairs[at].variants, *wordings.get(at, ())]))
        result.append(pairs[at] if more == pairs[at].variants else pairs[at].replace(variants=more))
    return result, len(pairs) - len(kept)


def _means_same(one: QAPair, other: QAPair, cosine: float, threshold: float, known: Said | None) -> bool:
    if one.origin != "llm" or other.origin != "llm":
        return False  # rules ask precisely
    equal = normalised(one.answer) == normalised(other.answer)
    if cosine < (min(_SAME_ANSWER, threshold) if equal else threshold):
        return False
    return (equal or _agree(one.answer, other.answer)) and keeps_meaning(one.question, other.question, known)


def keeps_meaning(one: str, other: str, known: Said | None = None) -> bool:
    """Whether two wordings differ in no number, name, negation, thing, pair of opposites, or kind of question.

    Args:
        one: wording.
        other: wording.
        known: words of the document; None where all are.
    """
    if _marks(one) != _marks(other) or swaps(one, other, known):
        return False
    words = [set(_WORD.findall(fold(text).lower())) for text in (one, other)]
    differ = words[0] ^ words[1]
    if any(word in _OPPOSITES or (len(word) == 1 and word.isascii() and word not in "ais") for word in differ):
        return False
    mine, others = (words[0] - words[1]) & _OPPOSITES_ZH, (words[1] - words[0]) & _OPPOSITES_ZH
    if mine and others:
        return False
    kinds = [{number for number, kind in enumerate(_KIND) if kind.search(text)} for text in (one, other)]
    return not (kinds[0] and kinds[1]) or bool(kinds[0] & kinds[1])


def _marks(text: str) -> tuple[frozenset[str], frozenset[str], bool]:
    lexed = lex(text)
    names = {lexed.words(fact.start, fact.end).casefold() for fact in facts(lexed) if fact.kind == "identifier"}
    return (
        frozenset(figure.value for figure in figures(text)),
        frozenset(names),
        NEGATION.search(WHETHER.sub("", text)) is not None,
    )


def _agree(one: str, other: str) -> bool:
    """Whether one answer holds the other."""
    short, long = sorted((one, other), key=len)
    words = content_words(short)
    if Said(long).share(words) < 1:
        return False
    values = {figure.value for figure in figures(long)}
    negated = NEGATION.search(short) is not None, NEGATION.search(long) is not None
    return all(figure.value in values for figure in figures(short)) and negated[0] == negated[1]
