"""Compare Markdown parsers: CommonMark examples passed, source positions, speed. Prints a Markdown table.

    python benchmarks/markdown_parsers.py --spec spec.txt     # spec.txt of the npm package commonmark-spec

markdown-it-py and comrak are optional; one that is not installed is said to be missing.
"""

from __future__ import annotations

import argparse
import importlib
import re
import time
from collections.abc import Callable
from pathlib import Path

import pyromark
from selectolax.lexbor import LexborHTMLParser

_EXAMPLE = re.compile(r"^`{32} example\n(.*?)^\.\n(.*?)^`{32}$", re.MULTILINE | re.DOTALL)


def _pyromark() -> tuple[Callable[[str], str], str]:
    return lambda text: pyromark.html(text), "byte ranges of every block and inline"


def _markdown_it() -> tuple[Callable[[str], str], str]:
    module = importlib.import_module("markdown_it")
    return module.MarkdownIt("commonmark").render, "line ranges of blocks"


def _comrak() -> tuple[Callable[[str], str], str]:
    module = importlib.import_module("comrak")
    render = module.RenderOptions()
    render.unsafe_ = True  # the examples hold raw HTML
    return (
        lambda text: module.render_markdown(text, render_options=render),
        "lines and columns inside rendered HTML only",
    )


PARSERS = {"pyromark": _pyromark, "markdown-it-py": _markdown_it, "comrak": _comrak}


def _same(html: str, expected: str) -> bool:
    """Equal as trees: how a parser writes entities and empty elements does not count."""
    return LexborHTMLParser(html.strip()).html == LexborHTMLParser(expected.strip()).html


def _speed(render: Callable[[str], str], text: str) -> float:
    best = min(_timed(render, text) for _ in range(5))
    return len(text.encode()) / 1e6 / best


def _timed(render: Callable[[str], str], text: str) -> float:
    start = time.perf_counter()
    render(text)
    return time.perf_counter() - start


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--spec", type=Path, required=True)
    spec = arguments.parse_args().spec.read_text(encoding="utf-8")
    examples = [(a.replace("→", "\t"), b.replace("→", "\t")) for a, b in _EXAMPLE.findall(spec)]
    print(
        f"{len(examples)} examples\n\n"
        "| parser | examples passed | source positions | to HTML, MB/s |\n|---|---|---|---|"
    )
    for name, load in PARSERS.items():
        try:
            render, positions = load()
        except ImportError:
            print(f"| {name} | missing | | |")
            continue
        passed = sum(_same(render(markdown), expected) for markdown, expected in examples)
        print(f"| {name} | {passed} | {positions} | {_speed(render, spec * 5):.1f} |")


if __name__ == "__main__":
    main()
