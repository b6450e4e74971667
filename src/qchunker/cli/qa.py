"""``qchunker qa``: question-answer pairs of documents, and a sheet to judge them by."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from qchunker.batch import Failure
from qchunker.chunking import CHUNKERS
from qchunker.cli.chunk import read_inputs
from qchunker.cli.llm import KEY, ROLES, LLMRun, llm_run, print_estimate, print_spending, report_row, run_options
from qchunker.cli.terminal import (
    SOME_FAILED,
    count,
    errors,
    finish,
    json_line,
    maybe_rows,
    progress_of,
    refuse_overwriting,
    shown,
)
from qchunker.config import QAConfig
from qchunker.debate.workflow import Result, RunStage
from qchunker.errors import BudgetError, ConfigError, InputError, ModelError
from qchunker.inputs import FileInput, Input
from qchunker.models.load import DEFAULT_EMBEDDER, Models, default_embedder, load_embedder
from qchunker.pipeline import DEBATE, parse_input
from qchunker.pipeline import chunk as chunk_document
from qchunker.qa.estimate import ask_for_all
from qchunker.qa.pairs import QAResult
from qchunker.qa.rows import document_report, pair_rows, total_report
from qchunker.qa.spot_check import error_rate, sample, sheet
from qchunker.qa.workflow import qa_pairs
from qchunker.rows import document_row, open_rows, write_text
from qchunker.types import Document

_DEFAULT = QAConfig()
_SENTENCES = "sentences"
_ONLY_WITH_LLM = ("passes", "full_answers", "variants", "no_judge", "no_rules", "prompts", "window_chars",
                  "reply_tokens", "temperature", "top_p", "seed")  # fmt: skip


def _asking(command: Any) -> Any:
    """Who is asked, and how."""
    for option in (
        click.option("--llm", metavar="PLACE",
                     help="A language model writes the pairs: http://host/v1 (any OpenAI-compatible server), "
                          f"openvino:NAME_OR_PATH or transformers:NAME_OR_PATH; rules else.  [key: {KEY}]"),
        click.option("--llm-model", metavar="NAME", help="Of the model on the server."),
        click.option("--full-answers", is_flag=True, help="Also a longer answer to every question."),
        click.option("--variants", type=int, default=0, show_default=True,
                     help="Other wordings that every question gets."),
        click.option("--passes", type=int, default=_DEFAULT.passes, show_default=True,
                     help="Times that sentences without a pair are asked about again."),
        click.option("--no-judge", is_flag=True, help="Refuse at once what is not said in the words of the document."),
        click.option("--no-rules", is_flag=True, help="No pairs by rules where the model leaves sentences out."),
        click.option("--temperature", type=float, default=_DEFAULT.temperature, show_default=True,
                     help="Of the sampling."),
        click.option("--top-p", type=float, default=_DEFAULT.top_p, show_default=True, help="Of the sampling."),
        click.option("--seed", type=int, default=_DEFAULT.seed, show_default=True, help="Of the sampling."),
        click.option("--prompts", metavar="FOLDER", help="Prompts of your own, such as qa_group.zh.md."),
        click.option("--window-chars", type=int, default=_DEFAULT.window_chars, show_default=True,
                     help="Of the document, that one request shows besides the passage in focus."),
        click.option("--reply-tokens", type=int, default=_DEFAULT.reply_tokens, show_default=True,
                     help="Of a reply, before less is asked for at once."),
        run_options,
    ):  # fmt: skip
        command = option(command)
    return command


@click.command()
@click.argument("paths", nargs=-1)
@click.option(
    "--input-format",
    type=click.Choice(["auto", "files", "jsonl"]),
    default="auto",
    show_default=True,
    help="jsonl: rows of {doc_id, text}; auto: for names that end in .jsonl.",
)
@click.option("--stdin-name", default="stdin.txt", show_default=True, help="Tells the format of standard input.")
@click.option("--selector", metavar="CSS", help="Main content of HTML pages, such as .main__doc.")
@click.option("-o", "--output", metavar="FILE.jsonl", help="Standard output when not given.")
@click.option("--documents", metavar="FILE.jsonl", help="Also write the texts that spans point into.")
@click.option("--report", metavar="FILE.json", help="Also write counts, refusals and gaps of every document.")
@click.option("--json", "as_json", is_flag=True, help="The summary as one JSON object, on the error stream.")
@click.option(
    "--sample", "n_sample", type=click.IntRange(1), metavar="N", help="Also write a sheet of N pairs to be marked."
)
@click.option("--sheet", "sheet_path", metavar="FILE.csv", help="Name of the sheet.  [default: OUTPUT.sample.csv]")
@click.option("--marked", metavar="FILE.csv", help="Read a marked sheet: the error rate with its 95 % interval.")
@click.option(
    "--group-by",
    type=click.Choice([_SENTENCES, DEBATE, *CHUNKERS]),
    default=_SENTENCES,
    show_default=True,
    help="What is asked about together: so many sentences, or the chunks of a method.",
)
@click.option("--group-size", type=int, default=_DEFAULT.group_size, show_default=True, help="Sentences of a group.")
@click.option(
    "--least-group",
    type=int,
    default=_DEFAULT.least_group,
    show_default=True,
    help="A last group with fewer joins the one before.",
)
@click.option(
    "--embedder",
    default=DEFAULT_EMBEDDER,
    show_default=True,
    help="Finds questions of the same meaning; see qchunker models list.",
)
@_asking
def qa(
    paths: tuple[str, ...], input_format: str, stdin_name: str, selector: str | None, output: str | None,
    documents: str | None, report: str | None, as_json: bool, n_sample: int | None, sheet_path: str | None,
    marked: str | None, group_by: str, embedder: str, **given: Any,
) -> None:  # fmt: skip
    """Make question-answer pairs that the documents hold, or judge them by a marked sheet.

    Without a model the pairs are few, and every answer is a stretch of its document.
    """
    if marked is not None:
        if paths:
            raise ConfigError("marked", "a marked sheet is read by itself", hint="leave out the paths")
        _print_error_rate(marked, as_json=as_json)
        return
    if not paths:
        raise ConfigError("paths", "nothing to make pairs of", hint="name files or folders, or --marked FILE.csv")
    config = _config(given)
    sheet_path = _sheet_path(output, n_sample, sheet_path)
    inputs = read_inputs(paths, input_format, stdin_name)
    sources = [str(item.path) for item in inputs if isinstance(item, FileInput)]
    _check_outputs([output, documents, report, sheet_path], [*paths, *sources])
    with llm_run(dict.fromkeys(ROLES) | {"rounds": 1, "report": None} | given) as run:
        models = _models(embedder, run)
        work = _Work(config, models, selector, group_by, run)
        if run.dry is not None:
            _estimate(inputs, work)
            return
        try:
            _write(inputs, work, output, documents, report, n_sample, sheet_path, as_json=as_json)
        finally:
            print_spending(run, None)


class _Work:
    """What is done with every document."""

    def __init__(self, config: QAConfig, models: Models, selector: str | None, group_by: str, run: LLMRun) -> None:
        self.config, self.models, self.selector, self.group_by, self.run = config, models, selector, group_by, run

    def document(self, item: Input) -> Document:
        return parse_input(item, selector=self.selector)

    def pairs(self, document: Document, run: RunStage) -> QAResult:
        groups = None if self.group_by == _SENTENCES else chunk_document(document, self.group_by)
        return qa_pairs(document, self.config, self.models, groups=groups, run=run)


def _config(given: dict[str, Any]) -> QAConfig:
    """The settings; those that only a model knows are mistakes without one."""
    names = {name: given.pop(name) for name in ("group_size", "least_group")}
    asked = {name: given.pop(name) for name in _ONLY_WITH_LLM if name != "prompts"}
    asked["prompts"] = given["prompts"]
    if given["llm"] is None:
        for name, value in asked.items():
            default = False if name.startswith("no_") else getattr(_DEFAULT, name)
            if value != default:
                raise ConfigError(name.replace("_", "-"), "only a language model knows it", hint="give --llm too")
    return QAConfig(**names, judge=not asked.pop("no_judge"), with_rules=not asked.pop("no_rules"), **asked)


def _models(embedder: str, run: LLMRun) -> Models:
    loaded = (
        default_embedder() if embedder == DEFAULT_EMBEDDER else load_embedder(embedder, api_key=os.environ.get(KEY))
    )
    llm: Any = run.models.get("llm")
    return Models(loaded, llm=llm, tally=run.tally)


def _sheet_path(output: str | None, n_sample: int | None, sheet_path: str | None) -> str | None:
    if n_sample is None:
        if sheet_path is not None:
            raise ConfigError("sheet", "there is nothing to write to it", hint="give --sample N too")
        return None
    if sheet_path is None and output in (None, "-"):
        raise ConfigError("sample", "the sheet needs a name", hint="give -o or --sheet FILE.csv")
    return sheet_path or f"{Path(str(output)).with_suffix('')}.sample.csv"


def _check_outputs(outputs: Sequence[str | None], inputs: Sequence[str]) -> None:
    named = [path for path in outputs if path not in (None, "-")]
    if len({os.path.realpath(str(path)) for path in named}) < len(named):
        raise ConfigError("output", "two outputs are the same file")
    if list(outputs[1:]).count("-") or (outputs[0] in (None, "-") and "-" in outputs[1:]):
        raise ConfigError("output", "only the pairs can go to standard output")
    for path in named:
        refuse_overwriting(path, *inputs)
        if not os.path.isdir(os.path.dirname(os.path.abspath(str(path)))):
            raise ConfigError("output", f"there is no folder for {path}")


def _estimate(inputs: Sequence[Input], work: _Work) -> None:
    """What the run would cost; nothing is asked or written."""
    failures: list[Failure] = []
    texts: list[str] = []
    for item in inputs:
        try:
            document = work.document(item)
        except InputError as error:
            failures.append(Failure(item.name, error))
            continue
        groups = None if work.group_by == _SENTENCES else chunk_document(document, work.group_by)
        ask_for_all(document, work.config, work.models, groups)
        texts.append(document.text)
    print_estimate(work.run, texts)
    finish(len(inputs), failures)


def _write(
    inputs: Sequence[Input], work: _Work, output: str | None, documents: str | None, report: str | None,
    n_sample: int | None, sheet_path: str | None, *, as_json: bool,
) -> None:  # fmt: skip
    failures: list[Failure] = []
    reports: list[dict[str, Any]] = []
    sampled: list[tuple[dict[str, Any], str]] = []
    with (
        open_rows(output, sys.stdout, "pairs") as write,
        maybe_rows(documents) as write_document,
        progress_of("asking" if work.run.models else "reading") as tell,
    ):
        for number, item in enumerate(inputs):
            with _told(tell, item.name, number, len(inputs), work.run) as run:
                result = _made(item, work, run)
            if isinstance(result, Failure):
                failures.append(result)
                continue
            rows = pair_rows(result)
            write(rows)
            write_document([document_row(result.document)])
            reports.append(document_report(result))
            if n_sample is not None:
                sampled += [(row, _evidence(result, row)) for row in rows]
        if len(failures) == len(inputs):
            if isinstance(failures[0].error, ModelError):
                raise failures[0].error
            finish(len(inputs), failures)  # an older output stays
    if n_sample is not None and sheet_path is not None:
        texts = {(row["doc_id"], row["qa_id"]): text for row, text in sampled}
        drawn = sample([row for row, _ in sampled], n_sample)
        made = sheet((row, texts[row["doc_id"], row["qa_id"]]) for row in drawn)
        write_text(sheet_path, "\ufeff" + made)  # the mark tells spreadsheets that it is UTF-8
        errors.print(f"{count(len(drawn), 'pair')} to be marked in {shown(sheet_path)}", soft_wrap=True)
    _print_summary(reports, work, report, output, as_json=as_json)
    n_failed = sum(len(one["failed"]) for one in reports)
    finish(len(inputs), failures)
    if n_failed:
        raise click.exceptions.Exit(SOME_FAILED)


def _made(item: Input, work: _Work, run: RunStage) -> QAResult | Failure:
    try:
        return work.pairs(work.document(item), run)
    except (InputError, BudgetError, ModelError) as error:
        if isinstance(error, ConfigError):
            raise
        return Failure(item.name, error)


@contextmanager
def _told(tell: Any, name: str, number: int, total: int, run: LLMRun) -> Iterator[RunStage]:
    """What runs stages, shows them, and writes them down."""

    def staged(stage: str, make: Any, document: Document, /) -> Result:  # type: ignore[type-var]
        tell(f"{stage} {shown(name)}", number, total)
        result: Result = run.run(stage, make, document)
        return result

    tell(shown(name), number, total)
    yield staged


def _evidence(result: QAResult, row: dict[str, Any]) -> str:
    text = result.document.text
    return "\n".join(text[start:end] for start, end in row["evidence"])


def _print_summary(
    reports: Sequence[dict[str, Any]], work: _Work, report: str | None, output: str | None, *, as_json: bool
) -> None:
    total = total_report(reports)
    if report is not None:
        row = {**total, "model": report_row(work.run) or None, "per_document": list(reports)}
        write_text(report, json.dumps(row, ensure_ascii=False, indent=2) + "\n")
    if as_json:
        print(json_line(total), file=sys.stderr)  # noqa: T201
        return
    counts = total["counts"]
    asked = f"{counts['asked']:,} asked for, {counts.get('given', 0):,} given, " if counts.get("asked") else ""
    where = f" in {shown(str(output))}" if output not in (None, "-") else ""
    n_merged = counts.get("merged", 0) + counts.get("merged by meaning", 0)
    errors.print(
        f"{count(total['pairs'], 'pair')} of {count(total['documents'], 'document')}{where}: {asked}"
        f"{n_merged:,} merged, {sum(total['refused'].values()):,} refused; "
        f"{total['coverage']:.1%} of {count(total['sentences'], 'sentence')} answered",
        soft_wrap=True,
    )
    if total["refused"]:
        reasons = sorted(total["refused"].items(), key=lambda item: (-item[1], item[0]))
        errors.print(
            "[dim]refused: " + ", ".join(f"{shown(name)} {n:,}" for name, n in reasons) + "[/]", soft_wrap=True
        )
    for one in reports:
        for failed in one["failed"]:
            where = f"{shown(one['source'])}: characters {failed['start']}-{failed['end']} have no pairs"
            errors.print(f"[red]error[/] {where}: {shown(failed['reason'])}", soft_wrap=True)


def _print_error_rate(path: str, *, as_json: bool) -> None:
    found = error_rate(path)
    if as_json:
        row = {"marked": found.n_marked, "wrong": found.n_wrong, "unmarked": found.n_unmarked,
               "rate": round(found.rate, 6), "low": round(found.low, 6), "high": round(found.high, 6),
               "by_origin": {name: {"marked": n, "wrong": bad} for name, (n, bad) in found.by_origin.items()},
               }  # fmt: skip
        print(json_line(row))  # noqa: T201
        return
    click.echo(
        f"{found.n_wrong} of {found.n_marked} marked pairs are wrong: {found.rate:.1%}, "
        f"95 % interval {found.low:.1%} to {found.high:.1%}"
        + (f"; {found.n_unmarked} rows without a mark" if found.n_unmarked else "")
    )
    if len(found.by_origin) > 1:
        for name, (n, wrong) in found.by_origin.items():
            click.echo(f"  {shown(name) or '-'}: {wrong} of {n}")
