"""``qchunker view``: look at chunks."""

from __future__ import annotations

import click

from qchunker.cli.terminal import Output, refuse_overwriting
from qchunker.errors import InputError, QChunkerError
from qchunker.rows import read_rows, texts_of_chunks, write_text
from qchunker.view.page import render_page
from qchunker.view.scores import scores_of
from qchunker.view.terminal import print_chunks


@click.command()
@click.argument("chunks", metavar="CHUNKS.jsonl")
@click.option("--documents", metavar="FILE.jsonl", help="Texts that the spans point into.")
@click.option("--scores", metavar="FILE.jsonl", help="Numbers of these chunks, from qchunker score -o.")
@click.option("-o", "--output", metavar="FILE.html", help="Write one page; without it, print to the terminal.")
@click.option("--limit", type=click.IntRange(1), help="Chunks per document in the terminal.")
def view(chunks: str, documents: str | None, scores: str | None, output: str | None, limit: int | None) -> None:
    """Look at chunks: where the cuts are, why, and what is embedded."""
    refuse_overwriting(output, chunks, documents, scores)
    rows = read_rows(chunks, ("doc_id", "start", "end"))
    numbers = scores_of(read_rows(scores, ("doc_id", "n_chunks")), chunks) if scores else []
    try:
        texts = read_rows(documents, ("doc_id", "text")) if documents else texts_of_chunks(rows)
        if output is None:
            print_chunks(Output(highlight=False, emoji=False), texts, rows, numbers, limit=limit)
        else:
            write_text(output, render_page(texts, rows, numbers))
    except (TypeError, ValueError, AttributeError, OverflowError, MemoryError) as error:
        if isinstance(error, QChunkerError):
            raise
        raise InputError(f"{chunks}: a field of a row holds what it should not: {error}") from error
