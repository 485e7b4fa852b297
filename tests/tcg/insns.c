/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A plugin for QEMU's emulation that counts the instructions a Linux guest on x86 spends on batches
 * of TLB flushes: for each page that is added to a batch, and for each flush of a batch.
 *
 *	-plugin insns.so,symbols=FILE,out=FILE
 *
 * symbols: the guest's /proc/kallsyms, read by root, of a boot with nokaslr. out gets a line for
 * each different count:
 *
 *	add N INSNS CALLS	the Nth page of a batch: set_tlb_ubc_flush_pending()
 *	flush N INSNS CALLS	a batch of N pages: arch_tlbbatch_flush(), without what is in "send"
 *	send N INSNS CALLS	its native_flush_tlb_multi(): raising interrupts and waiting
 *	lost CALLS		calls that another task interrupted, not among the above
 *
 * Functions are counted with what they call, from their first instruction to their return, without
 * interrupts that come in between. A repeated string instruction counts once for each repetition.
 *
 * "add" and "flush" depend on nothing but the guest's data. "send" waits, so that it depends on how
 * the CPUs take turns. All CPUs must share a thread (-accel tcg,thread=single): nothing is locked.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin.h"

int qemu_plugin_version = 1;

#define MAX_VCPUS   256
#define MAX_SYMBOLS 256
#define MAX_ROWS    65536

/* What begins at an address. The first three are counted. */
enum role {
	ROLE_ADD,
	ROLE_FLUSH,
	ROLE_SEND,
	ROLE_INTERRUPT,
	ROLE_SWITCH,
	ROLE_NONE
};

/* How a block of instructions ends. */
enum ending {
	ENDS_PLAIN,
	ENDS_CALL,
	ENDS_RETURN,
	ENDS_INTERRUPT
};

struct symbol {
	uint64_t address;
	enum role role;
};

/* Instructions that run one after the other. Those that change the flow end a block. */
struct block {
	enum role role;
	enum ending ending;
	unsigned int insns;
};

/* A counted function that a CPU is in. */
struct frame {
	enum role role;
	unsigned int depth; /* of calls below it */
	uint64_t insns;
};

struct vcpu {
	struct frame frames[ROLE_SEND + 1];
	unsigned int nr_frames;
	unsigned int interrupts; /* nested ones, on top of the frames */
	uint64_t adds;		 /* since the last flush */
};

struct row {
	enum role role;
	uint64_t nth, insns, calls;
};

static const char *const role_names[] = { "add", "flush", "send" };

static struct symbol symbols[MAX_SYMBOLS];
static unsigned int nr_symbols;
static struct vcpu vcpus[MAX_VCPUS];
static struct row rows[MAX_ROWS];
static unsigned int nr_rows;
static uint64_t lost;
static FILE *out;

