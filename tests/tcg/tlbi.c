/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A plugin for QEMU's emulation that counts the TLB invalidations (TLBI) that an arm64 guest
 *executes, on all CPUs, while a program of the guest says so.
 *
 *	-plugin tlbi.so,out=FILE
 *
 * The program executes "hint #80" to begin a section and "hint #81" to end it; both do nothing on
 *any CPU. For each section out gets, in the order of the instruction's name,
 *
 *	SECTION OPERATION COUNT
 *
 * with sections numbered from 1, and operations named as in the architecture (vale1is). The ones
 *that end in "is" or "os" are broadcast. Forms with the nXS qualifier count as those without.
 *
 * All CPUs must share a thread (-accel tcg,thread=single): nothing is locked.
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

/* HINT #n is 0xd503201f with n in bits 5 to 11. */
#define HINT(n)	     (0xd503201fu | (n) << 5)
#define MAX_SECTIONS 64

/*
 * TLBI is SYS with CRn 8, or 9 with nXS: op1 (bits 16 to 18) is the exception level it is for, CRm
 * (8 to 11) where it reaches, op2 (5 to 7) what it invalidates. Arm Architecture Reference Manual,
 * section "A64 System instructions for TLB maintenance".
 */
struct operation {
	const char *name;
	uint8_t op1, crm, op2;
};

static const struct operation operations[] = {
	{ "vmalle1", 0, 7, 0 },	 { "vae1", 0, 7, 1 },	   { "aside1", 0, 7, 2 },
	{ "vaae1", 0, 7, 3 },	 { "vale1", 0, 7, 5 },	   { "vaale1", 0, 7, 7 },
	{ "rvae1", 0, 6, 1 },	 { "rvaae1", 0, 6, 3 },	   { "rvale1", 0, 6, 5 },
	{ "rvaale1", 0, 6, 7 },	 { "vmalle1is", 0, 3, 0 }, { "vae1is", 0, 3, 1 },
	{ "aside1is", 0, 3, 2 }, { "vaae1is", 0, 3, 3 },   { "vale1is", 0, 3, 5 },
	{ "vaale1is", 0, 3, 7 }, { "rvae1is", 0, 2, 1 },   { "rvaae1is", 0, 2, 3 },
	{ "rvale1is", 0, 2, 5 }, { "rvaale1is", 0, 2, 7 }, { "vmalle1os", 0, 1, 0 },
	{ "vae1os", 0, 1, 1 },	 { "aside1os", 0, 1, 2 },  { "vaae1os", 0, 1, 3 },
	{ "vale1os", 0, 1, 5 },	 { "vaale1os", 0, 1, 7 },  { "rvae1os", 0, 5, 1 },
	{ "rvaae1os", 0, 5, 3 }, { "rvale1os", 0, 5, 5 },  { "rvaale1os", 0, 5, 7 },
};
#define NR_OPERATIONS (sizeof(operations) / sizeof(operations[0]))

/* The last one is for what has no name above: other exception levels. */
static uint64_t counts[MAX_SECTIONS][NR_OPERATIONS + 1];
static unsigned int sections;
static bool counting;
static FILE *out;

static size_t operation_of(uint32_t code)
{
	uint8_t op1 = code >> 16 & 7, crm = code >> 8 & 15, op2 = code >> 5 & 7;
	size_t i;

	for (i = 0; i < NR_OPERATIONS; i++)
		if (operations[i].op1 == op1 && operations[i].crm == crm &&
		    operations[i].op2 == op2)
			break;
	return i;
}

static bool is_tlbi(uint32_t code)
{
	return (code & 0xfff8e000) == 0xd5088000 && (code >> 12 & 15) <= 9;
}

static void count_tlbi(unsigned int vcpu, void *operation)
{
	(void)vcpu;
	if (counting)
		counts[sections - 1][(uintptr_t)operation]++;
}

static void begin_section(unsigned int vcpu, void *unused)
{
	(void)vcpu;
	(void)unused;
	if (sections == MAX_SECTIONS) {
		fprintf(stderr, "tlbi: more than %d sections\n", MAX_SECTIONS);
		abort();
	}
	sections++;
	counting = true;
}

static void end_section(unsigned int vcpu, void *unused)
{
	(void)vcpu;
	(void)unused;
	counting = false;
}

static void translate_block(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	(void)id;
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		qemu_plugin_vcpu_udata_cb callback = NULL;
		void *data = NULL;
		uint32_t code;

		if (qemu_plugin_insn_size(insn) != sizeof(code))
			continue;
		memcpy(&code, qemu_plugin_insn_data(insn), sizeof(code));
		if (is_tlbi(code)) {
			callback = count_tlbi;
			data = (void *)(uintptr_t)operation_of(code);
		} else if (code == HINT(80)) {
			callback = begin_section;
		} else if (code == HINT(81)) {
			callback = end_section;
		}
		if (callback)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, callback,
							       QEMU_PLUGIN_CB_NO_REGS, data);
	}
}

static void print_counts(qemu_plugin_id_t id, void *data)
{
	(void)id;
	(void)data;
	for (unsigned int section = 0; section < sections; section++)
		for (size_t i = 0; i <= NR_OPERATIONS; i++)
			if (counts[section][i])
				fprintf(out, "%u %s %" PRIu64 "\n", section + 1,
					i < NR_OPERATIONS ? operations[i].name : "other",
					counts[section][i]);
	fprintf(out, "sections %u\n", sections);
	if (fclose(out))
		fprintf(stderr, "tlbi: write the counts: %s\n", strerror(errno));
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc, char **argv)
{
	(void)info;
	if (argc != 1 || strncmp(argv[0], "out=", 4)) {
		fprintf(stderr, "tlbi: expected out=FILE\n");
		return -1;
	}
	out = fopen(argv[0] + 4, "w");
	if (!out) {
		fprintf(stderr, "tlbi: write %s: %s\n", argv[0] + 4, strerror(errno));
		return -1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate_block);
	qemu_plugin_register_atexit_cb(id, print_counts, NULL);
	return 0;
}
