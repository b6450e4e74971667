"""What must not be found: a wrong statement woven into a chunk is worse than a missing one. Each with a look-alike that holds."""

from __future__ import annotations

import pytest
from marked_chunk import explains, gaps_in

FILLER_EN = "The weather was mild and the roads were dry for most of that long season in the valley. " * 60
FILLER_ZH = "山谷里的天气一直温和，道路也大多干燥，村民照常下田。" * 90


def required(text: str, *kinds: str) -> list[str]:
    return [gap.surface for gap in gaps_in(text, *kinds) if gap.necessity == "required"]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        # One company in one piece of a collection is not the subject of the others.
        ("subject_entity", f"korvex limited grew. korvex's shares rose. {FILLER_EN.lower()}\n\n«the company paid $12.»"),
        # Two companies of equal weight leave open which is meant.
        ("subject_entity", "korvex's shares rose. korvex limited grew. tandor's shares fell. tandor limited shrank.\n\n«the company paid $12 million.»"),
        ("subject_entity", "临海明光航运有限公司扩建码头。西山新筑工程有限公司扩建车间。临海明光航运有限公司招工。西山新筑工程有限公司招工。\n\n«公司预计明年盈利。»"),
        # The chunk names a company itself.
        ("subject_entity", "临海明光航运有限公司扩建码头。临海明光航运有限公司招工。\n\n«东河造船(600001)发布年报，公司盈利。»"),
        # A request is no name.
        ("subject_entity", "原告请求法院判令其停止侵害，原告认为，应予赔偿。\n\n«原告请求付款。»"),
        # A report about a place is not the owner of each fault and warranty in it.
        ("subject_entity", "# Trial Report: North Mill\n\nSix saws were tried.\n\n«The warranty of saw S-4 begins in May, and the fault codes were shown.»"),
        # A title without a sentence on what it is may be any topic.
        ("subject_entity", "# Sorting and Filing\n\nRead this first.\n\n«The cards are kept in a box.»"),
        ("subject_entity", "# TRIGGERS\n\nA trigger is a facility that runs things. A trigger has a name.\n\n«The naive way of running them is slow.»"),
        ("subject_entity", "# 河道巡护手册\n\n柴油机每月试机。\n\n«该设备由班组保养。»"),
        ("subject_entity", "县里印发《河道清淤管理办法》（以下简称《办法》）。《办法》共十条。《办法》自五月施行。\n\n«村民当晚看了一场露天电影，十分高兴。»"),
    ],
)  # fmt: skip
def test_no_subject_without_one_that_dominates(kind: str, text: str) -> None:
    assert gaps_in(text, kind) == []


def test_the_one_company_of_a_text_is_its_subject() -> None:
    text = "临海明光航运有限公司扩建码头。临海明光航运有限公司招工。\n\n«公司预计明年盈利。»"
    assert explains(text, "subject_entity", "公司", "临海明光航运有限公司")
    rules = "县里印发《河道清淤管理办法》（以下简称《办法》）。《办法》共十条。《办法》自五月施行。\n\n«河道清淤由各乡负责。»"
    assert explains(rules, "subject_entity", "河道清淤", "《河道清淤管理办法》")
    manual = "# Alba 20 Saw Manual\n\nThe Alba 20 cuts wood.\n\n«Keep the device dry.»"
    assert explains(manual, "subject_entity", "the device", "Alba 20")
    service = manual.replace("Manual", "Service Manual")
    assert explains(service, "subject_entity", "the device", "Alba 20 Saw")
    named = "原告陈大明，男，与王某签约。\n\n«原告请求付款。»"
    assert explains(named, "subject_entity", "原告", "原告陈大明")


