/*
 * kernel.h - the functions of one kernel, the host's or a guest's, from whichever source has them.
 *
 * In       what was recorded of it, and the files to search, see struct kernel_request
 * Out      the function at a recorded address. The kernel may lie elsewhere now: it moves at each
 *          boot (KASLR), and files have the addresses it was linked to
 * Owns     the opened files and tables
 * Errors   none: `err` says why there are no names
 * Threads  kernel_load() by one, while others use other structures; then look-ups by any number
 *
 * For the running kernel /proc/kallsyms has everything, including modules and BPF programs. For other kernels
 * the sources are what the user names; else a copy of kallsyms that lies beside the recording or in perf's
 * cache; else a vmlinux of that build.
 */
#ifndef PACE_SYMBOL_KERNEL_H
#define PACE_SYMBOL_KERNEL_H

#include "machine/dso.h"
#include "symbol/kernel/kallsyms.h"
#include "symbol/kernel/vmlinux.h"

struct kernel_request {
	const struct dso
		*dso; /* the kernel's image as recorded; NULL: the recording does not describe it */
	const char *release; /* NULL: unknown */
	u64 text;            /* the recorded address of _text; 0: not recorded */
	bool has_modules;    /* the recording has modules, so their functions are needed, too */
	const char *
		kallsyms; /* of the running kernel; NULL: the request is not for a kernel of this host */
	const char *modules;       /* the matching /proc/modules */
	const char *module_folder; /* the matching /sys/module; NULL: builds are not compared */
	const char *named_vmlinux,
		*named_kallsyms;  /* given by the user: nothing else is used then */
	const char *copy_modules; /* the /proc/modules that matches named_kallsyms; NULL: none */
	const char *recorded_kallsyms; /* the one beside the recording */
	bool ignores_vmlinux;          /* vmlinux is not searched for */
	const char *symfs;             /* "" for none */
	struct log *log;
};

struct kernel {
	struct kallsyms kallsyms;
	struct vmlinux image;
	bool has_kallsyms;
	bool is_copy;   /* kallsyms is from the time of the recording, not of now */
	bool has_image; /* the kernel's own functions are looked up in its ELF file */
	struct kernel_request request; /* its strings belong to the caller, who keeps them */
	struct err err;                /* why there are no names */
};

void kernel_load(struct kernel *k, const struct kernel_request *q);
void kernel_close(struct kernel *k);

/* Whether the kernel itself, not just its modules, has names. */
bool kernel_has_names(const struct kernel *k);

/* Whether another build of a module than the recorded one is loaded now; false also if that is unknown. */
bool kernel_has_other_module(const struct kernel *k, const struct dso *dso);

/* Where the module lies in the kallsyms in use; 0 if it is absent, or another build. */
u64 kernel_module_base(const struct kernel *k, const struct dso *dso);

/*
 * Returns the function at a recorded address, with its recorded bounds; NULL if there is none. In a module the
 * address counts from the module's base, and `module_base` is where the module lies in kallsyms; 0: the
 * address is in the kernel itself.
 */
const char *kernel_find(const struct kernel *k, u64 module_base, u64 address, u64 *ret_start,
	u64 *ret_end);

/*
 * Returns the ELF file with the kernel's debug information, a vmlinux, also if the names come from another
 * source. NULL and err if there is none here. Add *ret_shift to recorded addresses to get those of the file.
 * For one thread.
 */
const struct elf *kernel_debug_file(struct kernel *k, u64 *ret_shift, struct err *err);

#endif
