"""How questions are worded: fixed patterns, and words of the document cleaned for use in them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from qchunker.types import Span

MAX_CHARS = 120
MIN_SLOT = 12

PATTERNS: dict[str, tuple[str, str]] = {
    "heading": ("What does the document say about {}?", "关于{}，文中说了什么？"),
    "heading_parent": ("What does the document say about {} under {}?", "在{1}中，关于{0}说了什么？"),
    "heading_of": ("What does {1} say about {0}?", "{1}对{0}是怎么说的？"),
    "heading_terms": ("What does the section {} say about {}?", "{}部分关于{}说了什么？"),
    "requirements": ("What are the requirements for {}?", "关于{}有哪些规定？"),
    "requirements_parent": ("What are the requirements for {} under {}?", "在{1}中，关于{0}有哪些规定？"),
    "terms": ("What is said about {}?", "关于{}说了什么？"),
    "topic": ("What is said about {} with regard to {}?", "关于{}，谈到了哪些与{}有关的内容？"),
    "figures": ("Which facts and figures are given about {}?", "关于{}有哪些事实和数据？"),
    "how": ("How do you {}?", "如何{}？"),
    "asked": ("{}?", "{}？"),
    "steps": ("What are the steps for {}?", "{}有哪些步骤？"),
    "listed": ("What is listed under {}?", "{}之后列出了哪些内容？"),
    "definition": ("What is {}?", "什么是{}？"),
    "definitions": ("What are {}?", "什么是{}？"),
    "meant": ("What is meant by {}?", "什么是{}？"),
    "defined": ("How are {} defined?", "{}是怎样定义的？"),
    "person": ("Who is {}?", "{}是谁？"),
    "caption": ("What does {} show?", "{}列出了什么？"),
    "columns": ("What are the {} for each {}?", "各{1}的{0}分别是什么？"),
    "columns_of": ("What are the {} for each {} under {}?", "在{2}中，各{1}的{0}分别是什么？"),
    "rows": ("What are the {} for {} to {}?", "从{1}到{2}，{0}分别是什么？"),
    "row": ("What are the {} for {}?", "{1}的{0}分别是什么？"),
    "entries": ("Which entries are given for {}?", "{}分别列出了什么？"),
    "must": ("What must {} do?", "对{}有什么要求？"),
    "must_under": ("What must {} do under {}?", "关于{1}，对{0}有什么要求？"),
    "must_not": ("What must {} not do?", "对{}有什么限制？"),
    "must_not_under": ("What must {} not do under {}?", "关于{1}，对{0}有什么限制？"),
    "rules": ("Which rules apply to {}?", "对{}有什么要求？"),
    "rules_under": ("Which rules apply to {} under {}?", "关于{1}，对{0}有什么要求？"),
    "condition": ("What happens if {}?", "{}，怎么办？"),
    "condition_when": ("What happens when {}?", "{}怎么办？"),
    "code": ("What does the code with {} do?", "包含{}的代码有什么作用？"),
    "bare": ("What does the document say here?", "文中这里说了什么？"),
}
"""Of every kind of question, the English and the Chinese pattern. Braces stand for words of the document."""

QUOTES = ("“", "”")
TO_TRADITIONAL = str.maketrans(
    "关于谈内说么从会规进这实对时应当义谁数码个间项条与别处为办证类见种书纸称样吗",
    "關於談內說麼從會規進這實對時應當義誰數碼個間項條與別處為辦證類見種書紙稱樣嗎",
)
_TRADITIONAL = re.compile("[這們為國說與對過後時會來個學種於開關發經麼點電動業區單處應當從將達實體樣條產員]")
_SIMPLIFIED = re.compile("[这们为国说与对过后时会来个学种于开关发经么点电动业区单处应当从将达实体样条产员]")
HAN = "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HAN = re.compile(f"[{HAN}]")
_LETTER = re.compile(rf"[^\W\d_{HAN}]")
_SAMPLE = 4000

# Characters that show nothing, or turn the direction of what follows: no question may carry them.
INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\ufe00-\ufe0f\ufeff\ufff0-\ufffd\U000e0000-\U000e0fff\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ue000-\uf8ff]"
)
_LINK = re.compile(r"!?\[([^\[\]\n]{0,200})\](?:\([^()\s]{0,300}(?:\s\"[^\"\n]{0,100}\")?\)|\[[^\[\]\n]{0,60}\])")
_FOOTNOTE = re.compile(r"\[\^[^\[\]\s]{1,20}\]|\{[#.][^{}\n]{1,60}\}")
_TAG = re.compile(r"</?[A-Za-z][^<>\n]{0,200}>|<!--[^<>\n]{0,200}-->")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_MARKS = re.compile(r"[*`~|#]+|(?<!\w)_{1,3}(?=\S)|(?<=\S)_{1,3}(?!\w)|[=\-_]{3,}")
_LEADING = re.compile(
    r"^(?:[-+>•·●○▪■◆◦‣]\s|\d{1,3}(?:\.\d{1,3}){1,5}\.?\s|\d{1,3}[.)、．](?=\s|[^\d\s])|[(（]\w{1,4}[)）])\s*"
)
_SPACE = re.compile(r"\s+")
_TRIM = " \t\n\r\x0b\x0c\u3000.,;:，。；：、=_-–—/\\<>"
_NUMERALS = "一二三四五六七八九十百零〇两"
_NUMBER = re.compile(
    rf"(?:第\s?[\d{_NUMERALS}]{{1,8}}\s?(?:部分|[章节節条條款部编編篇回])[、.．:：\s]{{0,4}}"
    rf"|(?:附件|附录|附錄|附表|表)\s?[\dA-Z{_NUMERALS}]{{1,4}}[、.．:：\s]{{1,4}}"
    rf"|[{_NUMERALS}]{{1,4}}[、．.]\s{{0,4}}"
    rf"|[(（][\d{_NUMERALS}a-zA-Z]{{1,4}}[)）]\s{{0,4}}"
    r"|(?:Article|Section|Chapter|Clause|Part|Annex|Appendix|Schedule|ARTICLE|SECTION|CHAPTER|PART)"
    r"\s[\dA-Z][\d.]{0,12}[.:)]?(?:\s{0,2}[-–—:])?\s{1,4}"
    r"|[A-Z]?\.?\d{1,3}(?:\.\d{1,3}){0,6}[.)、．]?\s{1,4}|\d{1,3}(?:(?:\.\d{1,3}){0,6}[.)、．]|(?:\.\d{1,3}){1,6})(?=[^\W\d_])"
    r"|§\s?[\d.]{1,8}\s{0,4}|[IVX]{1,6}[.)]\s{1,4}|[A-Z]\.\s{1,4})"
)
_NO_WORDS = re.compile(r"[\d.\s\W_]*\Z")
_SENTENCE = re.compile(r"[：。！；，]|[.!;](?:\s|\Z)|,\s.*,\s")
_CLAUSE = re.compile(
    r"^(?:what|which|who|when|where|why|how|if|do|does|is|are|can)\b"
    r"|\b(?:is|are|should|must|shall|can|may|will|do|does|has|have)\b"
    "|^(?:为什么|為什麼|为何|如何|怎样|怎樣|怎么|怎麼|什么是|什麼是|哪些|是否)",
    re.IGNORECASE,
)
_ANY_QUOTE = re.compile('[“”"「」『』]')


def language_of(text: str) -> str:
    """``zh`` or ``zht`` (traditional characters) where Chinese characters prevail, else ``en``."""
    sample = text[:_SAMPLE]
    han, letters = len(_HAN.findall(sample)), len(_LETTER.findall(sample))
    if 3 * han < letters or not han:
        return "en"
    return "zht" if len(_TRADITIONAL.findall(sample)) > len(_SIMPLIFIED.findall(sample)) else "zh"


def has_chinese(text: str) -> bool:
    """Whether there is any Chinese character."""
    return _HAN.search(text) is not None


def plain(text: str) -> str:
    """The words of a stretch: on one line, without markup and without what cannot be seen."""
    text = INVISIBLE.sub("", text)
    if not text.isalnum():
        text = _FOOTNOTE.sub("", _LINK.sub(r"\1", text))
        text = _MARKS.sub(" ", _TAG.sub(" ", _ESCAPE.sub(r"\1", text)))
    return _SPACE.sub(" ", text).strip()


def phrase(text: str) -> str:
    """`plain`, without the marks and list numbers at its ends."""
    return _LEADING.sub("", plain(text)).strip(_TRIM)


def title(text: str) -> str:
    """The words of a heading without its number; nothing where it has none."""
    words = plain(text)
    found = _NUMBER.match(words)
    if found and not _NO_WORDS.match(words, found.end()):
        words = words[found.end() :]
    words = words.strip(_TRIM)
    return "" if _NO_WORDS.match(words) else words


def locate(text: str, words: str, start: int, end: int) -> Span:
    """Where the words stand in ``text[start:end]``; from the first word to the last where marks divide them."""
    at = text.find(words, start, end)
    if at >= 0:
        return Span(at, at + len(words))
    parts = words.split()
    first = text.find(parts[0], start, end) if parts else -1
    last = text.rfind(parts[-1], start, end) if parts else -1
    if 0 <= first <= last:
        return Span(first, last + len(parts[-1]))
    while start < end - 1 and text[start].isspace():
        start += 1
    return Span(start, end)


def with_article(words: str) -> str:
    """The words as they stand inside a sentence."""
    first, _, rest = words.partition(" ")
    return f"{first.lower()} {rest}" if rest and first in {"The", "A", "An", "Each", "Every", "All", "Any"} else words


def named(words: str) -> str:
    """A heading or phrase as part of a sentence: between quotation marks where it is a sentence of its own."""
    long = len(words) > 60 or words.count(" ") > 6
    clause = _CLAUSE.search(words) or words.endswith(("?", "？"))
    return quoted(words) if long or clause or _SENTENCE.search(words) else with_article(words)


def context(words: str, room: int) -> str:
    """A heading beside other words: without what follows a colon or bracket where it is long."""
    if len(words) > room or words.endswith((")", "）")):
        short = re.split(r"[:：(（]", words, maxsplit=1)[0].strip(_TRIM)
        words = short if len(short) > 2 else words
    return named(shortened(words, room))


def quoted(words: str) -> str:
    """The words between quotation marks, unless they have such marks themselves."""
    return words if _ANY_QUOTE.search(words) else f"{QUOTES[0]}{words}{QUOTES[1]}"


def listing(words: Sequence[str], language: str) -> str:
    """The words as an enumeration."""
    if len(words) < 2:
        return "".join(words)
    if language == "en":
        return f"{', '.join(words[:-1])} and {words[-1]}"
    return f"{'、'.join(words[:-1])}和{words[-1]}"


def render(language: str, name: str, *slots: str) -> str:
    """The question, at most ``MAX_CHARS`` long: the longest words are cut short."""
    pattern = PATTERNS[name][language != "en"]
    if language == "zht":
        pattern = pattern.translate(TO_TRADITIONAL)
    filled = [shortened(slot, MAX_CHARS) for slot in slots]
    while len(made := pattern.format(*filled)) > MAX_CHARS:
        longest = max(range(len(filled)), key=lambda index: len(filled[index]))
        room = max(MIN_SLOT, len(filled[longest]) - (len(made) - MAX_CHARS))
        if room >= len(filled[longest]):
            break
        filled[longest] = shortened(filled[longest], room)
    return made


def shortened(words: str, room: int) -> str:
    """The first ``room`` characters, cut between words and marked as cut."""
    if len(words) <= room:
        return words
    closing = QUOTES[1] if words.startswith(QUOTES[0]) and words.endswith(QUOTES[1]) else ""
    kept = words[: room - 1 - len(closing)]
    space = kept.rfind(" ")
    if space > len(kept) // 2 and words[len(kept)] != " " and not _HAN.match(words, len(kept)):
        kept = kept[:space]
    while kept and (unicodedata.combining(words[len(kept)]) or unicodedata.combining(kept[-1])):
        kept = kept[:-1]
    return kept.rstrip(_TRIM + "(（") + "…" + closing
