"""Classifiers of document and chunk: a real BERT, tiny and trained here, read through the code that reads any."""

from __future__ import annotations

import json
import random
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import qchunker
from qchunker import ChunkingConfig, Models
from qchunker.errors import ConfigError, MissingExtraError, ModelError
from qchunker.models.fake import HashingEmbedder
from qchunker.models.llm import Tally
from qchunker.models.sequence_classifier import Pair, PairClassifier, SequenceClassifier, load_classifier

WORDS = "the pump oil valve water is are cleaned dry wet it they stored weekly daily in a of kl 20 . , [ ] # 泵 应 每 月 清 洗 它 该".split()
NAMES = [word for word in WORDS if word not in ("it", "they", ".", ",", "[", "]", "#", "它", "该")]
WINDOW = 64


@pytest.fixture(scope="module")
def torch() -> Iterator[Any]:
    found = pytest.importorskip("torch")
    pytest.importorskip("transformers")
    threads = found.get_num_threads()
    found.set_num_threads(1)
    yield found
    found.set_num_threads(threads)


def sentence(rng: random.Random, *, lacks: bool) -> str:
    words = [rng.choice(NAMES) for _ in range(rng.randint(2, 6))]
    if lacks:
        words.insert(rng.randrange(len(words) + 1), rng.choice(["it", "they", "它", "该"]))
    return " ".join([*rng.choice([[], ["#"]]), *words, *rng.choice([[], ["."]])])


def around(rng: random.Random, chunk: str) -> str:
    sentences = [sentence(rng, lacks=rng.random() < 0.5) for _ in range(rng.randrange(5))]
    return " ".join([*sentences, chunk])[-200:]


