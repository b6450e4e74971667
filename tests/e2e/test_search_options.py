"""What may come with a hit, how hits are ordered anew, and the vectors a question can be compared with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import qchunker
from qchunker import Index, SearchConfig
from qchunker.errors import ModelError, ModelOutputError
from qchunker.retrieval.rerank import CrossEncoderReranker

RULES = "# Pumps\n\n## Oil\n\nThe oil is changed yearly.\n\nThe old oil is burnt.\n\nThe filter stays.\n\n## Belt\n\nThe belt is red.\n"
RULES_ZH = "# 水泵\n\n## 润滑\n\n机油每年更换一次。\n\n旧油应当焚烧。\n\n滤芯不必更换。\n\n## 皮带\n\n皮带是红色的。\n"


@pytest.fixture(
    params=[(RULES, "yearly oil", "burnt", "belt is red"), (RULES_ZH, "机油每年更换", "焚烧", "皮带是红色")],
    ids=["en", "zh"],
)
def asked(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Index, str, str, str]]:
    text, question, near, far = request.param
    (tmp_path / "pumps.md").write_text(text, "utf-8")
    index = Index.open(tmp_path / "index")
    index.sync(
        tmp_path / "pumps.md",
        method="structure",
        config=qchunker.ChunkingConfig(target_chars=25, max_chars=60, min_chars=0, overlap_ratio=0),
    )
    yield index, question, near, far
    index.close()


def told(index: Index, question: str, **settings: object) -> list[tuple[str, str]]:
    hit = index.search(question, 1, config=SearchConfig(**settings))[0]  # type: ignore[arg-type]
    return [(one.kind, str(one.row["text"])) for one in hit.related]


def test_neighbours_and_sections_come_on_request_and_within_a_budget(asked: tuple[Index, str, str, str]) -> None:
    index, question, near, far = asked
    assert told(index, question) == []
    behind = told(index, question, with_neighbours=1)
    assert any(kind == "behind" and near in text for kind, text in behind)
    assert not any(far in text for _, text in behind)
    section = told(index, question, with_section=True)
    assert any(kind == "section" and near in text for kind, text in section)
    assert not any(far in text for _, text in section)
    everything = told(index, question, with_neighbours=9, with_section=True)
    assert any(far in text for _, text in everything)
    assert len({text for _, text in everything}) == len(everything)
    assert told(index, question, with_neighbours=9, with_section=True, related_chars=0) == []
    assert sum(len(text) for _, text in told(index, question, with_neighbours=9, related_chars=40)) <= 40


class Backwards:
    """Likes what the search likes least."""

    id = "backwards"

    def __init__(self) -> None:
        self.seen: list[str] = []

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        self.seen += texts
        return [float(n) for n in range(len(texts))]


def test_a_reranker_orders_the_candidates_anew(asked: tuple[Index, str, str, str]) -> None:
    index, question, _, _ = asked
    plain = [hit.id for hit in index.search(question, 4)]
    reranker = Backwards()
    found = index.search(question, 9, reranker=reranker)
    assert [hit.id for hit in found][-4:] == plain[::-1]
    assert (
        [hit.rerank for hit in found]
        == [hit.score for hit in found]
        == sorted((hit.score for hit in found), reverse=True)
    )
    assert all(text.strip() for text in reranker.seen)


class Wrong(Backwards):
    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        return [float("nan")] * len(texts)


def test_a_reranker_that_gives_no_numbers_is_named(asked: tuple[Index, str, str, str]) -> None:
    index, question, _, _ = asked
    with pytest.raises(ModelOutputError, match="backwards"):
        index.search(question, reranker=Wrong())


@pytest.mark.model
def test_a_cross_encoder_reads_the_question_with_every_text(asked: tuple[Index, str, str, str], tmp_path: Path) -> None:
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    pytest.importorskip("sentence_transformers")
    folder = tmp_path / "tiny"
    folder.mkdir()
    words = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "[MASK]",
        *"the oil is changed yearly old burnt filter stays belt red 机 油 每 年 更 换 皮 带 红 色".split(),
    ]
    (folder / "vocab.txt").write_text("\n".join(words), "utf-8")
    transformers.BertTokenizerFast(vocab=str(folder / "vocab.txt"), model_max_length=64).save_pretrained(folder)
    torch.manual_seed(0)
    config = transformers.BertConfig(vocab_size=len(words), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16, max_position_embeddings=64, num_labels=1)  # fmt: skip
    transformers.BertForSequenceClassification(config).save_pretrained(folder)
    reranker = CrossEncoderReranker(str(folder))
    index, question, _, _ = asked
    hits = index.search(question, 9, reranker=reranker)
    values = reranker.scores(question, [str(hit.row["embedding_text"]) for hit in hits])
    assert [hit.rerank for hit in hits] == pytest.approx(values, abs=1e-5)
    assert values == sorted(values, reverse=True)
    assert len(set(values)) > 1
    assert reranker.scores(question, []) == []
    with pytest.raises(ModelError, match="cannot be loaded"):
        CrossEncoderReranker(str(tmp_path / "nowhere"))


@pytest.mark.parametrize(("text", "question"), [
    ("Tea is grown on hills. Coal is dug from pits. Salt is won from the sea. Wool is shorn in May.", "How is coal won?"),
    ("茶树种在山上。煤炭从矿井里挖出来。食盐取自海水。羊毛在五月剪下。", "煤炭从哪里挖出来？"),
])  # fmt: skip
def test_a_chunk_is_found_by_its_best_sentence(text: str, question: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(text, "utf-8")
    dense = {"bm25_weight": 0.0}
    with Index.open(tmp_path / "index") as index:
        index.sync(tmp_path / "a.txt", sentences=True)
        body = index.search(question, 1, config=SearchConfig(**dense, dense_roles=("body",)))[0]  # type: ignore[arg-type]
        sentence = index.search(question, 1, config=SearchConfig(**dense, dense_roles=("body", "sentence")))[0]  # type: ignore[arg-type]
    assert body.dense is not None
    assert sentence.dense is not None
    assert sentence.dense > body.dense + 0.05
