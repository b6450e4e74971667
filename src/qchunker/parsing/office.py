"""PDF, DOCX, PPTX and XLSX bytes -> text.

PDF and XLSX are read by kreuzberg, in a process of its own with limits on time and memory; the
zipped formats with readable XML inside are read here, because that loses less (ADR 0003). No
OCR, no network, nothing written to disk.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from qchunker.errors import ParseError, UnsupportedFormatError
from qchunker.parsing import docx, pptx, xlsx
from qchunker.parsing.archive import Archive
from qchunker.parsing.pdf import Hint, clean
from qchunker.types import Note, Source

PDF = "application/pdf"
_OPENXML = "application/vnd.openxmlformats-officedocument."
DOCX = f"{_OPENXML}wordprocessingml.document"
PPTX = f"{_OPENXML}presentationml.presentation"
XLSX = f"{_OPENXML}spreadsheetml.sheet"

TIME_LIMIT_S = 60.0
TIME_LIMIT_S_PER_MB = 20.0
MEMORY_LIMIT_BYTES = 4 << 30
PDF_HEADER_BYTES = 1024

_NATIVE = Path(__file__).with_name("kreuzberg_process.py")
# The isolated interpreter gets the caller's import path, and none of the caller's files.
_LAUNCH = (
    "import json, runpy, sys; sys.path[:] = json.loads(sys.argv.pop()); "
    "runpy.run_path(sys.argv.pop(), run_name='__main__')"
)
_OCR_HINT = "run OCR first, for example: ocrmypdf in.pdf out.pdf"


class Extracted(NamedTuple):
    """The text of one binary file.

    ``markup`` is "markdown" or "plain". ``page_starts`` holds the offset where each page or slide
    starts, and is empty where pages do not exist or are not known.
    """

    text: str
    markup: str
    page_starts: tuple[int, ...]
    notes: tuple[Note, ...]
    metadata: dict[str, str]


def extract(source: Source, media_type: str) -> Extracted:
    """Read one binary file.

    Raises:
        ParseError: if the file is empty, broken, encrypted, has no text, or exceeds a limit.
        UnsupportedFormatError: if no reader knows the media type.
    """
    reader = _READERS.get(media_type)
    if reader is None:
        raise UnsupportedFormatError(f"{source.name}: cannot read {media_type}")
    if not source.data:
        raise ParseError(source.name, "the file is empty", hint="remove it from the input")
    extracted = reader(source)
    if not extracted.text.strip():
        raise ParseError(source.name, "the file has no text", hint="pictures of text need OCR first")
    return extracted


def _extract_pdf(source: Source) -> Extracted:
    # The header may stand after some junk, as readers have always allowed.
    if b"%PDF-" not in source.data[:PDF_HEADER_BYTES]:
        raise ParseError(source.name, "not a PDF file")
    reply = _run_native(source, PDF, paged=True)
    pages: list[str] = reply["pages"]
    if not any(page.strip() for page in pages):
        reason = f"none of its {len(pages)} pages has text; it is probably scanned"
        raise ParseError(source.name, reason, hint=_OCR_HINT)
    hints = [[Hint(*hint) for hint in page] for page in reply["hints"]]
    text, page_starts, notes = clean(pages, hints)
    return Extracted(text, "plain", page_starts, notes, reply["metadata"])


def _extract_xlsx(source: Source) -> Extracted:
    archive = Archive(source, "XLSX")
    xlsx.check(archive)
    reply = _run_native(source, XLSX, paged=False)
    text, notes = xlsx.read_sheets(archive, dict(reply["sheets"]))
    return Extracted(text, "markdown", (), notes, reply["metadata"] | archive.properties())


def _extract_docx(source: Source) -> Extracted:
    archive = Archive(source, "DOCX")
    text, page_starts, notes = docx.read_docx(archive)
    return Extracted(text, "markdown", page_starts, notes, archive.properties())


def _extract_pptx(source: Source) -> Extracted:
    archive = Archive(source, "PPTX")
    text, page_starts, notes = pptx.read_pptx(archive)
    return Extracted(text, "markdown", page_starts, notes, archive.properties())


_READERS: dict[str, Callable[[Source], Extracted]] = {
    PDF: _extract_pdf,
    DOCX: _extract_docx,
    PPTX: _extract_pptx,
    XLSX: _extract_xlsx,
}


def _run_native(source: Source, media_type: str, *, paged: bool) -> dict[str, Any]:
    """What kreuzberg finds, or a ParseError for whatever goes wrong in there."""
    limit_s = TIME_LIMIT_S + TIME_LIMIT_S_PER_MB * len(source.data) / (1 << 20)
    header = json.dumps({"media_type": media_type, "paged": paged}).encode("ascii")
    arguments = [str(MEMORY_LIMIT_BYTES), str(_NATIVE), json.dumps(sys.path)]
    try:
        done = subprocess.run(  # noqa: S603 - our own interpreter and our own file
            [sys.executable, "-I", "-c", _LAUNCH, *arguments],
            input=header + b"\n" + source.data,
            capture_output=True,
            timeout=limit_s,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        reason = f"reading took longer than {limit_s:.0f} s"
        raise ParseError(source.name, reason, hint="split the file") from error
    if done.returncode != 0:
        raise ParseError(
            source.name,
            f"the reader crashed or ran out of memory: {_last_line(done.stderr)}",
            hint="split the file, or save it anew",
        )
    reply: dict[str, Any] = json.loads(done.stdout)
    if "error" in reply:
        raise _as_parse_error(source, reply["message"])
    return reply


def _as_parse_error(source: Source, message: str) -> ParseError:
    if "password" in message.casefold() or "encrypt" in message.casefold():
        hint = "remove the password first, for example: qpdf --decrypt in.pdf out.pdf"
        return ParseError(source.name, "encrypted", hint=hint)
    first = message.split(": ", 1)[0]
    return ParseError(source.name, f"the file is truncated or damaged ({first})")


def _last_line(stderr: bytes) -> str:
    lines: Sequence[str] = stderr.decode("utf-8", "replace").strip().splitlines()
    return lines[-1][:200] if lines else "no message"
