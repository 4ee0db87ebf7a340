# Everything that a newcomer types. Each target first installs what it needs (scripts/setup.sh),
# which takes a moment when nothing is missing.

BIN := .venv/bin
INSIDE := src/operant/desktop/inside
CALLS := src/operant/calls/inside

# Settings, all optional: make test ARGS='-k pool', make venv EXTRAS=dev,vlm
ARGS ?=
# How many tests run at a time. Desktops spend much of their time waiting, so this is more than there are processors.
WORKERS ?= $(shell echo $$(($$(nproc) + 1)))
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder
# Tests start hundreds of processes, each of which would compile the sources again.
unexport PYTHONDONTWRITEBYTECODE
export PYTHON EXTRAS TORCH TORCH_INDEX SKIP_APT APT INSTALLER

.DEFAULT_GOAL := help
.PHONY: help demo test coverage check format bench docs doctor venv lock clean

help: ## Show this list
	@echo "usage: make <target> [ARGS='...'] [WORKERS=1] [EXTRAS=dev,vlm] [PYTHON=...] [TORCH=... TORCH_INDEX=...] [SKIP_APT=1]"
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  \1|\2/p' $(MAKEFILE_LIST) | while IFS='|' read -r target text; do \
	  printf '%-10s %s\n' "$$target" "$$text"; done

demo: ## Start a desktop, let the shipped agent use it, then train a small agent by cloning and PPO
	@sh scripts/setup.sh demo
	@$(BIN)/operant demo $(ARGS)

test: venv ## Run the whole test suite
	@$(PYTEST) $(ARGS)

coverage: venv ## Run the tests and say which lines they reach: on the terminal, and in out/coverage/index.html
	@$(PYTEST) --cov=src --cov-report=term:skip-covered --cov-report=html $(ARGS)

check: venv ## Check format, lint and types, then run the tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	MYPYPATH=$(INSIDE) $(BIN)/mypy --explicit-package-bases --cache-dir .mypy_cache/inside $(INSIDE)/supervisor.py \
		$(INSIDE)/devtools_launcher.py
	cd $(CALLS) && MYPYPATH=. $(CURDIR)/$(BIN)/mypy --strict --explicit-package-bases \
		--cache-dir $(CURDIR)/.mypy_cache/calls --config-file= __main__.py api/*.py
	$(PYTEST) $(ARGS)

format: venv ## Format the code and fix what the linter can fix
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

bench: ## Measure how fast desktops are on this machine
	@sh scripts/setup.sh bench
	@$(BIN)/operant bench desktop $(ARGS)

docs: ## Build the documentation into site/; a broken link is an error
	@sh scripts/setup.sh docs
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

doctor: ## Say what this machine lacks, and how to get it
	@sh scripts/setup.sh demo
	@$(BIN)/operant doctor $(ARGS)

venv: ## Install system packages and .venv (the other targets do it for you)
	@sh scripts/setup.sh

lock: ## Resolve the versions of requirements/lock.txt again
	@sh scripts/setup.sh lock

clean: ## Remove .venv, caches and builds; results stay
	rm -rf .venv .venv-bench .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage build dist
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
