"""Sizes in tokens of real tokenizers, made here so that nothing is fetched."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import tiktoken
import tiktoken.registry
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers

from qchunker import CHUNKERS, ChunkingConfig, chunk, from_text
from qchunker.errors import ConfigError, MissingExtraError
from qchunker.tokens import token_counter

TEXT = (
    "The relief valve opens at nine bar. 安全阀在压力达到九巴时开启，操作人员应当做好记录。 Crew 👩‍🚒 on site.\n\n" * 30
)
SPECIAL = "The doc ends with <|endoftext|> and [CLS] adds [SEP]. Llama uses <s> and </s>. Keep all as plain text."


@pytest.fixture
def tiktoken_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A byte-level encoding, registered the way that encodings of other packages are."""
    (tmp_path / "tiktoken_ext").mkdir()
    (tmp_path / "tiktoken_ext" / "bytes_only.py").write_text(
        "def make():\n"
        "    ranks = {bytes([b]): b for b in range(256)}\n"
        "    ranks.update({b' t': 256, b'he': 257, b' the': 258})\n"
        "    return {'name': 'bytes_only', 'pat_str': r'\\s?\\S+|\\s+', 'mergeable_ranks': ranks,\n"
        "            'special_tokens': {'<|endoftext|>': 259}}\n"
        "ENCODING_CONSTRUCTORS = {'bytes_only': make}\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(tiktoken.registry, "ENCODING_CONSTRUCTORS", None)
    return "tiktoken:bytes_only"


@pytest.fixture
def hf_name(tmp_path: Path) -> str:
    """A word-piece tokenizer that adds special tokens around every text, and truncates by default."""
    tokenizer = Tokenizer(models.WordPiece({"[UNK]": 0}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(vocab_size=200, special_tokens=["[UNK]", "[CLS]", "[SEP]"])
    tokenizer.train_from_iterator([TEXT], trainer)
    ids = [("[CLS]", tokenizer.token_to_id("[CLS]")), ("[SEP]", tokenizer.token_to_id("[SEP]"))]
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ids)
    tokenizer.enable_truncation(16)
    path = tmp_path / "tokenizer.json"
    tokenizer.save(str(path))
    return f"hf:{path}"


@pytest.mark.parametrize("limit", [12, 40, 120])
@pytest.mark.parametrize("method", list(CHUNKERS))
def test_the_limit_holds_in_tokens_special_ones_included(
    method: str, limit: int, tiktoken_name: str, hf_name: str
) -> None:
    for name in (tiktoken_name, hf_name):
        config = ChunkingConfig(target_chars=limit, max_chars=limit, min_chars=0, tokenizer=name)
        count = token_counter(name)
        partition = chunk(from_text("# Valves\n\n" + TEXT, "x.md"), method, config)
        assert all(count(piece.embedding_text) <= limit or piece.oversize for piece in partition.chunks)
        assert "".join("".join(piece.text for piece in partition.chunks).split()) == "".join(
            partition.document.text.split()
        )
        assert f"unit={name}" in partition.signature


def test_words_that_spell_special_tokens_are_plain_text(tiktoken_name: str, hf_name: str) -> None:
    assert token_counter(tiktoken_name)("<|endoftext|>") == len("<|endoftext|>")
    for name in (tiktoken_name, hf_name):
        config = ChunkingConfig(target_chars=30, min_chars=0, tokenizer=name)
        assert "".join(piece.text for piece in chunk(from_text(SPECIAL), config=config).chunks).replace(
            " ", ""
        ) == SPECIAL.replace(" ", "")


def test_a_counter_that_truncates_is_set_right(hf_name: str) -> None:
    assert token_counter(hf_name)(TEXT) > 100


@pytest.mark.parametrize(
    "name", ["cl100k", "tiktoken:", "hf:", "spm:x", "tiktoken:no-such-encoding", "hf:/no/such/tokenizer.json"]
)
def test_a_wrong_name_is_a_configuration_error(name: str) -> None:
    with pytest.raises(ConfigError):
        chunk(from_text("One."), config=ChunkingConfig(tokenizer=name))


@pytest.mark.parametrize(("module", "name"), [("tiktoken", "tiktoken:gpt2"), ("tokenizers", "hf:x")])
def test_a_missing_package_is_named(module: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=f"pip install {module}"):
        token_counter(name)


def test_special_tokens_may_not_fill_the_limit(hf_name: str) -> None:
    with pytest.raises(ConfigError, match="special tokens"):
        chunk(from_text("One."), config=ChunkingConfig(target_chars=2, max_chars=2, tokenizer=hf_name))
