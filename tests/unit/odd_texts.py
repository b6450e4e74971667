"""Texts that chunkers lose or choke on, and the promise that nothing is lost."""

from __future__ import annotations

from qchunker import ChunkingConfig, Partition

# Reasons for a cut that docs/chunking.md tells.
CUTS = "start heading block item row line sentence clause word grapheme".split()
TEXTS = {
    "emoji": "👩‍🚒🇯🇵👍🏻 " * 200, "crlf": "One line.\r\nAnother line.\r\n\r\nA third.\r\n" * 30, "no spaces": "x" * 3000,
    "zh no stops": "长" * 3000, "one paragraph": "The pump must be oiled weekly. " * 200, "zh one paragraph": "阀门应当关闭，并记录当班人员姓名。" * 120,
    "table": "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 300, "code": "```py\n" + "x = 1\n" * 400 + "```\n",
    "small table": "Text before it.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n\nText behind it. And more.\n" * 8,
    "headings": "# One\n## Two\n### Three\nBody of it.\n" * 30, "invisible": "\u200b\u200bA word.\u200b \u200b\n" * 40,
    "lists": "Do this:\n\n- first\n- second\n  - deeper\n\n" * 30, "one letter": "a", "blank lines": "A.\n\n\n\n\n\n\n\nB.\n" * 20,
    "mixed": "第八条 The goods 应当 be delivered。Yes! 真的？OK. " * 60, "special": "<|endoftext|> <bos> </s> [MASK] <think>x</think> " * 20,
}  # fmt: skip


def assert_lossless(partition: Partition, config: ChunkingConfig) -> None:
    """Every non-space character is in one chunk, and none is over the limit without saying why."""
    text, at = partition.document.text, 0
    for chunk in partition.chunks:
        assert not text[at : chunk.start].strip()
        assert chunk.text.strip()
        assert len(chunk.embedding_text) <= config.limit or chunk.oversize
        assert chunk.cut in CUTS
        at = chunk.end
    assert not text[at:].strip()
