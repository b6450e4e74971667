"""The offline segmenter: lossless, within limits, at the evidence, the same every time; in English and Chinese."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

import qchunker
from qchunker.config import ChunkingConfig, SegmentationConfig
from qchunker.debate.offline import evidence
from qchunker.debate.offline.segmenter import Segmentation, segment, sizes_for
from qchunker.errors import ConfigError
from qchunker.models.fake import HashingEmbedder
from qchunker.types import Partition
from strategies import documents

EMBEDDER = HashingEmbedder()
WEIGHTS = SegmentationConfig()

PUMP = "The pump moves water through the filter. Its rotor turns at a fixed speed. The rotor is made of steel. "
BIRD = "Sparrows build nests of grass. The eggs hatch in two weeks. Both parents feed the young birds. "
PUMP_ZH = "水泵把水送过滤芯。转子以固定速度转动。转子由不锈钢制成。水泵每年检查一次。"
BIRD_ZH = "麻雀用草筑巢。鸟蛋两周孵化。雌鸟和雄鸟一起喂养幼鸟。幼鸟一个月后离巢。"


def made(text: str, target: int, name: str = "text.md", **weights: float) -> Partition:
    config = ChunkingConfig(target_chars=target, min_chars=0, overlap_ratio=0)
    return segment(qchunker.from_text(text, name), config, SegmentationConfig(**weights), EMBEDDER)  # type: ignore[arg-type]


@pytest.mark.parametrize(("text", "target"), [(PUMP * 2 + "\n\n" + BIRD * 2, 190), (PUMP_ZH + "\n\n" + BIRD_ZH, 37)])
def test_a_new_paragraph_is_a_better_place_than_a_sentence_end(text: str, target: int) -> None:
    starts = {chunk.start for chunk in made(text, target).chunks}
    assert text.index("\n\n") + 2 in starts


@pytest.mark.parametrize(("text", "target"), [(PUMP * 2 + BIRD * 2, 190), (PUMP_ZH + BIRD_ZH, 37)])
def test_a_change_of_topic_is_a_better_place_than_any_sentence_end(text: str, target: int) -> None:
    starts = {chunk.start for chunk in made(text, target, "text.txt").chunks}
    assert (text.index("Sparrows") if "Sparrows" in text else text.index("麻雀")) in starts


@pytest.mark.parametrize(
    "text", ["# A\n\n## B\n\nBody text here.\n\n# C\n\nMore.", "# 甲\n\n## 乙\n\n正文。\n\n# 丙\n\n正文。"]
)
def test_a_heading_stays_with_its_body(text: str) -> None:
    for target in (15, 20, 40):
        for chunk in made(text, target).chunks:
            last = chunk.text.strip().splitlines()[-1]
            assert not last.startswith("#"), (target, chunk.text)


def test_a_table_that_fits_is_whole_and_one_that_does_not_is_cut_between_rows_with_its_header() -> None:
    rows = "\n".join(f"| item {i} | {i * 7} |" for i in range(60))
    table = f"| name | value |\n|---|---|\n{rows}"
    text = f"Before the table.\n\n{table}\n\nAfter the table."
    whole = made(text, 900)
    assert any(table in chunk.text for chunk in whole.chunks)
    parts = [chunk for chunk in made(text, 200).chunks if "| item" in chunk.text]
    assert len(parts) > 2
    for chunk in parts:
        assert "| name | value |" in chunk.embedding_text
        assert all(line.startswith("|") and line.endswith("|") for line in chunk.text.splitlines() if "item" in line)


@settings(max_examples=60, deadline=None)
@given(documents)
def test_nothing_is_lost_and_no_limit_is_broken(text: str) -> None:
    config = ChunkingConfig(target_chars=60, overlap_ratio=0)
    document = qchunker.from_text(text, "text.md")
    partition = segment(document, config, WEIGHTS, EMBEDDER)
    at = 0
    for chunk in partition.chunks:
        assert chunk.text == document.text[chunk.start : chunk.end]
        assert not document.text[at : chunk.start].strip()
        assert len(chunk.embedding_text) <= config.limit or chunk.oversize
        at = chunk.end
    assert not document.text[at:].strip()
    again = segment(document, config, WEIGHTS, EMBEDDER)
    assert again == partition


def test_every_kind_of_evidence_can_be_switched_off() -> None:
    text = (PUMP + BIRD) * 3
    config = ChunkingConfig(target_chars=200, overlap_ratio=0)
    for name in ("embedding", "lexical", "cue"):
        off = SegmentationConfig(**{name: 0})  # type: ignore[arg-type]
        on, without = (Segmentation(qchunker.from_text(text), config, w, EMBEDDER) for w in (WEIGHTS, off))
        assert np.abs(on.terms[name][1:]).max() > 0
        assert not np.abs(without.terms[name]).any()


def test_without_an_encoder_there_is_no_embedding_evidence() -> None:
    config = ChunkingConfig(target_chars=200, overlap_ratio=0)
    found = Segmentation(qchunker.from_text(PUMP * 4), config, WEIGHTS, None)
    assert not found.terms["embedding"].any()


@pytest.mark.parametrize("opening", ["However, it fails.", "It fails.", "因此停机。", "该设备停机。", "“但是停机。”"])
def test_cue_words_bind(opening: str) -> None:
    text = f"First sentence here. {opening}" if opening.isascii() else f"第一句话在此。{opening}"
    units = Segmentation(qchunker.from_text(text), ChunkingConfig(target_chars=50), WEIGHTS, None).units
    assert evidence.cue(text, units).tolist()[1:] == [1.0]


@pytest.mark.parametrize("opening", ["Italy fails.", "Thistles grow.", "The pump stops.", "设备停机。", "水泵停机。"])
def test_other_openings_do_not_bind(opening: str) -> None:
    text = f"First sentence here. {opening}" if opening.isascii() else f"第一句话在此。{opening}"
    units = Segmentation(qchunker.from_text(text), ChunkingConfig(target_chars=50), WEIGHTS, None).units
    assert evidence.cue(text, units).tolist()[1:] == [0.0]


def test_the_explanation_adds_up_to_what_decided() -> None:
    config = ChunkingConfig(target_chars=200, overlap_ratio=0)
    found = Segmentation(qchunker.from_text((PUMP + "\n\n" + BIRD) * 3), config, WEIGHTS, EMBEDDER)
    partition = found.partition(found.best() or [])
    boundaries = found.explain(partition)
    assert [b.total for b in boundaries] == pytest.approx(found.evidence[1:])
    assert [b.start for b in boundaries if b.is_cut] == [chunk.start for chunk in partition.chunks[1:]]


def test_drawn_partitions_differ_are_seeded_and_start_with_the_best() -> None:
    config = ChunkingConfig(target_chars=200, overlap_ratio=0)
    document = qchunker.from_text((PUMP + BIRD) * 6)
    found = Segmentation(document, config, WEIGHTS, EMBEDDER)
    drawn = found.sample(8)
    assert drawn[0] == found.best()
    assert len({tuple(cuts) for cuts in drawn}) == len(drawn) == 8
    assert drawn == Segmentation(document, config, WEIGHTS, EMBEDDER).sample(8)
    assert all(found.score(cuts) <= found.score(drawn[0]) + 1e-9 for cuts in drawn)
    other = Segmentation(document, config, SegmentationConfig(seed=1), EMBEDDER).sample(8)
    assert other != drawn
    k = len(drawn[0]) + 1
    assert {len(cuts) for cuts in found.sample(8, k)} == {k}


def test_sizes_depend_on_the_language_unless_they_are_given() -> None:
    assert sizes_for(ChunkingConfig(), chinese=True).target == 180
    assert sizes_for(ChunkingConfig(), chinese=False).target == 500
    assert sizes_for(ChunkingConfig(target_chars=99), chinese=True).target == 99
    assert sizes_for(ChunkingConfig(max_chars=100), chinese=False).target == 100
    assert sizes_for(ChunkingConfig(), chinese=False).overlap == 0
    assert sizes_for(ChunkingConfig(overlap_ratio=0.2), chinese=False).overlap == 0.2


@pytest.mark.parametrize("setting", [
    {"heading": -1}, {"embedding": float("nan")}, {"length": True}, {"paths": 0}, {"paths": 1001}, {"seed": -1},
    {"objective": "best"}, {"cue": "much"},
])  # fmt: skip
def test_impossible_settings_are_named(setting: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=next(iter(setting))):
        SegmentationConfig(**setting)  # type: ignore[arg-type]


def test_long_texts_are_summed_in_blocks_with_the_same_result(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (PUMP + BIRD) * 8
    units = Segmentation(qchunker.from_text(text), ChunkingConfig(target_chars=200), WEIGHTS, None).units
    whole = evidence.lexical(text, units)
    monkeypatch.setattr(evidence, "_BLOCK", 5)
    assert np.allclose(evidence.lexical(text, units), whole, atol=1e-12)
