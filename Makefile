# The commands of the project. `make help` lists them. CMake and its presets do the work.
SHELL := /bin/bash
.DEFAULT_GOAL := help
PRESET ?= release
BUILD := build/$(PRESET)
# Installs missing packages; `make SETUP=: …` leaves that out (another distribution, everything there).
SETUP ?= scripts/setup.sh
# Seconds of tuning, for all kernels together; set-up and build come before.
TIME ?= 300
CONFIG ?= experiments/qwen_s512.yaml
SOURCES = $(shell git ls-files --cached --others --exclude-standard '*.cpp' '*.h')

# $(call configure,PRESET): once; again, from nothing, where the folder was configured for another place or not to the end.
# Later changes of CMake files are noticed by ninja itself.
configure = @if ! [ build/$(1)/build.ninja -nt CMakePresets.json ] || \
    ! grep -qsxF 'CMAKE_HOME_DIRECTORY:INTERNAL=$(CURDIR)' build/$(1)/CMakeCache.txt; \
  then cmake --preset $(1) --fresh --log-level=NOTICE && touch build/$(1)/build.ninja; fi

# Where `make install` puts programs, library, headers and data; below DESTDIR where that is set.
PREFIX ?= /usr/local

.PHONY: help tune test build bench bundle install update-golden format lint hooks clean setup

help: ## this list
	@sed -nE 's/^([a-z-]+):[^#]*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 24

setup: ## install the distribution's packages that are missing
	@$(SETUP)

tune: setup ## set-up, build and run the main job: tune qwen's kernels on this machine (TIME=300 seconds)
	$(call configure,$(PRESET))
	@cmake --build $(BUILD) --target deplo deplo-tune
	$(BUILD)/bin/deplo-tune --config $(CONFIG) --search mcts --time $(TIME)

build: setup ## set-up and build everything (PRESET=release, dev or asan)
	$(call configure,$(PRESET))
	@cmake --build $(BUILD)

test: build ## set-up, build and run every test; none of them times anything
	@ctest --preset $(PRESET)

bench: setup ## set-up, build and run the benchmarks of tests/bench
	$(call configure,$(PRESET))
	@cmake --build $(BUILD) --target benches
	@set -e; for bench in tests/bench/bench_*.cpp; do $(BUILD)/bin/$$(basename $$bench .cpp); done

bundle: setup ## one folder with all that the programs need, to be copied to a machine with a GPU (bundle/gpu_check)
	$(call configure,$(PRESET))
	@cmake --build $(BUILD) --target deplo deplo-tune
	@scripts/bundle.sh $(BUILD) bundle

install: setup ## set-up, build and install programs and library (PREFIX=/usr/local): find_package(deplo)
	$(call configure,$(PRESET))
	@cmake --build $(BUILD) --target deplo deplo-tune library
	@cmake --install $(BUILD) --prefix $(PREFIX)

# The tests that compare with files under tests/golden, tests/listings and tests/traces write these instead.
update-golden: setup ## rewrite every golden and listing of the tests with the present output; then look at git diff
	$(call configure,$(PRESET))
	@cmake --build $(BUILD) --target test_rules test_apps
	@UPDATE_GOLDEN=1 $(BUILD)/bin/test_rules --gtest_brief=1 --gtest_filter='*Goldens.*:Listings.*'
	@UPDATE_GOLDEN=1 $(BUILD)/bin/test_apps --gtest_brief=1 --gtest_filter='Traces.*'
	@git diff --stat -- tests

format: ## clang-format over the sources, in place
	@$(SETUP) clang-format
	@clang-format -i $(SOURCES)

lint: ## clang-format and clang-tidy, nothing changed; warnings are errors
	@$(SETUP) clang-format clang-tidy
	@clang-format --dry-run --Werror $(SOURCES)
	$(call configure,tidy)
	@cmake --build build/tidy

hooks: ## let git format staged sources and check commit subjects (scripts/hooks)
	@$(SETUP) clang-format
	@git config core.hooksPath scripts/hooks

clean: ## remove build/
	@rm -rf build
