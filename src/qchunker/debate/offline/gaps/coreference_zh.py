"""Chinese pronouns, demonstratives and bare nouns at the start of a chunk whose antecedent lies before it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from qchunker.debate.offline.gaps.evidence import HELPFUL, REQUIRED, gaps
from qchunker.debate.offline.index.document_index import DocumentIndex
from qchunker.types import Gap, Span

_CLAUSE = (
    r"(?:^|(?<=[，。；：、“\n,;:]))"
    "(?:但|而|且|对|對|在|于|於|与|與|和|将|將|使|据|對於|对于|关于|關於|因|为|為|由|从|從|按照|根据){0,2}"
)
_CLASSIFIER = "[次個个種种名位款支座所場场家項项起件批兩两条條篇部份本艘架]"
_DEMONSTRATIVE = re.compile(
    rf"(?P<pointer>(?<![应應本不也就活们們你我都还還早])[该該](?!如|怎|不|去|怎么){_CLASSIFIER}?(?!次)|[这這]{_CLASSIFIER}|[这這]些|[这這]一|"
    r"此次|本次|上述|前述|(?<![因如由彼從从至據据為为藉以自])此(?!外|后|後|前|时|時|刻|间|間|处|處|致|举|舉|同|之|类|類))"
    r"(?!外|时|時)(?P<noun>[\u4e00-\u9fff]{1,8})"
)
_PRONOUN = re.compile(
    rf"{_CLAUSE}(?P<word>他们|他們|她们|她們|它们|它們|他|她|它|其中|其(?!他|实|實|余|餘|次|顿|頓|然|是|它|妙|间|間)|双方|雙方|两者|兩者|"
    r"二者|后者|後者|两人|兩人|二人)"
)
_HUMAN = frozenset("他们 他們 她们 她們 他 她 两人 兩人 二人".split())
_MANY = frozenset("他们 他們 她们 她們 它们 它們 两人 兩人 二人 双方 雙方 两者 兩者 二者".split())
_SEVERAL = re.compile(
    "[们們、和与與及同两兩双雙三四五六七八九十各诸]|多[名人个位]|\\d+[名人家]|等|团|队|組|组|方|众|老人|人员|人員|父母|夫妇|夫妻"
)
_TELLS_LITTLE = 16  # characters
# A sentence that points back itself, or is one of a list, names nobody.
_DANGLES = re.compile(
    r"[^，。；\u4e00-\u9fff]{0,3}(?:[它他她这這该該此其]|[一二三四五六七八九十]是|[^，。；]{0,8}[这這]一)"
)
_SINCE = re.compile(r"(?P<ever>[从從]此|自此)|此后|此後|此前|随后|隨後|之后|之後|于是|於是|后来|後來")
_ENDS_NOUN = (
    "，。；、：,“”《》（()的是在於于將将由被為为有也都已並并與与和及對对因而可能會会未没沒不最曾均仍即再以經经自则則當当却卻便就上中内內里裡"
    "后後時时之过過"
)
_WHOLE_NOUN = re.compile(
    rf"([\u4e00-\u9fff]{{1,6}}?)(?=[{_ENDS_NOUN}每必\s]|应[当當在由按]|[可需须須][要以在按由]|不得|$)"
)
_NO_NOUN = re.compile("[年月天周日期半个個都是在被也不将將使让讓已]|[對对](?![手象策])|有(?![效限关關])")
_KINDS = (
    "市县縣区區省國国州镇鎮乡鄉村校院馆館寺庙廟山河湖岛島站线線军軍党黨社会會派族剧劇片书書队隊地人案车車船舰艦"
    "泵阀閥炉爐罐釜塔仪儀"
)
_SAID = "称|显示|表示|指出|认为|认定|要求|决定"
_SOURCE = re.compile(
    rf"(?:^|(?<=[，。；：\n“,;:]))(?P<noun>决议|声明|報道|报道|判决|裁定|通知|公告|调查|报告)[”\"]?中?(?P<verb>{_SAID})"
)
_HELPFUL_SOURCES = frozenset("报道 報道 声明 调查 报告".split())
_PAPER = re.compile(r"本(合同|协议|判决|案|项目|议案)|(合同|协议)(?=约定|签订|生效|履行)")
_GROUP = re.compile(r"([两兩三四五六七八])(地|国|國|方|省|市|县|縣|家|位|部门|公司|人)(?![\u4e00-\u9fff]{0,2}[、])")
_NUMERALS = {"两": 2, "兩": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8}
_BARE = re.compile(
    r"(?:^|(?<=[，。；：\n,;:]))(大赛|比赛|赛事|活动|会议|大会|论坛|计划|工程|规划|平台|影片|电影|剧集|球队|学校|医院|景区|列车|"
    r"航班|展会|展览|建築|電影|專輯|節目|球會|戰役|學校)(?=[已将將还還也共由以在于於为為是设設分自从的]|最|预计|主要|现场)",
    re.MULTILINE,
)
_NAMED = r"(?:[”》」][\u4e00-\u9fff]{0,4}|[杯届屆][\u4e00-\u9fff]{0,6}|[A-Za-z0-9][\u4e00-\u9fff]{0,4})"
_NEAR_CHARS = 3_000
_MAX_TITLES = 40
_SENTENCES_BACK = 12
_LONG_NOUN = 3
_SURE_NOUN = 4  # characters; a longer one may have run on into the verb
_NAMES = re.compile("[A-Za-z《“「]")
# What one sentence says, the next may sum up in such a word; no other noun stands for a sentence.
_SUMS_UP = re.compile(
    "[举舉]措|措施|行[动動为為]|做法|方[法式案针針]|政策|[决決]定|[规規]定|情[况況形]|[现現]象|[问問][题題]|事[件故情]|[变變][化革]|改[变變革]|[结結]果|"
    "[观觀][点點念]|看法|[说說]法|[计計][划劃]|[过過]程|[条條]件|原[因则則]|理由|困[难難]|成[果就绩績]|[发發][现現]|[战戰][争爭役]|"
    "要求|建[议議]|[标標][准準]|[风風][险險]|[损損]失|效果|作用|影[响響]|特[点點征]|[优優势][势勢点點]|[机機]制|制度|"
    "[义義][务務]|[权權]利|[责責]任|[关關][系係]|[趋趨][势勢]|差[异異距]|[区區][别別]"
)
# What bears another word in its name may be called by these.
_LIKE = {
    "会议": ("大会", "全会", "年会", "座谈会", "推进会", "发布会", "股东会", "董事会"),
    "會議": ("大會", "全會", "年會", "座談會", "推進會", "發布會", "股東會", "董事會"),
    "活动": ("仪式", "大赛", "论坛", "培训班", "推介会", "比赛"),
    "活動": ("儀式", "大賽", "論壇", "培訓班", "推介會", "比賽"),
}
_FEW = 4  # characters in front of a pointer that are too few to hold its antecedent
_OPENING = 40
_WIDE_OPENING = 100  # in which a bare noun is the first mention


def chinese_coreferences(index: DocumentIndex, chunk: Span, first: Span, *, goes_on: bool) -> Iterator[Gap]:
    """Expressions that point back across the start of the chunk.

    Args:
        index: of the document.
        chunk: the chunk.
        first: its first sentence, behind a heading.
        goes_on: whether it does not start with a heading.
    """
    text = index.text
    since = _SINCE.match(text, first.start, first.end)
    if since and goes_on:
        necessity = REQUIRED if since["ever"] else HELPFUL
        yield from gaps(
            index, chunk, "coreference", Span(*since.span()), _sentence_before(index, first.start), necessity
        )
        return
    yield from _demonstrative(index, chunk, first)
    if goes_on:
        yield from _pronoun(index, chunk, first)
    yield from _source(index, chunk, first)
    yield from _bare_noun(index, chunk)
    yield from _quoted_paper(index, chunk)
    yield from _group(index, chunk)


def _demonstrative(index: DocumentIndex, chunk: Span, first: Span) -> Iterator[Gap]:
    """该地区, 这些文件: the last naming of the same noun, else for what sums up the sentence right before."""
    text = index.text
    match = _DEMONSTRATIVE.search(text, first.start, min(first.end, first.start + _OPENING))
    if match is None:
        return
    before = text[first.start : match.start()]
    near = len(before) <= _FEW
    names = match["pointer"][0] in "该該"
    whole = _WHOLE_NOUN.match(text, match.start("noun"), first.end)
    if whole is None or _NO_NOUN.match(whole[1]) or not (near or (names and not _NAMES.search(before))):
        return  # no noun, or the sentence may have brought it up itself
    noun, evidence = _same_noun(index, first.start, whole[1])
    surface = Span(match.start(), match.start("noun") + len(noun))
    if noun[-2:] in before or text[surface.end : surface.end + 1] in ("：", ":"):
        return  # what it points to stands before, or follows
    necessity = REQUIRED
    said = index.said_before(first.start, 1)
    if not evidence and said and (index.title is None or said[0].start > index.title.start):
        sure = len(noun) == 2 or (2 < len(noun) <= _SURE_NOUN and (not names or noun[-1] in _KINDS))
        evidence = _sentence_before(index, first.start) if near and sure and _SUMS_UP.search(noun) else []
        if evidence and _DEMONSTRATIVE.match(text, *evidence[0]):
            return
    elif not evidence:
        section = index.section_at(first.start)
        if names and index.title is not None and (section is None or section.title == index.title):
            evidence = [index.title]
        elif section is not None:
            evidence, necessity = [section.title], HELPFUL  # the reader sees the headings above
    yield from gaps(index, chunk, "coreference", surface, evidence, necessity)


def _same_noun(index: DocumentIndex, at: int, noun: str) -> tuple[str, list[Span]]:
    """The noun, and the last sentence before that names the same thing behind other words: it, its end, its start."""
    before = index.said_before(at, _SENTENCES_BACK)
    ends = [(noun, noun[-length:]) for length in dict.fromkeys((len(noun), 3, 2, 1)) if length <= len(noun)]
    starts = [(noun[:length], noun[:length]) for length in (4, 3, 2) if length < len(noun)]
    for whole, word in [*ends, *((noun, one) for one in _LIKE.get(noun, ())), *starts]:
        if len(word) == 1 and (word not in _KINDS or len(noun) > 1):
            continue
        is_whole = word in _LIKE.get(noun, ()) or len(word) >= _LONG_NOUN  # no part of another word
        ends_there = "" if is_whole else rf"(?=[{_ENDS_NOUN}\s]|$)"
        named = re.compile(
            rf"(?<![该該此这這那其本一的和与與及在或等次個个種种些架全整某每各])(?<=[\u4e00-\u9fff\w”》]){word}{ends_there}"
        )
        for sentence in before:
            if _DANGLES.match(index.text, *sentence):
                continue
            found = named.search(index.text, *sentence)
            if found:
                return whole, [index.tail(sentence, index.text[found.start() - 1 : found.end()])]
    return noun, []


def _pronoun(index: DocumentIndex, chunk: Span, first: Span) -> Iterator[Gap]:
    """他, 其, 双方: at the start of the chunk, with the sentence right before; after more pronouns it only may help."""
    match = _PRONOUN.match(index.text, first.start, first.end)
    if match is None:
        return
    before = _sentence_before(index, first.start)
    said_last = index.text[slice(*before[0])] if before else ""
    vague = _PRONOUN.search(said_last) and (match["word"] in _HUMAN or len(said_last) < _TELLS_LITTLE)
    vague = vague or (bool(before) and _DANGLES.match(index.text, *before[0]) is not None)
    if vague or "其" in said_last[:_TELLS_LITTLE] or (match["word"] in _MANY and not _SEVERAL.search(said_last)):
        said = index.said_before(first.start, _SENTENCES_BACK)
        named = [index.tail(s) for s in said if not _PRONOUN.search(index.text, *s)][:1]
        yield from gaps(index, chunk, "coreference", Span(*match.span("word")), named, HELPFUL)
        return
    yield from gaps(index, chunk, "coreference", Span(*match.span("word")), before)


def _sentence_before(index: DocumentIndex, at: int) -> list[Span]:
    """The sentence right before a position, in the same section."""
    said, nearest = index.said_before(at, 1), index.sentences_before(at, 1)
    return [index.tail(nearest[0])] if said and said == nearest else []


def _source(index: DocumentIndex, chunk: Span, first: Span) -> Iterator[Gap]:
    """决议称: the paper that was named before, with what it is about."""
    text = index.text
    source = _SOURCE.search(text, first.start, min(chunk.end, first.start + _WIDE_OPENING))
    if source is None or source["noun"] in text[chunk.start : source.start()]:
        return
    noun = source["noun"]
    stated = re.compile(
        rf"[^，。；：,\n]{{0,40}}[\u4e00-\u9fff”》](?<![在于從从由据此该該])的?[“《]?{noun}"
        rf"(?![”》]?[则則]?(?:{_SAID}))[^，。；,\n]{{0,20}}"
    )
    low = max(0, chunk.start - _NEAR_CHARS)
    found = [Span(*m.span()) for m in stated.finditer(text, low, chunk.start)][-3:]
    necessity = HELPFUL if noun in _HELPFUL_SOURCES else REQUIRED
    yield from gaps(index, chunk, "coreference", Span(*source.span("noun")), found[::-1], necessity)


def _quoted_paper(index: DocumentIndex, chunk: Span) -> Iterator[Gap]:
    """本合同 in a text that reports what the 《…合同》 says."""
    for paper in _PAPER.finditer(index.text, *chunk):
        if paper[2] and paper.start() > chunk.start and index.text[paper.start() - 1] not in "，。；：,;:\n":
            continue  # the end of a longer name
        titles = index.derived(_titles_by_end).get((paper[1] or paper[2])[-2:], [])
        outside = [title for title in titles if title.end <= chunk.start]
        one = len({index.text[slice(*title)] for title in titles}) == 1
        if outside and (one or paper[1]) and not any(chunk.start <= title.start < chunk.end for title in titles):
            yield from gaps(index, chunk, "coreference", Span(*paper.span()), outside[:3])
            return


def _titles_by_end(index: DocumentIndex) -> dict[str, list[Span]]:
    """The first quoted titles by their last two characters."""
    found: dict[str, list[Span]] = {}
    for title in index.quoted_titles:
        same = found.setdefault(index.text[title.end - 3 : title.end - 1], [])
        if len(same) < _MAX_TITLES:
            same.append(title)
    return found


def _bare_noun(index: DocumentIndex, chunk: Span) -> Iterator[Gap]:
    """大赛已举办九届: a kind without a name, near the start of a chunk that nowhere says which."""
    text = index.text
    bare = _BARE.search(text, chunk.start, min(chunk.end, chunk.start + _WIDE_OPENING))
    if bare is None or re.compile(rf"[\u4e00-\u9fffA-Za-z0-9”》]{{2,}}{bare[1]}").search(text, *chunk):
        return
    named = re.compile(rf"[^，。；：\n]{{0,20}}{_NAMED}{bare[1]}")
    found = [Span(*m.span()) for m in named.finditer(text, max(0, chunk.start - _NEAR_CHARS), chunk.start)]
    yield from gaps(index, chunk, "coreference", Span(*bare.span(1)), found[::-1])


def _group(index: DocumentIndex, chunk: Span) -> Iterator[Gap]:
    """三地, 两国: a number of things that an earlier sentence lists."""
    text = index.text
    seen: set[str] = set()
    for match in _GROUP.finditer(text, chunk.start, chunk.end):
        if match.group() in seen:
            continue
        seen.add(match.group())
        if re.search(r"[、和与及與][^，。；]{1,12}$", text[max(chunk.start, match.start() - 40) : match.start()]):
            return
        listed = re.compile(rf"[\u4e00-\u9fff]{{2,20}}[、和与及與][\u4e00-\u9fff、和与及與]{{2,30}}{match.group()}")
        near = listed.finditer(text, max(0, chunk.start - _NEAR_CHARS), chunk.start)
        count = _NUMERALS[match[1]]
        stated = [Span(*m.span()) for m in near if _is_list(m.group()[: -len(match.group())], count)]
        if stated:
            yield from gaps(index, chunk, "coreference", Span(*match.span()), stated[:2])
            return


def _is_list(words: str, count: int) -> bool:
    """Whether words list so many things; two things joined by 和 must be of one kind, such as 甲村 and 乙村."""
    items = re.split("[、和与及與]", words)
    return len(items) == count and (count > 2 or items[0][-1] == items[1][-1])
