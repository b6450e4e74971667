"""Metrics of answers against the libraries that define them, called directly, and against values by hand."""

from __future__ import annotations

import json
import logging
import math
import os
import string
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
import sacrebleu
from nltk.translate.meteor_score import single_meteor_score
from rouge_score import rouge_scorer, tokenizers

from qchunker.bench.metrics import meteor as meteor_module
from qchunker.bench.metrics import packages
from qchunker.bench.metrics.answers import ANSWER_METRICS, best_over_references, exact_match, token_f1
from qchunker.bench.metrics.bleu import bleu, bleu_effective_order, bleu_without_penalty
from qchunker.bench.metrics.meteor import meteor
from qchunker.bench.metrics.rouge import rouge_l
from qchunker.bench.metrics.tokens import answer_tokens, normalized_text, normalized_tokens, tokenizer_signature
from qchunker.errors import ConfigError, MissingExtraError, ScoringError

jieba = packages.bench_package("jieba", "a test")

ROWS = [
    ("zh", "今天风很大", "今天风很大"),
    ("zh", "昨日无雨", "今天风很大"),
    ("zh", "储罐的工作压力为9 bar，不得超过12 bar。", "储罐的设计压力为12 bar，工作压力为9 bar。"),
    ("zh", "KL-20的闪点是61℃", "KL-20 的闪点是 61 ℃。"),
    ("zh", "上海市体育局发放了500万元体育消费券", "上海市体育局联合美团发放500万元体育消费券，分四期进行发放。"),
    ("zh", "分四期发放", "分四期进行发放"),
    ("zh", "是", "是"),
    ("zh", "不是", "是"),
    ("zh", "操作人员应佩戴防毒面具和橡胶手套。", "操作人员应佩戴橡胶手套和防毒面具。"),
    ("zh", "保修期为二十四个月", "卖方对设备的保修期为交付之日起二十四个月。"),
    ("zh", "风大大大大大大", "风很大"),
    ("zh", "《安全生产法》第三十六条", "根据《安全生产法》第三十六条，设备应当定期检测。"),
    ("zh", "The pump 泵 stops", "泵 The pump stops"),
    ("zh", "甲醇遇明火、高热能引起燃烧爆炸，与氧化剂接触发生化学反应。", "甲醇易燃，其蒸气与空气可形成爆炸性混合物，遇明火、高热能引起燃烧爆炸。"),
    ("zh", "陸特和漢斯雷頓開創了歐洲對梵語的學術研究", "歐洲"),
    ("zh", "，。！", "，。！"),
    ("zh", "答案：\n1. 断电\n2. 挂牌", "1. 断电 2. 挂牌 3. 验电"),
    ("en", "The cat sat on the mat.", "The cat sat on the mat."),
    ("en", "the cat sat on the mat", "The cat is sitting on the mat."),
    ("en", "A dog.", "The cat sat on the mat."),
    ("en", "The tank is rated for 12 bar and operated at 9 bar.", "The tank operates at 9 bar; it is rated for 12 bar."),
    ("en", "Yes", "Yes"),
    ("en", "yes", "Yes, within the Warranty Period."),
    ("en", "Wear gloves, goggles and a respirator.", "Wear a respirator, goggles, and gloves."),
    ("en", "pumps pumping pumped", "pump pump pump"),
    ("en", "The seller repairs defects free of charge for 24 months.", "Defects are repaired by the seller for 24 months."),
    ("en", "the the the the the", "the cat"),
    ("en", "!!! ???", "!!! ???"),
    ("en", "U.S. GDP grew 2.5% in 2023 (Q4).", "In Q4 of 2023, U.S. GDP grew by 2.5%."),
    ("en", "Methanol is toxic if swallowed, and it is highly flammable.", "Methanol is highly flammable and toxic if swallowed."),
    ("en", "naïve café", "naive cafe"),
    ("en", "It can't be stored at -5 °C — see § 4.", "It can't be stored at -5 °C."),
]  # fmt: skip
METRICS_ZH = [
    {"ref": "今天风很大", "hyp": "今天风很大", "bleu_effective_order": 1, "rouge_l": 1, "meteor": 1},
    {"ref": "今天风很大", "hyp": "昨日无雨", "bleu": 0, "bleu_effective_order": 0, "rouge_l": 0},
    {"ref": "压力 9 bar", "hyp": "压力 9 bar ", "bleu": 1, "rouge_l": 1},
    {"ref": "abc", "hyp": "", "bleu": 0, "rouge_l": 0, "meteor": 0},
]


