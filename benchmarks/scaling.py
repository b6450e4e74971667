"""Time and memory of parsing and chunking on texts of growing size and awkward shape.

Run ``python benchmarks/scaling.py``; it prints a Markdown table. Every measurement is a fresh process with one
thread, so that one case leaves nothing behind for the next. Columns are explained in ``benchmarks/README.md``.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "benchmarks")]

from machine import versions  # noqa: E402
from texts import MAKERS, make  # noqa: E402

MB = 1_000_000
LINEAR_RATIO = 1.3
MEMORY_RATIO = 12.0


class Run(NamedTuple):
    """One process: seconds of processor time, and the peak memory above that of the interpreter with the package loaded."""

    parse_s: float
    chunk_s: float
    peak_bytes: int
    text_bytes: int
    utf8_bytes: int
    n_blocks: int
    n_chunks: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="1,4,16", help="sizes of the texts in MB of UTF-8")
    parser.add_argument("--cases", default="", help=f"comma separated, of: {', '.join(MAKERS)}")
    parser.add_argument("--methods", default="", help="comma separated; all chunkers by default")
    parser.add_argument("--repeat", type=int, default=2, help="processes per size; small sizes get more")
    parser.add_argument("--json", type=Path, help="also write the numbers to this file")
    parser.add_argument("--make", nargs=3, metavar=("CASE", "MB", "FILE"), help=argparse.SUPPRESS)
    parser.add_argument("--measure", nargs=2, metavar=("METHOD", "FILE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.make:
        case, size, path = options.make
        Path(path).write_text(make(MAKERS[case][0], int(float(size) * MB)), encoding="utf-8", newline="")
    elif options.measure:
        print(json.dumps(_measure(*options.measure)))
    else:
        _report(options)


def _measure(method: str, path: str) -> Run:
    import qchunker

    baseline = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.process_time()
    document = qchunker.parse(path)
    parsed = time.process_time()
    partition = qchunker.chunk(document, method)
    chunked = time.process_time()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    unit = 1 if sys.platform == "darwin" else 1024
    return Run(
        parsed - started,
        chunked - parsed,
        (peak - baseline) * unit,
        sys.getsizeof(document.text),
        Path(path).stat().st_size,
        len(document.blocks),
        len(partition.chunks),
    )


def _child(*arguments: str) -> str:
    done = subprocess.run([sys.executable, __file__, *arguments], check=True, capture_output=True, text=True)
    return done.stdout


def _report(options: argparse.Namespace) -> None:
    import qchunker

    sizes = [float(size) for size in options.sizes.split(",")]
    cases = options.cases.split(",") if options.cases else list(MAKERS)
    methods = options.methods.split(",") if options.methods else list(qchunker.CHUNKERS)
    facts = versions()
    print(" · ".join(f"{name} {value}" for name, value in facts.items()), "\n")
    print("| case | method |", " | ".join(f"s/MB at {size:g} MB" for size in sizes), end=" | ")
    print("median at largest | parse share | growth | peak / text | peak / UTF-8 | chunks | over |")
    print("|---|---|" + "---|" * (len(sizes) + 7))
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            paths = {size: str(Path(folder, f"{size:g}.{MAKERS[case][1]}")) for size in sizes}
            for size, path in paths.items():
                _child("--make", case, str(size), path)
            for row in _case(case, methods, paths, options.repeat):
                rows.append(row)
                print(_line(row, sizes), flush=True)
    if options.json:
        text = json.dumps({"versions": facts, "rows": rows}, indent=1, ensure_ascii=False)
        options.json.write_text(text + "\n", encoding="utf-8")


def _case(case: str, methods: list[str], paths: dict[float, str], repeat: int) -> list[dict]:
    largest = max(paths)
    runs: dict[tuple[str, float], list[Run]] = defaultdict(list)
    # Rounds are interleaved, so that a busy moment of the machine does not hit one method or size alone.
    for turn in range(repeat + 2):
        for method in methods:
            for size, path in paths.items():
                if turn < repeat or size < largest / 2:
                    runs[method, size].append(Run(*json.loads(_child("--measure", method, path))))
    return [_row(case, method, {size: runs[method, size] for size in paths}) for method in methods]


def _row(case: str, method: str, runs: dict[float, list[Run]]) -> dict:
    per_mb = {
        size: sorted((run.parse_s + run.chunk_s) * MB / run.utf8_bytes for run in some) for size, some in runs.items()
    }
    smallest, largest = min(runs), max(runs)
    best = min(runs[largest], key=lambda run: run.parse_s + run.chunk_s)
    growth = per_mb[largest][0] / per_mb[smallest][0]
    peak = max(run.peak_bytes for run in runs[largest])
    over = ["time"] if growth > LINEAR_RATIO else []
    if peak > MEMORY_RATIO * best.text_bytes:
        over.append("memory")
    return {
        "case": case,
        "method": method,
        "min_s_per_mb": {f"{size:g}": values[0] for size, values in per_mb.items()},
        "median_s_per_mb": {f"{size:g}": statistics.median(values) for size, values in per_mb.items()},
        "parse_s": best.parse_s,
        "chunk_s": best.chunk_s,
        "growth": growth,
        "peak_per_text": peak / best.text_bytes,
        "peak_per_utf8": peak / best.utf8_bytes,
        "n_blocks": best.n_blocks,
        "n_chunks": best.n_chunks,
        "over": over,
    }


def _line(row: dict, sizes: list[float]) -> str:
    cells = [row["case"], row["method"]]
    cells += [f"{row['min_s_per_mb'][f'{size:g}']:.3f}" for size in sizes]
    cells += [
        f"{row['median_s_per_mb'][f'{max(sizes):g}']:.3f}",
        f"{row['parse_s'] / (row['parse_s'] + row['chunk_s']):.0%}",
        f"{row['growth']:.2f}",
        f"{row['peak_per_text']:.1f}",
        f"{row['peak_per_utf8']:.1f}",
        f"{row['n_chunks']}",
        "**" + ", ".join(row["over"]) + "**" if row["over"] else "",
    ]
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main()
