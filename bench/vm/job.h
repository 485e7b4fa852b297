/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What tlbvm tells the agent: a file in the initramfs, of "key=value" records ended by NUL each, so
 * that any argument goes through as it is. Keys may come several times and in any order; those of
 * one key keep their order.
 */
#ifndef TLBVM_JOB_H
#define TLBVM_JOB_H

#define JOB_FILE    "/tlbvm/job"
#define JOB_MODULES "/tlbvm/modules"
/* Facts of the guest for benchmarks: accelerator, emulated or not, QEMU's version. */
#define JOB_FACTS "/run/tlbvm.json"
/* The only disk there is. */
#define JOB_ROOT_DEVICE "/dev/vda"

#define JOB_PORT    "port"    /* the results' serial port, as a file of the guest */
#define JOB_MODULE  "module"  /* a module's file, in the order of loading */
#define JOB_EXPECT  "expect"  /* a module taken for built in */
#define JOB_BUSYBOX "busybox" /* a busybox whose commands the agent is to install */
#define JOB_ENV	    "env"     /* NAME=VALUE for the job */
#define JOB_ARG	    "arg"     /* the job's command, then its arguments */
#define JOB_ROOT    "root"    /* the block device to find the root file system on */
#define JOB_COPY    "copy"    /* a file of the initramfs that goes to the same place there */
#define JOB_GET	    "get"     /* a file to send when the job has ended */

/* Keys of the final frame, besides "exit N" or "signal N". */
#define FINAL_STDOUT  "stdout" /* bytes sent */
#define FINAL_STDERR  "stderr"
#define FINAL_FILES   "files"	/* files sent */
#define FINAL_MISSING "missing" /* files that could not be sent */

/*
 * Written to the kernel's log before the final frame: once the console shows it, it has shown all
 * that the kernel had to say until then.
 */
#define JOB_END_MARK "tlbvm: the job has ended"

#endif
