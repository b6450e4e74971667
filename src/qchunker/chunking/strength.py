"""How good a place the boundary between two blocks is to cut."""

from __future__ import annotations

import re
from collections.abc import Sequence

from qchunker.chunking.packing import BLOCK, CLAUSE, GLUED, HEADING, ITEM
from qchunker.types import Block

_CAPTION = re.compile(r"\s*(?:Table|Tab\.|TABLE|表|附表|续表)\s*[0-9０-９A-Z一二三四五六七八九十]", re.IGNORECASE)
_ENDS = ".。!！?？:：;；”’\"'"
_MAX_CAPTION_CHARS = 150
_MAX_INTRODUCTION_CHARS = 300
_MAX_LABEL_CHARS = 12


def strength_before(text: str, blocks: Sequence[Block], index: int) -> int:
    """Strength of the boundary in front of a block, one of those in ``packing``."""
    if index == 0:
        return BLOCK
    block, before = blocks[index], blocks[index - 1]
    if before.kind == "heading" or block.kind == "furniture":
        return GLUED
    if block.kind == "heading":
        return HEADING
    if block.level and before.kind == "list_item" and block.kind not in ("list_item", "heading"):
        return GLUED
    if before.kind == "furniture":
        return GLUED if _runs_over(text, blocks, index) else BLOCK
    if before.kind == "paragraph" and _introduces(text, before, block):
        return GLUED
    if block.kind == "list_item":
        return GLUED if block.header is not None and block.header.start == before.start else ITEM
    if block.kind == before.kind == "paragraph" and _reads_on(text, before, block):
        return CLAUSE
    return ITEM if block.kind == "record" else BLOCK


def _introduces(text: str, before: Block, block: Block) -> bool:
    """Whether a paragraph is nothing without the next block: a caption, a label, a sentence up to its colon."""
    size, last = before.end - before.start, text[before.end - 1]
    if last in ":：":
        return size <= _MAX_INTRODUCTION_CHARS
    if size <= _MAX_LABEL_CHARS and last not in _ENDS:
        return True
    is_table = block.kind == "table" and size <= _MAX_CAPTION_CHARS
    return is_table and _CAPTION.match(text, before.start) is not None


def _reads_on(text: str, before: Block, block: Block) -> bool:
    """Whether a sentence runs over from one paragraph to the next, as across pages and around displays."""
    return text[block.start].islower() and text[before.end - 1] not in _ENDS


def _runs_over(text: str, blocks: Sequence[Block], index: int) -> bool:
    """Whether the sentence before the page break in front of a block goes on in it."""
    while index > 0 and blocks[index - 1].kind == "furniture":
        index -= 1
    return index > 0 and text[blocks[index - 1].end - 1] not in _ENDS
