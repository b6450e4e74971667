"""A sheet of pairs for people to mark, and the error rate that the marks tell of.

Source: GC-QA-RAG (manual spot checks; errors of 5 to 10 % there).
"""

from __future__ import annotations

import csv
import hashlib
import io
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from qchunker.errors import InputError

COLUMNS = ("mark", "question", "answer", "evidence", "source", "page", "headings", "origin", "qa_id", "doc_id")
RIGHT = frozenset("ok right good correct yes y 1 true 对 正确 是 √ ✓".split())
WRONG = frozenset("wrong bad error incorrect no n 0 false x 错 错误 不对 否 × ✗".split())
_MOST_BYTES = 64 << 20
_ONE_LINE = frozenset(("mark", "page", "origin", "qa_id", "doc_id"))
_Z = 1.959963984540054  # of 95 %
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_HINT = "mark each row ok or wrong in the column mark"


@dataclass(frozen=True, slots=True)
class ErrorRate:
    """What marks tell of all pairs.

    Args:
        n_marked: pairs with a mark.
        n_wrong: of them, marked as wrong.
        n_unmarked: rows of the sheet without a mark.
        rate: share of the marked ones that are wrong.
        low: lower end of the 95 % interval of the rate (Wilson).
        high: upper end.
        by_origin: for each origin of pairs, how many are marked and how many are wrong.
    """

    n_marked: int
    n_wrong: int
    n_unmarked: int
    rate: float
    low: float
    high: float
    by_origin: Mapping[str, tuple[int, int]]


def sample(rows: Sequence[Mapping[str, Any]], size: int, seed: int = 0) -> list[Mapping[str, Any]]:
    """Rows drawn by chance, in the order of the rows; the same of the same rows with the same seed."""

    def drawn(row: Mapping[str, Any]) -> bytes:
        return hashlib.sha256(f"{seed}\0{row['doc_id']}\0{row['qa_id']}".encode("utf-8", "surrogatepass")).digest()

    chosen = sorted(range(len(rows)), key=lambda at: (drawn(rows[at]), at))[:size]
    return [rows[at] for at in sorted(chosen)]


def sheet(rows: Iterable[tuple[Mapping[str, Any], str]]) -> str:
    """A CSV sheet with an empty column for marks; no cell can act as a formula in a spreadsheet.

    Args:
        rows: of pairs, each with the text of its evidence.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n", quoting=csv.QUOTE_ALL)  # a semicolon makes no cells
    writer.writerow(COLUMNS)
    for row, evidence in rows:
        path = " > ".join(row.get("heading_path") or ())
        cells = ["", row["question"], row["answer"], evidence, row.get("source") or "", row.get("page") or "", path,
                 row.get("origin") or "", row["qa_id"], row["doc_id"]]  # fmt: skip
        writer.writerow([safe_cell(str(cell)) for cell in cells])
    return out.getvalue()


def safe_cell(text: str) -> str:
    """A cell that a spreadsheet shows and never computes."""
    text = text.replace("\0", "")
    return f"'{text}" if text.lstrip(" ").startswith(_FORMULA) or text.startswith(_FORMULA) else text


def error_rate(path: str) -> ErrorRate:
    """The error rate of a marked sheet, with its 95 % interval.

    Spreadsheets save with commas, semicolons or tabs, as UTF-8 or in the encoding of their system; all are read.

    Raises:
        InputError: if the file cannot be read, has no column ``mark``, a mark is none of the known ones, or there is
            none.
    """
    marks: list[tuple[str, str]] = []
    n_unmarked = 0
    for number, row in enumerate(_rows(path), 2):
        mark = (row.get("mark") or "").strip().strip("'").casefold()
        if not mark:
            n_unmarked += any((cell or "").strip() for name, cell in row.items() if isinstance(cell, str))
        elif mark in RIGHT or mark in WRONG:
            marks.append((mark, (row.get("origin") or "").strip()))
        else:
            known = "ok, right, yes, 1, 对; wrong, no, 0, 错"
            raise InputError(f"{path}:{number}: unknown mark {mark!r:.40}", hint=f"known: {known}")
    if not marks:
        raise InputError(f"{path}: no row is marked", hint=_HINT)
    n_wrong = sum(mark in WRONG for mark, _ in marks)
    low, high = wilson_interval(n_wrong, len(marks))
    all_of, wrong_of = Counter(origin for _, origin in marks), Counter(o for mark, o in marks if mark in WRONG)
    by_origin = {origin: (n, wrong_of[origin]) for origin, n in sorted(all_of.items())}
    return ErrorRate(len(marks), n_wrong, n_unmarked, n_wrong / len(marks), low, high, by_origin)


def wilson_interval(n_hits: int, n: int) -> tuple[float, float]:
    """The 95 % interval of a share by Wilson's score; (0, 1) of nothing.

    Source: Wilson 1927.
    """
    if n == 0:
        return 0.0, 1.0
    share, square = n_hits / n, _Z * _Z
    middle = (share + square / (2 * n)) / (1 + square / n)
    half = _Z / (1 + square / n) * math.sqrt(share * (1 - share) / n + square / (4 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)


def _rows(path: str) -> list[dict[str, Any]]:
    text = _text(path)
    first = text.partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    limit = csv.field_size_limit(max(csv.field_size_limit(), _MOST_BYTES))
    try:
        reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        rows = list(reader)
    except csv.Error as error:
        raise InputError(f"{path}: not CSV: {error}; is a quotation mark not closed?", hint=_HINT) from error
    finally:
        csv.field_size_limit(limit)
    names = [name.strip().casefold() for name in reader.fieldnames or ()]
    if "mark" not in names:
        raise InputError(f"{path}: has no column mark", hint="give the sheet that --sample wrote")
    for number, row in enumerate(rows, 2):
        _check_whole(path, number, row)
    return [{str(name).strip().casefold(): cell for name, cell in row.items()} for row in rows]


def _check_whole(path: str, number: int, row: Mapping[str | None, Any]) -> None:
    """A quotation mark that is not closed makes one cell of many rows, and their marks would be lost."""
    short = (cell for name, cell in row.items() if name and name.strip().casefold() in _ONE_LINE and cell)
    if any("\n" in cell.strip() for cell in short):
        raise InputError(f"{path}:{number}: a cell swallows other rows", hint="close its quotation mark")
    if any((cell or "").strip() for cell in row.get(None) or ()):
        raise InputError(f"{path}:{number}: more cells than columns", hint="put cells with separators in quotes")


def _text(path: str) -> str:
    try:
        with open(path, "rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error
    if len(data) > _MOST_BYTES:
        raise InputError(f"{path}: is too large to be a sheet", hint="give the sheet that --sample wrote")
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace")
    for encoding in ("utf-8-sig", "gb18030"):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    return data.decode("latin-1")
