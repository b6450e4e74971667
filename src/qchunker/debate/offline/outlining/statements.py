"""Statements that answer a question of their own: definitions, rules and conditions."""

from __future__ import annotations

import re
from typing import NamedTuple

from qchunker.debate.offline.outlining.stopwords import STOP_ZH
from qchunker.debate.offline.outlining.wording import HAN, phrase, with_article
from qchunker.types import Span

_LONGEST = 400  # characters of a sentence that are looked at
_OPEN = r"[ \t]{0,4}(?:[-*+•][ \t]{1,4})?(?:\(?(?:\d{1,3}(?:\.\d{1,3}){0,4}[.)]?|[a-zA-Z]{1,3}[.)])[ \t]{1,4})?"
_QUOTED = r"[“\"‘*_`]{1,4}(?P<quoted>[^“”\"‘*_`\n]{1,60})[”\"’*_`]{1,4}"
_MEANS = r"(?:means|shall mean|refers to|is defined as|are defined as|stands for|is the term for)\b"
_DEFINITION_EN = re.compile(
    rf"{_OPEN}(?:"
    rf"(?:(?:the|The|a|A|an|An)\s)?(?:(?:term|word|expression|phrase)\s)?{_QUOTED}(?:\s\([^()\n]{{1,40}}\))?,?\s{{1,4}}"
    rf"(?:{_MEANS}|(?:is|are)\s(?:a|an|the)\s)"
    rf"|(?:(?:The|A|An)\s)?(?:(?:term|word|expression|phrase)\s)?(?P<means>[^\W\d_][\w'’/-]{{0,30}}(?:\s[\w'’/-]{{1,30}}){{0,4}}?)(?:\s\([^()\n]{{1,40}}\))?(?:\s(?:also|usually|then|here|generally))?\s{_MEANS}"
    r"|(?P<named>[A-Z][\w'’/-]{0,30}(?:\s[\w'’/-]{1,30}){0,3}?)(?:\s\([^()\n]{1,80}\))?,?\s"
    r"(?P<verb>is|are)\s(?P<article>a|an|the\s(?:name|process|method|practice|act|study|measure))\s"
    r")"
)
_PERSON = re.compile(
    r"(?:[\w'’-]{1,30}\s){0,3}(?:man|woman|person|friend|writer|author|actor|actress|singer|player|politician|scientist|"
    r"engineer|lawyer|artist|painter|poet|professor|teacher|doctor|physician|director|composer|musician|founder)\b"
)
_NOT_TERMS = re.compile(
    r"(?:it|this|that|these|those|there|here|he|she|they|we|you|i|what|which|who|one|each|every|all|some|none|both|"
    r"another|such|any|no|if|when|where|while|because|since|although|though|after|before|once|unless|until|as|in|on|at|for|and|but|so|not|now|then|also|today|tonight|"
    r"his|her|their|our|my|its|your|the\s\w+\sof)\b",
    re.IGNORECASE,
)
_NOT_IN_TERMS = re.compile(
    r"\b(?:is|are|was|were|has|have|that|which|who|it|this|we|you|they|he|she|will|can|must|shall|not)\b", re.IGNORECASE
)
_DEFINITION_ZH = re.compile(
    rf"\s{{0,4}}(?:[-*+•]\s)?(?:[\d.]{{1,8}}\s{{0,2}}|[(（][\w]{{1,3}}[)）])?(?:本[{HAN}]{{1,4}}(?:中|所称|所稱)，?的?)?"
    rf"(?:[“「『\"](?P<quoted>[^“”「」『』\"\n]{{1,30}})[”」』\"](?:（[^（）\n]{{1,40}}）)?，?(?:是指|系指|係指|指的是|指|定义为|定義為|即)"
    rf"|(?P<means>[{HAN}A-Za-z0-9-]{{2,16}}?)(?:（[^（）\n]{{1,60}}）)?，?(?:是指|系指|係指|指的是|定义为|定義為|又称|又稱|也称为|也稱為)"
    rf"|(?P<named>[{HAN}A-Za-z0-9·-]{{2,14}}?)(?:（[^（）\n]{{1,60}}）)?，?(?:是|为|為)"
    r"(?P<kind>一[种種个個类類款座位名部家项項所条條支]|[^，。；\n]{0,24}之一)"
    r")"
)
_NOT_TERMS_ZH = re.compile(
    "[这這那此该該其它他她我你您]|本[人文书書条條]|[^\\s]{0,6}(?:认为|認為|表示|指出|就|都|也|不|还|還|又|可能|应当|如果|因为|因此|所以|但)|第[一二三四五六七八九十]|目前|现在|当时|同时|之[一後后]|[一-龥]{1,4}[的了]"
)
_NOT_LAST_ZH = frozenset("上下中里裡时時后後前内內都也就")
_RULE_EN = re.compile(
    rf"{_OPEN}(?P<subject>(?:The|A|An|Each|Every|All|No|Any|[A-Z][\w'’-]{{0,30}})(?:\s[\w'’()-]{{1,30}}){{0,5}}?)\s"
    r"(?P<modal>must|shall)\s(?P<not>not\s)?(?P<verb>[a-z]+)"
)
_STATES = frozenset("be have stay remain exceed apply comply include contain consist mean cover lie fit match".split())
_NOT_SUBJECTS = re.compile(
    r"(?:it|this|that|these|those|there|he|she|they|we|you|i|what|which|who|if|when|where|while|as|in|on|at|and|but|so|"
    r"such|both|one|no|not|because|unless|before|after|until|for|by|from|to|with)\b",
    re.IGNORECASE,
)
_RULE_ZH = re.compile(
    rf"\s{{0,4}}(?:[-*+•]\s)?(?:第[^\s条]{{1,6}}条\s?|[\d.]{{1,8}}[、.]?\s{{0,2}}|[(（]\w{{1,3}}[)）])?"
    rf"(?P<subject>[{HAN}A-Za-z0-9-]{{2,12}}?)(?P<modal>应当|應當|必须|必須|不得|严禁|嚴禁|禁止)"
)
_NOT_SUBJECTS_ZH = re.compile(
    "[这這那此该該其它他她我你您如若但因并並且则則均也都就不在对對从從由按将將]|前[款项條条]|[^\\s]{0,10}(?:[的时後后，]|表示|认为|規定|规定)\\Z"
)
_CONDITION_EN = re.compile(rf"{_OPEN}(?P<word>If|When|Where)\s(?P<clause>[^,;:.\n]{{8,80}}),\s")
_DEMANDS_EN = re.compile(r"(?!(?:I|we|you|he|she|they|it|that|this|there)\b)", re.IGNORECASE)
_CONDITION_ZH = re.compile(
    r"\s{0,4}(?:[-*+•]\s)?(?:[\d.]{1,8}\s{0,2}|[(（]\w{1,3}[)）])?(?P<clause>[^，。；：、\n]{3,36}(?P<end>[的时時]))，"
)
_NOT_CONDITIONS_ZH = re.compile(
    r"[这這那此该該其它他她我你您]|幸|令人|[^\s]{0,6}(?:认为|認為|表示|指出)|同时|此时|当时"
)
_DEMANDS_ZH = re.compile("应当|应|應|不得|必须|必須|须|禁止|按|立即|检查|由")


