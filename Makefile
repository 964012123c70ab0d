# Three commands, each enough on its own: `make book`, `make test` and `make check`. Each creates .venv if it is absent.
# Another Python: make book PYTHON=python3.12. More processes: make book WORKERS=8.
# Whatever is installed is held to the hashes of constraints.lock, by uv and, where uv cannot reach the index, by pip.

PYTHON ?= python3
WORKERS ?= 2
TOOLS := pip==26.3 uv==0.13.9
TORCH := torch==2.13.0
# PyTorch for the CPU where no GPU is seen; `make book BACKEND=cu130` takes CUDA.
BACKEND ?= auto
GPU := $(filter-out auto cpu,$(BACKEND))$(shell nvidia-smi -L 2> /dev/null)
# PyTorch's own wheels without CUDA (Linux, Python 3.11 to 3.13), which its index lists and the package index does not have.
TORCH_CPU := 6746dbcbeb526eb61330b76b41ff1b4eb848951103a892eeb080dfa2b264667b 84453b69508ec79902f899c5ed9495acb9e2bbe9fda5f1d5d6f19e3c3842e1a7 \
  4ca4a9394b0c771238a4f73590fdbbc4debad85ed0fa63d026ae1b085da7d6e2 6f307c2c32d764ffc6ff6893b801fad6d4752f3e67966cb8abf1843427c02604 \
  3fbf9c9d1f3c10c2d59d04aca426dee9ccc6ceb32d255c61e93acc3b4f75fae6 0b8f7d0423027ae8b90c7977c627f3379f325363a08224dffad9b4b2d684a83d
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
PYTEST := OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --no-compile
UV := $(BIN)/uv pip install --quiet --system-certs --python $(BIN)/python
WHY = echo "uv could not install: $$(tail -n 1 $(VENV)/uv.txt | sed 's/^ *//'); pip tries"
LOCKED := --only-binary :all: -c constraints.lock
# The names of the parts that are asked for; one that the lock has not, and that would be installed without a hash, ends it.
NAMES := import re, sys, tomllib; p = tomllib.load(open("pyproject.toml", "rb")); o = p["project"]["optional-dependencies"]
NAMES += ; names = [*p["build-system"]["requires"], *p["project"]["dependencies"], *{n for e in sys.argv[1].split("+") for n in o[e]}]
NAMES += ; plain = lambda name: re.sub("[-_.]+", "-", re.match("[A-Za-z0-9._-]+", name)[0]).lower()
NAMES += ; locked = {plain(line) for line in open("constraints.lock") if re.match("[A-Za-z0-9]", line)}
NAMES += ; absent = [name for name in names if plain(name) not in locked]
NAMES += ; absent and sys.exit(f"not in constraints.lock, so without a hash: {absent}; run make constraints"); print(*names, sep="\n")

.PHONY: help book lab bench paper test check strict lint types tests install constraints axe links clean
.DEFAULT_GOAL := help

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' Makefile

book: $(INSTALLED)  ## install, run the quick study, build the book, say where it lies
	$(BIN)/actlab run params/repro-quick.yaml --workers $(WORKERS)
	-$(BIN)/actlab replay --quick
	$(BIN)/actlab book --workers $(WORKERS) $(STRICT)
	@echo "The book is built. Open it: file://$(CURDIR)/book/_build/html/index.html"

lab: install-lab  ## install JupyterLab beside it, and open it on the live explorer, notebooks/explore.ipynb
	$(BIN)/jupyter lab $$(test "$$(id -u)" != 0 || echo --allow-root) notebooks/explore.ipynb

bench: install-bench  ## measure speed beside its peers: 20 minutes on an idle machine, a new record below results/performance
	$(BIN)/python -m bench

paper: $(INSTALLED)  ## set the paper from the records: paper/_build/paper.pdf and supplement.pdf
	$(BIN)/python paper/builder.py

test: lint types tests  ## install, then style, types and the quick tests: under 3 minutes

check: lint types strict  ## everything: the book, held to the records; real processes and faults, all cells, fuzzing at length, browser, data: under 10 minutes
	$(PYTEST) --hypothesis-profile many

strict:  ## build the book as its authors do: a number that the records do not hold, or a warning, is an error
	$(MAKE) --no-print-directory book STRICT=--strict

lint: $(INSTALLED)  ## style only
	$(BIN)/ruff check .

types: $(INSTALLED)  ## types only
	$(BIN)/mypy

tests: $(INSTALLED)  ## the quick tests only
	$(PYTEST) --hypothesis-profile few -m 'not (slow or every or browser or data)'

install: $(INSTALLED)  ## create .venv and install into it, nothing else

install-%: $(INSTALLED)
	@$(BIN)/python -c '$(NAMES)' $* > $(VENV)/names.txt
	@$(UV) $(LOCKED) -r $(VENV)/names.txt 2> $(VENV)/uv.txt || { $(WHY); $(PIP) $(LOCKED) -r $(VENV)/names.txt; }

$(INSTALLED): pyproject.toml constraints.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "actlab needs Python 3.11 or later, and $(PYTHON) is $$($(PYTHON) --version 2>&1); try: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@awk '/^(pip|uv)==/ {on = 1} on; !/\\$$/ {on = 0}' constraints.lock > $(VENV)/tools.txt
	$(PIP) --require-hashes -r $(VENV)/tools.txt
	@UV_HTTP_RETRIES=1 $(UV) --torch-backend=$(BACKEND) $(LOCKED) $(TORCH) 2> $(VENV)/uv.txt \
	  || { $(WHY); [ -z "$(GPU)" ] && $(PIP) $(LOCKED) $(TORCH)+cpu 2> /dev/null; } \
	  || { [ -n "$(GPU)" ] || echo "PyTorch for the CPU cannot be had here: the package index's own follows, with 2.7 GB for GPUs"; $(PIP) $(LOCKED) $(TORCH); }
	$(MAKE) --no-print-directory -o $@ install-book+data+explore+cluster+test
	$(PIP) --no-deps --no-build-isolation -e .
	@touch $@

constraints: $(INSTALLED)  ## resolve the versions of constraints.lock anew, and list them without hashes in constraints.txt
	printf '%s\n' '$(TORCH)' jupyter-book==1.0.4.post1 $(TOOLS) | $(BIN)/uv pip compile pyproject.toml - --quiet --no-config --universal \
	  --generate-hashes --python-version 3.11 --extra test --extra all --no-annotate --no-header > constraints.tmp
	awk -v cpu='$(TORCH_CPU)' '{print} /^torch==/ {n = split(cpu, hash, " "); for (i = 1; i <= n; i++) print "    --hash=sha256:" hash[i] " \\"}' \
	  constraints.tmp > constraints.lock
	{ sed '/^[^#]/,$$d' constraints.txt; sed -n '/^[a-z]/ s/ \\$$//p' constraints.lock; } > constraints.tmp
	mv constraints.tmp constraints.txt

axe:  ## fetch axe-core (npm) into .cache, for the test of accessibility that is skipped without it
	mkdir -p .cache/axe
	cd .cache/axe && npm pack --silent axe-core@4.14.1 && tar xzf axe-core-4.*.tgz package/axe.min.js && rm axe-core-4.*.tgz

links: $(INSTALLED)  ## ask every link of the built book, also those that lead out of it (a network, minutes)
	$(BIN)/python -m bench.links --external

clean:  ## remove the built book, its executed notebooks and the tools' caches; records and .venv stay
	rm -rf book/_build paper/_build book/studies book/_generated .cache/book .mypy_cache .ruff_cache .pytest_cache .hypothesis
