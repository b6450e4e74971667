"""The small models of the paper play the debate over HTTP; whatever they answer, no text is lost and nothing made up."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import qchunker
from contract.scripted_endpoint import Fault, ScriptedEndpoint, cut, status
from qchunker import ChunkingConfig, DebateConfig, Document, Models, Partition
from qchunker.cli import cli
from qchunker.config import CompletionConfig, LLMConfig
from qchunker.debate.distilled.discriminator import judgement_in
from qchunker.debate.distilled.generator import questions_of
from qchunker.debate.distilled.refiner import evidence_for, rewrite_in
from qchunker.errors import QChunkerError
from qchunker.models.fake import HashingEmbedder
from qchunker.models.llm import Tally
from qchunker.models.load_llm import load_llm
from qchunker.models.sequence_classifier import Pair
from qchunker.types import Span

pytestmark = pytest.mark.server

EN = """# KL-20 Pump Manual

The KL-20 pump (rated for 3.5 bar [max+]) moves water only. It must never run dry.

Prime the pump before the first start. Open the valve slowly. Close it after 30 seconds.

The KL-20 must be oiled weekly. Use oil of grade ISO 46.

It may be stored for two years. Keep it dry and above 5 °C.
"""
ZH = """# KL-20泵使用说明

KL-20泵（额定压力3.5兆帕[上限+]）只用于输送清水。严禁干转。

首次启动前必须向泵内灌水。阀门应缓慢打开。三十秒后关闭阀门。

KL-20泵应每周加注润滑油。使用ISO 46号润滑油。

