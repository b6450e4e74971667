"""The methods of the literature from the command line, with a language model behind real HTTP."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import qchunker
from contract.scripted_endpoint import Fault, ScriptedEndpoint, closed, cut, status
from qchunker import ChunkingConfig, from_text
from qchunker.chunking import CHUNKERS, LLM_METHODS, MODEL_CHUNKERS
from qchunker.cli import cli
from qchunker.errors import ConfigError, ModelError
from qchunker.models.fake import HashingEmbedder
from qchunker.models.llm import Tally
from qchunker.models.load import Models
from qchunker.models.load_llm import load_llm
from unit.odd_texts import assert_lossless

pytestmark = pytest.mark.server

METHODS = pytest.mark.parametrize("method", LLM_METHODS)
TEXTS = {
    "en": "The pump must be oiled weekly. Use oil of grade 46. Wipe it dry. The pump is stored dry. It may be stored for two years. Call the maker before a repair. ",
    "zh": "水泵应每周加油。请使用四十六号润滑油。加油之后应擦干。水泵应存放在干燥处。存放期不超过两年。修理之前请联系制造商。",
}  # fmt: skip
_NUMBERED = re.compile(r"^\[(\d+)\] ", re.MULTILINE)


def answer(body: Any) -> str:
    """A model that cuts after every second or third sentence, in whatever form it is asked."""
    system, own = body["messages"][0]["content"], body["messages"][-1]["content"]
    text = own.partition("<text>\n")[2].partition("\n</text>")[0]
    said = re.findall(r"[^.。]+[.。]\s?", text)
    pieces = ["".join(said[at : at + 3]).strip() for at in range(0, len(said), 3)]
    if '{"id"' in system:
        return json.dumps({"id": min(3, len(_NUMBERED.findall(text)))})
    if '{"size"' in system:
        return '```json\n{"size": 2}\n```'
    if '{"anchors"' in system:
        return json.dumps({"anchors": [f"{piece[:5]}[MASK]{piece[-5:]}" for piece in pieces]}, ensure_ascii=False)
    return "".join(f"<chunk>{piece}</chunk>\n" for piece in pieces)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["chunk", *arguments])


def place(endpoint: ScriptedEndpoint) -> list[str]:
    return ["--llm", endpoint.url, "--llm-model", "m"]


def texts_of(path: Path) -> list[str]:
    return [json.loads(line)["text"] for line in path.read_text(encoding="utf-8").splitlines()]


@METHODS
@pytest.mark.parametrize("language", ["en", "zh"])
def test_chunks_journal_report_and_summary(method: str, language: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(TEXTS[language] * 6, encoding="utf-8")
    out, report = tmp_path / "out.jsonl", tmp_path / "report.json"
    arguments = [str(tmp_path / "a.txt"), "--method", method, "--target-chars", "120", "--overlap", "0",
                 "-o", str(out), "--run-dir", str(tmp_path / "run"), "--report", str(report)]  # fmt: skip
    with ScriptedEndpoint(answer) as endpoint:
        first = run(*arguments, *place(endpoint))
        assert first.exit_code == 0, first.output
        n_calls, made = len(endpoint.requests), out.read_bytes()
        assert n_calls
        again = run(*arguments, *place(endpoint))
        assert again.exit_code == 0
        assert len(endpoint.requests) == n_calls  # everything is remembered
        assert out.read_bytes() == made
    assert f"{n_calls} call" in first.output
    assert "rules instead of the model" not in first.output
    row = json.loads(report.read_text(encoding="utf-8"))
    assert row["calls"] == 0
    assert row["remembered"] >= n_calls
    assert row["counts"].get("windows cut by rules", 0) == 0
    assert "".join("".join(texts_of(out)).split()) == "".join((TEXTS[language] * 6).split())
    assert all(text.strip()[-1] in ".。" for text in texts_of(out))


@METHODS
def test_a_dry_run_spends_nothing_and_a_budget_is_kept(method: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(TEXTS["en"] * 40, encoding="utf-8")
    arguments = [str(tmp_path / "a.txt"), "--method", method, "-o", str(tmp_path / "out.jsonl")]
    with ScriptedEndpoint(answer) as endpoint:
        dry = run(*arguments, *place(endpoint), "--dry-run", "--price", "1,2")
        assert dry.exit_code == 0, dry.output
        assert re.search(r"about \d+ calls", dry.output)
        assert "cost about" in dry.output
        poor = run(*arguments, *place(endpoint), "--budget", "100")
        assert not endpoint.requests
    assert poor.exit_code == 1
    assert "the budget of 100 is not enough" in poor.output.replace("\n", " ")
    assert not (tmp_path / "out.jsonl").exists()


@METHODS
def test_what_the_model_did_not_do_is_said(method: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(TEXTS["zh"] * 20, encoding="utf-8")
    out = tmp_path / "out.jsonl"
    with ScriptedEndpoint(lambda _: "I would rather not.") as endpoint:
        done = run(str(tmp_path / "a.txt"), "--method", method, "--target-chars", "100", "--overlap", "0",
                   "-o", str(out), *place(endpoint))  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "rules instead of the model" in done.output
    assert "".join(texts_of(out)) == TEXTS["zh"] * 20
    assert sum(map(len, texts_of(out))) / len(texts_of(out)) > 50


@METHODS
@pytest.mark.parametrize("fault", [
    closed(), status(500), status(429, retry_after="0"), cut(""), cut("<chunk>The pump"), cut('{"anchors": ["The'), Fault(content="{not json"),
])  # fmt: skip
def test_a_server_that_stumbles_loses_nothing(method: str, fault: Fault) -> None:
    document, config = from_text(TEXTS["en"] * 10), ChunkingConfig(target_chars=150, overlap_ratio=0)
    with ScriptedEndpoint(answer, [fault]) as endpoint:
        models = Models(HashingEmbedder(), llm=load_llm(endpoint.url, "m"), tally=Tally())
        assert_lossless(qchunker.chunk(document, method, config, models=models), config)


@METHODS
def test_a_key_that_is_refused_is_an_error_and_not_a_fallback(method: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(TEXTS["en"] * 9, encoding="utf-8")
    with ScriptedEndpoint(lambda _: status(401, "who are you")) as endpoint:
        done = run(str(tmp_path / "a.txt"), "--method", method, "-o", str(tmp_path / "out.jsonl"), *place(endpoint))
    assert isinstance(done.exception, ModelError)
    assert not (tmp_path / "out.jsonl").exists()


@pytest.mark.parametrize(("arguments", "message"), [
    *((["--method", method], "asks a language model") for method in LLM_METHODS),
    (["--method", "semantic", "--llm", "http://127.0.0.1:1/v1", "--llm-model", "m"], "only the method qchunker"),
    (["--method", "lumber", "--llm", "http://127.0.0.1:1/v1", "--llm-model", "m", "--rounds", "2"], "only the method qchunker"),
    (["--method", "moc", "--llm", "http://127.0.0.1:1/v1", "--llm-model", "m", "--window-chars", "900"], "only the method qchunker"),
    (["--method", "llm", "--llm", "http://127.0.0.1:1/v1", "--llm-model", "m", "--paths", "4"], "only the method qchunker"),
    (["--method", "lumber", "--refiner", "http://127.0.0.1:1/v1::m"], "asks a language model"),
    (["--method", "perplexity", "--lm", "none"], "needs a language model"), (["--method", "margin", "--lm", "none"], "needs a language model"),
    (["--method", "semantic", "--lm", "smollm2-135m"], "only the method qchunker"), (["--method", "sentence", "--no-complete"], "only the method"),
    (["--method", "lumber", "--llm", "http://127.0.0.1:1/v1", "--llm-model", "m", "--jobs", "2"], "one process"),
])  # fmt: skip
def test_options_that_do_nothing_are_refused(arguments: list[str], message: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("A text.", encoding="utf-8")
    done = run(str(tmp_path / "a.txt"), *arguments)
    assert isinstance(done.exception, ConfigError)
    assert message in str(done.exception)


def test_every_method_is_offered_and_an_unknown_one_names_them() -> None:
    offered = run("--help").output
    for method in ("qchunker", *CHUNKERS, *MODEL_CHUNKERS):
        assert method in offered
    with pytest.raises(ConfigError, match="perplexity, margin, lumber, moc, llm"):
        qchunker.chunk(from_text("A text."), "chapters")


def test_semantic_needs_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(TEXTS["en"] * 9 + TEXTS["zh"] * 9, encoding="utf-8")
    out = tmp_path / "out.jsonl"
    done = run(str(tmp_path / "a.txt"), "--method", "semantic", "--target-chars", "200", "-o", str(out), "--jobs", "1")
    assert done.exit_code == 0, done.output
    assert {json.loads(line)["method"] for line in out.read_text(encoding="utf-8").splitlines()} == {"semantic"}


@pytest.mark.model
def test_the_language_model_can_be_named(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(TEXTS["en"], encoding="utf-8")
    out = tmp_path / "out.jsonl"
    done = run(str(tmp_path / "a.txt"), "--method", "perplexity", "--lm", "smollm2-135m:f32", "--target-chars", "60",
               "--overlap", "0", "-o", str(out))  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "+f32 threshold=0" in out.read_text(encoding="utf-8")
