"""``qchunker score`` and ``qchunker compare``: how good chunkings are, and where they differ."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from qchunker.batch import Failure
from qchunker.cli.scorer import ChunkFile, Scorer, print_plan
from qchunker.cli.terminal import Output, errors, finish, maybe_rows, progress_of, refuse_overwriting, shown
from qchunker.comparison import (
    SCORE_FIELDS,
    Difference,
    Row,
    bootstrap_interval,
    difference,
    histogram,
    lengths_match,
    mean_row,
    round_step,
    score_row,
)  # fmt: skip
from qchunker.config import ScoringConfig
from qchunker.errors import ConfigError, InputError, ScoringError
from qchunker.models.load import DEFAULT_EMBEDDER, DEFAULT_LM
from qchunker.partitions import RowPartition, documents_of, partitions_of, whole_characters
from qchunker.pipeline import score_all
from qchunker.rows import read_rows, texts_of_chunks
from qchunker.scoring.chunkscore import unscorable
from qchunker.types import ChunkScore, Document, Span

_SHOWN_AROUND = 34
_COLUMNS = ("chunks", "chars", "LI", "SD", "score", "LI z", "SD z", "score z")


def _scoring(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of everything that scores."""
    default = ScoringConfig()
    for option in (
        click.option("--seed", type=int, default=default.seed, show_default=True, help="Of the random partitions."),
        click.option("--li-sample", type=int, default=default.li_sample, show_default=True,
                     help="Boundaries of random partitions that the language model reads, at least 8; 0 reads all."),
        click.option("--draws", type=int, default=default.draws, show_default=True,
                     help="Random partitions to compare with, at least 2; 0: raw scores only."),
        click.option("--lm", default=DEFAULT_LM, show_default=True,
                     help="Language model; auto: by language, none: dispersion only."),
        click.option("--embedder", default=DEFAULT_EMBEDDER, show_default=True, help="See qchunker models list."),
        click.option("--documents", metavar="FILE.jsonl", help="Texts that the spans point into."),
    ):  # fmt: skip
        command = option(command)
    return command


def _scorer(embedder: str, lm: str, draws: int, li_sample: int, seed: int) -> Scorer:
    config = ScoringConfig(draws=draws, li_sample=li_sample or None, seed=seed)
    return Scorer(embedder, lm, config, os.environ.get("QCHUNKER_API_KEY"))


@click.command()
@click.argument("chunks", metavar="CHUNKS.jsonl...", nargs=-1, required=True)
@_scoring
@click.option("-o", "--output", metavar="FILE.jsonl", help="Also write all numbers, for qchunker view --scores.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per document and file, then one mean per file.")
@click.option("--dry-run", is_flag=True, help="Tell tokens and time; score nothing.")
def score(
    chunks: tuple[str, ...], documents: str | None, output: str | None, as_json: bool, dry_run: bool, **settings: Any
) -> None:
    """Score chunkings with ChunkScore, several side by side."""
    refuse_overwriting(output, *chunks, documents)
    texts, files = _read(chunks, documents)
    scorer = _scorer(**settings)
    if dry_run:
        print_plan(texts, files, scorer, as_json=as_json)
        return
    failures: list[Failure] = []
    rows: list[Row] = []
    with maybe_rows(output, "scores") as write:
        for document, scores in _scored(texts, files, scorer, failures):
            found = [score_row(result, document, name, spans) for name, result, spans in scores]
            write(found)
            for row in found:
                del row["gram"]
                rows.append(row)
    means = [mean_row([row for row in rows if row["chunks"] == file.name], file.name) for file in files]
    if as_json:
        sys.stdout.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in [*rows, *means])
    else:
        _print_scores(rows, means)
    _print_notes(rows)
    finish(len(texts), one_per_document(failures))