该设备可以存放两年。存放处应保持干燥，温度不低于5摄氏度。
"""
CHUNKS = {
    "en": [("# KL-20", "run dry.", "What does the KL-20 pump move?"),
           ("Prime the", "30 seconds.", "How is the pump started?"),
           ("The KL-20 must", "ISO 46.", "How is the KL-20 oiled?"),
           ("It may be", "5 °C.", "How is it stored?")],
    "zh": [("# KL-20", "严禁干转。", "KL-20泵输送什么？"), ("首次启动", "关闭阀门。", "泵怎样启动？"),
           ("KL-20泵应", "润滑油。", "KL-20泵怎样润滑？"), ("该设备可", "摄氏度。", "设备怎样存放？")],
}  # fmt: skip
TEXTS = {"en": EN, "zh": ZH}
SIZES = ChunkingConfig(target_chars=90, min_chars=0)
LANGUAGES = pytest.mark.parametrize("language", ["en", "zh"])
Answer = Callable[[Any], Any]


def reply(chunks: Sequence[tuple[str, str]], questions: Sequence[str], *, between: str = "\n") -> str:
    elements = "\n".join(f"<chunk>{head}[MASK]{tail}</chunk>" for head, tail in chunks)
    return f"<think>\n{between.join(questions)}\n</think>\n{elements}"


def good(language: str) -> str:
    return reply([one[:2] for one in CHUNKS[language]], [one[2] for one in CHUNKS[language]])


def document_of(language: str) -> Document:
    return qchunker.from_text(TEXTS[language], "m.md")


def models(tally: Tally, **players: Any) -> Models:
    made = {
        role: load_llm(one.url, role, concurrency=2) if isinstance(one, ScriptedEndpoint) else one
        for role, one in players.items()
    }
    return Models(HashingEmbedder(), tally=tally, **made)


def run(document: Document, tally: Tally | None = None, window: int = 6000, **players: Any) -> Partition:
    completes = "refiner" in players or "discriminator" in players
    how = DebateConfig(completion=CompletionConfig() if completes else None, llm=LLMConfig(window_chars=window))
    partition = qchunker.chunk(document, config=SIZES, debate_config=how, models=models(tally or Tally(), **players))
    assert_lossless(document, partition)
    return partition


def assert_lossless(document: Document, partition: Partition) -> None:
    at = 0
    for chunk in partition.chunks:
        assert not document.text[at : chunk.start].strip()
        assert chunk.text.strip()
        at = chunk.end
    assert not document.text[at:].strip()


def starts(partition: Partition) -> list[str]:
    return [chunk.text[:6] for chunk in partition.chunks]


@LANGUAGES
def test_one_reply_outlines_and_cuts(language: str) -> None:
    tally = Tally()
    with ScriptedEndpoint(lambda _: good(language)) as endpoint:
        partition = run(document_of(language), tally, generator=endpoint)
        (body,) = endpoint.bodies()
    assert [chunk.question for chunk in partition.chunks] == [one[2] for one in CHUNKS[language]]
    assert starts(partition) == [TEXTS[language][TEXTS[language].index(one[0]) :][:6] for one in CHUNKS[language]]
    assert (body["temperature"], body["top_p"]) == (0.1, 0.1)
    assert 2048 in (body.get("max_tokens"), body.get("max_completion_tokens"))
    assert not tally.problems
    assert not tally.counts["windows cut by rules"]
    assert "generator=generator" in partition.signature
    assert "generator_prompts=" in partition.signature


@LANGUAGES
@pytest.mark.parametrize("between", ["\n\n", " ", "; ", " | "])
def test_questions_are_told_apart_however_they_are_separated(language: str, between: str) -> None:
    questions = [one[2] for one in CHUNKS[language]]
    assert questions_of(between.join(questions)) == questions
    if between != " ":
        assert questions_of(between.join(f"{at}. {one}" for at, one in enumerate(questions, 1))) == questions
        plain = [one.rstrip("?？") for one in questions]
        assert questions_of(between.join(plain)) == plain


@pytest.mark.parametrize(("line", "question"), [
    ("1. What is it?", "What is it?"), ("- (2) What is it?", "What is it?"), ("Q3: What is it?", "What is it?"),
    ("**Question 4:** What is it?", "What is it?"), ("问题1：是什么？", "是什么？"), ("一、是什么？", "是什么？"),
    ("（三）是什么？", "是什么？"), ("第三条规定了什么？", "第三条规定了什么？"), ("问题是什么？", "问题是什么？"),
    ("3.5 bar is what?", "3.5 bar is what?"), ("-5 °C is what?", "-5 °C is what?"), ("10:30 or later?", "10:30 or later?"),
    ("Questions of law?", "Questions of law?"), ("第2题：是什么？", "是什么？"), ("<question>Is it?</question>", "Is it?"),
    ("20 days or 30?", "20 days or 30?"), ("二十日内应当做什么？", "二十日内应当做什么？"),
])  # fmt: skip
def test_numbers_of_questions_are_left_out_and_those_in_them_stay(line: str, question: str) -> None:
    assert questions_of(line) == [question]


def test_titles_and_thoughts_beside_questions_are_no_questions() -> None:
    assert questions_of("Outline:\n1. What?\n2. Why?") == ["What?", "Why?"]
    assert questions_of("大纲：\n泵的用途\n泵的启动") == ["泵的用途", "泵的启动"]
    assert questions_of("") == questions_of("?!\n---") == []


@LANGUAGES
@pytest.mark.parametrize("leave", [0, 1, 2, 3])
def test_fewer_questions_than_chunks_go_to_the_chunks_they_fit(language: str, leave: int) -> None:
    rows = CHUNKS[language]
    asked = [one[2] for at, one in enumerate(rows) if at != leave]
    tally = Tally()
    with ScriptedEndpoint(lambda _: reply([one[:2] for one in rows], asked)) as endpoint:
        partition = run(document_of(language), tally, generator=endpoint)
    assert len(partition.chunks) == len(rows)
    assert tally.counts["outlines of another length"] == 1
    for at in (0, 1, 2):  # the last question shares no word of its own with its chunk
        if at != leave:
            assert partition.chunks[at].question == rows[at][2], at
    assert all(chunk.question for chunk in partition.chunks)


@LANGUAGES
def test_more_questions_than_chunks(language: str) -> None:
    rows = CHUNKS[language]
    joined = [(rows[0][0], rows[1][1]), rows[2][:2], rows[3][:2]]
    with ScriptedEndpoint(lambda _: reply(joined, [one[2] for one in rows])) as endpoint:
        partition = run(document_of(language), generator=endpoint)
    # The first of the three is longer than a chunk may be, so the rules cut it once more.
    questions = [chunk.question for chunk in partition.chunks]
    assert rows[2][2] in questions
    assert questions.index(rows[2][2]) == len(questions) - 2


@LANGUAGES
@pytest.mark.parametrize("name", [
    "reversed", "repeated", "wrong", "one wrong", "regex", "no tails", "head is tail", "too long", "no mask",
    "no think end", "no think", "empty think", "closing tags missing",
])  # fmt: skip
def test_any_anchors_give_a_lossless_partition(language: str, name: str) -> None:
    rows, text = CHUNKS[language], TEXTS[language]
    pairs, questions = [one[:2] for one in rows], [one[2] for one in rows]
    regex = ["pump (rated for 3.5 bar [max+])"] if language == "en" else ["KL-20泵（额定压力3.5兆帕[上限+]）"]
    said = {
        "reversed": reply(pairs[::-1], questions),
        "repeated": reply(pairs[:1] * 6, questions),
        "wrong": reply([("Zebras (are [MA", ".*+?^$")] * 4, questions),
        "one wrong": reply([pairs[0], ("Zebras (.*", "of)+ [a-z"), *pairs[2:]], questions),
        "regex": reply([pairs[0], (regex[0], pairs[0][1]), *pairs[1:]], [questions[0], *questions]),
        "no tails": reply([(head, "") for head, _ in pairs], questions),
        "head is tail": reply([(head, head) for head, _ in pairs], questions),
        "too long": reply([(text * 3, text * 3)], questions[:1]),
        "no mask": "\n".join(f"<chunk>{part}</chunk>" for part in text.split("\n\n")),
        "no think end": good(language).replace("</think>", ""),
        "no think": good(language).partition("</think>")[2],
        "empty think": reply(pairs, []),
        "closing tags missing": good(language).replace("</chunk>", ""),
    }[name]
    tally = Tally()
    with ScriptedEndpoint(lambda _: said) as endpoint:
        partition = run(document_of(language), tally, generator=endpoint)
        n_asked = len(endpoint.requests)
    assert all(chunk.question for chunk in partition.chunks)
    if name == "wrong":
        assert n_asked == 2  # once more with what is wrong, then the rules
        assert tally.counts["windows cut by rules"] == tally.counts["outlined by rules"] == 1
    if name in ("one wrong", "no tails", "closing tags missing", "no think end", "no think", "empty think", "no mask"):
        assert n_asked == 1
        assert not tally.counts["windows cut by rules"]
    if name in ("no tails", "no think end", "closing tags missing"):
        assert [chunk.question for chunk in partition.chunks] == questions
    if name == "one wrong":
        assert partition.chunks[-1].question == questions[-1]


@LANGUAGES
def test_a_bad_reply_is_asked_for_again_with_what_is_wrong(language: str) -> None:
    replies = iter(["I cannot do that.", good(language)])
    tally = Tally()
    with ScriptedEndpoint(lambda _: next(replies)) as endpoint:
        partition = run(document_of(language), tally, generator=endpoint)
        again = endpoint.bodies()[1]["messages"][-1]["content"]
    assert "I cannot do that." in again
    assert "JSON" not in again
    assert [chunk.question for chunk in partition.chunks] == [one[2] for one in CHUNKS[language]]


@LANGUAGES
def test_of_a_reply_that_is_cut_off_the_whole_chunks_are_kept(language: str) -> None:
    rows, seen = CHUNKS[language], []

    def answer(body: Any) -> Any:
        seen.append(body["messages"][-1]["content"])
        if len(seen) == 1:
            whole = good(language)
            return cut(whole[: whole.index("[MASK]", whole.index(rows[3][0])) + 8])
        return reply([one[:2] for one in rows[2:]], [one[2] for one in rows[2:]])

    with ScriptedEndpoint(answer) as endpoint:
        partition = run(document_of(language), generator=endpoint)
    assert len(seen) == 2
    assert rows[1][0] not in seen[1]
    assert rows[2][0] in seen[1]
    assert [chunk.question for chunk in partition.chunks] == [one[2] for one in rows]


def test_long_documents_are_shown_whole_in_windows_that_end_where_the_rules_cut() -> None:
    text = "# Manual\n\n" + "\n\n".join(
        f"## Part {at}\n\nPart number {at} is made of steel {at}. It is checked every {at + 1} days."
        for at in range(40)
    )
    document, seen = qchunker.from_text(text, "m.md"), []

    def answer(body: Any) -> str:
        shown = body["messages"][-1]["content"].split("<text>\n")[1].split("\n</text>")[0]
        seen.append(shown)
        parts = [part for part in shown.split("\n\n") if part.startswith("## ")]
        return reply([(part, "") for part in parts], [f"What is {part[3:]}?" for part in parts])

    tally = Tally()
    with ScriptedEndpoint(answer) as endpoint:
        partition = run(document, tally, window=700, generator=endpoint)
    assert len(seen) > 4
    assert all(len(one) < 800 for one in seen)
    assert sorted("".join("".join(seen).split())) == sorted("".join(text.split()))
    assert not tally.counts["windows cut by rules"]
    assert {chunk.question for chunk in partition.chunks} >= {f"What is Part {at}?" for at in range(5, 40)}


def test_what_is_shown_grows_linearly_with_the_document() -> None:
    def shown(n: int) -> int:
        text = "\n\n".join(f"## Part {at}\n\nPart {at} is made of steel. It is cleaned weekly." for at in range(n))
        with ScriptedEndpoint(lambda _: "yes") as endpoint:
            run(
                qchunker.from_text(text, "m.md"),
                window=600,
                generator=endpoint,
                discriminator=endpoint,
                refiner=endpoint,
            )
            return sum(len(turn["content"]) for body in endpoint.bodies() for turn in body["messages"])

    small, large = shown(12), shown(48)
    assert 3.5 * small < large < 4.5 * small


def test_a_server_that_fails_leaves_a_window_to_the_rules() -> None:
    tally = Tally()
    with ScriptedEndpoint(lambda _: status(400, "context length exceeded")) as endpoint:
        partition = run(document_of("en"), tally, generator=endpoint)
    plain = qchunker.chunk(document_of("en"), config=SIZES, debate_config=DebateConfig(completion=None),
                           models=Models(HashingEmbedder()))  # fmt: skip
    assert [(chunk.start, chunk.end, chunk.question) for chunk in partition.chunks] == [
        (chunk.start, chunk.end, chunk.question) for chunk in plain.chunks
    ]
    assert tally.problems


@pytest.mark.parametrize(("said", "judgement"), [
    ("yes", True), ("Yes.", True), ("**YES**", True), ("no", False), ("No, it is complete.", False), ("是", True),
    ("是的，缺少主语。", True), ("否", False), ("否。", False), ("不是", False), ("1", True), ("0", False),
    ('{"label": 1}', True), ('{"answer": "no"}', False), ('```json\n{"incomplete": true}\n```', True),
    ('{"complete": true}', False), ('{"complete": false}', True), ('{"答案": "是"}', True),
    ("<think>Is it yes? Or no?</think>\nno", False), ("hm</think>yes", True), ("Answer: yes", True),
    ("The chunk names no subject. Answer: yes", True), ("答案：否", False), ("该块引用了前款。判断：是", True),
    ("true", True), ("False", False), ("incomplete", True), ("complete", False),
    ("maybe", None), ("", None), ("yes or no", None), ("yes/no", None), ("是否", None), ("是或否", None), ("0.8", None),
    ("12", None), ("{}", None), ('{"label": 7}', None), ("[1]", True), ("nothing", None), ("<think>yes", None),
    ("Not sure.", None), ('{"a": ' * 3000, None),
])  # fmt: skip
def test_judgements_are_read_however_they_are_written(said: str, judgement: bool | None) -> None:
    assert judgement_in(said) is judgement


@LANGUAGES
def test_a_discriminator_that_answers_no_completes_nothing(language: str) -> None:
    tally = Tally()
    with ScriptedEndpoint(lambda _: "no" if language == "en" else "否") as endpoint:
        partition = run(document_of(language), tally, discriminator=endpoint)
        bodies = endpoint.bodies()
    assert len(bodies) == len(partition.chunks)
    assert not any(chunk.added for chunk in partition.chunks)
    assert all(body["temperature"] == 0 for body in bodies)
    assert "discriminator=discriminator" in partition.signature


def test_an_unusable_judgement_completes_nothing_and_is_counted() -> None:
    tally = Tally()
    with ScriptedEndpoint(lambda _: "Well, that depends.") as endpoint:
        partition = run(document_of("en"), tally, discriminator=endpoint)
        assert len(endpoint.requests) == 2 * len(partition.chunks)
    assert tally.counts["chunks without a usable judgement"] == len(partition.chunks)
    assert not any(chunk.added for chunk in partition.chunks)
    assert not tally.counts["reviewed by rules"]


def test_a_discriminator_that_never_answers_leaves_the_review_to_the_rules() -> None:
    tally = Tally()
    with ScriptedEndpoint(lambda _: status(400, "no")) as endpoint:
        partition = run(document_of("en"), tally, discriminator=endpoint)
    assert tally.counts["reviewed by rules"] == len(partition.chunks)


class Judged:
    """A classifier that finds chunks incomplete that hold some words."""

    id = "judged"

    def __init__(self, *words: str) -> None:
        self.words, self.pairs = words, list[Pair]()

    def lacking(self, pairs: Sequence[Pair]) -> list[bool | None]:
        self.pairs += pairs
        return [any(word in pair.chunk for word in self.words) for pair in pairs]


STORED = {"en": ("It may be stored", "The KL-20 pump may be stored"), "zh": ("该设备可以存放", "KL-20泵可以存放")}


def refined(language: str, rewrite: Callable[[str], str]) -> Answer:
    """A refiner that rewrites the chunk it is shown."""

    def answer(body: Any) -> str:
        chunk = body["messages"][-1]["content"].rsplit("<chunk>\n", 1)[1].split("\n</chunk>")[0]
        return f"<think>gaps: ...</think>\n{rewrite(chunk)}"

    return answer


def completed(language: str, answer: Answer, tally: Tally | None = None) -> Any:
    judge = Judged(STORED[language][0])
    with ScriptedEndpoint(lambda _: good(language)) as generator, ScriptedEndpoint(answer) as refiner:
        partition = run(document_of(language), tally, generator=generator, discriminator=judge, refiner=refiner)
        last = refiner.bodies()
    assert len(judge.pairs) == len(partition.chunks) == 4
    assert all("".join(pair[:3]).strip() == TEXTS[language].strip() for pair in judge.pairs)
    assert not any(chunk.added or chunk.refused for chunk in partition.chunks[:3])
    return partition.chunks[3], last


@LANGUAGES
def test_a_good_rewrite_is_accepted_with_evidence_outside_of_the_chunk(language: str) -> None:
    tally = Tally()
    chunk, bodies = completed(language, refined(language, lambda text: text.replace(*STORED[language])), tally)
    assert chunk.completed_text == chunk.text.replace(*STORED[language])
    assert len(bodies) == 1
    assert tally.counts["rewrites accepted"] == 1
    (addition,) = chunk.added
    for start, end in addition.evidence:
        assert end <= chunk.start or start >= chunk.end
        assert "KL-20" in TEXTS[language][start:end]


@LANGUAGES
@pytest.mark.parametrize("name", ["invented", "number", "no end", "only thoughts", "shorter", "loses", "other", "cut"])
def test_a_bad_rewrite_is_refused_and_the_chunk_kept(language: str, name: str) -> None:
    invented = {"en": " It was made in Germany.", "zh": "该设备产于德国。"}[language]
    number = {"en": ("5 °C", "15 °C"), "zh": ("5摄氏度", "15摄氏度")}[language]
    good_one = refined(language, lambda text: text.replace(*STORED[language]))
    answers: dict[str, Answer] = {
        "invented": refined(language, lambda text: text.rstrip() + invented),
        "number": refined(language, lambda text: text.replace(*number)),
        "no end": lambda body: good_one(body).replace("</think>", ""),
        "only thoughts": refined(language, lambda _: ""),
        "shorter": refined(language, lambda text: text[: len(text) // 2]),
        "loses": refined(language, lambda text: text[len(text) // 2 :] + text[len(text) // 2 :]),
        "other": refined(language, lambda text: "x" * 5000),
        "cut": lambda body: cut(good_one(body)[:-8]),
    }
    tally = Tally()
    chunk, _ = completed(language, answers[name], tally)
    assert invented not in (chunk.completed_text or "")
    assert "15" not in (chunk.completed_text or "")
    assert not tally.counts["rewrites accepted"]
    # What the rules quote instead is of the document.
    for addition in chunk.added:
        assert addition.evidence
    assert tally.counts["extractive instead"] + tally.counts["left as they were"] == 1
    if name in ("invented", "number", "shorter", "loses", "other"):
        assert chunk.refused
        assert chunk.refused[0].kind == "rewrite"


@LANGUAGES
def test_a_chunk_that_is_judged_incomplete_is_refined_even_where_the_rules_find_nothing(language: str) -> None:
    text = {
        "en": "Storage\n\nKeep dry.\n\nValves are cleaned with water.",
        "zh": "存放\n\n保持干燥。\n\n阀门用水清洗。",
    }[language]
    document = qchunker.from_text(text, "a.txt")
    assert not qchunker.review(document, [(0, len(text))])[0].missing
    with ScriptedEndpoint(refined(language, lambda one: one)) as refiner:
        tally = Tally()
        how = DebateConfig(llm=LLMConfig())
        made = models(tally, discriminator=Judged(text[:3]), refiner=refiner)
        partition = qchunker.chunk(document, debate_config=how, models=made)
    assert tally.counts["rewrites that add nothing"] == 1
    assert not partition.chunks[0].added


@LANGUAGES
def test_later_rounds_judge_what_was_completed_and_end(language: str) -> None:
    with ScriptedEndpoint(refined(language, lambda text: text.replace(*STORED[language]))) as refiner:
        judge = Judged(STORED[language][0])
        how = DebateConfig(llm=LLMConfig(rounds=4))
        made = models(Tally(), discriminator=judge, refiner=refiner)
        partition = qchunker.chunk(document_of(language), config=SIZES, debate_config=how, models=made)
        assert len(refiner.requests) == 1
    assert len(judge.pairs) == 2 * len(partition.chunks)
    assert STORED[language][1] in judge.pairs[-1].chunk


def test_what_the_refiner_says_is_what_stands_behind_the_last_end_of_its_thoughts() -> None:
    assert rewrite_in("<think>a</think>b</think> c ") == "c"
    assert rewrite_in("a</think>\n<chunk>\nc\n</chunk>") == "c"
    assert rewrite_in("<think>a c") is None
    assert rewrite_in("c") is None
    assert rewrite_in("<think></think>") == ""


def test_evidence_is_the_sentences_that_hold_the_added_words() -> None:
    document = document_of("en")
    chunk = next(one for one in qchunker.chunk(document, config=SIZES).chunks if "stored" in one.text)
    window = Span(0, len(document.text))

    def texts(rewritten: str) -> list[str]:
        return [document.text[slice(*span)] for span in evidence_for(chunk, rewritten, window)]

    assert texts(chunk.text) == []
    assert texts(chunk.text + " Use oil of grade ISO 46.") == ["Use oil of grade ISO 46."]
    assert texts(chunk.text.replace("It may", "The KL-20 pump may"))[0].startswith("The KL-20 pump (rated")
    assert texts(chunk.text + " Zebras sleep.") == []


def command(folder: Path, *given: str) -> Any:
    (folder / "m.md").write_text(EN, encoding="utf-8")
    sizes = ["--target-chars", "90", "--min-chars", "0"]
    done = CliRunner().invoke(cli, ["chunk", str(folder / "m.md"), *sizes, *given])
    assert done.exception is None or isinstance(done.exception, SystemExit | QChunkerError), done.exception
    return done


def test_the_command_takes_each_model_for_itself(tmp_path: Path) -> None:
    prompts = tmp_path / "prompts"
    prompts.mkdir()
    (prompts / "refiner.en.md").write_text(
        "# system\nMY OWN\n# shared\n$text\n# own\n<chunk>\n$chunk\n</chunk>\n", "utf-8"
    )
    out, report = tmp_path / "o.jsonl", tmp_path / "r.json"
    rewrite = refined("en", lambda text: text.replace(*STORED["en"]))
    with (
        ScriptedEndpoint(lambda _: good("en")) as generator,
        ScriptedEndpoint(lambda body: "yes" if STORED["en"][0] in body["messages"][-1]["content"].rsplit("<chunk>")[-1]
                         else "no") as judge,
        ScriptedEndpoint(rewrite) as refiner,
    ):  # fmt: skip
        given = ["--generator", f"{generator.url}::gen-3b", "--discriminator", f"{judge.url}::disc-3b",
                 "--refiner", f"{refiner.url}::ref-3b", "--prompts", str(prompts), "-o", str(out),
                 "--report", str(report), "--run-dir", str(tmp_path / "run")]  # fmt: skip
        done = command(tmp_path, *given)
        assert done.exit_code == 0, done.output
        asked = [len(one.requests) for one in (generator, judge, refiner)]
        assert asked == [1, 4, 1]
        assert {body["model"] for body in generator.bodies()} == {"gen-3b"}
        assert refiner.bodies()[0]["messages"][0]["content"] == "MY OWN"
        first = out.read_bytes()
        assert command(tmp_path, *given).exit_code == 0
        assert asked == [len(one.requests) for one in (generator, judge, refiner)]  # from the journal
        assert out.read_bytes() == first
    rows = [json.loads(line) for line in first.decode().splitlines()]
    assert [row["question"] for row in rows] == [one[2] for one in CHUNKS["en"]]
    assert STORED["en"][1] in rows[3]["completed_text"]
    told = json.loads(report.read_text("utf-8"))
    assert [told[role].split("@")[0] for role in ("generator", "discriminator", "refiner")] == [
        "gen-3b", "disc-3b", "ref-3b"]  # fmt: skip
    assert told["calls"] == 0
    assert told["remembered"] == 6


@pytest.mark.parametrize(("given", "word"), [
    (["--method", "fixed", "--generator", "http://h/v1::a"], "generator"), (["--refiner", "nowhere"], "nowhere"),
    (["--generator", "http://127.0.0.1:9/v1"], "name"), (["--generator", "classifier:x"], "unknown place"),
    (["--refiner", "http://h/v1::a", "--no-complete"], "refiner"), (["--llm-model", "a"], "llm-model"),
    (["--generator", "http://h/v1::a", "--paths", "4"], "paths"), (["--generator", "http://h/v1::a", "--jobs", "2"], "jobs"),
])  # fmt: skip
def test_options_that_cannot_be_are_refused(tmp_path: Path, given: list[str], word: str) -> None:
    assert word in str(command(tmp_path, *given).exception)


def test_a_dry_run_counts_what_each_model_would_be_asked(tmp_path: Path) -> None:
    with ScriptedEndpoint() as endpoint:
        place = f"{endpoint.url}::m"
        done = command(tmp_path, "--generator", place, "--discriminator", place, "--refiner", place, "--dry-run")
        assert endpoint.requests == []
    assert done.exit_code == 0
    assert "calls" in done.output


def test_faults_do_not_stop_a_run() -> None:
    faults = [status(500), Fault(closes="before")]
    with ScriptedEndpoint(lambda _: good("en"), faults) as endpoint:
        partition = run(document_of("en"), generator=endpoint)
    assert [chunk.question for chunk in partition.chunks] == [one[2] for one in CHUNKS["en"]]


@pytest.mark.model
def test_a_real_model_that_was_never_taught_the_form_leaves_all_to_the_rules_or_does_it_well() -> None:
    tally = Tally()
    model = load_llm("openvino:smollm2-135m")
    document = qchunker.from_text(EN[: EN.index("The KL-20 must be oiled")], "m.md")
    how = DebateConfig(llm=LLMConfig(reply_tokens=16))
    made = Models(HashingEmbedder(), generator=model, discriminator=model, refiner=model, tally=tally)
    partition = qchunker.chunk(document, config=SIZES, debate_config=how, models=made)
    assert_lossless(document, partition)
    assert all(addition.evidence for chunk in partition.chunks for addition in chunk.added)
    assert sum(tally.counts.values())
