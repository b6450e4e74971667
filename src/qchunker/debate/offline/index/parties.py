"""Who bears which role in a contract or a judgment."""

from __future__ import annotations

import re
from collections import defaultdict

from qchunker.types import Span

ROLES = tuple(
    "甲方 乙方 丙方 丁方 原告 被告 第三人 上诉人 被上诉人 申请人 被申请人 买受人 出卖人 出租方 承租方 出租人 "
    "承租人 发包人 承包人 委托人 "
    "受托人 出借人 借款人 投保人 被保险人".split()
)
_ROLE = "|".join(ROLES)
# The first characters of most Chinese names: what stands before a comma is a name only with one of them.
_SURNAMES = (
    "赵钱孙李周吴郑王冯陈褚卫蒋沈韩杨朱秦许何吕施张孔曹严华金魏陶姜戚谢邹喻苏潘葛范彭鲁韦马苗方俞任袁柳鲍史唐费薛雷贺倪汤"
    "罗毕郝邬安常于傅齐康伍余顾孟黄穆萧尹姚邵汪毛戴宋庞熊纪舒屈项祝董梁杜阮蓝季贾江郭梅林钟徐邱骆高夏蔡田樊胡凌霍万卢莫"
    "房丁邓洪崔龚程陆翁段侯武刘叶白赖乔聂曾欧岳尚温庄柴阎向古易廖耿石"
)
_NAME = (
    r"(?:[\u4e00-\u9fffA-Za-z（）()·]{0,12}(?:公司|集团|银行|中心|事务所|厂|店|院|局)|"
    r"[\u4e00-\u9fff]{0,2}[xX×某][\d某xX×]{0,2}|[\u4e00-\u9fff]某{1,2})"
)
# What a party does, behind the role in the place of a name.
_NO_NAME = "[与和及向对自将按应于在、请要认主申提诉起称表辩因已未等所支双不依均又再则可有的]"
_PERSON = rf"[{_SURNAMES}][\u4e00-\u9fff]{{1,2}}(?=[、，,；;（(]|[与和诉向因系](?!请))"
_STATED = re.compile(
    rf"(?P<list>(?:[\u4e00-\u9fff]{{2,4}}[（(])?(?P<r1>{_ROLE})[）)]?\s*[：:]\s*[^\n，。；]{{2,40}})|"
    rf"(?P<as>(?:原告|被告)?{_NAME}(?:作为|为|系)(?P<r2>{_ROLE}))|"
    rf"(?P<named>(?P<r3>{_ROLE})(?!{_NO_NAME})(?:{_NAME}|{_PERSON}))|"
    rf"(?P<called>{_NAME}[（(](?:以下)?(?:简称|称)?(?:为|：)?[“\"]?(?P<r4>{_ROLE})[”\"]?[）)])"
)
_MAX_PER_ROLE = 4


def roles(text: str) -> dict[str, tuple[Span, ...]]:
    """Spans that name the bearer of each role, the first mentions first."""
    found: dict[str, list[Span]] = defaultdict(list)
    for match in _STATED.finditer(text):
        role = match["r1"] or match["r2"] or match["r3"] or match["r4"]
        if len(found[role]) < _MAX_PER_ROLE:
            found[role].append(Span(*match.span()))
        outer = re.match(rf"({_ROLE})(?!{match['r2'] or '$'})", match.group())
        if match["as"] and outer and len(found[outer[1]]) < _MAX_PER_ROLE:
            found[outer[1]].append(Span(*match.span()))
    return {role: tuple(spans) for role, spans in found.items()}
