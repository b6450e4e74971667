"""``qchunker review`` and ``qchunker complete``: what chunks of any tool lack, and the chunks with it."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import click
from rich.progress import Progress

from qchunker.cli.terminal import Output, count, errors, maybe_rows, refuse_overwriting, shown
from qchunker.errors import InputError
from qchunker.partitions import documents_of, partitions_of, structured
from qchunker.pipeline import complete as complete_partition
from qchunker.pipeline import review as review_partition
from qchunker.rows import Row, chunk_rows, open_rows, read_rows, review_rows, texts_of_chunks
from qchunker.types import Document, Review, Span


@click.command()
@click.argument("chunks", metavar="CHUNKS.jsonl")
@click.option("--documents", metavar="FILE.jsonl", help="Texts that the spans point into.")
@click.option("-o", "--output", metavar="FILE.jsonl", help="Write a row per chunk; without it, print a summary.")
def review(chunks: str, documents: str | None, output: str | None) -> None:
    """Find what chunks need and lack: definitions, antecedents, headers, exceptions ...

    What completion has added to a chunk, it does not lack any more.
    """
    refuse_overwriting(output, chunks, documents)
    kinds: Counter[str] = Counter()
    n_chunks = n_lacking = 0
    with maybe_rows(output, "reviews") as write:
        for document, rows in _documents(chunks, documents):
            reviews = review_partition(document, _spans(rows))
            found = review_rows(document, [_without_added(*pair) for pair in zip(reviews, rows, strict=True)])
            write(found)
            n_chunks += len(found)
            n_lacking += sum(row["needs_completion"] for row in found)
            kinds.update(gap["kind"] for row in found for gap in row["missing"] if gap["necessity"] == "required")
    console = errors if output else Output(highlight=False)
    what = "; what they lack:" if kinds else ""
    console.print(f"{n_lacking} of {count(n_chunks, 'chunk')} need completion{what}")
    for kind, number in kinds.most_common():
        console.print(f"  {number:>6,}  {kind.replace('_', ' ')}")


@click.command()
@click.argument("chunks", metavar="CHUNKS.jsonl")
@click.option("--documents", metavar="FILE.jsonl", help="Texts that the spans point into.")
@click.option("-o", "--output", metavar="FILE", help=".jsonl, .parquet or .md; standard output when not given.")
@click.option("--max-chars", type=click.IntRange(1), help="Hard limit of the embedded text.")
def complete(chunks: str, documents: str | None, output: str | None, max_chars: int | None) -> None:
    """Add to chunks what they lack, word for word from their documents. Rows keep all their other fields."""
    refuse_overwriting(output, chunks, documents)
    n_chunks = n_completed = 0
    with open_rows(output, sys.stdout) as write:
        for document, rows in _documents(chunks, documents):
            partition = complete_partition(document, _spans(rows), max_chars=max_chars)
            write([_merged(row, made) for row, made in zip(rows, chunk_rows(partition), strict=True)])
            n_chunks += len(rows)
            n_completed += sum(bool(chunk.added) for chunk in partition.chunks)
    if output not in (None, "-"):
        errors.print(f"{n_completed} of {count(n_chunks, 'chunk')} completed in {shown(str(output))}", soft_wrap=True)


def _without_added(review: Review, row: Row) -> Review:
    """The gaps of a chunk that the row's own additions do not fill."""
    filled = {tuple(span) for one in row.get("added") or () for span in one["evidence"]}
    kept = tuple(gap for gap in review.missing if not any(_meets(span, filled) for span in gap.evidence))
    return Review(review.start, review.end, kept)


def _meets(span: Span, spans: Iterable[tuple[int, int]]) -> bool:
    return any(start < span.end and span.start < end for start, end in spans)


def _merged(row: Row, made: Row) -> Row:
    """The row with what completion makes; what it has itself, such as its question and page, stays."""
    new = {name: made[name] for name in ("completed_text", "added", "embedding_text")}
    return made | {name: value for name, value in row.items() if value is not None} | new


def _spans(rows: Sequence[Row]) -> list[Span]:
    return [Span(row["start"], row["end"]) for row in rows]


def _documents(chunks: str, documents: str | None) -> Iterator[tuple[Document, list[Row]]]:
    """The documents that have chunks, with their structure, and the rows; a progress bar when a person is looking.

    Rows may overlap and be unsorted, as they are; those without text are left out and counted.
    """
    rows = read_rows(chunks, ("doc_id", "start", "end"))
    try:
        texts = read_rows(documents, ("doc_id", "text")) if documents else texts_of_chunks(rows)
    except (TypeError, AttributeError) as error:
        raise InputError(f"{chunks}: a field of a row holds what it should not: {error}") from error
    known = documents_of(texts, documents or chunks)
    partitions_of(rows, known, chunks)  # checks every row
    of_document: dict[str, list[Row]] = {}
    for row in rows:
        if known[row["doc_id"]].text[row["start"] : row["end"]].strip():
            of_document.setdefault(row["doc_id"], []).append(row)
    if not of_document:
        raise InputError(f"{chunks}: holds no chunk with text", hint="chunk the documents first")
    n_blank = len(rows) - sum(map(len, of_document.values()))
    if n_blank:
        errors.print(f"[yellow]left out[/] {count(n_blank, 'chunk')} without text")
    wanted = [row for row in texts if row["doc_id"] in of_document]
    with Progress(console=errors, transient=True, disable=not errors.is_terminal) as progress:
        for row in progress.track(wanted, description="reading"):
            yield structured(known[row["doc_id"]], row), of_document[row["doc_id"]]
