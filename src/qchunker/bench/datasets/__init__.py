"""Data sets with documents and questions, one file each. A new one is a file here and a line in ``DATASETS``."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from qchunker.bench.dataset import BenchSet
from qchunker.bench.datasets import chroma, crud, drcd, folder, gutenqa, hchemsafety, multifieldqa_zh, omnieval
from qchunker.errors import ConfigError, InputError, QChunkerError


class Source(NamedTuple):
    """A set that can be read.

    Args:
        load: from a folder and a split to the set.
        language: of its texts.
        about: what it is, in a few words.
        where: it can be had.
    """

    load: Callable[[Path, str | None], BenchSet]
    language: str
    about: str
    where: str


DATASETS: dict[str, Source] = {
    "chroma": Source(chroma.load, "en", "long texts; excerpts as evidence", chroma.WHERE),
    "drcd": Source(drcd.load, "zh", "Wikipedia articles; sentences as evidence", drcd.WHERE),
    "crud": Source(crud.load, "zh", "news; answers over one to three articles", crud.WHERE),
    "multifieldqa_zh": Source(multifieldqa_zh.load, "zh", "long documents; short answers", multifieldqa_zh.WHERE),
    "omnieval": Source(omnieval.load, "zh", "finance; answers", omnieval.WHERE),
    "hchemsafety": Source(hchemsafety.load, "zh", "hazardous chemicals; answers", hchemsafety.WHERE),
    "gutenqa": Source(gutenqa.load, "en", "books; passages as evidence", gutenqa.WHERE),
    "folder": Source(folder.load, "any", "documents and questions of your own", "questions.jsonl in your folder"),
}


def load_set(name: str, path: Path, split: str | None = None) -> BenchSet:
    """A set by name, from the folder it lies in.

    Raises:
        ConfigError: if there is no such set.
        InputError: if its files are missing or broken.
    """
    if name not in DATASETS:
        raise ConfigError("set", f"unknown: {name!r}", hint=f"known: {', '.join(DATASETS)}")
    try:
        return DATASETS[name].load(path, split)
    except QChunkerError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError, RecursionError, csv.Error) as error:
        raise InputError(
            f"{path}: the files of {name} have another form than the published one: {type(error).__name__}: {error}",
            hint=f"compare them with {DATASETS[name].where}",
        ) from error
