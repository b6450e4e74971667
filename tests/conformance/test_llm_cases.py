"""Rows about replies of language models, their context, its cost, and services that limit and fail."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from promises import assert_promises

import qchunker
from contract.scripted_endpoint import Fault, ScriptedEndpoint, status
from qchunker.asking import Answered, Task, Units, ask
from qchunker.config import ChunkingConfig, DebateConfig, LLMConfig
from qchunker.debate.offline.segmenter import sizes_for
from qchunker.errors import ModelOutputError
from qchunker.journal import Journal
from qchunker.models import chat
from qchunker.models.chat import ChatModel
from qchunker.models.dry_run import DryRunLLM
from qchunker.models.json_output import CutReplyError, read_json
from qchunker.models.llm import Completion, Done, Reply, Request, Tally, one_by_one
from qchunker.models.load import Models, default_embedder, is_mostly_chinese
from qchunker.models.metered import MeteredLLM
from qchunker.prompts import load_prompt
from qchunker.types import Document, Partition

CASES = Path(__file__).parent.parent / "cases"


def case(name: str) -> str:
    return (CASES / name).read_text("utf-8")


class Recording:
    """Answers every request alike, and remembers them."""

    id = "recording"

    def __init__(self, reply: str = "I could not find any passages.") -> None:
        self.reply, self.requests = reply, list[Request]()

    def complete(self, requests: Sequence[Request], done: Done | None = None) -> list[Reply]:
        self.requests += requests
        return one_by_one(requests, lambda _: Completion(self.reply), done)


def long_text(n_chars: int) -> str:
    """Sections of different words."""
    parts, size, number = [], 0, 0
    while size < n_chars:
        number += 1
        part = f"## {number} Valve V{number}\n\n" + "".join(
            f"Valve V{number} is checked by crew {number * 7 + line} in week {line}. It closes at {number}.{line} bar.\n"
            for line in range(6)
        )
        parts.append(part)
        size += len(part)
    return "\n".join(parts)[:n_chars]


def chunked(document: Document, llm: Any, **settings: Any) -> Partition:
    models = Models(default_embedder(), llm=llm)
    config = DebateConfig(llm=LLMConfig(**({"paths": 1} | settings)))
    partition = qchunker.chunk(document, debate_config=config, models=models)
    assert_promises(partition, sizes_for(ChunkingConfig(), chinese=is_mostly_chinese(partition.document.text)))
    return partition


def questions(value: Any) -> int:
    return len(value["questions"])


@pytest.mark.parametrize(("name", "fields", "value"), [
    ("llm_fence_in_string.txt", ("qa",), "Write ```flag: on``` in the file"),
    ("llm_braces_in_prose.txt", ("questions",), "Who signs?"),
    ("llm_two_blocks.txt", ("split_index",), "4"),
])  # fmt: skip
def test_the_json_of_a_reply_is_read_whatever_stands_around_it(name: str, fields: tuple[str, ...], value: str) -> None:
    found = read_json(case(name), lambda value: {field: value[field] for field in fields}, model="m")
    assert value in json.dumps(found.value)
    assert not found.is_cut


def test_a_reply_that_was_cut_off_keeps_whole_items_and_is_never_asked_for_again_unchanged() -> None:
    asked: list[tuple[Units, int]] = []

    class Cut:
        id = "cut"

        def complete(self, requests: Sequence[Request], done: Done | None = None) -> list[Reply]:
            return one_by_one(requests, self.reply, done)

        def reply(self, request: Request) -> Reply:
            units = json.loads(request.own)
            asked.append((tuple(units), request.max_tokens))
            whole = request.max_tokens >= 40 * len(units)
            items = [{"n": unit} for unit in (units if whole else units[:1])]
            text = json.dumps({"items": items})
            return Completion(text if whole else text[:-2] + ', {"n":', is_cut=not whole)

    def make(units: Units) -> Request:
        return Request("", "", json.dumps(units), 40)

    def read(units: Units, reply: Completion) -> Answered[list[int]]:
        found = read_json(
            reply.text, lambda value: [one["n"] for one in value["items"]], model="m", is_cut=reply.is_cut
        )
        return Answered(tuple(found.value) if found.is_cut else units, found.value)

    (parts,) = ask(Cut(), [Task((1, 2, 3, 4, 5), make, read)], load_prompt("repair", "en"), Tally())
    assert sorted(number for part in parts for number in part.value) == [1, 2, 3, 4, 5]
    assert len(set(asked)) == len(asked)
    found = read_json(case("llm_truncated.json"), lambda value: value["qa"], model="m")
    assert found == ([{"question": "What is the limit?", "answer": "25 ppm"}], True)


def test_thoughts_that_use_up_the_tokens_are_a_cut_and_no_answer() -> None:
    assert read_json(case("llm_think_prefix.txt"), int, model="m").value == 4
    with pytest.raises(CutReplyError):
        read_json("<think>Passages 1-3 talk about pumps", int, model="m", is_cut=True)
    tokens: list[int] = []

    class Thinking:
        id = "thinking"

        def complete(self, requests: Sequence[Request], done: Done | None = None) -> list[Reply]:
            return one_by_one(requests, self.reply, done)

        def reply(self, request: Request) -> Reply:
            tokens.append(request.max_tokens)
            return (
                Completion("<think>so</think>4") if request.max_tokens >= 80 else Completion("<think>so", is_cut=True)
            )

    def read(units: Units, reply: Completion) -> Answered[int]:
        return Answered(units, read_json(reply.text, int, model="m", is_cut=reply.is_cut).value)

    task = Task((1,), lambda _: Request("", "", "x", 40), read)
    (parts,) = ask(Thinking(), [task], load_prompt("repair", "en"), Tally())
    assert (parts[0].value, tokens) == (4, [40, 80])


@pytest.mark.parametrize("name", ["llm_empty_fence.txt", "llm_bad_index.txt"])
def test_a_model_that_sees_no_passages_leaves_the_cuts_to_the_rules_and_the_summary_says_so(name: str) -> None:
    document = qchunker.from_text(long_text(4_000), "valves.md")
    tally = Tally()
    models = Models(default_embedder(), llm=Recording(case(name)), tally=tally)
    partition = qchunker.chunk(document, debate_config=DebateConfig(llm=LLMConfig(paths=1)), models=models)
    assert_promises(partition, sizes_for(ChunkingConfig(), chinese=is_mostly_chinese(partition.document.text)))
    assert partition.spans == qchunker.chunk(document).spans
    assert tally.counts["windows cut by rules"] == 1
    with pytest.raises(ModelOutputError):
        read_json(case(name), questions, model="m")


def test_every_chunk_of_a_long_document_gets_its_context() -> None:
    document = qchunker.from_text(long_text(120_000), "valves.md")
    llm = Recording()
    partition = chunked(document, llm, window_chars=48_000)
    reviews = [
        request for request in llm.requests if "Chunks to check" in request.own and "last reply" not in request.own
    ]
    for chunk in partition.chunks:
        line = chunk.text.strip().splitlines()[-1]
        assert any(line in request.own and line in request.shared for request in reviews), chunk.start
    assert max(len(request.shared) + len(request.own) for request in reviews) < 80_000


@pytest.mark.parametrize(
    "make",
    [long_text, lambda n: long_text(n).replace("Valve", "阀门").replace("is checked by crew", "由班组检查，编号")],
)
def test_what_is_shown_grows_with_the_document_and_not_with_its_square(make: Any) -> None:
    tokens = []
    for n_chars in (20_000, 40_000, 80_000):
        llm = DryRunLLM("dry")
        chunked(qchunker.from_text(make(n_chars), "valves.md"), llm)
        tokens.append(llm.prompt_tokens)
    assert tokens[1] < 2.2 * tokens[0]
    assert tokens[2] < 2.2 * tokens[1]


def test_a_small_file_costs_a_known_multiple() -> None:
    document = qchunker.from_text(long_text(9_000), "valves.md")
    llm = DryRunLLM("dry")
    partition = chunked(document, llm)
    assert len(partition.chunks) >= 12
    assert llm.prompt_tokens < 20 * len(document.text) / 3  # 30 times it and more, were it sent with every chunk
    assert llm.calls <= 2 + len(partition.chunks) * 3


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat, "FIRST_PAUSE_S", 0.01)


@pytest.fixture
def document() -> Document:
    return qchunker.from_text(long_text(6_000), "valves.md")


def numbered_starts(body: dict[str, Any]) -> str:
    """An outline without questions, cuts at every third sentence, and chunks that lack nothing."""
    asked = str(body["messages"][-1]["content"])
    if "Where does each chunk begin" in asked:
        return json.dumps({"starts": list(range(1, asked.count("\n["), 3))})
    if "Chunks to check" in asked:
        return json.dumps({"chunks": [{"n": n + 1, "missing": []} for n in range(asked.count("<chunk n="))]})
    if "Judge every item" in asked:
        verdict = {"critical": False, "explicit": True, "new_topic": False}
        return json.dumps({"items": [verdict | {"n": n + 1} for n in range(asked.count("<item n="))]})
    return json.dumps({"questions": [{"question": "Which valve is checked when?", "first": 1, "last": 2}]})


@pytest.fixture
def endpoint() -> Iterator[ScriptedEndpoint]:
    with ScriptedEndpoint(numbered_starts) as server:
        yield server


@pytest.mark.server
@pytest.mark.usefixtures("quick")
def test_what_was_answered_before_a_limit_is_not_asked_again(
    endpoint: ScriptedEndpoint, document: Document, tmp_path: Path
) -> None:
    with Journal(tmp_path) as journal:
        first = MeteredLLM(ChatModel("m", endpoint.url, max_retries=0), journal)
        chunked(document, first)
    n_asked = len(endpoint.requests)
    endpoint.fault(*[status(429)] * 50)
    with Journal(tmp_path) as journal:
        again = MeteredLLM(ChatModel("m", endpoint.url, max_retries=0), journal)
        chunked(document, again)
    assert len(endpoint.requests) == n_asked
    assert (again.spending.calls, again.spending.remembered) == (0, first.spending.calls)


@pytest.mark.server
def test_a_limit_is_waited_for_as_told(endpoint: ScriptedEndpoint, document: Document) -> None:
    wanted = chunked(document, ChatModel("m", endpoint.url))
    endpoint.fault(status(429, retry_after="1"))
    before = len(endpoint.requests)
    assert chunked(document, ChatModel("m", endpoint.url)) == wanted
    waited = endpoint.requests[before + 1].at - endpoint.requests[before].at
    assert waited >= 1


@pytest.mark.server
@pytest.mark.usefixtures("quick")
def test_one_part_that_always_fails_leaves_the_others_as_they_are(document: Document) -> None:
    def answer(body: dict[str, Any]) -> str | Fault:
        asked = str(body["messages"][-1]["content"])
        return (
            status(500)
            if "Chunks to check" in asked and "crew 42 " in asked.split("Chunks to check")[1]
            else numbered_starts(body)
        )

    tally = Tally()
    with ScriptedEndpoint(answer) as server:
        models = Models(default_embedder(), llm=ChatModel("m", server.url, max_retries=1), tally=tally)
        config = DebateConfig(llm=LLMConfig(paths=1, chunks_per_review=1))
        partition = qchunker.chunk(document, debate_config=config, models=models)
    assert_promises(partition, sizes_for(ChunkingConfig(), chinese=is_mostly_chinese(partition.document.text)))
    assert tally.counts["reviewed by rules"] == 1
    assert tally.counts["failed"] == 1
    assert tally.problems
