"""``qchunker chunk`` and ``qchunker lint``: from files to chunks, and what to know about them."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache, partial
from typing import Any

import click
from rich.progress import Progress
from rich.table import Table

from qchunker.batch import Failure, LoadModels, chunk_all, default_models
from qchunker.chunking import CHUNKERS, LLM_METHODS, LM_METHODS, MODEL_CHUNKERS
from qchunker.cli.llm import (
    ROLE_OPTIONS,
    ROLES,
    LLMRun,
    llm_config,
    llm_options,
    llm_run,
    pop_llm_settings,
    print_estimate,
    print_spending,
)
from qchunker.cli.terminal import SOME_FAILED, Output, count, errors, finish, maybe_rows, refuse_overwriting, shown
from qchunker.config import OBJECTIVES, ChunkingConfig, CompletionConfig, DebateConfig, LLMConfig, SegmentationConfig
from qchunker.debate.offline.segmenter import TARGET_CHARS, TARGET_CHARS_ZH
from qchunker.debate.workflow import Result, RunStage, run_directly
from qchunker.errors import ConfigError, InputError, ModelError
from qchunker.inputs import FileInput, Input, expand_paths, read_jsonl
from qchunker.lint import lint
from qchunker.models.load import DEFAULT_EMBEDDER, DEFAULT_LM, NO_LM, Models, default_embedder, load_models
from qchunker.pipeline import DEBATE, explain_cuts, parse_input
from qchunker.rows import boundary_rows, chunk_rows, document_row, open_rows
from qchunker.types import Document, Note, Partition, Source

_SHOWN_FINDINGS = 3
Work = Callable[..., Iterable[Partition | Failure]]


def _sizes(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that decide how large chunks are."""
    default = ChunkingConfig()
    for option in (
        click.option("--target-chars", type=int,
                     help="Size that chunks aim at (tokens with --tokenizer).  "
                          f"[default: qchunker {TARGET_CHARS}, Chinese {TARGET_CHARS_ZH}; others {default.target}]"),
        click.option("--max-chars", type=int, help="Hard limit of the embedded text.  [default: twice the target]"),
        click.option("--min-chars", type=int, default=default.min_chars, show_default=True,
                     help="Shorter pieces are joined to a neighbour."),
        click.option("--overlap", type=float,
                     help="Share of the target repeated from the text before.  "
                          f"[default: qchunker 0, others {default.overlap:g}]"),
        click.option("--tokenizer", help="Count tokens: tiktoken:NAME or hf:NAME_OR_PATH."),
        click.option("--merge-headings", is_flag=True, help="Let small sections share a chunk (method structure)."),
    ):  # fmt: skip
        command = option(command)
    return command


