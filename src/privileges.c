/* SPDX-License-Identifier: GPL-2.0-only */
#include "privileges.h"

#include <errno.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/diag.h"

static int drop_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };

	/* The bounding set can be shrunk by who has CAP_SETPCAP; others have nothing to hand on. */
	for (int cap = 0; prctl(PR_CAPBSET_READ, cap) >= 0; cap++)
		if (prctl(PR_CAPBSET_DROP, cap) && errno != EPERM)
			return diag__fail(errno, "drop capability %d", cap);
	/* EINVAL: before 4.3 there are none. */
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) && errno != EINVAL)
		return diag__fail(errno, "drop the ambient capabilities");
	/* glibc has no wrapper. */
	if (syscall(SYS_capset, &header, none))
		return diag__fail(errno, "drop the capabilities");
	return 0;
}

/* What the loop, its messages and its end call, in any of the C library's ways. */
static const int allowed[] = {
	/* reading and replacing files */
	SCMP_SYS(openat), SCMP_SYS(open), SCMP_SYS(read), SCMP_SYS(pread64), SCMP_SYS(write),
	SCMP_SYS(writev), SCMP_SYS(close), SCMP_SYS(lseek), SCMP_SYS(fstat), SCMP_SYS(newfstatat),
	SCMP_SYS(stat), SCMP_SYS(lstat), SCMP_SYS(statx), SCMP_SYS(access), SCMP_SYS(faccessat),
	SCMP_SYS(faccessat2), SCMP_SYS(readlink), SCMP_SYS(readlinkat), SCMP_SYS(flock),
	SCMP_SYS(fchmod), SCMP_SYS(fsync), SCMP_SYS(rename), SCMP_SYS(renameat),
	SCMP_SYS(renameat2), SCMP_SYS(unlink), SCMP_SYS(unlinkat),
	/* messages on the socket that is open */
	SCMP_SYS(sendto), SCMP_SYS(sendmsg),
	/* memory */
	SCMP_SYS(brk), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise),
	/* time, signals, the end */
	SCMP_SYS(clock_gettime), SCMP_SYS(gettimeofday), SCMP_SYS(clock_nanosleep),
	SCMP_SYS(nanosleep), SCMP_SYS(poll), SCMP_SYS(ppoll), SCMP_SYS(rt_sigaction),
	SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn), SCMP_SYS(sigaltstack),
	SCMP_SYS(restart_syscall), SCMP_SYS(futex), SCMP_SYS(getpid), SCMP_SYS(gettid),
	SCMP_SYS(tgkill), SCMP_SYS(getrandom), SCMP_SYS(exit), SCMP_SYS(exit_group)
};

/* Calls that are allowed with some arguments only. */
static int allow_in_part(scmp_filter_ctx filter, bool write_maps)
{
	/* The last two write. */
	static const unsigned int commands[] = { BPF_MAP_LOOKUP_ELEM, BPF_OBJ_GET_INFO_BY_FD,
						 BPF_MAP_UPDATE_ELEM, BPF_MAP_DELETE_ELEM };
	size_t allowed_commands = write_maps ? 4 : 2;
	static const int mapping[] = { SCMP_SYS(mmap), SCMP_SYS(mprotect) };
	int err = 0;

	for (size_t i = 0; i < allowed_commands && !err; i++)
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(bpf), 1,
				       SCMP_A0(SCMP_CMP_EQ, commands[i]));
	/* Memory, but no code. */
	for (size_t i = 0; i < sizeof(mapping) / sizeof(*mapping) && !err; i++)
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, mapping[i], 1,
				       SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	/* A kprobe's end. */
	if (!err)
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1,
				       SCMP_A1(SCMP_CMP_EQ, PERF_EVENT_IOC_DISABLE));
	return err;
}

/* Built without CONFIG_SECCOMP_FILTER, as small kernels are. */
static bool kernel_has_filters(void)
{
	uint32_t action = SECCOMP_RET_ERRNO;

	/* glibc has no wrapper. */
	return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

static int filter_calls(bool write_maps)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int err = filter ? 0 : -ENOMEM;

	for (size_t i = 0; i < sizeof(allowed) / sizeof(*allowed) && !err; i++)
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[i], 0);
	if (!err)
		err = allow_in_part(filter, write_maps);
	if (!err)
		err = seccomp_load(filter); /* sets no_new_privs as well */
	if (filter)
		seccomp_release(filter);
	if (err && !kernel_has_filters()) {
		diag__warn("system calls are not filtered: this kernel has no seccomp filters");
		return 0;
	}
	return err ? diag__fail(-err, "filter the system calls") : 0;
}

int privileges__drop(bool write_maps)
{
	int err = drop_capabilities();

	if (!err && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		err = diag__fail(errno, "give up gaining privileges");
	return err ? err : filter_calls(write_maps);
}
