# Three commands, each enough on its own: `make book`, `make test` and `make check`. Each creates .venv if it is absent.
# Another Python: make book PYTHON=python3.12. More processes: make book WORKERS=8.

PYTHON ?= python3
WORKERS ?= 2
TORCH := torch==2.13.0
UV := uv==0.13.9
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet

.PHONY: help book lab bench paper test check lint types tests install constraints axe clean
.DEFAULT_GOAL := help

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' Makefile

book: $(INSTALLED)  ## install, run the quick study, build the book (warnings are errors), say where it lies
	$(BIN)/actlab run params/repro-quick.yaml --workers $(WORKERS)
	$(BIN)/actlab book --workers $(WORKERS)
	@echo "The book is built. Open it: file://$(CURDIR)/book/_build/html/index.html"

lab: $(INSTALLED)  ## install JupyterLab beside it, and open it on the live explorer, notebooks/explore.ipynb
	$(BIN)/uv pip install --quiet --python $(BIN)/python -c constraints.txt -e '.[lab]' || $(PIP) -c constraints.txt -e '.[lab]'
	$(BIN)/jupyter lab notebooks/explore.ipynb

bench: $(INSTALLED)  ## measure speed beside its peers: 20 minutes on an idle machine, a new record below results/performance
	$(BIN)/uv pip install --quiet --python $(BIN)/python -c constraints.txt -e '.[bench]' || $(PIP) -c constraints.txt -e '.[bench]'
	$(BIN)/python -m bench

paper: $(INSTALLED)  ## set the paper from the records: paper/_build/paper.pdf and supplement.pdf
	$(BIN)/actlab paper

test: lint types tests  ## install, then style, types and the quick tests: under 3 minutes

check: lint types $(INSTALLED)  ## everything: also the book where it is built, real processes and faults, all cells, fuzzing at length, browser, data: under 12 minutes
	$(PYTEST) --hypothesis-profile many

lint: $(INSTALLED)  ## style only
	$(BIN)/ruff check .

types: $(INSTALLED)  ## types only
	$(BIN)/mypy

tests: $(INSTALLED)  ## the quick tests only
	$(PYTEST) --hypothesis-profile few -m 'not (slow or every or browser or data)'

install: $(INSTALLED)  ## create .venv and install into it, nothing else

$(INSTALLED): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "actlab needs Python 3.11 or later, and $(PYTHON) is $$($(PYTHON) --version 2>&1); try: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(PIP) -c constraints.txt $(TORCH) $(UV)
	$(BIN)/uv pip install --quiet --python $(BIN)/python --compile-bytecode -c constraints.txt -e '.[test]' || \
	  $(PIP) -c constraints.txt -e '.[test]'  # where only pip is configured for the package index
	@touch $@

constraints: $(INSTALLED)  ## resolve the versions of constraints.txt anew
	{ sed '/^[^#]/,$$d' constraints.txt; \
	  printf '%s\njupyter-book==1.0.4.post1\n' '$(TORCH)' | $(BIN)/uv pip compile pyproject.toml - --quiet --no-config --universal \
	  --python-version 3.11 --extra test --extra bench --extra lab --extra track --no-annotate --no-header; } > constraints.tmp
	mv constraints.tmp constraints.txt

axe:  ## fetch axe-core (npm) into .cache, for the test of accessibility that is skipped without it
	mkdir -p .cache/axe
	cd .cache/axe && npm pack --silent axe-core@4 && tar xzf axe-core-4.*.tgz package/axe.min.js && rm axe-core-4.*.tgz

clean:  ## remove the built book, its executed notebooks and the tools' caches; records and .venv stay
	rm -rf book/_build paper/_build book/studies book/_generated .cache/book .mypy_cache .ruff_cache .pytest_cache .hypothesis
