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
CHINESE_PROSE = (
    "值班人员到岗后，应当先查看上一班的交接记录，再到现场核对设备的实际状态。发现记录与现场不一致的，"
    "应当立即报告班长，并在记录本上写明时间、地点和处理经过。泵房内的温度不得超过三十五度，湿度不得高于"
    "百分之七十；超过时应当开启通风设备，直到恢复正常为止。老张说：“检查不能走过场。”他每次都要亲手摸一摸"
    "轴承，听一听声音。设备检修期间，任何人不得擅自合闸，确需试运行的，须经安全员签字同意。"
)
ENGLISH_PROSE = (
    "The operator on duty reads the log of the previous shift first and then walks through the pump house "
    "to see whether the machines are in the state that the log describes. If they are not, the foreman is "
    "told at once, and the time, the place and the measures taken are written down. Temperatures above "
    "35.5 degrees call for ventilation, which stays on until the reading is normal again. Mr. Harlow "
    "insists that nobody trusts a gauge that has not been tapped. During repairs no switch may be closed "
    "without a signature; a trial run needs the consent of the safety officer. Would you sign without "
    "having looked?"
)


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
    """Characters per second of CPU time: the best of several lengths, as far as the time limit allows."""
    chars, best = 20_000, 0.0
    while True:
        part = text[:chars]
        began = time.process_time()
        split(part)
        elapsed = time.process_time() - began
        best = max(best, len(part) / elapsed)
        if chars >= len(text) or elapsed * 2 > TIME_LIMIT_S:
            return best
        chars *= 2


def _speed_text(paragraph: str) -> str:
    return (paragraph + "\n\n") * (SPEED_CHARS // len(paragraph) + 1)


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
        zh, en = (_speed(split, _speed_text(prose)) / 1e6 for prose in (CHINESE_PROSE, ENGLISH_PROSE))
        print(f"| {name} | {right} | {kept} | {zh:.2f} | {en:.2f} |")
    if "--wrong" in sys.argv:
        for name, lines in wrong.items():
            print(f"\n{name}\n" + "\n".join(f"  {line!r}" for line in lines))


if __name__ == "__main__":
    main()
