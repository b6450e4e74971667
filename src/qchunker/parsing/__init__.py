"""Bytes to Document: one file per format, one line here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import PurePath

from qchunker.errors import ParseError, QChunkerError, UnsupportedFormatError
from qchunker.parsing import epub, office
from qchunker.parsing.csv import csv_document, parse_csv
from qchunker.parsing.encoding import clean_text
from qchunker.parsing.html import html_document, parse_html
from qchunker.parsing.markdown import markdown_document, parse_markdown
from qchunker.parsing.text import blocks_document, parse_text, text_document
from qchunker.types import Document, Note, Source

_MEDIA_TYPES = {
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".html": "text/html",
    ".htm": "text/html",
    ".xhtml": "text/html",
    ".csv": "text/csv",
    ".tsv": "text/csv",
    ".txt": "text/plain",
    ".text": "text/plain",
    ".log": "text/plain",
    ".rst": "text/plain",
    ".yaml": "text/plain",
    ".yml": "text/plain",
    ".json": "text/plain",
    ".pdf": office.PDF,
    ".docx": office.DOCX,
    ".pptx": office.PPTX,
    ".xlsx": office.XLSX,
    ".epub": epub.MEDIA_TYPE,
}
_DECODED: dict[str, Callable[[str, str, tuple[Note, ...]], Document]] = {
    "text/plain": text_document,
    "text/markdown": lambda text, name, notes: markdown_document(text, name, notes=notes),
    "text/html": html_document,
    "text/csv": csv_document,
}
SUFFIXES = frozenset(_MEDIA_TYPES)
_LEGACY = frozenset({".doc", ".ppt", ".xls", ".rtf", ".odt"})


def _parse_office(media_type: str) -> Callable[[Source], Document]:
    def parse_binary(source: Source) -> Document:
        found = office.extract(source, media_type)
        make = markdown_document if found.markup == "markdown" else blocks_document
        return make(found.text, source.name, media_type, found.notes, found.metadata, found.page_starts)

    return parse_binary


PARSERS: dict[str, Callable[[Source], Document]] = {
    "text/plain": parse_text,
    "text/markdown": parse_markdown,
    "text/html": parse_html,
    "text/csv": parse_csv,
    **{kind: _parse_office(kind) for kind in (office.PDF, office.DOCX, office.PPTX, office.XLSX)},
    epub.MEDIA_TYPE: epub.parse_epub,
}


def parse_source(source: Source, *, media_type: str | None = None, selector: str | None = None) -> Document:
    """Turn bytes into a document.

    Args:
        source: name and bytes; the name's ending tells the format when ``media_type`` is not given.
        media_type: a key of ``PARSERS``.
        selector: CSS selector of the main content, for HTML only.

    Raises:
        UnsupportedFormatError: if no parser knows the format.
        ParseError: if the file is empty, broken, encrypted, or has no text.
    """
    kind = media_type or media_type_of(source)
    parser = PARSERS.get(kind)
    if parser is None:
        raise UnsupportedFormatError(
            f"{source.name}: no parser for {kind}", hint=f"known: {', '.join(sorted(PARSERS))}"
        )
    try:
        return parse_html(source, selector) if kind == "text/html" else parser(source)
    except QChunkerError:
        raise
    except (Exception, MemoryError) as error:
        # Files are hostile: whatever one of them makes a parser do, the others of the run are finished.
        reason = f"the parser gave up: {type(error).__name__}: {str(error)[:200]}"
        raise ParseError(source.name, reason, hint="save it anew from the program it comes from") from error


def media_type_of(source: Source) -> str:
    """The media type by the name's ending, else by the first bytes; plain text when nothing else fits."""
    suffix = PurePath(source.name).suffix.lower()
    if suffix in _LEGACY:
        raise UnsupportedFormatError(
            f"{source.name}: {suffix} files cannot be read", hint="save it as .docx, .pptx, .xlsx or .pdf first"
        )
    if suffix in _MEDIA_TYPES:
        return _MEDIA_TYPES[suffix]
    head = source.data[:2048].lstrip()
    if head.startswith(b"%PDF-"):
        return office.PDF
    if head.startswith(b"PK\x03\x04"):
        raise ParseError(
            source.name, "a zip archive of unknown kind", hint="give it the file name ending of its format"
        )
    if head[:64].lower().startswith((b"<!doctype html", b"<html")):
        return "text/html"
    return "text/plain"


def parse_string(text: str, name: str, doc_id: str = "") -> Document:
    """The document of a text that is already decoded, in the format that the name's ending tells.

    Raises:
        ParseError: if the text is blank, or broken for its format.
        UnsupportedFormatError: if the name belongs to a binary format.
    """
    if not isinstance(text, str):
        raise ParseError(name, f"the text is {type(text).__name__}, not a string", hint="parse bytes as a Source")
    text, notes = clean_text(text)
    if not text.strip():
        raise ParseError(name, "the text is empty", hint="there is nothing to chunk; remove it from the input")
    kind = _MEDIA_TYPES.get(PurePath(name).suffix.lower(), "text/plain")
    if kind not in _DECODED:
        raise UnsupportedFormatError(f"{name}: {kind} is a binary format", hint="give the file itself")
    document = _DECODED[kind](text, name, notes)
    return replace(document, id=doc_id) if doc_id else document
