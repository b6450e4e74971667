"""The options of commands that a language model takes part in, and what is said about its part afterwards."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

import click
from click.core import ParameterSource

from qchunker.cli.terminal import count, errors, shown
from qchunker.config import ANSWER_FORMS, LLMConfig
from qchunker.debate.workflow import RunStage, run_directly
from qchunker.errors import ConfigError
from qchunker.journal import FILE, Journal, journalled
from qchunker.models.dry_run import DryRunLLM
from qchunker.models.llm import LLM, Tally
from qchunker.models.load_llm import load_llm
from qchunker.models.metered import MeteredLLM, Price, Spending, estimated_tokens
from qchunker.models.sequence_classifier import PairClassifier, load_classifier

Command = Callable[..., Any]
KEY = "QCHUNKER_API_KEY"
ROLES = ("llm", "generator", "discriminator", "refiner")
ROLE_OPTIONS: dict[str, Any] = {
    "llm_answers": LLMConfig().answers, "rounds": LLMConfig().rounds, "prompts": None,
    "window_chars": LLMConfig().window_chars, "reply_tokens": LLMConfig().reply_tokens,
}  # fmt: skip
"""Options that only the roles of the debate know, with their defaults."""

_MOST_PROBLEMS = 3


def run_options(command: Command) -> Command:
    """What a run with a model may cost, and where it is remembered."""
    for option in (
        click.option("--concurrency", type=click.IntRange(1, 256), default=8, show_default=True,
                     help="Requests at work."),
        click.option("--price", metavar="IN,OUT", help="Of a million tokens read and written, in any currency."),
        click.option("--budget", type=float,
                     help="Most to spend: tokens, or money with --price. What is finished is kept."),
        click.option("--run-dir", metavar="FOLDER",
                     help="Journal of the run: the same command goes on where it stopped, and pays for nothing twice."),
        click.option("--dry-run", is_flag=True, help="Tell calls, tokens and cost; ask nothing, write nothing."),
    ):  # fmt: skip
        command = option(command)
    return command


def llm_options(command: Command) -> Command:
    """Who answers, how it is asked, and what it may cost."""
    default = LLMConfig()
    for option in (
        click.option("--llm", metavar="PLACE",
                     help="A language model plays the roles, or serves the methods lumber, moc and llm: http://host/v1 "
                          "(any OpenAI-compatible server), "
                          f"openvino:NAME_OR_PATH or transformers:NAME_OR_PATH.  [key: {KEY}]"),
        click.option("--llm-model", metavar="NAME", help="Of the model on the server."),
        click.option("--generator", metavar="PLACE[::NAME]",
                     help="A small model that was taught to outline and cut in one reply; it does both then."),
        click.option("--discriminator", metavar="PLACE[::NAME]",
                     help="One that was taught to judge which chunks lack something; or classifier:NAME_OR_PATH."),
        click.option("--refiner", metavar="PLACE[::NAME]", help="One that was taught to rewrite such chunks."),
        click.option("--llm-answers", type=click.Choice(ANSWER_FORMS), default=default.answers, show_default=True,
                     help="How it names cuts."),
        click.option("--rounds", type=int, default=default.rounds, show_default=True,
                     help="Reviews at most; completed chunks are read again."),
        click.option("--prompts", metavar="FOLDER", help="Prompts of your own, such as reviewer.zh.md."),
        click.option("--window-chars", type=int, default=default.window_chars, show_default=True,
                     help="Of the document, that one request shows."),
        click.option("--reply-tokens", type=int, default=default.reply_tokens, show_default=True,
                     help="Of a reply, before less is asked for at once."),
        run_options,
        click.option("--report", metavar="FILE.json", help="Also write what the model did and cost."),
    ):  # fmt: skip
        command = option(command)
    return command


class _Place(NamedTuple):
    """Where a model is, and its name on the server."""

    where: str
    name: str | None


@dataclass(slots=True)
class LLMRun:
    """Models at work, with their journal.

    Args:
        models: by role: ``llm``, ``generator``, ``discriminator``, ``refiner``; none where the rules play the roles.
        spending: of all of them.
        run: runs the stages.
        tally: of what happened.
        price: of tokens, if it was given.
        dry: what a dry run would have asked, by model.
    """

    models: dict[str, LLM | PairClassifier] = field(default_factory=dict)
    spending: Spending = field(default_factory=Spending)
    run: RunStage = run_directly
    tally: Tally = field(default_factory=Tally)
    price: Price | None = None
    dry: list[DryRunLLM] | None = None

    @property
    def was_of_no_use(self) -> bool:
        """Whether models were asked and none of them ever answered, now or in an earlier run."""
        return 0 < self.spending.failed == self.spending.calls and self.spending.remembered == 0


def pop_llm_settings(settings: dict[str, Any]) -> dict[str, Any]:
    """The values of ``llm_options``, taken out of all settings."""
    names = (*ROLES, "llm_model", "llm_answers", "rounds", "prompts", "window_chars", "reply_tokens", "concurrency",
             "price", "budget", "run_dir", "dry_run", "report")  # fmt: skip
    return {name: settings.pop(name) for name in names}


def llm_config(given: dict[str, Any], n_paths: int, seed: int) -> LLMConfig:
    """How the model is asked; where no number of paths was given, as often as by default."""
    source = click.get_current_context().get_parameter_source("n_paths")
    n_paths = LLMConfig().paths if source is ParameterSource.DEFAULT else n_paths
    return LLMConfig(
        paths=n_paths, answers=given["llm_answers"], rounds=given["rounds"],
        prompts=given["prompts"], window_chars=given["window_chars"], reply_tokens=given["reply_tokens"], seed=seed,
    )  # fmt: skip


@contextmanager
def llm_run(given: dict[str, Any]) -> Iterator[LLMRun]:
    """The models that were named, with their journal open; nothing where none was.

    Raises:
        ConfigError: if an option that needs a model stands alone. RunBusyError: if the run is being worked on.
    """
    if given["llm"] is None and given["llm_model"] is not None:
        raise ConfigError("llm-model", "only a language model knows it", hint="give --llm too")
    default = {"rounds": 1, "prompts": None, "price": None, "budget": None, "run_dir": None,
               "dry_run": False, "report": None}  # fmt: skip
    if all(given[role] is None for role in ROLES):
        for name, value in default.items():
            if given[name] != value:
                raise ConfigError(name.replace("_", "-"), "only a language model knows it", hint="give --llm too")
        yield LLMRun()
        return
    price = _price(given["price"])
    with ExitStack() as stack:
        folder = Path(given["run_dir"]) if given["run_dir"] else None
        journal = None
        if folder is not None and (not given["dry_run"] or (folder / FILE).is_file()):
            journal = stack.enter_context(Journal(folder))
        dry: list[DryRunLLM] | None = [] if given["dry_run"] else None
        result = LLMRun(price=price, dry=dry)
        budget = None if given["dry_run"] else given["budget"]
        loaded: dict[_Place, LLM | PairClassifier] = {}  # one model may play several roles
        for role in ROLES:
            if given[role] is None:
                continue
            place = _Place(given["llm"], given["llm_model"]) if role == "llm" else _place(given[role])
            if place not in loaded:
                model = _loaded(role, place, given["concurrency"])
                if not isinstance(model, PairClassifier):
                    if dry is not None:
                        model = DryRunLLM(model.id)
                        dry.append(model)
                    more = {"patience": inf} if dry is not None else {}
                    model = MeteredLLM(model, journal, budget=budget, price=price, spending=result.spending, **more)
                loaded[place] = model
            result.models[role] = loaded[place]
        if journal is not None and dry is None:
            result.run = journalled(journal, lambda: _counts(result.tally, result.spending))
        yield result


def _place(given: str) -> _Place:
    """A place and the name behind ``::``; an address may hold colons in brackets."""
    found = re.fullmatch(r"(.+?)(?:::([^\]]+))?", given)
    return _Place(found[1], found[2]) if found else _Place(given, None)


def _loaded(role: str, place: _Place, concurrency: int) -> LLM | PairClassifier:
    where, name = place
    if role == "discriminator" and where.startswith("classifier:"):
        return load_classifier(where, name)
    settings = {"concurrency": concurrency} if where.startswith(("http:", "https:")) else {}
    if role != "llm" and settings and name is None:
        raise ConfigError(role, "a server needs the name of the model", hint=f"write {where}::NAME")
    return load_llm(where, name, api_key=os.environ.get(KEY), **settings)


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


def print_estimate(run: LLMRun, texts: list[str]) -> None:
    """What a dry run found out."""
    if run.dry is None:
        return
    calls, read, written = (
        sum(getattr(one, name) for one in run.dry) for name in ("calls", "prompt_tokens", "completion_tokens")
    )
    document_tokens = max(1, sum(map(estimated_tokens, texts)))
    row: dict[str, Any] = {
        "documents": len(texts), "document_tokens": document_tokens, "calls": calls,
        "remembered": run.spending.remembered, "prompt_tokens": read, "completion_tokens": written,
        "growth": round((read + written) / document_tokens, 2),
    }  # fmt: skip
    if run.price is not None:
        row["cost"] = round(run.price.of(read, written), 6)
    cost = f", cost about {row['cost']:g}" if "cost" in row else ""
    errors.print(
        f"{count(row['documents'], 'document')} of about {document_tokens:,} tokens: about {row['calls']:,} calls, "
        f"{row['prompt_tokens']:,} tokens read and {row['completion_tokens']:,} written "
        f"({row['growth']:g} x the documents){cost}; {row['remembered']:,} replies are there already; nothing asked",
        soft_wrap=True,
    )


def print_spending(run: LLMRun, report: str | None) -> None:
    """What the models did, for people; and as JSON where that was asked for."""
    if not run.models:
        return
    spending, counts = run.spending, run.tally.counts
    row = report_row(run)
    if report is not None:
        Path(report).write_text(json.dumps(row, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    names = ", ".join(dict.fromkeys(model.id for model in run.models.values()))
    cost = f", cost {row['cost']:g}" if "cost" in row else ""
    errors.print(
        f"{count(spending.calls, 'call')} to {shown(names)}, {spending.remembered:,} replies remembered; "
        f"{spending.prompt_tokens:,} tokens read, {spending.completion_tokens:,} written{cost}",
        soft_wrap=True,
    )
    unjudged = counts["chunks without a usable judgement"] + counts["chunks too long to judge"]
    if "discriminator" in run.models:
        errors.print(
            f"discriminator: {counts['chunks judged incomplete']:,} chunks incomplete"
            + (f", {unjudged:,} not judged and left as they are" if unjudged else "")
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
    """Everything about the part of the models, for machines."""
    if not run.models:
        return {}
    spending = run.spending
    row: dict[str, Any] = {
        **{role: model.id for role, model in run.models.items()},
        "calls": spending.calls, "failed_calls": spending.failed, "remembered": spending.remembered,
        "prompt_tokens": spending.prompt_tokens,
        "completion_tokens": spending.completion_tokens, "counts": dict(sorted(run.tally.counts.items())),
        "problems": list(dict.fromkeys(run.tally.problems)),
    }  # fmt: skip
    if run.price is not None:
        row["cost"] = round(spending.money(run.price), 6)
    return row
