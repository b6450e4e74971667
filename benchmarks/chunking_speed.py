"""Speed of chunkers at the same target size, beside what they keep: offsets, characters, headings, sentences.

Run ``python benchmarks/chunking_speed.py``; it prints Markdown tables. The other chunkers are optional
(``benchmarks/requirements.txt``): those that cannot be imported are listed as missing. Columns are explained in
``benchmarks/README.md``.
"""

from __future__ import annotations

import argparse
import gc
import json
import re
import statistics
import sys
import time
from bisect import bisect_left
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "benchmarks")]
sys.path.append(str(ROOT / "src"))

from machine import versions  # noqa: E402
from peers import PACKAGES, TOOLS, Piece, Tool  # noqa: E402
from texts import make, markdown, plain  # noqa: E402

MB = 1_000_000
TARGETS = {"en": 800, "zh": 200, "md": 800}
TITLES = {"en": "plain English", "zh": "plain Chinese", "md": "Markdown"}
_WRAP_CHARS = 160
DATA = ROOT.parent / "shared" / "bench" / "data"


class Kept(NamedTuple):
    """What the chunks of one input say about their source."""

    n_chunks: int
    n_offsets_right: int
    n_with_offset: int
    lost_chars: int
    altered_chars: int
    n_with_path: int
    n_cuts: int
    n_cuts_inside: int
    total_chars: int
    max_chars: int
    n_over: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mb", type=float, default=0.5, help="size of each input in MB of UTF-8")
    parser.add_argument("--repeat", type=int, default=5, help="interleaved passes")
    parser.add_argument("--inputs", default="en,zh,md", help="comma separated, of en, zh, md")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of benchmark texts (NAME/docs.jsonl)")
    parser.add_argument("--markdown-folder", type=Path, help="take Markdown files from here, not generated ones")
    parser.add_argument("--json", type=Path, help="also write the numbers to this file")
    options = parser.parse_args()
    facts = versions(PACKAGES)
    print(" · ".join(f"{name} {value}" for name, value in facts.items()))
    report = []
    for kind in options.inputs.split(","):
        texts, origin = _texts(kind, options)
        title = f"{TITLES[kind]}, target {TARGETS[kind]} characters"
        size = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts) / MB
        print(f"\n## {title}\n\n{origin}: {len(texts)} texts, {size:.2f} MB, {options.repeat} passes\n")
        rows = _measure(kind, texts, size, options.repeat)
        _print(rows)
        report.append({"input": title, "origin": origin, "n_texts": len(texts), "mb": size, "rows": rows})
    if options.json:
        text = json.dumps({"versions": facts, "inputs": report}, indent=1, ensure_ascii=False)
        options.json.write_text(text + "\n", encoding="utf-8")


