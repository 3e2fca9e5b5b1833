/*
 * kernel.h - the functions of one kernel, the host's or a guest's, from wherever they can be had.
 *
 * In       what was recorded of it, and the files to look into, see struct kernel_request
 * Out      the function at a recorded address, although the kernel may lie elsewhere now: it moves
 *          at each boot (KASLR), and files count from where it was linked to
 * Owns     the opened files and tables
 * Errors   none: `err` says why there are no names
 * Threads  kernel_load() by one, beside anything else; then look-ups by any number
 *
 * Of the kernel that runs here /proc/kallsyms has everything, modules and BPF programs included. Of
 * others: what the user names; else a copy of kallsyms that lies beside the recording or in perf's
 * cache; else a vmlinux of that build.
 */
#ifndef PACE_SYMBOL_KERNEL_H
#define PACE_SYMBOL_KERNEL_H

#include "machine/dso.h"
#include "symbol/kernel/kallsyms.h"
#include "symbol/kernel/vmlinux.h"

struct kernel_request {
	const struct dso *dso; /* its image as recorded; NULL: the recording does not tell of it */
	const char *release;   /* NULL: unknown */
	u64 text;              /* where the recording says its _text was; 0: it does not say */
	bool has_modules;      /* the recording has some, so their functions are needed too */
	const char *
		kallsyms; /* of the kernel that runs; NULL: the wished one is no kernel of this host */
	const char *modules;       /* /proc/modules that goes with it */
	const char *module_folder; /* likewise, /sys/module; NULL: builds are not compared */
	const char *named_vmlinux, *named_kallsyms; /* the user's: nothing else takes their place */
	const char *copy_modules;      /* that goes with named_kallsyms; NULL: none does */
	const char *recorded_kallsyms; /* that lies beside the recording */
	bool ignores_vmlinux;          /* no vmlinux is looked for */
	const char *symfs;             /* "" for none */
	struct log *log;
};

struct kernel {
	struct kallsyms kallsyms;
	struct vmlinux image;
	bool has_kallsyms;
	bool is_copy;   /* its kallsyms are of when it was recorded, not of now */
	bool has_image; /* the kernel's own functions are looked up in its ELF file */
	struct kernel_request request; /* its strings are the caller's, who keeps them */
	struct err err;                /* why it has no names */
};

void kernel_load(struct kernel *k, const struct kernel_request *q);
void kernel_close(struct kernel *k);

/* Whether the kernel itself has names. */
bool kernel_has_names(const struct kernel *k);

/* Whether another build of a module than the recorded one is loaded now; false also if nobody knows. */
bool kernel_has_other_module(const struct kernel *k, const struct dso *dso);

/* Where the module lies in the kallsyms at hand; 0 if it does not, or another build of it does. */
u64 kernel_module_base(const struct kernel *k, const struct dso *dso);

/*
 * The function at an address as recorded, its bounds likewise; NULL if there is none. Of a module the
 * address counts from where it was loaded, and `module_base` is where it lies in kallsyms; 0: it is
 * the kernel itself.
 */
const char *kernel_find(const struct kernel *k, u64 module_base, u64 address, u64 *ret_start,
	u64 *ret_end);

/*
 * The ELF file that has the kernel's debug information, if one is here: a vmlinux, also where names
 * come from elsewhere. NULL and err: none. *ret_shift: what to add to recorded addresses to have its
 * own. By one thread.
 */
const struct elf *kernel_debug_file(struct kernel *k, u64 *ret_shift, struct err *err);

#endif
