"""Pairs that were written before the checks had seen their documents: good ones and ones with a fault."""

from __future__ import annotations

from functools import cache

import pytest

from contract.scripted_qa import Book, Good, plain
from qchunker import from_text
from qchunker.qa import standalone
from qchunker.qa.evidence import read
from qchunker.qa.figures import Figures
from qchunker.qa.grouping import groups_of
from qchunker.qa.support import Scope, scope_of, verdict
from qchunker.qa.words import Said

API = Book(
    "api.md",
    """\
# Weather API 2.1

Every request needs a key in the header `X-Key`. Keys are free for up to 1,000 requests a day; beyond that a request costs 0.2 cents. Requests without a valid key are answered with status 401.

The endpoint `/v2/forecast` returns the forecast for the next seven days, in hourly steps for the first two days and in steps of six hours afterwards. Coordinates are given as `lat` and `lon` in degrees; if they are missing, the position of the IP address is used. Temperatures come in Celsius unless `units=imperial` is set.

Results are cached for ten minutes. Clients that send more than 20 requests per second are blocked for one minute. Historical data is not part of this service. Old versions are switched off twelve months after a new one appears, and users are told by e-mail three months before.
""",
    (
        Good("Every request needs a key", "Where must the key of the Weather API be sent?", "In the header `X-Key`."),
        Good(
            "Keys are free for",
            "How many requests per day are free with the Weather API?",
            "Up to 1,000 requests a day.",
        ),
        Good(
            "Keys are free for",
            "What does a request to the Weather API cost beyond the free quota?",
            "0.2 cents per request.",
        ),
        Good(
            "Requests without a valid", "Which status does the Weather API return without a valid key?", "Status 401."
        ),
        Good(
            "The endpoint",
            "What does the endpoint `/v2/forecast` return?",
            "The forecast for the next seven days, hourly for the first two days and every six hours after that.",
        ),
        Good(
            "Coordinates are given", "How are coordinates passed to the Weather API?", "As `lat` and `lon` in degrees."
        ),
        Good(
            "Coordinates are given",
            "What does the Weather API do if no coordinates are given?",
            "It uses the position of the IP address.",
        ),
        Good("Temperatures come in", "In which unit does the Weather API give temperatures by default?", "In Celsius."),
        Good(
            "Temperatures come in",
            "How can temperatures be had in imperial units from the Weather API?",
            "By setting `units=imperial`.",
        ),
        Good("Results are cached", "How long does the Weather API cache results?", "For ten minutes."),
        Good(
            "Clients that send",
            "What happens to clients that send more than 20 requests per second to the Weather API?",
            "They are blocked for one minute.",
        ),
        Good(
            "Historical data is",
            "Does the Weather API offer historical data?",
            "No, historical data is not part of the service.",
        ),
        Good(
            "Old versions are",
            "When are old versions of the Weather API switched off?",
            "Twelve months after a new version appears.",
        ),
        Good(
            "Old versions are",
            "How are users of the Weather API told that a version will be switched off?",
            "By e-mail, three months in advance.",
        ),
    ),
)
LIB = Book(
    "lib.zh.md",
    """\
# 青禾市图书馆借阅规则

读者凭借书证可以借阅图书10册，借期为30天。期刊和工具书只能在馆内阅览，不外借。图书到期前可以续借一次，续借期为15天；已被他人预约的图书不能续借。逾期归还的，每册每天收取滞纳金0.2元，滞纳金累计不超过该书定价。

借书证丢失后应当立即到服务台挂失，补办工本费为10元。儿童阅览室仅供12岁以下儿童及其家长使用。馆内请保持安静，不得吸烟、饮食。图书馆每周一闭馆，其余时间开放至晚上9点。电子资源可以在校外通过账号访问，同一账号最多在三台设备上登录。
""",
    (
        Good("读者凭借书证可以", "青禾市图书馆的读者最多可以借几册图书，借期多长？", "可以借阅10册，借期为30天。"),
        Good("期刊和工具书只能", "青禾市图书馆的期刊可以外借吗？", "不可以，期刊和工具书只能在馆内阅览。"),
        Good("图书到期前可以", "青禾市图书馆的图书可以续借几次，续借多久？", "可以续借一次，续借期为15天。"),
        Good("已被他人预约的", "青禾市图书馆哪些图书不能续借？", "已被他人预约的图书。"),
        Good("逾期归还的", "在青禾市图书馆逾期还书要交多少滞纳金？", "每册每天0.2元，累计不超过该书定价。"),
        Good("借书证丢失后", "青禾市图书馆的借书证丢了怎么办？", "应当立即到服务台挂失。"),
        Good("借书证丢失后", "青禾市图书馆补办借书证要多少钱？", "工本费10元。"),
        Good("儿童阅览室仅供", "谁可以使用青禾市图书馆的儿童阅览室？", "12岁以下儿童及其家长。"),
        Good("馆内请保持安静", "青禾市图书馆内不得做什么？", "不得吸烟、饮食。"),
        Good("图书馆每周一闭馆", "青禾市图书馆什么时候闭馆？", "每周一闭馆。"),
        Good("图书馆每周一闭馆", "青禾市图书馆除周一外开放到几点？", "开放至晚上9点。"),
        Good("电子资源可以在", "如何在校外访问青禾市图书馆的电子资源？", "通过账号访问。"),
        Good("电子资源可以在", "青禾市图书馆的同一账号最多能在几台设备上登录？", "最多三台设备。"),
    ),
)
MED = Book(
    "med.md",
    """# Noxalin 20 mg tablets

Adults take one tablet in the morning and one in the evening, with a glass of water. Children under 12 must not take Noxalin. Patients with kidney disease should ask a doctor first. The tablets may be halved but not crushed.

Common side effects are headache and a dry mouth; about 1 in 100 patients gets a rash. Stop taking the tablets and see a doctor if the rash spreads. Noxalin can make you tired, so do not drive in the first three days. Alcohol strengthens this effect.

Store the tablets below 25 °C in the original box. Once opened, the bottle can be used for six months. If you forget a dose, skip it; never take two tablets at once.
""",
    (),
)
DEC = Book(
    "dec.zh.md",
    """# 家庭装修合同

工程总价为12万元，分四期支付：签约时支付30%，水电验收合格后支付30%，瓦工验收合格后支付35%，竣工验收合格后支付5%。工期为90天，自开工之日起计算。因业主变更设计造成的延误，工期相应顺延。

施工方应当每天清理现场垃圾，不得在晚上8点以后施工。材料进场前须经业主验收签字，未经验收的材料不得使用。防水工程的保修期为五年，其他工程的保修期为两年。施工方每逾期一天，按照工程总价的千分之一支付违约金。
""",
    (),
)
MORE_GOOD = [
    (
        MED,
        "Adults take",
        "How many Noxalin tablets do adults take a day?",
        "One in the morning and one in the evening.",
    ),
    (MED, "Children under", "May children under 12 take Noxalin?", "No, they must not take it."),
    (MED, "Patients with", "What should patients with kidney disease do before taking Noxalin?", "Ask a doctor first."),
    (MED, "The tablets may", "Can Noxalin tablets be crushed?", "No, they may be halved but not crushed."),
    (MED, "Common side", "What are common side effects of Noxalin?", "Headache and a dry mouth."),
    (MED, "Common side", "How often does Noxalin cause a rash?", "In about 1 in 100 patients."),
    (
        MED,
        "Stop taking",
        "What should be done if the rash from Noxalin spreads?",
        "Stop taking the tablets and see a doctor.",
    ),
    (
        MED,
        "Noxalin can",
        "Why should you not drive in the first three days of taking Noxalin?",
        "Because Noxalin can make you tired.",
    ),
    (MED, "Alcohol", "What does alcohol do to the tiredness caused by Noxalin?", "It strengthens this effect."),
    (MED, "Store the", "At what temperature should Noxalin be stored?", "Below 25 °C."),
    (MED, "Once opened", "How long can an opened bottle of Noxalin be used?", "For six months."),
    (
        MED,
        "If you forget",
        "What should you do if you forget a dose of Noxalin?",
        "Skip it and never take two tablets at once.",
    ),
    (DEC, "工程总价为", "家庭装修合同的工程总价是多少？", "12万元。"),
    (DEC, "工程总价为", "家庭装修合同签约时支付多少？", "支付30%。"),
    (DEC, "工程总价为", "家庭装修工程竣工验收合格后支付多少？", "5%。"),
    (DEC, "工期为90天", "家庭装修合同的工期有多长，从何时起算？", "工期为90天，自开工之日起计算。"),
    (DEC, "因业主变更", "业主变更设计造成延误时工期怎么办？", "工期相应顺延。"),
    (DEC, "施工方应当每天", "家庭装修的施工方几点以后不得施工？", "晚上8点以后。"),
    (DEC, "材料进场前", "家庭装修未经验收的材料可以使用吗？", "不得使用。"),
    (DEC, "防水工程", "家庭装修防水工程的保修期多长？", "五年。"),
    (DEC, "防水工程", "除防水外其他装修工程的保修期是多久？", "两年。"),
    (DEC, "施工方每逾期", "施工方逾期要付多少违约金？", "每逾期一天，支付工程总价的千分之一。"),
]
FAULTS = [
    (API, "Keys are free", "How many requests per day are free with the Weather API?", "Up to 10,000 requests a day."),
    (API, "Keys are free", "What does the Weather API cost for companies?", "Companies pay a flat monthly fee."),
    (API, "Requests without", "Which status does the Weather API return without a valid key?", "Status 403."),
    (
        API,
        "The endpoint",
        "Which data does `/v2/forecast` return?",
        "Temperature, humidity, wind speed and precipitation for seven days.",
    ),
    (
        API,
        "Temperatures come",
        "In which unit does the Weather API give temperatures by default?",
        "In Fahrenheit unless `units=metric` is set.",
    ),
    (API, "Results are cached", "How long does the Weather API cache results?", "For ten hours."),
    (
        API,
        "Clients that send",
        "What happens to clients that send more than 20 requests per second?",
        "They are never blocked.",
    ),
    (
        API,
        "Historical data",
        "Does the Weather API offer historical data?",
        "Yes, historical data is part of this service.",
    ),
    (
        API,
        "Old versions are",
        "How long do old versions of the Weather API stay?",
        "At least twelve months, and longer on request by phone.",
    ),
    (API, "Coordinates are", "What if they are missing?", "The position of the IP address is used."),
    (
        API,
        "Every request needs",
        "What is described in this section?",
        "Every request needs a key in the header `X-Key`.",
    ),
    (API, "Every request needs", "Who runs the Weather API?", "It is run by the German Weather Service in Offenbach."),
    (LIB, "读者凭借书证", "青禾市图书馆的读者最多可以借几册图书？", "可以借阅15册。"),
    (LIB, "期刊和工具书", "青禾市图书馆的期刊可以外借吗？", "期刊和工具书可以外借。"),
    (LIB, "图书到期前", "青禾市图书馆的图书如何续借？", "可以通过微信公众号或电话续借一次。"),
    (LIB, "逾期归还的", "青禾市图书馆的滞纳金有上限吗？", "滞纳金没有上限。"),
    (LIB, "借书证丢失后", "青禾市图书馆补办借书证要多少钱？", "工本费20元。"),
    (LIB, "儿童阅览室", "谁可以使用青禾市图书馆的儿童阅览室？", "12岁以上儿童及其家长。"),
    (LIB, "图书馆每周一", "青禾市图书馆什么时候闭馆？", "每周二闭馆。"),
    (LIB, "电子资源", "它最多能在几台设备上登录？", "最多三台设备。"),
    (LIB, "电子资源", "青禾市图书馆的电子资源有哪些？", "包括电子书、论文数据库和有声读物。"),
    (LIB, "馆内请保持", "青禾市图书馆为什么不得吸烟？", "因为会引发火灾并影响他人健康。"),
    (LIB, "读者凭借书证", "青禾市图书馆的馆长是谁？", "馆长是李明华。"),
]
MORE_FAULTS = [
    (
        MED,
        "Adults take",
        "How many Noxalin tablets do adults take a day?",
        "Two in the morning and two in the evening.",
    ),
    (MED, "Children under", "May children take Noxalin?", "Children under 12 may take Noxalin."),
    (MED, "Children under", "From which age may Noxalin be taken?", "From 6 years on."),
    (MED, "The tablets may", "Can Noxalin tablets be crushed?", "They may be crushed but not halved."),
    (MED, "Common side", "What are rare side effects of Noxalin?", "Dizziness and nausea."),
    (MED, "Common side", "How often does Noxalin cause a rash?", "In about 1 in 1000 patients."),
    (MED, "Noxalin can", "How long should you not drive?", "In the first three weeks."),
    (MED, "Store the", "At what temperature should Noxalin be stored?", "Above 25 °C."),
    (MED, "Store the", "Where should Noxalin be stored?", "In the refrigerator."),
    (MED, "Once opened", "How long can an opened bottle of Noxalin be used?", "For six days."),
    (MED, "If you forget", "What should you do if you forget a dose of Noxalin?", "Take two tablets at once."),
    (MED, "Alcohol", "What does it strengthen?", "Alcohol strengthens this effect."),
    (MED, "Alcohol", "What does alcohol do with Noxalin?", "Alcohol weakens this effect."),
    (DEC, "工程总价为", "家庭装修合同的工程总价是多少？", "20万元。"),
    (DEC, "工程总价为", "家庭装修合同签约时支付多少？", "支付35%。"),
    (DEC, "工期为90天", "家庭装修合同的工期有多长？", "90个工作日。"),
    (DEC, "因业主变更", "业主变更设计时要付多少钱？", "需要支付设计费三千元。"),
    (DEC, "施工方应当每天", "家庭装修的施工方几点以后不得施工？", "晚上10点以后。"),
    (DEC, "材料进场前", "家庭装修未经验收的材料可以使用吗？", "未经验收的材料可以使用。"),
    (DEC, "材料进场前", "家庭装修的材料由谁验收？", "由监理公司验收签字。"),
    (DEC, "防水工程", "家庭装修防水工程的保修期多长？", "防水工程的保修期为两年。"),
    (DEC, "施工方每逾期", "施工方逾期要付多少违约金？", "每天支付工程总价的百分之一。"),
    (DEC, "防水工程", "上述保修期为几年？", "五年。"),
]

GOOD = [(book, *pair) for book in (API, LIB) for pair in book.pairs] + MORE_GOOD


@cache
def scopes(name: str) -> tuple[Scope, ...]:
    book = next(one for one in (API, LIB, MED, DEC) if one.name == name)
    document = from_text(book.text, name)
    words, numbers = Said(book.text), Figures(book.text)
    return tuple(scope_of(read(document, group), words, numbers, "") for group in groups_of(document))


def problem(book: Book, at: str, question: str, answer: str) -> str | None:
    scope = next(one for one in scopes(book.name) if plain(at) in plain(one.group.text))
    return standalone.problem(question) or verdict(question, answer, scope).reason


def test_good_pairs_pass() -> None:
    refused = [pair for pair in GOOD if problem(*pair)]
    assert len(GOOD) == 49
    assert len(refused) <= 0.05 * len(GOOD), refused


@pytest.mark.parametrize("fault", [*FAULTS, *MORE_FAULTS], ids=lambda one: f"{one[0].name}-{one[2][:24]}")
def test_pairs_with_a_fault_do_not(fault: tuple[Book, str, str, str]) -> None:
    assert problem(*fault) is not None
