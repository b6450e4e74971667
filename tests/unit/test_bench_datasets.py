"""Every set in the form in which it is published, and what is said when its files are missing or broken."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from qchunker.bench.dataset import BenchQuestion, BenchSet, document_of
from qchunker.bench.datasets import DATASETS, load_set
from qchunker.bench.metrics.spans import GoldSpan
from qchunker.errors import ConfigError, InputError

ZH = "闪点为23℃。应当储存于阴凉处。"
EN = "The flash point is 23 °C.\r\nKeep it cool.\n"


def write(path: Path, value: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), encoding="utf-8", newline=""
    )
    return path


def lines(*rows: Any) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def chroma(folder: Path) -> None:
    write(folder / "corpora" / "sheet.md", EN)
    with (folder / "questions_df.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["question", "references", "corpus_id"])
        place = EN.index("Keep")
        reference = [{"content": "Keep it cool.", "start_index": place, "end_index": place + 13}]
        table.writerow(["How is it kept?", json.dumps(reference), "sheet"])


def drcd(folder: Path) -> None:
    answers = [{"id": "1", "text": "23℃", "answer_start": 3}]
    asked = [{"id": "q1", "question": "閃點是多少？", "answers": answers}]
    paragraphs = [{"context": "序言。", "id": "0", "qas": []}, {"context": ZH, "id": "1", "qas": asked}]
    write(folder / "DRCD_dev.json", {"data": [{"id": "a1", "title": "x", "paragraphs": paragraphs}]})


def crud(folder: Path) -> None:
    item = {"ID": "7", "event": "e", "news1": ZH, "news2": "另一篇。", "questions": ["闪点？"], "answers": ["23℃"]}
    write(folder / "split_merged.json", {"questanswer_1doc": [], "questanswer_2docs": [item], "questanswer_3docs": []})


def multifieldqa_zh(folder: Path) -> None:
    write(folder / "multifieldqa_zh.jsonl", lines({"input": "闪点？", "context": ZH, "answers": ["23℃"], "_id": "m"}))


def hchemsafety(folder: Path) -> None:
    write(folder / "doc_test.json", [ZH, " "])
    write(folder / "QA_test.json", [{"question": "闪点？", "answer": "23℃"}])


def omnieval(folder: Path) -> None:
    write(folder / "corpus" / "one.jsonl", lines({"id": "1", "contents": ZH}))
    write(folder / "OmniEval.json", [{"question": "闪点？", "answer": "23℃"}])


def gutenqa(folder: Path) -> None:
    chunks = ["“It was late,” she said.", "The flash\npoint is 23."]
    rows = [{"Book Name": "B", "Book ID": 1, "Chunk ID": n, "Chunk": text} for n, text in enumerate(chunks)]
    asked = [
        {"Book Name": "B", "Book ID": 1, "Question": "What?", "Answer": "23", "Chunk Must Contain": 'was  late," she'},
        {"Book Name": "B", "Book ID": 1, "Question": "Who?", "Answer": "x", "Chunk Must Contain": "is not there"},
    ]
    pq.write_table(pa.Table.from_pylist(rows), folder / "GutenQA.parquet")
    pq.write_table(pa.Table.from_pylist(asked), folder / "questions.parquet")


def own_folder(folder: Path) -> None:
    write(folder / "zh" / "sheet.md", f"# 说明\n\n{ZH}\n")
    write(folder / "sheet.txt", EN)
    asked = [
        {"question": "闪点？", "source": "zh/sheet.md", "quote": "闪点为 23℃。"},
        {"question": "How?", "source": "sheet.txt", "quote": "keep it cool", "answer": "cool"},
    ]
    write(folder / "questions.jsonl", lines(*asked))


MAKERS: dict[str, Callable[[Path], None]] = {
    "chroma": chroma, "drcd": drcd, "crud": crud, "multifieldqa_zh": multifieldqa_zh, "hchemsafety": hchemsafety,
    "omnieval": omnieval, "gutenqa": gutenqa, "folder": own_folder,
}  # fmt: skip


def made(name: str, folder: Path) -> BenchSet:
    MAKERS[name](folder)
    return load_set(name, folder)


def test_every_set_has_a_published_form_here() -> None:
    assert MAKERS.keys() == DATASETS.keys()


def test_evidence_is_where_the_published_files_say(tmp_path: Path) -> None:
    found = {}
    for name in ("chroma", "drcd", "gutenqa", "folder"):
        (tmp_path / name).mkdir()
        data = made(name, tmp_path / name)
        gold = [one for question in data.questions for one in question.evidence]
        found[name] = [data.texts[one.doc_id][one.start : one.end] for one in gold]
    assert found["chroma"] == ["Keep it cool."]
    assert found["drcd"] == ["闪点为23℃。"]
    assert found["gutenqa"] == ["was late,” she"]
    assert found["folder"] == ["闪点为23℃。", "Keep it cool"]


@pytest.mark.parametrize("name", ["crud", "multifieldqa_zh", "hchemsafety", "omnieval"])
def test_answers_without_places_are_judged_by_their_words(tmp_path: Path, name: str) -> None:
    data = made(name, tmp_path)
    assert data.questions[0].answers == ("23℃",)
    assert data.language == "zh"
    held = data.questions[0].documents
    assert len(held) == {"crud": 2, "multifieldqa_zh": 1}.get(name, 0)
    assert held <= data.texts.keys()


def test_a_passage_that_is_in_no_book_is_counted(tmp_path: Path) -> None:
    assert made("gutenqa", tmp_path).notes == ("1 questions whose passage is in no book",)


@pytest.mark.parametrize("name", list(MAKERS))
def test_missing_files_say_what_to_put_where(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="not there") as caught:
        load_set(name, tmp_path)
    assert "put " in str(caught.value.hint)


@pytest.mark.parametrize(
    ("name", "file", "content"),
    [
        ("chroma", "questions_df.csv", "question,references\nx,[]\n"),
        ("drcd", "DRCD_dev.json", {"data": [{"id": "a", "paragraphs": [{"context": "短", "qas": [{"id": "1"}]}]}]}),
        ("drcd", "DRCD_dev.json", "{"),
        ("crud", "split_merged.json", {"questanswer_1doc": [{"ID": 3}]}),
        ("multifieldqa_zh", "multifieldqa_zh.jsonl", lines({"input": "x", "context": "y", "answers": []})),
        ("hchemsafety", "QA_test.json", {"question": 1}),
        ("omnieval", "OmniEval.json", [{"question": "x"}]),
        ("folder", "questions.jsonl", lines({"question": "x", "source": "none.md", "quote": "y"})),
        ("folder", "questions.jsonl", lines({"question": "x", "source": "sheet.txt", "quote": "not in it"})),
        ("folder", "questions.jsonl", lines({"question": "x"})),
        ("folder", "questions.jsonl", "[1]\n"),
    ],
)
def test_broken_files_are_named(tmp_path: Path, name: str, file: str, content: Any) -> None:
    MAKERS[name](tmp_path)
    write(tmp_path / file, content)
    with pytest.raises(InputError, match=file.replace(".", r"\.")):
        load_set(name, tmp_path)


def test_prepared_files_of_a_split(tmp_path: Path) -> None:
    rows = [{"doc_id": "a", "split": "dev", "text": ZH}, {"doc_id": "b", "split": "held", "text": ZH}]
    write(tmp_path / "docs.jsonl", lines(*rows))
    asked = {"qid": "1", "question": "闪点？", "doc_id": "a", "refs": [[0, 8]], "split": "dev"}
    write(tmp_path / "questions.jsonl", lines(asked))
    data = load_set("drcd", tmp_path, "dev")
    assert list(data.texts) == ["a"]
    assert data.questions[0].evidence == (GoldSpan("a", 0, 8),)
    with pytest.raises(InputError, match="split 'test'"):
        load_set("drcd", tmp_path, "test")


@pytest.mark.parametrize("gold", [GoldSpan("a", 0, 999), GoldSpan("b", 0, 1), GoldSpan("a", 3, 3)])
def test_evidence_outside_of_its_document_is_refused(gold: GoldSpan) -> None:
    with pytest.raises(InputError, match="in no document"):
        BenchSet("x", (document_of("a", ZH),), (BenchQuestion("1", "?", "a", (gold,)),))


def test_ids_are_unique() -> None:
    question = BenchQuestion("1", "?", "a")
    with pytest.raises(InputError, match="two questions with the id '1'"):
        BenchSet("x", (document_of("a", ZH),), (question, question))


def test_a_fingerprint_tells_every_change() -> None:
    documents = (document_of("a", ZH),)
    plain = BenchSet("x", documents, (BenchQuestion("1", "?", "a", answers=("x",)),))
    others = [
        BenchSet("x", (document_of("a", ZH + "!"),), plain.questions),
        BenchSet("x", documents, (BenchQuestion("1", "??", "a", answers=("x",)),)),
        BenchSet("x", documents, (BenchQuestion("1", "?", "a", (GoldSpan("a", 0, 2),)),)),
    ]
    assert len({one.fingerprint for one in (plain, *others)}) == 4


def test_a_sample_is_spread_evenly() -> None:
    questions = tuple(BenchQuestion(str(n), "?", "a", answers=("x",)) for n in range(10))
    data = BenchSet("x", (document_of("a", ZH),), questions)
    assert [one.id for one in data.sampled(3).questions] == ["0", "3", "6"]
    assert data.sampled(None) == data
    two = BenchSet("x", (document_of("a", ZH), document_of("b", EN)), (
        BenchQuestion("1", "?", "a", (GoldSpan("a", 0, 2),)), BenchQuestion("2", "?", "b", (GoldSpan("b", 0, 2),))
    ))  # fmt: skip
    assert [one.id for one in two.sampled(None, 1).questions] == ["1"]


def test_an_unknown_set_is_named() -> None:
    with pytest.raises(ConfigError, match="unknown: 'nothing'"):
        load_set("nothing", Path())


@pytest.mark.parametrize("question", [
    BenchQuestion("1", "?", "a"), BenchQuestion("1", " ", "a", answers=("x",)), BenchQuestion("1", "?", "a", answers=("",)),
    BenchQuestion("\ud800", "?", "a", answers=("x",)),
])  # fmt: skip
def test_a_question_that_cannot_be_judged_is_refused(question: BenchQuestion) -> None:
    with pytest.raises(InputError, match="question"):
        BenchSet("x", (document_of("a", ZH),), (question,))