class JiebaWords:
    def tokenize(self, text: str) -> list[str]:
        return list(jieba.cut(text))


@pytest.fixture(scope="module", autouse=True)
def _jieba_apart(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The library as others use it, with its cache where it disturbs nobody."""
    jieba.setLogLevel(logging.ERROR)
    jieba.dt.tmp_dir = str(tmp_path_factory.mktemp("jieba"))


def words(language: str, text: str) -> list[str]:
    if language == "zh":
        return list(jieba.cut(text))
    return str(sacrebleu.tokenizers.tokenizer_13a.Tokenizer13a()(text)).split()


@pytest.mark.parametrize(("language", "prediction", "reference"), ROWS)
def test_bleu_equals_sacrebleu(language: str, prediction: str, reference: str) -> None:
    if language == "en":
        tokenize, lines = "13a", (prediction, reference)
    else:
        # A space is a token too; a letter takes its place, for sacrebleu cuts at spaces.
        tokenize = "none"
        lines = tuple(
            " ".join(word if word.strip() else f"▁{ord(word)}" for word in jieba.cut(t))
            for t in (prediction, reference)
        )
    for effective, ours in ((False, bleu), (True, bleu_effective_order)):
        scorer = sacrebleu.BLEU(tokenize=tokenize, smooth_method="none", effective_order=effective, force=True)
        found = scorer.corpus_score([lines[0]], [[lines[1]]])
        assert ours(prediction, reference, language) == pytest.approx(found.score / 100, abs=1e-9)
        if not effective:
            wanted = found.score / 100 / found.bp if found.bp else 0
            assert bleu_without_penalty(prediction, reference, language) == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize(("language", "prediction", "reference"), ROWS)
def test_rouge_and_meteor_equal_their_libraries(language: str, prediction: str, reference: str) -> None:
    tokenizer = JiebaWords() if language == "zh" else tokenizers.DefaultTokenizer()
    scorer = rouge_scorer.RougeScorer(["rougeL"], tokenizer=tokenizer)
    wanted = scorer.score(reference, prediction)["rougeL"].fmeasure
    assert rouge_l(prediction, reference, language) == pytest.approx(wanted, abs=1e-9)
    expected, given = ([word for word in words(language, text) if word.strip()] for text in (reference, prediction))
    source = meteor_module._synonyms().source
    assert meteor(prediction, reference, language) == pytest.approx(
        single_meteor_score(expected, given, wordnet=source), abs=1e-9
    )


@pytest.mark.parametrize("language", ["zh", "en"])
def test_half_of_a_reference_has_the_penalty_of_its_length_alone(language: str) -> None:
    half = {"zh": "储罐设计压力为十二巴，", "en": "the tank is rated for twelve bar and"}[language]
    n = len(answer_tokens(half, language))
    rest = {"zh": "甲乙" * n, "en": " next" * n}[language]
    whole = half + rest
    while len(answer_tokens(whole, language)) > 2 * n:
        whole = whole[:-1]
    assert answer_tokens(whole, language)[:n] == answer_tokens(half, language)
    assert len(answer_tokens(whole, language)) == 2 * n
    assert bleu(half, whole, language) == pytest.approx(math.exp(-1), abs=1e-9)
    assert round(bleu(half, whole, language), 4) == 0.3679
    assert bleu_without_penalty(half, whole, language) == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize(("language", "answer"), [("zh", "今天风很大"), ("en", "twelve bar absolute")])
def test_three_tokens_have_no_bleu_unless_the_order_is_theirs(language: str, answer: str) -> None:
    assert len(answer_tokens(answer, language)) == 3
    assert bleu(answer, answer, language) == bleu_without_penalty(answer, answer, language) == 0
    assert bleu_effective_order(answer, answer, language) == 1


@pytest.mark.parametrize("row", METRICS_ZH)
def test_reported_failures_on_chinese(row: dict[str, Any]) -> None:
    for metric, wanted in row.items():
        if metric in ANSWER_METRICS:
            tolerance = 0.02 if metric == "meteor" else 1e-12
            assert ANSWER_METRICS[metric].score(row["hyp"], row["ref"], "zh") == pytest.approx(wanted, abs=tolerance)


def test_the_rows_are_those_of_the_reports() -> None:
    shared = os.environ.get("QCHUNKER_BENCH", str(Path(__file__).parents[3] / "shared" / "bench"))
    rows = Path(shared).parent / "cases" / "metrics_zh.json"
    if not rows.is_file():
        pytest.skip(f"no {rows}")
    given = json.loads(rows.read_text(encoding="utf-8"))
    assert [(row["ref"], row["hyp"]) for row in given] == [(row["ref"], row["hyp"]) for row in METRICS_ZH]


@pytest.mark.parametrize("metric", ANSWER_METRICS)
@pytest.mark.parametrize(
    ("language", "reference"), [("zh", "储罐压力为九巴，见表二"), ("en", "The tank runs at 9 bar.")]
)
def test_degenerate_answers(metric: str, language: str, reference: str) -> None:
    score = ANSWER_METRICS[metric].score
    for blank in ("", " ", "\n\t", "　"):
        assert score(blank, reference, language) == 0
        with pytest.raises(ScoringError):
            score(reference, blank, language)
    whole = score(reference, reference, language)
    assert whole == 1 or (metric == "meteor" and 0.99 < whole < 1)
    for changed in (reference + " ", reference + "\n\n", "  " + reference, reference + "　"):
        assert score(changed, reference, language) == score(reference, changed, language) == whole
    assert 0 <= score("\ud800" + reference, reference, language) <= 1
    with pytest.raises(ConfigError):
        score(reference, reference, "fr")
    with pytest.raises(ConfigError):
        ANSWER_METRICS[metric].signature("fr")


@pytest.mark.parametrize(("language", "word"), [("zh", "是"), ("en", "Yes")])
def test_one_token(language: str, word: str) -> None:
    found = {name: metric.score(word, word, language) for name, metric in ANSWER_METRICS.items()}
    assert found == {"bleu": 0, "bleu_without_penalty": 0, "bleu_effective_order": 1, "rouge_l": 1, "meteor": 0.5,
                     "token_f1": 1, "exact_match": 1}  # fmt: skip


@pytest.mark.parametrize("length", range(1, 13))
@pytest.mark.parametrize("language", ["zh", "en"])
def test_equal_texts_score_as_defined_at_any_length(language: str, length: int) -> None:
    sentence = {
        "zh": "储罐的设计压力是九巴，并且每年应当检测一次，见表二",
        "en": "the tank is rated for nine bar and must be checked each year in May",
    }
    cut = answer_tokens(sentence[language], language)
    assert len(cut) >= 12
    text = ("" if language == "zh" else " ").join(cut[:length])
    m = len(answer_tokens(text, language))
    assert bleu(text, text, language) == (1 if m >= 4 else 0)
    assert bleu_effective_order(text, text, language) == rouge_l(text, text, language) == 1
    assert meteor(text, text, language) == pytest.approx(1 - 0.5 / m**3)


def test_stems_match_and_the_signature_says_which_stages_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    assert meteor("pumps pumping pumped", "pump pump pump", "en") > 0.9
    monkeypatch.setattr(meteor_module, "_synonyms", lambda: meteor_module._Synonyms(Synonyms(), "exact+stem+test"))
    assert meteor("tank", "vessel", "en") == 0.5
    assert "stages:exact+stem+test|" in ANSWER_METRICS["meteor"].signature("en")


class Synonyms:
    """A WordNet of one entry."""

    def synsets(self, word: str) -> list[Any]:
        return [self] if word == "tank" else []

    def lemmas(self) -> list[Any]:
        return [self]

    def name(self) -> str:
        return "vessel"


@pytest.mark.parametrize(
    ("language", "prediction", "reference", "f1", "exact"),
    [
        ("zh", "设计压力，12巴！", "设计压力12巴", 1, 1),
        ("zh", "《安全生产法》", "安全生产法", 1, 1),
        ("zh", "ＰＨ值 7", "ＰＨ值7", 1, 1),
        ("zh", "压力", "温度", 0, 0),
        ("zh", "！", "？", 0, 0),
        ("zh", "！", "！", 1, 1),
        ("en", "The 24 months.", "24 months", 1, 1),
        ("en", "twenty-four months", "24 months", 0.5, 0),
        ("en", "months months", "24 months", 0.5, 0),
        ("en", "a b", "A, the B!", 1, 1),
        ("en", "$5", "5", 1, 1),
    ],
)
def test_f1_and_exact_match_by_hand(language: str, prediction: str, reference: str, f1: float, exact: float) -> None:
    assert token_f1(prediction, reference, language) == pytest.approx(f1)
    assert exact_match(prediction, reference, language) == exact


def test_the_best_of_several_references_counts() -> None:
    assert best_over_references("exact_match", "九巴", ["12巴", "九巴。"], "zh") == 1
    assert best_over_references("token_f1", "nine bar", ["12 bar", "nine"], "en") == pytest.approx(2 / 3)
    with pytest.raises(ScoringError):
        best_over_references("bleu", "九巴", [], "zh")
    with pytest.raises(ScoringError):
        best_over_references("bleu", "九巴", ["九巴", " "], "zh")
    with pytest.raises(ConfigError):
        best_over_references("blue", "九巴", ["九巴"], "zh")


def test_normalised_tokens_are_free_of_signs() -> None:
    assert normalized_tokens("《安全生产法》，第 36 条！", "zh") == [*jieba.cut("安全生产法"), "第", "36", "条"]
    assert normalized_tokens("The U.S. isn't a tank", "en") == ["us", "isnt", "tank"]
    assert normalized_text(string.punctuation + "，。《》—…", "zh") == ""


def test_every_signature_names_metric_tokenizer_and_versions() -> None:
    for language in ("zh", "en"):
        for name, metric in ANSWER_METRICS.items():
            signature = metric.signature(language)
            assert signature.startswith(f"{name}|")
            assert len({metric.signature("zh"), metric.signature("en")}) == 2
        assert "smooth:none" in ANSWER_METRICS["bleu"].signature(language)
        assert sacrebleu.__version__ in ANSWER_METRICS["bleu"].signature(language)
        assert tokenizer_signature(language) in ANSWER_METRICS["bleu"].signature(language)
    assert tokenizer_signature("zh") == f"jieba-{jieba.__version__}"


def test_words_that_a_program_adds_to_jieba_change_no_score() -> None:
    before = answer_tokens("今天风很大", "zh")
    jieba.add_word("风很大")
    try:
        assert list(jieba.cut("今天风很大")) != before
        assert answer_tokens("今天风很大", "zh") == before
    finally:
        jieba.del_word("风很大")


def test_cutting_chinese_is_quiet_leaves_no_file_and_is_imported_late(tmp_path: Path) -> None:
    program = (
        "import sys; import qchunker.bench.metrics.answers as a; late = 'jieba' not in sys.modules;"
        "print(late, a.exact_match('是', '是', 'zh'), a.rouge_l('今天风很大', '今天风很大', 'zh'))"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path), "TEMP": str(tmp_path), "TMP": str(tmp_path)}
    assert tempfile.gettempdir() != str(tmp_path)
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "1.0", "1.0"]
    assert not done.stderr
    assert not list(tmp_path.iterdir())


def test_a_missing_package_names_the_extra() -> None:
    with pytest.raises(MissingExtraError) as raised:
        packages.bench_package("qchunker_no_such_package", "a test")
    assert raised.value.package == "qchunker[bench]"
