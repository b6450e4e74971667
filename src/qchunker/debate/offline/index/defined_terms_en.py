"""Terms that English text defines: (SF), "X" means, X is the process by which, definition lists, appositions."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from qchunker.debate.offline.index.defined_terms import DefinedTerm, glossary
from qchunker.debate.offline.index.famous import FAMOUS
from qchunker.types import Span

_MAX_EVIDENCE_CHARS = 240
_ORGANISATION = re.compile(
    r"\b(?:Ltd|Limited|Inc|Co|LLC|LLP|LP|plc|PLC|AB|AG|GmbH|SE|Corp|Corporation|S\.A|N\.V|B\.V|Company|Bank|"
    r"University|"
    r"Foundation|Trust|Partners|Association)\b|\b(?:ltd|limited|inc|corp|corporation|company|llc|plc)\b"
)
_STOP = frozenset(
    "a an the this that these those it its they there here he she we you i and or but if then when where "
    "which who what "
    "not no in on at of to for from by with as is are was were be been another other one some any all each "
    "such only also following default above below latter former result "
    "see note e.g i.e however therefore thus first second third most many much more less use using see same "
    "both".split()
)  # fmt: skip
_NOT_IN_NAMES = _STOP - {"of", "for", "to", "in", "on", "by", "and", "not"}
_SHORT_IN_PARENTHESES = re.compile(
    r"(?<=[\s\"”'’])\(\s*[\"“]?([A-Za-zΑ-ω][\w&/.+-]{0,11})(?:\s([a-z]{3,10}))?[\"”]?\s*(?:[;,][^()\n]{0,40})?\)"
)
_LONG_IN_PARENTHESES = re.compile(r"(?<![\w-])([A-Z][\w&-]{1,9}) \(([A-Za-z][^()\n]{6,90})\)")
_QUOTED_MEANS = re.compile(
    r"[\"“](\w[\w' .&-]{0,47}\w)[\"”]\s+(?:(?P<means>shall mean|means?|refers? to|is defined as|are defined as|"
    r"has the meaning|have the meaning|represents?)\b|(?:is|are|includes?)\s+(?:any|each|every|all|an?|the)\b)"
)
_BOLD_MEANS = re.compile(r"(?:\*\*|__)([^*_\n]{2,50}?)(?:\*\*|__)\s*(?::|[–—-]|means|refers to|is\b|are\b)")
_CALLED = re.compile(
    r"\b(?:called|known as|termed|referred to as|denoted) (?:an? |the )?"
    r"(?:[\"“]([\w][\w -]{1,38})[\"”]|(?:\*{1,2}|_|`)([\w][\w -]{1,38})(?:\*{1,2}|_|`))"
)
_POINTS_BACK = re.compile(r"\W*(?:The resulting|The result|This|These|That|Those|Such|It|They)\b", re.IGNORECASE)
_QUOTED_IN_PARENTHESES = re.compile(
    r"\(((?:(?:the|each|an?|together|collectively|individually|hereinafter|hereafter|referred|to|as|called|also|or|in|"
    r"this|such|with|its|subsidiaries|affiliates|and),? ?){0,9}[\"“][^()\n]{1,90}[\"”])\)",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"((?:the|each|an?|together|collectively|,|or|and|\s)*)[\"“]([^\"“”]{1,40})[\"”]", re.IGNORECASE)
_DEFINING = re.compile(
    r"(?:[\W\d]{0,12})(?:(?:The|An?|the|an?)(?: term)? )?([A-Za-z][\w'-]*(?: [\w'-]+){0,3}?)(?: \([^()\n]{1,30}\))? "
    r"(?:is|are|means?|refers? to|comprises?|denotes?|consists? of)\s+"
    r"(?P<class>(?:the|an?|any|one of the)\s+(?:[\w-]+\s+){0,2}?(?:process|procedure|term|ability|method|practice|act|"
    r"technique|way|mode|type|kind|form|set|list|collection|file|directory|command|tool|program|name|number|"
    r"part|class|"
    r"group|family|field|value|unit|measure|ratio|condition|mechanism|period|fee|amount|device|component|"
    r"element|concept|"
    r"state|system|service|package|archive|agreement|document|disease)\b)?"
)
_APPOSITION = re.compile(
    r"(?<![\w-])([A-Za-z]+[\d_-][\w-]*|[A-Z]+[a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*), an? ([^,.;()\n]{8,100})"
)
_CODE_LIKE = re.compile(r"[A-Za-z]\w*[-_]\w+|[A-Za-z]+\d+\w*|[a-z]+[A-Z]\w*|[A-Z]{2,}[a-z]\w*|\d+[A-Z]\w*")
_LIST_TERM = re.compile(
    r"(?:\A|\n[ \t]*\n)[ \t]{0,3}([A-Za-z](?:[\w.'/-]| (?=\w)){0,38})\n\s?\n?(?:[ ]{2,8}|\t|: {1,3})(?=[A-Za-z])"
)
_LIST_CHARS = 3_000  # entries of one list of terms are not farther apart
_FEWEST_BLANKS = 3  # in an explanation
# Lines that lead into something indented instead of naming it: For example, must be written as, to.
_FUNCTION_WORDS = _STOP | frozenset(
    "note notes example examples warning tip caution syntax usage see important description must may can should "
    "write written say says like so do does will would instead try e.g i.e".split()
)
_THE_KIND = re.compile(r"The ([\w-]+) ([a-z][\w-]+(?: [a-z][\w-]+){0,2})")
_ACRONYM = re.compile(r"(?<![\w-])([A-Z]{3,6})s?(?![\w-])")
_WORDS = re.compile(r"[A-Za-z]+")
_SMALL_WORD = re.compile(r"(?<![\w-])[a-z]{3,6}(?![\w-])")
_MAX_ACRONYMS = 100
_MEANS = re.compile(r" (?:means?|refers? to|comprises?|denotes?|consists? of)\s+$")
_ARTICLE = re.compile(r"(?:the|an?|any|one of)\s(?!(?:bit|little|lot|few|must|good|bad) )")
_OPENING_CHARS = 300  # the sentences that open a section define what its heading names
_CAPITALISED = 10  # times as often with a capital makes a word a name
_CONSTANTS = frozenset("NULL TRUE FALSE NONE TODO FIXME NOTE WARNING ERROR IMPORTANT".split())
_IS_A = re.compile(
    r"(?:^|(?<=[.;:] )|(?<=\n)|(?<=[.;:] The )|(?<=[.;:] An ))(?![IVXLC]+\b)([A-Z]{3,}[\w-]{0,6}) (?:is|are) an? "
    r"(?![a-z]+ed\b)[^.;,\n]{8,80}"
)


def terms(text: str, sentences: Sequence[Span], titles: Sequence[tuple[Span, int]]) -> Iterator[DefinedTerm]:
    """Every definition that an English text makes; names may repeat."""
    lowercase = not re.search(r"[A-Z]", text)
    short = list(_short_forms(text))
    yield from short
    yield from _quoted(text, sentences, lowercase)
    yield from _parenthesised_quotes(text, lowercase)
    yield from _defining_sentences(text, sentences, titles)
    yield from _definition_lists(text)
    yield from glossary(text, titles)
    yield from _appositions(text)
    yield from _said_to_be(text)
    yield from _headings_of_one_kind(text, sentences, titles)
    yield from _initials(text, {term.name for term in short})


def _short_forms(text: str) -> Iterator[DefinedTerm]:
    for match in _SHORT_IN_PARENTHESES.finditer(text):
        short, tail = match[1].rstrip("."), match[2]
        if not _is_short_form(short):
            continue
        window = text[max(0, match.start() - 140) : match.start()].rstrip()
        if tail:
            if not window.endswith(tail):
                continue
            window = window[: -len(tail)].rstrip()
        long = long_form(short, window)
        if long:
            start = text.rindex(long, 0, match.start())
            yield DefinedTerm(short, (Span(start, match.end()),), "abbreviation", long)
    for match in _LONG_IN_PARENTHESES.finditer(text):
        if _is_short_form(match[1]) and " " in match[2] and long_form(match[1], match[2]) == match[2]:
            yield DefinedTerm(match[1], (Span(*match.span()),), "abbreviation", match[2])


def _is_short_form(short: str) -> bool:
    base = short.removesuffix("s")
    return (
        len(short) > 1
        and any(char.isupper() for char in short)
        and short not in FAMOUS
        and base not in FAMOUS
        and not re.fullmatch(r"[IVXL]+|[A-Z]?\d+(?:\.\d+)*", short)
        and not (short[0].isupper() and short[1:].islower() and len(short) > 4)
    )


def long_form(short: str, window: str) -> str:
    """The words at the end of a text whose letters spell a short form, after Schwartz and Hearst (2003).

    Args:
        short: such as ``RNAi``.
        window: the words before the brackets.

    Returns:
        The words, or nothing if they do not spell it.
    """
    short = short.removesuffix("s") if short[:-1].isupper() else short
    last = window.split(" ")[-len(short) :]
    if [word[:1].lower() for word in last] == list(short.lower()):
        return " ".join(last)  # letter by letter, before letters inside of words are tried
    at = len(window)
    for index in range(len(short) - 1, -1, -1):
        char = short[index].lower()
        if not char.isalnum():
            continue
        at -= 1
        while at >= 0 and (
            window[at].lower() != char
            or (index == 0 and at > 0 and (window[at - 1].isalnum() or window[at - 1] == "'"))
        ):
            at -= 1
        if at < 0:
            return ""
    words = window[at:]
    if len(words.split()) > len(short) + 4 or len(words) <= len(short) or re.search(r"[.;:!?()]\s", words):
        return ""
    return words


def _quoted(text: str, sentences: Sequence[Span], lowercase: bool) -> Iterator[DefinedTerm]:
    starts = [sentence.start for sentence in sentences]
    for match in _CALLED.finditer(text):
        name = (match[1] or match[2]).strip()
        if name.lower() not in _STOP:
            index = bisect_right(starts, match.start()) - 1
            begin = sentences[index].start if index >= 0 else 0
            if _POINTS_BACK.match(text, begin):  # The resulting work is called: what results, is said before
                begin = sentences[index - 1].start if index > 0 else begin
                if match.end() - begin > _MAX_EVIDENCE_CHARS:
                    continue
            begin = max(begin, match.end() - _MAX_EVIDENCE_CHARS)
            yield DefinedTerm(name.lower() if name[1:].islower() else name, (Span(begin, match.end()),), "definition")
    for pattern in (_QUOTED_MEANS, _BOLD_MEANS):
        for match in pattern.finditer(text):
            name = match[1].strip(" ,.:")
            means = pattern is _QUOTED_MEANS and match["means"] is not None
            if not (means or name[:1].isupper() or lowercase) or name.lower() in _STOP:
                continue
            end = min(_sentence_end(sentences, starts, match.start()), match.start() + _MAX_EVIDENCE_CHARS)
            # "Harbour Ltd. "Lessor" means": the stop of a short form may end a definition too.
            following = pattern.search(text, match.end(), end)
            end = match.end() + len(text[match.end() : following.start()].rstrip()) if following else end
            yield DefinedTerm(name, (Span(match.start(), end),), "definition")


def _sentence_end(sentences: Sequence[Span], starts: Sequence[int], at: int) -> int:
    index = bisect_right(starts, at) - 1
    return sentences[index].end if index >= 0 else at


def _parenthesised_quotes(text: str, lowercase: bool) -> Iterator[DefinedTerm]:
    for match in _QUOTED_IN_PARENTHESES.finditer(text):
        start = _phrase_start(text, match.start())
        evidence = Span(start, match.end())
        party = bool(_ORGANISATION.search(text, start, match.start()))
        for quoted in _QUOTED.finditer(match[1]):
            name = quoted[2].strip(" ,.")
            article = bool(re.search(r"[a-z]", quoted[1]))
            if name.lower().startswith(("this ", "these ")):
                continue  # the document itself
            if name.lower() in ("we", "us", "our", "you"):
                yield DefinedTerm(name.lower(), (evidence,), "party")
            elif name.lower() not in (*_STOP, "your", "yours", "ours") and (
                article or name[:1].isupper() or name[:1].isdigit() or lowercase
            ):
                origin = "party" if party else "definition"
                yield DefinedTerm(name, (evidence,), origin, text[start : match.start()].strip())


def _phrase_start(text: str, at: int) -> int:
    """Where the words that a bracket names start: behind the last clause mark or joint."""
    low = max(0, at - 150)
    window = text[low:at]
    cut = 0
    for mark in re.finditer(r"[.;:]\s+|\n|,\s+|\b(?:and|between|of|by|to|with|is|for)\s+", window):
        if len(window) - mark.end() >= 12:
            cut = mark.end()
    return low + cut


def _defining_sentences(
    text: str, sentences: Sequence[Span], titles: Sequence[tuple[Span, int]]
) -> Iterator[DefinedTerm]:
    bodies = [body for _, body in titles]
    names = _names(text)
    for sentence in sentences:
        match = _DEFINING.match(text, sentence.start, min(sentence.end, sentence.start + 120))
        if match is None or {word.lower() for word in match[1].split()} & _NOT_IN_NAMES:
            continue
        name = match[1]
        words = [_stem(word) for word in name.lower().split()]
        place = bisect_right(bodies, sentence.start) - 1
        opens = place >= 0 and sentence.start - bodies[place] < _OPENING_CHARS
        heading = _stem(text[slice(*titles[place][0])].lower()).split() if opens else []
        in_heading = bool(heading) and all(word in heading for word in words)
        says_what = match["class"] or _MEANS.search(match.group()) or _ARTICLE.match(text, match.end())
        if not (match["class"] or (says_what and (in_heading or _CODE_LIKE.fullmatch(name)))):
            continue
        if sentence.end - match.end() < 10:
            continue
        if len(words) == 1 and not in_heading and not _CODE_LIKE.fullmatch(name) and name not in text[sentence.end :]:
            continue
        evidence = Span(sentence.start, min(sentence.end, sentence.start + _MAX_EVIDENCE_CHARS))
        yield DefinedTerm(name.lower() if name[1:].islower() and name not in names else name, (evidence,), "definition")
        if in_heading and len(words) > 1 and words[-1].endswith("ing"):
            yield DefinedTerm(name.split()[-1].lower(), (evidence,), "definition")


def _names(text: str) -> frozenset[str]:
    """Words that the text writes with a capital inside sentences, and hardly ever without."""
    plain = Counter(re.findall(r"(?<![\w./-])[a-z]+(?![\w/-])", text))
    inside_sentences = Counter(re.findall(r"(?<=[a-z,] )[A-Z][a-z]+(?![\w/-])", text))
    return frozenset(word for word, n in inside_sentences.items() if plain[word.lower()] * _CAPITALISED < n)


def _stem(phrase: str) -> str:
    return re.sub(r"(?<=\w\w\w)s\b", "", phrase)


def _definition_lists(text: str) -> Iterator[DefinedTerm]:
    """Lists of terms, each on its own line above an indented text; one such line alone is no list."""
    found = [m for m in _LIST_TERM.finditer(text) if len(m[1].split()) <= 4 and not _FUNCTION_WORDS & _edges(m[1])]
    for place, match in enumerate(found):
        near = [*found[max(0, place - 1) : place], *found[place + 1 : place + 2]]
        if not any(abs(other.start() - match.start()) < _LIST_CHARS for other in near):
            continue
        name = match[1]
        stop = re.search(r"[.;]\s|\n\s*\n|\Z", text[match.end() : match.end() + _MAX_EVIDENCE_CHARS])
        end = match.end() + (stop.start() if stop else _MAX_EVIDENCE_CHARS)
        if text.count(" ", match.end(), end) >= _FEWEST_BLANKS:
            yield DefinedTerm(name if not name[1:].islower() else name.lower(), (Span(match.end(), end),), "definition")


def _edges(term: str) -> set[str]:
    words = term.lower().split()
    return {words[0], words[-1]}


def _appositions(text: str) -> Iterator[DefinedTerm]:
    for match in _APPOSITION.finditer(text):
        name = match[1]
        if name.lower() not in _STOP and name not in FAMOUS and _CODE_LIKE.fullmatch(name):
            yield DefinedTerm(name, (Span(match.start(1), match.end()),), "definition")


def _said_to_be(text: str) -> Iterator[DefinedTerm]:
    """Acronyms of which a sentence says what they are."""
    for match in _IS_A.finditer(text):
        if match[1] not in FAMOUS and match[1] not in _CONSTANTS:
            yield DefinedTerm(match[1], (Span(*match.span()),), "definition")


def _headings_of_one_kind(
    text: str, sentences: Sequence[Span], titles: Sequence[tuple[Span, int]]
) -> Iterator[DefinedTerm]:
    """Sibling headings "The main archive area", "The contrib archive area" name main and contrib."""
    by_tail: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for title, body in titles:
        named = _THE_KIND.fullmatch(text[title.start : title.end])
        if named:
            by_tail[named[2].lower()].append((named[1], body))
    starts = [sentence.start for sentence in sentences]
    for tail, same in by_tail.items():
        for word, body in same if len(same) > 1 else ():
            index = bisect_right(starts, body) - 1
            begins = f"the {word} {tail}".lower()
            if index >= 0 and text[slice(*sentences[index])].lower().startswith(begins):
                sentence = sentences[index]
                evidence = Span(sentence.start, min(sentence.end, sentence.start + _MAX_EVIDENCE_CHARS))
                yield DefinedTerm(word.lower() if word[1:].islower() else word, (evidence,), "heading")


def _initials(text: str, known: set[str]) -> Iterator[DefinedTerm]:
    """Phrases whose initials spell a short form that the text uses without saying so."""
    written = {match[1] for match in _ACRONYM.finditer(text)} - known - FAMOUS
    # DO NOT BREAK: words that the text has in small letters too are words.
    wanted = sorted(written - {word.upper() for word in _SMALL_WORD.findall(text)})[:_MAX_ACRONYMS]
    if not wanted:
        return
    words = list(_WORDS.finditer(text))
    initials = "".join(word.group()[0].lower() for word in words)
    for short in wanted:
        at = initials.find(short.lower())
        for _ in range(200):
            if at < 0:
                break
            first, last = words[at], words[at + len(short) - 1]
            if _names_itself(text[first.start() : last.end()]):
                yield DefinedTerm(
                    short, (Span(first.start(), last.end()),), "abbreviation", text[first.start() : last.end()]
                )
                break
            at = initials.find(short.lower(), at + 1)


def _names_itself(phrase: str) -> bool:
    words = re.split(r"[ -]", phrase)
    if not all(re.fullmatch(r"[A-Za-z]{2,}", word) for word in words):
        return False
    ends = (words[0], words[-1])
    if any(word.lower() in _STOP for word in ends):
        return False
    return all(word[0].isupper() and not word.isupper() for word in ends) or "-" in phrase
