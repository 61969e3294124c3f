# Every target does its own set-up in .venv, so a machine with Python 3.11 and a network is enough.
# PYTHON=... names the interpreter, WORKERS=... the number of test processes, ARGS=... goes to the tool.

VENV := .venv
BIN := $(VENV)/bin
# Tests wait for the programs they start, so there is room for more of them than there are processors.
WORKERS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 2)
ARGS ?=

.PHONY: help demo test test-long conformance check bench wheel docs format clean

help:
	@echo 'make demo        the workbench on its demo server and a recording of it'
	@echo 'make test        the tests, in several processes (WORKERS=0: in one)'
	@echo 'make test-long   the tests that take minutes'
	@echo 'make conformance  the official suite against our client and through our stand-in, offline'
	@echo 'make check       lint, format, types, import contracts'
	@echo 'make bench       the benchmarks'
	@echo 'make wheel       dist/*.whl'
	@echo 'make docs        write docs/reference.md and docs/findings.md anew'
	@echo 'make format      format the code'
	@echo 'make clean       remove what the other targets made'

demo: $(VENV)/.ready-run
	$(BIN)/mcp-workbench demo $(ARGS)

test: $(VENV)/.ready-dev
	$(BIN)/pytest -n $(WORKERS) $(ARGS)

test-long: $(VENV)/.ready-dev
	WORKBENCH_ALL_EXAMPLES=1 $(BIN)/pytest -m 'long or property' $(ARGS)

conformance: $(VENV)/.ready-dev
	$(BIN)/python -m tests.conformance $(ARGS)

check: $(VENV)/.ready-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

bench: $(VENV)/.ready-dev
	$(BIN)/python -m tests.bench $(ARGS)

wheel: $(VENV)/.ready-run
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .

docs: $(VENV)/.ready-dev
	$(BIN)/python -m tests.cli.reference
	$(BIN)/python -m tests.check.document

format: $(VENV)/.ready-dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) .cache dist build .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

# The stamps are older than what they depend on exactly when something has to be installed anew.
$(VENV)/.ready-run: pyproject.toml constraints.txt | $(VENV)/.made
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	@touch $@

$(VENV)/.ready-dev: pyproject.toml constraints.txt | $(VENV)/.made
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@ $(VENV)/.ready-run

# A Python without ensurepip (Debian without python3-venv) still makes a venv, and its pip can fill it.
$(VENV)/.made:
	@set -e; \
	python=; \
	for each in $(PYTHON) python3 python3.14 python3.13 python3.12 python3.11 python; do \
		if "$$each" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then python=$$each; break; fi; \
	done; \
	if [ -z "$$python" ]; then \
		echo 'No Python 3.11 or newer was found: install one, or name it with make PYTHON=/path/to/python3.' >&2; exit 1; \
	fi; \
	echo "Setting up $(VENV) with $$($$python --version)"; \
	if "$$python" -c 'import ensurepip' 2>/dev/null; then \
		"$$python" -m venv --clear $(VENV); \
	elif "$$python" -m pip --version >/dev/null 2>&1; then \
		"$$python" -m venv --clear --without-pip $(VENV); \
		"$$python" -m pip --python $(BIN)/python install --quiet --disable-pip-version-check pip; \
	else \
		echo "$$python has neither ensurepip nor pip: install one of them (on Debian: apt install python3-venv)." >&2; exit 1; \
	fi; \
	touch $@
