"""The knowledge completer by rules: the shortest evidence, woven in where it is needed, never in other words.

A short piece of evidence stands in brackets behind the expression it explains, a longer one as a labelled sentence
behind the sentence, header rows and unit lines before the rows. Every added word is evidence or a label.

Source: QChunker 3.2.4 (three checks: critical for the chunk, explicit in the document, no new topic).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from qchunker.config import CompletionConfig
from qchunker.debate.verify import verify
from qchunker.models.load import is_mostly_chinese
from qchunker.sentences import sentence_spans
from qchunker.types import Addition, Chunk, Gap, Review, Span

# What is worth most for its length is added first.
_ORDER = (
    "subject_entity", "coreference", "abbreviation", "time_or_place", "unit_or_scope", "table_header",
    "exception_or_condition", "cross_reference", "definition", "heading_context",
)  # fmt: skip
_LABELS = {
    "definition": ("Definition", "定义", "定義"),
    "cross_reference": ("Reference", "所指", "所指"),
    "exception_or_condition": ("Note", "说明", "說明"),
    "heading_context": ("Context", "上文", "上文"),
    "subject_entity": ("Subject", "主体", "主體"),
    "coreference": ("Context", "上文", "上文"),
    "abbreviation": ("Definition", "定义", "定義"),
    "time_or_place": ("Context", "上文", "上文"),
    "unit_or_scope": ("Unit", "单位", "單位"),
    "table_header": ("Table header", "表头", "表頭"),
}
_INLINE = frozenset({"subject_entity", "coreference", "abbreviation", "time_or_place", "definition"})
_STATEMENTS = frozenset({"definition", "coreference", "cross_reference"})
_MAX_EMBEDDED = {"en": 120, "zh": 48}
"""Longer ones of these say what another chunk says: embedded, they would answer its questions from here."""

_ABOVE_ROWS = frozenset({"table_header", "unit_or_scope"})
_STANDS_FOR = re.compile(
    r"[本该]?公司|上市公司|[甲乙丙丁]方|原告|被告|第三人|上诉人|被上诉人|我们|本[\u4e00-\u9fff]{1,2}"
)
_NAMED = frozenset({"coreference", "time_or_place"})
_IN_FRONT = frozenset({"heading_context", "coreference", "subject_entity"})
_MAX_INLINE = {"en": 70, "zh": 32}
_SENTENCE_CHARS = 600
"""How far a sentence around evidence is looked for."""

_MOST_TRIES = 6
"""Additions that are shown to the gate for one chunk at most: reading it again costs time."""

_MOST_PARTS = 6
"""Evidence of a list, such as the cases of an exception, is added as so many of its members at most."""

_TRADITIONAL = re.compile("[們這為會對說時個國後來開關應並與將從過還該學義務規]")
_MARKUP = re.compile(r"^\s{0,3}(?:#{1,6}\s+|>\s?|[-*+•]\s+)|\*\*|__|`+", re.MULTILINE)
# What stands between a term and what it means, in definitions that a document makes.
_OPENING = re.compile("(?:the |a |an )?[\"“‘「『'（(]?\\s*", re.IGNORECASE)
_IS = re.compile(
    r"s?\s*[\"”’」』')）]?\s*(?:,?\s*(?:means|mean|is defined as|are defined as|refers? to|stands? for|denotes?|is|are|"
    r"was|were)\b|[,，]?\s*(?:是指|系指|指的是|即|是|指|为|為)|\s*[:：=—–-]+)\s*",
    re.IGNORECASE,
)
_IN_BRACKETS = re.compile(r"\s?[（(]([^（()）]+)[）)]")
_CLOSING = {"”": '“"', "」": "「", "’": "‘", "』": "『"}
_BEHIND = re.compile(
    r"\s*[（(](?:以下|下文|下)?(?:简称|簡稱|称|稱|统称|統稱|合称|合稱)?(?:为|為)?(?:the )?[\"“‘「『'（(]?\s*"
    r"([^()（）“”]{1,60}?)\s*[\"”’」』'）)]?[)）]$",
    re.IGNORECASE,
)
_NAME_MARKS = re.compile("[\"“”‘’'、,，]+\\s*(?:or |and |the )?[\"“”‘’']*")
_LABELLED = re.compile(r"[^：:（()）]{1,12}[（(]([^（()）]{1,12})[）)]\s*[：:]\s*")
_SPACE = re.compile(r"\s+")
_WRAPPED = re.compile(r"(?<=[\u3000-\uffef])[^\S\n]*\n\s*(?=[\u3000-\uffef])")  # lines of Chinese join without a space
_ENDS = ".。;；,，:：!！?？、"
_SEMICOLONS = (";", "；")
_IN_PART = (" (in part)", "（节选）", "（節選）")  # of the words behind the label
_HAN = re.compile("[\u3400-\u9fff]")
_LANGUAGE_CHARS = 4000
_AND_AT_END = re.compile(r"[,;，；、]\s*(?:and|or|以及|和|或|或者)$")
_WORDS = re.compile(r"[^\W_]+")


class _Piece(NamedTuple):
    """One possible addition: where it goes, and in which order among others at the same place."""

    addition: Addition
    rank: int


def complete(chunk: Chunk, review: Review, config: CompletionConfig) -> Chunk:
    """The chunk with the knowledge that its review asks for.

    What would make it grow too much, does not pass the gate of ``verify.py``, or is said already is left out; with
    nothing left, the chunk is returned as it was. A clause that the gate refuses, because it has lost what limits it,
    is tried again as its whole sentence.
    """
    gaps = wanted_gaps(review, config)
    if not gaps:
        return chunk
    # Most often all additions pass together; only where they do not is each of them shown to the gate.
    together = _written(chunk, gaps, config, lambda _pieces, _writer: True)
    if not together or _passes(_with(chunk, together), _Writer(chunk, config), config):
        return _with(chunk, together) if together else chunk
    tries = iter(range(_MOST_TRIES))
    kept = _written(
        chunk,
        gaps,
        config,
        lambda pieces, writer: next(tries, None) is not None and _passes(_with(chunk, pieces), writer, config),
    )
    return _with(chunk, kept) if kept else chunk


def wanted_gaps(review: Review, config: CompletionConfig) -> list[Gap]:
    """The gaps of a review that are to be filled, in the order in which they are.

    Check one: what is critical. Check two, that it is explicit outside the chunk, was made when it was found.
    """
    found = [gap for gap in review.missing if gap.necessity == "required" and gap.kind in config.kinds and gap.evidence]
    return sorted(found, key=lambda gap: (_ORDER.index(gap.kind), gap.surface))


def sentences_of(chunk: Chunk, span: Span) -> Span:
    """The whole sentences, lines or heading around evidence outside of a chunk."""
    return _Writer(chunk, CompletionConfig()).sentence_of(span)


def embedded(chunk: Chunk, addition: Addition, config: CompletionConfig) -> Addition:
    """The addition, marked whether the embedded text has it too."""
    language = "zh" if is_mostly_chinese(chunk.text) else "en"
    is_long = addition.kind in _STATEMENTS and len(addition.text) > _MAX_EMBEDDED[language]
    return addition._replace(is_embedded=addition.kind in config.embedded_kinds and (config.embeds_long or not is_long))


def _written(
    chunk: Chunk, gaps: Sequence[Gap], config: CompletionConfig, is_good: Callable[[list[_Piece], _Writer], bool]
) -> list[_Piece]:
    """The additions that fit and are good together with those before them."""
    kept: list[_Piece] = []
    budget = max(config.max_growth_ratio * (chunk.end - chunk.start), config.max_growth_chars)
    writer = _Writer(chunk, config)
    said = writer.folded(chunk.text)
    for gap in gaps:
        if any(writer.is_said(span, said) for span in gap.evidence):
            continue
        whole = writer.sentence_of(gap.evidence[0])
        tried: set[Addition] = set()
        for evidence, in_brackets in ((gap.evidence[0], True), (whole, True), (whole, False)):
            told = gap._replace(evidence=(evidence, *gap.evidence[1:]))
            piece = writer.write(told, budget, in_brackets=in_brackets)
            if piece is None or piece.addition in tried:
                continue
            tried.add(piece.addition)
            if is_good([*kept, piece], writer):
                kept.append(piece)
                budget -= len(piece.addition.text)
                said += writer.folded(piece.addition.text)
                break
    return kept


class _Writer:
    """Writes additions for one chunk in its language."""

    def __init__(self, chunk: Chunk, config: CompletionConfig) -> None:
        self.chunk, self.config = chunk, config
        self.text = chunk.document.text
        # Cells of a table in a Chinese document may hold mostly Latin letters.
        self.is_chinese = is_mostly_chinese(chunk.text) or (
            _HAN.search(chunk.text) is not None and is_mostly_chinese(self.text[:_LANGUAGE_CHARS])
        )
        self.language = "zh" if self.is_chinese else "en"
        self.is_traditional = self.is_chinese and _TRADITIONAL.search(chunk.text) is not None
        self._sentences: list[Span] | None = None
        self._taken: set[int] = set()

    def folded(self, text: str) -> str:
        return f" {' '.join(_WORDS.findall(text.lower()))} "

    def is_said(self, span: Span, said: str) -> bool:
        """Whether the words of a span stand in a folded text; Chinese has no spaces between words."""
        phrase = self.folded(self.text[slice(*span)])
        return (phrase if phrase.isascii() else phrase.strip()) in said

    def write(self, gap: Gap, budget: float, *, in_brackets: bool = True) -> _Piece | None:
        """The addition for a gap, or None if it does not fit; a short one in brackets where that is allowed."""
        if gap.kind in _ABOVE_ROWS and (place := self._rows_at(gap.surface.start)) is not None:
            return self._above_rows(gap, place, budget)
        first = self._explanation(gap)
        short = len(first) <= _MAX_INLINE[self.language]
        # A whole sentence in brackets behind a pronoun would read as what the pronoun stands for.
        whole = self.folded(self.text[slice(*self.sentence_of(gap.evidence[0]))])
        is_name = gap.kind not in _NAMED or whole != self.folded(self.text[slice(*gap.evidence[0])])
        word = self.text[slice(*gap.surface)]
        # In Chinese a surface may be a part of a longer word: 产品 of 产品线.
        is_word = gap.kind != "subject_entity" or not self.is_chinese or _STANDS_FOR.fullmatch(word) is not None
        if (
            in_brackets
            and gap.kind in _INLINE
            and short
            and is_name
            and is_word
            and self._kind_at(gap.surface.start) != "code"
        ):
            return self._inline(gap, first, budget)
        return self._labelled(gap, budget)

    def _inline(self, gap: Gap, phrase: str, budget: float) -> _Piece | None:
        at = self._mention(gap.surface)
        text = f"（{phrase}）" if self.is_chinese else f" ({phrase})"
        if len(text) > budget or at in self._taken or not first_letter(phrase):
            return None
        self._taken.add(at)
        return self._piece(text, gap, gap.evidence[:1], at, 1)

    def _labelled(self, gap: Gap, budget: float) -> _Piece | None:
        variant = 0 if not self.is_chinese else 2 if self.is_traditional else 1
        label = _LABELS[gap.kind][variant]
        spans, is_part = self._told(gap, budget - len(label) - 5)
        if not spans:
            return None
        label += _IN_PART[variant] if is_part else ""
        body = ("；" if self.is_chinese else "; ").join(map(self._phrase, spans))
        if gap.kind in _IN_FRONT:
            text = f"【{label}：{body}】\n" if self.is_chinese else f"[{label}: {body}]\n"
            return self._piece(text, gap, spans, self.chunk.start, -1)
        text = f"【{label}：{body}】" if self.is_chinese else f" [{label}: {body}]"
        at = self._after_sentence(gap.surface.start)
        if self._kind_at(at - 1) == "heading" and at < self.chunk.end:
            text = "\n" + text.strip()
        if self.text[at - 1 : at] == "\n" or at == self.chunk.start:
            text = text.strip() + "\n"
        return self._piece(text, gap, spans, at, 2)

    def _told(self, gap: Gap, room: float) -> tuple[list[Span], bool]:
        """The evidence that fits, in order, and whether it is only a part of a list of grounds."""
        many = _MOST_PARTS if gap.kind in ("exception_or_condition", "cross_reference") else 1
        spans: list[Span] = []
        phrases: list[str] = []
        size = 0
        for said in gap.evidence[:1] if many == 1 else gap.evidence:
            span = said if many == 1 else self._to_full_stop(said)
            phrase = self._phrase(span)
            if gap.kind == "cross_reference" and size + len(phrase) > room:
                span, phrase = said, self._phrase(said)
            if any(phrase in other or other in phrase for other in phrases):
                continue
            if size + len(phrase) > room or len(phrases) == many:
                if gap.kind == "exception_or_condition":
                    first = gap.evidence[0]
                    return ([first] if len(self._phrase(first)) + len(_IN_PART[0]) <= room else []), True
                break  # the best comes first, and what follows says little without it
            spans.append(span)
            phrases.append(phrase)
            size += len(phrase) + 2
        return sorted(spans), False

    def _above_rows(self, gap: Gap, at: int, budget: float) -> _Piece | None:
        span, is_unit = gap.evidence[0], gap.kind == "unit_or_scope"
        header = self.chunk.document.blocks_in(at, at + 1)[0].header
        if not is_unit and header is not None and header.end <= self.chunk.start:
            span = header  # as it is repeated in the embedded text
        lines = self._phrase(span) if is_unit else self.text[slice(*span)].strip("\n")
        if len(lines) + 1 > budget or not first_letter(lines):
            return None
        return self._piece(f"{lines}\n", gap, (span,), at, -1 if is_unit else 0)

    def _piece(self, text: str, gap: Gap, spans: Sequence[Span], at: int, rank: int) -> _Piece:
        is_long = gap.kind in _STATEMENTS and len(text) > _MAX_EMBEDDED[self.language]
        is_embedded = gap.kind in self.config.embedded_kinds and (self.config.embeds_long or not is_long)
        return _Piece(Addition(text, gap.kind, tuple(spans), at, is_embedded), rank)

    def _phrase(self, span: Span) -> str:
        """Evidence for a line of prose: no markup, no line ends, no closing mark."""
        words = _WRAPPED.sub("", _MARKUP.sub("", self.text[slice(*span)]))
        words = _SPACE.sub(" ", words).strip()
        return _AND_AT_END.sub("", words.rstrip(_ENDS)).strip()

    def sentence_of(self, span: Span) -> Span:
        """The whole sentences, or in tables, code and headings the whole lines, around a span outside the chunk."""
        start, end = span
        for block in self.chunk.document.blocks_in(*span):
            low, high = max(block.start, start - _SENTENCE_CHARS), min(block.end, end + _SENTENCE_CHARS)
            if block.kind in ("table", "code", "record", "heading"):
                start = self.text.rfind("\n", low, start) + 1 or low
                stop = self.text.find("\n", end, high)
                end = high if stop < 0 else stop
                continue
            found = [one for one in sentence_spans(self.text, low, high) if one[0] < span.end and one[1] > span.start]
            if found:
                start, end = min(start, found[0][0]), max(end, found[-1][1])
        if start < self.chunk.end and end > self.chunk.start:  # partly inside the chunk, which need not be told
            start, end = (self.chunk.end, end) if span.start >= self.chunk.end else (start, self.chunk.start)
        return Span(min(start, span.start), max(end, span.end))

    def _explanation(self, gap: Gap) -> str:
        """Evidence for brackets behind an expression: without the expression itself and the word between."""
        phrase, name = self._phrase(gap.evidence[0]), self.text[slice(*gap.surface)].strip().casefold()
        shorter = phrase
        opening = _OPENING.match(phrase)
        start = opening.end() if opening else 0
        end = start + len(name)
        if phrase[start:end].casefold() != name:
            pass
        elif link := _IS.match(phrase, end):
            shorter = phrase[link.end() :]
        elif wrapped := _IN_BRACKETS.fullmatch(phrase, end):
            shorter = wrapped[1]
        behind = _BEHIND.search(shorter)
        names = {word.removesuffix("s") for word in _NAME_MARKS.split(behind[1].casefold())} if behind else set()
        if behind is not None and name.removesuffix("s") in names:
            shorter = shorter[: behind.start()]
        labelled = _LABELLED.match(shorter)  # 出租方（甲方）：...
        if labelled is not None and labelled[1].casefold() == name:
            shorter = shorter[labelled.end() :]
        shorter = shorter.strip()
        if shorter[-1:] in _CLOSING and not any(mark in shorter for mark in _CLOSING[shorter[-1]]):
            shorter = shorter[:-1]  # the opening quotation mark stands before the evidence
        return shorter.strip() if first_letter(shorter) else phrase

    def _mention(self, surface: Span) -> int:
        """The end of the expression; of its next mention where it stands in a heading, which is not changed."""
        blocks = self.chunk.document.blocks_in(*surface)
        while blocks and blocks[0].kind == "heading":
            start = self.text.find(self.text[slice(*surface)], blocks[0].end, self.chunk.end)
            if start < 0:
                break
            surface = Span(start, start + surface.end - surface.start)
            blocks = self.chunk.document.blocks_in(*surface)
        return surface.end

    def _rows_at(self, place: int) -> int | None:
        """Where the rows around a place begin in the chunk; None where there are none."""
        block = self.chunk.document.blocks_in(place, place + 1)[0]
        if block.kind in ("table", "record"):
            return max(self.chunk.start, block.start)
        first = None
        while True:
            start = max(self.chunk.start, self.text.rfind("\n", 0, place) + 1)
            stop = self.text.find("\n", start, self.chunk.end)
            if not any(mark in self.text[start : self.chunk.end if stop < 0 else stop] for mark in "|\t"):
                return first
            first, place = start, start - 1
            if start <= self.chunk.start:
                return first

    def _kind_at(self, place: int) -> str:
        blocks = self.chunk.document.blocks_in(place, place + 1)
        return blocks[0].kind if blocks else ""

    def _after_sentence(self, place: int) -> int:
        """The end of the sentence around a place, of the whole block where that is a table or code."""
        for block in self.chunk.document.blocks_in(place, place + 1):
            behind = re.compile(r"[ \t\u3000]*(?=[^\s])").match(self.text, block.end, self.chunk.end)
            if block.kind == "heading" and behind is not None:
                place = behind.end()  # an article that starts on the line of its number
            elif block.kind in ("table", "code", "record", "heading"):
                return min(block.end, self.chunk.end)
        if self._sentences is None:
            self._sentences = [Span(*span) for span in sentence_spans(self.text, self.chunk.start, self.chunk.end)]
        found = next((span for span in self._sentences if span.start <= place < span.end), None)
        return self.chunk.end if found is None else min(self._to_full_stop(found).end, self.chunk.end)

    def _to_full_stop(self, span: Span) -> Span:
        """A sentence that a semicolon ends, with those that go on behind it on the same line: a rule has its "or"."""
        end = span.end
        for block in self.chunk.document.blocks_in(span.end - 1, span.end):
            for low, high in sentence_spans(self.text, span.start, min(block.end, span.end + _SENTENCE_CHARS)):
                goes_on = self.text[end - 1 : low].strip() in _SEMICOLONS and "\n" not in self.text[end:low]
                if low >= end and not goes_on:
                    break
                end = max(end, high)
        # What goes on into the chunk need not be told there.
        return Span(span.start, min(end, self.chunk.start) if span.end <= self.chunk.start else end)


def first_letter(phrase: str) -> bool:
    """Whether there is anything to read in a phrase."""
    return any(char.isalnum() for char in phrase)


def _with(chunk: Chunk, pieces: Sequence[_Piece]) -> Chunk:
    ordered = sorted(pieces, key=lambda piece: (piece.addition.at, piece.rank))
    return chunk.replace(added=tuple(piece.addition for piece in ordered))


def _passes(chunk: Chunk, writer: _Writer, config: CompletionConfig) -> bool:
    """Whether the gate accepts the completed text. It is shown whole sentences: a clause may have lost its "unless"."""
    spans = dict.fromkeys(writer.sentence_of(span) for addition in chunk.added for span in addition.evidence)
    faults = verify(
        chunk.document.without_furniture(chunk.start, chunk.end), chunk.completed_text or "",
        [chunk.document.text[slice(*span)] for span in spans],
        max_growth_ratio=config.max_growth_ratio, max_growth_chars=config.max_growth_chars,
    )  # fmt: skip
    return not faults
