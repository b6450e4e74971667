"""The offline reviewer as a whole: what holds for every gap, and every input."""

from __future__ import annotations

import random
import time

import pytest
from marked_chunk import gaps_in

from qchunker import from_text
from qchunker.debate.offline.reviewer import DETECTORS, MAX_GAPS, review
from qchunker.types import GAP_KINDS, Block, Document, Span

CONTRACT = """# Hire of a Crane

Northwell Cranes Ltd ("Northwell") hires out a tower crane (the "Crane") to Lumen Optical Co. (the "Customer").

1.1 "Site Day" means a day on which the Crane stands at the site.

1.2 The Customer pays 400 euros per Site Day. The Site Load Cap (SLC) is two tonnes.

1.3 The preceding clause does not apply in August.

2.1 The Customer must keep to the SLC. It is checked once a day.
"""
LEASE = """# 塔吊租赁

出租方（甲方）：临海明光机械有限公司
承租方（乙方）：西山新筑工程有限公司

第一条 “台日”指塔吊在工地停放的一个自然日。

第二条 乙方按台日付款，每台日四百元。

第三条 前款不适用于八月。其费用见表1。

表1 八月费用

| 项目 | 金额（元） |
| 停放 | 100 |
| 拆装 | 900 |
"""


def pieces(text: str, size: int) -> list[Span]:
    return [Span(start, min(len(text), start + size)) for start in range(0, len(text), size)]


def check(document: Document, chunks: list[Span]) -> int:
    count = 0
    reviews = review(document, chunks)
    assert [Span(found.start, found.end) for found in reviews] == chunks
    for found in reviews:
        assert len(found.missing) <= MAX_GAPS
        for gap in found.missing:
            count += 1
            assert gap.kind in GAP_KINDS
            assert gap.necessity in ("required", "helpful")
            assert found.start <= gap.surface.start < gap.surface.end <= found.end
            assert gap.evidence
            assert gap.text == document.text[slice(*gap.evidence[0])]
            for start, end in gap.evidence:
                assert 0 <= start < end <= len(document.text)
                assert end <= found.start or start >= found.end
            assert sum(end - start for start, end in gap.evidence) <= 600
    return count


@pytest.mark.parametrize("text", [CONTRACT, LEASE])
@pytest.mark.parametrize("size", [1, 7, 40, 90, 200])
def test_evidence_lies_outside_and_surface_inside_however_the_text_is_cut(text: str, size: int) -> None:
    check(from_text(text, "text.md"), pieces(text, size))


def test_random_chunks_may_overlap_and_repeat() -> None:
    rng = random.Random(3)
    text = CONTRACT + LEASE
    chunks = [Span(*sorted(rng.sample(range(len(text)), 2))) for _ in range(200)]
    assert check(from_text(text, "text.md"), chunks) > 100


def test_every_kind_has_a_detector_and_can_be_switched_off() -> None:
    assert set(DETECTORS) == set(GAP_KINDS)
    text = f"{CONTRACT[:-1]}«{CONTRACT[CONTRACT.index('2.1') :]}»"
    kinds = {gap.kind for gap in gaps_in(text)}
    assert kinds
    for kind in kinds:
        assert kind not in {gap.kind for gap in gaps_in(text, *(other for other in GAP_KINDS if other != kind))}
        assert {gap.kind for gap in gaps_in(text, kind)} <= {kind, "coreference"}


def test_the_same_document_has_the_same_reviews() -> None:
    document = from_text(CONTRACT, "text.md")
    chunks = pieces(CONTRACT, 120)
    assert review(document, chunks) == review(document, chunks)


def test_one_piece_of_knowledge_is_one_gap() -> None:
    document = from_text(CONTRACT, "text.md")
    for found in review(document, pieces(CONTRACT, 150)):
        first = [gap.evidence[0] for gap in found.missing]
        assert len(first) == len(set(first))


def test_a_document_in_one_chunk_lacks_nothing() -> None:
    for text in (CONTRACT, LEASE):
        assert review(from_text(text, "text.md"), [Span(0, len(text))])[0].missing == ()


@pytest.mark.parametrize(
    "text",
    [
        "x",
        " x ",
        "。",
        "\ufeffx",
        "\u200b\u200bIt\u200b",
        "\U0001f600 " * 40,
        "e\u0301" * 50 + " 该\u3000",
        "|\n|\n|",
        "# \n\n#",
        "a\x00b\x85c\u2028d",
        "(())((“”“",
    ],
)
def test_scraps_and_odd_characters_pass(text: str) -> None:
    document = Document(text, (Block("paragraph", 0, len(text)),))
    check(document, pieces(text, 1))
    check(document, [Span(0, len(text)), Span(0, 0), Span(len(text), len(text))])


REPEATED = [
    "a", "A", "(AB) ", "Alpha Beta (AB) ", "“甲乙”指丙，", "（以下简称“甲”）", "甲公司（以下简称“甲”）", "甲方", "第八条 不适用第九条。",
    "| a | 1 |\n", "# H x\n\ntext\n\n", "- item\n\n", "见表1。", "Table 1. x\n", "The X is a process ", '"A b" means c. ', '(the "A b") ',
    "前款不适用。\n\n", "3.1 Rule does not apply to 3.2.\n\n", "term\n\n  It is.\n\n", "该公司", "同年七月", "景平元年七月初五，", "rna-2, ",
    "RNA-", "xx's ", "甲、乙三地", "《甲合同》本合同", "保证金为1000元，", "其中 A、B 和 C 分别是", "the 2 days delay ", "甲乙丙称为「", "Section 6 states ", "本次会议的", "该机构在", "不受7.2、7.3和", "term\n\n  It is it is it.\n\n", "(1) a\n", "Mus musculus ",
]  # fmt: skip


def seconds(pattern: str, length: int) -> float:
    text = (pattern * (length // len(pattern) + 1))[:length]
    document = Document(text, (Block("paragraph", 0, length),))
    start = time.perf_counter()
    review(document, pieces(text, 400))
    return time.perf_counter() - start


@pytest.mark.parametrize("pattern", REPEATED)
def test_a_repeated_pattern_is_read_fast(pattern: str) -> None:
    assert seconds(pattern, 60_000) < 4


@pytest.mark.parametrize("pattern", ["| a | 1 |\n", "Alpha Beta (AB) "])
def test_a_megabyte_of_one_pattern_takes_linear_time(pattern: str) -> None:
    assert seconds(pattern, 1_000_000) < 40
