"""Walks an HTML tree and writes its text and blocks side by side."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from selectolax.lexbor import LexborNode

from qchunker.errors import ParseError
from qchunker.parsing.html_table import table_rows
from qchunker.types import Span

_SKIPPED = frozenset(
    """
    area audio base button canvas dialog embed head iframe img input link map math-renderer meta
    nav noscript object picture script select source style svg template textarea title track video
    """.split()
)
_BLOCKS = frozenset(
    """
    address article aside blockquote body caption center dd details div dl dt fieldset figcaption figure footer form h1
    h2 h3 h4 h5 h6 header hgroup hr html li main menu ol p pre search section summary table tbody td tfoot
    th thead tr ul
    """.split()
)
_HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
# Class words and roles by which page generators mark what is around the text.
_FURNITURE = frozenset(
    """
    breadcrumb breadcrumbs cookie-banner headerlink nav navbar navfooter navheader navigation page-footer
    pagination related sidebar site-footer site-header skip-link skiplink sphinxsidebar table-of-contents
    toc toc-sidebar toctree-wrapper
    """.split()
)
_BOXES = frozenset("admonition alert callout caution danger important note notecard tip warning".split())
_FURNITURE_ROLES = frozenset({"navigation", "search", "banner", "contentinfo", "complementary"})
UNSEEN = frozenset("script style noscript template svg head title".split())
SPACE = re.compile(r"[ \t\n\r\f]+")
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
MAX_DEPTH = 5_000
_MAX_INDENTS = 20


class HtmlDraft(NamedTuple):
    kind: str
    start: int
    end: int
    level: int = 0
    header: Span | None = None


@dataclass(slots=True)
class _List:
    """An open list; ``term`` is the last term of a description list."""

    tag: str
    n_items: int = 0
    term: Span | None = None


class HtmlWriter:
    """Walks the tree without recursion and writes text and blocks side by side."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.parts: list[str] = []
        self.length = 0
        self.drafts: list[HtmlDraft] = []
        self.skipped: list[str] = []  # visible text of elements that were left out
        self._inline: list[str] = []
        self._lists: list[_List] = []
        self._items: list[Span | None] = []  # first line of each open item, of the term above a description too
        self._marks: list[int] = []  # how many items were open when each item opened
        self._kind, self._level = "paragraph", 0
        self._quotes = 0
        self._boxes = 0  # open notes and warnings: their titles are no headings of the text

    def write(self, root: LexborNode) -> None:
        """Write everything below ``root``."""
        self._root = root
        stack: list[tuple[LexborNode, bool]] = [(root, False)]
        depth = 0
        while stack:
            node, leaving = stack.pop()
            if leaving:
                depth -= 1
                self._leave(node)
                continue
            if node.tag == "-text":
                self._inline.append(node.text_content or "")
                continue
            if not self._enter(node):
                continue
            depth += 1
            if depth > MAX_DEPTH:
                raise ParseError(
                    self._name, f"elements are nested more than {MAX_DEPTH} deep", hint="the markup is broken"
                )
            stack.append((node, True))
            stack.extend((child, False) for child in reversed(list(_children(node))))
        self._flush()

    def _is_aside(self, node: LexborNode) -> bool:
        # Inside the main content an aside is a remark, in the body of a page it is what stands beside the content.
        return _is_furniture(node) or (node.tag == "aside" and self._root.tag == "body")

    def _enter(self, node: LexborNode) -> bool:
        """Open an element; False when its children are not to be walked."""
        tag = str(node.tag)
        if tag.startswith(("-", "!")) or tag in _SKIPPED or (node.mem_id != self._root.mem_id and self._is_aside(node)):
            if tag not in UNSEEN:
                self.skipped.append(node.text(deep=True) or "")
            return False
        if tag == "br":
            self._inline.append("\v")
            return False
        if tag not in _BLOCKS:
            return True
        self._flush()
        if tag == "pre":
            self._emit("code", (node.text(deep=True) or "").strip("\r\n"), len(self._items))
            return False
        if tag == "table" and (rows := table_rows(node)) is not None:
            caption = node.css_first("caption")
            if caption is not None:
                self._emit("paragraph", fold(caption.text(deep=True)))
            self._table(rows.header, rows.body)
            return False
        if tag in ("ol", "ul", "menu", "dl"):
            self._lists.append(_List(tag))
        elif tag in ("li", "dt", "dd"):
            self._open_item(tag)
        elif tag in _HEADINGS and not (self._items or self._quotes or self._boxes):
            self._kind, self._level = "heading", _HEADINGS[tag]
        elif _is_box(node):
            self._boxes += 1
        elif tag == "blockquote":
            self._quotes += 1
        elif tag == "hr":
            return False
        return True

    def _leave(self, node: LexborNode) -> None:
        tag = str(node.tag)
        if tag not in _BLOCKS:
            return
        self._flush()
        if tag in ("ol", "ul", "menu", "dl") and self._lists:
            self._lists.pop()
        elif tag in ("li", "dt", "dd") and self._marks:
            if tag == "dt" and self._lists:
                self._lists[-1].term = self._items[-1]
            del self._items[self._marks.pop() :]
        elif tag == "blockquote":
            self._quotes -= 1
        elif _is_box(node):
            self._boxes -= 1
        self._kind, self._level = "paragraph", 0

    def _open_item(self, tag: str) -> None:
        self._marks.append(len(self._items))
        if self._lists:
            self._lists[-1].n_items += 1
            if tag == "dd" and self._lists[-1].term is not None:
                self._items.append(self._lists[-1].term)
        self._items.append(None)

    def _flush(self) -> None:
        text = fold("".join(self._inline))
        self._inline.clear()
        if not text:
            return
        if self._kind == "heading":
            self._emit("heading", " ".join(text.split()), self._level)
        elif self._items:
            self._item_text(text)
        else:
            self._emit("quote" if self._quotes else "paragraph", text)

    def _item_text(self, text: str) -> None:
        level = len(self._items)
        indent = "  " * min(level - 1, _MAX_INDENTS)
        around = self._lists[-1] if self._lists else _List("ul")
        first = self._items[-1] is None
        marker = {"ol": f"{around.n_items}. ", "dl": ""}.get(around.tag, "- ")
        body = text.replace("\n", "\n" + indent + " " * len(marker))
        lead = marker if first else " " * len(marker)
        parent = next((span for span in reversed(self._items) if span is not None), None)
        start = self._emit("list_item", f"{indent}{lead}{body}", level, parent, tight=True)
        if first:
            self._items[-1] = Span(start, start + len(f"{indent}{lead}{body}".split("\n")[0]))

    def _table(self, header: list[str], body: list[list[str]]) -> None:
        lines = ["| " + " | ".join(row) + " |" for row in [header, *body] if row]
        rule = "|" + "---|" * len(header)
        if header:
            lines.insert(1, rule)
        if not lines:
            return
        head_chars = len("\n".join(lines[:2])) if header else 0
        start = self._emit("table", "\n".join(lines), len(self._items))
        if header:
            self.drafts[-1] = self.drafts[-1]._replace(header=Span(start, start + head_chars))

    def _emit(self, kind: str, text: str, level: int = 0, header: Span | None = None, tight: bool = False) -> int:
        """Append one block; returns where it starts."""
        if not text.strip():
            return self.length
        if self.parts:
            gap = "\n" if tight and self.drafts and self.drafts[-1].kind == "list_item" else "\n\n"
            self.parts.append(gap)
            self.length += len(gap)
        start = self.length
        self.parts.append(text)
        self.length += len(text)
        self.drafts.append(HtmlDraft(kind, start, self.length, level, header))
        return start


def _children(node: LexborNode) -> Iterator[LexborNode]:
    child = node.first_child
    while child is not None:
        yield child
        child = child.next


def _is_box(node: LexborNode) -> bool:
    if node.tag not in ("div", "aside", "section", "p"):
        return False
    return not _BOXES.isdisjoint((node.attributes.get("class") or "").lower().split())


def _is_furniture(node: LexborNode) -> bool:
    attributes = node.attributes
    if not attributes:
        return False
    if "hidden" in attributes or attributes.get("aria-hidden") == "true":
        return True
    if _HIDDEN_STYLE.search(attributes.get("style") or "") or attributes.get("role") in _FURNITURE_ROLES:
        return True
    return not _FURNITURE.isdisjoint((attributes.get("class") or "").lower().split())


def fold(text: str) -> str:
    r"""White space as a browser shows it; ``\v`` stands for a line break of the source."""
    lines = (SPACE.sub(" ", line).strip(" ") for line in text.split("\v"))
    return "\n".join(line for line in lines if line).strip()
