"""Compare sentence splitters: rows of the hand-made table they get right, offsets, speed.

Run ``python benchmarks/sentences.py``; it prints a Markdown table. Other splitters than our own are
optional: those that cannot be imported are listed as missing.
"""

from __future__ import annotations

import importlib
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests" / "unit")]

Pieces = list[tuple[int, int]]
Splitter = Callable[[str], Pieces]

SPEED_CHARS = 4_000_000
TIME_LIMIT_S = 3.0


def _qchunker() -> Splitter:
    module = importlib.import_module("qchunker.sentences")
    return lambda text: [(span.start, span.end) for span in module.sentence_spans(text)]


def _sentencex() -> Splitter:
    module = importlib.import_module("sentencex")

    def split(text: str) -> Pieces:
        language = "zh" if _mostly_chinese(text) else "en"
        found = module.get_sentence_boundaries(language, text)
        return [(item["start_index"], item["end_index"]) for item in found]

    return split


def _pysbd() -> Splitter:
    module = importlib.import_module("pysbd")
    by_language = {
        language: module.Segmenter(language=language, clean=False, char_span=True) for language in ("zh", "en")
    }

    def split(text: str) -> Pieces:
        found = by_language["zh" if _mostly_chinese(text) else "en"].segment(text)
        return [(item.start, item.end) for item in found]

    return split


SPLITTERS: dict[str, Callable[[], Splitter]] = {
    "qchunker": _qchunker,
    "sentencex": _sentencex,
    "pysbd": _pysbd,
}


def _mostly_chinese(text: str) -> bool:
    """Splitters made for one language get the one that the text is mostly written in."""
    head = text[:2000]
    return sum("\u3400" <= character <= "\u9fff" for character in head) * 4 > len(head)


def _covers(text: str, pieces: Pieces) -> bool:
    """Whether the pieces are in order, disjoint, and hold every non-space character."""
    at = 0
    for start, end in pieces:
        if start < at or end <= start or text[at:start].strip():
            return False
        at = end
    return not text[at:].strip()


def _speed(split: Splitter, text: str) -> float:
    """Characters per second, on as much of the text as fits the time limit."""
    chars = 20_000
    while True:
        began = time.perf_counter()
        split(text[:chars])
        elapsed = time.perf_counter() - began
        if chars >= len(text) or elapsed * 4 > TIME_LIMIT_S:
            return min(chars, len(text)) / elapsed
        chars *= 4


def _speed_text(rows: list[tuple[str, list[str]]], chinese: bool) -> str:
    """Paragraphs of ten rows each, one script, long enough to time."""
    chosen = [text for text, _ in rows if "\n" not in text and _mostly_chinese(text) == chinese]
    joint = "" if chinese else " "
    paragraphs = [joint.join(chosen[at : at + 10]) for at in range(0, len(chosen), 10)]
    once = "\n\n".join(paragraphs) + "\n\n"
    return once * (SPEED_CHARS // len(once) + 1)


def main() -> None:
    rows: list[tuple[str, list[str]]] = importlib.import_module("sentence_rows").rows()
    print(f"Python {platform.python_version()}, {len(rows)} rows\n")
    print("| splitter | rows right | offsets kept | zh M chars/s | en M chars/s |")
    print("|---|---|---|---|---|")
    wrong: dict[str, list[str]] = {}
    for name, load in SPLITTERS.items():
        try:
            split = load()
        except ImportError:
            print(f"| {name} | missing | | | |")
            continue
        right = kept = 0
        for text, expected in rows:
            pieces = split(text)
            kept += _covers(text, pieces)
            found = [piece for start, end in pieces if (piece := text[start:end].strip())]
            right += found == expected
            if found != expected:
                wrong.setdefault(name, []).append(" | ".join(found))
        zh, en = (_speed(split, _speed_text(rows, chinese)) / 1e6 for chinese in (True, False))
        print(f"| {name} | {right} | {kept} | {zh:.2f} | {en:.2f} |")
    if "--wrong" in sys.argv:
        for name, lines in wrong.items():
            print(f"\n{name}\n" + "\n".join(f"  {line!r}" for line in lines))


if __name__ == "__main__":
    main()
