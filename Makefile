# Everything that a newcomer types. Each target first installs what it needs (scripts/setup.sh),
# which takes a moment when nothing is missing.

BIN := .venv/bin
INSIDE := src/operant/desktop/inside

# Settings, all optional: make test ARGS='-k pool', make venv EXTRAS=dev,vlm
ARGS ?=
export PYTHON EXTRAS TORCH TORCH_INDEX SKIP_APT

.DEFAULT_GOAL := help
.PHONY: help demo test coverage check format bench doctor venv clean

help: ## Show this list
	@echo "usage: make <target> [ARGS='...'] [EXTRAS=dev,vlm] [PYTHON=...] [TORCH=... TORCH_INDEX=...] [SKIP_APT=1]"
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  \1|\2/p' $(MAKEFILE_LIST) | while IFS='|' read -r target text; do \
	  printf '%-10s %s\n' "$$target" "$$text"; done

demo: venv ## Start a desktop, operate an application in it, show the timing, save a picture
	@$(BIN)/operant demo $(ARGS)

test: venv ## Run the whole test suite
	@$(BIN)/python -m pytest $(ARGS)

coverage: venv ## Run the tests and say which lines they reach: on the terminal, and in out/coverage/index.html
	@$(BIN)/python -m pytest --cov=src --cov-report=term:skip-covered --cov-report=html $(ARGS)

check: venv ## Check format, lint and types, then run the tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	MYPYPATH=$(INSIDE) $(BIN)/mypy --explicit-package-bases --cache-dir .mypy_cache/inside $(INSIDE)/supervisor.py
	$(BIN)/python -m pytest $(ARGS)

format: venv ## Format the code and fix what the linter can fix
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

bench: ## Measure how fast desktops are on this machine
	@sh scripts/setup.sh bench
	@$(BIN)/operant bench desktop $(ARGS)

doctor: venv ## Say what this machine lacks, and how to get it
	@$(BIN)/operant doctor $(ARGS)

venv: ## Install system packages and .venv (the other targets do it for you)
	@sh scripts/setup.sh

clean: ## Remove .venv, caches and builds; results stay
	rm -rf .venv .venv-bench .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage build dist
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
