/*
 * guest.h - the files that describe the kernels of virtual machines.
 *
 * The host records only addresses of a guest. The names are in files that the user copied from the guest: of
 * one guest, given by --guestkallsyms, --guestmodules, --guestvmlinux; of many, below --guestmount, which has
 * each guest's root folder under the pid of the process that runs it.
 * In       the options
 * Out      requests for symbol/kernel/kernel; maps in the machine, for recordings that do not say where the
 *          guests' kernels were loaded (they were made by 'record', not by 'kvm record')
 * Owns     guest_request: its paths
 * Errors   guest_introduce() logs what it cannot read, and continues
 * Source   perf-kvm(1)
 */
#ifndef PACE_SYMBOL_GUEST_H
#define PACE_SYMBOL_GUEST_H

#include "machine/machine.h"
#include "symbol/kernel/kernel.h"

struct guest_files { /* NULL: not given */
	const char *mount, *vmlinux, *kallsyms, *modules;
};

struct guest_request {
	struct kernel_request kernel;
	struct str root, kallsyms, modules;
	struct str release; /* "": unknown */
};

/* What to read for the guest that process `pid` runs; 0: the guest without a process. */
void guest_request_init(struct guest_request *q, const struct guest_files *files, u32 pid,
	const char *symfs, struct log *log);
void guest_request_fini(struct guest_request *q);

/* Adds maps for the kernels of guests that no record has described yet. */
void guest_introduce(struct machine *m, const struct guest_files *files, struct log *log);

#endif
