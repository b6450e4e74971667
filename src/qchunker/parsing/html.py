"""HTML to text and blocks: the main content, without navigation, scripts and handlers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from qchunker.errors import ParseError
from qchunker.parsing import headings
from qchunker.parsing.encoding import decode
from qchunker.parsing.heading_stack import HeadingStack
from qchunker.parsing.html_writer import MAX_DEPTH, SPACE, UNSEEN, HtmlDraft, HtmlWriter, fold
from qchunker.types import Block, Document, Note, Source

_META_CHARSET = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([A-Za-z0-9_-]+)", re.IGNORECASE)
# What a page may claim to be; anything else, and UTF-16 that reads as ASCII, is left to the detector.
_DECLARED = {
    "utf-8": "utf-8",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "gb18030": "gb18030",
    "big5": "big5hkscs",
    "big5-hkscs": "big5hkscs",
    "shift_jis": "cp932",
    "euc-jp": "euc_jp",
    "euc-kr": "cp949",
    "iso-8859-1": "cp1252",
    "windows-1252": "cp1252",
    "us-ascii": "cp1252",
}
_NESTING = ("div", "span", "b>", "i>", "ul", "ol", "table", "blockquote", "section", "font", "dl", "a ")


def parse_html(source: Source, selector: str | None = None) -> Document:
    """Parse a web page.

    ``Document.text`` is the extracted text: blocks with blank lines between them, tables as Markdown rows with
    spanning cells repeated where they apply, list items with a dash and their indentation.

    Args:
        source: the page.
        selector: CSS selector of the main content, such as ``.main__doc``. By default ``main``, a single
            ``article``, or the body without what is marked as navigation.

    Raises:
        ParseError: if the file is empty, the selector matches nothing, or no text is left.
    """
    markup, encoding, notes = decode(_with_declared_charset(source))
    return html_document(markup, source.name, notes, {"encoding": encoding}, selector)


def html_document(
    markup: str,
    name: str,
    notes: Sequence[Note] = (),
    metadata: dict[str, str] | None = None,
    selector: str | None = None,
) -> Document:
    """The document of a page that is already decoded; see ``parse_html``."""
    _refuse_nesting(markup, name)
    tree = LexborHTMLParser(markup)
    writer = HtmlWriter(name)
    roots = _roots(tree, name, selector)
    for root in roots:
        writer.write(root)
    text = "".join(writer.parts)
    if not text.strip():
        raise ParseError(
            name, "the page has no text in its main content", hint="name the main content with a CSS selector"
        )
    found = dict(metadata or {})
    title = tree.css_first("head > title")
    if title is not None and title.text().strip():
        found["title"] = SPACE.sub(" ", title.text()).strip()
    dropped = _dropped(tree, roots, writer.skipped)
    return Document(text, tuple(_place(writer.drafts, text)), name, "text/html", (*notes, *dropped), found)


def pages_document(
    pages: Sequence[str], name: str, media_type: str, notes: Sequence[Note], metadata: dict[str, str]
) -> Document:
    """The document of several pages read one after the other, such as the chapters of a book."""
    writer = HtmlWriter(name)
    for page in pages:
        _refuse_nesting(page, name)
        body = LexborHTMLParser(page).body
        if body is not None:
            writer.write(body)
    text = "".join(writer.parts)
    if not text.strip():
        raise ParseError(name, "the file has no text", hint="pictures of text need OCR first")
    return Document(text, tuple(_place(writer.drafts, text)), name, media_type, tuple(notes), metadata)


def _refuse_nesting(markup: str, name: str) -> None:
    """Markup that opens far more than it closes makes the tree builder quadratic."""
    lowered = markup.lower()
    n_open = sum(lowered.count(f"<{tag}") - lowered.count(f"</{tag}") for tag in _NESTING)
    if n_open > MAX_DEPTH:
        raise ParseError(name, f"{n_open} elements are opened and never closed", hint="the markup is broken")


def _with_declared_charset(source: Source) -> Source:
    """Re-encode a page that names an encoding the detector would have to guess."""
    declared = _META_CHARSET.search(source.data[:4096])
    if declared is None or source.data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        return source
    encoding = _DECLARED.get(declared[1].decode("ascii").lower())
    if encoding is None:
        return source
    try:
        text = source.data.decode(encoding)
    except UnicodeDecodeError:
        return source
    return Source(source.name, text.encode("utf-8", "replace"))


def _roots(tree: LexborHTMLParser, name: str, selector: str | None) -> list[LexborNode]:
    if selector is not None:
        try:
            chosen = tree.css(selector)
        except (SelectolaxError, ValueError) as error:
            raise ParseError(name, f"{selector!r} is not a CSS selector", hint=str(error)) from error
        if not chosen:
            raise ParseError(name, f"the selector {selector!r} matches nothing", hint="leave it out, or correct it")
        inner = {node.mem_id for outer in chosen for node in outer.css("*") if node.mem_id != outer.mem_id}
        return [node for node in chosen if node.mem_id not in inner]
    for query in ("main", "[role=main]", "article"):
        chosen = tree.css(query)
        if len(chosen) == 1:
            return chosen
    body = tree.body
    return [body] if body is not None else []


def _dropped(tree: LexborHTMLParser, roots: list[LexborNode], skipped: list[str]) -> list[Note]:
    """What a reader of the page could see and a reader of the text cannot."""
    body = tree.body
    outside = _visible(body) - sum(map(_visible, roots)) if body is not None else 0
    lost = max(outside, 0) + sum(len("".join(text.split())) for text in skipped)
    if lost == 0:
        return []
    example = fold(" ".join(skipped))[:60] or "outside the main content"
    return [Note("dropped_text", f"{lost} characters beside the main content were left out: {example}")]


def _visible(node: LexborNode) -> int:
    """How many characters of a node are not white space; scripts and styles are no text."""
    total, stack = 0, [node.first_child]
    while stack:
        child = stack.pop()
        if child is None:
            continue
        stack.append(child.next)
        if child.tag == "-text":
            total += len("".join((child.text_content or "").split()))
        elif child.tag not in UNSEEN:
            stack.append(child.first_child)
    return total


def _place(drafts: list[HtmlDraft], text: str) -> Iterator[Block]:
    stack = HeadingStack()
    marked = any(draft.kind == "heading" for draft in drafts)
    for draft in drafts:
        kind, start, end, level, header = draft
        if not marked and kind == "paragraph" and end - start <= headings.MAX_HEADING_CHARS:
            found = headings.numbering(text[start:end])
            if found and not found.weak and headings.numbered_title(text[start:end], found):
                kind, level = "heading", found.rank
        if kind == "heading":
            path = stack.push(level, headings.heading_title(text[start:end]))
            yield Block(kind, start, end, path, len(path) if not marked else level)
        else:
            yield Block(kind, start, end, stack.path, level, header)
