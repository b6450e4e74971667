"""What a data set is to the bench: documents, and questions with what answers them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from qchunker.bench.metrics.spans import GoldSpan
from qchunker.errors import InputError
from qchunker.models.load import is_mostly_chinese
from qchunker.pipeline import from_text
from qchunker.types import Document

T = TypeVar("T")
CHARACTERS, TOKENS = "characters", "approximate tokens"
_LANGUAGE_SAMPLE = 200_000


@dataclass(frozen=True, slots=True)
class BenchQuestion:
    """A question, with what is known of its answer.

    Args:
        id: unique in its set.
        text: as asked.
        cluster: questions of one cluster, such as an article, are not independent; they are resampled together.
        evidence: stretches of documents that answer it, where the set has them.
        answers: reference answers, where the set has them; any of them is right.
        documents: that hold an answer, where the set names them.
    """

    id: str
    text: str
    cluster: str
    evidence: tuple[GoldSpan, ...] = ()
    answers: tuple[str, ...] = ()
    documents: frozenset[str] = frozenset()


@dataclass(frozen=True)
class BenchSet:
    """Documents and questions.

    Args:
        name: of the set.
        documents: with ids that evidence refers to.
        questions: in a fixed order.
        licence: of the data.
        budget_unit: what is counted where retrieved text is cut to a budget.
        budgets: of retrieved text per question; the middle one is what the set is judged by.
        primary: the metric that it is judged by.
    """

    name: str
    documents: tuple[Document, ...]
    questions: tuple[BenchQuestion, ...]
    licence: str = "unknown"
    budget_unit: str = CHARACTERS
    budgets: tuple[int, ...] = (2000, 4000, 8000)
    primary: str = "recall"
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.documents:
            raise InputError(f"the set {self.name!r} has no document")
        for what, ids in (
            ("documents", [one.id for one in self.documents]),
            ("questions", [one.id for one in self.questions]),
        ):
            double = next((one for at, one in enumerate(sorted(ids)) if at and sorted(ids)[at - 1] == one), None)
            if double is not None:
                raise InputError(f"the set {self.name!r} has two {what} with the id {double!r}")
        texts = self.texts
        for question in self.questions:
            _check_text(self.name, question)
            for gold in question.evidence:
                if gold.doc_id not in texts or not 0 <= gold.start < gold.end <= len(texts[gold.doc_id]):
                    raise InputError(
                        f"the set {self.name!r}: the evidence {gold.start}-{gold.end} of question {question.id!r} "
                        "is in no document"
                    )

    @cached_property
    def texts(self) -> Mapping[str, str]:
        """Text of each document by its id."""
        return {document.id: document.text for document in self.documents}

    @cached_property
    def language(self) -> str:
        """``zh`` or ``en``, whichever most of the text is."""
        sample = "".join(document.text[:2000] for document in self.documents)[:_LANGUAGE_SAMPLE]
        return "zh" if is_mostly_chinese(sample) else "en"

    @cached_property
    def fingerprint(self) -> str:
        """Hash of everything in it, so that numbers are never compared across versions of a set."""
        digest = hashlib.sha256()
        for document in self.documents:
            digest.update(f"{document.id}\0{document.text}\0".encode("utf-8", "surrogatepass"))
        for question in self.questions:
            known = [question.id, question.text, question.cluster, sorted(question.evidence), question.answers,
                     sorted(question.documents)]  # fmt: skip
            digest.update(json.dumps(known, ensure_ascii=False).encode("utf-8", "surrogatepass"))
        return digest.hexdigest()[:12]

    def sampled(self, n_questions: int | None, n_documents: int | None = None) -> BenchSet:
        """The set with so many documents and of the questions that they answer so many, both evenly spread."""
        documents = _spread(self.documents, n_documents)
        kept = {one.id for one in documents}
        asked = [one for one in self.questions if {gold.doc_id for gold in one.evidence} | one.documents <= kept]
        return replace(self, documents=documents, questions=_spread(asked, n_questions))


def _check_text(name: str, question: BenchQuestion) -> None:
    """Raises: InputError: if a question is blank, an answer too, or a text cannot be written."""
    for what, text in (("id", question.id), ("text", question.text), *(("answer", one) for one in question.answers)):
        if not isinstance(text, str) or not text.strip() or any("\ud800" <= char <= "\udfff" for char in text):
            raise InputError(f"the set {name!r}: question {question.id!r:.60}: the {what} is no text, or blank")
    if not (question.evidence or question.answers):
        raise InputError(
            f"the set {name!r}: question {question.id!r} has nothing that answers it", hint="give a quote or an answer"
        )


def _spread(items: Sequence[T], number: int | None) -> tuple[T, ...]:
    if number is None or number >= len(items):
        return tuple(items)
    return tuple(items[int(at * len(items) / number)] for at in range(number))


def document_of(doc_id: str, text: str) -> Document:
    """A text of a set with its structure; evidence counts characters of exactly this text.

    Raises:
        InputError: if the text is blank or would have to be changed to be read.
    """
    document = from_text(text, doc_id=doc_id)
    if document.text != text:
        raise InputError(f"the document {doc_id!r} has characters that are no text", hint="replace lone surrogates")
    return document


def read_json_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a JSONL file.

    Raises:
        InputError: naming file and line, if it cannot be read or a line is no object.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield _object(line, f"{path}, line {number}")


def read_json(path: Path) -> Any:
    """The value of a JSON file.

    Raises:
        InputError: if it cannot be read.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: cannot be read as JSON: {error}") from error


def field_of(row: Any, name: str, where: str, kind: type = str) -> Any:
    """A field of a row, of the right type.

    Raises:
        InputError: if it is missing or of another type.
    """
    value = row.get(name) if isinstance(row, dict) else None
    if not isinstance(value, kind) or isinstance(value, bool):
        raise InputError(f"{where}: {name} must be {_KINDS[kind]}, got {value!r:.60}")
    return value


_KINDS = {str: "text", list: "a list", dict: "an object", int: "a whole number"}


def missing_file(name: str, path: Path, files: Sequence[str], where: str) -> InputError:
    """That a set is not there, and how to get it."""
    return InputError(
        f"{path}: the files of {name} are not there",
        hint=f"put {' or '.join(files)} into this folder; {where}",
    )


def _object(line: str, where: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: no JSON: {error}") from error
    if not isinstance(row, dict):
        raise InputError(f"{where}: must be an object, got {type(row).__name__}")
    return row
