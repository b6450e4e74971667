"""Tokens of a Chinese or English text for BM25: words, bigrams of Chinese characters, identifiers and their parts."""

from __future__ import annotations

import functools
import unicodedata

import regex
import snowballstemmer

LONGEST_TOKEN = 64
"""Characters of the longest token. An identifier beyond gives only its parts, a word beyond is cut into pieces."""

_IGNORED = regex.compile(r"\p{Default_Ignorable_Code_Point}+")
# Normalisation takes quadratic time on marks that must be sorted; no script puts 30 on one letter (UAX 15, section 13).
_MARKS_BEYOND_30 = regex.compile(r"([\p{M}\uff9e\uff9f]{30})[\p{M}\uff9e\uff9f]++")
# A comma of Chinese prose ends a clause even between numbers; one that groups full-width digits does not.
_CLAUSE_COMMA = regex.compile("(?<![０-９])，|，(?![０-９])")

_ENGLISH = snowballstemmer.stemmer("english")
_JOINT = "\x1f"
_SAME_SIGNS = str.maketrans({_JOINT: " ", "’": "'", "⁄": "/"} | dict.fromkeys("\u2010\u2011\u2012\u2013\u2212", "-"))

_CHINESE = r"\p{Han}\p{Hiragana}\p{Katakana}〆ー\u3099\u309a"
_LETTER = rf"[[\p{{L}}\p{{N}}]--[{_CHINESE}]]"
_WORD = rf"{_LETTER}[[\p{{L}}\p{{N}}\p{{M}}]--[{_CHINESE}]]*+"
_RUN = regex.compile(
    rf"(?P<latin>{_WORD}(?:(?:[-_./:@=?#&+~\\'{_JOINT}]|(?<=(?<!\w|[^\W\d]-)\d{{1,3}}(?:,\d{{3}}){{0,6}}),(?=\d{{3}}(?!\d))){_WORD})*+(?:(?<=\d)%(?!{_LETTER}))?)"
    rf"|[{_CHINESE}]++",
    regex.V1,
)

_POSSESSIVE = regex.compile(r"(?<=\p{L})'s(?![\p{L}\p{N}'])")
_STANDARD_PREFIX = (
    r"[a-z]{2,5}\d{0,2}/[a-z]{1,4}|gb[jz]?|hg|sh|sy|aq|jb|dl|hj|yy|jgj|iso|iec|en|din|astm|ansi|api|nfpa|un"
)
_STANDARD = regex.compile(rf"(?<!{_LETTER}|[-_./])({_STANDARD_PREFIX}) ?(?=\d)", regex.V1)

# From the signs that part an identifier first to those that hold its parts together.
_SEPARATORS = tuple(
    regex.compile(pattern, regex.V1)
    for pattern in (
        _JOINT,
        r"[/:@=?#&+~\\]",
        r"[-_]",
        r"%",
        r"(?<!\d)\.|\.(?!\d)|'",
        r"(?<=\p{L})(?=\p{N})|(?<=\p{N})(?=\p{L})",
        r"\.",
        r",",
    )
)
_LETTERS_FROM_DIGITS, _COMMA = _SEPARATORS[5], _SEPARATORS[7]
_MOST_CHANGES = 3
_GROUPED_NUMBER = regex.compile(r"\d{1,3}(?:,\d{3})++(?:\.\d++)?")


def lexical_tokens(text: str) -> list[str]:
    """Tokens in the order of the text, repeats kept; the same for a document and for a query.

    Text is compared in Unicode form NFKC without case, so that full-width letters and digits equal plain ones;
    invisible characters are taken out; traditional characters stay. English words are stemmed (Snowball; mean recall
    +.014 on English development texts), words of other scripts are kept as they are; "'s" is dropped.

    Chinese and kana: each run gives its overlapping bigrams, a run of one character that character. A query of one
    character therefore finds it only where it stands alone.

    Identifiers: words joined by single signs stay whole and are followed by their parts, from the largest to the
    smallest: ``v1.30`` gives ``v1.30 v 1.30 1 30``. The number of a standard is joined to its letters, so that
    ``GB/T 3098.1`` and ``GB/T3098.1`` are one: ``gb/t3098.1 gb/t gb t 3098.1 3098 1``. Letters are parted from digits
    where they change at most three times, so that ``P104`` and ``P-104`` share parts. ``1,000`` gives ``1,000 1000``,
    ``5%`` gives ``5% 5``.

    Returns:
        tokens without blanks, none empty, none longer than LONGEST_TOKEN; [] for a text without letters and digits.
        Time and number of tokens grow linearly with the text.
    """
    tokens: list[str] = []
    for match in _RUN.finditer(_comparable(text)):
        run = match[0]
        if match["latin"] is not None:
            _add_word(run, 0, tokens)
        elif len(run) == 1:
            tokens.append(run)
        else:
            tokens.extend(map(str.__add__, run, run[1:]))
    return tokens


def _comparable(text: str) -> str:
    """Text in which equal words are spelt equally, and standards are joined to their numbers."""
    if not text.isascii():
        text = _MARKS_BEYOND_30.sub(r"\1", _IGNORED.sub("", text))
        text = unicodedata.normalize("NFKC", _CLAUSE_COMMA.sub(" ", text))
    text = unicodedata.normalize("NFKC", text.casefold()).translate(_SAME_SIGNS)
    return _STANDARD.sub(rf"\1{_JOINT}", _POSSESSIVE.sub("", text))


def _add_word(word: str, level: int, tokens: list[str]) -> None:
    """Append a word, and then its parts at the separators from this level on."""
    parts, level = _parts(word, level)
    if len(word) > LONGEST_TOKEN:
        if len(parts) == 1:
            tokens.extend(word[start : start + LONGEST_TOKEN] for start in range(0, len(word), LONGEST_TOKEN))
            return
    else:
        tokens.append(_stem(word) if word.isascii() and word.isalpha() else word.replace(_JOINT, ""))
        if "," in word and _GROUPED_NUMBER.fullmatch(word):
            tokens.append(word.replace(",", ""))
    if len(parts) > 1:
        for part in parts:
            if part:
                _add_word(part, level, tokens)


@functools.lru_cache(1 << 17)
def _stem(word: str) -> str:
    """The stem of an English word: pumps, pumped and pumping are one token."""
    return str(_ENGLISH.stemWord(word))


def _parts(word: str, level: int) -> tuple[list[str], int]:
    """Parts of a word at its first separator, and the level behind that; the word itself if there is none."""
    if not word.isalpha() and not word.isdecimal():
        for index in range(level, len(_SEPARATORS)):
            separator = _SEPARATORS[index]
            parts = separator.split(word)
            if len(parts) == 1 or (separator is _LETTERS_FROM_DIGITS and len(parts) > _MOST_CHANGES + 1):
                continue
            if separator is _COMMA and _GROUPED_NUMBER.fullmatch(word):
                continue
            return parts, index + 1
    return [word], len(_SEPARATORS)
