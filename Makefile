# The one front door: builds, installs and tests libvow. `make` alone prints the help and builds.
#
# Recipes say when and with what; how is in scripts/.

VERSION := $(shell sed -n 's/^.define VOW_VERSION_STRING "\(.*\)"/\1/p' include/vow.h)

PREFIX  ?= /usr/local
DESTDIR ?=
LIBDIR  ?= lib
RELOCATABLE ?=
BUILD   ?= build
SWIFTC  ?= swiftc
ARGS    ?=
SECONDS ?= 60

export FUZZ_SECONDS := $(SECONDS)
ifeq ($(origin CC),default)
CC      := $(firstword $(foreach name,cc gcc clang,$(if $(shell command -v $(name)),$(name))))
endif

# Each variant has a directory of its own: plain $(BUILD), else $(BUILD)/checked and so on.
ifneq ($(filter-out 1,$(CHECKED) $(MINIMAL) $(UCONTEXT) $(WATCHED)),)
$(error CHECKED, MINIMAL, UCONTEXT and WATCHED are 1 or not given)
endif
variant := $(SANITIZE)$(if $(WATCHED),watched)$(if $(CHECKED),checked)$(if $(MINIMAL),minimal)$(if $(UCONTEXT),ucontext)
OUT     := $(BUILD)$(addprefix /,$(variant))
LIB     := $(OUT)/lib/libvow.a

flavour := $(or $(variant),plain)
OBJ     := $(BUILD)/objects/$(flavour)

export VERSION PREFIX DESTDIR LIBDIR RELOCATABLE BUILD SWIFTC CC CHECKED MINIMAL UCONTEXT WATCHED SANITIZE OUT OBJ

library_sources := $(shell find Sources/VowCore Sources/CVowPlatform include) \
                   packaging/libvow.map scripts/build-objects scripts/lib/toolchain.sh \
                   scripts/lib/sources.sh
demo_sources    := examples-c/curl/chain.c examples-c/curl/fetch.c examples-c/curl/site.c

# The targets between these two lines of this file.
PARTS := $(shell sed -n '/^# The parts of/,/^[$$]/s/^\([a-z-]*\): .*/\1/p' Makefile)

.DELETE_ON_ERROR:
.PHONY: all help lib install uninstall wheel dist deb demo examples check test prove bench bench-check \
        docs man deps format clean parts $(PARTS)

##@ Use it

all: help lib ## This list, and the library: what `make` alone does

help: ## This list
	@awk 'BEGIN { FS = ":.*## "; print "Vow $(VERSION)" } \
	    /^##@ / { printf "\n%s\n", substr($$0, 5) } \
	    /^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 } \
	    /^#= / { print substr($$0, 4) }' Makefile

lib: $(LIB) ## The library, shared and static, in build/lib

demo: $(OUT)/bin/vow-demo ## Three chained HTTP requests through libcurl on loopback, and what can go wrong
	$(OUT)/bin/vow-demo

examples: $(LIB) ## All examples, compared with their expected output
	scripts/examples tree
	scripts/postgres-tests tree

install: $(LIB) ## Header, libraries, vow.pc and CMake files, into $(DESTDIR)$(PREFIX)
	scripts/install

wheel: ## The Python package with the library inside, in build/python/dist
	bindings/python/build-wheel $(BUILD)/python/dist

uninstall: ## Removes what install put there
	scripts/uninstall

dist: ## Source and binary tarballs of the last commit, in build/dist
	scripts/make-dist

deb: ## Debian packages of the last commit, in build/deb
	scripts/make-deb

##@ Work on it

check: ## Format, floors, header, exports, limits: before every commit
	scripts/test check

test: $(filter deps,$(MAKECMDGOALS)) ## The whole behaviour once; ends with "N passed, N failed, N skipped"
	scripts/test

prove: ## All that is deep, part by part. SECONDS=3600: an hour of fuzzing
	scripts/prove

# The parts of `prove`, one by one; `make parts` lists them.
schedules: ## All interleavings of small scenarios, up to a bound
models: ## The models of the core's protocols, searched exhaustively by spin
asan: ## C and C++ tests, faults and examples under AddressSanitizer
tsan: ## The same under ThreadSanitizer
lsan: ## The same, but C++, under LeakSanitizer alone
valgrind: ## The same under valgrind: errors and definite leaks fail
forms: ## The C tests with archive and checked library; the heavy ones
faces: ## C++ by other compilers and standards; packages of users; Swift for release
swift-tsan: ## The Swift package's tests under ThreadSanitizer
fuzz: ## Random programs against a reference model, for SECONDS=60
mutants: ## Plants faults, one by one: the models, schedules or fuzzer must find each
packages: ## Documents, tarballs, Debian packages, users' build systems, in an empty Debian
bare: ## The README's two commands on a bare machine, as root and as anybody

$(PARTS):
	scripts/prove $@

parts:
	@echo $(PARTS)

bench-check: ## Allocations, bytes, atomic steps and instructions within their budgets
	bench/check/run $(ARGS)

bench: $(LIB) ## Vow beside its peers, in one run; ARGS="--quick --only=W1,W2" and others
	bench/run $(ARGS)

docs: ## References, manual pages, Swift pages and book, in build/docs
	scripts/docs

man: ## The reference of vow.h and its manual pages, which install then takes along; needs doxygen
	scripts/docs c

# Beside `test`, what cannot be installed is left out of the tests, by name.
deps: ## Installs what `make test` needs beyond Swift, git and make, as root or with sudo
	scripts/deps $(if $(filter test,$(MAKECMDGOALS)),|| true)

format: ## Formats every Swift and C file
	scripts/check-format --write

clean: ## Removes what was built
	rm -rf $(BUILD) .build

#= 
#= Variables: CC SWIFTC BUILD PREFIX DESTDIR LIBDIR ARGS SECONDS
#= CHECKED=1  a library that names misused handles and aborts, in build/checked/lib
#= MINIMAL=1  a library without tracing, a tenth smaller, in build/minimal/lib
#= WATCHED=1  a library that keeps no freed memory, for valgrind and the like, in build/watched/lib

# Compilers, libdispatch and headers are inputs like any other.
$(BUILD)/found: found-anew scripts/found scripts/lib/toolchain.sh
	@scripts/found $@

found-anew:

$(OBJ)/done: $(library_sources) $(BUILD)/found
	scripts/build-objects

$(LIB): $(OBJ)/done scripts/build-lib
	scripts/build-lib

$(OUT)/bin/vow-demo: $(demo_sources) $(wildcard examples-c/*.h examples-c/curl/*.h) $(LIB)
	@bash -c '. scripts/lib/tools.sh && need pkg-config libcurl'
	scripts/build-program $@ $(demo_sources) $$(pkg-config --cflags --libs libcurl)
