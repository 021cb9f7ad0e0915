# Two commands matter: `make book` and `make test`. Both set everything up first.
# PYTHON picks the interpreter (3.11 or newer); everything is installed in .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
NODE := tests/book/browser/node_modules/.package-lock.json
PORT ?= 8000
JOBS ?= 2

.DEFAULT_GOAL := help
.PHONY: help book test test-newest lint format lab serve bench reproduce lock clean

help:  ## Show this list
	@echo "mlbook: learning to cluster. Commands:"
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

book: $(READY)  ## Build the book into _build/html and say where to open it
	$(BIN)/python tools/build_book.py

test: lint book $(NODE)  ## Run every check: lint, types, library, notebooks, pages in a browser
	@echo "== library, tools and built pages; the unit tests alone must cover 95% of mlbook/"
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q tests mlbook --doctest-modules \
	    -n $(JOBS) --dist loadfile --cov=mlbook --cov-fail-under=95
	@echo "== notebooks; their coverage of mlbook/ is for information (nbval measures it in one process)"
	COVERAGE_FILE=.coverage.notebooks $(BIN)/python -m pytest -q book --nbval-lax --cov=mlbook \
	    --nbval-sanitize-with tests/sanitize.cfg --nbval-cell-timeout 300 \
	    -W ignore::coverage.exceptions.CoverageWarning

test-newest:  ## Run the library's tests on the newest numpy and scikit-learn
	PYTHON=$(PYTHON) sh tools/venv.sh .venv-newest --newest
	OMP_NUM_THREADS=1 .venv-newest/bin/python -m pytest tests -m "not book" -q -n $(JOBS) --dist loadfile

lint: $(READY)  ## Check style and types only
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy

format: $(READY)  ## Rewrite code and notebooks in the project's style
	$(BIN)/ruff check --fix . && $(BIN)/ruff format .

lab: $(READY)  ## Open JupyterLab on the notebooks (ARGS=--allow-root in a container)
	$(BIN)/jupyter lab --notebook-dir=book $(ARGS)

serve: book  ## Build the book and serve it on http://localhost:8000 (PORT=...)
	@echo "Open http://localhost:$(PORT) (Ctrl-C to stop)"
	@$(BIN)/python -m http.server $(PORT) --bind 127.0.0.1 --directory _build/html

bench: $(READY)  ## Run the benchmarks: ratios against a bare NumPy call in the same run
	$(BIN)/python -m benchmarks

reproduce: $(READY)  ## Rerun the papers' tables and figures
	$(BIN)/python book/reproduction run

lock: $(READY)  ## Bring requirements.lock and the list of licences up to date
	$(BIN)/python tools/lock.py
	@$(MAKE) --no-print-directory $(READY)
	$(BIN)/python tools/licences.py

clean:  ## Remove everything that was built, installed or cached
	rm -rf _build .venv .venv-newest .coverage* .pytest_cache .ruff_cache book/.ruff_cache
	rm -rf .mypy_cache .hypothesis build dist *.egg-info tests/book/browser/node_modules
	find . -name __pycache__ -prune -exec rm -rf {} +

$(READY): requirements.lock pyproject.toml tools/venv.sh data/packages.txt
	PYTHON=$(PYTHON) sh tools/venv.sh $(VENV)
	@touch $@

# axe-core, for the pages' accessibility tests: they are skipped (in CI: fail) without it.
$(NODE): tests/book/browser/package-lock.json
	@if command -v npm >/dev/null; then npm ci --prefix tests/book/browser && touch $@; \
	else echo "npm is not installed: the accessibility of the pages is not tested"; fi
