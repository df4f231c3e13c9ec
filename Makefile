# Needs Python 3.11 or newer, git and make. `make` alone lists the targets.

VENV := .venv
BIN := $(VENV)/bin
PYTHON ?=
ARGS ?=
# One for each core, up to four: a worker takes some ten seconds to find and import all tests.
PYTEST_WORKERS ?= $(shell cores=$$(nproc 2>/dev/null || echo 2); echo $$((cores < 4 ? cores : 4)))
CODE := $(wildcard src tests examples)
# Each worker has a core of its own: threads of its linear algebra would only wait for each other.
PYTEST = OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n $(PYTEST_WORKERS) --dist worksteal

# Stamps: a second `make` installs nothing until a lock file or pyproject.toml changes.
RUN := $(VENV)/.installed-run
BESIDES := $(VENV)/.fetched-besides
DEV := $(VENV)/.installed-dev

PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input
# pip would write all bytecode in one process, which takes longer than the rest; here all cores do, without what is not run.
# The lock files are whole and share nothing: what users need and what tests need besides are fetched at the same time.
FETCH := $(PIP) install --quiet --no-compile --no-deps --require-hashes --requirement
NOT_RUN := tests?|OpenGL|fontTools|lexers|mypyc?|pip|pkg_resources|setuptools|transformers
BYTECODE := $(BIN)/python -m compileall -qq -j 0 -x '[/\\]($(NOT_RUN))[/\\]' $(VENV)/lib src || true
# Hatchling comes from the lock as well, so building the package fetches nothing.
INSTALL_PACKAGE := $(PIP) install --quiet --no-deps --no-build-isolation --editable .

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

.PHONY: help
help:  ## list the targets
	@echo "Footfall: legged robots on the ground, with any contact law."
	@echo
	@sed -n 's/^\([a-z-]*\):.*  ## \(.*\)/  make \1|\2/p' Makefile | awk -F'|' '{ printf "%-18s %s\n", $$1, $$2 }'

.PHONY: demo
demo: $(RUN)  ## install Footfall and run its demonstration
	$(BIN)/footfall demo --overwrite $(ARGS)

.PHONY: install
install: $(RUN)  ## install Footfall with its plots into .venv

.PHONY: dev
dev: $(DEV)  ## the same, with everything the tests need

.PHONY: test
test:  ## every check and every test
	$(MAKE) --no-print-directory -j 3 warm chromium lint
	$(PYTEST) $(ARGS)

# Compiled once here, not once in every worker; what the tests need is installed and the code is checked meanwhile. These
# use a core each, one after the other: compiling, which has work for all cores to the end, gives way to them.
.PHONY: warm
warm: $(RUN)
	nice $(BIN)/footfall warm

.PHONY: test-fast
test-fast: warm $(DEV)  ## only the tests that take no time
	$(PYTEST) -m "not slow" $(ARGS)

# The oldest versions that pyproject.toml allows, in an environment of their own.
LOWEST := build/lowest
.PHONY: test-lowest
test-lowest: $(BIN)/python  ## the quick tests with the oldest versions that are allowed
	$(PIP) install --quiet uv
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(LOWEST)
	$(BIN)/uv pip install --quiet --python $(LOWEST) --resolution lowest-direct ".[plot,study,gait,export,meshes,learn,cluster,dev]"
	$(LOWEST)/bin/footfall warm
	OPENBLAS_NUM_THREADS=1 $(LOWEST)/bin/python -m pytest -n $(PYTEST_WORKERS) -m "not slow" $(ARGS)

.PHONY: release-check
release-check: $(DEV)  ## rehearse a release: build, install elsewhere, run, test, validate
	$(BIN)/python tools/release_check.py $(ARGS)

# Files of tests in ARGS limit the search to them.
SECONDS ?= 600
.PHONY: fuzz
fuzz: warm $(DEV)  ## search for cases that fail a property test (SECONDS=600), and print them as fixed examples
	OPENBLAS_NUM_THREADS=1 $(BIN)/python tools/fuzz.py $(SECONDS) $(ARGS)

.PHONY: lint
lint: dead-code types style  ## formatting, lint, types and dead code

# Three targets, so that two cores share them with `warm`.
.PHONY: dead-code types style
style: $(DEV)
	$(BIN)/ruff check $(CODE) tools
	$(BIN)/ruff format --check $(CODE) tools

types: $(DEV)
	$(BIN)/mypy

dead-code: $(DEV)
	$(BIN)/python tools/dead_code.py $(CODE)

.PHONY: format
format: $(DEV)  ## format the code and repair what ruff can repair
	$(BIN)/ruff check --fix-only $(CODE) tools
	$(BIN)/ruff format $(CODE) tools

.PHONY: bench
bench: $(RUN)  ## measure the speed of every law
	$(BIN)/footfall bench $(ARGS)

.PHONY: docs
docs: $(DEV)  ## build the documentation into build/site
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet

.PHONY: chromium
chromium:
	@sh tools/find_chromium.sh

# The lock files hold hashes of the ordinary package index and no address.
.PHONY: lock
lock: $(BIN)/python  ## rewrite requirements/*.txt from pyproject.toml (ARGS=--upgrade for newer versions)
	$(PIP) install --quiet uv
	sh tools/lock.sh $(BIN)/uv $(ARGS)

.PHONY: clean
clean:  ## remove caches and builds
	rm -rf build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find $(CODE) -type d -name __pycache__ -prune -exec rm -rf {} +

.PHONY: distclean
distclean: clean  ## remove the environment as well
	rm -rf $(VENV)

$(BIN)/python:
	@sh tools/make_venv.sh $(VENV) $(PYTHON)

$(RUN): requirements/run.txt pyproject.toml | $(BIN)/python
	@echo "Installing Footfall (a minute or two the first time)."
	$(FETCH) requirements/run.txt
	$(INSTALL_PACKAGE)
	@$(BYTECODE)
	@touch $@

$(BESIDES): requirements/dev.txt | $(BIN)/python
	@echo "Installing what its tests need (a minute or two the first time)."
	$(FETCH) requirements/dev.txt
	@touch $@

$(DEV): $(RUN) $(BESIDES)
	@$(BYTECODE)
	@touch $@
