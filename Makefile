# Two commands do everything: `make drill` and `make test`. DEMOS=0 leaves torch and triton out.
PYTHON ?= python3
DEMOS  ?= 1
VENV   := .venv
BIN    := $(VENV)/bin
EXTRAS_1 := demos
EXTRAS_0 :=
EXTRAS := $(EXTRAS_$(DEMOS))
comma  := ,

.PHONY: drill test lint bench demos clean
.DEFAULT_GOAL := drill

# One stamp for each set of extras: a second call finds it and goes straight on.
APP := $(VENV)/.app-$(DEMOS)
DEV := $(VENV)/.dev-$(DEMOS)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "fatutor needs Python 3.11 or newer; call make with PYTHON=python3.12, say" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || \
	  { rm -rf $(VENV); echo "no virtual environment could be made; on Debian install python3-venv" >&2; exit 1; }

$(APP): $(BIN)/python pyproject.toml constraints.txt
	@$(if $(filter demos,$(EXTRAS)),echo "installing fatutor with its kernels: PyTorch and Triton are a download of 0.4 to 3 GB (DEMOS=0 leaves them out)",echo "installing fatutor without its kernels (about 15 MB)")
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.$(if $(EXTRAS),[$(EXTRAS)])'
	@touch $@

$(DEV): $(APP)
	@echo "installing what the tests need (about 80 MB)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev$(if $(EXTRAS),$(comma)$(EXTRAS))]'
	@touch $@

drill: $(APP)
	@$(BIN)/fatutor

test: $(DEV)
	@$(BIN)/python -m pytest

lint: $(DEV)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/pyright

bench: $(DEV)
	@$(BIN)/python -m tests.bench

demos: $(APP)
	@$(BIN)/python -m kernels.summary

clean:
	rm -rf $(VENV) build dist .pytest_cache .ruff_cache .hypothesis