@pytest.mark.parametrize(
    "text",
    [
        # Conjunctions, parts of longer names, mentions that define nothing.
        "他修了水闸，并且指派三人看守。\n\n«他修了桥，并且留下工具，并且记账。»",
        "以“一河一策”为主题的活动在县城举行。\n\n«一河一策推行三年，一河一策成效明显。»",
        "县里开会，镇防指决定停工。\n\n«镇防汛队上岗，镇防汛物资到位。»",
        "他自称「老河工」。\n\n«老河工回村，老河工修桥。»",
        '"Store" means a cold house.\n\n«The Night Store Keeper signs the book.»',
        '"Store" means a cold house.\n\n«## Store and prices\n\nApples cost two euros.»',
        "The Song of Mills III is a game about mills.\n\n«The Song of Mills III was sold in May. III was the best part.»",
        "## Text\n\nThe text is not changed by the reader.\n\n«The text layer is read by page.»",
        "threadName text or number\n\nAlias for queue.on(threadName, listener) here.\n\n«The threadName is kept, and threadName is shown.»",
        "The mills file is a list of mills.\n\n«Here mills are old, and mills turn.»",
        'tpl->SetName(String::New(isolate, "MyThing"));\n\n«A MyThing is made, and MyThing is kept.»',
        'The "Store Term" means the period set out in Clause 8.1.\n\n«The Store Term may not be changed, and no Store Term is short.»',
        "“保管期”指第八条约定的期间。\n\n«保管期届满后退还，保管期内不得转让。»",
        "«The Store Term is two years. A Store Term may be renewed.»\n\n\"Store Term\" means the time of storage.",
        "Note\n\n  This is a note on the side of it.\n\n«Note the level of the oil. Note the date.»",
        "今年上半年出口总额为1410亿元。\n\n«出口总额将受影响，出口总额继续下降。»",
        "依合同约定，押金总额为5000元。后双方约定押金总额为8000元。\n\n«依合同扣除押金总额。»",
        "It fails. NULL is a perfectly valid return value here.\n\n«NULL is kept, NULL is sent.»",
        "Files are written so that they DO NOT break.\n\n«Call name-of-trigger first, and do NOT wait. NOT here.»",
        "他演示了 Station（安装后会自动出现在桌面）。\n\n«Station 可以启动，Station 可以关闭。»",
        # A licence at the end of a manual speaks of what follows it; a verb is no tool; an attempt is no name.
        "«安装程序会询问语言，程序随后重启。»\n\n以下所称的“程序”，是指任何一种适用本授权的著作。",
        "## The make tool\n\nMake is a utility to keep groups of programs.\n\n«To make a disk, you make the files. We make it.»",
        "## Booting\n\nBooting is a bit more tricky.\n\n«booting needs time. booting ends late.»",
        "文本在 MILL-HOWTO（没有有效的 URL）中。\n\n«MILL-HOWTO 已停用，MILL-HOWTO 无人维护。»",
        "5.1.2 从光盘（CD/DVD）引导\n\n«CD/DVD 放入光驱，CD/DVD 可用。»",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_definition_defines_nothing(text: str) -> None:
    assert required(text, "definition", "abbreviation") == []


@pytest.mark.parametrize(
    ("text", "surface", "words"),
    [
        (
            "2019年成立的河道保护与绿色发展中心（以下简称“河绿”）招工。\n\n«河绿在县城招工，河绿随后公布名单。»",
            "河绿",
            "河道保护与绿色发展中心",
        ),
        ("“一河一策”是指每条河定一套办法。\n\n«一河一策推行三年，一河一策成效明显。»", "一河一策", "每条河定一套办法"),
        ("可从第一停机位（DTJ）撤离。\n\n«DTJ 已关闭，DTJ 无人值守。»", "DTJ", "第一停机位"),
        (
            "## The make tool\n\nMake is a utility to keep groups of programs.\n\n«A run of make takes long. make is slow.»",
            "make",
            "utility",
        ),
        ("CLT 指容许停留时间。\n\n«超过 CLT 时撤离，CLT 由厂方核定。»", "CLT", "容许停留时间"),
        ('"Store" means a cold house.\n\n«Each Store is swept at night.»', "Store", "a cold house"),
    ],
)
def test_what_defines_is_found(text: str, surface: str, words: str) -> None:
    assert explains(text, "definition", surface, words) or explains(text, "abbreviation", surface, words)


def test_a_name_keeps_its_capital_though_it_opens_the_sentence_that_defines_it() -> None:
    text = (
        "## About Korvex\n\nKorvex is a group that keeps mills.\n\n" + "In May Korvex met millers by the river. " * 200
    )
    assert required(text + "\n\n«Korvex met in June. Korvex met in July.»", "definition") == []


def test_what_the_document_as_a_whole_is_about_needs_no_definition() -> None:
    text = "MillKit is a toolkit for mills. " + "MillKit turns stones and MillKit lifts sacks in the valley. " * 120
    assert required(f"{text}\n\n«MillKit is sold in May. MillKit is cheap.»", "definition") == []


@pytest.mark.parametrize(
    "text",
    [
        "Two mills stood there.\n\n«It’s time to repair the roads of the valley.»",
        "Two mills stood there.\n\n«This year the roads were repaired.»",
        "Two mills stood there.\n\n«The other side of the river is steep.»",
        "## Mills\n\nTwo mills stood there.\n\n«## Roads\n\nThey are narrow and steep.»",
        "The grinder worked all night.\n\n«The mill was burnt in the war.»",
        "Listing 2: Creating a mill\n\n«The mill was burnt in the war.»",
        "The mill was sold by the owner in May.\n\n«This flag turns the lamp on.»",
        "This library is free.\n\n«This program is free software, and anyone may use it.»",
        "镇上修了一座水闸。\n\n«村里修桥，这次修桥花了一年。»",
        "镇上修了一座水闸。\n\n«《春水》讲述治河，该影片五月上映。»",
        "镇上修了一座水闸。\n\n«除此之外，村里还修了桥。»",
        "卖方应当在合同生效后发货。\n\n«合同总价为五万元。»",
        "据当地警方通报，水闸已修好。\n\n«警方已展开调查。»",
        "甲村与乙村两国合并。\n\n«后来三国开会。»",
        "馬其頓王朝修路。\n\n«其頓河以北的村莊修橋。»",
    ],
)
def test_no_antecedent_without_a_reason(text: str) -> None:
    assert required(text, "coreference") == []


@pytest.mark.parametrize(
    ("text", "surface", "words"),
    [
        ("The costs rose and sales fell in May.\n\n«These negative effects were offset by lower taxes.»", "These negative effects", "costs rose"),
        ("A tall mill stood on the hill. The wind was strong.\n\n«The mill was burnt in the war.»", "The mill", "tall mill"),
        ("镇上新开了一家河鲜餐厅。天气很好。\n\n«该餐厅可以容纳百人。»", "该餐厅", "河鲜餐厅"),
        ("水位与降雨量成正比。\n\n«这种关系在夏季更明显。»", "这种关系", "成正比"),
        ("北城公司第一次股东大会五月召开。下雨。\n\n«本次会议的议案由北城集团提出。»", "本次会议", "第一次股东大会"),
        ("老人去世时九十岁。\n\n«他们表示，葬礼从简。»", "他们", "老人去世"),
    ],
)  # fmt: skip
def test_an_antecedent_with_the_same_noun_or_right_before(text: str, surface: str, words: str) -> None:
    assert explains(text, "coreference", surface, words)
    assert surface in required(text, "coreference")


@pytest.mark.parametrize(
    "text",
    [
        "The mill was built later.\n\n«That year the owner left.»\n\nIn 1912 the mill burnt down.",
        f"The mill burnt down in 1912. {FILLER_EN}\n\n«That year the owner left.»",
        "## Mill\n\nThe mill burnt down in 1912.\n\n## Bridge\n\nIt is old.\n\n«That year the owner left.»",
        "2008年修成水闸。\n\n«离开的人都是年轻人。»",
        "持续了数十年。\n\n«同年水灾。»",
        "2008年修成水闸。2009年旱灾。后来计划2010年再修。\n\n«同年水灾。»",
        f"2008年修成水闸。{FILLER_ZH}\n\n«同年水灾。»",
        "景平三年七月初五起兵。景平九年大旱。\n\n«七月初九，城破。»",
    ],
)
def test_a_year_counts_only_before_and_near(text: str) -> None:
    assert gaps_in(text, "time_or_place") == []


@pytest.mark.parametrize(
    "text",
    [
        "第八条 租金每日四十元。\n\n«第十四条 停用\n因洪水停用的，免交租金。\n逾期后停用的，不适用前款规定。»",
        "4.1 The hull is sound.\n\n«The water was between 3.5 and 4.1 mm, or 4.1 mm/s in short.»",
        "3. Terms of use\n\nOld text.\n\n«It falls under section 3 of the GNU General Public Licence.»",
        "# Terms\n\n## 2. Setup\n\nPut the boat in water.\n\n«Read section 2 before the first trip.»",
        "Schedule 1: Boats\n\n| No | Boat |\n| 1 | Alba |\n\n«The boats are listed in Schedule 1.»",
        "附件一 船只清单\n\n序号\t名称\n1\t小船\n\n«船只见附件一。»",
        "Boats are old and slow here.\n\n«As mentioned earlier, boats are old.»",
        "## 0.14.0\n\nOld text on boats.\n\n«Boats are not supported in 0.14.0, so ask us.»",
        "4. Boats are old.\n\nThe terms of\nSection 6 states nothing on boats.\n\n«It falls under Section 6.»",
        "3.1 Old text.\n\n«```text\nSet it as in clause 3.1 here.\n```»",
    ],
)
def test_pointers_on_which_nothing_depends_are_not_required(text: str) -> None:
    assert required(text, "cross_reference") == []


def test_of_a_section_the_sentence_with_the_same_words_is_given() -> None:
    text = "# Terms\n\n## 2. Care\n\nBoats are old. Oars are light. A broken mast is paid by the hirer.\n\n## 3. Other\n\n«For a broken mast, section 2 applies.»"
    (found,) = gaps_in(text, "cross_reference")
    assert "broken mast is paid" in found.evidence[0]


@pytest.mark.parametrize(
    "text",
    [
        "«第十三条 例外\n人身伤害的责任不受限制。»\n\n第十四条 停用\n因洪水停用的，免交租金。\n逾期后停用的，不适用前款规定。",
        "«11.2 Nothing limits the liability for death.»\n\n11.3 Subject to Clause 11.2, neither party pays more than the price.",
        "«4.1 Noise in the hull is checked.»\n\n5.1 The rule does not apply where 4.1 mm/s was found.",
        "«3.2 Rent is 40 euros.»\n\n7.3 The hirer pays twice the rate in 3.2, and 7.2 does not apply.",
        # What stays free of a limit is not limited.
        "«Section 5. Goods are returned clean.»\n\nSection 6. Each party's liability is limited. This does not apply to the duty in Section 5.",
        "«第五条 货物归还前清洗。»\n\n第六条 赔偿以合同价款为限。第五条规定的义务不受此限制，不适用本条。",
        "«The style guide[1], and no other, applies.»\n\n[1] https://example.org/style",
        "«This is **bold** and *plain*»\n\n* A point of the list that is long enough.",
    ],
)
def test_no_exception_to_a_rule_it_does_not_refer_to(text: str) -> None:
    assert gaps_in(text, "exception_or_condition") == []


@pytest.mark.parametrize(
    "text",
    [
        "The table shows the following.\n\n«5. notes receivable in 2000, the company lent money. It was paid back in the next year, with interest, and the notes were cancelled by both sides in the presence of a notary, who kept a copy.»",
        "# Boat\n\n## 2 Setup\n\n- Lift the boat.\n\n«- Turn the boat.»",
        "Old text on boats.\n\n«Each of these is any of the following:\n\n- oars»",
        "```text\n1. Lift the boat:\n```\n\n«```text\n2. Turn the boat.\n```»",
    ],
)  # fmt: skip
def test_no_lead_in_where_nothing_leads_in(text: str) -> None:
    assert required(text, "heading_context") == []


@pytest.mark.parametrize(
    "text",
    [
        "In case of old_mill, the owner then builds a new one and sells it.\n\n«The old_mill is kept, and old_mill is shown.»",
        "村民修桥。\n\n«这一个半月里，大家很辛苦。»",
        "- Kind: one of many\n- Default: one day\n\n«It takes the next two settings.»",
    ],
)
def test_times_labels_and_actions_explain_nothing(text: str) -> None:
    assert required(text, "definition", "coreference") == []


@pytest.mark.parametrize("line", ["For example", "to", "must be written as", "Instead write", "Note"])
def test_a_line_over_an_indented_block_is_no_term(line: str) -> None:
    text = (
        f"The tool reads lists.\n\n{line}\n\n    sort the items by their names first\n\n"
        f"{line}\n\n    then print all of them in one long line\n\n"
        f"«{line}, the list is not sorted at all and the tool stops here.»\n"
    )
    assert not gaps_in(text, "definition")


def test_a_company_is_no_subject_far_from_where_it_is_named() -> None:
    filler = "Sales grew by 4% in the year and costs fell by 2%. " * 120
    text = f"Acme Pumps Ltd makes pumps. Acme Pumps Ltd sells them. Acme Pumps Ltd repairs them.\n\n{filler}\n\n"
    near = "Acme Pumps Ltd opened a plant.\n\n"
    chunk = "«The company paid $ 5 million.»\n"
    assert not gaps_in(text + chunk, "subject_entity")
    assert gaps_in(text + near + chunk, "subject_entity")


@pytest.mark.parametrize(
    "text",
    [
        # A reference into a long section, of which no sentence is what it names; to a lettered part; to another noun.
        "## 3.2 Serial line\n\nIt answers nothing after a fault. The line runs at 9600 baud. Cables are red. They are short.\n\n"
        "## 4.1 Faults\n\n«Start it in the order of section 3.2 after a fault.»",
        "6. Rules\n\nYou must give notice of the mill to the owner.\n\n«If Subsection 6a applies, pay the owner.»",
        "冬天的河水慢慢结冰，船只停航，码头上空无一人。\n\n«民众对以上所有选项都不满意，于是重新投票。»",
        # A noun that no sentence before names, and that sums up none.
        "县城昨天下了一场大雨，河水上涨。\n\n«这些村民在夜里搬走了。»",
        # Behind a list the things listed are meant, not what one item names.
        "Keys:\n\n- alpha: takes auto. Valid values are two or three in all.\n- beta: takes one.\n\n«These values must be set at the start.»",
        # What a paper says is no name of it.
        "公司官网挂出的“决议”则显示，会议于五月召开，到会九人，其余人缺席。\n\n«决议称，股东大会取消。»",
        # A sentence that names nobody, one person for several, and an event that was not told.
        "村里决定修桥，并且给予陈某处分；收缴其工具。\n\n«将其涉嫌的问题移送检察机关，所有账目一并移送。»",
        "据了解，陈某去年在北城开店，卖过河鲜。\n\n«他们感觉这有利可图，于是又开了一家。»",
        "镇上人多，独特的地理优势使北城成为货物汇聚的中心。\n\n«此次活动就河道清淤进行了讲解。»",
        # Words that are no pointer or name nothing: 该如何, 全书, one of a list, what dangles itself.
        "它就像一个小屏幕，提醒用户避险。\n\n«突发地震时，我们该如何正确避险？请看指南。»",
        "一是修桥。二是在产业领域开展合作，积极探索。\n\n«双方在北城参观学习，并且听取介绍。»",
        "有人对这一决定表示赞赏，认为医院的举动很好。\n\n«当地的这家私营医院发布了文章。»",
        # Many values are no one value.
        "The default value is auto.\n\n«These values must be set at the start.»",
    ],
)
def test_a_reference_without_its_target_stays_open(text: str) -> None:
    assert required(text, "cross_reference", "coreference") == []


@pytest.mark.parametrize(
    ("text", "surface", "words"),
    [
        ("这也符合国际谷物观测站（IGX）的数据。\n\n«IGX每周发布报告，IGX在北城。»", "IGX", "国际谷物观测站（IGX）"),
        (
            "2023年8月15日北城银行开展2040亿元逆购操作和4010亿元中期谷物借贷（ZGJ）。\n\n«ZGJ利率下调，ZGJ明天到期。»",
            "ZGJ",
            "中期谷物借贷（ZGJ）",
        ),
        (
            "针对北城、南城等地（以下简称“受灾地区”）推出举措。\n\n«受灾地区减税，受灾地区免租。»",
            "受灾地区",
            "北城、南城等地（以下简称“受灾地区”）",
        ),
        ("北城集团今日与南城半导体（NCB）合作，共同招工。\n\n«NCB每周开会，NCB在北城。»", "NCB", "南城半导体（NCB）"),
        (
            "北城规模以上文化及相关企业（以下简称“北文企业”）增收。\n\n«北文企业招工，北文企业在北城。»",
            "北文企业",
            "北城规模以上文化及相关企业（以下简称“北文企业”）",
        ),
        ("第一种是美国30年期保值国债（TIPX）。\n\n«美国30年期TIPX上涨，TIPX是主力。»", "TIPX", "保值国债（TIPX）"),
    ],
)
def test_a_long_form_starts_where_the_name_does(text: str, surface: str, words: str) -> None:
    (gap,) = gaps_in(text, "abbreviation")
    assert (gap.surface, gap.evidence) == (surface, (words,))


def test_half_of_a_double_name_and_words_in_backticks_are_left_alone() -> None:
    assert (
        gaps_in("北城演员工会和南城演员联合会（BC-NC）罢工。\n\n«BC-NC周二复工，BC-NC发表声明。»", "abbreviation") == []
    )
    text = "A Grain Watch (GW) is kept.\n\n«See :meth:`open GW now` for more, and `GW`.»"
    assert gaps_in(text, "abbreviation") == []


def test_an_inner_list_is_led_in_by_its_item() -> None:
    text = "Valid values are:\n\n- far: Uses the far mill in the following towns:\n\n  - Alba\n«  - Borso\n  - Celia»\n"
    (gap,) = [gap for gap in gaps_in(text, "heading_context") if gap.necessity == "required"]
    assert "Uses the far mill in the following towns" in gap.evidence[0]


def test_what_results_is_told_with_what_it_results_from() -> None:
    text = 'To change a mill means to turn its stones by hand. The result is called a "changed mill" here.\n\n«A changed mill is sold, and a changed mill is lent.»'
    (gap,) = gaps_in(text, "definition")
    assert gap.evidence[0].startswith("To change a mill")


def test_of_two_parties_named_together_neither_is_explained() -> None:
    assert gaps_in("被告王芳，女，住北城。\n\n«原、被告尚未取得房屋。»", "subject_entity") == []


def test_of_a_rule_that_is_limited_all_is_told() -> None:
    text = "第八条 保修\n保修期为二十四个月。保修期内出现缺陷的，卖方应当免费修理。\n\n«第九条 例外\n擅自改装的，第八条的规定不适用。»"
    (gap,) = gaps_in(text, "cross_reference")
    assert any("免费修理" in words for words in gap.evidence)


def test_behind_other_sentences_a_year_may_be_that_of_what_they_tell() -> None:
    text = "2008年修成水闸。\n\n«镇上到处筑路。同年秋，水灾。»"
    assert [gap.necessity for gap in gaps_in(text, "time_or_place")] == ["helpful"]


def test_a_lead_in_of_few_words_comes_with_what_it_leads_on_from() -> None:
    text = "A mill can be stopped in three ways. Like this:\n\n- by hand\n«- by a rope\n- by the wind»\n"
    (gap,) = [gap for gap in gaps_in(text, "heading_context") if gap.necessity == "required"]
    assert gap.evidence[0].startswith("A mill can be stopped")


def test_the_credit_of_a_photograph_is_no_part_of_a_sentence() -> None:
    (gap,) = gaps_in("(北城消防队供图) 现场地形较为复杂，山高坡陡。\n\n«鉴于这一情况，消防队分头行动。»", "coreference")
    assert gap.evidence == ("现场地形较为复杂，山高坡陡",)
