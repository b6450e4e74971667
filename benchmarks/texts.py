"""Seeded texts for the benchmarks: the same seed and size give the same text on every machine."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

ZH_SUBJECTS = "值班人员 水泵机组 配电柜 班长 检修单位 供水管网 操作人员 安全员 备用电源 控制系统".split()
ZH_ADVERBS = ("应当", "不得", "可以", "每日", "必须", "一般", "按照规程", "在检修期间", "立即", "逐项")
ZH_VERBS = ("检查", "记录", "更换", "报告", "调整", "停止", "启动", "核对", "清洗", "测量")
ZH_OBJECTS = "轴承温度 润滑油位 交接记录 出口压力 密封件 接地电阻 阀门开度 振动数值 报警信号 滤网".split()
ZH_TAILS = ("并在记录本上签字", "超过三十五度时开启通风", "直到恢复正常为止", "误差不大于百分之二", "由班长确认后执行")
EN_SUBJECTS = ("The operator", "A spare pump", "The control system", "Every valve", "The foreman", "The engineer")
EN_VERBS = ("checks", "records", "replaces", "reports", "adjusts", "stops", "measures", "cleans", "compares", "signs")
EN_OBJECTS = ("the bearing temperature", "the oil level", "the log of the last shift", "the pressure at the outlet")
EN_TAILS = (
    "before the shift ends",
    "when the reading is above 35.5 degrees",
    "with a note of the time and the place",
    "as section 4.2 demands",
    "unless a repair is under way",
    "and tells the foreman at once",
)


class Phrases:
    """Random sentences in both languages, drawn from a pool so that large texts are made quickly."""

    def __init__(self, seed: int, pool: int = 3000) -> None:
        self.random = random.Random(seed)
        self.zh = [self._zh() for _ in range(pool)]
        self.en = [self._en() for _ in range(pool)]

    def _zh(self) -> str:
        pick = self.random.choice
        clauses = [
            pick(ZH_SUBJECTS) + pick(ZH_ADVERBS) + pick(ZH_VERBS) + pick(ZH_OBJECTS)
            for _ in range(self.random.randint(1, 3))
        ]
        if self.random.random() < 0.5:
            clauses.append(pick(ZH_TAILS))
        return "，".join(clauses) + "。"

    def _en(self) -> str:
        pick = self.random.choice
        words = [pick(EN_SUBJECTS), pick(EN_VERBS), pick(EN_OBJECTS)]
        if self.random.random() < 0.7:
            words.append(pick(EN_TAILS))
        if self.random.random() < 0.3:
            words += ["and", pick(EN_VERBS), pick(EN_OBJECTS)]
        return " ".join(words) + "."

    def paragraph(self, language: str, n_sentences: int) -> str:
        if language == "zh":
            return "".join(self.random.choices(self.zh, k=n_sentences))
        return " ".join(self.random.choices(self.en, k=n_sentences))

    def language(self) -> str:
        return self.random.choice(("zh", "en"))


def plain(phrases: Phrases, languages: tuple[str, ...] = ("zh", "en")) -> Iterator[str]:
    """Paragraphs with a blank line between them."""
    while True:
        language = phrases.random.choice(languages)
        yield phrases.paragraph(language, phrases.random.randint(2, 9)) + "\n\n"


def without_newline(phrases: Phrases) -> Iterator[str]:
    for part in plain(phrases):
        yield part.replace("\n\n", " ")


def without_stop(phrases: Phrases) -> Iterator[str]:
    table = str.maketrans(dict.fromkeys("。.!?！？;；，,", " "))
    for part in plain(phrases):
        yield part.translate(table)


def csv_rows(phrases: Phrases) -> Iterator[str]:
    yield "number,date,place,reading,unit,state,remark\n"
    pick, number = phrases.random.choice, 0
    while True:
        number += 1
        yield (
            f"{number},2024-{number % 12 + 1:02}-{number % 28 + 1:02},pump house {number % 97},"
            f"{number % 4000 / 10},bar,{pick(('good', 'worn', 'leaking'))},{pick(EN_OBJECTS)}\n"
        )


def markdown_table(phrases: Phrases) -> Iterator[str]:
    yield "| number | date | place | reading | remark |\n|---|---|---|---|---|\n"
    pick, number = phrases.random.choice, 0
    while True:
        number += 1
        yield (
            f"| {number} | 2024-{number % 12 + 1:02}-{number % 28 + 1:02} | pump house {number % 97} "
            f"| {number % 4000 / 10} bar | {pick(EN_OBJECTS)} |\n"
        )


def markdown_list(phrases: Phrases) -> Iterator[str]:
    """One list, items nested up to three deep."""
    while True:
        yield f"- {phrases.paragraph('en', 1)}\n"
        for _ in range(phrases.random.randint(0, 3)):
            yield f"  - {phrases.paragraph('zh', 1)}\n"
            if phrases.random.random() < 0.4:
                yield f"    - {phrases.paragraph('en', 2)}\n"


def one_word(_: Phrases) -> Iterator[str]:
    while True:
        yield "a" * 1000


def short_lines(phrases: Phrases) -> Iterator[str]:
    """Lines of 20 characters without any blank line."""
    rest = ""
    for part in plain(phrases):
        rest += part.replace("\n\n", " ")
        while len(rest) >= 20:
            yield rest[:19].strip().ljust(19, "x") + "\n"
            rest = rest[19:]


def many_headings(phrases: Phrases) -> Iterator[str]:
    """Plain text with a numbered heading about every 100 characters."""
    chapter = 0
    while True:
        chapter += 1
        yield f"{chapter} {phrases.random.choice(EN_OBJECTS).capitalize()}\n\n"
        for section in range(1, 9):
            body = phrases.paragraph("en", 2)[:78].rstrip(" .")
            yield f"{chapter}.{section} {phrases.random.choice(EN_OBJECTS[:2]).capitalize()}\n\n{body}.\n\n"


def exceptions(_: Phrases) -> Iterator[str]:
    """Every sentence limits another one."""
    number = 0
    while True:
        number += 1
        yield f"第{number % 99 + 1}条 本条规定不受前款限制，" + "另有规定的除外。" + "\n" * (number % 8 == 0)


def spaces(phrases: Phrases) -> Iterator[str]:
    """Words with very long runs of white space between them."""
    while True:
        yield phrases.random.choice(EN_OBJECTS) + " " * 100_000


def markers(_: Phrases) -> Iterator[str]:
    """Markdown lines that are rules but for their last character."""
    while True:
        yield "_ " * 20_000 + "a\nb " + "* " * 20_000 + "a\n\n"


def pages(phrases: Phrases) -> Iterator[str]:
    """Very many short pages with a running title and a page number."""
    number = 0
    while True:
        number += 1
        yield f"Handbook\n\n{phrases.paragraph('en', 1)}\n\n{number}\n\f"


def markdown(phrases: Phrases) -> Iterator[str]:
    """Mixed Markdown: headings, paragraphs with emphasis and links, lists, tables, code."""
    pick, random_number = phrases.random.choice, phrases.random.random
    chapter = 0
    while True:
        chapter += 1
        yield f"# {pick(ZH_OBJECTS)} {chapter}\n\n" if random_number() < 0.5 else f"# {pick(EN_OBJECTS)} {chapter}\n\n"
        for section in range(phrases.random.randint(2, 5)):
            yield f"## {chapter}.{section + 1} {pick(ZH_VERBS)}{pick(ZH_OBJECTS)}\n\n"
            for _ in range(phrases.random.randint(2, 6)):
                yield _markdown_block(phrases) + "\n\n"


def _markdown_block(phrases: Phrases) -> str:
    pick, language = phrases.random.choice, phrases.language()
    kind = phrases.random.choices(("paragraph", "list", "table", "code", "quote", "heading"), (10, 3, 2, 2, 1, 2))[0]
    if kind == "list":
        return "\n".join(f"- {phrases.paragraph(language, 1)}" for _ in range(phrases.random.randint(3, 8)))
    if kind == "table":
        rows = [f"| {pick(ZH_OBJECTS)} | {n} | `P-{n}` |" for n in range(phrases.random.randint(3, 20))]
        return "\n".join(["| item 项目 | number | code |", "|---|---|---|", *rows])
    if kind == "code":
        rows = [f"    pump_{n} = read(valve[{n}], timeout={n})" for n in range(phrases.random.randint(3, 15))]
        return "\n".join(["```python", "def check():", *rows, "```"])
    if kind == "quote":
        return "> " + phrases.paragraph(language, 2)
    if kind == "heading":
        return f"### {pick(ZH_OBJECTS)}\n\n{phrases.paragraph(language, 3)}"
    text = phrases.paragraph(language, phrases.random.randint(2, 6))
    word = pick(ZH_OBJECTS if language == "zh" else EN_OBJECTS)
    marked = pick((f"**{word}**", f"[{word}](https://example.org/{len(text)})", f"*{word}*", f"`{word}`"))
    return text.replace(word, marked, 2)


MAKERS: dict[str, tuple[Callable[[Phrases], Iterator[str]], str]] = {
    "mixed zh/en": (plain, "txt"),
    "no newline": (without_newline, "txt"),
    "no stop": (without_stop, "txt"),
    "CSV rows": (csv_rows, "csv"),
    "Markdown table": (markdown_table, "md"),
    "nested list": (markdown_list, "md"),
    "one word": (one_word, "txt"),
    "lines of 20": (short_lines, "txt"),
    "many headings": (many_headings, "txt"),
    "Markdown": (markdown, "md"),
    "exceptions": (exceptions, "txt"),
    "long spaces": (spaces, "txt"),
    "rule markers": (markers, "md"),
    "short pages": (pages, "txt"),
}


def make(maker: Callable[[Phrases], Iterator[str]], n_bytes: int, seed: int = 7) -> str:
    """A text of about ``n_bytes`` in UTF-8."""
    parts: list[str] = []
    size = 0
    for part in maker(Phrases(seed)):
        parts.append(part)
        size += len(part) if part.isascii() else len(part.encode())
        if size >= n_bytes:
            break
    return "".join(parts)