def _debate(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of the qchunker method."""
    default = SegmentationConfig()
    for option in (
        click.option("--no-complete", is_flag=True, help="Cut only; add nothing to the chunks."),
        click.option("--paths", "n_paths", type=int, default=default.paths,
                     help="Partitions drawn, of which the objective takes one.  "
                          f"[default: {default.paths}; with --llm {LLMConfig().paths}]"),
        click.option("--objective", type=click.Choice(OBJECTIVES), default=default.objective, show_default=True,
                     help="What chooses among the drawn partitions."),
        click.option("--seed", type=int, default=default.seed, show_default=True, help="Of the drawn partitions."),
        click.option("--embedder", default=DEFAULT_EMBEDDER, show_default=True,
                     help="For evidence from meaning, and for the method semantic; see qchunker models list."),
        click.option("--lm", default=DEFAULT_LM, show_default=True,
                     help="Language model of the chunkscore objectives, and of the methods perplexity and margin."),
        click.option("--explain", metavar="FILE.jsonl", help="Also write the evidence for every possible cut."),
    ):  # fmt: skip
        command = option(command)
    return command


def _debate_config(settings: dict[str, Any], given: dict[str, Any]) -> DebateConfig:
    llm = llm_config(given, settings["n_paths"], settings["seed"])
    segmentation = SegmentationConfig(
        paths=settings.pop("n_paths"), objective=settings.pop("objective"), seed=settings.pop("seed")
    )
    return DebateConfig(segmentation, None if settings.pop("no_complete") else CompletionConfig(), llm)


def _both(tell: RunStage, run: RunStage) -> RunStage:
    """Shows a stage and runs it through the journal."""
    return lambda stage, make, document: tell(stage, lambda: run(stage, make, document), document)


def _with_llm(load: LoadModels, run: LLMRun) -> LoadModels:
    """What loads the models with those that play the roles."""
    if not run.models:
        return load
    played: dict[str, Any] = dict(run.models)
    return lambda: replace(load() or Models(default_embedder()), tally=run.tally, **played)


def _check_options(method: str, settings: dict[str, Any], models: dict[str, Any], jobs: int) -> None:
    """An option that would do nothing is a mistake."""
    played = [role for role in ROLES if models[role] is not None]
    if method in LLM_METHODS and models["llm"] is None:
        raise ConfigError("llm", f"the method {method} asks a language model", hint="give --llm")
    if "llm" in played and method not in (DEBATE, *LLM_METHODS):
        raise ConfigError("llm", f"only the method {DEBATE}, or one of {', '.join(LLM_METHODS)}, asks a language model")
    for name in (*(role for role in played if role != "llm"), *ROLE_OPTIONS) if method != DEBATE else ():
        if models[name] != ROLE_OPTIONS.get(name):
            raise ConfigError(name.replace("_", "-"), f"only the method {DEBATE} knows it")
    if played and jobs > 1:
        raise ConfigError("jobs", "one process works with a language model", hint="see --concurrency")
    default = SegmentationConfig()
    given = {"paths": settings["n_paths"] != default.paths, "objective": settings["objective"] != default.objective,
             "no-complete": settings["no_complete"], "lm": settings["lm"] != DEFAULT_LM}  # fmt: skip
    for name in ("discriminator", "refiner"):
        if name in played and given["no-complete"]:
            raise ConfigError(name, "nothing is to be completed", hint="leave out --no-complete")
    for name in ("paths", "objective"):
        if given[name] and "generator" in played:
            raise ConfigError(name, "there is nothing to choose: the generator gives one partition")
    for name, is_given in given.items():
        if is_given and method != DEBATE and not (name == "lm" and method in LM_METHODS):
            raise ConfigError(name, f"only the method {DEBATE} knows it")
    if method in LM_METHODS and settings["lm"] == NO_LM:
        raise ConfigError("lm", f"the method {method} needs a language model")
    if given["lm"] and not given["objective"] and method == DEBATE:
        raise ConfigError("lm", "only the chunkscore objectives read with it", hint="give --objective chunkscore")
    if given["objective"] and settings["lm"] == NO_LM:
        raise ConfigError("lm", f"the objective {settings['objective']} needs a language model")
    if given["objective"] and not given["paths"] and "llm" not in played:
        raise ConfigError("objective", "there is one partition to choose from", hint="give --paths, such as --paths 8")


def _loader(settings: dict[str, Any], method: str, objective: str) -> LoadModels:
    """What loads the models that were named."""
    embedder, lm, key = settings.pop("embedder"), settings.pop("lm"), os.environ.get("QCHUNKER_API_KEY")
    needs_lm = (objective != "evidence" or method in LM_METHODS) and lm != DEFAULT_LM
    if embedder == DEFAULT_EMBEDDER and not needs_lm:
        return default_models
    return partial(_load_once, embedder, lm if needs_lm else NO_LM, api_key=key)


@cache
def _load_once(embedder: str, lm: str, *, api_key: str | None) -> Models:
    """The models for the chunks and for the evidence that ``--explain`` shows."""
    return load_models(embedder, lm, api_key=api_key)


def _inputs(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option("--input-format", type=click.Choice(["auto", "files", "jsonl"]), default="auto", show_default=True,
                     help="jsonl: rows of {doc_id, text}; auto: for names that end in .jsonl."),
        click.option("--stdin-name", default="stdin.txt", show_default=True,
                     help="Tells the format of standard input."),
        click.option("--selector", metavar="CSS", help="Main content of HTML pages, such as .main__doc."),
        click.argument("paths", nargs=-1, required=True),
    ):  # fmt: skip
        command = option(command)
    return command


@click.command()
@_inputs
@click.option("-o", "--output", metavar="FILE", help=".jsonl, .parquet or .md; standard output when not given.")
@click.option("--documents", metavar="FILE.jsonl", help="Also write the texts that spans point into.")
@click.option("--method", type=click.Choice([DEBATE, *CHUNKERS, *MODEL_CHUNKERS]), default=DEBATE, show_default=True)
@_sizes
@_debate
@llm_options
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="Processes at work.")
def chunk(
    paths: tuple[str, ...], input_format: str, stdin_name: str, selector: str | None, output: str | None,
    documents: str | None, explain: str | None, method: str, jobs: int, **settings: Any,
) -> None:  # fmt: skip
    """Chunk files, folders, patterns, or - for standard input."""
    given = pop_llm_settings(settings)
    report = given["report"]
    if report is not None and not os.path.isdir(os.path.dirname(os.path.abspath(report))):
        raise ConfigError("report", f"there is no folder for {report}")
    if report == "-" or (report and given["run_dir"] and _is_in(report, given["run_dir"])):
        raise ConfigError("report", "must be a file outside of the folder of the run")
    named = [path for path in (output, documents, explain, report) if path not in (None, "-")]
    if len({os.path.realpath(str(path)) for path in named}) < len(named):
        raise ConfigError("output", "two outputs are the same file")
    if [output or "-", documents, explain].count("-") > 1:
        raise ConfigError("output", "two outputs go to standard output")
    if explain is not None and method != DEBATE:
        raise ConfigError("explain", f"only the method {DEBATE} weighs evidence")
    _check_options(method, settings, given, jobs)
    inputs, objective = read_inputs(paths, input_format, stdin_name), settings["objective"]
    sources = [str(item.path) for item in inputs if isinstance(item, FileInput)]
    for path in map(str, named):
        refuse_overwriting(path, *paths, *sources)
    how = _debate_config(settings, given)
    load = _loader(settings, method, objective)
    config = _config(settings)
    with llm_run(given) as run:
        work = partial(chunk_all, method=method, config=config, debate_config=how, load=_with_llm(load, run),
                       selector=selector, jobs=jobs)  # fmt: skip
        if run.dry is not None:
            _estimate(inputs, work, run)
            return
        try:
            _write_chunks(inputs, work, run, output, documents, explain, (config, how, load),
                          shows_completed=method == DEBATE and how.completion is not None)  # fmt: skip
        finally:
            print_spending(run, given["report"])
        if run.was_of_no_use:
            errors.print("[yellow]no request succeeded[/]: the chunks are those of the rules")
            raise click.exceptions.Exit(SOME_FAILED)


def _is_in(path: str, folder: str) -> bool:
    return os.path.realpath(path).startswith(os.path.realpath(folder) + os.sep)


def _estimate(inputs: list[Input], work: Work, run: LLMRun) -> None:
    """What chunking would cost; nothing is written."""
    failures: list[Failure] = []
    with _progress(inputs, "counting") as (tracked, tell):
        texts = [partition.document.text for partition in _kept(work(tracked, run=tell), failures)]
    print_estimate(run, texts)
    finish(len(inputs), failures)


def _write_chunks(
    inputs: list[Input], work: Work, run: LLMRun, output: str | None, documents: str | None, explain: str | None,
    made_by: tuple[ChunkingConfig, DebateConfig, LoadModels], *, shows_completed: bool,
) -> None:  # fmt: skip
    config, how, load = made_by
    failures: list[Failure] = []
    n_chunks = n_completed = 0
    models = load() if explain is not None else None
    with (
        open_rows(output, sys.stdout) as write,
        maybe_rows(documents) as write_document,
        maybe_rows(explain, "explain") as write_cuts,
        _progress(inputs, "chunking") as (tracked, tell),
    ):
        for partition in _kept(work(tracked, run=_both(tell, run.run)), failures):
            write(chunk_rows(partition))
            write_document([document_row(partition.document)])
            if explain is not None:
                write_cuts(boundary_rows(partition, explain_cuts(partition, config, how, models)))
            n_chunks += len(partition.chunks)
            n_completed += sum(bool(chunk.added) for chunk in partition.chunks)
        if len(failures) == len(inputs):
            if isinstance(failures[0].error, ModelError):
                raise failures[0].error
            finish(len(inputs), failures)  # an older output stays
    if output not in (None, "-"):
        errors.print(
            f"{count(n_chunks, 'chunk')} of {count(len(inputs) - len(failures), 'document')} in {shown(str(output))}"
            + (f"; {n_completed} completed" if shows_completed else ""),
            soft_wrap=True,
        )
    finish(len(inputs), failures)


@click.command(name="lint")
@_inputs
@click.option("--json", "as_json", is_flag=True, help="One JSON object per finding.")
@_sizes
def lint_command(
    paths: tuple[str, ...], input_format: str, stdin_name: str, selector: str | None, as_json: bool, **sizes: Any
) -> None:
    """Report what to know before trusting the chunks: dropped text, doubtful headings, oversize blocks ..."""
    inputs, config = read_inputs(paths, input_format, stdin_name), _config(sizes)
    failures: list[Failure] = []
    rows: list[dict[str, Any]] = []
    with _progress(inputs, "reading") as (tracked, _):
        for item in tracked:
            try:
                rows.extend(_finding_rows(parse_input(item, selector=selector), config))
            except InputError as error:
                failures.append(Failure(item.name, error))
    if as_json:
        sys.stdout.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    else:
        _print_findings(rows)
    finish(len(inputs), failures)


def read_inputs(paths: tuple[str, ...], input_format: str, stdin_name: str) -> list[Input]:
    """What a command is to work on; files of other formats are named.

    Raises:
        InputError: if there is nothing of a known format.
    """
    inputs: list[Input] = []
    files: list[str] = []
    seen: set[str] = set()
    for path in paths:
        if not path:
            raise InputError("an empty path", hint="name a file or a folder, such as .")
        if input_format == "jsonl" or (input_format == "auto" and path.endswith(".jsonl")):
            with _opened(path) as lines:
                inputs.extend(read_jsonl(lines, "stdin" if path == "-" else path, seen))
        elif path == "-":
            inputs.append(Source(stdin_name, sys.stdin.buffer.read()))
        else:
            files.append(path)
    found, skipped = expand_paths(files)
    inputs.extend(found)
    if skipped:
        names = ", ".join(skipped[:3]) + (" ..." if len(skipped) > 3 else "")
        errors.print(
            f"[yellow]left out[/] {count(len(skipped), 'file')} of other formats: {shown(names)}", soft_wrap=True
        )
    if not inputs:
        raise InputError("nothing to do: no file of a known format", hint="see qchunker chunk --help")
    return inputs


@contextlib.contextmanager
def _opened(path: str) -> Iterator[Iterable[str]]:
    if path == "-":
        yield io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8", errors="surrogateescape", newline="\n")
        return
    try:
        # Bytes that are no UTF-8 become surrogates, which are replaced and noted with the text they are in.
        with open(path, encoding="utf-8", errors="surrogateescape", newline="\n") as file:
            yield file
    except OSError as error:
        raise InputError(f"{path}: cannot be read as JSON lines: {error}") from error


def _config(sizes: dict[str, Any]) -> ChunkingConfig:
    return ChunkingConfig(overlap_ratio=sizes.pop("overlap"), **sizes)


def _kept(done: Iterable[Partition | Failure], failures: list[Failure]) -> Iterator[Partition]:
    for result in done:
        if isinstance(result, Failure):
            failures.append(result)
        else:
            yield result


@contextlib.contextmanager
def _progress(inputs: list[Input], what: str) -> Iterator[tuple[Iterable[Input], RunStage]]:
    """The inputs, counted on the error stream when a person is looking, and what shows the stage of the one in work."""
    if not errors.is_terminal:
        yield inputs, run_directly
        return
    with Progress(console=errors, transient=True, redirect_stdout=False) as progress:
        task = progress.add_task(what, total=len(inputs))

        def tracked() -> Iterator[Input]:
            for done, item in enumerate(inputs):
                progress.update(task, completed=done, description=f"{what} {shown(item.name)}")
                yield item

        def tell(stage: str, make: Callable[[], Result], _: Document, /) -> Result:
            progress.update(task, description=f"{stage} {shown(inputs[int(progress.tasks[0].completed)].name)}")
            return make()

        yield tracked(), tell


def _finding_rows(document: Document, config: ChunkingConfig) -> list[dict[str, Any]]:
    return [
        {"source": document.source, "kind": note.kind, "message": note.message,
         "page": note.page or (document.page_at(note.span.start) if note.span else None),
         "span": list(note.span) if note.span else None, "line": _line_of(document, note)}
        for note in lint(document, config)
    ]  # fmt: skip


def _line_of(document: Document, note: Note) -> int | None:
    return document.text.count("\n", 0, note.span.start) + 1 if note.span else None


def _print_findings(rows: list[dict[str, Any]]) -> None:
    console = Output(highlight=False, emoji=False)
    if not rows:
        console.print("no findings")
        return
    for source in dict.fromkeys(row["source"] for row in rows):
        console.print(f"\n[bold]{shown(source)}[/]", soft_wrap=True)
        table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
        by_kind: dict[str, list[dict[str, Any]]] = {}
        for row in (row for row in rows if row["source"] == source):
            by_kind.setdefault(row["kind"], []).append(row)
        for kind, found in by_kind.items():
            for row in found[:_SHOWN_FINDINGS]:
                page = f"page {row['page']}" if row["page"] else f"line {row['line']}" if row["line"] else ""
                table.add_row(page, kind, shown(row["message"]))
            if len(found) > _SHOWN_FINDINGS:
                table.add_row("", kind, f"[dim]and {len(found) - _SHOWN_FINDINGS} more; all with --json[/]")
        console.print(table)
    console.print(f"\n{count(len(rows), 'finding')} in {count(len({row['source'] for row in rows}), 'document')}")
