"""Other chunkers behind one interface. Each is imported when it is made, so that none has to be installed.

All count characters and use no overlap. A maker gives a function from text to the tool's own output and a function
that reads pieces from that output; only the first is timed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Piece(NamedTuple):
    """One chunk as the tool reports it: its text, its offset if there is one, its headings if it knows them."""

    text: str
    start: int | None = None
    path: tuple[str, ...] | None = None


class Tool(NamedTuple):
    run: Callable[[str], Any]
    pieces: Callable[[Any], list[Piece]]


Maker = Callable[[int, str], Tool]  # from target size and kind of input (en, zh, md)

ZH_SEPARATORS = ["\n\n", "\n", "。", "！", "？", "；", "，", "、", " ", ""]


def qchunker(method: str) -> Maker:
    def make(target: int, kind: str) -> Tool:
        import qchunker

        config = qchunker.ChunkingConfig(target_chars=target, overlap_ratio=0)
        name = "text.md" if kind == "md" else "text.txt"
        return Tool(
            lambda text: qchunker.chunk(qchunker.from_text(text, name), method, config),
            lambda partition: [Piece(chunk.text, chunk.start, chunk.heading_path) for chunk in partition.chunks],
        )

    return make


def chonkie_recursive(target: int, kind: str) -> Tool:
    from chonkie import RecursiveChunker

    return _chonkie(RecursiveChunker(tokenizer="character", chunk_size=target))


def chonkie_recursive_zh(target: int, kind: str) -> Tool:
    # The published recipe is fetched over the network; these are rules of the same kind.
    from chonkie import RecursiveChunker
    from chonkie.types import RecursiveLevel, RecursiveRules

    levels = [
        RecursiveLevel(delimiters=["\n\n", "\r\n", "\n", "\r"]),
        RecursiveLevel(delimiters=["。", "！", "？"]),
        RecursiveLevel(delimiters=["；", "，", "、", "："]),
        RecursiveLevel(whitespace=True),
        RecursiveLevel(),
    ]
    return _chonkie(RecursiveChunker(tokenizer="character", chunk_size=target, rules=RecursiveRules(levels=levels)))


def _chonkie(chunker: Any) -> Tool:
    return Tool(chunker, lambda chunks: [Piece(chunk.text, chunk.start_index) for chunk in chunks])


def langchain_recursive(target: int, kind: str) -> Tool:
    return _langchain(target)


def langchain_recursive_zh(target: int, kind: str) -> Tool:
    return _langchain(target, separators=ZH_SEPARATORS, keep_separator="end")


def _langchain(target: int, **settings: Any) -> Tool:
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    splitter = RecursiveCharacterTextSplitter(
        chunk_size=target, chunk_overlap=0, add_start_index=True, length_function=len, **settings
    )
    return Tool(
        lambda text: splitter.create_documents([text]),
        lambda found: [Piece(one.page_content, one.metadata["start_index"]) for one in found],
    )


def langchain_headers(target: int, kind: str) -> Tool:
    return Tool(_header_splitter().split_text, _header_pieces)


def langchain_headers_recursive(target: int, kind: str) -> Tool:
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    headers = _header_splitter()
    # Its start index would count from the section, which has no offset itself.
    inner = RecursiveCharacterTextSplitter(chunk_size=target, chunk_overlap=0)
    return Tool(lambda text: inner.split_documents(headers.split_text(text)), _header_pieces)


def _header_splitter() -> Any:
    from langchain_text_splitters import MarkdownHeaderTextSplitter

    return MarkdownHeaderTextSplitter([("#" * level, f"h{level}") for level in range(1, 7)], strip_headers=False)


def _header_pieces(found: Any) -> list[Piece]:
    return [Piece(one.page_content, None, tuple(one.metadata.values())) for one in found]


def llamaindex_sentence(target: int, kind: str) -> Tool:
    from llama_index.core.node_parser import SentenceSplitter

    return _llamaindex(SentenceSplitter(chunk_size=target, chunk_overlap=0, tokenizer=list))


def llamaindex_markdown(target: int, kind: str) -> Tool:
    from llama_index.core.node_parser import MarkdownNodeParser

    return _llamaindex(MarkdownNodeParser())


def _llamaindex(parser: Any) -> Tool:
    from llama_index.core import Document

    def pieces(nodes: Any) -> list[Piece]:
        paths = [node.metadata.get("header_path") for node in nodes]
        return [
            Piece(node.text, node.start_char_idx, None if path is None else tuple(filter(None, path.split("/"))))
            for node, path in zip(nodes, paths, strict=True)
        ]

    return Tool(lambda text: parser.get_nodes_from_documents([Document(text=text)]), pieces)


def semchunk(target: int, kind: str) -> Tool:
    import semchunk

    chunker = semchunk.chunkerify(len, target)
    return Tool(
        lambda text: chunker(text, offsets=True),
        lambda found: [Piece(piece, start) for piece, (start, _) in zip(*found, strict=True)],
    )


def text_splitter(name: str) -> Maker:
    def make(target: int, kind: str) -> Tool:
        import semantic_text_splitter

        splitter = getattr(semantic_text_splitter, name)(target)
        # chunk_indices gives character offsets, not bytes.
        return Tool(splitter.chunk_indices, lambda found: [Piece(piece, start) for start, piece in found])

    return make


# Name, kinds of input it is run on, maker.
TOOLS: dict[str, tuple[str, Maker]] = {
    "qchunker structure": ("en zh md", qchunker("structure")),
    "qchunker recursive": ("en zh md", qchunker("recursive")),
    "chonkie recursive": ("en zh md", chonkie_recursive),
    "chonkie recursive, zh rules": ("zh", chonkie_recursive_zh),
    "LangChain recursive": ("en zh md", langchain_recursive),
    "LangChain recursive, zh separators": ("zh", langchain_recursive_zh),
    "LangChain Markdown headers": ("md", langchain_headers),
    "LangChain Markdown headers + recursive": ("md", langchain_headers_recursive),
    "LlamaIndex sentence": ("en zh md", llamaindex_sentence),
    "LlamaIndex Markdown": ("md", llamaindex_markdown),
    "semchunk": ("en zh md", semchunk),
    "semantic-text-splitter": ("en zh md", text_splitter("TextSplitter")),
    "semantic-text-splitter Markdown": ("md", text_splitter("MarkdownSplitter")),
}

PACKAGES = ("chonkie", "langchain-text-splitters", "llama-index-core", "semchunk", "semantic-text-splitter")
