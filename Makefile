# The commands of the project. `make help` lists them. CMake and its presets do the work.
SHELL := /bin/bash
.DEFAULT_GOAL := help
PRESET ?= release
BUILD := build/$(PRESET)
# Installs missing packages. `make SETUP=: …` skips that, for example on other distributions.
SETUP ?= scripts/setup.sh
# Seconds of tuning for all kernels together, after set-up and build.
TIME ?= 300
CONFIG ?= experiments/qwen_s512.yaml
# Seed of the property tests, up to 99999. Each seed draws other cases.
SEED ?= 0
export GTEST_RANDOM_SEED = $(SEED)
# Text that ninja prints before each build step: finished and total steps, per cent, and seconds.
export NINJA_STATUS = [%f of %t, %p, %e s] $(empty)
SOURCES = $(shell git ls-files --cached --others --exclude-standard '*.cpp' '*.h')

# $(call configure,PRESET) configures the build folder once. It configures from scratch if the folder was configured for
# another path or incompletely. ninja itself notices later changes of CMake files.
configure = @if ! [ build/$(1)/build.ninja -nt CMakePresets.json ] || \
    ! grep -qsxF 'CMAKE_HOME_DIRECTORY:INTERNAL=$(CURDIR)' build/$(1)/CMakeCache.txt; \
  then cmake --preset $(1) --fresh --log-level=NOTICE && touch build/$(1)/build.ninja; fi

# `make install` puts programs, library, headers and data below this path, and below DESTDIR if that is set.
PREFIX ?= /usr/local

.PHONY: help tune test test-all build bench bundle package install update-golden format lint hooks clean setup

help: ## this list
	@sed -nE 's/^([a-z-]+):[^#]*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 24

setup: ## install missing packages
	@$(SETUP)

tune: setup ## build, and tune the kernels of Qwen2.5 (TIME=300 s)
	$(call configure,$(PRESET))
	@cmake --build $(BUILD) --target deplo deplo-tune
	$(BUILD)/bin/deplo-tune --config $(CONFIG) --search mcts --time $(TIME)

build: setup ## build everything (PRESET=release, debug, asan or tsan)
	$(call configure,$(PRESET))
	@cmake --build $(BUILD)

test: setup ## build, and run the tests (SEED=1: other random cases)
	$(call configure,$(PRESET))
	@cmake --build $(BUILD) --target tests
	@scripts/run_tests.sh $(BUILD) --preset $(PRESET) --label-exclude '^long'

test-all: build ## build everything, and run every test, including the long ones
	@scripts/run_tests.sh $(BUILD) --preset $(PRESET)

bench: setup ## build, and run the benchmarks of tests/bench
	$(call configure,$(PRESET))
	@cmake --build $(BUILD) --target benches
	@set -e; for bench in tests/bench/bench_*.cpp; do $(BUILD)/bin/$$(basename $$bench .cpp); done

bundle: setup ## make a folder to copy to a machine with a GPU
	$(call configure,$(PRESET))
	@cmake --build $(BUILD) --target deplo deplo-tune
	@scripts/bundle.sh $(BUILD) bundle

package: setup ## make a .deb of the programs and the library in build/release
	$(call configure,release)
	@cmake --build build/release --target deplo deplo-tune library
	@cd build/release && cpack

install: setup ## build, and install (PREFIX=/usr/local)
	$(call configure,$(PRESET))
	@cmake --build $(BUILD) --target deplo deplo-tune library
	@cmake --install $(BUILD) --prefix $(PREFIX)

# The tests that compare with files under tests/golden, tests/listings and tests/traces write these files instead.
update-golden: setup ## rewrite goldens and listings of the tests
	$(call configure,$(PRESET))
	@cmake --build $(BUILD) --target test_rules test_apps
	@UPDATE_GOLDEN=1 $(BUILD)/bin/test_rules --gtest_brief=1 --gtest_filter='*Goldens.*:Listings.*'
	@UPDATE_GOLDEN=1 $(BUILD)/bin/test_apps --gtest_brief=1 --gtest_filter='Traces.*'
	@git diff --stat -- tests

format: ## format the sources in place with clang-format
	@$(SETUP) clang-format
	@clang-format -i $(SOURCES)

lint: ## check the format, run clang-tidy, find twin definitions, compile headers alone
	@$(SETUP) clang-format clang-tidy
	@clang-format --dry-run --Werror $(SOURCES)
	$(call configure,odr)
	@cmake --build build/odr --target all_verify_interface_header_sets all
	$(call configure,tidy)
	@cmake --build build/tidy

hooks: ## format staged sources and check subjects of commits
	@$(SETUP) clang-format
	@git config core.hooksPath scripts/hooks

clean: ## remove build/
	@rm -rf build
