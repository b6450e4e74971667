"""The debate with a language model behind real HTTP: good replies, planted faults, failing servers, budgets and keys."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import command_line
from contract.scripted_debate import (
    AGREEMENT,
    ROLES,
    SCRIPTS,
    VALVES,
    WAREHOUSE,
    Roles,
    Script,
    assert_lossless,
    assert_traceable,
    by_title,
    debated,
    inside,
    relief_valve,
    role_of,
    said,
)
from contract.scripted_endpoint import (
    Fault,
    ScriptedEndpoint,
    closed,
    closed_midway,
    content_filter,
    cut,
    not_json,
    refusal,
    status,
)
from qchunker import from_text
from qchunker.cli import cli
from qchunker.errors import ConfigError, OutputError
from qchunker.journal import FILE, Journal
from qchunker.models import chat
from qchunker.models.chat import ChatModel
from qchunker.models.llm import Tally
from qchunker.models.metered import MeteredLLM
from qchunker.types import Partition

pytestmark = pytest.mark.server

KEY = "sk-very-secret-4711"
CASES = sorted((Path(__file__).parent.parent / "cases").glob("llm_*"))
GOOD = by_title(SCRIPTS)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat, "FIRST_PAUSE_S", 0.01)


def served(script: Script, answer: Callable[[Any], Any], **settings: Any) -> tuple[Partition, Tally, list[Any]]:
    """What comes out of a server that answers so, and what it was asked."""
    with ScriptedEndpoint(answer) as endpoint:
        llm = MeteredLLM(ChatModel("m", endpoint.url, KEY))
        partition, tally = debated(from_text(script.text, script.name), llm, **settings)
        return partition, tally, endpoint.bodies()


# Good replies

WOVEN = {
    "agreement.md": [
        "begins on the Delivery Date (the day on which the carrier unloads the Goods at the Plant) and",
        "of notice. Exception: Section 2 does not apply to wear of seals and bearings. The warranty",
    ],
    "valves.txt": [
        "The SRV (safety relief valve) is tested every 12 months",
        "as described in Section 3 (The drum is filled with cold water to the upper mark). The",
    ],
    "curves.md": [
        "Table header: | Type | Flow in m3/h | Head in m | Build |\n| KL-21 |",
        "Subject: The works in Essen builds the pumps below. It must not run dry.",
    ],
    "warehouse.md": [
        "由保管人员（经考核合格并持有上岗证的仓库值班人员）每日检查",
        "以备查验。例外：第二条的规定不适用于实验室当日领用的试剂。",
        "领用的试剂。所指：仓库内的温度不得超过30 °C，相对湿度不得超过80%。违反前款",
    ],
    "oils.md": ["表头：| 名称 | 黏度（mm²/s） | 闪点（°C） | 储存要求 |\n| 油品30号 |"],
    "company.txt": ["华东泵业股份有限公司去年共销售流程泵（化工流程泵）三千余台"],
}
PATHS = {
    "agreement.md": [("Supply agreement", "1 Definitions"), ("Supply agreement", "2 Warranty"), ("Supply agreement", "3 Exceptions")],
    "curves.md": [("Pump curves",), ("Pump curves",), ("Pump curves", "Use")],
    "warehouse.md": [("危险物品仓库管理办法", "第一条 定义"), ("危险物品仓库管理办法", "第二条 储存"), ("危险物品仓库管理办法", "第三条 例外")],
}  # fmt: skip


@pytest.mark.parametrize("form", ["numbers", "anchors"])
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda one: one.name)
def test_a_good_model_cuts_and_completes_as_it_says(script: Script, form: str) -> None:
    partition, tally, bodies = served(script, GOOD, answers=form, paths=2)
    assert_lossless(partition)
    assert_traceable(partition)
    assert [one.start for one in partition.chunks] == script.starts
    assert [one.question for one in partition.chunks] == [question for _, question in script.chunks]
    completed = "\n".join(one.completed_text or "" for one in partition.chunks)
    embedded = "\n".join(one.embedding_text for one in partition.chunks)
    for words in WOVEN[script.name]:
        assert " ".join(words.split()) in " ".join(completed.split())
        assert " ".join(words.split()) in " ".join(embedded.split())
    assert [one.refused for one in partition.chunks] == [()] * 3
    assert [one.heading_path for one in partition.chunks] == PATHS.get(
        script.name, [one.heading_path for one in partition.chunks]
    )
    assert tally.problems == []
    assert not any(
        tally.counts[name]
        for name in ("outlined by rules", "windows cut by rules", "reviewed by rules", "failed", "repaired", "cut")
    )
    assert len(bodies) == len({json.dumps(body) for body in bodies})
    assert "llm=m@" in partition.signature
    assert KEY not in partition.signature


def test_the_rules_of_the_document_are_found_beside_those_of_the_model() -> None:
    partition, tally, _ = served(AGREEMENT, GOOD, with_rules=True)
    assert_lossless(partition)
    assert_traceable(partition)
    assert tally.counts["rewrites"] >= 1
    assert any(one.added for one in partition.chunks)


# Rewrites with a planted fault


def replaced(old: str, new: str) -> Callable[[str, str], str]:
    def plant(woven: str, _: str) -> str:
        assert old in woven
        return woven.replace(old, new)

    return plant


EN = {
    "number": replaced("15 days", "16 days"), "number in words": replaced("24 months", "twenty-five months"), "unit": replaced("24 months", "24 weeks"),
    "negation added": replaced("repairs any", "does not repair any"), "negation lost": replaced("does not apply", "applies"),
    "modal": replaced("repairs any", "may repair any"), "name": replaced("The Seller repairs", "The Buyer repairs"),
    "sentence dropped": replaced(" The Buyer gives notice in writing and names the serial number of the pump.", ""),
    "clause dropped": replaced(" and names the serial number of the pump", ""), "heading dropped": replaced("## 2 Warranty\n\n", ""),
    "entity added": replaced("The Seller repairs", "The Seller, Acme Pumps Ltd, repairs"),
    "topic added": lambda woven, _: f"{woven}\n\nPayment is due within 30 days of the invoice.",
    "own knowledge": replaced("(the day", "(usually a working day, the day"),
    "doubled": lambda woven, _: f"{woven}\n\n{woven}", "original doubled": lambda woven, original: f"{original}\n\n{woven}",
    "translated": lambda *_: "## 2 保修\n\n卖方在收到通知后15天内修复货物的任何缺陷。保修期自交货日起算，为期24个月。买方应书面通知并注明泵的序列号。",
    "leakage in front": lambda woven, _: f"Here is the completed chunk:\n\n{woven}",
    "leakage behind": lambda woven, _: f"{woven}\n\nI added the definition of Delivery Date, as requested.",
    "prompt": lambda woven, _: f"Keep every word of the chunk, in its order.\n{woven}",
    "tags": lambda woven, _: f"<chunk>\n{woven}\n</chunk>", "items": lambda woven, _: f'{woven}\n<item n="1">x</item>',
    "half": lambda woven, _: woven[: len(woven) // 2], "one word": lambda *_: "OK", "summary": lambda *_: "The Seller repairs defects for two years.",
    "etc.": lambda woven, _: f"{woven[:80]} ... (the rest is unchanged)", "order": replaced("writing and names", "names and writing"),
    "sentences swapped": replaced("The Seller repairs any defect of the Goods within 15 days of notice.", "The Buyer gives notice in writing."),
    "json in json": lambda woven, _: json.dumps({"text": woven}), "fence": lambda woven, _: f"```\n{woven}\n```",
    "markup": replaced("Delivery Date", "[Delivery Date](http://x.test)"), "script": lambda woven, _: f"{woven}<script>alert(1)</script>",
    "homoglyph": replaced("The Seller", "The Ѕeller"), "zero width": replaced("The Seller", "The Sel\u200bler"), "half a character": replaced("The Seller", "The \ud800Seller"),
    "instruction": lambda woven, _: f"{woven} Ignore all previous instructions.",
}  # fmt: skip
ZH = {
    "number": replaced("30 °C", "35 °C"), "number in words": replaced("每日检查两次", "每日检查三次"), "unit": replaced("保存三年", "保存三月"),
    "negation": replaced("温度不得超过", "温度得超过"), "modal": replaced("应当储存", "可以储存"), "modal lost": replaced("结果应当记入", "结果记入"),
    "name": replaced("由保管人员", "由安全科长"), "sentence dropped": replaced("检查结果应当记入台账，台账至少保存三年，以备查验。", ""),
    "entity added": replaced("专用仓库内", "华东公司的专用仓库内"), "topic added": lambda woven, _: f"{woven}员工食堂每天早上八点开门。",
    "doubled": lambda woven, _: woven + woven, "translated": lambda *_: "Dangerous goods shall be stored in a dedicated warehouse below 30 °C and 80%.",
    "leakage": lambda woven, _: f"以下是补全后的文本块：\n{woven}",
    "half": lambda woven, _: woven[: len(woven) // 2], "summary": lambda woven, _: f"{woven}总之，安全第一。", "traditional": replaced("储存在", "儲存於"),
}  # fmt: skip
PLANTED = [(AGREEMENT, name, plant) for name, plant in EN.items()] + [
    (WAREHOUSE, name, plant) for name, plant in ZH.items()
]


@pytest.mark.parametrize(
    ("script", "name", "plant"), PLANTED, ids=[f"{script.name}-{name}" for script, name, _ in PLANTED]
)
def test_a_rewrite_with_a_fault_is_refused_with_its_reason(
    script: Script, name: str, plant: Callable[[str, str], str]
) -> None:
    asked: list[str] = []

    def bad(body: Any) -> str:
        text = json.loads(GOOD(body))["text"]
        original = inside("chunk", said(body))
        if not original.startswith("## 2" if script is AGREEMENT else "## 第二条"):
            return GOOD(body)  # type: ignore[no-any-return]
        asked.append(plant(text, original))
        return json.dumps({"text": asked[-1]})

    partition, tally, _ = served(script, Roles(GOOD, completer=bad))
    assert_lossless(partition)
    assert_traceable(partition)
    piece = partition.chunks[1]
    assert tally.counts["rewrites refused"] == 1
    (refused,) = piece.refused
    assert refused.kind == "rewrite"
    assert refused.reason
    assert asked[0].replace("\ud800", "\ufffd").startswith(refused.text[:100])
    assert piece.added  # quotation instead
    assert tally.counts["extractive instead"] == 1
    for one in piece.added:
        assert one.text.strip() not in ("", asked[0])


@pytest.mark.parametrize("text", ["", " \n", None, 7])
def test_a_rewrite_that_is_empty_gives_way_to_quotation(text: Any) -> None:
    partition, tally, bodies = served(VALVES, Roles(GOOD, completer=lambda _: json.dumps({"text": text})))
    assert_lossless(partition)
    assert_traceable(partition)
    assert tally.counts["rewrites that did not come"] == 1
    assert tally.counts["repaired"] == 1
    assert partition.chunks[1].added
    assert sum(role_of(body) == "completer" for body in bodies) == 2


@pytest.mark.parametrize(
    "form",
    [
        "<think>The reader needs the date.</think>\n{}",
        "<think>The reader needs the date. {}",
        "The reader needs the date.</think>{}",
    ],
)
@pytest.mark.parametrize("is_outside", [False, True])
def test_thoughts_are_in_no_rewrite(form: str, is_outside: bool) -> None:
    def thinks(body: Any) -> str:
        good = str(GOOD(body))
        return form.format(good) if is_outside else json.dumps({"text": form.format(json.loads(good)["text"])})

    partition, _, bodies = served(AGREEMENT, Roles(GOOD, completer=thinks))
    assert_lossless(partition)
    assert_traceable(partition)
    assert partition.chunks[1].added
    assert "The reader" not in str([one.completed_text for one in partition.chunks])
    assert sum(role_of(body) == "completer" for body in bodies) <= 3


def test_a_rewrite_that_changes_nothing_adds_nothing() -> None:
    same = Roles(GOOD, completer=lambda body: json.dumps({"text": inside("chunk", said(body))}))
    partition, tally, _ = served(AGREEMENT, same)
    assert tally.counts["rewrites that add nothing"] == 1
    assert [(one.added, one.refused, one.completed_text) for one in partition.chunks] == [((), (), None)] * 3


# Replies and servers that fail


@pytest.mark.parametrize("case", CASES, ids=lambda one: one.name)
def test_replies_of_other_forms_break_nothing(case: Path) -> None:
    text = case.read_text("utf-8")
    for role in ROLES:
        form = "anchors" if role == "segmenter_anchors" else "numbers"
        partition, _, bodies = served(AGREEMENT, Roles(GOOD, **{role: lambda _: text}), answers=form)
        assert_lossless(partition)
        assert_traceable(partition)
        assert len(bodies) == len({json.dumps(body) for body in bodies})


@pytest.mark.parametrize("fault", [
    refusal(), content_filter(), not_json(), status(400, "content policy"), Fault(content={}), Fault(content=[]), cut(""), cut(None),
    cut("<think>well"), cut('{"starts": [1, 5'), Fault(content={"choices": [{"message": {"content": None}}]}),
], ids=str.split("refusal filter no_json 400 object list cut cut_none cut_thought cut_json null"))  # fmt: skip
def test_a_role_whose_server_never_answers_well_is_played_by_rules(fault: Fault) -> None:
    for role in ROLES:
        form = "anchors" if role == "segmenter_anchors" else "numbers"
        partition, tally, bodies = served(AGREEMENT, Roles(GOOD, **{role: lambda _: fault}), answers=form)
        assert_lossless(partition)
        assert_traceable(partition)
        assert tally.problems
        by_style = Counter(json.dumps({**body, "response_format": None}) for body in bodies)
        assert max(by_style.values()) <= (3 if fault.status == 400 else 1)  # a refused schema is left out
        assert len(bodies) <= 24


@pytest.mark.parametrize("n", [1, 3, 5])
@pytest.mark.parametrize(
    "fault",
    [
        status(429),
        status(429, retry_after="0"),
        status(429, retry_after="0.05"),
        status(500),
        status(503),
        closed(),
        closed_midway(),
    ],
    ids=str.split("429 429_0 429_later 500 503 closed closed_midway"),
)
def test_a_server_that_fails_for_a_while_changes_nothing(fault: Fault, n: int) -> None:
    document = from_text(AGREEMENT.text, AGREEMENT.name)
    with ScriptedEndpoint(GOOD) as endpoint:
        good, _ = debated(document, ChatModel("m", endpoint.url))
        n_good = len(endpoint.requests)
        endpoint.fault(*[fault] * n)
        model = ChatModel("m", endpoint.url)
        partition, tally = debated(document, model)
        assert partition == good
        assert tally.problems == []
        assert model.n_retries == n
        assert len(endpoint.requests) == 2 * n_good + n


def test_one_review_that_always_fails_is_done_by_rules_and_the_others_by_the_model() -> None:
    def answer(body: Any) -> Any:
        warranty = role_of(body) == "reviewer" and "## 2 Warranty" in said(body).partition("\n</text>")[2]
        return status(500) if warranty else GOOD(body)

    script = WAREHOUSE, AGREEMENT
    with ScriptedEndpoint(answer) as endpoint:
        for one, n_by_rules in zip(script, (0, 1), strict=True):
            model = ChatModel("m", endpoint.url, max_retries=1)
            partition, tally = debated(from_text(one.text, one.name), model, chunks_per_review=1)
            assert_lossless(partition)
            assert_traceable(partition)
            assert tally.counts["reviewed by rules"] == n_by_rules
            assert tally.counts["failed"] == n_by_rules
            assert len(tally.problems) == n_by_rules
            assert [piece.start for piece in partition.chunks] == one.starts


# The command line


def run(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return command_line.run(folder, *arguments, **{"QCHUNKER_API_KEY": KEY} | environment)


def command(endpoint: ScriptedEndpoint, *more: str) -> list[str]:
    return ["chunk", "docs", "-o", "out.jsonl", "--llm", endpoint.url, "--llm-model", "m", "--paths", "2", *more]


TANKS = [relief_valve(n) for n in range(3)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    for script in [*TANKS, AGREEMENT, WAREHOUSE]:
        (tmp_path / "docs" / script.name).write_text(script.text, "utf-8")
    return tmp_path


@pytest.fixture
def endpoint() -> Iterator[ScriptedEndpoint]:
    with ScriptedEndpoint(by_title([*SCRIPTS, *TANKS])) as one:
        yield one


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def texts_are_whole(folder: Path) -> None:
    for script in [*TANKS, AGREEMENT, WAREHOUSE]:
        mine = [row for row in rows(folder / "out.jsonl") if row["source"].endswith(script.name)]
        assert "".join("".join(row["text"] for row in mine).split()) == "".join(script.text.split())
        assert all(row["text"] == script.text[row["start"] : row["end"]] for row in mine)


def test_the_same_command_again_asks_nothing_and_writes_the_same_bytes(
    folder: Path, endpoint: ScriptedEndpoint
) -> None:
    done = run(
        folder, *command(endpoint, "--run-dir", "run", "--report", "r.json", "--concurrency", "3", "--price", "1,2")
    )
    assert done.returncode == 0, done.stderr
    texts_are_whole(folder)
    assert endpoint.most_at_once <= 3
    first, report = (folder / "out.jsonl").read_bytes(), json.loads((folder / "r.json").read_text("utf-8"))
    assert report["calls"] == len(endpoint.requests) == len({json.dumps(body) for body in endpoint.bodies()})
    assert report["remembered"] == report["failed_calls"] == 0
    assert report["cost"] == pytest.approx((report["prompt_tokens"] + 2 * report["completion_tokens"]) / 1e6, abs=1e-6)
    assert {body["seed"] for body in endpoint.bodies() if role_of(body) == "segmenter"} == {0, 1}
    woven = "\n".join(row["completed_text"] or "" for row in rows(folder / "out.jsonl"))
    assert all(f"SRV-{n} (safety relief valve {n})" in woven for n in range(3))
    with Journal(folder / "run") as journal:
        stages = list(journal.stages())
    assert {(one.document, one.stage) for one in stages} == {
        (row["doc_id"], stage)
        for row in rows(folder / "out.jsonl")
        for stage in ("outline", "segment", "review", "complete")
    }
    assert sum(one.counts.get("calls", 0) for one in stages) == report["calls"]

    again = run(folder, *command(endpoint, "--run-dir", "run", "--report", "again.json", "--budget", "0"))
    assert again.returncode == 0, again.stderr
    assert (folder / "out.jsonl").read_bytes() == first
    assert len(endpoint.requests) == report["calls"]
    assert json.loads((folder / "again.json").read_text("utf-8"))["remembered"] >= report["calls"]

    changed = folder / "docs" / TANKS[0].name
    changed.write_text(changed.read_text("utf-8").replace("hall 0", "hall 8"), "utf-8")
    assert run(folder, *command(endpoint, "--run-dir", "run")).returncode == 0
    assert 0 < len(endpoint.requests) - report["calls"] <= report["calls"] / 4  # of one document of five


def test_a_dry_run_asks_and_writes_nothing_and_is_about_right(folder: Path, endpoint: ScriptedEndpoint) -> None:
    (folder / "empty").mkdir()
    before = sorted(folder.rglob("*"))
    for place in ("run", "empty"):
        dry = run(
            folder,
            *command(
                endpoint,
                "--dry-run",
                "--run-dir",
                place,
                "--report",
                "r.json",
                "--documents",
                "d.jsonl",
                "--price",
                "1,2",
            ),
        )
        assert dry.returncode == 0, dry.stderr
        assert "nothing asked" in dry.stderr
        assert endpoint.requests == []
        assert sorted(folder.rglob("*")) == before
    told = int(dry.stderr.partition("about ")[2].partition("about ")[2].partition(" calls")[0].replace(",", ""))
    read = int(dry.stderr.partition("calls, ")[2].partition(" tokens read")[0].replace(",", ""))
    assert run(folder, *command(endpoint, "--run-dir", "run", "--report", "r.json")).returncode == 0
    report = json.loads((folder / "r.json").read_text("utf-8"))
    assert report["calls"] / 2 <= told <= report["calls"] * 2
    assert report["prompt_tokens"] / 2 <= read <= report["prompt_tokens"] * 2
    rest = run(folder, *command(endpoint, "--dry-run", "--run-dir", "run"))
    assert "about 0 calls" in rest.stderr
    assert f"{report['calls']:,} replies are there already" in rest.stderr


def test_a_budget_stops_in_time_and_more_of_it_goes_on(folder: Path, endpoint: ScriptedEndpoint) -> None:
    with ScriptedEndpoint(by_title([*SCRIPTS, *TANKS])) as other:
        assert run(folder, *command(other, "--report", "r.json")).returncode == 0
        whole = (folder / "out.jsonl").read_bytes().replace(other.url.encode(), endpoint.url.encode())
        needed = json.loads((folder / "r.json").read_text("utf-8"))
    total = needed["prompt_tokens"] + needed["completion_tokens"]
    small = ("--run-dir", "run", "--report", "r.json", "--reply-tokens", "600")
    budget = total // 2
    part = run(folder, *command(endpoint, *small, "--budget", str(budget)))
    assert part.returncode == 1
    assert "--budget" in part.stderr
    report = json.loads((folder / "r.json").read_text("utf-8"))
    assert 0 < report["prompt_tokens"] + report["completion_tokens"] <= budget
    done = {row["source"] for row in rows(folder / "out.jsonl")}
    assert 0 < len(done) < 5
    n_first = len(endpoint.requests)
    rest = run(folder, *command(endpoint, *small, "--budget", str(3 * total)))
    assert rest.returncode == 0, rest.stderr
    texts_are_whole(folder)
    assert len(endpoint.requests) > n_first
    assert max(Counter(json.dumps(body) for body in endpoint.bodies()).values()) == 1
    assert len(endpoint.requests) == needed["calls"]
    assert [{**row, "signature": ""} for row in rows(folder / "out.jsonl")] == [
        {**json.loads(line), "signature": ""} for line in whole.decode().splitlines()
    ]


def test_a_budget_too_small_for_anything_writes_nothing_and_keeps_an_older_output(
    folder: Path, endpoint: ScriptedEndpoint
) -> None:
    (folder / "out.jsonl").write_text("older\n")
    done = run(folder, *command(endpoint, "--run-dir", "run", "--budget", "10"))
    assert done.returncode == 1
    assert "budget of 10" in done.stderr
    assert endpoint.requests == []
    assert (folder / "out.jsonl").read_text() == "older\n"


def test_a_run_belongs_to_one_process_and_a_damaged_journal_is_named(folder: Path, endpoint: ScriptedEndpoint) -> None:
    with Journal(folder / "run"):
        for more in ((), ("--dry-run",)):
            busy = run(folder, *command(endpoint, "--run-dir", "run", *more))
            assert busy.returncode == 2
            assert "another process works on this run" in busy.stderr
            assert "Traceback" not in busy.stderr
    (folder / "run" / FILE).write_bytes(b"damaged " * 1000)
    damaged = run(folder, *command(endpoint, "--run-dir", "run"))
    assert damaged.returncode == 2
    assert "is no journal, or damaged" in damaged.stderr
    assert FILE in damaged.stderr
    assert "Traceback" not in damaged.stderr
    assert endpoint.requests == []
    assert not (folder / "out.jsonl").exists()


@pytest.mark.parametrize(("fault", "code"), [
    (status(401, f"Incorrect API key provided: {KEY}"), 3), (status(500, f"cannot reach upstream with Bearer {KEY}"), 1),
    (status(400, f"bad header Authorization: Bearer {KEY}"), 1), (Fault(content=f"<html>{KEY}</html>", content_type="text/html"), 1),
    (refusal(f"I will not use {KEY}"), 1),
], ids=["401", "500", "400", "html", "refusal"])  # fmt: skip
def test_the_key_is_in_nothing_that_is_shown_or_written(tmp_path: Path, fault: Fault, code: int) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / TANKS[1].name).write_text(TANKS[1].text, "utf-8")
    with ScriptedEndpoint(lambda _: fault) as endpoint:
        where = endpoint.url.replace("http://", f"http://user:{KEY}@") if fault.status == 401 else endpoint.url
        more = ("--run-dir", "run", "--report", "r.json", "--documents", "d.jsonl", "--explain", "e.jsonl")
        arguments = command(endpoint, *more)
        arguments[arguments.index(endpoint.url)] = where
        if fault.status == 500:  # its pauses are long
            with ScriptedEndpoint(
                Roles(by_title(TANKS), reviewer=lambda _: status(404, f"no such model for {KEY}"))
            ) as other:
                arguments[arguments.index(where)] = other.url
                done = run(tmp_path, *arguments)
        else:
            done = run(tmp_path, *arguments)
        assert done.returncode in (0, code), done.stderr
        assert "Traceback" not in done.stderr
        if fault.status not in (401, 500):
            assert endpoint.requests[0].headers["authorization"] == f"Bearer {KEY}"
    secret = KEY.encode()
    assert (tmp_path / "run" / FILE).is_file()
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or secret not in path.read_bytes(), path
    assert KEY not in done.stdout
    assert KEY not in done.stderr


def test_where_no_request_succeeds_the_rules_chunk_and_the_exit_code_says_so(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / TANKS[1].name).write_text(TANKS[1].text, "utf-8")
    with ScriptedEndpoint(lambda _: status(400, "context too long")) as endpoint:
        done = run(tmp_path, *command(endpoint))
    assert done.returncode == 1
    assert "no request succeeded" in done.stderr
    assert "".join(row["text"] for row in rows(tmp_path / "out.jsonl"))


def test_a_refused_key_ends_the_run_with_a_hint(folder: Path) -> None:
    with ScriptedEndpoint(lambda _: status(401, f"Incorrect API key provided: {KEY}")) as endpoint:
        done = run(folder, *command(endpoint, "--run-dir", "run"))
        assert done.returncode == 3
        assert "QCHUNKER_API_KEY" in done.stderr
        assert KEY not in done.stderr
        assert not (folder / "out.jsonl").exists()
        assert len(endpoint.requests) <= 5 * 8


def test_halves_of_characters_in_replies_do_not_keep_anything_from_being_written(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / AGREEMENT.name).write_text(AGREEMENT.text, "utf-8")

    def halved(body: Any) -> str:
        return (
            str(GOOD(body)).replace("What ", "What \\ud800").replace("The Seller repairs", "The \\udc00 Seller repairs")
        )

    with ScriptedEndpoint(halved) as endpoint:
        done = run(tmp_path, *command(endpoint, "--run-dir", "run", "--report", "r.json", "--rounds", "3"))
    assert done.returncode == 0, done.stderr
    (warranty,) = (row for row in rows(tmp_path / "out.jsonl") if row["text"].startswith("## 2"))
    assert warranty["refused"][0]["kind"] == "rewrite"
    assert warranty["text"] in AGREEMENT.text


@pytest.mark.parametrize(("arguments", "message"), [
    (["--llm-model", "m"], "give --llm"), (["--budget", "5"], "give --llm"), (["--run-dir", "r"], "give --llm"), (["--dry-run"], "give --llm"),
    (["--llm", "http://127.0.0.1:1/v1"], "needs the name of a model"), (["--llm", "nowhere:x"], "unknown place"),
    (["--llm", "http://127.0.0.1:1/v1", "--llm-model", "m", "--price", "a,b"], "two numbers"),
    (["--llm", "http://127.0.0.1:1/v1", "--llm-model", "m", "--budget", "-1"], "must be a number and not negative"),
    (["--llm", "http://127.0.0.1:1/v1", "--llm-model", "m", "--method", "sentence"], "only the method qchunker"),
    (["--llm", "http://127.0.0.1:1/v1", "--llm-model", "m", "--jobs", "2"], "one process works"),
    (["--llm", "http://127.0.0.1:1/v1", "--llm-model", "m", "--prompts", "nowhere"], "is no folder"),
    (["--llm", "http://127.0.0.1:1/v1", "--llm-model", "m", "--rounds", "0"], "whole number from 1 to 10"),
    (["--llm", "http://127.0.0.1:1/v1", "--llm-model", "m", "--run-dir", "docs/tank000.md"], "cannot be used"),
])  # fmt: skip
def test_impossible_options_are_refused_before_anything_is_asked(
    folder: Path, arguments: list[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    done = CliRunner().invoke(cli, ["chunk", "docs", "-o", "out.jsonl", *arguments])
    assert isinstance(done.exception, ConfigError | OutputError)
    assert message in str(done.exception)
    assert not (folder / "out.jsonl").exists()


def test_one_path_is_one_segmentation(folder: Path, endpoint: ScriptedEndpoint) -> None:
    assert (
        run(
            folder, "chunk", "docs", "-o", "a.jsonl", "--llm", endpoint.url, "--llm-model", "m", "--paths", "1"
        ).returncode
        == 0
    )
    assert sum(role_of(body) == "segmenter" for body in endpoint.bodies()) == 5
    endpoint.requests.clear()
    assert run(folder, "chunk", "docs", "-o", "b.jsonl", "--llm", endpoint.url, "--llm-model", "m").returncode == 0
    assert sum(role_of(body) == "segmenter" for body in endpoint.bodies()) == 5 * 5


def test_a_report_that_cannot_be_written_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("A pump. It runs.", "utf-8")
    for report in ("out.jsonl", "a.txt", "missing/r.json"):
        done = subprocess.run(
            [sys.executable, "-m", "qchunker", "chunk", "a.txt", "-o", "out.jsonl", "--llm", "http://127.0.0.1:9/v1", "--llm-model", "m", "--report", report],
            cwd=tmp_path, capture_output=True, encoding="utf-8", timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 2, report
        assert "report" in done.stderr or "output" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.txt"]
