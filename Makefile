# Start here: `make demo` shows the main job, `make test` runs every test. Both set up .venv first.
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: help install demo test test-system lint format chat lock

help:  ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  %-12s %s\n", $$1, $$2}'

install: $(STAMP)  ## Set up .venv from requirements.lock, and nothing else

$(STAMP): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(0 if v >= (3, 11) else f"Muster needs Python 3.11 or newer, this is {v.major}.{v.minor}: call make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $(STAMP)

demo: install  ## Run the main job end to end on a local HyperPod
	$(BIN)/muster demo

chat: install  ## Talk to Muster in this terminal
	$(BIN)/muster chat

test: install  ## Run all tests; those that need system parts say so and skip
	$(BIN)/python -m pytest -n auto -q

test-system: install  ## Install the system parts (as root, Debian) and run all tests with none skipped
	./scripts/install-system-parts
	PATH="$(CURDIR)/.venv-aws/bin:$$PATH" MUSTER_REQUIRE_SYSTEM_PARTS=1 $(BIN)/python -m pytest -n auto -q

lint: install  ## Formatting, lint, types and import contracts
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: install  ## Apply the formatter and the safe fixes
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock:  ## Pin every requirement with hashes (needs uv)
	uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --quiet --upgrade -o requirements.lock
