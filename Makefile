# Two commands, each complete on a fresh machine with git, make and Python >= 3.11:
#   make demo    chunk the example documents and show the result
#   make test    run every check
# Everything is installed into .venv in this folder.

PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test lint clean

demo: .venv/installed
	$(BIN)/qchunker chunk examples -o demo-output/chunks.jsonl --documents demo-output/documents.jsonl
	$(BIN)/qchunker lint examples
	$(BIN)/qchunker view demo-output/chunks.jsonl --documents demo-output/documents.jsonl --limit 2
	$(BIN)/qchunker view demo-output/chunks.jsonl --documents demo-output/documents.jsonl -o demo-output/chunks.html
	@echo "open demo-output/chunks.html in a browser to see every cut and why it is there"

test: .venv/tested lint
	$(BIN)/python -m pytest

lint: .venv/tested
	$(BIN)/ruff check src tests benchmarks scripts
	$(BIN)/ruff format --check src tests benchmarks scripts
	$(BIN)/mypy
	$(BIN)/lint-imports

.venv/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	@touch $@

.venv/tested: .venv/installed requirements-dev.txt
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -r requirements-dev.txt
	@touch $@

clean:
	rm -rf .venv demo-output .mypy_cache .pytest_cache .ruff_cache .hypothesis
