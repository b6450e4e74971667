"""``qchunker index``, ``search`` and ``ask``: an index kept in step with folders, and what is found in it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import click
from rich.console import Console
from rich.progress import Progress
from rich.text import Text

from qchunker.answering.answer import Answer
from qchunker.cli.terminal import Output, count, errors, finish, json_line, shown
from qchunker.config import FUSIONS, ChunkingConfig, CompletionConfig, DebateConfig, SearchConfig
from qchunker.errors import ConfigError, InputError
from qchunker.index import Index, Sync
from qchunker.indexing.lexical_tokens import lexical_tokens
from qchunker.inputs import expand_paths
from qchunker.models.load import DEFAULT_EMBEDDER, load_embedder
from qchunker.models.load_llm import load_llm
from qchunker.pipeline import DEBATE
from qchunker.retrieval.filters import Filter, allowed
from qchunker.retrieval.hits import Hit
from qchunker.rows import read_rows

_SHOWN_CHARS = 320
Command = Callable[..., Any]


def _store(command: Command) -> Command:
    for option in (
        click.option("--store", required=True, metavar="PLACE",
                     help="A folder (LanceDB), a path ending in .db (Milvus Lite), or the address of a Milvus server."),
        click.option("--embedder", default=DEFAULT_EMBEDDER, show_default=True,
                     help="That the index is made with; see qchunker models list."),
    ):  # fmt: skip
        command = option(command)
    return command


def _search_options(command: Command) -> Command:
    default = SearchConfig()
    for option in (
        click.option("-k", "k", type=click.IntRange(1), default=6, show_default=True, help="Hits at most."),
        click.option("--dense-weight", type=float, default=default.dense_weight, show_default=True,
                     help="Of the cosine; 0 leaves it out."),
        click.option("--bm25-weight", type=float, default=default.bm25_weight, show_default=True,
                     help="Of BM25; 0 leaves it out."),
        click.option("--fusion", type=click.Choice(FUSIONS), default=default.fusion, show_default=True,
                     help="Add standardised scores, or reciprocal ranks."),
        click.option("--mmr", type=float, metavar="WEIGHT",
                     help="Weight of relevance against diversity, such as 0.7.  [default: relevance alone]"),
        click.option("--duplicates", type=float, default=default.duplicate_cosine, show_default=True,
                     help="Cosine above which a hit says what a better one says; 1 keeps all."),
        click.option("--neighbours", type=click.IntRange(0, 100), default=0, show_default=True,
                     help="Chunks before and behind that come with a hit."),
        click.option("--source", metavar="PATTERN", help="Only documents of this name, such as 'manuals/*.pdf'."),
        click.option("--heading", metavar="WORDS", help="Only below headings with these words."),
        click.option("--pages", metavar="A-B", help="Only these pages."),
        click.option("--metadata", multiple=True, metavar="NAME=VALUE", help="Only documents with this metadata."),
        click.option("--explain", is_flag=True, help="Show the parts of the scores and the ranks."),
        click.option("--json", "as_json", is_flag=True, help="One JSON object per line."),
    ):  # fmt: skip
        command = option(command)
    return command


@click.command()
@click.argument("paths", nargs=-1, required=True)
@_store
@click.option("--documents", metavar="FILE.jsonl", help="Texts of the chunks, where the rows have none.")
@click.option("--qa", is_flag=True, help="The paths are JSON lines of question-answer pairs, see qchunker qa.")
@click.option("--sentences", is_flag=True, help="Give every sentence a vector of its own too.")
@click.option("--target-chars", type=int, help="Size that chunks aim at.")
@click.option("--no-complete", is_flag=True, help="Cut only; add nothing to the chunks.")
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="Processes at work.")
@click.option("--json", "as_json", is_flag=True, help="The counts as one JSON object.")
def index(
    paths: tuple[str, ...], store: str, embedder: str, documents: str | None, qa: bool, sentences: bool,
    target_chars: int | None, no_complete: bool, jobs: int, as_json: bool,
) -> None:  # fmt: skip
    """Keep an index in step with files and folders, or fill it with chunks (.jsonl) of any tool.

    Only what is new or changed is chunked, what is gone is removed, and all of it becomes visible at once.
    """
    rows = [path for path in paths if path.endswith(".jsonl")]
    if rows and len(rows) < len(paths):
        raise ConfigError("paths", "chunks and documents cannot be given together", hint="use two commands")
    if (qa or documents) and not rows:
        raise ConfigError("paths", "--qa and --documents belong to .jsonl files")
    # Wrong input is found before a store is made.
    found = _rows(rows, documents, qa=qa)
    if not rows and not ("://" in store or os.path.exists(store)):
        expand_paths(paths)
    with _opened(store, embedder, create=True) as opened:
        if rows:
            number = opened.add_qa(found) if qa else opened.add_chunks(found, sentences=sentences)
            _print_filled(number, "question-answer pair" if qa else "chunk", as_json=as_json)
            return
        config = ChunkingConfig(target_chars=target_chars)
        how = DebateConfig(completion=None if no_complete else CompletionConfig())
        with _progress() as tell:
            done = opened.sync(
                *paths, method=DEBATE, config=config, debate_config=how, sentences=sentences, jobs=jobs, tell=tell
            )
    _print_sync(done, store, as_json=as_json)
    finish(done.added + done.changed + done.unchanged + len(done.failures), list(done.failures))


def _rows(paths: list[str], documents: str | None, *, qa: bool) -> list[dict[str, Any]]:
    found = [row for path in paths for row in read_rows(path, ("doc_id",) if qa else ("doc_id", "start", "end"))]
    if documents:
        texts: dict[Any, str] = {}
        for row in read_rows(documents, ("doc_id", "text")):
            if not isinstance(row["doc_id"], str) or not isinstance(row["text"], str):
                raise InputError(f"{documents}: doc_id and text must be text, got {row['doc_id']!r:.60}")
            texts[row["doc_id"]] = row["text"]
        missing = [row["doc_id"] for row in found if not isinstance(row["doc_id"], str) or row["doc_id"] not in texts]
        if missing:
            raise InputError(f"{documents}: has no text of {missing[0]!r:.60}")
        found = [{"text": texts[row["doc_id"]][row["start"] : row["end"]]} | row for row in found]
    return found


def _print_filled(number: int, what: str, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps({"indexed": number}))  # noqa: T201
    else:
        errors.print(f"{count(number, what)} indexed")


def _print_sync(done: Sync, store: str, *, as_json: bool) -> None:
    counts = {"added": done.added, "changed": done.changed, "removed": done.removed, "unchanged": done.unchanged}
    if as_json:
        more = {
            "chunks": done.n_chunks,
            "failed": [one.source for one in done.failures],
            "left_out": list(done.skipped),
        }
        print(json_line(counts | more))  # noqa: T201
        return
    if done.skipped:
        names = ", ".join(done.skipped[:3]) + (" ..." if len(done.skipped) > 3 else "")
        errors.print(
            f"[yellow]left out[/] {count(len(done.skipped), 'file')}, empty or of other formats: {shown(names)}"
        )
    parts = ", ".join(f"{number} {name}" for name, number in counts.items())
    errors.print(f"{shown(store)}: documents {parts}; {count(done.n_chunks, 'chunk')} made", soft_wrap=True)


@click.command()
@click.argument("question")
@_store
@_search_options
def search(question: str, store: str, embedder: str, k: int, as_json: bool, explain: bool, **options: Any) -> None:
    """Find the chunks and question-answer pairs that fit a question best."""
    config, wanted = _config(options), _filter(options)
    _check_question(question)
    with _opened(store, embedder, create=False) as opened:
        hits = opened.search(question, k, config=config, wanted=wanted)
        if not hits:
            _print_left_out(opened, wanted)
    if as_json:
        sys.stdout.writelines(json_line(_hit_row(hit)) + "\n" for hit in hits)
        return
    console = Output(highlight=False, emoji=False)
    if not hits:
        console.print("nothing found")
    for number, hit in enumerate(hits, 1):
        _print_hit(console, number, hit, question, explain=explain)


@click.command()
@click.argument("question")
@_store
@_search_options
@click.option(
    "--llm", metavar="PLACE", help="A language model writes the answer, see qchunker chunk --llm; it is checked."
)
@click.option("--llm-model", metavar="NAME", help="Of the model on the server.")
def ask(
    question: str, store: str, embedder: str, k: int, as_json: bool, explain: bool, llm: str | None,
    llm_model: str | None, **options: Any,
) -> None:  # fmt: skip
    """Answer a question from the documents, every sentence with its source."""
    config, wanted = _config(options), _filter(options)
    _check_question(question)
    writer = None if llm is None else load_llm(llm, llm_model, api_key=os.environ.get("QCHUNKER_API_KEY"))
    with _opened(store, embedder, create=False) as opened:
        answer = opened.ask(question, k, llm=writer, config=config, wanted=wanted)
        if not answer.hits:
            _print_left_out(opened, wanted)
    if as_json:
        print(json_line(_answer_row(answer)))  # noqa: T201
        return
    console = Output(highlight=False, emoji=False)
    console.print(Text(_plain(answer.text), style="bold" if answer.found else ""), soft_wrap=True)
    for sentence in answer.sentences:
        if sentence.problem:
            console.print(Text(_plain(f"{sentence.problem}: {sentence.text}"), style="yellow"), soft_wrap=True)
    for source in answer.sources:
        where = f"[{source.number}] {_place(source.source, source.page, source.heading_path)}"
        span = "" if source.start is None else f", characters {source.start}-{source.end}"
        console.print(Text(_plain(where + span), style="dim"), soft_wrap=True)
    if explain:
        console.print(Text(f"confidence {answer.confidence:.2f}", style="dim"))
        for number, hit in enumerate(answer.hits, 1):
            _print_hit(console, number, hit, question, explain=True)


def _print_left_out(opened: Index, wanted: Filter) -> None:
    """That the filter leaves nothing to search, and what it can choose from."""
    snapshot = opened.snapshot()
    if not len(snapshot):
        errors.print("[yellow]the index is empty[/]")
    elif not allowed(snapshot, wanted).any():
        names = ", ".join(dict.fromkeys(snapshot.sources[:3])) + (" ..." if len(snapshot.sources) > 3 else "")
        errors.print(f"[yellow]nothing there is as the filters say[/]; documents: {shown(names)}", soft_wrap=True)


def _check_question(question: str) -> None:
    if not question.strip():
        raise InputError("the question is blank")


def _config(options: dict[str, Any]) -> SearchConfig:
    config = SearchConfig(
        dense_weight=options["dense_weight"], bm25_weight=options["bm25_weight"], fusion=options["fusion"],
        duplicate_cosine=options["duplicates"], with_neighbours=options["neighbours"],
    )  # fmt: skip
    return config if options["mmr"] is None else replace(config, relevance_weight=options["mmr"])


def _filter(options: dict[str, Any]) -> Filter:
    pages = None
    if options["pages"]:
        first, _, last = options["pages"].partition("-")
        if not (first.isdecimal() and (last.isdecimal() or not last)):
            raise ConfigError("pages", f"must be like 3-7, got {options['pages']!r}")
        pages = int(first), int(last or first)
    metadata = {}
    for pair in options["metadata"]:
        name, equals, value = pair.partition("=")
        if not equals:
            raise ConfigError("metadata", f"must be NAME=VALUE, got {pair!r}")
        metadata[name] = value
    return Filter(options["source"], options["heading"], pages, metadata)


@contextmanager
def _opened(store: str, embedder: str, *, create: bool) -> Iterator[Index]:
    key = os.environ.get("QCHUNKER_API_KEY")
    loaded = None if embedder == DEFAULT_EMBEDDER else load_embedder(embedder, api_key=key)
    with Index.open(store, embedder=loaded, create=create) as opened:
        yield opened


@contextmanager
def _progress() -> Iterator[Callable[[str, int, int], None] | None]:
    if not errors.is_terminal:
        yield None
        return
    with Progress(console=errors, transient=True) as progress:
        task = progress.add_task("indexing", total=None)
        yield lambda name, done, total: progress.update(
            task, description=f"indexing {shown(name)}", completed=done, total=total
        )


def _print_hit(console: Console, number: int, hit: Hit, question: str, *, explain: bool) -> None:
    row = hit.row
    place = _place(hit.source, row.get("page"), tuple(row.get("heading_path") or ()))
    console.print(Text(_plain(f"{number}  {place}"), style="bold"), soft_wrap=True)
    if explain:
        parts = [f"score {hit.score:.3f}"]
        for name, value, rank in (("dense", hit.dense, hit.dense_rank), ("bm25", hit.bm25, hit.bm25_rank)):
            if value is not None:
                parts.append(f"{name} {value:.3f}" + (f" (rank {rank})" if rank else ""))
        console.print(Text("   " + ", ".join(parts), style="dim"))
    text = " ".join(hit.text.split())
    console.print(_highlighted(_plain(text[:_SHOWN_CHARS] + ("…" if len(text) > _SHOWN_CHARS else "")), question))
    if row.get("full_answer"):
        full = " ".join(str(row["full_answer"]).split())
        console.print(Text(_plain(f"   {full[:_SHOWN_CHARS]}{'…' if len(full) > _SHOWN_CHARS else ''}")))
    for one in hit.related:
        words = " ".join(str(one.row.get("text") or "").split())[:_SHOWN_CHARS]
        console.print(Text(_plain(f"   {one.kind.replace('_', ' ')}: {words}"), style="dim"))
    console.print()


def _highlighted(text: str, question: str) -> Text:
    made = Text(text)
    for token in sorted(set(lexical_tokens(question)), key=len, reverse=True):
        if len(token) > 1 and token.isalnum():
            # A token may be the stem of a word.
            made.highlight_regex(rf"(?i)\b{token}[a-z]*" if token.isascii() else token, "bold yellow")
    return made


def _place(source: str, page: int | None, path: tuple[str, ...]) -> str:
    parts = [source, *([f"page {page}"] if page else []), *([" > ".join(path)] if path else [])]
    return " ".join(" · ".join(parts).split())


def _plain(text: str) -> str:
    """Text without characters that would act on the terminal."""
    return "".join(char if char.isprintable() or char == "\n" else "�" for char in text)


def _hit_row(hit: Hit) -> dict[str, Any]:
    return {
        "id": hit.id, "score": hit.score, "dense": hit.dense, "bm25": hit.bm25, "dense_rank": hit.dense_rank,
        "bm25_rank": hit.bm25_rank, "source": hit.source, "row": dict(hit.row),
        "related": [{"kind": one.kind, "row": dict(one.row)} for one in hit.related],
    }  # fmt: skip


def _answer_row(answer: Answer) -> dict[str, Any]:
    return {
        "question": answer.question, "found": answer.found, "answer": answer.text, "confidence": answer.confidence,
        "sentences": [one._asdict() for one in answer.sentences],
        "sources": [one._asdict() for one in answer.sources],
        "hits": [_hit_row(hit) for hit in answer.hits],
    }  # fmt: skip