static bool starts_with(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

/* GCC may have specialised a static function: its name then goes on with a dot. */
static bool is_function(const char *name, const char *function)
{
	size_t length = strlen(function);

	return starts_with(name, function) && (!name[length] || name[length] == '.');
}

static enum role role_of_symbol(const char *name)
{
	if (is_function(name, "set_tlb_ubc_flush_pending"))
		return ROLE_ADD;
	if (is_function(name, "arch_tlbbatch_flush"))
		return ROLE_FLUSH;
	if (is_function(name, "native_flush_tlb_multi"))
		return ROLE_SEND;
	if (is_function(name, "__switch_to_asm"))
		return ROLE_SWITCH;
	/* Where the vectors lead: arch/x86/include/asm/idtentry.h. */
	if (starts_with(name, "asm_sysvec_") || starts_with(name, "asm_exc_") ||
	    is_function(name, "asm_common_interrupt") ||
	    is_function(name, "asm_spurious_interrupt"))
		return ROLE_INTERRUPT;
	return ROLE_NONE;
}

/* Returns 0, or -EINVAL if the guest's symbols do not have what is to be counted. */
static int read_symbols(const char *path)
{
	FILE *file = fopen(path, "r");
	unsigned int seen[ROLE_NONE] = { 0 };
	char line[1024], name[512];
	uint64_t address;

	if (!file) {
		fprintf(stderr, "insns: open %s: %s\n", path, strerror(errno));
		return -errno;
	}
	while (fgets(line, sizeof(line), file)) {
		enum role role;

		if (sscanf(line, "%" SCNx64 " %*c %511s", &address, name) != 2)
			continue;
		role = role_of_symbol(name);
		if (role == ROLE_NONE || !address || nr_symbols == MAX_SYMBOLS)
			continue;
		symbols[nr_symbols++] = (struct symbol){ address, role };
		seen[role]++;
	}
	fclose(file);
	for (enum role role = 0; role < ROLE_NONE; role++) {
		if (seen[role] == 1 || (role == ROLE_INTERRUPT && seen[role]))
			continue;
		fprintf(stderr,
			"insns: %s names %u functions of kind %d, expected one: wants /proc/kallsyms "
			"of the guest's kernel, read by root\n",
			path, seen[role], role);
		return -EINVAL;
	}
	return 0;
}

static enum role role_of_address(uint64_t address)
{
	for (unsigned int i = 0; i < nr_symbols; i++)
		if (symbols[i].address == address)
			return symbols[i].role;
	return ROLE_NONE;
}

/* Near calls and returns, and iret, as the kernel's own code has them. */
static enum ending ending_of(const struct qemu_plugin_insn *insn)
{
	const uint8_t *code = qemu_plugin_insn_data(insn),
		      *end = code + qemu_plugin_insn_size(insn);

	/* Prefixes: repeat (as in "rep ret"), segment or notrack, REX. */
	while (code < end - 1 && (*code == 0xf3 || *code == 0x3e || (*code & 0xf0) == 0x40))
		code++;
	switch (*code) {
	case 0xe8:
		return ENDS_CALL;
	case 0xc2:
	case 0xc3:
		return ENDS_RETURN;
	case 0xcf:
		return ENDS_INTERRUPT;
	case 0xff:
		/* Group 5: /2 is an indirect call. */
		return code + 1 < end && ((code[1] >> 3) & 7) == 2 ? ENDS_CALL : ENDS_PLAIN;
	default:
		return ENDS_PLAIN;
	}
}

static void count_call(enum role role, uint64_t nth, uint64_t insns)
{
	unsigned int i;

	for (i = 0; i < nr_rows; i++)
		if (rows[i].role == role && rows[i].nth == nth && rows[i].insns == insns)
			break;
	if (i == MAX_ROWS) {
		lost++;
		return;
	}
	if (i == nr_rows)
		rows[nr_rows++] = (struct row){ .role = role, .nth = nth, .insns = insns };
	rows[i].calls++;
}

static void leave_function(struct vcpu *vcpu)
{
	const struct frame *frame = &vcpu->frames[--vcpu->nr_frames];

	if (frame->role == ROLE_ADD)
		vcpu->adds++;
	count_call(frame->role, vcpu->adds, frame->insns);
	if (frame->role == ROLE_FLUSH)
		vcpu->adds = 0;
}

/* Whether the block is to be counted: it is not part of an interrupt. */
static bool outside_interrupts(struct vcpu *vcpu, const struct block *block)
{
	if (block->role == ROLE_INTERRUPT)
		vcpu->interrupts++;
	if (!vcpu->interrupts)
		return true;
	if (block->ending == ENDS_INTERRUPT)
		vcpu->interrupts--;
	return false;
}

static void run_block(unsigned int index, void *data)
{
	const struct block *block = data;
	struct vcpu *vcpu = &vcpus[index % MAX_VCPUS];
	struct frame *frame;

	if (!vcpu->nr_frames && block->role > ROLE_SEND)
		return;
	if (block->role == ROLE_SWITCH) {
		lost += vcpu->nr_frames;
		vcpu->nr_frames = 0;
		vcpu->interrupts = 0;
		return;
	}
	if (!outside_interrupts(vcpu, block))
		return;
	if (block->role <= ROLE_SEND && vcpu->nr_frames <= ROLE_SEND)
		vcpu->frames[vcpu->nr_frames++] = (struct frame){ .role = block->role };

	frame = &vcpu->frames[vcpu->nr_frames - 1];
	frame->insns += block->insns;
	if (block->ending == ENDS_CALL)
		frame->depth++;
	else if (block->ending == ENDS_RETURN && !frame->depth--)
		leave_function(vcpu);
}

/* Blocks are kept to the end: QEMU may run one until it has flushed all, and does not say so. */
static void translate_block(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t insns = qemu_plugin_tb_n_insns(tb);
	struct block *block = malloc(sizeof(*block));

	(void)id;
	if (!block || !insns)
		abort();
	block->role = role_of_address(qemu_plugin_tb_vaddr(tb));
	block->ending = ending_of(qemu_plugin_tb_get_insn(tb, insns - 1));
	block->insns = insns;
	qemu_plugin_register_vcpu_tb_exec_cb(tb, run_block, QEMU_PLUGIN_CB_NO_REGS, block);
}

static int compare_rows(const void *left, const void *right)
{
	const struct row *a = left, *b = right;

	if (a->role != b->role)
		return a->role < b->role ? -1 : 1;
	if (a->nth != b->nth)
		return a->nth < b->nth ? -1 : 1;
	return (a->insns > b->insns) - (a->insns < b->insns);
}

static void print_rows(qemu_plugin_id_t id, void *data)
{
	(void)id;
	(void)data;
	qsort(rows, nr_rows, sizeof(rows[0]), compare_rows);
	for (unsigned int i = 0; i < nr_rows; i++)
		fprintf(out, "%s %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", role_names[rows[i].role],
			rows[i].nth, rows[i].insns, rows[i].calls);
	fprintf(out, "lost %" PRIu64 "\n", lost);
	if (fclose(out))
		fprintf(stderr, "insns: write the counts: %s\n", strerror(errno));
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc, char **argv)
{
	(void)info;
	for (int i = 0; i < argc; i++) {
		if (starts_with(argv[i], "symbols=")) {
			if (read_symbols(argv[i] + strlen("symbols=")))
				return -1;
		} else if (starts_with(argv[i], "out=")) {
			out = fopen(argv[i] + strlen("out="), "w");
		}
	}
	if (!out || !nr_symbols) {
		fprintf(stderr,
			"insns: expected symbols=FILE,out=FILE, and that out can be written\n");
		return -1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate_block);
	qemu_plugin_register_atexit_cb(id, print_rows, NULL);
	return 0;
}
