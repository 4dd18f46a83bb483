# Every target makes its own environment in .venv: `make demo` and `make test` need nothing but Python.
PYTHON ?= python3
# Options of tests, benchmarks and mutants, such as ARGS="--quick matching"; ARGS=--help tells all.
ARGS   ?=
VENV   := .venv
BIN    := $(VENV)/bin
STAMPS := $(VENV)/stamps
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-input

.PHONY: help demo test fuzz coverage mutants lint format audit bench docs gallery screens dist clean

help:
	@echo "make demo      show what EdgeCritic does, on generated data"
	@echo "make test      run all tests (ARGS=tests/matching for some)"
	@echo "make fuzz      run the tests with random input on fresh input and more of it (ARGS=tests/datasets/test_damage.py for one file)"
	@echo "make coverage  run all tests and say which lines they miss; fails below 92 %"
	@echo "make mutants   break measures, matching and protocols on purpose and see whether the tests notice; fails below 90 %"
	@echo "make lint      check format, style, types and import directions"
	@echo "make format    put the code into the agreed format"
	@echo "make audit     check the lowest versions against known vulnerabilities (with pip-audit where it is installed)"
	@echo "make bench     measure every bar, beside other programs: one table, met or missed (ARGS=--quick for a short one)"
	@echo "make docs      build the documentation into site/"
	@echo "make gallery   draw the figures of the gallery anew"
	@echo "make screens   take the pictures of report, viewer and studio anew (needs Chromium)"
	@echo "make dist      build wheel and sdist into dist/, and try the wheel in a new environment"
	@echo "make clean     remove .venv, caches and everything built"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "EdgeCritic needs Python 3.11 or newer, but '$(PYTHON)' is $$($(PYTHON) --version 2>&1);"; \
	  echo "name another one: make PYTHON=python3.12 …"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { echo "cannot make $(VENV): is the venv module installed?"; exit 1; }

$(STAMPS)/.pip: | $(BIN)/python
	@$(PIP) --upgrade "pip>=25.1"
	@mkdir -p $(STAMPS) && touch $@

# One stamp per group of dependencies; a change of pyproject.toml installs anew. Groups need a pip that knows them.
$(STAMPS)/%: pyproject.toml | $(STAMPS)/.pip
	@echo "installing edgecritic and the group $* into $(VENV)"
	@$(PIP) --editable . --group $*
	@mkdir -p $(STAMPS) && touch $@

# Some peers are not for every system or Python; the bars beside them are not measured then.
$(STAMPS)/bench: pyproject.toml | $(STAMPS)/.pip
	@echo "installing edgecritic and the group bench into $(VENV)"
	@$(PIP) --editable . --group bench || { \
	  echo "not all of it can be installed; trying one by one"; \
	  $(PIP) --editable . --group test --group docs --group dist && \
	  for peer in edt pyEdgeEval; do $(PIP) $$peer || echo "without $$peer"; done; }
	@mkdir -p $(STAMPS) && touch $@

ifneq ($(wildcard src/edgecritic/cli/demo.py),)
demo: $(STAMPS)/demo
	$(BIN)/edgecritic demo
else
demo: $(STAMPS)/demo
	$(BIN)/python -c 'from edgecritic.datasets.synthetic import write; write("demo/data", 2)'
	$(BIN)/edgecritic match demo/data/predictions/good/synthetic-1.png demo/data/truth/synthetic-1.mat \
	  --binarize 0.5 --image demo/data/images/synthetic-1.png --overlay demo/synthetic-1.png
endif

test: $(STAMPS)/test
	$(BIN)/python -m pytest $(ARGS)

# What fails is tried first the next time, and the line @reproduce_failure that is printed repeats it.
fuzz: $(STAMPS)/test
	$(BIN)/python -m pytest -q -m hypothesis --hypothesis-profile=fuzz $(ARGS)

# Coverage cannot look into compiled kernels, so their tests run once more as plain Python.
coverage: $(STAMPS)/test
	$(BIN)/coverage erase
	NUMBA_DISABLE_JIT=1 $(BIN)/coverage run -m pytest -q -m "kernels and not data and not slow and not browser" tests
	$(BIN)/coverage run -m pytest -q
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report --skip-covered --show-missing

mutants: $(STAMPS)/test
	$(BIN)/python tests/mutants.py $(ARGS)

lint: $(STAMPS)/test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(STAMPS)/test
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

audit: $(STAMPS)/test
	$(BIN)/python -m pytest -q tests/test_advisories.py
	if command -v pip-audit >/dev/null; then pip-audit --requirement .ci/minimum.txt; fi

bench: $(STAMPS)/bench
	$(BIN)/python benchmarks/run.py $(ARGS)

# The theme warns of a coming MkDocs 2 on every run; pyproject.toml asks for MkDocs 1.
docs: $(STAMPS)/docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "open site/index.html"

gallery: $(STAMPS)/demo
	$(BIN)/python docs/building/gallery.py

screens: $(STAMPS)/test
	$(BIN)/python docs/building/screens.py

dist: $(STAMPS)/dist
	rm -rf dist build/fresh build/empty
	$(BIN)/python -m build --no-isolation --outdir dist .
	$(BIN)/twine check --strict dist/*
	$(BIN)/check-wheel-contents dist/*.whl
	$(PYTHON) -m venv build/fresh
	build/fresh/bin/python -m pip install --quiet --disable-pip-version-check dist/*.whl
	@wc -c dist/*
	@build/fresh/bin/python -c 'import edgecritic' # writes what later starts use
	@build/fresh/bin/python -X importtime -c 'import edgecritic' 2>&1 | tail -1 | awk -F'|' '{ print "import edgecritic:", $$2 / 1000, "ms" }'
	mkdir -p build/empty && cd build/empty && ../fresh/bin/edgecritic demo

clean:
	rm -rf $(VENV) build dist site demo .coverage .coverage.* .hypothesis
	rm -rf .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
