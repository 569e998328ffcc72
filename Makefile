# SPDX-License-Identifier: BSD-2-Clause
# Thin: the rules are meson's (meson.build), the steps are scripts in tools/.
# `make help` says what there is.

.PHONY: help build run check check-long bench deps static package amalgamation format clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1	/p' Makefile | expand -t 22

build: ## build/syscull
	@tools/build

run: ## what `ls -l` wastes and a measured cure; CMD='...' for any command
ifeq ($(origin CMD)$(strip $(CMD)),command line)
	$(error CMD= needs a command, as in make run CMD='git status')
endif
	@tools/deps --wanted build
	@tools/build
ifdef CMD
	@build/syscull run -- $(CMD)
else
	@tools/demo build/syscull
endif

check: ## all tests on three builds; installs what is missing first
	@tools/deps --wanted build test cross
	@tools/check

check-long: ## the long tests in shards (SHARD=NAME for one)
	@tools/deps --wanted build long
	@tools/build
	@tools/check-long $(SHARD)

bench: build ## the benchmarks
	@tools/bench

deps: ## installs Debian packages (root); nothing else installs
	@tools/deps

static: ## build/syscull-static: one file, the ptrace engine, all rules
	@tools/deps --wanted build
	@tools/static

package: ## Debian packages of what is committed, judged by lintian and tried
	@tools/deps --wanted build package
	@tools/package

amalgamation: ## build/amalgamation: a .c and a .h for each part of the library
	@tools/amalgamate build/amalgamation

format: ## clang-format over all C files
	@tools/c-files | xargs clang-format -i

clean: ## removes what was built
	@rm -rf build build-gcc build-asan build-clang build-static build-summary.txt
