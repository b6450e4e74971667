"""Sentences and clauses of Chinese and English text, as spans.

One expression finds every place where a sentence may end; a few cheap checks on a bounded window
around the place decide. Nothing scans back without a bound, so time is linear in the text.

Choices that a reader may want to know:

- ``；`` and ``;`` end a sentence, as do ``……`` and every blank line, page break, U+2028 and U+2029.
- A stop in a closed quotation does not end the sentence when the words that follow say who spoke:
  ``“先撤人。”队长说。`` is one sentence, ``“走吧。”天已经黑了。`` two.
- After ``U.S.``, ``Inc.``, ``Fri.`` or an initial only a common opening word (The, He, It ...) begins a
  new sentence; any other capital is taken for a part of the name.
- Zero-width characters are invisible to the rules, and lie in the span before them.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from qchunker.abbreviations import ABBREVIATED, ABBREVIATIONS, BEFORE_NUMBER, NEVER_END, OPENING_WORDS, SELDOM_END
from qchunker.types import Span

_WORD_WINDOW = 64  # code points before a stop in which its word is looked for
_QUOTE_WINDOW = 400  # code points in which straight quotes are counted to tell opening from closing
_HEADING_CHARS = 40  # a numbered line shorter than this was not wrapped, so it ends at its line end

_INVISIBLE = re.compile("[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")

_LINE_ENDS = r"\n\r\x85"
_BREAKS = r"\f\v\x1c-\x1e\u2028\u2029"
_BLANKS = rf"[^\S{_LINE_ENDS}{_BREAKS}]*"
_EOL = rf"(?:[{_LINE_ENDS}{_BREAKS}]|\Z)"
_STOPS = ".!?;…⋯。！？；｡．"
_QUOTES_CLOSED = "\"'”’」』"
_CLOSERS = _QUOTES_CLOSED + "）】》〉〕］｝)\\]}*_`"
_NOTE_MARK = r"\[\d{1,3}\]|[¹²³⁰-⁹]"  # a footnote mark belongs to the sentence it follows

# Groups: 1 the visible character after a stop that is beyond doubt, 2 after any other stop,
# 3 the rest of a break that always ends a sentence, 4 the rest of a single line end.
# The first character is one class, so that the engine can skip to it quickly.
_CANDIDATE = re.compile(
    rf"[{_STOPS}{_LINE_ENDS}{_BREAKS}](?:"
    rf"(?<=[。！？｡；])(?=([^\s{_STOPS}{_CLOSERS}，、：,:—\[¹²³⁰-⁹]))"
    r"|(?<=[a-z]{6}[.!?])(?= ([A-Z]))"
    rf"|(?<=[{_STOPS}])(?:(?<![.!?;])|(?![a-z0-9_=/]))"
    rf"[{_STOPS}]*(?:[{_CLOSERS}]|{_NOTE_MARK})*(?=\s*(\S?))"
    rf"|(?<=[{_LINE_ENDS}{_BREAKS}])(?:"
    rf"((?:(?<=[{_BREAKS}])|(?:(?<!\r)|(?<=\r)(?:\n|(?!\n))){_BLANKS}[{_LINE_ENDS}{_BREAKS}])\s*)"
    rf"|((?:(?<=\r)\n)?{_BLANKS})))"
)
_SURE, _DOUBTFUL, _BREAK, _LINE = 2, 3, 4, 5

_NUMERALS = "一二三四五六七八九十百千零〇两"
# What a line begins with when it begins a list item, a heading or a numbered clause.
_OPENER = re.compile(
    r"[-*+•·●○▪■◆◦‣][^\S\n\r]"
    r"|\d{1,3}(?:[)、）．]|\.(?=\s|\Z))"
    rf"|[(（](?:\d{{1,3}}|[a-zA-Z]|[ivx]{{1,5}}|[{_NUMERALS}]{{1,4}})[)）]"
    r"|[a-zA-Z][.)](?:\s|\Z)"
    r"|[①-⒛㈠-㈩❶-❿]"
    rf"|[{_NUMERALS}]{{1,4}}[、．]"
    rf"|第\s?[\d{_NUMERALS}]{{1,8}}\s?[编章节条款项部]"
    r"|\d{1,3}(?:\.\d{1,3}){2,6}\.?(?:\s|\Z)"
    r"|\d{1,3}\.\d{1,3}\.?[^\S\n\r]{1,8}(?:[A-Z][a-z]{2}|[\u4e00-\u9fff])"
    r"|#{1,6}[^\S\n\r]"
    r"|§\s?\d"
    r"|(?:Article|Section|Chapter|Clause|Part|Annex|Appendix|Schedule)\s[\dA-Z][\d.]{0,12}"
    rf"(?:{_BLANKS}{_EOL}|[^\S\n\r][-–—:(]|[.:]?[^\S\n\r][A-Z])"
)


_WORD = re.compile(r"[^\W\d_]+(?=[\s,'’]|\Z)")
# A capitalised word as prose has it, to tell ``agreed.He left`` from ``os.Path(x)``.
_PROSE_WORD = re.compile(r"[A-Z][a-z]*(?:['’][a-z]{1,4})?(?=[\s,;:!?。，]|\.(?:\s|\Z)|\Z)")
_NUMBER_AHEAD = re.compile(r"\d|[#§]|[A-Z]{1,3}[\d.-]|[B-HJ-Z]\b")
_LATIN_TAIL = re.compile(r"[!-˿]+\Z")
_LETTERED = re.compile(r"(?:[^\W\d_]{1,2}\.)+[^\W\d_]{1,2}")  # U.S, a.m, Ph.D
_ENUMERATOR = re.compile(rf"\d{{1,4}}(?:\.\d{{1,3}}){{0,6}}|[a-zA-Z]|[IVXLC]{{1,6}}|[ivx]{{1,5}}|[{_NUMERALS}]{{1,4}}")
_LABEL = re.compile(
    r"(?:Step|Article|Section|Chapter|Clause|Part|Rule|Figure|Table|Annex|Appendix|Example|Question|Note)"
    r"\s(?:\d{1,3}(?:\.\d{1,3}){0,4}|[A-Z])"
)
_LABEL_CHARS = 24
_LOWER_WINDOW = 120  # code points of a sentence that show whether it is written without capitals
_LETTER_ITEM = re.compile(r"[a-z][.)]\s")

# Who spoke, after a quotation: a short subject, a verb of speech, a stop or comma.
_SPEAKER = re.compile(
    r"[^\s，。！？；：、…,.!?;:“”‘’「」『』\"]{0,10}?"
    r"(?:说|(?<!知)道|问|答|喊|叫|嚷|吼|想|表示|称|指出|写着|强调|补充|回应|解释|提醒|宣布|介绍|感叹)(?:道|着|了)?"
    rf"\s?(?:[。！？；….!?;]|[，,]\s?[“‘「『\"]|{_EOL})"
    r"|(?:[A-Z][\w'’-]{0,20}\s){1,3}"
    r"(?:said|says|asked|asks|replied|shouted|cried|answered|added|whispered|wrote|told|yelled|explained)\b"
)
_GOES_ON = re.compile(r"[的地得等之者]|这[个一种样句类些项]")  # after a quotation or an ellipsis
_GOES_ON_AHEAD = frozenset("，、：:,)）—" + _STOPS)
_OPENING_MARKS = frozenset("“‘「『《【（")
_STRAIGHT_MARKS = frozenset('"*_`')
_STAMMER_CHARS = 2  # "我……我不知道" is one sentence
_LINE_END = re.compile(rf"[{_LINE_ENDS}{_BREAKS}]")
_BLANK_TAIL = re.compile(_BLANKS + _EOL)
_CJK = "\u2e80"  # first of the East Asian code points
_ENTITY = re.compile(r"&#?\w{1,10}\Z")
_CODE = re.compile(r"[{}=<>`|]|\(\)|\+\+")
_CODE_WINDOW = 40


def sentence_spans(text: str, start: int = 0, end: int | None = None) -> list[Span]:
    """Sentences of ``text[start:end]``, in coordinates of ``text``.

    The spans are sorted, disjoint and trimmed of white space, and hold every non-space character.
    The result depends on ``text[start:end]`` alone.
    """
    return _visible_spans(text, start, end, _sentences)


def clause_spans(text: str, start: int = 0, end: int | None = None) -> list[Span]:
    """Clauses of ``text[start:end]``: sentences cut again after commas, colons and dashes.

    Same contract as `sentence_spans`; every clause lies in one sentence. Numbers, times, ratios,
    URLs, paths and identifiers stay whole.
    """
    return _visible_spans(text, start, end, _clauses)


def _visible_spans(text: str, start: int, end: int | None, cut: Callable[[str], list[Span]]) -> list[Span]:
    """Apply ``cut`` to the range as if it held no zero-width characters."""
    part = text[start:end]
    if part.isascii() or _INVISIBLE.search(part) is None:
        spans = cut(part)
        return [Span(first + start, last + start) for first, last in spans] if start else spans
    # Where each invisible character was, as a position in the text without them.
    places = [found.start() - index for index, found in enumerate(_INVISIBLE.finditer(part))]
    spans = cut(_INVISIBLE.sub("", part)) or [Span(places[0], places[0])]
    result = []
    passed = 0
    for index, (first, last) in enumerate(spans):
        limit = spans[index + 1].start if index + 1 < len(spans) else len(part)
        begin = first + passed if index else min(first, places[0])
        stop = last + passed
        while passed < len(places) and places[passed] <= limit:
            passed += 1
            stop = last + passed if places[passed - 1] < last else places[passed - 1] + passed
        result.append(Span(begin + start, stop + start))
    return result


def _sentences(text: str) -> list[Span]:
    spans: list[Span] = []
    begin = line = len(text) - len(text.lstrip())
    for match in _CANDIDATE.finditer(text, begin):
        kind = match.lastindex or _SURE
        at, after = match.span()
        if kind >= _BREAK:
            if at > begin and (kind == _BREAK or _line_ends_sentence(text, line, at, after)):
                spans.append(Span(begin, _trimmed_end(text, at)))
                begin = after
            line = after
        elif at <= begin:
            continue  # stops alone are no sentence
        elif kind <= _SURE:
            spans.append(Span(begin, after))
            begin = match.start(kind)
        else:
            following = match.start(_DOUBTFUL)
            if following == len(text):
                break
            plain = after == at + 1 and text[after] == " " and _plain_stop(text, begin, at, following)
            cut = after if plain else _stop_end(text, begin, at, after, following)
            if cut:
                spans.append(Span(begin, cut))
                begin = following if cut == after else cut
                while text[begin : begin + 1].isspace():
                    begin += 1
    if begin < len(text):
        spans.append(Span(begin, _trimmed_end(text, len(text))))
    return spans


def _trimmed_end(text: str, end: int) -> int:
    while text[end - 1].isspace():
        end -= 1
    return end


def _line_ends_sentence(text: str, line: int, at: int, following: int) -> bool:
    """Whether the line end at ``at`` is more than a wrap; ``line`` is where its line begins."""
    if _OPENER.match(text, following):
        return not (text[at - 1] == "." and text[following].isdigit())  # "Fig." goes on with its number
    if at - line > _HEADING_CHARS or text[following : following + 1].islower():
        return False
    return _OPENER.match(text, line) is not None


def _plain_stop(text: str, begin: int, at: int, following: int) -> bool:
    """Whether the commonest kind of stop is here, told without all the questions that others need."""
    if at - begin <= _LABEL_CHARS or text[at] != ".":
        return False
    word = text[text.rfind(" ", at - _LABEL_CHARS, at) + 1 : at]
    if not 2 < len(word) <= _LABEL_CHARS or not word.isalpha() or not word.islower() or word in ABBREVIATED:
        return False
    if text[following].isupper():
        return True
    return text[following : following + 2].islower() and text[begin : begin + _LOWER_WINDOW].islower()


def _stop_end(text: str, begin: int, at: int, after: int, following: int) -> int:
    """Where the sentence ends that the stops ``text[at:after]`` may close, or 0.

    ``begin`` is where the sentence begins, ``following`` the next visible character.
    """
    stop, ahead = text[at], text[following]
    wrapped = following > after and _LINE_END.search(text, after, following) is not None
    if ahead in _GOES_ON_AHEAD and not wrapped:
        return 0
    closed = text[after - 1] not in _STOPS
    if closed and following == after:
        opening = _opening_mark(text, begin, at, after)
        if opening:
            after, following, ahead, closed = opening, opening, "“", text[opening - 1] not in _STOPS
    glued = following == after
    if ahead in _QUOTES_CLOSED and not glued and not wrapped and _closes_after_space(text, begin, at, following):
        return following + 1
    if closed and not wrapped and _quotation_goes_on(text, begin, after, following):
        return 0
    if stop in "。！？；｡":
        ends = True
    elif stop == "．":
        ends = not (text[at - 1].isdigit() and (ahead.isdigit() or _is_enumerator(text, begin, at)))
    elif stop in "…⋯" or text.startswith(("..", ".…"), at):
        ends = at - begin > _STAMMER_CHARS and _ellipsis_ends(text, following, glued, wrapped)
    elif glued:
        ends = _glued_stop_ends(text, begin, at, following)
    elif stop == "." and text[at + 1] not in "!?！？":
        ends = _full_stop_ends(text, begin, at, following, wrapped)
    elif stop == ";":
        window = max(begin, at - _CODE_WINDOW)
        ends = _ENTITY.search(text, window, at) is None and _CODE.search(text, window, at) is None
    else:
        ends = wrapped or not (closed and ahead.islower())
    return after if ends else 0


def _opening_mark(text: str, begin: int, at: int, after: int) -> int:
    """Where, among the marks after a stop, a straight quote opens the next sentence; or 0."""
    marks = text[max(at, after - 3) : after]
    run = marks[len(marks.rstrip(marks[-1])) :]
    if run[0] not in _STRAIGHT_MARKS or text.count(run, max(begin, at - _QUOTE_WINDOW), at) % 2:
        return 0
    return after - len(run)


def _closes_after_space(text: str, begin: int, at: int, mark: int) -> bool:
    """Whether the quote at ``mark`` closes although white space divides it from the stop before."""
    if text[mark + 1 : mark + 2].strip() or text[mark + 2 : mark + 3].islower():
        return False
    certain = text[mark] not in _STRAIGHT_MARKS or _BLANK_TAIL.match(text, mark + 1) is not None
    return certain or text.count('"', max(begin, at - _QUOTE_WINDOW), at) % 2 == 1


def _quotation_goes_on(text: str, begin: int, after: int, following: int) -> bool:
    """Whether the words after a closed quotation or bracket belong to its sentence."""
    closer = text[after - 1]
    in_title = closer in "》〉" and any(
        text.find(mark, max(begin, after - _QUOTE_WINDOW), after) >= 0 for mark in "《〈"
    )
    if following == after and (in_title or text[following].islower()):
        return True
    if _GOES_ON.match(text, following):
        return True
    return closer in _QUOTES_CLOSED and _SPEAKER.match(text, following) is not None


def _ellipsis_ends(text: str, following: int, glued: bool, wrapped: bool) -> bool:
    ahead = text[following]
    if ahead >= _CJK or ahead in _OPENING_MARKS:
        return _GOES_ON.match(text, following) is None
    if glued:
        return _PROSE_WORD.match(text, following) is not None
    return wrapped or not ahead.islower()


def _glued_stop_ends(text: str, begin: int, at: int, following: int) -> bool:
    """Whether a Latin stop with no white space after it ends a sentence."""
    word = _word_before(text, begin, at)
    ahead = text[following]
    if ahead >= _CJK or ahead in _OPENING_MARKS:
        if "://" in word or "@" in word:
            return False
        return text[at] != "." or not _is_abbreviation(text, begin, at, following, word)
    prose = _PROSE_WORD.match(text, following)
    if prose is None:
        return False
    opening = prose.group() in OPENING_WORDS
    if word.isdigit():
        return opening
    return len(word) > 1 and word.isalpha() and (word.islower() or opening)


def _full_stop_ends(text: str, begin: int, at: int, following: int, wrapped: bool) -> bool:
    """Whether a single Latin full stop with white space after it ends a sentence."""
    word = _word_before(text, begin, at)
    if text[following].islower() and not wrapped and not text[following + 1 : following + 2].isupper():
        if _LETTER_ITEM.match(text, following):
            return _LETTER_ITEM.match(text, begin) is not None
        # A sentence without a capital is text in lower case throughout, where only words can tell.
        if not text[begin : min(at, begin + _LOWER_WINDOW)].islower():
            return False
        if (word.isalpha() and len(word) < 3) or word.capitalize() in ABBREVIATIONS:
            return False
    return not _is_abbreviation(text, begin, at, following, word)


def _word_before(text: str, begin: int, at: int) -> str:
    """The word that ends at ``at``, without opening marks; Latin only if it follows other script."""
    words = text[max(begin, at - _WORD_WINDOW) : at].rsplit(None, 1)
    if not words or text[at - 1].isspace():
        return ""
    word = words[-1]
    if not word.isascii():
        tail = _LATIN_TAIL.search(word)
        word = tail.group() if tail else word[-1:]
    return word.lstrip("([{\"'*_")


def _is_abbreviation(text: str, begin: int, at: int, following: int, word: str) -> bool:
    """Whether the full stop at ``at`` is a part of ``word`` and no more than that."""
    if word in NEVER_END or (word.isupper() and word.capitalize() in NEVER_END):
        return True
    if word.lower() in BEFORE_NUMBER and _NUMBER_AHEAD.match(text, following):
        return True
    if word in SELDOM_END or (len(word) == 1 and word.isupper()) or _LETTERED.fullmatch(word):
        if text[following] >= _CJK:
            return len(word) > 1
        ahead = _WORD.match(text, following)
        if ahead is None or ahead.group() not in OPENING_WORDS:
            return True
    return _is_enumerator(text, begin, at)


def _is_enumerator(text: str, begin: int, at: int) -> bool:
    """Whether the stop at ``at`` follows the number of an item, clause or step."""
    first = max(begin, at - _LABEL_CHARS)
    colon = max(text.rfind(": ", first, at) + 1, text.rfind("：", first, at))
    if colon > 0:
        first = colon + 1
    elif first > begin:
        return False
    elif text[first] in "(（[*_":
        first += 1
    return bool(_ENUMERATOR.fullmatch(text, first, at) or _LABEL.fullmatch(text, first, at))


_CLAUSE_MARK = re.compile(
    rf"[，、；：,;:—―–-](?:(?<=[,;:])(?=[{_QUOTES_CLOSED}]*(?:\s|[\u2e80-\uffff]))"
    r"|(?<=[，、；：])|(?<=[—―])[—―]*|(?<=\s[–-])-{0,2}(?=\s))"
    rf"[{_QUOTES_CLOSED}）】》]*(?=\s*(\S))"
)


def _clauses(text: str) -> list[Span]:
    spans: list[Span] = []
    for begin, end in _sentences(text):
        for match in _CLAUSE_MARK.finditer(text, begin + 1, end):
            at, after = match.span()
            following = match.start(1)
            if opening := _opening_mark(text, begin, at, after):
                after = following = opening
            if at > begin and _clause_ends(text, begin, at, after, following):
                spans.append(Span(begin, after))
                begin = following
        spans.append(Span(begin, end))
    return spans


def _clause_ends(text: str, begin: int, at: int, after: int, following: int) -> bool:
    mark, ahead = text[at], text[following]
    if ahead in _STOPS + "，、：,:—" or (following == after and ahead in "”’」』）】》)]}"):
        return False
    if mark == ";" and _ENTITY.search(text, max(begin, at - 12), at):
        return False
    spaced_list = mark in ",;，；" and following > after
    before = text[at - 2] if text[at - 1] == " " and at - 2 >= begin else text[at - 1]
    return spaced_list or not (before.isdigit() and ahead.isdigit())
