"""A report of text, tables and plots, written as Markdown or as one page of HTML that needs nothing else."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

_STYLE = """
:root { color-scheme: light dark; --line: #8884; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; font-size: .9rem; }
th, td { padding: .25rem .6rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
.wide { overflow-x: auto; } figure { margin: 1rem 0; background: #fff; max-width: 100%; overflow-x: auto; }
figcaption { color: #555; background: #fff; font-size: .85rem; padding: .2rem; }
code { font-size: .85em; word-break: break-all; }
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


class Table(NamedTuple):
    """Rows under a header; every cell is text."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]


class Plot(NamedTuple):
    """An SVG with what it shows."""

    caption: str
    svg: str


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a report.

    Args:
        title: its heading.
        paragraphs: of plain text.
        tables: after the text.
        plots: after the tables; left out in Markdown.
        level: of the heading, 2 for a section and 3 for a part of it.
    """

    title: str
    paragraphs: Sequence[str] = ()
    tables: Sequence[Table] = ()
    plots: Sequence[Plot] = ()
    level: int = 2


def as_markdown(title: str, sections: Sequence[Section]) -> str:
    """The report as Markdown, without its plots."""
    parts = [f"# {_plain(title)}"]
    for section in sections:
        parts.append(f"{'#' * section.level} {_plain(section.title)}")
        parts.extend(map(_plain, section.paragraphs))
        for table in section.tables:
            lines = [table.header, ["---"] * len(table.header), *table.rows]
            parts.append("\n".join(f"| {' | '.join(_cell(one) for one in line)} |" for line in lines))
    return "\n\n".join(parts) + "\n"


def as_page(title: str, sections: Sequence[Section]) -> str:
    """The report as one page of HTML: no script, nothing is loaded."""
    body = [f"<h1>{html.escape(title)}</h1>"]
    for section in sections:
        body.append(f"<h{section.level}>{html.escape(section.title)}</h{section.level}>")
        body.extend(f"<p>{_inline(text)}</p>" for text in section.paragraphs)
        body.extend(_table(table) for table in section.tables)
        # The SVG is our own; what names it holds was escaped when it was drawn.
        body.extend(
            f"<figure>{plot.svg}<figcaption>{html.escape(plot.caption)}</figcaption></figure>" for plot in section.plots
        )
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><title>{html.escape(title)}</title>'
        f"<style>{_STYLE}</style></head>\n<body>\n" + "\n".join(body) + "\n</body></html>\n"
    )


def _table(table: Table) -> str:
    head = "".join(f"<th>{html.escape(one)}</th>" for one in table.header)
    rows = "\n".join("<tr>" + "".join(f"<td>{_inline(one)}</td>" for one in row) + "</tr>" for row in table.rows)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>\n{rows}\n</tbody></table></div>'


def _inline(text: str) -> str:
    """Escaped text with ``code`` and **strong** as in Markdown."""
    parts = html.escape(text).split("`")
    for at in range(len(parts)):
        if at % 2 and at < len(parts) - 1:
            parts[at] = f"<code>{parts[at]}</code>"
        else:
            strong = parts[at].split("**")
            parts[at] = "".join(
                f"<strong>{one}</strong>" if n % 2 and n < len(strong) - 1 else one for n, one in enumerate(strong)
            )
    return "".join(parts)


def _cell(text: str) -> str:
    return _plain(text).replace("|", "\\|")


def _plain(text: str) -> str:
    """Text that is no markup on a page that is made of the Markdown."""
    return printable(text).replace("<", "&lt;").replace("![", "!\\[")


def printable(text: str) -> str:
    """Text in one line that acts on no terminal."""
    return "".join(char if char.isprintable() else " " if char.isspace() else f"\\x{ord(char):02x}" for char in text)
