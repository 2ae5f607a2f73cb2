# make demo   cluster the embedded digits and save a picture
# make test   lint, types and tests; make test-slow runs the rest
# make lint   format and lint checks, types
# make test-lowest    the tests with the lowest versions that pyproject.toml names
# make release-check  sdist and wheel: build, look inside, install alone, try
# make lint-files     workflows, issue forms and the citation against their schemas
# make test-anndata   the tests with anndata and scanpy, which need an older pandas
# make docs  the site in docs/_build/html, without executing the gallery; make docs-full executes it
# make bits   look for results that depend on place, company or threads
# make coverage   lines and branches that the tests reach
# make mutate     mistakes in the kernels that the tests notice
# make fuzz   hostile calls, damaged files: an answer or a documented error (hours)
# make chaos  kill fits, commands and workers at random moments
# make soak   predict and fit many times; memory, files and threads must not grow

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo docs docs-full test test-slow test-anndata test-lowest release-check lint-files bits coverage mutate fuzz chaos soak lint format wheel clean

demo: $(READY)
	mkdir -p out
	$(BIN)/python examples/digits.py out/digits.png

test: lint
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 -m "not slow and not gpu"

test-slow: $(READY)
	$(BIN)/python -m pytest -m "slow and not gpu"

# anndata (0.12) wants pandas below 3: an environment on top of the usual one.
test-anndata: $(READY)
	$(PYTHON) -m venv $(VENV)-anndata
	$(BIN)/python -c "import site; print(site.getsitepackages()[0])" > $$($(VENV)-anndata/bin/python -c "import site; print(site.getsitepackages()[0])")/usual.pth
	$(VENV)-anndata/bin/pip install --quiet 'anndata>=0.12.7' scanpy
	OMP_NUM_THREADS=1 PYTHONPATH=. $(VENV)-anndata/bin/python -m pytest tests/test_anndata.py

# Old packages warn of newer ones: these warnings are no errors here. PyPI's builds of
# the lowest torch bring 3 GB of CUDA on Linux: PIP_EXTRA_INDEX_URL may name PyTorch's
# index of builds for the CPU, or TORCH another version.
LOWEST := $(VENV)-lowest
TESTS ?= tests scedae
test-lowest:
	$(PYTHON) -m venv $(LOWEST)
	$(PYTHON) tools/lowest.py $(if $(TORCH),--torch $(TORCH)) > $(LOWEST)/constraints.txt
	$(LOWEST)/bin/pip install --quiet --constraint $(LOWEST)/constraints.txt torch
	$(LOWEST)/bin/pip install --quiet --constraint $(LOWEST)/constraints.txt --editable '.[test]'
	OMP_NUM_THREADS=1 $(LOWEST)/bin/python -m pytest -n 2 -m "not slow and not gpu" \
	  -W default::DeprecationWarning -W default::FutureWarning -W default::PendingDeprecationWarning $(TESTS)

release-check: $(READY)
	$(BIN)/python tools/version.py
	$(BIN)/python tools/release_check.py

FILES := $(VENV)-files
lint-files:
	$(PYTHON) -m venv $(FILES)
	$(FILES)/bin/pip install --quiet check-jsonschema==0.39.0 zizmor==1.32.0
	$(FILES)/bin/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(FILES)/bin/check-jsonschema --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/[!c]*.yml
	$(FILES)/bin/check-jsonschema --builtin-schema vendor.github-issue-config .github/ISSUE_TEMPLATE/config.yml
	$(FILES)/bin/check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
	$(FILES)/bin/check-jsonschema --builtin-schema vendor.citation-file-format CITATION.cff
	$(FILES)/bin/zizmor --offline --quiet .github

# Warnings are errors, and every link inside the site is followed; nothing outside is asked.
SITE := docs/_build/html
docs docs-full: $(READY)
	rm -rf docs/_build docs/gallery docs/api/generated
	OMP_NUM_THREADS=1 $(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet $(if $(filter docs-full,$@),--tag full) docs $(SITE)
	$(BIN)/python docs/_ext/check_links.py $(SITE)

bits: $(READY)
	$(BIN)/python benchmarks/bits.py

coverage: $(READY)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 -m "not slow and not gpu" --cov --cov-report=term-missing:skip-covered
	$(BIN)/python benchmarks/covered.py

mutate: $(READY)
	$(BIN)/python benchmarks/mutate.py

# All counts by default; SHARE=0.01 runs a hundredth of them.
SHARE ?= 1
fuzz chaos soak: $(READY)
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.$@ --share $(SHARE)

lint: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

wheel: $(READY)
	$(BIN)/python -m build --wheel

# torch first: its pinned build is the small one, and what follows is content with it
$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --constraint constraints.txt torch
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $(READY)

clean:
	rm -rf $(VENV) $(VENV)-anndata $(LOWEST) $(FILES) build dist *.egg-info docs/_build docs/gallery docs/api/generated
