"""Words of a text that say something, so that an answer can be compared with what it rests on.

English words are compared by their stems, Chinese ones by pairs of characters.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence

import snowballstemmer

from qchunker.debate.verify_words import fold

_ENGLISH = snowballstemmer.stemmer("english")
_HAN = "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_RUN = re.compile(rf"[{_HAN}]+|[^\W_{_HAN}]+(?:[-_./:@+#'’][^\W_{_HAN}]+)*")
_INNER = re.compile(r"[-_./:@+#'’]")
# Characters that bind words, ask, or count; they part Chinese text into pieces.
_BINDING = re.compile(
    "[的了是在和与與及或也就都而且并並被把将將对對于於为為从從由以其之所吗嗎呢吧啊么麼什哪谁誰怎这這那个個种種]|"
    "如何|多少|几|幾"
)
_STOP = frozenset(
    "a an the this that these those it its they them their he she his her we our you your i my me us there here "
    "is are was were be been being am do does did done has have had having will would shall should can could may might "
    "must need of in on at to for from by with without about into onto over under than then as if "
    "and or but nor not no "
    "so such also only just very too more most much many few any some all each every both either neither other another "
    "own same what which who whom whose when where why how yes up down out off again once while during before after "
    "above below between through because until against s t re ll ve d m".split()
)


def is_chinese(text: str) -> bool:
    """Whether a text is written in Chinese, names and codes in Latin letters notwithstanding."""
    n_han = len(re.findall(f"[{_HAN}]", text))
    return n_han > 0 and 3 * n_han >= len(re.findall(r"[A-Za-z]+", text))


def content_words(text: str) -> list[str]:
    """Words that say something, in the order of the text, repeats kept."""
    words: list[str] = []
    for run in _RUN.findall(fold(text)):
        if run[0] >= "\u3400":
            for piece in _BINDING.split(run):
                words.extend(map(str.__add__, piece, piece[1:]) if len(piece) > 1 else piece)
        else:
            words.extend(word for part in _parts(run) if (word := part) not in _STOP)
    return words


def _parts(run: str) -> Iterable[str]:
    lowered = run.lower()
    if not _INNER.search(lowered):
        return (_stem(lowered),) if lowered not in _STOP else ()
    return (lowered, *(_stem(part) for part in _INNER.split(lowered) if len(part) > 1 and part not in _STOP))


@functools.lru_cache(1 << 16)
def _stem(word: str) -> str:
    return str(_ENGLISH.stemWord(word)) if word.isascii() and word.isalpha() else word


class Said:
    """What some texts say, by their words."""

    def __init__(self, *texts: str) -> None:
        self.words: set[str] = set()
        for text in texts:
            for run in _RUN.findall(fold(text)):
                if run[0] >= "\u3400":
                    self.words.update(run)
                    self.words.update(map(str.__add__, run, run[1:]))
                else:
                    self.words.update((run.lower(), _stem(run.lower()), *_parts(run)))

    def __contains__(self, word: object) -> bool:
        return word in self.words

    def share(self, words: Sequence[str]) -> float:
        """Share of the words that are said; 1 where there is none."""
        return sum(word in self.words for word in words) / len(words) if words else 1.0

    def longest_unsaid(self, words: Sequence[str]) -> int:
        """Words in a row of which none is said."""
        longest = run = 0
        for word in words:
            run = 0 if word in self.words else run + 1
            longest = max(longest, run)
        return longest
