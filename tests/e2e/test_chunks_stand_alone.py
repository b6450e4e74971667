"""What the whole pipeline promises of a chunk, from text to embedded text, in Chinese and English."""

import pytest

import qchunker
from qchunker import Chunk, ChunkingConfig

CONTRACT = {
    "en": (
        "# Supply Contract\n\n## 8 Remedies\n\n"
        "8.3 If a defect appears within the warranty period, the Seller repairs or replaces the goods free of charge "
        "and bears the cost of transport.\n\n"
        "8.4 Clause 8.3 does not apply to wearing parts, or to damage caused by wrong storage.\n",
        "8.3 If", "8.4 Clause", "does not apply to wearing parts",
    ),
    "zh": (
        "# 供货合同\n\n## 8 违约与补救\n\n"
        "8.3 质量保证期内出现缺陷的，出卖人应当免费修理或者更换货物，并承担由此产生的全部运输费用。\n\n"
        "8.4 第8.3条不适用于易损件，也不适用于因储存不当造成的损坏。\n",
        "8.3 质量", "8.4 第8.3条", "不适用于易损件",
    ),
}  # fmt: skip


def made(text: str, target: int) -> list[Chunk]:
    config = ChunkingConfig(target_chars=target, max_chars=600)
    return list(qchunker.chunk(qchunker.from_text(text, "text.md"), config=config).chunks)


@pytest.mark.parametrize("language", CONTRACT)
def test_a_rule_and_its_exception_in_two_chunks_name_each_other(language: str) -> None:
    text, rule_start, exception_start, words = CONTRACT[language]
    chunks = made(text, 60 if language == "zh" else 120)
    rule = next(chunk for chunk in chunks if rule_start in chunk.text)
    exception = next(chunk for chunk in chunks if exception_start in chunk.text)
    assert rule is not exception
    assert [link.target for link in rule.links] == [exception.id]
    assert [link.target for link in exception.links] == [rule.id]
    assert words in rule.embedding_text
    assert words in (rule.completed_text or "")
    assert words not in rule.text
    assert text[slice(*rule.added[0].evidence[0])].strip()


TABLES = {
    "en": ("Prices of spare parts.\n\nUnit: EUR 1,000\n\n", "| part | price |", "| ring {} | {} |", "EUR 1,000"),
    "zh": ("备件价格如下表。\n\n单位：万元\n\n", "| 名称 | 价格 |", "| 密封环{} | {} |", "单位：万元"),
}


@pytest.mark.parametrize("language", TABLES)
def test_every_part_of_a_long_table_has_its_header_and_its_unit(language: str) -> None:
    before, header, row, unit = TABLES[language]
    rows = "\n".join(row.format(i, 100 + i) for i in range(60))
    chunks = made(f"{before}{header}\n|---|---|\n{rows}\n", 300)
    parts = [chunk for chunk in chunks if row.split("{")[0] in chunk.text]
    assert len(parts) >= 3
    for part in parts:
        assert header in part.embedding_text
        assert unit in part.embedding_text
        assert part.embedding_text.index(header) < part.embedding_text.index(row.split("{")[0])


ANTECEDENTS = {
    "en": ("The HL-50 pump has a single stage and a closed impeller of stainless steel.",
           "It must be primed before every start, and the suction line must be full of water.", "HL-50 pump"),
    "zh": ("本公司生产的HL-50型离心泵为单级单吸结构，叶轮采用不锈钢制造。",
           "该泵每次启动之前必须灌满水，并且应当检查吸入管路是否漏气。", "HL-50型离心泵"),
}  # fmt: skip


@pytest.mark.parametrize("language", ANTECEDENTS)
def test_a_chunk_that_starts_with_a_pronoun_says_what_it_means(language: str) -> None:
    first, second, antecedent = ANTECEDENTS[language]
    document = qchunker.from_text(f"{first}{'' if language == 'zh' else ' '}{second}")
    start = document.text.index(second)
    partition = qchunker.complete(document, [(0, start), (start, len(document.text))])
    assert antecedent in partition.chunks[1].embedding_text
    assert antecedent not in partition.chunks[1].text
    assert not partition.chunks[0].added


SHORT_FORMS = {
    "en": (
        "The Department of Water (DW) runs the eastern plant.\n\nThe permits are issued by the DW in spring.\n\n"
        "The Dust Watch (DW) measures the air at the western gate.\n\nReports of the DW are public.\n",
        "The permits", "Reports of", "Department of Water", "Dust Watch",
    ),
    "zh": (
        "东部水务管理局（以下简称“管理局”）负责东厂的运行。\n\n许可证由管理局在每年春季发放。\n\n"
        "西部粉尘监测管理局（以下简称“管理局”）负责西门的空气测量。\n\n管理局的报告每月公开一次。\n",
        "许可证", "管理局的报告", "东部水务管理局", "西部粉尘监测管理局",
    ),
    "zh-letters": (
        "粉尘监测站（Dust Watch，以下简称DW）设在东厂。\n\n许可证由DW在每年春季发放，全年有效。\n\n"
        "水务委员会（Department of Water，以下简称DW）设在西厂。\n\n报告由DW每月公开一次，供公众查阅。\n",
        "许可证", "报告由", "粉尘监测站", "水务委员会",
    ),
}  # fmt: skip


@pytest.mark.parametrize("language", SHORT_FORMS)
def test_of_two_terms_with_one_short_form_the_nearer_is_named_or_none(language: str) -> None:
    text, one_start, other_start, one_name, other_name = SHORT_FORMS[language]
    document = qchunker.from_text(text)
    starts = [block.start for block in document.blocks]
    chunks = qchunker.complete(document, list(zip(starts, [*starts[1:], len(text)], strict=True))).chunks
    one = next(chunk for chunk in chunks if chunk.text.startswith(one_start))
    other = next(chunk for chunk in chunks if chunk.text.startswith(other_start))
    assert other_name not in one.embedding_text
    assert one_name not in other.embedding_text
    if language == "en":
        assert one_name in one.embedding_text
        assert other_name in other.embedding_text
