"""Time and memory of parsing and chunking on texts of growing size and awkward shape.

Run ``python benchmarks/scaling.py``; it prints a Markdown table. Every case runs in processes
of its own, with one thread. Columns are explained in ``benchmarks/README.md``.
"""

from __future__ import annotations

import argparse
import gc
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "benchmarks")]

from machine import versions  # noqa: E402
from texts import MAKERS, make  # noqa: E402

MB = 1_000_000
LINEAR_RATIO = 1.3
MEMORY_RATIO = 12.0
TIMEOUT_S = 240
_SMALL_PASSES = 3


class Timing(NamedTuple):
    """Processor seconds of one pass over one text."""

    mb: float
    parse_s: float
    chunk_s: float

    @property
    def per_mb(self) -> float:
        return (self.parse_s + self.chunk_s) / self.mb


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="1,4,16", help="sizes of the texts in MB of UTF-8")
    parser.add_argument("--cases", default="", help=f"comma separated, of: {', '.join(MAKERS)}")
    parser.add_argument("--methods", default="", help="comma separated; all chunkers by default")
    parser.add_argument("--rounds", type=int, default=2, help="passes over every size")
    parser.add_argument("--json", type=Path, help="also write the numbers to this file")
    parser.add_argument("--make", nargs=3, metavar=("CASE", "MB", "FILE"), help=argparse.SUPPRESS)
    parser.add_argument("--time", nargs="+", help=argparse.SUPPRESS)
    parser.add_argument("--memory", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.make:
        case, size, path = options.make
        Path(path).write_text(make(MAKERS[case][0], int(float(size) * MB)), encoding="utf-8", newline="")
    elif options.time:
        method, *paths = options.time
        print(json.dumps(_time(method, paths, options.rounds)))
    elif options.memory:
        print(json.dumps(_memory(*options.memory)))
    else:
        _report(options)


def _time(method: str, paths: list[str], rounds: int) -> list[list[Timing]]:
    """Passes over texts in rising size, per round; the smallest stands around each larger one, several times.

    The speed of a shared machine drifts within seconds, so that only neighbours in time can be compared.
    """
    small, *larger = paths
    found = []
    for _ in range(rounds):
        timings = []
        for path in larger:
            timings += [_pass(method, small) for _ in range(_SMALL_PASSES)]
            timings.append(_pass(method, path))
        timings += [_pass(method, small) for _ in range(_SMALL_PASSES)]
        found.append(timings)
    return found


def _pass(method: str, path: str) -> Timing:
    import qchunker

    gc.collect()
    started = time.process_time()
    document = qchunker.parse(path)
    parsed = time.process_time()
    qchunker.chunk(document, method)
    chunked = time.process_time()
    return Timing(Path(path).stat().st_size / MB, parsed - started, chunked - parsed)


def _memory(method: str, path: str) -> dict[str, int]:
    """Peaks of a fresh process above that of the interpreter with the package loaded."""
    import qchunker

    def peak() -> int:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)

    baseline = peak()
    document = qchunker.parse(path)
    parsed = peak()
    partition = qchunker.chunk(document, method)
    return {
        "parse_bytes": parsed - baseline,
        "peak_bytes": peak() - baseline,
        "text_bytes": sys.getsizeof(document.text),
        "utf8_bytes": Path(path).stat().st_size,
        "n_blocks": len(document.blocks),
        "n_chunks": len(partition.chunks),
    }


def _child(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, __file__, *arguments], check=True, capture_output=True, text=True, timeout=TIMEOUT_S
    )
    return done.stdout


def _report(options: argparse.Namespace) -> None:
    import qchunker

    sizes = sorted(float(size) for size in options.sizes.split(","))
    cases = options.cases.split(",") if options.cases else list(MAKERS)
    methods = options.methods.split(",") if options.methods else list(qchunker.CHUNKERS)
    facts = versions()
    print(" · ".join(f"{name} {value}" for name, value in facts.items()), "\n")
    heads = ["case", "method", *(f"s/MB at {size:g} MB" for size in sizes), "median", "parse share", "growth"]
    heads += ["parse peak / text", "peak / text", "peak / UTF-8", "blocks", "chunks", "over"]
    print("| " + " | ".join(heads) + " |")
    print("|---" * len(heads) + "|")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            paths = [str(Path(folder, f"{size:g}.{MAKERS[case][1]}")) for size in sizes]
            for size, path in zip(sizes, paths, strict=True):
                _child("--make", case, str(size), path)
            for method in methods:
                try:
                    rounds = json.loads(_child("--rounds", str(options.rounds), "--time", method, *paths))
                    memory = json.loads(_child("--memory", method, paths[-1]))
                except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as error:
                    reason = "no result in time" if isinstance(error, subprocess.TimeoutExpired) else "crash"
                    rows.append({"case": case, "method": method, "over": [reason]})
                    print(f"| {case} | {method} |" + " |" * (len(heads) - 3) + f" **{reason}** |", flush=True)
                    continue
                passes = [[Timing(*timing) for timing in timings] for timings in rounds]
                rows.append(_row(case, method, sizes, passes, memory))
                print(_line(rows[-1]), flush=True)
    if options.json:
        text = json.dumps({"versions": facts, "rows": rows}, indent=1, ensure_ascii=False)
        options.json.write_text(text + "\n", encoding="utf-8")


def _row(case: str, method: str, sizes: list[float], rounds: list[list[Timing]], memory: dict[str, int]) -> dict:
    step = _SMALL_PASSES + 1
    by_size: dict[float, list[Timing]] = {size: [] for size in sizes}
    growths = []
    for timings in rounds:
        for index, size in enumerate(sizes[1:], 1):
            by_size[size].append(timings[index * step - 1])
        small = [timing for index, timing in enumerate(timings) if index % step != _SMALL_PASSES]
        by_size[sizes[0]] += small
        neighbours = [timing.per_mb for timing in small[-2 * _SMALL_PASSES :]]
        growths.append(timings[(len(sizes) - 1) * step - 1].per_mb / statistics.mean(neighbours))
    largest = by_size[sizes[-1]]
    growth = min(growths)
    peak = memory["peak_bytes"]
    over = ["time"] if growth > LINEAR_RATIO else []
    if peak > MEMORY_RATIO * memory["text_bytes"]:
        over.append("memory")
    return {
        "case": case,
        "method": method,
        "min_s_per_mb": [min(timing.per_mb for timing in by_size[size]) for size in sizes],
        "median_s_per_mb": [statistics.median(timing.per_mb for timing in by_size[size]) for size in sizes],
        "parse_share": sum(timing.parse_s for timing in largest)
        / sum(timing.parse_s + timing.chunk_s for timing in largest),
        "growths": growths,
        "growth": growth,
        **memory,
        "over": over,
    }


def _line(row: dict) -> str:
    cells = [row["case"], row["method"]]
    cells += [f"{value:.3f}" for value in row["min_s_per_mb"]]
    cells += [
        f"{row['median_s_per_mb'][-1]:.3f}",
        f"{row['parse_share']:.0%}",
        f"{row['growth']:.2f}",
        f"{row['parse_bytes'] / row['text_bytes']:.1f}",
        f"{row['peak_bytes'] / row['text_bytes']:.1f}",
        f"{row['peak_bytes'] / row['utf8_bytes']:.1f}",
        str(row["n_blocks"]),
        str(row["n_chunks"]),
        "**" + ", ".join(row["over"]) + "**" if row["over"] else "",
    ]
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main()
