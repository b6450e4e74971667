"""The page of results, docs/results.md, with its numbers: every spec is run, then the study of direct scores.

    python benchmarks/results.py [--run-dir FOLDER]

Data is looked for where the specs say. The same command goes on where it was stopped. The summaries of the runs are
filed as benchmarks/results/COMMIT-SIGNATURE.json. The verdict at the top of the page is benchmarks/verdict.md.
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import Any

from qchunker.bench.document import as_markdown
from qchunker.bench.report import sections_of
from qchunker.bench.run import name_of, run, write_json
from qchunker.bench.spec import read_spec
from qchunker.bench.study.report import study_sections
from qchunker.bench.study.run import StudyConfig, study
from qchunker.bench.tables import Results, lengths_of, rows_of
from qchunker.cli.bench import revision, spec_models
from qchunker.models.load import Models, load_models

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "results.md"
METRICS = ("precision_omega", "mrr", "whole")


STUDIES = (
    (("chroma", "drcd", "crud"), "none", StudyConfig(sections=6, section_chars=1500, draws=16, li_sample=8)),
    (("chroma-lm", "drcd-lm"), "smollm2-135m", StudyConfig(
        sections=4, section_chars=1500, within_sections=12, lm_partitions=(4, 8), draws=16, li_sample=8)),
)  # fmt: skip
"""Sets, the language model that reads them, and how much of them."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run-dir", type=Path, default=HERE / "results" / "run")
    run_dir = parser.parse_args().run_dir
    specs = {name: read_spec(HERE / "specs" / f"{name}.toml") for names, _, _ in STUDIES for name in names}
    found = {name: run(spec, run_dir, spec_models(spec), _tell) for name, spec in specs.items()}
    for results in found.values():
        write_json(HERE / "results" / f"{revision()}-{name_of(results)}.json", summary_of(results))
    sections = sections_of(list(found.values()), METRICS, with_plots=False)
    for names, lm, config in STUDIES:
        runs = [(specs[name], found[name]) for name in names]
        models = partial(_models, lm)
        sections += study_sections(study(runs, models, config, run_dir, _tell), with_plots=False)
    page = as_markdown("Results", sections)
    verdict = (HERE / "verdict.md").read_text(encoding="utf-8")
    PAGE.write_text(page.replace("# Results\n", f"# Results\n\n{verdict.strip()}\n", 1), encoding="utf-8")


def _models(lm: str, text: str) -> Models:
    return load_models(lm=lm, text=text)


def summary_of(results: Results) -> dict[str, Any]:
    """Everything that the report shows, without the values of single questions."""
    rows = [
        row._replace(value=row.value._asdict(), against=row.against and row.against._asdict())._asdict()  # type: ignore[arg-type]
        for row in rows_of(results, results["metrics"])
    ]
    kept = {name: results[name] for name in ("version", "signature", "spec", "set", "metrics")}
    return kept | {"lengths": [one._asdict() for one in lengths_of(results)], "rows": rows}


def _tell(what: str, done: int, total: int) -> None:
    print(f"{done}/{total} {what}", flush=True)


if __name__ == "__main__":
    main()
