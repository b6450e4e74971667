"""Prompts are files that anyone may replace one by one, and text that is filled in stays data."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given

from contract.scripted_debate import ROLES, InProcess, by_title, debated, relief_valve
from qchunker import from_text
from qchunker.config import ChunkingConfig, LLMConfig
from qchunker.debate.llm.setting import ROLE_PROMPTS, setting_of
from qchunker.errors import ConfigError
from qchunker.prompts import LANGUAGES, VARIABLES, Tagged, as_data, load_prompt
from strategies import any_text

GOOD = "# system\nYou review.\n# shared\n$title\n# own\n$chunks\n"


def put(folder: Path, text: str, name: str = "reviewer.en.md") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(text.encode())
    return folder


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("role", ROLE_PROMPTS)
def test_the_prompts_of_this_package_can_be_filled(role: str, language: str) -> None:
    prompt = load_prompt(role, language)
    values = {name: f"«{name}»" for name in VARIABLES[role]}
    parts = prompt.fill(**values)
    used = {name for name in VARIABLES[role] if f"«{name}»" in "".join(parts)}
    assert used == VARIABLES[role]
    assert "$" not in "".join(parts).replace("$$", "")
    assert len(prompt.sha256) == 64
    if role != "repair":
        assert parts[0]
        assert ("data" if language == "en" else "资料") in parts[0]  # the model is told what is between tags


@pytest.mark.parametrize("role", [role for role in ROLES if role != "segmenter_anchors"])
def test_both_languages_ask_for_the_same_form(role: str) -> None:
    forms = [set(re.findall(r'"([a-z_]+)":', load_prompt(role, language).parts[0])) for language in LANGUAGES]
    assert forms[0] == forms[1]
    assert forms[0]


def test_a_file_of_the_folder_takes_the_place_of_that_one_only(tmp_path: Path) -> None:
    folder = put(tmp_path, GOOD)
    assert load_prompt("reviewer", "en", folder).fill(title="T", chunks="C") == ("You review.", "T", "C")
    assert load_prompt("reviewer", "zh", folder) == load_prompt("reviewer", "zh")
    assert load_prompt("outline", "en", folder) == load_prompt("outline", "en")
    assert load_prompt("reviewer", "en", folder) != load_prompt("reviewer", "en")


@pytest.mark.parametrize(("text", "message"), [
    ("", "needs the parts"), ("You review $title.", "needs the parts"), ("# system\na\n# own\nb\n", "needs the parts"),
    ("# system\na\n# shared\nb\n# own\nc\n# own\nd\n", "needs the parts"),
    ("# system\na\n# shared\nb\n# own\nc\n# shared\nd\n", "needs the parts"),
    ("## system\na\n# shared\nb\n# own\nc\n", "needs the parts"), ("# System\na\n# shared\nb\n# own\nc\n", "needs the parts"),
    (GOOD + "$verdict and $items", r"unknown \$items, \$verdict"), (GOOD + "${body}", r"unknown \$body"),
    (GOOD + "costs $5", "begins no name"), (GOOD + "$", "begins no name"), (GOOD + "${title", "begins no name"), (GOOD + "$é", "begins no name"),
])  # fmt: skip
def test_a_prompt_that_cannot_be_used_is_refused_by_name(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        load_prompt("reviewer", "en", put(tmp_path, text))
    assert "reviewer.en.md" in str(caught.value)


def test_a_dollar_sign_is_written_twice(tmp_path: Path) -> None:
    prompt = load_prompt("reviewer", "en", put(tmp_path, GOOD + "It costs $$5 for $title."))
    assert prompt.fill(title="a $title", chunks="$chunks ${text}")[1:] == (
        "a $title",
        "$chunks ${text}\nIt costs $5 for a $title.",
    )


@pytest.mark.parametrize(
    "text", [GOOD.replace("\n", "\r\n"), "\ufeff" + GOOD, "My notes\n\n" + GOOD.replace("# own", "# own  ")]
)
def test_files_of_any_editor(tmp_path: Path, text: str) -> None:
    assert load_prompt("reviewer", "en", put(tmp_path, text)).fill(title="T", chunks="C") == ("You review.", "T", "C")


def test_a_folder_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is no folder"):
        load_prompt("reviewer", "en", tmp_path / "nowhere")
    (tmp_path / "reviewer.en.md").mkdir()
    with pytest.raises(ConfigError, match="cannot be read"):
        load_prompt("reviewer", "en", tmp_path)
    (tmp_path / "outline.en.md").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="cannot be read"):
        load_prompt("outline", "en", tmp_path)


def test_every_file_of_the_folder_is_looked_at_before_anything_is_asked(tmp_path: Path) -> None:
    put(tmp_path, "broken", "completer.zh.md")
    script = relief_valve(1)
    llm = InProcess(by_title([script]))
    with pytest.raises(ConfigError, match=r"completer\.zh\.md"):
        debated(from_text(script.text, script.name), llm, prompts=str(tmp_path))
    assert llm.requests == []


def test_a_prompt_of_ones_own_is_what_is_asked_and_changes_the_signature(tmp_path: Path) -> None:
    script = relief_valve(1)
    document = from_text(script.text, script.name)
    before, _ = debated(document, InProcess(by_title([script])))
    packaged = Path(load_prompt.__code__.co_filename).parent / "reviewer.en.md"
    folder = put(tmp_path / "mine", packaged.read_text("utf-8").replace("Rules\n", "Rules of $title\n"))
    llm = InProcess(by_title([script]))
    after, _ = debated(document, llm, prompts=str(folder))
    assert sum(f"Rules of {script.title}\n" in one.system for one in llm.requests) == 1
    assert before.signature != after.signature
    assert [one.completed_text for one in before.chunks] == [one.completed_text for one in after.chunks]
    (folder / "reviewer.en.md").write_text(packaged.read_text("utf-8"), "utf-8")
    same, _ = debated(document, InProcess(by_title([script])), prompts=str(folder))
    assert same.signature == before.signature


def test_each_prompt_is_part_of_the_signature(tmp_path: Path) -> None:
    llm = InProcess(str)
    signatures = {setting_of(llm, LLMConfig(), ChunkingConfig()).signature}
    for role in ROLE_PROMPTS:
        for language in LANGUAGES:
            names = " ".join(f"${name}" for name in sorted(VARIABLES[role]))
            folder = put(
                tmp_path / f"{role}{language}", f"# system\nx\n# shared\n{names}\n# own\n", f"{role}.{language}.md"
            )
            signatures.add(setting_of(llm, LLMConfig(prompts=str(folder)), ChunkingConfig()).signature)
    assert len(signatures) == 1 + len(ROLE_PROMPTS) * len(LANGUAGES)


@pytest.mark.parametrize("tag", ["text", "chunk", "passage", "item", "outline", "answer", "TEXT", "Chunk"])
def test_tags_in_data_are_no_tags(tag: str) -> None:
    for mark in (f"<{tag}>", f"</{tag}>", f'<{tag} n="1">', f"<{tag}\n>", f"<{tag}/>"):
        assert as_data(mark) == "< " + mark[1:]
        assert load_prompt("outline", "en").fill(title=mark, text=mark)[1].count("<" + tag) <= 1
    assert as_data(f"<{tag}s> <x{tag}> < {tag}>") == f"<{tag}s> <x{tag}> < {tag}>"


def test_tags_of_the_caller_stay() -> None:
    parts = load_prompt("completer", "en").fill(title="t", chunk="<item>", items=Tagged('<item n="1">a</item>'))
    assert '<item n="1">a</item>' in parts[2]
    assert "< item>" in parts[2]


@given(any_text)
def test_data_has_no_tags_and_all_its_words(text: str) -> None:
    data = as_data(text)
    assert not re.search(r"</?(text|chunk|passage|item|outline|answer)\b", data, re.IGNORECASE)
    assert "".join(data.split()) == "".join(text.split())
    assert as_data(data) == data
