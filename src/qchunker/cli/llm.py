"""The options of commands that a language model takes part in, and what is said about its part afterwards."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from qchunker.cli.terminal import count, errors, json_line, shown
from qchunker.config import ANSWER_FORMS, LLMConfig
from qchunker.debate.workflow import RunStage, run_directly
from qchunker.errors import ConfigError
from qchunker.journal import Journal, journalled
from qchunker.models.dry_run import DryRunLLM
from qchunker.models.llm import LLM, Tally
from qchunker.models.load_llm import load_llm
from qchunker.models.metered import MeteredLLM, Price, Spending, estimated_tokens

Command = Callable[..., Any]
KEY = "QCHUNKER_API_KEY"
_MOST_PROBLEMS = 3


def llm_options(command: Command) -> Command:
    """Who answers, how it is asked, and what it may cost."""
    default = LLMConfig()
    for option in (
        click.option("--llm", metavar="PLACE",
                     help="A language model plays the roles: http://host/v1 (any OpenAI-compatible server), "
                          f"openvino:NAME_OR_PATH or transformers:NAME_OR_PATH.  [key: {KEY}]"),
        click.option("--llm-model", metavar="NAME", help="Of the model on the server."),
        click.option("--llm-answers", type=click.Choice(ANSWER_FORMS), default=default.answers, show_default=True,
                     help="How it names cuts."),
        click.option("--rounds", type=int, default=default.rounds, show_default=True,
                     help="Reviews at most; completed chunks are read again."),
        click.option("--prompts", metavar="FOLDER", help="Prompts of your own, such as reviewer.zh.md."),
        click.option("--window-chars", type=int, default=default.window_chars, show_default=True,
                     help="Of the document, that one request shows."),
        click.option("--reply-tokens", type=int, default=default.reply_tokens, show_default=True,
                     help="Of a reply, before less is asked for at once."),
        click.option("--concurrency", type=click.IntRange(1, 256), default=8, show_default=True,
                     help="Requests at work."),
        click.option("--price", metavar="IN,OUT", help="Of a million tokens read and written, in any currency."),
        click.option("--budget", type=float,
                     help="Most to spend: tokens, or money with --price. What is finished is kept."),
        click.option("--run-dir", metavar="FOLDER",
                     help="Journal of the run: the same command goes on where it stopped, and pays for nothing twice."),
        click.option("--dry-run", is_flag=True, help="Tell calls, tokens and cost; ask nothing, write nothing."),
        click.option("--report", metavar="FILE.json", help="Also write what the model did and cost."),
    ):  # fmt: skip
        command = option(command)
    return command


@dataclass(slots=True)
class LLMRun:
    """A language model at work, with its journal.

    Args:
        llm: that is asked; None where the rules play the roles.
        run: runs the stages.
        tally: of what happened.
        price: of tokens, if it was given.
        dry: what a dry run would have asked.
    """

    llm: MeteredLLM | None
    run: RunStage
    tally: Tally
    price: Price | None
    dry: DryRunLLM | None = None


def pop_llm_settings(settings: dict[str, Any]) -> dict[str, Any]:
    """The values of ``llm_options``, taken out of all settings."""
    names = ("llm", "llm_model", "llm_answers", "rounds", "prompts", "window_chars", "reply_tokens", "concurrency",
             "price", "budget", "run_dir", "dry_run", "report")  # fmt: skip
    return {name: settings.pop(name) for name in names}


def llm_config(given: dict[str, Any], n_paths: int, seed: int) -> LLMConfig:
    """How the model is asked; ``n_paths`` of 1 leaves the number of paths to the default."""
    default = LLMConfig()
    return LLMConfig(
        paths=n_paths if n_paths > 1 else default.paths, answers=given["llm_answers"], rounds=given["rounds"],
        prompts=given["prompts"], window_chars=given["window_chars"], reply_tokens=given["reply_tokens"], seed=seed,
    )  # fmt: skip


@contextmanager
def llm_run(given: dict[str, Any]) -> Iterator[LLMRun]:
    """The model that was named, with its journal open; nothing where none was.

    Raises:
        ConfigError: if an option that needs a model stands alone. RunBusyError: if the run is being worked on.
    """
    default = {"llm_model": None, "rounds": 1, "prompts": None, "price": None, "budget": None, "run_dir": None,
               "dry_run": False, "report": None}  # fmt: skip
    if given["llm"] is None:
        for name, value in default.items():
            if given[name] != value:
                raise ConfigError(name.replace("_", "-"), "only a language model knows it", hint="give --llm too")
        yield LLMRun(None, run_directly, Tally(), None)
        return
    price = _price(given["price"])
    with ExitStack() as stack:
        folder = Path(given["run_dir"]) if given["run_dir"] else None
        journal = None
        if folder is not None and (not given["dry_run"] or folder.exists()):
            journal = stack.enter_context(Journal(folder))
        loaded, dry = _loaded(given)
        llm = MeteredLLM(loaded, journal, budget=None if dry else given["budget"], price=price)
        tally = Tally()
        run = run_directly
        if journal is not None and dry is None:
            run = journalled(journal, lambda: _counts(tally, llm.spending))
        yield LLMRun(llm, run, tally, price, dry)


def _loaded(given: dict[str, Any]) -> tuple[LLM, DryRunLLM | None]:
    key = os.environ.get(KEY)
    settings = {"concurrency": given["concurrency"]} if given["llm"].startswith(("http:", "https:")) else {}
    loaded = load_llm(given["llm"], given["llm_model"], api_key=key, **settings)
    if not given["dry_run"]:
        return loaded, None
    dry = DryRunLLM(loaded.id)
    return dry, dry


def _price(given: str | None) -> Price | None:
    if given is None:
        return None
    try:
        read, written = (float(part) for part in given.split(","))
        if not (0 <= read < float("inf") and 0 <= written < float("inf")):
            raise ValueError
    except ValueError:
        raise ConfigError("price", f"must be two numbers such as 0.5,1.5, got {given!r}") from None
    return Price(read, written)


def _counts(tally: Tally, spending: Spending) -> dict[str, int]:
    return dict(tally.counts) | {
        "calls": spending.calls, "remembered": spending.remembered, "prompt tokens": spending.prompt_tokens,
        "completion tokens": spending.completion_tokens,
    }  # fmt: skip


def print_estimate(run: LLMRun, texts: list[str], *, as_json: bool = False) -> None:
    """What a dry run found out."""
    dry = run.dry
    if dry is None:
        return
    document_tokens = max(1, sum(map(estimated_tokens, texts)))
    row: dict[str, Any] = {
        "documents": len(texts), "document_tokens": document_tokens, "calls": dry.calls,
        "remembered": run.llm.spending.remembered if run.llm else 0, "prompt_tokens": dry.prompt_tokens,
        "completion_tokens": dry.completion_tokens,
        "growth": round((dry.prompt_tokens + dry.completion_tokens) / document_tokens, 2),
    }  # fmt: skip
    if run.price is not None:
        row["cost"] = round(run.price.of(dry.prompt_tokens, dry.completion_tokens), 6)
    if as_json:
        print(json_line(row))  # noqa: T201
        return
    cost = f", cost about {row['cost']:g}" if "cost" in row else ""
    errors.print(
        f"{count(row['documents'], 'document')} of about {document_tokens:,} tokens: about {row['calls']:,} calls, "
        f"{row['prompt_tokens']:,} tokens read and {row['completion_tokens']:,} written "
        f"({row['growth']:g} x the documents){cost}; {row['remembered']:,} replies are there already; nothing asked",
        soft_wrap=True,
    )


def print_spending(run: LLMRun, report: str | None) -> None:
    """What the model did, for people; and as JSON where that was asked for."""
    if run.llm is None:
        return
    spending, counts = run.llm.spending, run.tally.counts
    row = report_row(run)
    if report is not None:
        Path(report).write_text(json.dumps(row, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    cost = f", cost {row['cost']:g}" if "cost" in row else ""
    errors.print(
        f"{count(spending.calls, 'call')} to {shown(run.llm.id)}, {spending.remembered:,} replies remembered; "
        f"{spending.prompt_tokens:,} tokens read, {spending.completion_tokens:,} written{cost}",
        soft_wrap=True,
    )
    if counts["rewrites"]:
        errors.print(
            f"rewrites: {counts['rewrites accepted']:,} accepted, {counts['rewrites refused']:,} refused, "
            f"{counts['rewrites that add nothing']:,} empty; {counts['extractive instead']:,} chunks completed by "
            "quotation instead"
        )
    fallen = {name: counts[name] for name in ("outlined by rules", "windows cut by rules", "reviewed by rules")}
    if any(fallen.values()):
        errors.print(
            f"[yellow]rules instead of the model[/] for {fallen['outlined by rules']:,} outlines, "
            f"{fallen['windows cut by rules']:,} segmentations, {fallen['reviewed by rules']:,} reviews of chunks"
        )
    problems = list(dict.fromkeys(run.tally.problems))
    for problem in problems[:_MOST_PROBLEMS]:
        errors.print(f"[yellow]model[/] {shown(problem)}", soft_wrap=True)
    if len(problems) > _MOST_PROBLEMS:
        errors.print(f"  [dim]and {len(problems) - _MOST_PROBLEMS} other problems; all with --report[/]")


def report_row(run: LLMRun) -> dict[str, Any]:
    """Everything about the part of a model, for machines."""
    if run.llm is None:
        return {}
    spending = run.llm.spending
    row: dict[str, Any] = {
        "llm": run.llm.id, "calls": spending.calls, "failed_calls": spending.failed,
        "remembered": spending.remembered, "prompt_tokens": spending.prompt_tokens,
        "completion_tokens": spending.completion_tokens, "counts": dict(sorted(run.tally.counts.items())),
        "problems": list(dict.fromkeys(run.tally.problems)),
    }  # fmt: skip
    if run.price is not None:
        row["cost"] = round(spending.money(run.price), 6)
    return row
