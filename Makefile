# Everything that is done with this repository. `make` alone lists it.

.DEFAULT_GOAL := help
SHELL := /bin/sh

PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
# Two workers: the tests start emulators and Node, which keep the other cores busy.
WORKERS ?= 2

# CDK runs on each of these, but says at length which Node it would rather have.
export JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION := 20,21,23,25,27
export NODE_NO_WARNINGS := 1

.PHONY: help setup demo up user down logs status audit deploy synth player test prove lint fmt bench requirements

help: ## List what can be made
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(VENV)/.stamp ## Make the Python environment in .venv
	@:

# --- on this machine ---------------------------------------------------------------------------

demo: setup ## Order a clip on the local stack and watch it (KIND=name, PHOTO, RECORDING or VIDEO=path, PROVIDER=name)
	@PYTHONPATH=. $(RUN) -m local.demo $(if $(KIND),--kind "$(KIND)") $(if $(PHOTO),--photo "$(PHOTO)") \
		$(if $(RECORDING),--recording "$(RECORDING)") $(if $(VIDEO),--video "$(VIDEO)") $(if $(PROVIDER),--provider "$(PROVIDER)")

up: setup ## Start the local stack: emulator, then the real `cdk deploy`
	@$(RUN) -m local up

user: setup ## Make a user of the local console (EMAIL=address, OPERATOR=1)
	@$(RUN) -m local.user $(EMAIL) $(if $(OPERATOR),--operator)

down: setup ## Stop the local stack and everything that it started
	@$(RUN) -m local down

logs: setup ## Follow what the local functions and the worker log
	@$(RUN) -m local logs

status: setup ## Tell where the local stack is
	@$(RUN) -m local status

audit: setup ## Add up every ledger of the local stack now; fails if something differs
	@$(RUN) -m local audit

# --- in the cloud ------------------------------------------------------------------------------

node_modules/.tallyreel: package-lock.json | setup
	@$(RUN) -c 'from local import tools; tools.cdk()'

deploy: setup node_modules/.tallyreel ## Deploy to the AWS account of this shell (CDK_ARGS="-c name=value")
	@PATH="$(CURDIR)/$(VENV)/bin:$$PATH" node_modules/.bin/cdk deploy --all $(CDK_ARGS)

synth: setup node_modules/.tallyreel ## Write the CloudFormation templates to cdk.out, checked by cdk-nag
	@PATH="$(CURDIR)/$(VENV)/bin:$$PATH" node_modules/.bin/cdk synth --quiet --no-notices $(CDK_ARGS)

# --- quality -----------------------------------------------------------------------------------

lint: setup ## Check style and types
	@$(RUN) -m ruff check
	@$(RUN) -m ruff format --check
	@$(RUN) -m mypy

PLAYER := functions/media/player
$(PLAYER)/node_modules/.package-lock.json: $(PLAYER)/package-lock.json
	@npm ci --prefix $(PLAYER) --ignore-scripts --no-audit --no-fund --loglevel=error --prefer-offline

player: $(PLAYER)/node_modules/.package-lock.json ## Install the player of recorded sessions
	@:

test: lint player ## Everything that CI runs
	@$(RUN) -m pytest -n $(WORKERS) --dist worksteal -m "not slow" $(PYTEST_ARGS)

prove: lint player ## The tests and the long proofs, with figures
	@$(RUN) -m pytest -n $(WORKERS) --dist worksteal $(PYTEST_ARGS)
	@$(RUN) -m tests.prove

bench: setup ## Measure (BENCH="task render"); see bench/README.md
	@PYTHONPATH=. $(RUN) -m bench $(BENCH)

fmt: setup ## Format the code
	@$(RUN) -m ruff check --fix --select I
	@$(RUN) -m ruff format

# --- environments ------------------------------------------------------------------------------

$(VENV)/.stamp: requirements-uv.txt requirements-dev.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
		{ echo 'Python 3.11 or newer is needed: say which, for example `make $(or $(firstword $(MAKECMDGOALS)),setup) PYTHON=python3.12`.' >&2; exit 1; }
	@$(PYTHON) -m venv --clear $(VENV) || \
		{ echo 'Python cannot make a virtual environment: install its venv module (Debian: python3-venv).' >&2; exit 1; }
	@$(RUN) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-uv.txt \
		&& $(RUN) -m uv pip install --quiet --python $(RUN) --require-hashes -r requirements-dev.txt \
		|| $(RUN) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.txt
	@touch $@

COMPILE = $(RUN) -m uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --custom-compile-command "make requirements"

requirements: setup ## Compile requirements*.in to hashed requirements*.txt
	@for name in functions/requirements functions/requirements-media requirements \
		requirements-dev requirements-local requirements-uv; do \
		$(COMPILE) $$name.in --output-file $$name.txt || exit 1; done
