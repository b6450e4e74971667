"""What models are asked, one Markdown file per role and language; users may put others in their place.

A file has the parts ``# system`` (what to do), ``# shared`` (what many requests have in common) and ``# own``, with
``$names`` that the caller fills in. Unknown and missing names are errors. Documents are filled in as data: their text
cannot close the tags around it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from string import Template

from qchunker.errors import ConfigError

LANGUAGES = ("en", "zh")
_PARTS = ("system", "shared", "own")
_PART = re.compile(r"^# (system|shared|own)[ \t]*$", re.MULTILINE)
_TAG = re.compile(r"<(?=/?(?:text|chunk|passage|item|outline|answer)\b)", re.IGNORECASE)
# Variables that a prompt of each name has; a file may leave some out, but uses no others.
VARIABLES: Mapping[str, frozenset[str]] = {
    "outline": frozenset({"text", "title"}),
    "segmenter": frozenset({"text", "title", "outline", "target", "limit"}),
    "segmenter_anchors": frozenset({"text", "title", "outline", "target", "limit"}),
    "reviewer": frozenset({"text", "title", "outline", "passages", "chunks", "kinds"}),
    "verifier": frozenset({"text", "title", "chunk", "items"}),
    "completer": frozenset({"title", "chunk", "items"}),
    "repair": frozenset({"reply", "problem"}),
    "generator": frozenset({"text", "title"}),
    "discriminator": frozenset({"text", "title", "chunk"}),
    "refiner": frozenset({"text", "title", "chunk"}),
    "answer": frozenset({"passages", "question"}),
    "lumber": frozenset({"text", "last"}),
    "moc_router": frozenset({"text", "small", "medium", "large"}),
    "moc": frozenset({"text", "size"}),
    "direct": frozenset({"text", "target", "limit"}),
    "margin": frozenset({"chunk", "sentence"}),
    "qa_single": frozenset({"title", "text", "count"}),
    "qa_group": frozenset({"title", "outline", "text", "path", "passage", "count"}),
    "qa_more": frozenset({"title", "path", "passage", "count"}),
    "qa_full_answer": frozenset({"title", "items"}),
    "qa_variants": frozenset({"items", "count"}),
    "qa_judge": frozenset({"title", "passage", "items"}),
}


class Tagged(str):
    """Text with tags that the caller put there, around what went through ``as_data``."""

    __slots__ = ()


# What a prompt cannot do without.
_NEEDED: Mapping[str, frozenset[str]] = {
    "outline": frozenset({"text"}), "segmenter": frozenset({"text"}), "segmenter_anchors": frozenset({"text"}),
    "reviewer": frozenset({"chunks"}), "verifier": frozenset({"chunk", "items"}),
    "completer": frozenset({"chunk", "items"}), "repair": frozenset(), "generator": frozenset({"text"}),
    "discriminator": frozenset({"chunk"}), "refiner": frozenset({"chunk"}), "lumber": frozenset({"text"}),
    "moc_router": frozenset({"text"}), "moc": frozenset({"text"}), "direct": frozenset({"text"}),
    "margin": frozenset({"chunk", "sentence"}),
    "qa_single": frozenset({"text"}), "qa_group": frozenset({"passage"}), "qa_more": frozenset({"passage"}),
    "qa_full_answer": frozenset({"items"}), "qa_variants": frozenset({"items"}),
    "qa_judge": frozenset({"passage", "items"}),
    "answer": frozenset({"passages", "question"}),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt with names to be filled in.

    Args:
        name: of the role.
        sha256: of the file, for signatures.
        parts: templates of system, shared and own.
    """

    name: str
    sha256: str
    parts: tuple[str, str, str]

    def fill(self, **values: str) -> tuple[str, str, str]:
        """The three parts, with values in place of the names."""
        safe = {name: value if isinstance(value, Tagged) else as_data(value) for name, value in values.items()}
        return tuple(Template(part).substitute(safe) for part in self.parts)  # type: ignore[return-value]


def as_data(text: str) -> str:
    """Text that cannot open or close the tags that prompts put around it."""
    return _TAG.sub("< ", text)


def load_prompt(name: str, language: str, folder: Path | None = None) -> Prompt:
    """The prompt of a role: ``NAME.LANGUAGE.md`` in the folder where it has one, else the one of this package.

    Raises:
        ConfigError: if a file of the folder cannot be read, lacks a part, or uses unknown names.
    """
    if folder is not None and not folder.is_dir():
        raise ConfigError("prompts", f"{folder} is no folder", hint="give a folder of files such as reviewer.zh.md")
    if folder is not None:
        known = {f"{one}.{code}.md" for one in VARIABLES for code in LANGUAGES}
        odd = sorted(file.name for file in folder.glob("*.md") if file.name not in known and file.name != "README.md")
        if odd:
            raise ConfigError(
                "prompts", f"{folder / odd[0]}: no role has this prompt", hint=f"known: {', '.join(sorted(known))}"
            )
    own = folder / f"{name}.{language}.md" if folder is not None else None
    if own is None or not own.exists():
        return _packaged(name, language)
    try:
        text = own.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError("prompts", f"{own}: cannot be read: {error}") from error
    return _prompt(name, text, str(own))


@cache
def _packaged(name: str, language: str) -> Prompt:
    file = files(__name__) / f"{name}.{language}.md"
    return _prompt(name, file.read_text("utf-8"), f"{name}.{language}.md")


def _prompt(name: str, text: str, where: str) -> Prompt:
    pieces = _PART.split(text)
    found = {part: piece.strip("\n") for part, piece in zip(pieces[1::2], pieces[2::2], strict=True)}
    if set(found) != set(_PARTS) or len(pieces) != 7:
        raise ConfigError("prompts", f"{where}: needs the parts # system, # shared and # own, each once")
    template = Template("\n".join(found.values()))
    if not template.is_valid():
        raise ConfigError("prompts", f"{where}: a $ that begins no name", hint="write $$ for a dollar sign")
    unknown = set(template.get_identifiers()) - VARIABLES[name]
    if unknown:
        names = ", ".join(sorted(VARIABLES[name]))
        raise ConfigError("prompts", f"{where}: unknown ${', $'.join(sorted(unknown))}", hint=f"there are {names}")
    missing = _NEEDED[name] - set(template.get_identifiers())
    if missing:
        raise ConfigError("prompts", f"{where}: lacks ${', $'.join(sorted(missing))}, which it is about")
    digest = hashlib.sha256(text.encode()).hexdigest()
    return Prompt(name, digest, (found["system"], found["shared"], found["own"]))
