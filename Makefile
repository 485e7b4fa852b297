# SPDX-License-Identifier: GPL-2.0-only
# Every task a person needs. "make help" lists them; V=1 shows the commands.

VERSION := 0.1.0
# What guest programs are built for; arm64 and amd64 are other names. Programs for an architecture
# that is not this machine's are cross-built: only those for guests, with the libraries that
# "tlbvm sysroot" brings.
HOST_ARCH := $(shell uname -m)
ARCH ?= $(HOST_ARCH)
override ARCH := $(patsubst arm64,aarch64,$(patsubst amd64,x86_64,$(ARCH)))
TOP := build

CC ?= gcc
CLANG ?= clang
BPFTOOL ?= bpftool
CFLAGS ?= -O2 -g
# SANITIZE=1 builds into build/asan with the address and undefined-behaviour sanitizers.
ifeq ($(SANITIZE),1)
TOP := build/asan
SAN := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
endif
ifeq ($(ARCH),$(HOST_ARCH))
B := $(TOP)
MULTIARCH = $(shell $(CC) -print-multiarch)
BPF_INCLUDE = -I/usr/include/$(MULTIARCH)
else
# Objects, BPF programs (they know the registers) and generated headers of each in a folder of its own.
B := $(TOP)/$(ARCH)
CC := $(ARCH)-linux-gnu-gcc
SYSROOT := $(B)/sysroot
SYSROOT_FLAGS := -isystem $(SYSROOT)/usr/include -isystem $(SYSROOT)/usr/include/$(ARCH)-linux-gnu
SYSROOT_LIBS := -L$(SYSROOT)/usr/lib/$(ARCH)-linux-gnu
BPF_INCLUDE := -I/usr/$(ARCH)-linux-gnu/include
endif
BPF_TARGET_x86_64 := x86
BPF_TARGET_aarch64 := arm64

WARN := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 \
	-Wno-format-nonliteral
CPPFLAGS += -D_GNU_SOURCE -DTLBSTAT_VERSION='"$(VERSION)"' -Isrc -Ibench -I$(B)
ALL_CFLAGS = -std=gnu17 $(WARN) -fPIE -MMD -MP $(CFLAGS) $(SAN) $(SYSROOT_FLAGS)
BPF_CFLAGS = -target bpf -mcpu=v3 -D__TARGET_ARCH_$(BPF_TARGET_$(ARCH)) -O2 -g -Wall -Werror -Ibpf -Isrc \
	$(BPF_INCLUDE)

LIBS_BPF := $(SYSROOT_LIBS) -lbpf -lelf -lz -lseccomp
LIBS := $(SYSROOT_LIBS) -ljansson -lpthread -lm

Q := @
ifeq ($(V),1)
Q :=
endif
say = @printf '  %-8s %s\n' '$(1)' '$(2)'

