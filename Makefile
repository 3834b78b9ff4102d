# What you can do here. `make` alone lists it. Needs Python >= 3.11, pip and make; the rest is
# fetched into .venv from requirements.lock. Another Python: make test PYTHON=python3.13

SHELL := /bin/bash
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
CHECKED := src tests bench scripts examples hatch_build.py
BOXES := src/coderunner/engines/linux/boxes
WARDEN := src/coderunner/engines/docker/warden
COMPILED := $(BOXES)/process1 $(WARDEN)/coderunner-warden

# Passed on to scripts/setup.sh; empty means: look for one.
export PYTHON ?=

.PHONY: help demo test test-user test-vm toolchains check format images bench lock clean

help: ## List the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1 /p' $(MAKEFILE_LIST) | \
		while read -r target text; do printf '  make %-11s %s\n' "$$target" "$$text"; done

demo: $(STAMP) $(COMPILED) ## Run a program in every language found here, each in a sandbox
	@$(BIN)/python examples/demo.py

test: $(STAMP) toolchains $(COMPILED) ## Run all tests; as root also install what they need
	@scripts/test.sh $(ARGS)

test-user: $(STAMP) $(COMPILED) ## As root: run the tests again as an ordinary user
	@scripts/test-as-user.sh $(ARGS)

test-vm: ## Run the engine tests in a virtual machine with cgroup v2 (docs/hosts.md)
	@scripts/vm/test.sh

toolchains: $(STAMP) ## Install the missing compilers and interpreters, or say how
	@$(BIN)/python scripts/toolchains.py

check: $(STAMP) ## Lint, formatting, types, house rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy $(wildcard $(CHECKED))
	$(BIN)/python scripts/house_rules.py

format: $(STAMP) ## Put the code into shape
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

images: $(STAMP) ## Make Docker images of all languages from Debian packages (docs/docker.md)
	@$(BIN)/python scripts/images.py $(ARGS)

bench: $(STAMP) toolchains $(COMPILED) ## Measure what a sandbox costs
	$(BIN)/python bench/run.py $(ARGS)

lock: ## Refresh requirements.lock (UPGRADE=1: move to newer versions)
	@scripts/lock.sh $(if $(UPGRADE),--upgrade)

clean: ## Remove everything that was built here
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	rm -f $(COMPILED) $(BOXES)/libboxes.so
	find src tests bench scripts examples -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

# Installing compiles it, too. This is for those who change it, or have got a compiler since.
$(COMPILED) &: $(wildcard $(BOXES)/*.[ch] $(BOXES)/warm/*.c $(WARDEN)/*.[ch]) hatch_build.py | $(STAMP)
	@$(BIN)/python hatch_build.py

$(STAMP): requirements.lock pyproject.toml scripts/setup.sh
	@scripts/setup.sh $(VENV)
	@touch $@
