# Two commands matter: `make book` and `make test`. Both set everything up first.
# PYTHON picks the interpreter (3.11 to 3.14). Without make: python tools/run.py COMMAND.

PYTHON ?= python3
COMMANDS := book check test test-newest lint format install lab serve kit bench reproduce mutants lock wheels release clean

.DEFAULT_GOAL := help
.PHONY: help $(COMMANDS)

help:
	@$(PYTHON) tools/run.py

$(COMMANDS):
	@$(PYTHON) tools/run.py $@ $(ARGS)