COMMON := $(patsubst src/common/%.c,$(B)/common/%.o,$(wildcard src/common/*.c))
OBSERVER := $(patsubst src/%.c,$(B)/src/%.o,$(filter-out src/tlbstat.c src/cmd_%.c,$(wildcard src/*.c)))
TLBSTAT := $(patsubst src/%.c,$(B)/src/%.o,$(wildcard src/tlbstat.c src/cmd_*.c))
BENCH := $(patsubst bench/%.c,$(B)/bench/%.o,$(filter-out bench/tlbbench.c,$(wildcard bench/*.c)))
VM := $(patsubst bench/vm/%.c,$(B)/vm/%.o,$(filter-out bench/vm/tlbvm.c bench/vm/agent.c,$(wildcard bench/vm/*.c)))
SKELS := $(patsubst bpf/%.bpf.c,$(B)/%.skel.h,$(wildcard bpf/*.bpf.c))
UNIT := $(patsubst tests/unit/%.c,$(B)/unit/%,$(wildcard tests/unit/test_*.c))
FUZZ := $(patsubst tests/fuzz/%.c,$(B)/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))
PROGRAMS := $(B)/tlbstat $(B)/tlbbench $(B)/tlbvm
GUEST_DIR := $(TOP)/guest/$(ARCH)
GUEST := $(GUEST_DIR)/tlbstat $(GUEST_DIR)/tlbbench $(GUEST_DIR)/agent

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all guest native
ifeq ($(ARCH),$(HOST_ARCH))
all: $(PROGRAMS) guest ## Build the programs, and their static copies for guests; ARCH=arm64 for such guests
	@:
else
all: native
	$(Q)$(MAKE) --no-print-directory guest
native:
	$(Q)$(MAKE) --no-print-directory ARCH=$(HOST_ARCH) all
# The list of packages is there; looking at what is in the cache takes no time.
$(SYSROOT): bench/vm/sysroot.c
	$(call say,SYSROOT,$@)
	$(Q)command -v $(CC) >/dev/null || { \
		echo "no cross compiler $(CC): as root, make deps-arm64 installs it" >&2; exit 1; }
	$(Q)mkdir -p $(@D) && folder=$$($(TOP)/tlbvm sysroot --arch $(ARCH)) && ln -sfn "$$folder" $@
$(COMMON) $(OBSERVER) $(TLBSTAT) $(BENCH) $(VM) $(B)/bench/tlbbench.o $(B)/vm/agent.o: | $(SYSROOT)
endif
guest: $(GUEST)
	@:

# The commit, for tlbstat_build_info; written anew only when it changed.
.PHONY: revision
$(B)/revision.h: revision
	$(Q)mkdir -p $(@D) && echo "#define TLBSTAT_REVISION \"$$(git describe --always --dirty \
		--exclude '*' 2>/dev/null || echo unknown)\"" > $@.tmp && \
		{ cmp -s $@.tmp $@ && rm $@.tmp || mv $@.tmp $@; }
$(B)/src/metrics.o $(B)/fuzzlib/src/metrics.o: $(B)/revision.h

$(B)/common/%.o: src/common/%.c
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D) && $(CC) $(CPPFLAGS) $(ALL_CFLAGS) -c $< -o $@
$(B)/src/%.o: src/%.c | $(SKELS)
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D) && $(CC) $(CPPFLAGS) $(ALL_CFLAGS) -c $< -o $@
$(B)/bench/%.o: bench/%.c
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D) && $(CC) $(CPPFLAGS) $(ALL_CFLAGS) -c $< -o $@
$(B)/vm/%.o: bench/vm/%.c
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D) && $(CC) $(CPPFLAGS) $(ALL_CFLAGS) -c $< -o $@

$(B)/%.bpf.o: bpf/%.bpf.c $(wildcard bpf/*.h) src/counters.h src/tlbi_limits.h
	$(call say,BPF,$<)
	$(Q)mkdir -p $(@D) && $(CLANG) $(BPF_CFLAGS) -c $< -o $@.tmp && \
		$(BPFTOOL) gen object $@ $@.tmp && rm $@.tmp
$(B)/%.skel.h: $(B)/%.bpf.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name $(subst .bpf,,$*)_bpf > $@.tmp && mv $@.tmp $@

$(B)/tlbstat: $(TLBSTAT) $(OBSERVER) $(COMMON)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(SAN) $(LDFLAGS) -pie $^ $(LIBS_BPF) $(LIBS) -o $@
$(B)/tlbbench: $(B)/bench/tlbbench.o $(BENCH) $(OBSERVER) $(COMMON)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(SAN) $(LDFLAGS) -pie $^ $(LIBS_BPF) $(LIBS) -o $@
# tlbvm ab joins the results of boots.
RESULT := $(patsubst %,$(B)/bench/%.o,environment_diff metric result result_join)
$(B)/tlbvm: $(B)/vm/tlbvm.o $(VM) $(RESULT) $(COMMON)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(SAN) $(LDFLAGS) -pie $^ $(LIBS) -lz -o $@

$(GUEST_DIR)/tlbstat: $(TLBSTAT) $(OBSERVER) $(COMMON)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(CFLAGS) $(LDFLAGS) -static-pie $^ $(LIBS_BPF) $(LIBS) -o $@
$(GUEST_DIR)/tlbbench: $(B)/bench/tlbbench.o $(BENCH) $(OBSERVER) $(COMMON)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(CFLAGS) $(LDFLAGS) -static-pie $^ $(LIBS_BPF) $(LIBS) -o $@
$(GUEST_DIR)/agent: $(B)/vm/agent.o $(B)/vm/frames.o $(B)/vm/newroot.o $(COMMON)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(CFLAGS) $(LDFLAGS) -static-pie $^ $(SYSROOT_LIBS) -lz -o $@

$(B)/unit/%: tests/unit/%.c $(BENCH) $(VM) $(OBSERVER) $(COMMON)
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D) && $(CC) $(CPPFLAGS) $(ALL_CFLAGS) -pie $< $(BENCH) $(VM) $(OBSERVER) \
		$(COMMON) $(LIBS_BPF) $(LIBS) -lcmocka -o $@

# What fuzz targets link with: an archive, so that each takes only what it calls.
FUZZ_FLAGS := -g -O1 -D_GNU_SOURCE -fno-omit-frame-pointer -fno-sanitize-recover=all
FUZZ_OBJECTS := $(patsubst $(B)/%,$(B)/fuzzlib/%,$(COMMON) $(OBSERVER) $(BENCH) $(VM))
# $(call fuzz-objects,FOLDER OF OBJECTS,FOLDER OF SOURCES)
define fuzz-objects
$(B)/fuzzlib/$(1)/%.o: $(2)/%.c | $(SKELS)
	$$(call say,FUZZCC,$$<)
	$$(Q)mkdir -p $$(@D) && $(CLANG) $$(CPPFLAGS) -std=gnu17 -MMD -MP $$(FUZZ_FLAGS) \
		-fsanitize=fuzzer-no-link,address,undefined -c $$< -o $$@
endef
$(eval $(call fuzz-objects,common,src/common))
$(eval $(call fuzz-objects,src,src))
$(eval $(call fuzz-objects,bench,bench))
$(eval $(call fuzz-objects,vm,bench/vm))
$(B)/fuzzlib.a: $(FUZZ_OBJECTS)
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar qcs $@ $^
$(B)/fuzz/%: tests/fuzz/%.c tests/fuzz/fuzz.h $(B)/fuzzlib.a
	$(call say,FUZZ,$@)
	$(Q)mkdir -p $(@D) && $(CLANG) $(CPPFLAGS) -std=gnu17 $(WARN) $(FUZZ_FLAGS) \
		-fsanitize=fuzzer,address,undefined $< $(B)/fuzzlib.a $(LIBS_BPF) $(LIBS) -o $@

# Programs that the guest tests run inside guests.
$(GUEST_DIR)/tests/%: tests/guest/%.c
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D) && $(CC) -std=gnu17 -D_GNU_SOURCE $(WARN) $(CFLAGS) -static $< -lpthread -o $@

# Prometheus and node_exporter, for the tests. The packages are not installed: that would start servers.
# $(call unpack,PACKAGE,PROGRAMS)
define unpack
	$(call say,FETCH,$(2))
	$(Q)mkdir -p $(B) && cd $(B) && rm -rf $(1).new && mkdir $(1).new && cd $(1).new && \
		{ apt-get download -qq -o APT::Sandbox::User=root $(1) || { apt-get update -qq && \
			apt-get download -qq -o APT::Sandbox::User=root $(1); }; } && \
		dpkg-deb --fsys-tarfile $(1)_*.deb | tar -x $(addprefix ./usr/bin/,$(2)) && \
		mv usr/bin/* .. && rm -rf ../$(1).new
endef
PROMETHEUS := $(B)/prometheus $(B)/promtool $(B)/prometheus-node-exporter
$(B)/prometheus $(B)/promtool &:
	$(call unpack,prometheus,prometheus promtool)
$(B)/prometheus-node-exporter:
	$(call unpack,prometheus-node-exporter,prometheus-node-exporter)

# --- Setting up ----------------------------------------------------------------------------------

# Debian 12's own packages are enough. What each is for: see README.md.
DEPS_BUILD := gcc libc6-dev make clang llvm bpftool libbpf-dev libelf-dev zlib1g-dev libjansson-dev \
	libseccomp-dev
DEPS_GUEST := qemu-system-x86 busybox-static xz-utils jq
DEPS_TEST := libcmocka-dev libclang-rt-14-dev clang-format shellcheck mandoc locales procps \
	git flex bison bc systemd curl debootstrap e2fsprogs
# To build programs for arm64 guests, and to run these.
DEPS_ARM64 := gcc-aarch64-linux-gnu libc6-dev-arm64-cross linux-libc-dev-arm64-cross qemu-system-arm
# To build the Debian package, and to check it.
DEPS_DEB := build-essential debhelper dpkg-dev fakeroot lintian

DEPS_KERNEL := git perl flex bison bc libssl-dev libelf-dev pahole rsync gcc-aarch64-linux-gnu

# A browser, what draws charts in it, and what makes a picture small.
DEPS_PICTURES := chromium fonts-dejavu-core libjs-chart.js pngquant

# $(call install,PACKAGES): only what is missing, and only then the network is asked.
define install
	@missing=$$(for p in $(1); do \
		dpkg-query -W -f '$${db:Status-Status}\n' $$p 2>/dev/null | grep -qx installed || echo $$p; \
	done); \
	if [ -n "$$missing" ]; then \
		echo "installing:" $$missing; start=$$(date +%s); \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
			--no-install-recommends $$missing >/dev/null || { \
			echo "could not install; as root try: apt-get install" $$missing >&2; exit 1; }; \
		echo "installed in $$(($$(date +%s) - start)) s"; \
	fi
endef

.PHONY: deps deps-arm64 deps-deb deps-test deps-kernel deps-selftests deps-pictures
# For guests of another architecture.
DEPS_CROSS := $(if $(filter-out $(HOST_ARCH),$(ARCH)),deps-arm64)
deps: ## Install the packages to build and to run guests (root, Debian 12)
	$(call install,$(DEPS_BUILD) $(DEPS_GUEST))
deps-arm64: ## The same and those for arm64 guests
	$(call install,$(DEPS_BUILD) $(DEPS_GUEST) $(DEPS_ARM64))
deps-deb: ## Those to build, and those to make a Debian package
	$(call install,$(DEPS_BUILD) $(DEPS_DEB))
deps-test: ## The same and those of the tests
	$(call install,$(DEPS_BUILD) $(DEPS_GUEST) $(DEPS_ARM64) $(DEPS_DEB) $(DEPS_TEST))
deps-kernel: ## The same as deps and those to build kernels
	$(call install,$(DEPS_BUILD) $(DEPS_GUEST) $(DEPS_KERNEL))
deps-selftests: ## The same and those of the kernel's selftests
	$(call install,$(DEPS_BUILD) $(DEPS_GUEST) $(DEPS_KERNEL) libcap-dev libnuma-dev liburing-dev bash-static)
deps-pictures: ## The same as deps-test and those to draw dashboards
	$(call install,$(DEPS_BUILD) $(DEPS_GUEST) $(DEPS_ARM64) $(DEPS_TEST) $(DEPS_PICTURES))

# --- The main job --------------------------------------------------------------------------------

.PHONY: demo
demo: deps $(DEPS_CROSS) ## Show needless flushes, on an unmodified distribution kernel in a guest; ARCH=arm64
	$(Q)$(MAKE) --no-print-directory $(JOBS) all
	$(Q)ARCH=$(ARCH) bench/demo

.PHONY: reproduce
reproduce: deps ## Count the kernel change's interrupts beside those published; CPUS=112 LIMIT=60m
	$(Q)$(MAKE) --no-print-directory $(JOBS) all
	$(Q)bench/reproduce

.PHONY: ab
ab: deps ## Run the suite without and with the kernel change; CPUS='16 64' RUNS=5 PAGES=1024
	$(Q)$(MAKE) --no-print-directory $(JOBS) all
	$(Q)bench/ab

# --- Installing ----------------------------------------------------------------------------------

PREFIX ?= /usr/local
# systemd looks there for PREFIX=/usr and /usr/local; below others it does not.
UNITDIR ?= $(PREFIX)/lib/systemd/system
BINDIR := $(PREFIX)/bin
GUESTDIR := $(PREFIX)/lib/tlbstat
DATADIR := $(PREFIX)/share/tlbstat
MANDIR := $(PREFIX)/share/man/man1
COMPLETIONDIR := $(PREFIX)/share/bash-completion/completions
DASHBOARDS := $(wildcard dashboards/*.json dashboards/*.yml dashboards/*.md)

.PHONY: install uninstall
# What guests run is installed for each architecture that was built.
install: all ## Install the programs into PREFIX (/usr/local), below DESTDIR if given
	$(Q)install -d $(addprefix $(DESTDIR),$(BINDIR) $(MANDIR) $(COMPLETIONDIR) $(UNITDIR))
	$(Q)install $(PROGRAMS) $(DESTDIR)$(BINDIR)
	$(Q)for folder in $(TOP)/guest/*; do \
		[ -x $$folder/agent ] || continue; to=$(DESTDIR)$(GUESTDIR)/guest/$${folder##*/}; \
		install -d $$to && install $$folder/agent $$folder/tlbstat $$folder/tlbbench $$to || exit 1; \
	done
	$(Q)install -m 644 man/*.1 $(DESTDIR)$(MANDIR)
	$(Q)install -m 644 completions/* $(DESTDIR)$(COMPLETIONDIR)
	$(Q)sed 's|/usr/bin/tlbstat|$(BINDIR)/tlbstat|' packaging/tlbstat.service >$(B)/tlbstat.service
	$(Q)install -m 644 $(B)/tlbstat.service $(DESTDIR)$(UNITDIR)
	$(Q)install -d $(DESTDIR)$(DATADIR)/dashboards
	$(Q)install -m 644 $(DASHBOARDS) $(DESTDIR)$(DATADIR)/dashboards
	$(call say,INSTALL,$(DESTDIR)$(PREFIX))
uninstall: ## Remove what make install put there, with the same PREFIX and DESTDIR
	$(Q)rm -f $(addprefix $(DESTDIR)$(BINDIR)/,$(notdir $(PROGRAMS))) \
		$(addprefix $(DESTDIR)$(MANDIR)/,$(notdir $(wildcard man/*.1))) \
		$(addprefix $(DESTDIR)$(COMPLETIONDIR)/,$(notdir $(wildcard completions/*))) \
		$(DESTDIR)$(UNITDIR)/tlbstat.service
	$(Q)rm -rf $(DESTDIR)$(GUESTDIR) $(DESTDIR)$(DATADIR)

# Built from a copy, so that nothing appears beside debian/ here.
OUT ?= out
DEB := $(OUT)/deb
.PHONY: deb
deb: deps-deb ## Build the Debian package from a copy of this tree, check it with lintian, put it into OUT (out)
	$(Q)rm -rf $(DEB) $(OUT)/tlbstat_*.deb && mkdir -p $(DEB)/tlbstat
	$(Q)tar -c --exclude=./build --exclude=./out --exclude=./.git . | tar -x -C $(DEB)/tlbstat
	$(Q)cd $(DEB)/tlbstat && env -u MAKEFLAGS -u MFLAGS \
		DEB_BUILD_OPTIONS="noautodbgsym parallel=$$(nproc)" dpkg-buildpackage -b -us -uc
	$(Q)lintian --allow-root --fail-on error,warning $(DEB)/*.changes
	$(Q)mv $(DEB)/*.deb $(OUT) && rm -rf $(DEB) && ls $(OUT)/*.deb

# --- Testing -------------------------------------------------------------------------------------

GUEST_TESTS := $(patsubst tests/guest/%.c,$(GUEST_DIR)/tests/%,$(wildcard tests/guest/*.c))
# As many jobs as there are CPUs, unless -j was given.
JOBS = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))

.PHONY: unit test fuzz
unit: $(UNIT)
test: deps-test ## Run all tests; TEST_ONLY=pattern runs those whose path matches
	$(Q)$(MAKE) --no-print-directory $(JOBS) all $(GUEST_TESTS) $(FUZZ) $(PROMETHEUS)
	$(Q)$(MAKE) --no-print-directory $(JOBS) ARCH=aarch64 all
	$(Q)$(MAKE) --no-print-directory $(JOBS) SANITIZE=1 unit
	$(Q)BUILD=$(B) tests/run $(patsubst $(B)/%,$(B)/asan/%,$(UNIT)) $(FUZZ) \
		$(wildcard tests/cli/*.sh tests/guest/*.sh)
fuzz: deps-test ## Fuzz each parser for FUZZ_SECONDS (10)
	$(Q)$(MAKE) --no-print-directory $(JOBS) $(FUZZ)
	$(Q)tests/fuzz/run.sh $(or $(FUZZ_SECONDS),10) $(FUZZ)

.PHONY: test-patched
test-patched: deps-test $(if $(KERNEL),,deps-kernel) ## Run the tests of a patched kernel; KERNEL=bzImage for a ready one
	$(Q)$(MAKE) --no-print-directory $(JOBS) all $(GUEST_TESTS)
	$(Q)kernel=$(KERNEL); [ -n "$$kernel" ] || kernel=$$(kernel-patches/build --with series) || exit 1; \
		BUILD=$(B) KERNEL=$$kernel tests/run $(wildcard tests/patched/*.sh)

.PHONY: kernels
kernels: deps-kernel ## Build Linux 7.3 without and with the kernel patches, and print where they are
	$(Q)$(MAKE) --no-print-directory $(JOBS) all
	$(Q)kernel-patches/build --with none
	$(Q)kernel-patches/build --with series

.PHONY: hunt mutants
hunt: deps-kernel $(DEPS_CROSS) ## Hunt for stale translations in the patched kernel, for TIME (30m); ARCH=arm64
	$(Q)$(MAKE) --no-print-directory $(JOBS) all
	$(Q)ARCH=$(ARCH) BUILD=$(TOP) tests/hunt
mutants: deps-kernel $(DEPS_CROSS) ## Show that the hunter catches broken copies of the kernel change; ARCH=arm64
	$(Q)$(MAKE) --no-print-directory $(JOBS) all
	$(Q)ARCH=$(ARCH) BUILD=$(TOP) tests/mutants/run

.PHONY: soak
soak: deps-test ## Run the daemon for as many files as in 24 hours, and tell what it costs; HOURS=24
	$(Q)$(MAKE) --no-print-directory $(JOBS) all $(GUEST_TESTS)
	$(Q)tests/soak

.PHONY: selftests
selftests: deps-selftests ## Run the kernel's own mm selftests without and with the kernel change, and compare
	$(Q)$(MAKE) --no-print-directory $(JOBS) all
	$(Q)BUILD=$(TOP) tests/selftests/run

.PHONY: check-patches
check-patches: ## Apply the kernel patches to their pristine bases, check them, build what they touch
	$(Q)kernel-patches/check

.PHONY: cost
cost: all ## Count the instructions of batched flushes: base, with series, with series.many
	$(Q)BUILD=$(B) tests/tcg/cost

.PHONY: broadcasts
broadcasts: deps-arm64 deps-kernel ## Count the TLBIs of an arm64 kernel with the arm64 change off and on
	$(Q)$(MAKE) --no-print-directory $(JOBS) all
	$(Q)$(MAKE) --no-print-directory $(JOBS) ARCH=arm64 guest
	$(Q)BUILD=$(TOP) tests/tcg/broadcasts

.PHONY: fleet
fleet: deps-test ## Scrape 500 simulated hosts with one Prometheus: memory, and times of the queries
	$(Q)$(MAKE) --no-print-directory $(JOBS) all $(PROMETHEUS)
	$(Q)$(MAKE) --no-print-directory $(JOBS) ARCH=aarch64 guest
	$(Q)BUILD=$(TOP) tests/fleet/run
.PHONY: pictures
pictures: deps-pictures ## Draw the dashboards anew, of what daemons write in guests (half an hour)
	$(Q)$(MAKE) --no-print-directory $(JOBS) all $(PROMETHEUS)
	$(Q)$(MAKE) --no-print-directory $(JOBS) ARCH=aarch64 guest
	$(Q)BUILD=$(TOP) dashboards/picture/host dashboards/tlbstat-host.png
	$(Q)BUILD=$(TOP) PICTURE=dashboards/tlbstat-fleet.png tests/fleet/run >/dev/null

# --- Keeping the house ---------------------------------------------------------------------------

SOURCES = $(shell git ls-files '*.c' '*.h')
SCRIPTS = .ci/run $(shell git ls-files 'bench/ab' 'bench/demo' 'bench/reproduce' 'kernel-patches/build' 'kernel-patches/check' 'tests/run' 'tests/soak' 'dashboards/picture/host' 'dashboards/picture/render' 'tests/fleet/run' 'tests/hunt' 'tests/mutants/run' 'tests/selftests/build' 'tests/selftests/guest' 'tests/selftests/report' 'tests/selftests/run' 'tests/systemd/image' 'tests/systemd/inside' 'tests/tcg/broadcasts' 'tests/tcg/cost' '*.sh')

.PHONY: lint
lint: deps-test ## Check the layout of the sources, the scripts and the man pages
	$(Q)clang-format --dry-run -Werror $(SOURCES)
	$(Q)shellcheck -x $(SCRIPTS)
	$(Q)for page in man/*; do mandoc -T lint -W warning $$page || exit 1; done
	@echo "lint: ok"

.PHONY: clean
clean: ## Remove what was built here (the cache of kernels stays)
	$(Q)rm -rf build out

.PHONY: help
help: ## Show this
	@echo 'make TARGET [V=1] [SANITIZE=1]'
	@sed -n 's/^\([a-z][a-z0-9-]*\):.*## \(.*\)/  \1\t\2/p' Makefile | expand -t 16

-include $(wildcard $(B)/*/*.d $(B)/fuzzlib/*/*.d)
