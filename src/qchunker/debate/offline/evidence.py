"""Evidence for a cut before each unit: structure, meaning, words, cues. Each a function, in its own weight.

Shapes: every function gives one number per unit, float64; that of the first unit means nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from zlib import crc32

import numpy as np
import numpy.typing as npt

from qchunker.chunking.packing import BLOCK, CLAUSE, GLUED, GRAPHEME, HEADING, ITEM, LINE, SENTENCE, WORD, Unit
from qchunker.config import SegmentationConfig
from qchunker.models.embedder import Embedder

Numbers = npt.NDArray[np.float64]

WINDOW_CHARS = 300
"""Text before and behind a cut that is compared; Chinese characters count twice."""

_HASHED_WORDS = 512
_BLOCK = 2048
# A cut that is only possible because a unit is too long for any chunk costs more than anything else may gain.
_INSIDE_SENTENCE = {CLAUSE: -4.0, WORD: -8.0, GRAPHEME: -12.0, GLUED: -50.0}
_WORD = re.compile(r"[^\W\d_\u3400-\u9fff]{3,}|\d[\d.,]*\d|[\u3400-\u9fff]+")
_HAN = re.compile("[\u3400-\u9fff]")
_STOP_WORDS = frozenset(
    "the and for with that this from are was were been have has had not but its his her their they which who will "
    "would can may shall such any all also than then there these those into upon other more some what when where our "
    "your you she him them about between each under over out".split()
)

_CUE_EN = (
    r"(?:However|Therefore|Thus|Hence|Moreover|Furthermore|Nevertheless|Nonetheless|Otherwise|Similarly|Likewise|"
    r"Consequently|Accordingly|Instead|Meanwhile|Besides|Conversely|Indeed|Also|Then|So|But|And|Or|Yet|Still|"
    r"In (?:addition|contrast|turn|particular|this case|other words|that case)|As a result|For (?:example|instance)|"
    r"On the other hand|That is|It|They|He|She|This|That|These|Those|Such|Its|Their|His|Her|Both|Neither|"
    r"The (?:latter|former|same))\b"
)
_CUE_ZH = (
    "但|但是|然而|不过|不過|因此|所以|因而|于是|於是|从而|從而|此外|另外|同时|同時|而且|并且|並且|其中|其|它|他|她|这|這|该|該|此|"
    "上述|前述|对此|對此|由此|否则|否則|反之|即|例如|比如|也就是|换言之|換言之|总之|總之|综上|綜上|同样|同樣|随后|隨後|之后|之後|后来|後來|接着|接著"
)
_CUE = re.compile(rf"[\s\"“「『（(]*(?:{_CUE_EN}|(?:{_CUE_ZH}))")


def structure(units: Sequence[Unit], config: SegmentationConfig) -> Numbers:
    """Weight of the strongest structural boundary in front of each unit."""
    weights: Mapping[int, float] = _INSIDE_SENTENCE | {
        SENTENCE: 0.0, LINE: config.line, ITEM: config.line, BLOCK: config.block, HEADING: config.heading,
    }  # fmt: skip
    return np.array([weights[unit.strength] for unit in units], dtype=np.float64)


def embedding(text: str, units: Sequence[Unit], embedder: Embedder) -> Numbers:
    """Cosine distance between the meanings before and behind, in standard deviations over the document.

    The meaning of a window is the sum of the vectors of its units, each weighted by its length: one vector per unit is
    enough for all windows.
    """
    filled = [index for index, unit in enumerate(units) if text[unit.start : unit.end].strip()]
    texts = [text[units[index].start : units[index].end] for index in filled]
    rows = {words: row for row, words in enumerate(dict.fromkeys(texts))}  # lines and cells often repeat
    encoded = embedder.encode(list(rows))
    vectors = np.zeros((len(units), encoded.shape[1]), dtype=np.float32)
    vectors[filled] = encoded[[rows[words] for words in texts]]
    lengths = _lengths(text, units)
    vectors *= lengths[:, None].astype(np.float32)
    return _standardised(1 - _window_cosines(vectors, lengths))


def lexical(text: str, units: Sequence[Unit]) -> Numbers:
    """Words (pairs of Chinese characters) that the text behind does not share with the text before, standardised."""
    vectors = np.zeros((len(units), _HASHED_WORDS), dtype=np.float32)
    for row, unit in enumerate(units):
        for word in _words(text[unit.start : unit.end]):
            vectors[row, crc32(word.encode()) % _HASHED_WORDS] += 1
    return _standardised(1 - _window_cosines(vectors, _lengths(text, units)))


def cue(text: str, units: Sequence[Unit]) -> Numbers:
    """1 where a unit opens with a word that binds it to the one before, else 0."""
    return np.array([bool(_CUE.match(text, unit.start, unit.end)) for unit in units], dtype=np.float64)


def _words(piece: str) -> list[str]:
    found: list[str] = []
    for word in _WORD.findall(piece.lower()):
        if "\u3400" <= word[0] <= "\u9fff":
            found.extend(word[i : i + 2] for i in range(max(1, len(word) - 1)))
        elif word not in _STOP_WORDS:
            found.append(word)
    return found


def _lengths(text: str, units: Sequence[Unit]) -> Numbers:
    """Length of each unit; Chinese characters count twice, because they say as much as two Latin ones."""
    return np.array(
        [unit.end - unit.start + len(_HAN.findall(text, unit.start, unit.end)) for unit in units],
        dtype=np.float64,
    )


def _window_cosines(vectors: npt.NDArray[np.float32], lengths: Numbers) -> Numbers:
    """Cosine between the window before and the window behind each boundary, 1 where either is empty.

    Shapes: vectors (n, d), lengths (n,); gives (n,).
    """
    n = len(vectors)
    sums = np.concatenate([[0.0], np.cumsum(lengths)])
    places = np.arange(n)
    first = np.minimum(np.searchsorted(sums, sums[:-1] - WINDOW_CHARS, side="right") - 1, places - 1).clip(0)
    last = np.maximum(np.searchsorted(sums, sums[:-1] + WINDOW_CHARS, side="left"), places + 1).clip(max=n)
    cosines = np.ones(n)
    for start in range(0, n, _BLOCK):  # so that memory holds the sums of a part of the text only
        here = places[start : start + _BLOCK]
        low, high = first[here[0]], last[here[-1]]
        prefix = np.zeros((high - low + 1, vectors.shape[1]))
        np.cumsum(vectors[low:high], axis=0, dtype=np.float64, out=prefix[1:])
        before, behind = prefix[here - low] - prefix[first[here] - low], prefix[last[here] - low] - prefix[here - low]
        norms = np.linalg.norm(before, axis=1) * np.linalg.norm(behind, axis=1)
        dots = np.einsum("ij,ij->i", before, behind)
        cosines[here] = np.divide(dots, norms, out=np.ones(len(here)), where=norms > 1e-9)
    return cosines


def _standardised(values: Numbers) -> Numbers:
    """Mean 0 and standard deviation 1 over the inner boundaries; all 0 where they do not differ."""
    inner = values[1:]
    if len(inner) < 2 or (spread := float(inner.std())) < 1e-9:
        return np.zeros_like(values)
    standardised = np.empty_like(values)
    standardised[:] = (values - inner.mean()) / spread
    return standardised
