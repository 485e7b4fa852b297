# SPDX-License-Identifier: GPL-2.0-only
# Every task a person needs. "make help" lists them; V=1 shows the commands.

VERSION := 0.1.0
ARCH ?= x86_64
B := build

CC ?= gcc
CLANG ?= clang
BPFTOOL ?= bpftool
CFLAGS ?= -O2 -g
# SANITIZE=1 builds into build/asan with the address and undefined-behaviour sanitizers.
ifeq ($(SANITIZE),1)
B := build/asan
SAN := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
endif

WARN := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 \
	-Wno-format-nonliteral
CPPFLAGS += -D_GNU_SOURCE -DTLBSTAT_VERSION='"$(VERSION)"' -Isrc -Ibench -I$(B)
ALL_CFLAGS = -std=gnu17 $(WARN) -fPIE -MMD -MP $(CFLAGS) $(SAN)
BPF_CFLAGS := -target bpf -mcpu=v3 -D__TARGET_ARCH_x86 -O2 -g -Wall -Werror -Ibpf -Isrc -I/usr/include/$(shell $(CC) -print-multiarch)

LIBS_BPF := -lbpf -lelf -lz
LIBS := -ljansson -lpthread -lm

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
GUEST := $(B)/guest/$(ARCH)/tlbstat $(B)/guest/$(ARCH)/tlbbench $(B)/guest/$(ARCH)/agent

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all
all: $(PROGRAMS) $(GUEST) ## Build the programs, and their static copies for guests

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

$(B)/%.bpf.o: bpf/%.bpf.c $(wildcard bpf/*.h) src/counters.h
	$(call say,BPF,$<)
	$(Q)mkdir -p $(@D) && $(CLANG) $(BPF_CFLAGS) -c $< -o $@.tmp && \
		$(BPFTOOL) gen object $@ $@.tmp && rm $@.tmp
$(B)/%.skel.h: $(B)/%.bpf.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name $(subst .bpf,,$*)_bpf > $@.tmp && mv $@.tmp $@

$(B)/tlbstat: $(TLBSTAT) $(OBSERVER) $(COMMON)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(SAN) -pie $^ $(LIBS_BPF) $(LIBS) -o $@
$(B)/tlbbench: $(B)/bench/tlbbench.o $(BENCH) $(OBSERVER) $(COMMON)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(SAN) -pie $^ $(LIBS_BPF) $(LIBS) -o $@
$(B)/tlbvm: $(B)/vm/tlbvm.o $(VM) $(COMMON)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(SAN) -pie $^ $(LIBS) -o $@

$(B)/guest/$(ARCH)/tlbstat: $(TLBSTAT) $(OBSERVER) $(COMMON)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(CFLAGS) -static-pie $^ $(LIBS_BPF) $(LIBS) -o $@
$(B)/guest/$(ARCH)/tlbbench: $(B)/bench/tlbbench.o $(BENCH) $(OBSERVER) $(COMMON)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(CFLAGS) -static-pie $^ $(LIBS_BPF) $(LIBS) -o $@
$(B)/guest/$(ARCH)/agent: $(B)/vm/agent.o $(COMMON)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(CFLAGS) -static-pie $^ $(LIBS) -o $@

$(B)/unit/%: tests/unit/%.c $(BENCH) $(VM) $(OBSERVER) $(COMMON)
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D) && $(CC) $(CPPFLAGS) $(ALL_CFLAGS) -pie $< $(BENCH) $(VM) $(OBSERVER) \
		$(COMMON) $(LIBS_BPF) $(LIBS) -lcmocka -o $@

-include $(wildcard $(B)/*/*.d)
