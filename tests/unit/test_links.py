"""Rules and the clauses that limit them."""

from __future__ import annotations

import pytest

from qchunker import ChunkingConfig, chunk, from_text

RULE_FIRST = [
    ("8.3 Either party may end this agreement with thirty days' notice.", "8.4 Clause 8.3 does not apply while a delivery is in transit."),
    ("8.3 除非双方另有书面约定，任何一方均可提前三十日书面通知对方终止本协议。", "8.4 前款不适用于以下情形：货物在途。"),
    ("8.3 任何一方均可提前三十日书面通知对方终止本协议。", "8.4 第8.3条不适用于货物在途的情形。"),
    ("第八条 供方应当在十日内交货，并提供合格证明。", "第九条 第八条的规定不适用于不可抗力的情形。"),
    ("第八条 供方应当在十日内交货，并提供合格证明。", "第九条 因需方原因延期的，供方不受第八条的限制。"),
    ("Any trained worker may open the hatch of the tank.", "The preceding paragraph does not apply during a thunderstorm."),
    ("Article 5\n\nThe supplier delivers within ten working days.", "Article 6\n\nNotwithstanding Article 5, frozen goods are delivered at once."),
    ("Section 2.1 The supplier delivers within ten working days.", "Section 2.2 Section 2.1 is not applicable to frozen goods."),
]  # fmt: skip

EXCEPTION_NAMED_BY_THE_RULE = [
    ("第十条 需方应当按期付款，第十一条规定的情形除外。", "第十一条 货物不合格的，需方可以暂缓付款。"),
    ("8.3 Subject to Section 8.4, either party may end this agreement.", "8.4 A delivery in transit is completed before the end of the agreement."),
    ("8.3 Except as provided in 8.4, either party may end this agreement.", "8.4 A delivery in transit is completed before the end of the agreement."),
]  # fmt: skip


def _linked(rule: str, exception: str) -> tuple[list[tuple[str, int]], list[str]]:
    text = f"{rule}\n\n{exception}\n"
    target = max(len(rule), len(exception)) + 1
    partition = chunk(from_text(text), "structure", ChunkingConfig(target_chars=target, min_chars=0, overlap_ratio=0))
    starts = {piece.id: piece.start for piece in partition.chunks}
    links = [(link.kind, piece.start, starts[link.target]) for piece in partition.chunks for link in piece.links]
    quotes = [text[a:b] for piece in partition.chunks for link in piece.links for a, b in link.evidence]
    return links, quotes


@pytest.mark.parametrize(("rule", "exception"), RULE_FIRST)
def test_the_exception_limits_the_rule(rule: str, exception: str) -> None:
    links, quotes = _linked(rule, exception)
    at = len(rule) + 2
    assert ("limits", at, 0) in links
    assert ("limited_by", 0, at) in links
    assert all(quote in exception for quote in quotes)


@pytest.mark.parametrize(("rule", "exception"), EXCEPTION_NAMED_BY_THE_RULE)
def test_a_rule_that_names_its_exception_is_limited_by_it(rule: str, exception: str) -> None:
    links, quotes = _linked(rule, exception)
    at = len(rule) + 2
    assert ("limited_by", 0, at) in links
    assert ("limits", at, 0) in links
    assert all(quote in rule for quote in quotes)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("8.3 Either party may end this agreement with notice.", "8.4 Clause 8.3 is described in the manual of the supplier."),
        ("8.3 The tank holds 3.5 litres of oil.", "8.4 The warranty does not apply to tanks above 3.5 litres."),
        ("第八条 供方应当在十日内交货。", "第九条 本协议自签字之日起生效，有效期三年。"),
        # What stays free of a limit is not limited by it.
        ("Section 5. Goods are returned clean.", "Section 6. Liability is limited. This does not apply to the duty in Section 5."),
        ("第五条 货物归还前清洗。", "第六条 赔偿以合同价款为限，第五条规定的义务不受此限制。"),
        ("第八条 供方应当在十日内交货。", "第九条 第十五条的规定不适用于出口货物。"),
    ],
)  # fmt: skip
def test_a_mention_is_no_limit(one: str, other: str) -> None:
    assert _linked(one, other) == ([], [])


def test_no_link_inside_one_chunk() -> None:
    partition = chunk(from_text("8.3 Either may end it.\n\n8.4 Clause 8.3 does not apply at sea.\n"), "structure")
    assert len(partition.chunks) == 1
    assert partition.chunks[0].links == ()


def test_of_two_clauses_with_one_number_the_nearest_before_is_meant() -> None:
    filler = "The parties keep records of all deliveries and show them to each other on request. " * 2
    text = f"8.3 First rule.\n\n{filler}\n\n8.3 Second rule.\n\n{filler}\n\n8.4 Clause 8.3 does not apply at sea.\n"
    partition = chunk(from_text(text), "structure", ChunkingConfig(target_chars=100, min_chars=0, overlap_ratio=0))
    target = next(link.target for piece in partition.chunks for link in piece.links if link.kind == "limits")
    assert "Second rule" in next(piece.text for piece in partition.chunks if piece.id == target)


def test_a_sentence_that_begins_with_a_reference_is_not_that_clause() -> None:
    text = (
        "Article 2 Penalty\n\nThe supplier pays one percent per week of delay.\n\n"
        "Article 3 Force majeure\n\nArticle 2 shall not apply in case of force majeure.\n\n"
        "Article 4 Liability\n\nExcept as provided in Article 2, the supplier pays no damages.\n"
    )
    partition = chunk(from_text(text), "structure", ChunkingConfig(min_chars=0))
    links = {(piece.heading_path[-1][:9], link.kind, link.target) for piece in partition.chunks for link in piece.links}
    penalty = partition.chunks[0].id
    assert {(name, kind) for name, kind, target in links if target == penalty} == {
        ("Article 3", "limits"),
        ("Article 4", "limited_by"),
    }


@pytest.mark.parametrize("reference", ["FHS version 2.3", "FHS, section 2.3", "release 2.3"])
def test_a_number_of_another_document_is_no_reference(reference: str) -> None:
    text = (
        f"2.3 Keep the pump dry at all times.\n\n2.4 Subject to the exceptions in {reference}, the pump is kept dry.\n"
    )
    partition = chunk(from_text(text), "structure", ChunkingConfig(target_chars=80, min_chars=0, overlap_ratio=0))
    assert len(partition.chunks) == 2
    assert not any(piece.links for piece in partition.chunks)


def test_an_exception_around_an_article_is_found() -> None:
    text = "第二条 供方应当在十日内交货，并提供合格证明。\n\n第四条 除本合同第二条规定的情形外，需方应当按期付款。\n"
    partition = chunk(from_text(text), "structure", ChunkingConfig(min_chars=0))
    assert [link.kind for link in partition.chunks[1].links] == ["limited_by"]
