"""What the document says that its terms and short forms mean."""

from __future__ import annotations

import re
from collections.abc import Iterator

from qchunker.assertions import is_definition_in_force
from qchunker.debate.offline.index.defined_terms import DefinedTerm
from qchunker.debate.offline.outlining import statements
from qchunker.debate.offline.outlining.wording import has_chinese, language_of, named, render
from qchunker.qa.cells import trimmed
from qchunker.qa.offline.place import Found, Pages, placed
from qchunker.qa.words import content_words
from qchunker.sentences import sentence_spans
from qchunker.types import Span

_LONGEST = 500
_KINDS = frozenset({"paragraph", "list_item", "quote"})
_POINTS = re.compile(
    r"\b(?:this|these|those|it|its|they|their|above|following|below|the latter|the former)\b|"
    r"[该该此这這其它]|上述|前述|以下|如下|下列",
    re.IGNORECASE,
)
_BINDS_ZH = re.compile("[和与及或的为是在由用对等来于若、，]|如果|采用|使用")
_CAPITALS = re.compile(r"[A-Z][A-Z0-9]{1,6}")
# What praises or places a thing does not say what it is; what tells of us is no definition.
_VALUES = re.compile(
    r"(?:\s\([^()\n]{1,80}\))?,?\s(?:is|are)\s(?:an?|the)\s(?:\w+ly\s)?(?:good|great|bad|useful|important|integral|"
    r"essential|crucial|common|simple|simpler|easy|easier|older|newer|better|best|reasonable|typical|classic|nice|"
    r"powerful|prerequisite|matter|must|problem|part|choice|idea|example|result|reason|requirement|option|bit|little|"
    r"lot|few|number|way|first|second|last|only|same|next|main|key|major|minor|nice|fine|real|possible)\b|"
    r"(?:是|为)(?:[^，。；]{0,8})?(?:重要|必要|关键|常见|好的|一部分|问题|前提|选择|例子)"
)
_TOLD = re.compile(r"\b(?:we|us|our|ours|I|my|you|your)\b|我们|咱们|大家|你们?|您")
_ITEM = re.compile(r"\s*(?:[-*+•·]|\d{1,3}[.)、])\s+")
_DOING = re.compile(r"\w+ing\s\S")
_SHORT = {"en": "What does {} stand for?", "zh": "{}指的是什么？"}
# Nouns that a document says of itself or of one case, and does not define.
_OF_ONE_CASE = re.compile(
    r"(?:(?:first|second|third|last|next|main|only|other|new|old|best|following|above|same|whole|usual|default|"
    r"common|easiest|simplest|result|reason|problem|question|answer|goal|aim|idea|example|exception|solution|advantage|"
    r"disadvantage|difference|rest|others?|way|part|section|chapter|table|figure|document|book|text|note|step|point|"
    r"thing|user|author|name|value|output|default|system|program|package|file|command|option|tool)s?\b.*)\Z",
    re.IGNORECASE,
)


def definitions(pages: Pages) -> Iterator[Found]:
    """One question for each term that a sentence defines, and for each short form with its long one."""
    yield from _sentences(pages)
    yield from _short_forms(pages)


def _sentences(pages: Pages) -> Iterator[Found]:
    text = pages.text
    for block in pages.blocks(0, len(text)):
        if block.kind not in _KINDS:
            continue
        language = language_of(text[block.start : block.end])
        for sentence in sentence_spans(text, block.start, block.end):
            found = statements.definition(text, sentence, language)
            if found is None or sentence.end - sentence.start > _LONGEST:
                continue
            words = text[slice(*sentence)]
            if not is_definition_in_force(words, found.evidence.start - sentence.start):
                continue
            if _is_of_one_case(text, sentence, found) or _POINTS.search(words[: found.evidence.end - sentence.start]):
                continue
            if words.rstrip().endswith((":", "：", "?", "？")) or _POINTS.search(found.words):
                continue
            behind = words[found.evidence.end - sentence.start :]
            if _TOLD.search(words) or (found.pattern != "meant" and _VALUES.match(behind)):
                continue
            question = render(language, found.pattern, named(found.words))
            question = placed(question, pages.name_beside(found.words), language)
            mark = _ITEM.match(text, *sentence)
            answer = Span(mark.end() if mark else sentence.start, sentence.end)
            yield Found(question, trimmed(text, answer), (), "definition")


def _is_whole_zh(text: str, at: int, term: DefinedTerm) -> bool:
    """Whether a Chinese long form begins where a clause or cell does: nothing else marks its first character.

    The short form must be one, and no word in brackets.
    """
    before = text[max(0, at - 8) : at].rstrip(" \t")[-1:]
    is_short = _CAPITALS.fullmatch(term.name) is not None and content_words(term.name.lower()) != []
    return is_short and (not before or not before.isalnum()) and _BINDS_ZH.search(term.expansion) is None


def _is_of_one_case(text: str, sentence: Span, found: statements.Statement) -> bool:
    """Whether "The X is a Y" tells of the X at hand: only X that is quoted, a name, or without an article is a term."""
    if found.pattern == "meant":
        return False
    with_article = f"{text[sentence.start : found.evidence.start]}{found.words}"
    words = re.sub(r"^the\s", "", found.words, flags=re.IGNORECASE)
    return (
        _DOING.match(words) is not None
        or _OF_ONE_CASE.match(words) is not None
        or (re.search(r"\bthe\s+[a-z]", with_article, re.IGNORECASE) is not None and not words[:1].isupper())
    )


def _short_forms(pages: Pages) -> Iterator[Found]:
    text = pages.text
    for term in pages.index.terms:
        if term.origin != "abbreviation" or not term.expansion or term.rivals:
            continue
        start, end = term.evidence[0]
        at = text.find(term.expansion, start, end)
        written_together = text.find(term.name, start, end) >= 0
        if at < 0 or not written_together:  # initials that merely fit are no statement
            continue
        if has_chinese(term.expansion) and not _is_whole_zh(text, at, term):
            continue
        answer = Span(at, at + len(term.expansion))
        language = "zh" if has_chinese(term.expansion) else "en"
        question = placed(_SHORT[language].format(term.name), pages.name_beside(term.name), language)
        yield Found(question, answer, (Span(start, end),), "definition")
