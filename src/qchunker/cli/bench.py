"""``qchunker bench``: run, report, compare."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Callable
from dataclasses import replace
from math import isfinite
from pathlib import Path
from typing import Any, cast

import click

from qchunker.bench.answer_run import REPLY_TOKENS, answer_run
from qchunker.bench.datasets import DATASETS
from qchunker.bench.document import as_markdown, as_page, printable
from qchunker.bench.report import FEW_CLUSTERS, FEWEST_CLUSTERS, sections_of
from qchunker.bench.run import cells_of, data_of, name_of, run, write_json
from qchunker.bench.spec import Spec, read_spec
from qchunker.bench.study.report import study_sections
from qchunker.bench.study.run import StudyConfig, study
from qchunker.bench.tables import Results, corrected_p, lengths_of, paired, values_over_seeds
from qchunker.chunking import LLM_METHODS, LM_METHODS
from qchunker.cli.llm import KEY, ROLE_OPTIONS, ROLES, llm_run, print_estimate, print_spending, run_options
from qchunker.cli.terminal import SOME_FAILED, Output, count, errors, json_line, progress_of
from qchunker.errors import ConfigError, InputError
from qchunker.models.llm import LLM
from qchunker.models.load import Models, load_models
from qchunker.rows import write_text
from qchunker.version import __version__

Command = Callable[..., Any]
RESULTS = "benchmarks/results"


@click.group()
def bench() -> None:
    """Compare ways to chunk, on data with questions, at equal length, with honest statistics."""


@bench.command(name="datasets")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per set.")
def datasets_command(as_json: bool) -> None:
    """Sets that can be read, and where they can be had."""
    for name, source in DATASETS.items():
        row = {"set": name, "language": source.language, "about": source.about, "where": source.where}
        if as_json:
            click.echo(json_line(row))
        else:
            click.echo(f"{name:16} {source.language:4} {source.about}\n{'':22}{source.where}")


def _filed(command: Command) -> Command:
    """Where a result goes, and of how much it is."""
    for option in (
        click.option("-o", "--out", type=click.Path(path_type=Path), default=RESULTS, show_default=True,
                     metavar="FOLDER", help="Where the result is filed, as COMMIT-SIGNATURE.json."),
        click.option("--questions", type=int, help="So many of the questions, evenly spread."),
    ):  # fmt: skip
        command = option(command)
    return command


def _llm(what: str, *, required: bool) -> Callable[[Command], Command]:
    """The model that is asked."""

    def decorated(command: Command) -> Command:
        for option in (
            click.option("--llm-model", metavar="NAME", help="Of the model on the server."),
            click.option("--llm", metavar="PLACE", required=required,
                         help=f"{what}: http://host/v1 (any OpenAI-compatible server), openvino:NAME_OR_PATH or "
                              f"transformers:NAME_OR_PATH.  [key: {KEY}]"),
        ):  # fmt: skip
            command = option(command)
        return command

    return decorated


@bench.command(name="run")
@click.argument("spec", type=click.Path(path_type=Path))
@_filed
@_llm("Asked by the methods lumber, moc and llm, and by qchunker", required=False)
@run_options
def run_command(spec: Path, out: Path, questions: int | None, **given: Any) -> None:
    """Measure every method of SPEC.toml; the same command goes on where it was stopped.

    Finished parts are kept in --run-dir, which is FOLDER/run of --out when not given.
    """
    read = _read(spec, questions)
    asking = next((name for name in read.methods if name in LLM_METHODS), None)
    if asking is not None and given["llm"] is None:
        raise ConfigError("llm", f"the method {asking!r} asks a language model", hint="give --llm")
    if given["dry_run"]:
        _print_plan(read)
        return
    folder = Path(given["run_dir"]) if given["run_dir"] else out / "run"
    kept = {"run_dir": str(folder)} if given["llm"] else {"run_dir": None}
    with llm_run(_options(given) | kept) as model:
        try:
            with progress_of("bench") as tell:
                models = replace(spec_models(read), llm=cast("LLM | None", model.models.get("llm")), tally=model.tally)
                results = run(read, folder, models, tell)
        finally:
            print_spending(model, None)
    _file(out / f"{revision()}-{name_of(results)}.json", results)


@bench.command(name="answer")
@click.argument("spec", type=click.Path(path_type=Path))
@_filed
@click.option("--prompts", metavar="FOLDER", help="With answer.en.md or answer.zh.md of your own.")
@click.option(
    "--reply-tokens",
    type=click.IntRange(1, 10**6),
    default=REPLY_TOKENS,
    show_default=True,
    help="Of an answer at most.",
)
@_llm("Answers", required=True)
@run_options
def answer_command(
    spec: Path, out: Path, questions: int | None, prompts: str | None, reply_tokens: int, **given: Any
) -> None:  # fmt: skip
    """Have a language model answer from the best chunks of every method, and compare with the references."""
    read = _read(spec, questions)
    with llm_run(_options(given)) as model:
        llm = cast("LLM", model.models["llm"])
        folder = Path(prompts) if prompts else None
        try:
            with progress_of("bench") as tell:
                results = answer_run(read, spec_models(read), llm, folder, reply_tokens, tell)
        finally:
            print_spending(model, None)
        if model.dry is not None:
            print_estimate(model, [one.text for one in data_of(read).documents])
            return
    failed, asked = sum(cell["failed"] for cell in results["cells"]), len(results["cells"]) * len(results["questions"])
    if failed:
        errors.print(f"[yellow]{failed} of {asked} answers failed[/] and score 0")
    _file(out / f"{revision()}-{name_of(results)}-answers.json", results)
    if failed == asked:
        raise click.exceptions.Exit(SOME_FAILED)


def _read(spec: Path, questions: int | None) -> Spec:
    return read_spec(spec, {"questions": questions} if questions is not None else None)


def _options(given: dict[str, Any]) -> dict[str, Any]:
    """Everything that ``llm_run`` knows; the bench has one model, and its roles are set by default."""
    return dict.fromkeys(ROLES) | ROLE_OPTIONS | {"report": None} | given


def _file(path: Path, results: dict[str, Any]) -> None:
    write_json(path, results)
    click.echo(printable(path.as_posix()))


def _print_plan(spec: Spec) -> None:
    data = data_of(spec)
    errors.print(
        f"{count(len(cells_of(spec)), 'cell')}: {count(len(spec.methods), 'method')}, "
        f"{count(len(spec.targets), 'length')}, {count(len(spec.seeds), 'seed')}; "
        f"{count(len(data.documents), 'document')} of {sum(len(one.text) for one in data.documents):,} characters, "
        f"{count(len(data.questions), 'question')}"
    )


@bench.command(name="chunkscore")
@click.argument("specs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    default=RESULTS,
    show_default=True,
    metavar="FOLDER",
    help="Where the study is filed.",
)
@click.option(
    "--run-dir",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Where finished parts are kept, those of `bench run` too.  [default: FOLDER/run of --out]",
)
@click.option("--lm", default="auto", show_default=True, help="Reads for LI; none leaves it out.")
@click.option("--sections", type=int, default=StudyConfig().sections, show_default=True, help="Scored, of every set.")
@click.option(
    "--section-chars", type=int, default=StudyConfig().section_chars, show_default=True, help="About their length."
)
@click.option(
    "--within",
    type=int,
    default=StudyConfig().within_sections,
    show_default=True,
    help="Sections that are cut at random.",
)
@click.option("--output", metavar="FILE", help="Also the report, as Markdown.")
@click.option("--html", "page", metavar="FILE", help="Also one page of HTML with plots.")
def chunkscore_command(
    specs: tuple[Path, ...], out: Path, run_dir: Path | None, lm: str, sections: int, section_chars: int, within: int,
    output: str | None, page: str | None,
) -> None:  # fmt: skip
    """Do ChunkScore and other direct scores tell which chunks will be found? Over the runs of SPECS, one per set."""
    config = StudyConfig(sections=sections, section_chars=section_chars, within_sections=within)
    folder = run_dir or out / "run"
    with progress_of("study") as tell:
        read = [read_spec(path) for path in specs]
        runs = [(spec, run(spec, folder, spec_models(spec), tell)) for spec in read]
        made = study(runs, lambda text: load_models(read[0].embedder, lm, text=text), config, folder, tell)
    digest = hashlib.sha256("".join(one["signature"] for one in made["sets"]).encode()).hexdigest()[:10]
    _file(out / f"{revision()}-{digest}-study.json", made)
    title = "Direct scores and retrieval"
    found = study_sections(made, with_plots=page is not None)
    if output is not None:
        write_text(output, as_markdown(title, found))
    if page is not None:
        write_text(page, as_page(title, found))


@bench.command(name="report")
@click.argument("results", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("-o", "--output", metavar="FILE", help="Markdown; standard output when not given.")
@click.option("--html", "page", metavar="FILE", help="Also one page of HTML with plots.")
@click.option("--metric", "metrics", multiple=True, help="Besides each set's primary one; several times.")
@click.option("--title", default="Benchmark", show_default=True)
def report_command(
    results: tuple[Path, ...], output: str | None, page: str | None, metrics: tuple[str, ...], title: str
) -> None:
    """Lengths, values and differences of results, with intervals and corrected p-values."""
    read = [read_results(path) for path in results]
    sections = sections_of(read, metrics, with_plots=page is not None)
    text = as_markdown(title, sections)
    if output is None:
        Output().print(text, markup=False, highlight=False, soft_wrap=True)
    else:
        write_text(output, text)
    if page is not None:
        write_text(page, as_page(title, sections))


@bench.command(name="compare")
@click.argument("first", type=click.Path(path_type=Path))
@click.argument("second", type=click.Path(path_type=Path))
@click.option("--metric", help="Instead of the set's primary one.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per method, length and retriever.")
def compare_command(first: Path, second: Path, metric: str | None, as_json: bool) -> None:
    """The same methods in two results: did a version get better?"""
    a, b = read_results(first), read_results(second)
    metric = metric or a["set"]["primary"]
    shared = [one for one in a["spec"]["methods"] if one in b["spec"]["methods"]]
    targets = [one for one in a["spec"]["targets"] if one in b["spec"]["targets"]]
    retrievers = [one for one in a["spec"]["retrievers"] if one in b["spec"]["retrievers"]]
    if not (shared and targets and retrievers):
        raise InputError("the results have no method, length and retriever in common", hint="see their specs")
    found = {
        (method, target, retriever): paired(a, b, method, target, retriever, metric)
        for method in shared for target in targets for retriever in retrievers
    }  # fmt: skip
    corrected = corrected_p(found)
    for key, one in found.items():
        row = dict(zip(("method", "target", "retriever"), key, strict=True)) | {"metric": metric} | one._asdict()
        row["p_holm"] = corrected.get(key)
        click.echo(json_line(_finite(row)) if as_json else printable(_line(row)))
    n_clusters = min(one.n_clusters for one in found.values())
    if n_clusters < FEWEST_CLUSTERS:
        errors.print(f"[yellow]note[/] {FEW_CLUSTERS} ({n_clusters})")


def _finite(row: dict[str, Any]) -> dict[str, Any]:
    """What JSON has no number for is null."""
    return {key: None if isinstance(value, float) and not isfinite(value) else value for key, value in row.items()}


def _line(row: dict[str, Any]) -> str:
    p = "" if row["p_holm"] is None else f" p={row['p_holm']:.4f}"
    return (
        f"{row['method']} at {row['target']}, {row['retriever']}: {row['metric']} {row['a']:.4f} -> {row['b']:.4f}, "
        f"{row['difference']:+.4f} [{row['low']:+.4f}, {row['high']:+.4f}]{p} (n={row['n']})"
    )


def read_results(path: Path) -> Results:
    """A result that ``run`` filed.

    Raises:
        InputError: if it cannot be read or is none.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error
    if not isinstance(found, dict) or not {"spec", "set", "cells", "questions", "metrics"} <= found.keys():
        raise InputError(f"{path}: is no result of a run", hint="give files that `qchunker bench run` wrote")
    try:
        list(lengths_of(found))
        [values_over_seeds(found, cell["method"], cell["target"], name, metric)
         for cell in found["cells"] for name in found["spec"]["retrievers"] for metric in found["metrics"]]  # fmt: skip
        whole = len(found["questions"]) == len(found["clusters"]) and found["set"]["budgets"] and found["signature"]
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
        raise InputError(f"{path}: is damaged: {type(error).__name__}: {error}", hint="run it again") from error
    if not whole:
        raise InputError(f"{path}: is damaged", hint="run it again")
    return found


def revision() -> str:
    """The commit of the checkout that this is run in, else the version of the package."""
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short", "HEAD"]
    try:
        found = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return __version__
    return found.stdout.strip() or __version__


def spec_models(spec: Spec) -> Models:
    """The models that the methods of a spec need."""
    needs_lm = any(method in LM_METHODS for method in spec.methods)
    text = "".join(one.text[:2000] for one in data_of(spec).documents) if needs_lm else ""
    return load_models(spec.embedder, spec.lm if needs_lm else "none", text=text)