@pytest.fixture(scope="module")
def folder(torch: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that knows one thing: a chunk with a pronoun lacks something, whatever the document says."""
    import transformers

    made = tmp_path_factory.mktemp("model") / "tiny-bert"
    made.mkdir()
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
    (made / "vocab.txt").write_text("\n".join(tokens), "utf-8")
    tokenizer = transformers.BertTokenizerFast(vocab=str(made / "vocab.txt"), model_max_length=WINDOW)
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(tokens), hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64,
        max_position_embeddings=WINDOW, num_labels=2, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
    )  # fmt: skip
    model = transformers.BertForSequenceClassification(config).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    rng = random.Random(0)
    for step in range(400):
        optimizer.param_groups[0]["lr"] = 5e-3 * (1 - step / 400)
        labels = [rng.randrange(2) for _ in range(32)]
        chunks = [sentence(rng, lacks=label == 1) for label in labels]
        documents = [around(rng, chunk) for chunk in chunks]
        loss = model(
            **tokenizer(documents, chunks, padding=True, return_tensors="pt"), labels=torch.tensor(labels)
        ).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.05
    model.eval().save_pretrained(made)
    tokenizer.save_pretrained(made)
    return made


@pytest.fixture(scope="module")
def classifier(folder: Path) -> SequenceClassifier:
    return load_classifier(f"classifier:{folder}")


def pair(chunk: str, before: str = "", after: str = "") -> Pair:
    return Pair(before, chunk, after, chunk)


def test_each_pair_is_judged_in_order_whatever_stands_in_its_batch(classifier: SequenceClassifier) -> None:
    rng = random.Random(1)
    wanted = [rng.randrange(2) == 1 for _ in range(60)]
    pairs = [pair(sentence(rng, lacks=lacks), "the pump " * rng.randrange(8), "it is") for lacks in wanted]
    found = classifier.lacking(pairs)
    assert sum(one is want for one, want in zip(found, wanted, strict=True)) >= 57
    assert found == [classifier.lacking([one])[0] for one in pairs]
    assert classifier.lacking([]) == []
    assert isinstance(classifier, PairClassifier)


def test_a_long_document_is_read_around_the_chunk(classifier: SequenceClassifier) -> None:
    before, after = "the pump is cleaned weekly . " * 200, "the valve is dry . " * 200
    texts = classifier.fitted(Pair(before, "oil it daily ", after, "oil it daily "))
    assert texts is not None
    text, chunk = texts
    assert chunk == "oil it daily "
    assert chunk in text
    assert text in before + chunk + after
    start = text.index(chunk)
    assert 40 < start < 200
    assert 40 < len(text) - start - len(chunk) < 200
    n_tokens = len(classifier._tokenizer(text, chunk)["input_ids"])
    assert WINDOW - 4 <= n_tokens <= WINDOW
    assert classifier.lacking([Pair(before, "oil it daily ", after, "oil it daily ")]) == [True]


@pytest.mark.parametrize("side", ["before", "after"])
def test_room_that_one_side_does_not_need_goes_to_the_other(classifier: SequenceClassifier, side: str) -> None:
    long = "water is wet . " * 100
    texts = classifier.fitted(Pair(**{"before": "", "after": "", side: long}, inside="the oil ", chunk="the oil "))  # type: ignore[arg-type]
    assert texts is not None
    assert len(classifier._tokenizer(*texts)["input_ids"]) >= WINDOW - 2
    assert texts[0].startswith("the oil") is (side == "after")


def test_a_chunk_that_is_longer_than_the_model_reads_is_not_judged(classifier: SequenceClassifier) -> None:
    long = "it is dry . " * 60
    assert classifier.lacking([pair("it is dry"), pair(long), pair("the pump")]) == [True, None, False]


def test_special_tokens_of_a_document_are_text(classifier: SequenceClassifier) -> None:
    texts = ("the pump [SEP] it [CLS]", "the oil [SEP] [PAD]")
    ids = classifier._encoded([texts])["input_ids"][0]
    special = classifier._tokenizer
    assert ids.count(special.sep_token_id) == 2
    assert ids.count(special.cls_token_id) == 1
    assert special.pad_token_id not in ids


def test_the_label_of_incomplete_chunks_may_be_another(folder: Path, classifier: SequenceClassifier) -> None:
    other = load_classifier(f"classifier:{folder}", incomplete_label=0)
    pairs = [pair("it is dry"), pair("the pump is dry")]
    assert other.lacking(pairs) == [not one for one in classifier.lacking(pairs)]
    assert other.id != classifier.id
    assert "tiny-bert@" in classifier.id
    assert "label1+max64" in classifier.id
    assert load_classifier(f"classifier:{folder}", most_tokens=32).window == 32
    for label in (2, -1):
        with pytest.raises(ConfigError, match="2 classes"):
            load_classifier(f"classifier:{folder}", incomplete_label=label)


@pytest.mark.parametrize("where", ["classifier:", "http://h/v1", "nothing", "openvino:x"])
def test_other_places_are_refused(where: str) -> None:
    with pytest.raises(ConfigError, match="unknown place"):
        load_classifier(where)


def test_what_cannot_be_loaded_is_said(torch: Any, folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no such file"):
        load_classifier(f"classifier:{tmp_path / 'nowhere'}")
    with pytest.raises(ModelError, match="cannot be loaded"):
        load_classifier(f"classifier:{tmp_path}")
    with pytest.raises(ConfigError, match="no folder of an adapter"):
        load_classifier(f"classifier:{folder}", "base")


def test_a_model_without_a_trained_head_is_refused(folder: Path, tmp_path: Path) -> None:
    import transformers

    bare = tmp_path / "bare"
    shutil.copytree(folder, bare)
    transformers.BertModel.from_pretrained(str(folder)).save_pretrained(bare)
    with pytest.raises(ModelError, match="was not trained to classify"):
        load_classifier(f"classifier:{bare}")


def test_code_that_comes_with_a_model_is_not_run(folder: Path, tmp_path: Path) -> None:
    evil = tmp_path / "evil"
    shutil.copytree(folder, evil)
    config = json.loads((evil / "config.json").read_text("utf-8"))
    config |= {
        "model_type": "evil",
        "auto_map": {"AutoConfig": "code.Evil", "AutoModelForSequenceClassification": "code.Evil"},
    }
    (evil / "config.json").write_text(json.dumps(config), "utf-8")
    (evil / "code.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nclass Evil: pass\n", "utf-8")
    with pytest.raises(ModelError, match="cannot be loaded"):
        load_classifier(f"classifier:{evil}")
    assert not (tmp_path / "ran").exists()


def adapter(folder: Path, base: Path, **config: Any) -> Path:
    folder.mkdir()
    given = {"base_model_name_or_path": str(base), "task_type": "SEQ_CLS", "peft_type": "LORA", **config}
    (folder / "adapter_config.json").write_text(json.dumps(given), "utf-8")
    return folder


def test_an_adapter_without_peft_says_what_to_install(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "peft", None)
    with pytest.raises(MissingExtraError, match="pip install peft"):
        load_classifier(f"classifier:{adapter(tmp_path / 'lora', folder)}")


@pytest.mark.filterwarnings("ignore::FutureWarning")  # of the library, about itself
def test_an_adapter_changes_what_its_base_judges(folder: Path, classifier: SequenceClassifier, tmp_path: Path) -> None:
    peft = pytest.importorskip("peft")
    import transformers

    base = transformers.AutoModelForSequenceClassification.from_pretrained(str(folder))
    made = peft.get_peft_model(base, peft.LoraConfig(task_type="SEQ_CLS", r=2, target_modules=["query"]))
    head = made.base_model.model.classifier.modules_to_save["default"]
    head.weight.data.neg_()
    head.bias.data.neg_()
    made.save_pretrained(tmp_path / "lora")
    loaded = load_classifier(f"classifier:{tmp_path / 'lora'}", str(folder))
    pairs = [pair("it is dry"), pair("the pump is dry")]
    assert loaded.lacking(pairs) == [not one for one in classifier.lacking(pairs)]
    with pytest.raises(ModelError, match="CAUSAL_LM"):
        load_classifier(f"classifier:{adapter(tmp_path / 'other', folder, task_type='CAUSAL_LM')}")


def test_its_judgements_decide_what_is_completed(classifier: SequenceClassifier) -> None:
    text = "# KL 20\n\nThe pump is cleaned weekly.\n\nThe oil is stored dry.\n\nIt is cleaned daily.\n"
    document, tally = qchunker.from_text(text, "a.md"), Tally()
    models = Models(HashingEmbedder(), discriminator=classifier, tally=tally)
    partition = qchunker.chunk(document, config=ChunkingConfig(target_chars=30, min_chars=0), models=models)
    assert tally.counts["chunks judged incomplete"] == sum("It is" in chunk.text for chunk in partition.chunks) == 1
    assert all("It is" in chunk.text for chunk in partition.chunks if chunk.added)
    assert f"discriminator={classifier.id}" in partition.signature
