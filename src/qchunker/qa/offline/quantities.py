"""Values that are amounts: in Chinese they are asked for in words of their own."""

from __future__ import annotations

import re

_NUMBER = r"[-−+±]?\d[\d,.]*(?:\s?[×x]\s?10[⁰¹²³⁴-⁹⁻]+)?"
_AMOUNT = re.compile(
    rf"(?:约|約|大约|不超过|不超過|不高于|不低于|不少于|不大于|不小于|至少|最多|人民币|人民幣|[≤≥<>＜＞≈~±￥¥$€]|EUR|USD|RMB)?\s*"
    rf"(?:百分之[一二三四五六七八九十百零点點]+|{_NUMBER}(?:\s*[–—~～至-]\s*{_NUMBER})?)\s?"
    r"(?:[^\s\d\u3400-\u9fff，。；：、,;:|（()）—-][^\d\s，。；、,;|-]{0,11}|"
    r"(?:工作日|小时|小時|分钟|分鐘|公斤|千克|毫米|厘米|公里|毫升|美元|欧元|歐元|[个個天日月年周秒克吨噸米升元万萬亿億件台臺套只隻次人倍度页頁级級])"
    r"[^\d\s，。；、,;|-]{0,6})?\Z"
)
_NO_AMOUNT = re.compile(
    "(?:号|號|码|碼|代号|电话|電話|手机|手機|传真|傳真|邮编|郵編|版本|日期|时间|時間|年份|年度|型号|型號|标准号|地址|名称|名稱|账户|帳戶)"
    r"(?:[（(][^（）()]*[）)])?\Z"
)


def is_quantity(value: str) -> bool:
    """Whether a value is a number, a range or a percentage, with or without a unit."""
    return _AMOUNT.match(value.strip()) is not None


def asked_zh(name: str, value: str) -> str:
    """What the Chinese question for a value ends with: 是多少 for an amount, else 是什么."""
    return "是多少" if is_quantity(value) and _NO_AMOUNT.search(name) is None else "是什么"
