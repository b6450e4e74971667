"""An index survives a kill of the process that brings it up to date, at any instant, and two writers at once."""

from __future__ import annotations

import time
from pathlib import Path

from forked import Forked, Wait
from qchunker import Index, SearchConfig
from qchunker.models.fake import HashingEmbedder

N_KILLS = 20
ALL = SearchConfig(duplicate_cosine=1)


def write(folder: Path, generation: int) -> None:
    folder.mkdir(exist_ok=True)
    for number in range(12):
        (folder / f"{number}.txt").write_text(f"Valve {number} was set in round {generation}.\n", "utf-8")


def rounds(place: Path) -> set[str]:
    with opened(place) as index:
        return {hit.text.split("round ")[1].strip(". \n") for hit in index.search("valve round", 100, config=ALL)}


def opened(place: Path) -> Index:
    return Index.open(place, embedder=HashingEmbedder())  # with vectors at once, most instants are those of the store


def sync(wait: Wait, place: Path, folder: Path) -> None:
    with opened(place) as index:
        wait()
        index.sync(folder)


def test_a_killed_sync_leaves_the_old_or_the_new_state(tmp_path: Path) -> None:
    place, folder = tmp_path / "index", tmp_path / "docs"
    write(folder, 0)
    process = Forked(sync, place, folder)
    process.go()
    began = time.monotonic()
    process.done()
    whole = time.monotonic() - began
    assert process.end() == 0
    seen = {"old": 0, "new": 0}
    for step in range(N_KILLS + 2):  # the first before it begins, the last when it is done
        old = rounds(place)
        assert len(old) == 1
        write(folder, step + 1)
        process = Forked(sync, place, folder)
        if step:
            process.go()
            time.sleep(whole * (step - 1) / 16)
        if step == N_KILLS + 1:
            process.done()
        process.kill()
        now = rounds(place)
        assert now in (old, {str(step + 1)}), f"a mixture: {now}"
        seen["new" if now == {str(step + 1)} else "old"] += 1
    assert min(seen.values()) > 0, seen
    with opened(place) as index:
        index.sync(folder)
    assert rounds(place) == {str(N_KILLS + 2)}


def test_readers_go_on_while_another_process_writes(tmp_path: Path) -> None:
    place, folder = tmp_path / "index", tmp_path / "docs"
    write(folder, 0)
    with opened(place) as index:
        index.sync(folder)
        write(folder, 1)
        first, second = Forked(sync, place, folder), Forked(sync, place, folder)
        first.go()
        second.go()
        while not (first.is_over() and second.is_over()):
            found = {hit.text.split("round ")[1].strip(". \n") for hit in index.search("valve", 100, config=ALL)}
            assert found in ({"0"}, {"1"})
        assert (first.end(), second.end()) == (0, 0)  # one waited for the other
    assert rounds(place) == {"1"}