@click.command()
@click.argument("a", metavar="A.jsonl")
@click.argument("b", metavar="B.jsonl")
@_scoring
@click.option("--no-score", is_flag=True, help="Boundaries and sizes only; needs no model.")
@click.option(
    "--limit", type=click.IntRange(0), default=5, show_default=True, help="Differing cuts shown per document."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object per document.")
def compare(a: str, b: str, documents: str | None, no_score: bool, limit: int, as_json: bool, **settings: Any) -> None:
    """Compare two chunkings: where they cut, how long their chunks are, and how they score."""
    texts, files = _read((a, b), documents)
    failures: list[Failure] = []
    rows: list[Row] = []
    if not no_score:
        for document, scores in _scored(texts, files, _scorer(**settings), failures):
            rows.extend(score_row(result, document, name, spans, with_gram=False) for name, result, spans in scores)
    differences = {
        document.id: difference(document.text, *(file.partitions[document.id].spans for file in files))
        for document in texts
        if all(document.id in file.partitions for file in files)
    }
    if as_json:
        for document in texts:
            sys.stdout.write(json.dumps(_comparison_row(document, differences, rows), ensure_ascii=False) + "\n")
    else:
        _print_comparison(texts, files, differences, rows, limit)
    _print_notes([*rows, *({"notes": p.notes} for file in files for p in file.partitions.values())])
    finish(len(texts), one_per_document(failures))


def _read(chunks: Sequence[str], documents: str | None) -> tuple[list[Document], list[ChunkFile]]:
    if len(set(chunks)) < len(chunks):
        raise ConfigError("chunks", "the same file is named twice")
    rows = {name: read_rows(name, ("doc_id", "start", "end")) for name in chunks}
    try:
        texts = read_rows(documents, ("doc_id", "text")) if documents else texts_of_chunks(rows[chunks[0]])
    except (TypeError, AttributeError) as error:
        raise InputError(f"{chunks[0]}: a field of a row holds what it should not: {error}") from error
    known = documents_of(texts, documents or chunks[0])
    files = [ChunkFile(whole_characters(name), partitions_of(rows[name], known, name)) for name in chunks]
    for file in files:
        if not file.partitions:
            raise InputError(f"{file.name}: holds no chunk with text", hint="chunk the documents first")
    return list(known.values()), files


def _scored(
    texts: Sequence[Document], files: Sequence[ChunkFile], scorer: Scorer, failures: list[Failure]
) -> Iterator[tuple[Document, list[tuple[str, ChunkScore, tuple[Span, ...]]]]]:
    for number, document in enumerate(texts, 1):
        there = [file for file in files if document.id in file.partitions]
        for file in files:
            if file not in there:
                error = InputError(f"{document.source}: no chunks in {file.name}", hint="chunk it too, or leave it out")
                failures.append(Failure(document.source, error))
        if not there:
            continue
        models = scorer.models_for(document)
        partitions = [file.partitions[document.id].spans for file in there]
        try:
            with progress_of(f"{number} of {len(texts)}") as tell:
                scores = score_all(document, partitions, models, scorer.config, progress=tell)
        except ScoringError as error:
            failures.append(Failure(document.source, InputError(f"{document.source}: {error.reason}", hint=error.hint)))
            continue
        yield (
            document,
            [
                (file.name, _labelled(result, file.partitions[document.id]), file.partitions[document.id].spans)
                for file, result in zip(there, scores, strict=True)
            ],
        )


def _labelled(result: ChunkScore, partition: RowPartition) -> ChunkScore:
    return result.replace(method=partition.method, notes=(*result.notes, *partition.notes))


def one_per_document(failures: Sequence[Failure]) -> list[Failure]:
    """A document that lacks chunks in several files fails once."""
    return list({failure.source: failure for failure in failures}.values())


def _print_scores(rows: Sequence[Row], means: Sequence[Row]) -> None:
    console = Output(highlight=False, emoji=False)
    table = Table(box=None, padding=(0, 1, 0, 0), header_style="bold")
    for title in _COLUMNS:
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("document" if len(means) == 1 else "document, file", overflow="fold")
    for row in rows:
        label = row["source"] if len(means) == 1 else f"{row['source']}, {row['chunks']}"
        cells = [_cell(row, name) for name in SCORE_FIELDS] if row["reason"] is None else ["–"] * len(SCORE_FIELDS)
        table.add_row(f"{row['n_chunks']:,}", f"{row['mean_chars']:,.0f}", *cells, shown(label))
    for row in means:
        length = "–" if row["mean_chars"] is None else f"{row['mean_chars']:,.0f}"
        cells = [_cell(row, name) for name in SCORE_FIELDS]
        label = f"mean of {row['n_scored']}, {row['chunks']}"
        table.add_row(f"{row['n_chunks']:,}", length, *cells, shown(label), style="bold")
    console.print(table)
    _print_intervals(console, means)
    for row in rows:
        if row["reason"] is not None:
            console.print(f"[yellow]no score[/] {shown(row['source'])}: {shown(row['reason'])}", soft_wrap=True)
    if not lengths_match(means):
        console.print("[yellow]note[/] mean chunk lengths differ by more than 3 %: raw scores do not compare, and the "
                      "columns with z only roughly", soft_wrap=True)  # fmt: skip


def _print_intervals(console: Console, means: Sequence[Row]) -> None:
    for row in means:
        parts = [
            f"{title} {bounds[0]:.2f} … {bounds[1]:.2f}"
            for title, name in zip(_COLUMNS[2:], SCORE_FIELDS, strict=True)
            if (bounds := row[f"{name}_interval"])
        ]
        if parts:
            console.print(f"[dim]95 % intervals of the means, {shown(row['chunks'])}: {', '.join(parts)}[/]")
    for row in means:
        if len({models_of(signature) for signature in row["signatures"]}) > 1:
            console.print(f"[yellow]note[/] {shown(row['chunks'])}: the mean is over documents read by different "
                          "models; --lm fixes one", soft_wrap=True)  # fmt: skip
    if any(row["corrected"] is not None or row["sd_corrected"] is not None for row in means):
        console.print("[dim]z: standard deviations above random partitions into as many chunks[/]")


def models_of(signature: str) -> str:
    """The part of a signature that names the models."""
    return signature.partition(" embedder=")[2]


def _cell(row: Row, name: str) -> str:
    value = row[name]
    if value is None:
        return "–"
    signed = name.endswith("corrected")
    error = row.get("corrected_se") if name == "corrected" else None
    return (f"{value:+.2f}" if signed else f"{value:.3f}") + (f" ±{error:.2f}" if error else "")


def _print_notes(rows: Sequence[Row]) -> None:
    """Every note once, however many documents it is about."""
    for note in dict.fromkeys(note for row in rows for note in row["notes"]):
        errors.print(f"[yellow]note[/] {shown(note)}", soft_wrap=True)


def _comparison_row(document: Document, differences: dict[str, Difference], rows: Sequence[Row]) -> Row:
    found = differences.get(document.id)
    return {
        "doc_id": document.id,
        "source": document.source,
        "cuts_in_both": found and list(found.both),
        "cuts_only_in_a": found and list(found.only_a),
        "cuts_only_in_b": found and list(found.only_b),
        "agreement": found and found.agreement,
        "scores": [row for row in rows if row["doc_id"] == document.id],
    }


def _print_comparison(
    texts: Sequence[Document], files: Sequence[ChunkFile], differences: dict[str, Difference], rows: Sequence[Row],
    limit: int,
) -> None:  # fmt: skip
    console = Output(highlight=False, emoji=False)
    for document in texts:
        found = differences.get(document.id)
        if found is None:
            continue
        console.print(f"\n[bold]{shown(document.source)}[/]", soft_wrap=True)
        console.print(
            f"cuts: {len(found.both)} in both, {len(found.only_a)} only in A, {len(found.only_b)} only in B; "
            f"agreement {found.agreement:.0%}"
        )
        for file, label in zip(files, "AB", strict=True):
            reason = unscorable(document.text, file.partitions[document.id].spans)
            if reason is not None and not rows:
                console.print(f"  [yellow]note[/] {label}: {shown(reason)}", soft_wrap=True)
        different = sorted([(cut, "A") for cut in found.only_a] + [(cut, "B") for cut in found.only_b])
        for cut, who in different[:limit]:
            before = " ".join(document.text[max(0, cut - _SHOWN_AROUND) : cut].split())
            after = " ".join(document.text[cut : cut + _SHOWN_AROUND].split())
            console.print(f"  only {who}  {cut:>7,}  {shown(before)} [red]|[/] {shown(after)}", soft_wrap=True)
        if len(different) > limit:
            console.print(f"  [dim]and {len(different) - limit} more; all with --json[/]")
    _print_sizes(console, files)
    if rows:
        console.print()
        means = [mean_row([row for row in rows if row["chunks"] == file.name], file.name) for file in files]
        _print_scores([row for row in rows if row["reason"] is not None], means)
        _print_differences(console, rows, [file.name for file in files])


def _print_sizes(console: Console, files: Sequence[ChunkFile]) -> None:
    lengths = [[span.end - span.start for part in file.partitions.values() for span in part.spans] for file in files]
    step = round_step(max(map(max, lengths)))
    bins = [dict(histogram(values, step)) for values in lengths]
    widest = max(max(counts.values()) for counts in bins)
    console.print(f"\n[bold]chunk lengths[/]  A = {shown(files[0].name)}, B = {shown(files[1].name)}", soft_wrap=True)
    for low in range(0, max(map(max, bins)) + 1, step):
        bars = [f"{'█' * round(20 * counts.get(low, 0) / widest):<20} {counts.get(low, 0):>6,}" for counts in bins]
        console.print(f"  {low:>7,}-{low + step - 1:<7,} A {bars[0]}   B {bars[1]}")


def _print_differences(console: Console, rows: Sequence[Row], names: Sequence[str]) -> None:
    a, b = ({row["doc_id"]: row for row in rows if row["chunks"] == name} for name in names)
    both = [key for key in a if key in b]
    for name in SCORE_FIELDS:
        values = [b[key][name] - a[key][name] for key in both if None not in (a[key][name], b[key][name])]
        if values:
            bounds = bootstrap_interval(values)
            interval = f" [{bounds[0]:+.3f}, {bounds[1]:+.3f}]" if bounds else ""
            mean = f"{sum(values) / len(values):+.3f}{interval}, n = {len(values)}"
            console.print(f"B - A, {name.replace('_', ' '):<13} {mean}", markup=False)
