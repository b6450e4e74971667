"""A chunking in the terminal: the same reading of the rows as the page, also without colours."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from qchunker.types import Span
from qchunker.view.layout import (
    CUT_REASONS,
    FORCED_CUTS,
    INVISIBLE,
    ChunkView,
    DocumentView,
    Row,
    Section,
    read_views,
)

_BARS = 12
_GIANT_RATIO = 4
_LABEL_WIDTH = 17
_COUNT_WIDTH = 8
_NATURAL_CUTS = frozenset({"start", "heading", "block"})
_LINK_WORDS = {"limits": "limits", "limited_by": "is limited by"}
_FLAG_WORDS = {
    "overlap": "overlap",
    "differs": "text differs from the span",
    "short": "short",
    "invisible": "hidden characters",
}
_LINE_BREAKS = re.compile("[\n\t]")
_INDENT = "  "
_LEAST_WIDTH = 8


def print_chunks(
    console: Console,
    documents: Sequence[Row],
    chunks: Sequence[Row],
    scores: Sequence[Row] = (),
    *,
    limit: int | None = None,
) -> None:
    """Print every document with its chunks, then the chunk sizes of all documents.

    Args:
        console: where to print; its width and colours are respected.
        documents: rows with at least ``doc_id`` and ``text``.
        chunks: rows with at least ``doc_id``, ``start`` and ``end``.
        scores: rows of ``qchunker score -o``, of these chunks only.
        limit: how many chunks of each document are printed; None prints all.

    Raises:
        InputError: if a row lacks a required field, points outside its document, or names an
            unknown document.
    """
    views = read_views(documents, chunks, scores)
    targets: dict[str, tuple[DocumentView, ChunkView]] = {}
    for document in views:
        for chunk in document.chunks:
            targets.setdefault(chunk.id, (document, chunk))
    for document in views:
        _print_document(console, document, targets, limit)
    _print_sizes(console, [chunk.size for document in views for chunk in document.chunks])


def visible(text: str, *, one_line: bool = False) -> Text:
    """The text with every control, direction and other unseen character written out."""
    shown = Text(overflow="fold")
    text = text.replace("\r\n", "\n")
    position = 0
    for match in INVISIBLE.finditer(text.replace("\r", "\0")):
        shown.append(text[position : match.start()])
        shown.append(_name(text[match.start()]), style="reverse")
        position = match.end()
    shown.append(text[position:])
    if one_line and _LINE_BREAKS.search(shown.plain):
        return Text(_LINE_BREAKS.sub(lambda match: _name(match[0]), shown.plain), overflow="fold")
    return shown


def _name(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else f"<U+{code:04X}>"


def _print_document(
    console: Console,
    document: DocumentView,
    targets: Mapping[str, tuple[DocumentView, ChunkView]],
    limit: int | None,
) -> None:
    console.print(visible(document.source, one_line=True), style="bold", highlight=False)
    console.print(_facts(document), highlight=False)
    if document.score is not None:
        console.print(visible(document.score.summary, one_line=True), highlight=False)
    for section in document.sections:
        if limit is not None and section.chunk is not None and section.chunk >= limit:
            console.print()
            more = len(document.chunks) - limit
            console.print(Text(f"{more:,} more chunk{'s' * (more != 1)} of this document", style="dim"))
            break
        console.print()
        if section.chunk is None:
            _print_lost(console, document, section)
        else:
            _print_section(console, document, section, document.chunks[section.chunk], targets)
    console.print()


def _facts(document: DocumentView) -> Text:
    facts = Text(f"{len(document.chunks):,} chunk{'s' * (len(document.chunks) != 1)}")
    facts.append(f" · {len(document.text):,} characters")
    if document.sizes:
        facts.append(f" · size mean {document.sizes.mean:,.0f}, median {document.sizes.median:,.0f}")
    oversize = sum("oversize" in chunk.flags for chunk in document.chunks)
    facts.append(f" · oversize {oversize}", style="yellow" if oversize else "")
    lost = sum(_extent(section)[1] - _extent(section)[0] for section in document.lost())
    if lost:
        facts.append(f" · {lost:,} characters in no chunk", style="bold red")
    return facts


def _extent(section: Section) -> Span:
    return Span(section.pieces[0].span.start, section.pieces[-1].span.end)


def _print_lost(console: Console, document: DocumentView, section: Section) -> None:
    start, end = _extent(section)
    title = Text(f"NO CHUNK HOLDS THIS TEXT · {start}-{end} · {end - start:,} chars", style="bold red")
    console.print(Rule(title, align="left", style="red"))
    _print_body(console, visible(document.text[start:end]), "red")


def _print_section(
    console: Console,
    document: DocumentView,
    section: Section,
    chunk: ChunkView,
    targets: Mapping[str, tuple[DocumentView, ChunkView]],
) -> None:
    color = _color(chunk)
    if section.continues:
        console.print(Rule(Text(f"{chunk.number} continues"), align="left", style="dim"))
    else:
        title = Text(f"{chunk.number} · {chunk.span.start}-{chunk.span.end} · {chunk.size:,} chars", style="bold")
        console.print(Rule(title, align="left", style=color))
        for line in _explanation(chunk, color, document, targets):
            console.print(line, highlight=False)
        spans = [("lead-in", chunk.lead_in)] if chunk.lead_in else []
        for label, span in [*spans, *(("repeated header", span) for span in chunk.context)]:
            quote = visible(document.text[slice(*span)].strip())
            _print_body(console, Text.assemble(f"[{label}] ", quote, overflow="fold"), "dim")
    _print_body(console, _body(document, section), "")


def _color(chunk: ChunkView) -> str:
    if chunk.cut in FORCED_CUTS:
        return "yellow"
    return "cyan" if chunk.cut in _NATURAL_CUTS else "blue"


def _explanation(
    chunk: ChunkView,
    color: str,
    document: DocumentView,
    targets: Mapping[str, tuple[DocumentView, ChunkView]],
) -> Iterator[Text]:
    reason = Text.assemble("starts here: ", visible(CUT_REASONS.get(chunk.cut, chunk.cut), one_line=True))
    reason.stylize(color)
    if chunk.independence is not None:
        reason.append(f" · independence from the chunk before {chunk.independence:.2f}")
    yield reason
    details = [visible(str(chunk.row["kind"]), one_line=True)] if chunk.row.get("kind") else []
    if chunk.row.get("page") is not None:
        details.append(Text.assemble("page ", visible(str(chunk.row["page"]), one_line=True)))
    if chunk.heading_path:
        details.append(visible(" > ".join(chunk.heading_path), one_line=True))
    if details:
        yield Text(" · ").join(details)
    if chunk.row.get("oversize"):
        yield Text.assemble("oversize: ", visible(str(chunk.row["oversize"]), one_line=True), style="bold yellow")
    flags = [_FLAG_WORDS[flag] for flag in chunk.flags if flag in _FLAG_WORDS]
    if flags:
        yield Text(", ".join(flags), style="yellow")
    for link in chunk.row.get("links") or ():
        yield _link(link, document, targets)
    if chunk.row.get("question"):
        yield Text.assemble("answers: ", visible(str(chunk.row["question"]), one_line=True), style="green")
    for item in chunk.row.get("added") or ():
        if isinstance(item, Mapping) and item.get("text"):
            kind = str(item.get("kind") or "knowledge").replace("_", " ")
            words = visible(str(item["text"]).strip(), one_line=True)
            yield Text.assemble("+ ", visible(kind, one_line=True), ": ", words, style="green")
    for item in chunk.row.get("refused") or ():
        if isinstance(item, Mapping) and item.get("reason"):
            kind = str(item.get("kind") or "knowledge").replace("_", " ")
            reason = visible(str(item["reason"]), one_line=True)
            yield Text.assemble("refused ", visible(kind, one_line=True), ": ", reason, style="yellow")


def _link(link: Row, document: DocumentView, targets: Mapping[str, tuple[DocumentView, ChunkView]]) -> Text:
    kind, target = str(link.get("kind") or "is linked to"), str(link.get("target"))
    line = Text.assemble("-> ", visible(_LINK_WORDS.get(kind, kind), one_line=True), " ", style="magenta")
    if target not in targets:
        return line.append_text(visible(target, one_line=True)).append(" (not in these chunks)")
    home, chunk = targets[target]
    line.append(f"chunk {chunk.number}")
    if home is not document:
        line.append(" of ").append_text(visible(home.source, one_line=True))
    if chunk.heading_path:
        line.append(": ").append_text(visible(chunk.heading_path[-1], one_line=True))
    return line


def _body(document: DocumentView, section: Section) -> Text:
    body = Text(overflow="fold")
    for piece in section.pieces:
        text = visible(document.text[slice(*piece.span)])
        if piece.shared_with and piece.owner is not None:
            others = ", ".join(str(index + 1) for index in piece.shared_with)
            body.append_text(Text.assemble(f"[also in chunk {others}: ", text, "]", style="italic"))
        else:
            text.stylize("bold" if piece.style == "heading" else "")
            body.append_text(text)
    body.rstrip()
    return body


def _print_body(console: Console, text: Text, style: str) -> None:
    if not text.plain.strip():
        return
    # Stripping line breaks at both ends keeps the indentation of a first line of code.
    first = len(text.plain) - len(text.plain.lstrip("\n"))
    text = text[first:]
    text.rstrip()
    text.stylize(style)
    lines = text.wrap(console, max(_LEAST_WIDTH, console.width - len(_INDENT)), overflow="fold")
    for line in lines:
        line.rstrip()
    indented = [Text.assemble(_INDENT, line) if line else line for line in lines]
    console.print(Text("\n").join(indented), soft_wrap=True, highlight=False)


def _print_sizes(console: Console, sizes: Sequence[int]) -> None:
    if not sizes:
        console.print("no chunks")
    if len(sizes) < 2:
        return
    # A few giants must not press all other bars into one: the last bar is open upwards.
    step = _nice_step(min(max(sizes), _GIANT_RATIO * median(sizes)) / _BARS)
    last = min(_BARS, max(sizes) // step)
    counts = [0] * (last + 1)
    for size in sizes:
        counts[min(last, size // step)] += 1
    mark = "#" if console.options.ascii_only else "█"
    width = max(_LEAST_WIDTH, console.width - _LABEL_WIDTH - _COUNT_WIDTH)
    console.print(Text("Chunk sizes in characters", style="bold"))
    for index, count in enumerate(counts):
        until = f"{max(sizes):,}" if index == last else f"{(index + 1) * step - 1:,}"
        label = (until if step == 1 and index < last else f"{index * step:,}-{until}").rjust(_LABEL_WIDTH - 1)
        bar = mark * math.ceil(width * count / max(counts))
        console.print(Text.assemble(label, " ", (bar, "cyan"), f" {count:,}" if count else ""), highlight=False)


def _nice_step(least: float) -> int:
    power: int = 10 ** max(0, math.floor(math.log10(max(least, 1))))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least)
