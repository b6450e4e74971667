"""Odd input to scoring is scored, or refused in one line with what to do; nothing is overwritten."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import qchunker
from qchunker import Models, ScoringConfig
from qchunker.cli import cli
from qchunker.errors import ConfigError, InputError, QChunkerError
from qchunker.models.fake import HashingEmbedder, UnigramLM
from qchunker.models.load import load_embedder, load_models
from qchunker.partitions import documents_of, made_of
from qchunker.types import Span

TEXT = "Oil the pump weekly. Use mineral oil only. 每周加油。不得混用。 Start it slowly."
SPANS = [(0, 20), (21, 42), (43, 53), (54, len(TEXT))]
MODELS = Models(HashingEmbedder(), UnigramLM())
CONFIG = ScoringConfig(draws=4)


def score(spans: Any) -> qchunker.ChunkScore:
    return qchunker.score(qchunker.from_text(TEXT), spans, MODELS, CONFIG)


@pytest.mark.parametrize("spans", [
    tuple(SPANS), (pair for pair in SPANS), np.array(SPANS), [[np.int32(a), np.int64(b)] for a, b in SPANS],
], ids=["tuple", "generator", "array", "numpy numbers"])  # fmt: skip
def test_spans_of_any_kind_of_whole_numbers_are_scored(spans: Any) -> None:
    assert score(spans).value == score(SPANS).value


@pytest.mark.parametrize("spans", [None, [0, 20], "abc", [(0.0, 20.0)], [(0, 20, 30)], [{"start": 0, "end": 9}], 7])
def test_what_is_no_list_of_pairs_is_refused(spans: Any) -> None:
    with pytest.raises(InputError):
        score(spans)


def test_partitions_may_come_from_a_generator_and_must_be_several() -> None:
    document = qchunker.from_text(TEXT)
    assert len(qchunker.score_all(document, (SPANS for _ in range(2)), MODELS, CONFIG)) == 2  # type: ignore[arg-type]
    with pytest.raises(InputError, match="score"):
        qchunker.score_all(document, qchunker.chunk(document), MODELS, CONFIG)  # type: ignore[arg-type]


def test_unsorted_spans_are_called_unsorted() -> None:
    assert "not sorted" in (score(SPANS[::-1]).reason or "")


@pytest.mark.parametrize("wrong", [
    {"li_weight": "0.3"}, {"li_weight": None}, {"draws": 2.5}, {"draws": "8"}, {"draws": True}, {"seed": 1.5},
    {"seed": None}, {"li_sample": 9.5}, {"draws": 10**9}, {"ridge": "1"}, {"draws": float("nan")},
])  # fmt: skip
def test_settings_of_a_wrong_type_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        ScoringConfig(**wrong)


def test_no_language_model_can_be_said_in_two_ways() -> None:
    assert load_models(lm=None).lm is load_models(lm="none").lm is None


@pytest.mark.parametrize("doc_id", ["", "a\ud800"])
def test_ids_that_cannot_be_written_are_refused(doc_id: str) -> None:
    with pytest.raises(InputError, match="doc_id"):
        documents_of([{"doc_id": doc_id, "text": TEXT}])


@pytest.mark.parametrize("key", ["clé", "a\nb"])
def test_keys_that_no_server_takes_are_refused_and_not_shown(key: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_embedder("openai:e@http://127.0.0.1:9/v1", api_key=key)
    assert key not in str(caught.value)


def test_a_hash_knows_the_text_and_the_cuts_but_not_white_space() -> None:
    spans = [Span(*pair) for pair in SPANS]
    assert made_of(TEXT, spans) == made_of(TEXT, [Span(0, 21), *spans[1:]])
    assert made_of(TEXT, spans) == made_of(TEXT, spans[::-1])
    assert made_of(TEXT, spans) != made_of(TEXT, [Span(0, 42), *spans[2:]])
    assert made_of(TEXT, spans) != made_of(TEXT.replace("weekly", "yearly"), spans)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.jsonl").write_text(json.dumps({"doc_id": "a", "text": TEXT}) + "\n", encoding="utf-8")
    rows = [json.dumps({"doc_id": "a", "start": start, "end": end}) + "\n" for start, end in SPANS]
    (tmp_path / "c.jsonl").write_text("".join(rows), encoding="utf-8")
    return tmp_path


def run(*arguments: str) -> Any:
    return CliRunner().invoke(cli, [*arguments, "--documents", "d.jsonl"])


@pytest.mark.parametrize("output", ["c.jsonl", "d.jsonl"])
def test_inputs_are_not_overwritten(folder: Path, output: str) -> None:
    before = (folder / output).read_bytes()
    assert isinstance(run("score", "c.jsonl", "--lm", "none", "-o", output).exception, ConfigError)
    assert (folder / output).read_bytes() == before


def test_numbers_too_long_to_read_are_an_error_of_ours(folder: Path) -> None:
    (folder / "c.jsonl").write_text('{"doc_id": "a", "start": 0, "end": ' + "9" * 5000 + "}\n", encoding="utf-8")
    assert isinstance(run("score", "c.jsonl", "--lm", "none").exception, QChunkerError)


def test_scores_of_another_text_are_refused_by_the_view(folder: Path) -> None:
    assert run("score", "c.jsonl", "--lm", "none", "--draws", "0", "-o", "s.jsonl").exit_code == 0
    assert run("view", "c.jsonl", "--scores", "s.jsonl", "-o", "v.html").exit_code == 0
    other = json.dumps({"doc_id": "a", "text": TEXT.replace("weekly", "yearly")}) + "\n"
    (folder / "d.jsonl").write_text(other, encoding="utf-8")
    assert isinstance(run("view", "c.jsonl", "--scores", "s.jsonl", "-o", "v.html").exception, InputError)
    (folder / "s.jsonl").write_text(json.dumps({"doc_id": "b", "n_chunks": 4}) + "\n", encoding="utf-8")
    assert isinstance(run("view", "c.jsonl", "--scores", "s.jsonl", "-o", "v.html").exception, InputError)
