"""Runs kreuzberg in a process of its own, because native code may hang, exhaust memory or crash.

    python kreuzberg_process.py <max_bytes>  < request  > reply

The request is one line of JSON (``{"media_type": ...}``) followed by the bytes of the file; the
reply is one JSON object, either ``{"error": ..., "message": ...}`` or what ``_pdf`` and
``_workbook`` return. This file imports nothing of the package, so that it starts fast.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import kreuzberg

HEADING_LEVELS = (1, 2)


def main() -> None:
    """Serve one request from standard input."""
    _limit_memory(int(sys.argv[1]))
    header = json.loads(sys.stdin.buffer.readline())
    data = sys.stdin.buffer.read()
    try:
        reply = _pdf(data, header["media_type"]) if header["paged"] else _workbook(data, header["media_type"])
    except kreuzberg.KreuzbergError as error:
        reply = {"error": type(error).__name__, "message": str(error.message)}
    json.dump(reply, sys.stdout)


def _limit_memory(max_bytes: int) -> None:
    try:
        import resource
    except ImportError:  # Windows has no such limit; the time limit still holds.
        return
    try:
        resource.setrlimit(resource.RLIMIT_AS, (max_bytes, max_bytes))
    except (ValueError, OSError):  # macOS refuses, and a lower limit may already be set.
        return


def _extract(data: bytes, media_type: str, output_format: str, structure: bool) -> kreuzberg.ExtractionResult:
    config = kreuzberg.ExtractionConfig(
        use_cache=False,
        disable_ocr=True,  # type: ignore[call-arg]  # accepted, but missing from the stubs
        enable_quality_processing=False,
        include_document_structure=structure,
        output_format=output_format,
        pages=kreuzberg.PageConfig(extract_pages=True),
        concurrency=kreuzberg.ConcurrencyConfig(max_threads=1),
    )
    return kreuzberg.extract_bytes_sync(data, media_type, config)


def _pdf(data: bytes, media_type: str) -> dict[str, Any]:
    """The lines of every page, and the first and last line of every paragraph that the layout shows."""
    # Only the Markdown path analyses the layout; the text of the pages is the same on both paths.
    result = _extract(data, media_type, "markdown", structure=True)
    pages = [page["content"] for page in result.pages or []]
    hints: list[list[tuple[str, str, bool]]] = [[] for _ in pages]
    document: Any = result.document or {}
    for node in document.get("nodes", []):
        content, page = node["content"], node.get("page")
        lines = (content.get("text") or "").split("\n")
        if page is None or not 1 <= page <= len(pages) or not lines[0]:
            continue
        is_heading = content["node_type"] == "heading" and content.get("level") in HEADING_LEVELS
        hints[page - 1].append((lines[0], lines[-1], is_heading))
    return {"pages": pages, "hints": hints, "metadata": _metadata(result.metadata)}


def _workbook(data: bytes, media_type: str) -> dict[str, Any]:
    """The cells of every sheet that has any."""
    result = _extract(data, media_type, "plain", structure=False)
    sheets = [(table.page_number, table.cells) for table in result.tables]
    return {"sheets": sheets, "metadata": _metadata(result.metadata)}


def _metadata(raw: Any) -> dict[str, str]:
    found = {name: raw.get(name) for name in ("title", "subject", "language", "created_at", "modified_at")}
    found["author"] = ", ".join(raw.get("authors") or [])
    return {name: str(value) for name, value in found.items() if value}


if __name__ == "__main__":
    main()
