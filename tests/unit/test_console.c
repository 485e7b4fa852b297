/* SPDX-License-Identifier: GPL-2.0-only */
#include "support.h"

#include "vm/console.h"
#include "vm/job.h"

static struct console console;

static void feed(const char *text)
{
	console__feed(&console, text, strlen(text));
}

/* Lines that kernels 6.1 to 7.3 print. */
static void complaints_of_the_kernel_are_seen(void **state)
{
	static const char *const lines[] = {
		"[    5.123456] Kernel panic - not syncing: Attempted to kill init! exitcode=0x100",
		"[    5.123456] BUG: kernel NULL pointer dereference, address: 0000000000000000",
		"[    5.123456] Oops: Oops: 0002 [#1] SMP NOPTI",
		"[    5.123456] Oops: 0002 [#1] PREEMPT SMP NOPTI",
		"[    5.123456] general protection fault, probably for non-canonical address "
		"0xdead000000000122: 0000 [#1] PREEMPT SMP",
		"[    5.123456] Oops: general protection fault, maybe for address 0x0: 0000 [#1] SMP",
		"[    5.123456] divide error: 0000 [#1] SMP",
		"[    5.123456] kernel BUG at mm/memory.c:1234!",
		"[    5.123456] WARNING: CPU: 3 PID: 123 at mm/rmap.c:12 try_to_unmap+0x1/0x2",
		"[    5.123456] WARNING: mm/rmap.c:12 at try_to_unmap+0x1/0x2, CPU#3: kswapd0/99",
		"[    5.123456][  T123] WARNING: possible circular locking dependency detected",
		"[  120.000000] watchdog: BUG: soft lockup - CPU#5 stuck for 26s! [tlbbench:99]",
		"[  120.000000] watchdog: CPU2: Watchdog detected hard LOCKUP on cpu 2",
		"[  120.000000] rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:",
		"[  120.000000] rcu: INFO: rcu_preempt self-detected stall on CPU",
		"[  120.000000] rcu: rcu_preempt kthread starved for 5252 jiffies! g123 f0x0",
		"[  243.000000] INFO: task kswapd0:99 blocked for more than 120 seconds.",
		"[  243.000000] INFO: task kswapd0:99 blocked in I/O wait for more than 120 seconds.",
		"[    5.123456] BUG: KASAN: slab-use-after-free in foo+0x1/0x2",
		"[    5.123456] BUG kmalloc-64 (Not tainted): Poison overwritten",
		"[    5.123456] BUG: Bad page state in process tlbbench  pfn:12345",
		"[    5.123456] swap_free: Bad swap file entry 4000000000001",
		"[    5.123456] UBSAN: array-index-out-of-bounds in mm/rmap.c:12:3",
		"[    5.123456] smp: csd: Detected non-responsive CSD lock (#1) on CPU#1",
		"WARNING: without a time stamp",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		if (!console__is_splat(lines[i]))
			fail_msg("not seen: %s", lines[i]);
}

static void harmless_lines_are_no_complaints(void **state)
{
	static const char *const lines[] = {
		"",
		"[",
		"[    0.000000] Command line: console=ttyS0 panic=-1 oops=panic",
		"[    0.000000] Spectre V2 : WARNING: Unprivileged eBPF is enabled with eIBRS on",
		"[    0.000000] x86/CPU: MDS CPU bug present and SMT on, data leak possible.",
		"[    0.000000] rcu: Hierarchical RCU implementation.",
		"[    0.000000] rcu: RCU restricting CPUs from NR_CPUS=8192 to nr_cpu_ids=4.",
		"[    0.000000] 	RCU CPU stall warnings suppressed (rcu_cpu_stall_suppress).",
		"[    0.100000] NMI watchdog: Perf NMI watchdog permanently disabled",
		"[    0.100000] watchdog: NMI not fully supported",
		"[    5.000000] INFO: lockdep is turned off.",
		"[    5.000000] 9pnet: Installing 9P2000 support; BUG: reports to the list",
		"[    6.000000] tlbvm: the job has ended",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		if (console__is_splat(lines[i]))
			fail_msg("taken for a complaint: %s", lines[i]);
}

static void the_first_complaint_is_kept_and_panic_is_told_apart(void **state)
{
	(void)state;
	console__init(&console, NULL);
	feed("[    1.0] hello\r\n[    2.0] WARNING: first\r\n[    2.1] BUG: second\r\n");
	assert_string_equal(console.splat, "[    2.0] WARNING: first");
	assert_false(console.panicked);
	feed("[    3.0] Kernel panic - not syncing: test\r\n");
	assert_true(console.panicked);
	assert_string_equal(console.splat, "[    2.0] WARNING: first");
}

static void lines_come_in_any_pieces(void **state)
{
	(void)state;
	console__init(&console, NULL);
	feed("[    1.0] WAR");
	feed("NING: in");
	feed(" pieces");
	assert_string_equal(console.splat, "");
	feed("\r");
	feed("\n");
	assert_string_equal(console.splat, "[    1.0] WARNING: in pieces");
	assert_int_equal(console.lines, 1);
}

static void the_end_of_the_job_is_seen(void **state)
{
	(void)state;
	console__init(&console, NULL);
	feed("[    1.0] boot\n");
	assert_false(console.end_marked);
	feed("[    9.0] " JOB_END_MARK "\r\n");
	assert_true(console.end_marked);
}

static void endless_lines_and_control_characters_do_no_harm(void **state)
{
	(void)state;
	console__init(&console, NULL);
	for (int i = 0; i < 100000; i++)
		feed("x");
	feed("\n\033[31mred\007\n");
	assert_int_equal(console.lines, 2);
	assert_int_equal(strlen(console.line[0]), CONSOLE_WIDTH - 1);
	assert_string_equal(console.line[1], ".[31mred.");
}

static int print_tail(void *arg)
{
	char line[32];

	console__init(&console, NULL);
	for (long i = 0; i < (long)arg; i++) {
		snprintf(line, sizeof(line), "line %ld\n", i);
		feed(line);
	}
	feed("cut o");
	console__print_tail(&console);
	return 0;
}

static void the_last_lines_are_shown(void **state)
{
	struct child child;

	(void)state;
	child__run(&child, print_tail, (void *)100);
	assert_null(strstr(child.err, "| line 69\n"));
	assert_contains(child.err, "| line 70\n");
	assert_contains(child.err, "| line 99\n  | cut o\n");
	child__run(&child, print_tail, (void *)2);
	assert_contains(child.err, "| line 0\n  | line 1\n  | cut o\n");
}

static void the_log_has_every_byte(void **state)
{
	char *text = NULL;
	size_t length;
	FILE *log = open_memstream(&text, &length);

	(void)state;
	console__init(&console, log);
	feed("a\r\n\033b");
	fclose(log);
	assert_string_equal(text, "a\r\n\033b");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(complaints_of_the_kernel_are_seen),
		cmocka_unit_test(harmless_lines_are_no_complaints),
		cmocka_unit_test(the_first_complaint_is_kept_and_panic_is_told_apart),
		cmocka_unit_test(lines_come_in_any_pieces),
		cmocka_unit_test(the_end_of_the_job_is_seen),
		cmocka_unit_test(endless_lines_and_control_characters_do_no_harm),
		cmocka_unit_test(the_last_lines_are_shown),
		cmocka_unit_test(the_log_has_every_byte),
	};

	return cmocka_run_group_tests_name("console", tests, NULL, NULL);
}
