"""What a completed text may add: word sequences of the evidence, and a fixed list of connectives between them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from qchunker.debate.verify_words import MODAL, NEGATION, Fact, Lexed, facts, lex
from qchunker.sentences import sentence_spans

# A label stands alone before a colon or in brackets, leads before quoted words, bridges between, glue at either edge.
LABELS = (
    "Definition", "Definitions", "Exception", "Exceptions", "Rule", "General rule", "Context", "Note", "Term", "Scope",
    "Table header", "Header", "Table", "Unit", "Units", "Section", "Background", "Subject", "Document", "Condition",
    "Step", "Source", "Antecedent", "Reference",
    "定义", "例外", "规则", "一般规则", "上文", "下文", "表头", "单位", "背景", "注", "适用范围", "范围", "章节",
    "标题", "文档", "术语", "条件", "主语", "说明", "所指", "前文", "补充", "指代", "步骤", "来源", "列名", "主体",
    "in part", "节选", "節選", "定義", "規則", "表頭", "單位", "說明", "主體", "條件",
)  # fmt: skip
BRIDGES = (
    "That is", "i.e.", "e.g.", "namely", "that is to say", "in other words", "referred to as", "short for", "means",
    "stands for", "即", "指", "是指", "也就是", "也就是说", "全称", "简称", "全称为", "简称为",
)  # fmt: skip
LEADS = ("Section", "Table", "Step", "See", "See also", "Refers to", "According to", "见", "根据", "其中", "以下简称")
GLUE = ("of", "in", "for", "to", "the", "a", "an", "'s", "and", "的", "在", "对", "为", "该", "本")
CONNECTIVES = (*LABELS, *LEADS, *BRIDGES, *GLUE)

_DROPPED = frozenset(",.;:!?，。；：、！？…·⋯\"'“”‘’「」『』()[]{}（）【】〔〕《》〈〉|—*#_`•●■>›»→\\")
_ENDS = frozenset("。！？；!?;…｡")
_STOPS_ZH = frozenset("。！？；")
_BRACKETS = frozenset("()[]【】〔〕:：>›»→—=|")
_RESTRICTING = re.compile(r"\b(?:if|when|provided|until|subject)\b|(?:如果|如|但|须经|经)", re.IGNORECASE)
SEPARATOR, _FENCE = "\x1f", "\x1e"
_LONG = {False: 4, True: 6}  # tokens of a quotation that says something of its own: Latin, Chinese
_LABEL_TOKENS = 8  # within which a label ends
_BEGINNING = 4  # words by which a whole sentence is looked up
_MAX_PLACES = 8  # occurrences of a quotation that are looked at
_MAX_SCRAPS = 2  # scraps of one or two words that one addition may hold, and one more for
_TOKENS_PER_SCRAP = 40


def is_mark(lexed: Lexed, at: int) -> bool:
    """Whether the token is punctuation that carries no value; a dash in front of a digit is a minus."""
    key = lexed.keys[at]
    if key in "-–−":
        end = lexed.ends[at]
        return end >= len(lexed.text) or lexed.text[end].isspace()
    return key in _DROPPED


def ends_sentence(lexed: Lexed, at: int) -> bool:
    """Whether the token ends a sentence."""
    key = lexed.keys[at]
    if key != ".":
        return key in _ENDS
    end = lexed.ends[at]
    return end >= len(lexed.text) or not lexed.text[end].isalnum() or lexed.text[end] > "\u2e80"


def content(lexed: Lexed, start: int, end: int) -> list[str]:
    """The tokens that are words."""
    return [lexed.keys[at] for at in range(start, end) if not is_mark(lexed, at)]


def joined(keys: Sequence[str]) -> str:
    """Tokens as one string in which only whole tokens are found."""
    return SEPARATOR + SEPARATOR.join(keys) + SEPARATOR


def denials(lexed: Lexed) -> list[str]:
    """Negations and modal verbs of a text."""
    return denials_in(lexed.text)


def denials_in(text: str) -> list[str]:
    return [match.group().lower() for pattern in (NEGATION, MODAL) for match in pattern.finditer(text)]


def restrictions(text: str) -> int:
    """How many words of the text deny or limit what it says."""
    return len(NEGATION.findall(text)) + len(_RESTRICTING.findall(text))


def _by_first_key(phrases: Sequence[str]) -> dict[str, list[tuple[str, ...]]]:
    table: dict[str, list[tuple[str, ...]]] = {}
    for phrase in phrases:
        lexed = lex(phrase)
        keys = tuple(key.lower() for key in content(lexed, 0, len(lexed.keys)))
        table.setdefault(keys[0], []).append(keys)
    for options in table.values():
        options.sort(key=len, reverse=True)
    return table


_EDGES = _by_first_key((*LEADS, *BRIDGES, *GLUE))
_BRIDGES = _by_first_key(BRIDGES)
_LABELS = frozenset(phrase for options in _by_first_key(LABELS).values() for phrase in options)
_TRAILING = frozenset({"'s", "的", "of", "for", "to", "in", *"即指为"})


def is_label(keys: Sequence[str]) -> bool:
    """Whether the words are one of the labels."""
    return tuple(key.lower() for key in keys) in _LABELS


class _Sentence(NamedTuple):
    words: str
    restrictions: int
    denials: list[str]  # its negations and modal verbs


class Evidence:
    """Texts of the document, ready to be searched for what a completion adds."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.fact_keys: set[tuple[str, str]] = set()
        self.heading_numbers: set[str] = set()
        self._sentences: list[_Sentence] = []
        self._sentence_at: list[int] = []
        self._by_beginning: dict[tuple[str, ...], dict[str, int]] = {}
        self._known: dict[str, bool] = {}
        parts: list[str] = []
        length = 0
        for text in dict.fromkeys(texts):
            self.fact_keys.update((fact.kind, fact.key) for fact in facts(lex(text)))
            for start, end in sentence_spans(text):
                lexed = lex(text[start:end])
                words = content(lexed, 0, len(lexed.keys))
                if not words:
                    continue
                self.heading_numbers.add(words[0])
                self._by_beginning.setdefault(tuple(words[:_BEGINNING]), {})[joined(words)] = len(self._sentences)
                self._sentences.append(_Sentence(joined(words), restrictions(lexed.text), denials(lexed)))
                self._sentence_at.append(length)
                parts.append(joined(words) + _FENCE)
                length += len(parts[-1])
        self._words = "".join(parts)

    def holds(self, keys: Sequence[str]) -> bool:
        """Whether the words stand in one sentence of the evidence, in this order and with nothing between."""
        wanted = joined(keys)
        if wanted not in self._known:
            self._known[wanted] = wanted in self._words
        return self._known[wanted]

    def around(self, keys: Sequence[str]) -> Iterator[str]:
        """The sentences that hold the words, as joined tokens; of very many the first."""
        wanted, at = joined(keys), -1
        for _ in range(_MAX_PLACES):
            at = self._words.find(wanted, at + 1)
            if at < 0:
                return
            yield self._sentences[bisect_right(self._sentence_at, at) - 1].words

    def is_sentence(self, keys: Sequence[str]) -> bool:
        """Whether the words are a whole sentence, line or heading of the evidence."""
        return _FENCE + joined(keys) + _FENCE in _FENCE + self._words

    def whole_sentences(self, words: Sequence[str]) -> set[int]:
        """Which sentences of the evidence the words contain from end to end."""
        text = joined(words)
        found: set[int] = set()
        offset = past = 0
        for at, word in enumerate(words):
            if offset >= past:
                for size in range(1, _BEGINNING + 1):
                    for sentence, number in self._by_beginning.get(tuple(words[at : at + size]), {}).items():
                        if text.startswith(sentence, offset):
                            found.add(number)
                            past = max(past, offset + len(sentence) - 1)
            offset += len(word) + 1
        return found

    def denials_of(self, sentences: Iterable[int]) -> list[str]:
        """The negations and modal verbs of some sentences."""
        return [denial for number in sentences for denial in self._sentences[number].denials]

    def denials_to_the_end(self, words: Sequence[str]) -> list[str]:
        """The negations and modal verbs of words that go on to the end of their sentence and leave none of its behind.

        So in brackets: X (what may be stopped on Sundays), where the document says: "X" means what may be ...
        """
        said = denials_in(("" if is_chinese(words) else " ").join(words)) if words else []
        ending = joined(words)
        for sentence in self._sentences if said else ():
            if sentence.words.endswith(ending) and Counter(sentence.denials) == Counter(said):
                return said
        return []

    def is_clipped(self, keys: Sequence[str], whole: set[int]) -> bool:
        """Whether the words leave behind what denies or limits them in their sentence.

        Args:
            keys: words that the evidence may hold.
            whole: sentences that the addition contains from end to end, so that nothing is left behind.
        """
        if len(keys) < _LONG[is_chinese(keys)]:
            return False
        said = restrictions(("" if is_chinese(keys) else " ").join(keys))
        wanted, at, clipped = joined(keys), -1, False
        for _ in range(_MAX_PLACES):
            at = self._words.find(wanted, at + 1)
            if at < 0:
                break
            number = bisect_right(self._sentence_at, at) - 1
            if number in whole or self._sentences[number].restrictions <= said:
                return False
            clipped = True
        return clipped

    def uncovered(self, lexed: Lexed, start: int, end: int) -> list[str]:
        """Words added by the tokens ``[start, end)`` that the evidence does not hold."""
        faults: list[str] = []
        scraps = said = 0
        for low, high in _pieces(lexed, start, end, _ENDS, lines=True):
            words = content(lexed, low, high)
            if is_label(words):
                continue
            pieces = [words] if self.holds(words) else list(self._smaller_pieces(lexed, low, high))
            said += len(pieces)
            scraps += sum(map(self._is_scrap, pieces))
            faults.extend(" ".join(piece) for piece in pieces if not self.holds(piece))
        if not faults and (not said or scraps > _MAX_SCRAPS + (end - start) // _TOKENS_PER_SCRAP):
            faults.append(lexed.words(start, end))
        faults.extend(self._stray_marks(lexed, start, end))
        return faults

    def _stray_marks(self, lexed: Lexed, start: int, end: int) -> Iterator[str]:
        """Brackets without their other half, and stops where the evidence goes on."""
        for at in range(start, end):
            if start < at < end - 1 and lexed.keys[at] in _STOPS_ZH:
                low, high = max(start, at - 3), min(end, at + 4)
                around = content(lexed, low, high)
                if len(around) >= 4 and self.holds(around):
                    yield lexed.words(low, high)
        depth = lowest = 0
        for low, high in _pieces(lexed, start, end, _ENDS, lines=True):
            # A sentence of the evidence may have half a bracket of its own: a) b) c).
            whole = self.is_sentence(content(lexed, low, high))
            opening, closing = ("[【〔", "]】〕") if whole else ("([【〔", ")]】〕")
            for at in range(low, high):
                depth += (lexed.keys[at] in opening) - (lexed.keys[at] in closing)
                lowest = min(lowest, depth)
        if depth or lowest:
            yield lexed.words(start, end)

    def _smaller_pieces(self, lexed: Lexed, start: int, end: int) -> Iterator[Sequence[str]]:
        """The words without a label before them, else between brackets, else between connectives too."""
        colon = next((at for at in range(start, min(end, start + _LABEL_TOKENS)) if lexed.keys[at] in ":："), end)
        if colon < end and is_label(content(lexed, start, colon)):
            start = colon + 1
            words = content(lexed, start, end)
            if words and self.holds(words):
                yield words
                return
        for begin, stop in _pieces(lexed, start, end, _BRACKETS, lines=False):
            words = content(lexed, begin, stop)
            if is_label(words):
                continue
            pieces = [words] if self.holds(words) else [_trimmed(words)]
            yield from filter(None, pieces if self.holds(pieces[0]) else _without_connectives(words))

    def _is_scrap(self, keys: Sequence[str]) -> bool:
        return len(keys) < (3 if is_chinese(keys) else 2) and not self.is_sentence(keys)

    def knows(self, fact: Fact, lexed: Lexed) -> bool:
        """Whether the evidence states the same number with the same unit, or the same identifier, name or quotation."""
        if (fact.kind, fact.key) in self.fact_keys:
            return True
        if fact.kind in ("number", "unit"):
            # In a heading path the sign before a number is no comparison.
            return fact.key[:1] == ">" and fact.key[1:].split()[0] in self.heading_numbers
        words = content(lexed, fact.start, fact.end)
        # The first word of a sentence may be a verb and no part of the name: Contact Mary Holt.
        opens = fact.kind == "name" and (lexed.breaks_before(fact.start) or ends_sentence(lexed, fact.start - 1))
        return self.holds(words) or (opens and self.holds(words[1:]))


def is_chinese(keys: Sequence[str]) -> bool:
    """Whether most of the words are single Chinese characters."""
    return sum("\u3400" <= key <= "\u9fff" for key in keys) * 2 > len(keys)


def _pieces(lexed: Lexed, start: int, end: int, marks: frozenset[str], *, lines: bool) -> Iterator[tuple[int, int]]:
    """The tokens ``[start, end)`` cut at marks, and at line ends or Latin full stops too; only pieces with words."""
    begin, words = start, False
    for at in range(start, end + 1):
        cut = at == end or lexed.keys[at] in marks or (lines and ends_sentence(lexed, at))
        if cut or (lines and at > begin and lexed.breaks_before(at)):
            if words:
                yield begin, at
            begin, words = (at + 1, False) if cut else (at, False)
        if at < end and not cut:
            words = words or not is_mark(lexed, at)


def _phrase(table: dict[str, list[tuple[str, ...]]], words: Sequence[str], at: int) -> int:
    """How many words from ``at`` on are a phrase of the table."""
    options = table.get(words[at].lower(), ())
    return next((n for n in map(len, options) if tuple(word.lower() for word in words[at : at + n]) in options), 0)


def _trimmed(words: Sequence[str]) -> Sequence[str]:
    start, end = 0, len(words)
    while start < end and (length := _phrase(_EDGES, words, start)):
        start += length
    while end > start and words[end - 1].lower() in _TRAILING:
        end -= 1
    return words[start:end]


def _without_connectives(words: Sequence[str]) -> Iterator[Sequence[str]]:
    """What is left between connectives."""
    begin = at = 0
    while at < len(words):
        length = _phrase(_BRIDGES, words, at)
        if length:
            yield from filter(None, [_trimmed(words[begin:at])])
            begin = at + length
        at += length or 1
    yield from filter(None, [_trimmed(words[begin:])])
