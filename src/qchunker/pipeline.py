"""The only place where stages meet. Reads top to bottom: parse, chunk, link."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from qchunker.chunking import CHUNKERS, Chunker
from qchunker.chunking.links import link_exceptions
from qchunker.config import ChunkingConfig
from qchunker.errors import ConfigError, InputError, ParseError, QChunkerError
from qchunker.inputs import BadInput, FileInput, Input, TextInput
from qchunker.parsing import parse_source, parse_string
from qchunker.types import Document, Partition, Source


class Failure(NamedTuple):
    """A document that could not be processed."""

    source: str
    error: QChunkerError


def parse(source: str | Path | Source, *, media_type: str | None = None, selector: str | None = None) -> Document:
    """Read one file.

    Args:
        source: a path, or a ``Source`` of name and bytes.
        media_type: one of ``PARSERS``; by default told from the name.
        selector: CSS selector of the main content of an HTML page.

    Raises:
        ParseError: if the file is missing, empty, broken, encrypted, or has no text.
        UnsupportedFormatError: if no parser reads the format.
    """
    if not isinstance(source, Source):
        source = _read(Path(source).as_posix(), Path(source))
    return parse_source(source, media_type=media_type, selector=selector)


def chunk(document: Document, method: str | Chunker = "structure", config: ChunkingConfig | None = None) -> Partition:
    """Cut a document into chunks that cover every non-space character exactly once.

    Args:
        document: from ``parse`` or ``from_text``.
        method: a key of ``CHUNKERS``, or a function from document and config to partition.
        config: sizes and overlap.

    Raises:
        ConfigError: if the method is unknown, or is a function that loses or repeats text.
    """
    if isinstance(method, str):
        if method not in CHUNKERS:
            raise ConfigError("method", f"unknown method {method!r}", hint=f"known: {', '.join(CHUNKERS)}")
        method = CHUNKERS[method]
    elif not callable(method):
        raise ConfigError("method", f"must be a name or a function, got {method!r}")
    partition = method(document, config or ChunkingConfig())
    _check_lossless(partition)
    return link_exceptions(partition)


def _check_lossless(partition: Partition) -> None:
    text, at = partition.document.text, 0
    for piece in partition.chunks:
        if not at <= piece.start < piece.end <= len(text):
            raise ConfigError("method", f"chunk {piece.start}-{piece.end} overlaps another or leaves the document")
        if piece.start > at and text[at : piece.start].strip():
            raise ConfigError("method", f"no chunk holds the text at {at}-{piece.start}")
        at = piece.end
    if text[at:].strip():
        raise ConfigError("method", f"no chunk holds the text at {at}-{len(text)}")


def from_text(text: str, source: str = "text.txt", *, doc_id: str = "") -> Document:
    """The document of a string; the ending of ``source`` tells plain text, Markdown, HTML or CSV.

    Lone surrogates are replaced and noted. Raises ParseError if the text is blank.
    """
    return parse_string(text, source, doc_id)


def parse_input(item: Input, *, selector: str | None = None) -> Document:
    """The document of one input.

    Raises:
        QChunkerError: if it cannot be read or parsed.
    """
    if isinstance(item, BadInput):
        raise item.error
    if isinstance(item, TextInput):
        return from_text(item.text, item.name, doc_id=item.doc_id)
    return parse_source(_read(item.name, item.path) if isinstance(item, FileInput) else item, selector=selector)


def _read(name: str, path: Path) -> Source:
    try:
        if path.exists() and not path.is_file():
            raise ParseError(name, "is not a regular file", hint="check the path and its permissions")
        return Source(name, path.read_bytes())
    except (OSError, ValueError) as error:
        if isinstance(error, ParseError):
            raise
        reason = f"cannot be read: {getattr(error, 'strerror', None) or error}"
        raise ParseError(name, reason, hint="check the path and its permissions") from error


def chunk_all(
    inputs: Iterable[Input],
    method: str = "structure",
    config: ChunkingConfig | None = None,
    *,
    selector: str | None = None,
    jobs: int = 1,
) -> Iterator[Partition | Failure]:
    """Parse and chunk many inputs, in order. One that fails is reported and the others are finished.

    ``jobs`` files are in work at once; this helps with PDF and spreadsheets, which are read in processes of
    their own. Memory holds only the documents in work.
    """

    def work(item: Input) -> Partition | Failure:
        try:
            return chunk(parse_input(item, selector=selector), method, config)
        except InputError as error:
            if isinstance(error, ConfigError):
                raise
            return Failure(item.name, error)

    if jobs <= 1:
        yield from map(work, inputs)
        return
    waiting = iter(inputs)
    with ThreadPoolExecutor(jobs) as pool:
        # Executor.map would read all inputs at once.
        running = [pool.submit(work, item) for item in islice(waiting, 2 * jobs)]
        while running:
            yield running.pop(0).result()
            running.extend(pool.submit(work, item) for item in islice(waiting, 1))
