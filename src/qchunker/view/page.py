"""A chunking as one self-contained HTML page.

The page never touches the network: its style and script are inlined and allowed by hash, and
everything that comes from a document travels as JSON and is shown as text only.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from importlib.resources import files
from string import Template
from typing import Any

from qchunker.errors import InputError
from qchunker.view.layout import CUT_REASONS, FORCED_CUTS, ChunkView, DocumentView, Row, checked_span, read_views
from qchunker.view.scores import score_data

_SCRIPT_UNSAFE = re.compile("[<>&\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")
_PLAIN_FIELDS = ("kind", "page", "cut", "question", "oversize", "method", "signature")
_SPECIAL_FIELDS = frozenset(
    {"doc_id", "chunk_id", "source", "start", "end", "text", "heading_path", "lead_in", "context"}
    | {"completed_text", "added", "refused", "links", "embedding_text"}
)
_LANGUAGES = (("ja", "[\u3040-\u30ff]"), ("ko", "[\uac00-\ud7af]"), ("zh", "[\u4e00-\u9fff]"))
_LANGUAGE_SAMPLE = 4000
_LANGUAGE_RATIO = 0.1


def render_page(documents: Sequence[Row], chunks: Sequence[Row], scores: Sequence[Row] = ()) -> str:
    """One HTML file that shows how the documents were cut.

    ``scores`` are rows of ``qchunker score -o``, of these chunks only.

    Raises:
        InputError: if a row lacks a required field, points outside its document, or names an
            unknown document.
    """
    folder = files("qchunker.view")
    template, style, scores_script, page_script = (
        folder.joinpath(name).read_text("utf-8").replace("\r\n", "\n")
        for name in ("page.html", "page.css", "scores.js", "page.js")
    )
    script = scores_script + page_script
    data = {
        "documents": [_document_data(document) for document in read_views(documents, chunks, scores)],
        "reasons": dict(CUT_REASONS),
        "forced": sorted(FORCED_CUTS),
    }
    return Template(template).substitute(
        style=style,
        script=script,
        style_hash=_csp_hash(style),
        script_hash=_csp_hash(script),
        data=_script_json(data),
    )


def _document_data(document: DocumentView) -> dict[str, Any]:
    text = document.text
    pieces: list[dict[str, Any]] = []
    sections = []
    first_piece: dict[int, int] = {}
    for section in document.sections:
        sections.append(_compact(c=section.chunk, continues=section.continues, p=len(pieces)))
        for piece in section.pieces:
            first_piece[piece.span.start] = len(pieces)
            look = _compact(style=piece.style, shared=list(piece.shared_with), gap=piece.owner is None)
            pieces.append({"t": text[slice(*piece.span)], **look})
    first_piece[len(text)] = len(pieces)
    starts = sorted((chunk.span.start, index) for index, chunk in enumerate(document.chunks))
    return {
        "id": document.id,
        "source": document.source,
        "lang": _language(text),
        "length": len(text),
        "score": score_data(document.score) if document.score else None,
        "pieces": pieces,
        "sections": sections,
        "chunks": [
            _chunk_data(text, chunk, starts) | {"p": [first_piece[chunk.span.start], first_piece[chunk.span.end]]}
            for chunk in document.chunks
        ],
    }


def _chunk_data(text: str, chunk: ChunkView, starts: Sequence[tuple[int, int]]) -> dict[str, Any]:
    row, body = chunk.row, text[slice(*chunk.span)]

    def around_body(value: Any) -> list[str] | None:
        # The body is in the page already, so only what stands before and after it is stored again.
        before, found, after = str(value).partition(body) if value else ("", "", "")
        return ([before, after] if found else [str(value)]) if value else None

    plain = {name: str(row[name]) for name in _PLAIN_FIELDS if row.get(name) is not None}
    others = sorted(row.keys() - _SPECIAL_FIELDS - set(_PLAIN_FIELDS))
    return _compact(
        id=chunk.id,
        span=list(chunk.span),
        path=list(chunk.heading_path),
        lead=text[slice(*chunk.lead_in)] if chunk.lead_in else None,
        context=[text[slice(*span)] for span in chunk.context],
        completed=around_body(row.get("completed_text")),
        diff=_difference(text, chunk),
        embedding=around_body(row.get("embedding_text")),
        added=_with_quotes(text, chunk, "added", starts),
        refused=_with_quotes(text, chunk, "refused", starts),
        links=_with_quotes(text, chunk, "links", starts),
        flags=list(chunk.flags),
        li=chunk.independence,
        stored=str(row["text"]) if "differs" in chunk.flags else None,
        more={key: json.dumps(row[key], ensure_ascii=False, default=str) for key in others},
        **plain,
    )


def _difference(text: str, chunk: ChunkView) -> list[str] | None:
    """The completed text as pieces, each second one added; None where the row does not tell what was added where."""
    pieces, start = [], chunk.span.start
    for item in chunk.row.get("added") or ():
        at, words = (item.get("at"), item.get("text")) if isinstance(item, Mapping) else (None, None)
        if type(at) is not int or not isinstance(words, str) or not start <= at <= chunk.span.end:
            return None
        pieces += [text[start:at], words]
        start = at + len(_replaced(text, chunk, item) or "")
    pieces.append(text[start : chunk.span.end])
    return pieces if len(pieces) > 1 and "".join(pieces) == chunk.row.get("completed_text") else None


def _replaced(text: str, chunk: ChunkView, item: Mapping[str, Any]) -> str | None:
    """The words of the chunk that an addition stands for, such as a pronoun."""
    at, until = item.get("at"), item.get("until")
    if type(at) is not int or type(until) is not int or not chunk.span.start <= at < until <= chunk.span.end:
        return None
    return text[at:until]


def _with_quotes(text: str, chunk: ChunkView, name: str, starts: Sequence[tuple[int, int]]) -> list[dict[str, Any]]:
    """The items of one list field with their evidence spans replaced by the words they point to.

    ``places`` tells for each of them the index of the chunk that begins at or before it.
    """
    quoted = []
    for item in chunk.row.get(name) or ():
        if not isinstance(item, Mapping):
            raise InputError(f"chunk {chunk.id}: {name} must hold objects, not {item!r}")
        try:
            spans = [checked_span(value, len(text), f"{name} evidence") for value in item.get("evidence") or ()]
        except InputError as error:
            raise InputError(f"chunk {chunk.id}: {error.reason}") from None
        strings = {key: str(value) for key, value in item.items() if key != "evidence" and value is not None}
        replaced = _replaced(text, chunk, item)
        if replaced is not None:
            strings["replaced"] = replaced
        places = [starts[max(0, bisect_right(starts, (span.start, len(starts))) - 1)][1] for span in spans]
        quoted.append({**strings, "evidence": [text[slice(*span)] for span in spans], "places": places})
    return quoted


def _compact(**values: Any) -> dict[str, Any]:
    empty: tuple[Any, ...] = (None, "", [], {})
    return {name: value for name, value in values.items() if value not in empty and value is not False}


def _language(text: str) -> str:
    # Han characters look different in zh and ja; the browser picks the font by this tag.
    sample = text[:_LANGUAGE_SAMPLE]
    for tag, letters in _LANGUAGES:
        if len(re.findall(letters, sample)) > _LANGUAGE_RATIO * len(sample):
            return tag
    return ""


def _csp_hash(content: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()


def _script_json(data: Any) -> str:
    """JSON that no HTML parser can leave, and that is valid UTF-8 even for lone surrogates."""
    plain = json.dumps(data, ensure_ascii=False, separators=(",", ":"), default=str)
    return _SCRIPT_UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", plain)
