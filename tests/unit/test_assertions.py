"""What a document denies, restricts, or says of another document is not added to a chunk."""

from __future__ import annotations

import pytest

import qchunker

RULES = (
    "第一条　本规则适用于公司。\n第二条　卖方应当交货。\n第三条　交货地点为北城。\n第四条　买方应当在30日内付款。\n"
    "第五条　每天拖地。\n第六条　每周倒垃圾。"
)
CLAUSE = "7. The Supplier shall pay damages for delay."

DEFINITIONS = [
    ('If "Agent" means a broker, the fee is 3 %.', "The Agent must keep records for 6 years."),
    ("如果“代理”是指经纪人，费用为3%。", "代理应当保存记录6年。"),
    ('It is wrong to say that "Battery" means a cell.', "Replace the Battery once a year."),
    ('The committee rejected a proposal that "Child" means a person under 21.', "Each Child must be accompanied."),
    ('The repealed Act of 1950 said: "Vehicle" means any horse-drawn cart.', "Each Vehicle must be registered."),
    ("有人误以为“电池”是指一种燃料。", "电池应当每年更换。"),
    ("1950年的旧条例规定：“车辆”是指马车，该定义已经废止。", "车辆应当在10日内登记。"),
    ('> The other contract says: "Gizmo" means a boat.', "Each Gizmo must be painted."),
    ('For the purposes of section 9 only, "Shift" means 12 hours.', "A Shift must not exceed the legal limit."),
    ("仅就第九条而言，“班次”是指12小时。", "班次不得超过法定限度。"),
    ('"Unit" means a flat. In Annex B, "Unit" means a litre.', "# Annex B\n\nEach Unit must be paid within 5 days."),
    ("“样品”是指什么？", "样品应当封存。"),
    ("The bridge, not built in 1998, was planned in 1990 by a firm.", "That year the river flooded the town."),
    ("不是1998年建成大桥，预计2030年拆除。", "同年，洪水冲毁了堤坝。"),
]
REFERENCES = [
    ("4. The buyer pays within 30 days.", "6. The Lease provides in clause 4 that the tenant must leave."),
    ("4. The buyer pays within 30 days.", "6. Schedule 2 of the Act, clause 4, does not apply to tenants."),
    (CLAUSE, "10. In the Lease, clause 7 does not apply to roofs."),
    (RULES, "第七条　民法典第四条规定的情形不适用。"),
    (RULES, "第七条　根据主合同第四条，卖方可以停工。"),
    (RULES, "第七条　国务院2001年条例规定，违反其第四条的，处以罚款。"),
    (RULES, "第七条　房屋租赁合同中第四条不适用于屋顶。"),
    (RULES, "第七条　《旧合同》第四条不适用于服务。"),
]
EXCEPTIONS = [
    (CLAUSE, "9. It is not true that clause 7 does not apply to goods."),
    (CLAUSE, "10. The draft said that clause 7 shall not apply to boats, but that was deleted."),
    (RULES, "第七条　有人主张第四条不适用，法院未予支持。"),
    (RULES, "第七条　并非第四条不适用于服务。"),
    (RULES, "第七条　草案曾规定第四条不适用于船舶，后删除。"),
]
TABLES = [
    ("All dimensions are in mm. Exception: Table 9 is in inches.\n\n## Table 9\n\n|Name|Width|Height|\n|-|-|-|\n|A|1|2|", "mm"),
    ("除表2以外，单位：万元。\n\n## 表2\n\n|名称|宽度|高度|\n|-|-|-|\n|甲|1|2|", "万元"),
    ("All weights are in kg.\n\n## Costs\n\n|Name|Price|Tax|\n|-|-|-|\n|A|1|2|", "kg"),
    ("Table 2\n\n|Name|Weight (kg)|Length (mm)|\n|-|-|-|\n|A|1|2|", "(mm)\n"),
    ("Unlike the prior report as of 2019, these figures are new.\n\n|Name|Price|Tax|\n|-|-|-|\n|A|1|2|", "2019"),
]  # fmt: skip


def completed(first: str, second: str, name: str = "text.md", between: str = "\n\n") -> list[str | None]:
    document = qchunker.from_text(f"{first}{between}{second}\n", name)
    at = len(first) + len(between)
    spans = [(0, len(first)), (at, at + len(second))]
    return [chunk.completed_text for chunk in qchunker.complete(document, spans).chunks]


@pytest.mark.parametrize(("first", "second"), DEFINITIONS)
def test_what_does_not_hold_is_not_added(first: str, second: str) -> None:
    assert completed(first, second) == [None, None]


@pytest.mark.parametrize(("first", "second"), REFERENCES)
def test_clauses_of_other_documents_are_not_looked_for_here(first: str, second: str) -> None:
    assert completed(first, second, "text.txt", "\n" if first is RULES else "\n\n") == [None, None]


@pytest.mark.parametrize(("first", "second"), EXCEPTIONS)
def test_an_exception_that_is_denied_limits_nothing(first: str, second: str) -> None:
    assert completed(first, second, "text.txt", "\n" if first is RULES else "\n\n")[0] is None


@pytest.mark.parametrize(("first", "unit"), TABLES)
def test_rows_do_not_get_the_unit_or_date_of_other_values(first: str, unit: str) -> None:
    text = completed(first, "|B|3|4|", between="\n")[1]
    assert text is not None  # the header
    assert unit not in text


def test_a_star_is_not_explained_below_another_table() -> None:
    other = "|Name|Weight|\n|-|-|\n|B|7|\n\n* Weight: packed, incl. 3 kg of foil."
    assert completed("|Name|Price|\n|-|-|\n|A|5 *|", other)[0] is None


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        # The same forms where they hold.
        ('"Agent" means a broker.', "The Agent must keep records for 6 years.", "(a broker)"),
        ("“样品”是指封存的水样。", "样品应当封存。", "（封存的水样）"),
        (CLAUSE, "10. Clause 7 does not apply to boats.", "[Reference: 7. The Supplier shall pay damages for delay]"),
        (RULES, "第七条　第四条不适用于服务。", "【所指：买方应当在30日内付款】"),
        (
            "# 手册\n\n## 术语\n\n- **RTO**：恢复时间目标，服务必须恢复的时限。\n- **RPO**：恢复点目标。",
            "## 处理\n\n服务的RTO有风险时，RTO必须上报。",
            "RTO（恢复时间目标，服务必须恢复的时限）",
        ),
        ("表1 试验\n单位：kPa\n序号\t泵号\t进口\n1\tA\t3\n2\tB\t4", "3\tC\t5\n4\tD\t6", "单位：kPa"),
    ],
)
def test_what_holds_is_added(first: str, second: str, words: str) -> None:
    lines = first is RULES or "\t" in first
    name = "text.md" if first.startswith("#") else "text.txt"
    assert words in (completed(first, second, name, "\n" if lines else "\n\n")[1] or "")


def test_a_note_on_an_article_stands_behind_its_sentence() -> None:
    text = completed(RULES, "第七条　第四条不适用于服务。", "text.txt", "\n")[0]
    assert text is not None
    assert "第四条　买方应当在30日内付款。【说明：第四条不适用于服务】\n第五条" in text
