"""Prints one completed chunk of each language, before and after: ``python scripts/show_completion.py CHUNKS.jsonl``."""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main() -> None:
    rows = [json.loads(line) for line in Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()]
    for language in (".en.", ".zh."):
        found = [row for row in rows if language in row["source"] and row["added"]]
        if not found:
            continue
        row = max(found, key=lambda row: (len({item["kind"] for item in row["added"]}), -len(row["text"])))
        print(f"\n=== {row['source']}, {row['question']}")
        print(f"--- before\n{row['text']}\n--- after\n{row['completed_text']}\n--- why")
        for item in row["added"]:
            print(f"{item['kind'].replace('_', ' ')}: the document says it at {item['evidence']}")


if __name__ == "__main__":
    main()
