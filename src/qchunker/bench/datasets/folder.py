"""Documents of your own with questions of your own.

``questions.jsonl`` in the folder, or any file that is named, has one {question} per line and what answers it:
``source`` (path of the document within the folder) with ``quote``, words of it that answer (their first place counts);
or ``answer``, words that must be in what is retrieved; or both. Pairs that ``qchunker qa`` writes are such questions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from qchunker.alignment import FoldedText
from qchunker.bench.dataset import TOKENS, BenchQuestion, BenchSet, field_of, missing_file, read_json_lines
from qchunker.bench.metrics.spans import GoldSpan, answer_in_text, approximate_tokens
from qchunker.errors import InputError, ParseError
from qchunker.inputs import FileInput, expand_paths
from qchunker.pipeline import parse_input
from qchunker.types import Document, Span

QUESTIONS = "questions.jsonl"
"""Name of the file with questions."""

LARGEST_CHARACTERS, LARGEST_TOKENS = 8000, 1424


def load(path: Path, split: str | None, questions: Path | None = None) -> BenchSet:
    """The documents below a folder and their questions.

    Args:
        path: of the folder.
        split: of the questions; None for all.
        questions: file with questions; by default ``questions.jsonl`` in the folder.

    Raises:
        InputError: if a file is missing or broken, or a question has nothing that answers it.
    """
    file = questions or path / QUESTIONS
    if not path.is_dir() or not file.is_file():
        where = "one {question, source, quote} or {question, answer} per line"
        raise missing_file("your own folder", path, [QUESTIONS], where)
    documents = _documents(path, file)
    named = {Path(one.source).relative_to(path).as_posix(): one for one in documents}
    asked = []
    for number, row in enumerate(read_json_lines(file), 1):
        if split is None or row.get("split", split) == split:
            asked.append(_question(row, number, f"{file}, line {number}", named))
    if not asked:
        raise InputError(f"{file}: holds no question", hint="one {question, source, quote} per line")
    total = "\n".join(one.text for one in documents)
    name, notes = path.resolve().name or "folder", tuple(_doubts(asked, documents))
    if all(one.evidence for one in asked):
        budgets = _budgets(len(total), LARGEST_CHARACTERS)
        return BenchSet(name, documents, tuple(asked), "your own", budgets=budgets, primary=f"recall_{budgets[1]}",
                        notes=notes)  # fmt: skip
    # Judged by words, all of them: a quotation is such words too.
    texts = {one.id: one.text for one in documents}
    asked = [one if one.answers else replace(one, answers=_quoted(one, texts)) for one in asked]
    budgets = _budgets(approximate_tokens(total), LARGEST_TOKENS)
    return BenchSet(name, documents, tuple(asked), "your own", TOKENS, budgets, f"answer_recall_{budgets[2]}", notes)


def _budgets(total: int, largest: int) -> tuple[int, int, int]:
    """A quarter, half and all of the largest budget, which is at most a tenth of the text: else all of it is found."""
    most = max(80, min(largest, total // 10 // 20 * 20))
    return most // 4, most // 2, most


def _doubts(questions: Sequence[BenchQuestion], documents: Sequence[Document]) -> Iterator[str]:
    """What makes questions tell less than they seem to."""
    folded = {one.id: FoldedText(one.text) for one in documents}
    texts = {one.id: one.text for one in documents}
    places = [(one, gold, texts[gold.doc_id][gold.start : gold.end]) for one in questions for gold in one.evidence]
    twice = [one.id for one, gold, quote in places if len(list(folded[gold.doc_id].find_all(quote, 0, 2))) > 1]
    if twice:
        yield f"Quotes that stand in their document more than once, of which the first counts: {', '.join(twice[:5])}"
    everything = "\n".join(texts.values())
    nowhere = [one.id for one in questions if one.answers and not one.evidence
               and not any(answer_in_text(answer, everything) for answer in one.answers)]  # fmt: skip
    if nowhere:
        yield f"Answers that no document has, so that nothing can find them: {', '.join(nowhere[:5])}"


def _quoted(question: BenchQuestion, texts: dict[str, str]) -> tuple[str, ...]:
    return tuple(texts[gold.doc_id][gold.start : gold.end] for gold in question.evidence)


def _documents(path: Path, questions: Path) -> tuple[Document, ...]:
    found, _ = expand_paths([path.as_posix()])
    documents = []
    for item in found:
        if isinstance(item, FileInput) and item.path.resolve() == questions.resolve():
            continue
        try:
            documents.append(parse_input(item))
        except ParseError as error:
            raise InputError(f"{item.name}: {error.reason}", hint="take it out of the folder") from error
    return tuple(documents)


def _question(row: dict[str, Any], number: int, where: str, named: dict[str, Document]) -> BenchQuestion:
    text, answer = field_of(row, "question", where), row.get("answer")
    name = str(row.get("qid") or row.get("qa_id") or f"q-{number:04}")
    if answer is not None and not (isinstance(answer, str) and answer.strip()):
        raise InputError(f"{where}: answer must be text")
    answers = (answer,) if answer else ()
    source, quote = row.get("source"), row.get("quote")
    if source is None and not answers:
        raise InputError(f"{where}: needs source and quote, or answer")
    document = _document_of(str(source), named, where) if source is not None else None
    gold: tuple[GoldSpan, ...] = ()
    if document is not None and (quote or type(row.get("start")) is int):
        gold = (GoldSpan(document.id, *_place(row, quote, document, where)),)
    return BenchQuestion(name, text, document.id if document else name, gold, answers,
                         frozenset({document.id}) if document else frozenset())  # fmt: skip


def _document_of(source: str, named: dict[str, Document], where: str) -> Document:
    found = [one for name, one in named.items() if name == source or one.source == source]
    found = found or [one for name, one in named.items() if Path(name).name == Path(source).name]
    if len(found) != 1:
        known = ", ".join(sorted(named)[:5])
        raise InputError(
            f"{where}: {source!r} is {'no document' if not found else 'not unique'} in the folder",
            hint=f"known: {known}",
        )
    return found[0]


def _place(row: dict[str, Any], quote: Any, document: Document, where: str) -> Span:
    if not quote:
        return Span(row["start"], field_of(row, "end", where, int))
    place = FoldedText(document.text).find(str(quote))
    if place is None:
        raise InputError(f"{where}: the quote is not in {document.source!r}", hint="copy the words from the document")
    return place