class Statement(NamedTuple):
    """A sentence, the question pattern that it answers, and the words of it that the question takes."""

    pattern: str
    words: str
    evidence: Span
    region: Span


def definition(text: str, sentence: Span, language: str) -> Statement | None:
    """The term that a sentence defines."""
    start, end = sentence.start, min(sentence.end, sentence.start + _LONGEST)
    if language == "en":
        found = _DEFINITION_EN.match(text, start, end)
        group = _group(found)
        if found is None or group is None:
            return None
        words = phrase(found[group])
        if group != "quoted" and (_NOT_TERMS.match(words) or _NOT_IN_TERMS.search(words)):
            return None
        plural = found["verb"] == "are"
        words = with_article(words)
        if group == "named" and _PERSON.match(text, found.end(), end):
            return _statement("person", words, found.span(group), sentence)
        pattern = "meant" if group != "named" else "definitions" if plural else "definition"
    else:
        found = _DEFINITION_ZH.match(text, start, end)
        group = _group(found)
        if found is None or group is None:
            return None
        words = phrase(found[group])
        if group != "quoted" and (_NOT_TERMS_ZH.match(words) or words[-1] in _NOT_LAST_ZH):
            return None
        if group == "named" and STOP_ZH.search(words):
            return None
        pattern = "person" if (found["kind"] or "")[:2] in {"一位", "一名"} else "definition"
    return _statement(pattern, words, found.span(group), sentence)


def rule(text: str, sentence: Span, language: str) -> Statement | None:
    """What a sentence demands of whom."""
    start, end = sentence.start, min(sentence.end, sentence.start + _LONGEST)
    found = (_RULE_EN if language == "en" else _RULE_ZH).match(text, start, end)
    if found is None:
        return None
    words = phrase(found["subject"])
    if language == "en":
        if _NOT_SUBJECTS.match(words) or _NOT_IN_TERMS.search(words):
            return None
        words = with_article(words)
        negative = bool(found["not"])
        pattern = "rules" if found["verb"] in _STATES else "must_not" if negative else "must"
    else:
        if _NOT_SUBJECTS_ZH.match(words):
            return None
        pattern = "must" if found["modal"][0] in "应應必" else "must_not"
    return _statement(pattern, words, found.span("subject"), sentence)


def condition(text: str, sentence: Span, language: str) -> Statement | None:
    """The case for which a sentence says what then holds."""
    start, end = sentence.start, min(sentence.end, sentence.start + _LONGEST)
    english = language == "en"
    found = (_CONDITION_EN if english else _CONDITION_ZH).match(text, start, end)
    if found is None:
        return None
    if not (_DEMANDS_EN.match(text, found.end(), end) if english else _DEMANDS_ZH.search(text, found.end(), end)):
        return None
    words = phrase(found["clause"])
    if words.count("(") != words.count(")") or words.count("（") != words.count("）"):
        return None  # a comma inside of brackets is no end
    if english:
        if _NOT_SUBJECTS.match(words):
            return None
        pattern = "condition" if found["word"] == "If" else "condition_when"
    else:
        if _NOT_CONDITIONS_ZH.match(words):
            return None
        pattern = "condition" if found["end"] == "的" else "condition_when"
    return _statement(pattern, words, found.span("clause"), sentence)


def _group(found: re.Match[str] | None) -> str | None:
    if found is None:
        return None
    return next((name for name in ("quoted", "means", "named") if found[name]), None)


def _statement(pattern: str, words: str, evidence: tuple[int, int], sentence: Span) -> Statement | None:
    return Statement(pattern, words, Span(*evidence), sentence) if len(words) > 1 else None
