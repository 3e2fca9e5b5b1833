/*
 * guest.h - the files that tell of virtual machines' kernels.
 *
 * What the host records of a guest is addresses. Names are in files of the guest's that somebody
 * brought here: of one guest under --guestkallsyms, --guestmodules, --guestvmlinux; of many below
 * --guestmount, each guest's root folder under the pid of the process that runs it.
 * In       the options
 * Out      requests for symbol/kernel/kernel; for recordings that do not tell where guests' kernels lie
 *          (they were made by 'record', not by 'kvm record'), maps in the machine
 * Owns     guest_request: its paths
 * Errors   guest_introduce() says in the log what cannot be read, and goes on
 * Source   perf-kvm(1)
 */
#ifndef PACE_SYMBOL_GUEST_H
#define PACE_SYMBOL_GUEST_H

#include "machine/machine.h"
#include "symbol/kernel/kernel.h"

struct guest_files { /* NULL: not said */
	const char *mount, *vmlinux, *kallsyms, *modules;
};

struct guest_request {
	struct kernel_request kernel;
	struct str root, kallsyms, modules;
	struct str release; /* "": unknown */
};

/* What to read for the guest that process `pid` runs; 0: the one that has no process of its own. */
void guest_request_init(struct guest_request *q, const struct guest_files *files, u32 pid,
	const char *symfs, struct log *log);
void guest_request_fini(struct guest_request *q);

/* Tells the machine where the kernels of guests lie of which no record told until now. */
void guest_introduce(struct machine *m, const struct guest_files *files, struct log *log);

#endif
