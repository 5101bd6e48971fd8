# Everything here works on a fresh clone and twice in a row. `make` alone says what there is.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SEEDS ?= 20000
KILLS ?= 500

.DEFAULT_GOAL := help
.PHONY: help demo test lint fuzz simulate soak bench evaluate docs lock clean

help: ## Say what there is
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/run.stamp ## Create the environment and work through the flow coder-review on a small git repository
	@$(BIN)/python docs/demo

test: $(VENV)/dev.stamp ## Create the environment and run every check: lint, types, layers, tests
	@echo "== lint"   && $(BIN)/ruff check . && $(BIN)/ruff format --check .
	@echo "== types"  && $(BIN)/mypy
	@echo "== layers" && $(BIN)/lint-imports
	@echo "== tests"  && $(BIN)/python -m pytest -n auto --dist worksteal

fuzz: $(VENV)/fuzz.stamp ## Fuzz the parser and the evaluator, ten minutes each
	@$(BIN)/python -m tests.fuzz syntax --seconds 600
	@$(BIN)/python -m tests.fuzz evaluator --seconds 600

simulate: $(VENV)/dev.stamp ## Live SEEDS seeded histories (20,000), kill the real program KILLS times (500) as it runs, saves and migrates, and hold what is left against its laws
	@$(BIN)/python -m tests.simulation --histories $(SEEDS)
	@$(BIN)/python -m tests.crash --kills $(KILLS)
	@$(BIN)/python -m tests.crash --kills $(KILLS) --story saving
	@$(BIN)/python -m tests.crash --kills $(KILLS) --story migrating

soak: $(VENV)/dev.stamp ## Load one store from many processes, on SQLite and on PostgreSQL, and hold every log against what was done
	@$(BIN)/python -m tests.soak

bench: $(VENV)/dev.stamp ## Measure: ratios side by side in one run, results as JSON below build/
	@$(BIN)/python -m benchmarks

evaluate: $(VENV)/dev.stamp ## Measure judges on cases with a known verdict: the model of PROFILE, or scripts; reports below build/
	@$(BIN)/python -m benchmarks.verifier $(if $(PROFILE),--profile "$(PROFILE)") --repeat $(or $(REPEAT),1)

docs: $(VENV)/dev.stamp ## Make the parts of the documentation anew that follow from the program: pictures, diagnostics, tables
	@$(BIN)/python -m docs.pictures
	@$(BIN)/python docs/diagnostics
	@$(BIN)/python docs/reference

lock: $(BIN)/pip ## Resolve the dependencies anew and write the lock files
	@$(BIN)/pip install --quiet "uv>=0.9"
	@$(BIN)/python -m tests.lock write

clean: ## Remove the environment and everything built
	@rm -rf $(VENV) build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache

# pip comes last into an environment, so one whose making was interrupted is made again.
$(BIN)/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "stateward needs Python 3.11 or newer; name one with: make PYTHON=/path/to/python"; exit 1; }
	@echo "== creating the environment in $(VENV)"
	@$(PYTHON) -m venv $(VENV)

# Each stamp stands for one locked set of packages; `dev` and `fuzz` hold all of `run`.
$(VENV)/run.stamp $(VENV)/dev.stamp $(VENV)/fuzz.stamp: $(VENV)/%.stamp: requirements/%.lock pyproject.toml | $(BIN)/pip
	@echo "== installing the packages of requirements/$*.lock"
	@$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/$*.lock
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --editable .
	@$(BIN)/pip check > /dev/null
	@touch $@
