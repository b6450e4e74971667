# Two commands, each complete on a fresh machine with git, make and Python >= 3.11:
#   make demo    chunk the example documents, show the result, search and ask
#   make test    run every check
# Everything is installed into .venv in this folder.

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt
export QCHUNKER_CACHE := $(CURDIR)/.venv/qchunker-cache

.PHONY: demo test lint clean

demo: .venv/smollm2-135m
	$(BIN)/qchunker chunk examples -o demo-output/chunks.jsonl --documents demo-output/documents.jsonl
	$(BIN)/qchunker lint examples
	$(BIN)/qchunker view demo-output/chunks.jsonl --documents demo-output/documents.jsonl --limit 2
	@echo "a chunk before and after completion:"
	@$(BIN)/python scripts/show_completion.py demo-output/chunks.jsonl
	$(BIN)/qchunker score demo-output/chunks.jsonl --documents demo-output/documents.jsonl --draws 0 -o demo-output/scores.jsonl
	$(BIN)/qchunker view demo-output/chunks.jsonl --documents demo-output/documents.jsonl --scores demo-output/scores.jsonl -o demo-output/chunks.html
	$(BIN)/qchunker index examples --store demo-output/index
	$(BIN)/qchunker search "repair of a defect in the Warranty Period" --store demo-output/index -k 1
	$(BIN)/qchunker ask "KL-20 的闪点是多少？" --store demo-output/index
	@echo "open demo-output/chunks.html in a browser to see every cut, why it is there, and how it scores"

test: .venv/tested .venv/smollm2-135m .venv/gemma3-270m lint
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

lint: .venv/tested
	$(BIN)/ruff check src tests benchmarks scripts
	$(BIN)/ruff format --check src tests benchmarks scripts
	$(BIN)/mypy
	$(BIN)/lint-imports

.venv/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(PIP) -e '.[lm,index]'
	@touch $@

.venv/tested: .venv/installed requirements-dev.txt
	$(PIP) -r requirements-dev.txt
	@touch $@

.venv/smollm2-135m: .venv/installed
	$(BIN)/qchunker models fetch smollm2-135m
	@touch $@

.venv/gemma3-270m: .venv/tested
	$(BIN)/qchunker models fetch gemma3-270m
	@touch $@

clean:
	rm -rf .venv demo-output .mypy_cache .pytest_cache .ruff_cache .hypothesis
