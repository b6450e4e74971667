"""What a run measures: a TOML file, checked when it is read."""

from __future__ import annotations

import hashlib
import json
import tomllib
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from qchunker.bench.datasets import DATASETS
from qchunker.bench.methods import FILE_PREFIX, METHODS, TEXTS
from qchunker.bench.retrievers import RETRIEVERS
from qchunker.errors import ConfigError
from qchunker.models.load import DEFAULT_EMBEDDER, DEFAULT_LM

_MOST_SEEDS = 20
_LIST = (list, tuple)


@dataclass(frozen=True, slots=True)
class Spec:
    """One set, several ways to chunk it, at equal mean lengths.

    Args:
        set: a key of ``DATASETS``.
        path: of the folder with its files.
        methods: keys of ``METHODS``, or ``file:NAME.jsonl`` for chunks that another tool made.
        baseline: what the others are compared with.
        targets: mean lengths in characters; the paper's is 178.
        split: of the set; None for all.
        documents: how many of them, evenly spread, with the questions that they answer; None for all.
        questions: how many of them, evenly spread; None for all.
        seeds: of repeats. Each shifts the target lengths a little, so that the luck of the cut averages out, and seeds
            what is drawn.
        tolerance: of mean lengths, as a share of the target.
        retrievers: keys of ``RETRIEVERS``.
        k: chunks looked at by rank metrics.
        budgets: of retrieved text; the set's own where not given.
        texts: what is embedded and charged to the budget: ``embedded``, what the method embeds (with heading path and
            completion), or ``body``, the chunk alone.
        embedder: see ``load_embedder``.
        lm: see ``load_lm``; for methods that read with a language model.
    """

    set: str
    path: str
    methods: tuple[str, ...]
    baseline: str
    targets: tuple[int, ...]
    split: str | None = None
    documents: int | None = None
    questions: int | None = None
    seeds: tuple[int, ...] = (0, 1, 2)
    tolerance: float = 0.03
    retrievers: tuple[str, ...] = ("dense", "bm25", "hybrid")
    k: int = 8
    budgets: tuple[int, ...] = ()
    texts: str = "embedded"
    embedder: str = DEFAULT_EMBEDDER
    lm: str = DEFAULT_LM

    def __post_init__(self) -> None:
        for name in ("methods", "retrievers"):
            odd = next((one for one in getattr(self, name) if not isinstance(one, str) or not one.isprintable()), None)
            if odd is not None:
                raise ConfigError(name, f"must be printable texts, got {odd!r:.60}")
        _known("set", (self.set,), DATASETS)
        names = [name for name in self.methods if not name.startswith(FILE_PREFIX)]
        _known("methods", names, (*METHODS, f"{FILE_PREFIX}NAME.jsonl"))
        _known("retrievers", self.retrievers, RETRIEVERS)
        _known("texts", (self.texts,), TEXTS)
        if self.baseline not in self.methods:
            raise ConfigError("baseline", f"{self.baseline!r} is none of the methods")
        for name, least, most in (("targets", 20, 100_000), ("seeds", 0, _MOST_SEEDS), ("budgets", 1, 10**7)):
            values = getattr(self, name)
            if not all(type(one) is int and least <= one <= most for one in values):
                raise ConfigError(name, f"must be whole numbers from {least} to {most}, got {list(values)}")
        for name in ("methods", "targets", "seeds", "retrievers"):
            values = getattr(self, name)
            if not values or len(set(values)) < len(values):
                raise ConfigError(name, f"must name something, and nothing twice, got {list(values)}")
        if not 0 < self.tolerance <= 0.5:
            raise ConfigError("tolerance", f"must be above 0 and at most 0.5, got {self.tolerance}")
        if type(self.k) is not int or not 1 <= self.k <= 200:
            raise ConfigError("k", f"must be from 1 to 200, got {self.k}")
        for name in ("documents", "questions"):
            value = getattr(self, name)
            if value is not None and (type(value) is not int or value < 1):
                raise ConfigError(name, f"must be above 0, got {value}")

    @property
    def signature(self) -> str:
        """Short hash of everything in it but the path."""
        known = {name: value for name, value in asdict(self).items() if name != "path"}
        return hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()[:10]


def read_spec(path: Path, changes: dict[str, Any] | None = None) -> Spec:
    """The spec of a TOML file; a relative ``path`` in it is meant from where the file lies.

    Args:
        path: of the file.
        changes: values that take the place of those in the file.

    Raises:
        ConfigError: if the file cannot be read, or a value is unknown or of the wrong type.
    """
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, RecursionError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(
            "spec", f"{path}: cannot be read: {error}", hint="see docs/bench.md for an example"
        ) from error
    for name in ("path",):
        if isinstance(given.get(name), str):
            given[name] = (path.parent / given[name]).as_posix()
    given |= changes or {}
    return spec_of(given, str(path))


def spec_of(given: dict[str, Any], where: str) -> Spec:
    """A spec out of plain values.

    Raises:
        ConfigError: naming the value that is missing, unknown or of the wrong type.
    """
    known = {one.name: one for one in fields(Spec)}
    unknown = sorted(given.keys() - known.keys())
    if unknown:
        raise ConfigError(unknown[0], f"{where}: unknown", hint=f"known: {', '.join(known)}")
    needed = [name for name in ("set", "path", "methods", "baseline", "targets") if name not in given]
    if needed:
        raise ConfigError(needed[0], f"{where}: is missing")
    texts = {"set", "path", "baseline", "split", "texts", "embedder", "lm"}
    made: dict[str, Any] = {}
    for name, value in given.items():
        if name in texts and value is not None and not isinstance(value, str):
            raise ConfigError(name, f"{where}: must be text, got {value!r}")
        is_list = name in ("methods", "targets", "seeds", "retrievers", "budgets")
        if is_list and not isinstance(value, _LIST):
            raise ConfigError(name, f"{where}: must be a list, got {value!r}")
        if name == "tolerance" and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise ConfigError(name, f"{where}: must be a number, got {value!r}")
        made[name] = tuple(value) if is_list else value
    return Spec(**made)


def _known(name: str, values: Any, table: Any) -> None:
    unknown = next((value for value in values if value not in table), None)
    if unknown is not None:
        raise ConfigError(name, f"unknown: {unknown!r}", hint=f"known: {', '.join(table)}")