def _texts(kind: str, options: argparse.Namespace) -> tuple[list[str], str]:
    """Texts of about the wanted size, and where they come from."""
    budget = int(options.mb * MB)
    if kind == "md":
        if options.markdown_folder:
            return _taken(_files(options.markdown_folder), budget), "Markdown files of a folder"
        return [make(markdown, budget // 20, seed) for seed in range(20)], "generated mixed zh/en Markdown"
    names = ("chroma",) if kind == "en" else ("crud", "drcd")
    found = _taken(_documents(options.data, names), budget)
    if found:
        return found, f"development texts of {' and '.join(names)}"
    return [make(lambda phrases: plain(phrases, (kind,)), budget // 20, seed) for seed in range(20)], "generated text"


def _files(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*.md")):
        text = path.read_bytes().decode("utf-8", "replace")
        if not text.isspace() and text:
            yield text


def _documents(data: Path, names: tuple[str, ...]) -> Iterator[str]:
    for name in names:
        path = data / name / "docs.jsonl"
        if path.is_file():
            with path.open(encoding="utf-8") as lines:
                yield from (json.loads(line)["text"] for line in lines)


def _taken(texts: Iterator[str], budget: int) -> list[str]:
    """Texts until the budget of bytes is used; the last one is cut at the end of a paragraph."""
    taken: list[str] = []
    for text in texts:
        if budget <= 0:
            break
        if len(text.encode("utf-8", "surrogatepass")) > 2 * budget:
            end = text.find("\n", budget)
            text = text[: end if end > 0 else budget]
        taken.append(text)
        budget -= len(text.encode("utf-8", "surrogatepass"))
    return taken


def _measure(kind: str, texts: list[str], size: float, repeat: int) -> list[dict]:
    target = TARGETS[kind]
    rows: list[dict] = []
    makers = {}
    for name, (kinds, maker) in TOOLS.items():
        if kind in kinds.split():
            try:
                outputs = [tool.pieces(tool.run(text)) for tool in [maker(target, kind)] for text in texts]
            except ImportError:
                rows.append({"tool": name, "missing": True})
                continue
            makers[name] = maker
            rows.append({"tool": name, "missing": False, **_kept(texts, outputs, target, kind)._asdict()})
    seconds: dict[str, list[float]] = {name: [] for name in makers}
    for _ in range(repeat):
        for name, maker in makers.items():
            # A new tool for each pass: some keep sizes that they have counted before.
            seconds[name].append(_seconds(maker(target, kind), texts))
    ours = seconds["qchunker structure"]
    for row in rows:
        if not row["missing"]:
            mine = seconds[row["tool"]]
            row["seconds"] = mine
            row["mb_per_s_best"] = size / min(mine)
            row["mb_per_s_median"] = size / statistics.median(mine)
            row["times_qchunker"] = statistics.median(own / other for own, other in zip(ours, mine, strict=True))
    return rows


def _seconds(tool: Tool, texts: list[str]) -> float:
    gc.collect()
    started = time.perf_counter()
    for text in texts:
        tool.run(text)
    return time.perf_counter() - started


def _kept(texts: list[str], outputs: list[list[Piece]], target: int, kind: str) -> Kept:
    counts = [_kept_of_one(text, pieces, target, kind) for text, pieces in zip(texts, outputs, strict=True)]
    columns = dict(zip(Kept._fields, zip(*counts, strict=True), strict=True))
    return Kept(**{name: max(values) if name == "max_chars" else sum(values) for name, values in columns.items()})


def _kept_of_one(text: str, pieces: list[Piece], target: int, kind: str) -> Kept:
    starts, lost, altered = _aligned("".join(text.split()), [piece.text for piece in pieces])
    good = _good_places(text, kind)
    cuts = starts[1:]
    inside = sum(at not in good for at in cuts)
    sizes = [len(piece.text) for piece in pieces]
    return Kept(
        len(pieces),
        sum(piece.start is not None and text.startswith(piece.text, piece.start) for piece in pieces),
        sum(piece.start is not None for piece in pieces),
        lost,
        altered,
        sum(bool(piece.path) for piece in pieces),
        len(cuts),
        inside,
        sum(sizes),
        max(sizes, default=0),
        sum(size > target for size in sizes),
    )


def _aligned(squeezed: str, pieces: list[str]) -> tuple[list[int], int, int]:
    """Where each piece starts in the text without white space, and how many characters are lost and altered.

    Pieces are looked for in order, whole or else line by line; a line that does not occur was altered.
    """
    starts, lost, altered, at = [], 0, 0, 0
    for piece in pieces:
        whole = "".join(piece.split())
        parts = [whole] if squeezed.startswith(whole, at) else ["".join(line.split()) for line in piece.splitlines()]
        first = True
        for part in filter(None, parts):
            found = squeezed.find(part, at)
            if found < 0:
                altered += len(part)
                continue
            lost += found - at
            at = found + len(part)
            if first:
                starts.append(found)
                first = False
    # What was altered stands for as many characters of the source.
    return starts, max(0, lost + len(squeezed) - at - altered), altered


def _good_places(text: str, kind: str) -> set[int]:
    """Offsets, in the text without white space, where a cut parts no sentence, table row or line of code."""
    import qchunker
    from qchunker.sentences import sentence_spans

    places = {span.start for span in sentence_spans(text)}
    if kind != "md" and sum(len(line) > _WRAP_CHARS for line in text.splitlines()) > 2:
        # Lines of this text were not wrapped to a width, so each was ended on purpose.
        places.update(match.start() for match in re.finditer(r"(?<=\n)\s*\S", text))
        places = {at + len(text[at : at + 200]) - len(text[at : at + 200].lstrip()) for at in places}
    if kind == "md":
        for block in qchunker.from_text(text, "text.md").blocks:
            places.add(block.start)
            if block.kind in ("table", "code"):
                at = block.start
                for line in text[block.start : block.end].splitlines(keepends=True):
                    places.add(at)
                    at += len(line)
    spaces = [index for index, char in enumerate(text) if char.isspace()]
    return {at - bisect_left(spaces, at) for at in places}


def _print(rows: list[dict]) -> None:
    heads = ["tool", "MB/s best", "MB/s median", "x qchunker", "offsets right", "lost", "altered", "heading path"]
    heads += ["cuts in a sentence", "chunks", "mean size", "max size", "over target"]
    print("| " + " | ".join(heads) + " |\n" + "|---" * len(heads) + "|")
    for row in rows:
        if row["missing"]:
            print(f"| {row['tool']} | missing |" + " |" * (len(heads) - 2))
            continue
        n = row["n_chunks"]
        offsets = f"{row['n_offsets_right'] / row['n_with_offset']:.1%}" if row["n_with_offset"] else "none given"
        cells = [
            row["tool"],
            f"{row['mb_per_s_best']:.3g}",
            f"{row['mb_per_s_median']:.3g}",
            f"{row['times_qchunker']:.2f}",
            offsets,
            str(row["lost_chars"]),
            str(row["altered_chars"]),
            "yes" if row["n_with_path"] else "no",
            f"{row['n_cuts_inside'] / max(row['n_cuts'], 1):.0%}",
            str(n),
            f"{row['total_chars'] / n:.0f}",
            str(row["max_chars"]),
            f"{row['n_over'] / n:.1%}",
        ]
        print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
