/*
 * buildid.h - reads the build-ids of what was sampled from the running machine, at the end of a recording.
 *
 * In       the machine of a session that was just recorded here; which DSOs were hit
 * Out      entries for the recording's table of build-ids
 * Source   /sys/kernel/notes, /sys/module/NAME/notes/.note.gnu.build-id, the ELF files' own notes,
 *          as seen by the process that runs them
 */
#ifndef PACE_SYMBOL_BUILDID_H
#define PACE_SYMBOL_BUILDID_H

#include "base/log.h"
#include "collect/record/roots.h"
#include "file/feature.h"
#include "machine/machine.h"

/* Appends to info->build_ids; DSOs without a build-id are left out. */
void buildid_collect(const struct machine *m, const bool *hit, const struct roots *roots,
	struct file_info *info);

/*
 * The build-id of what a map's name means on this machine now: a file, the kernel, a module, the vdso.
 * Returns its size; 0: unknown.
 */
u8 buildid_of_map(const char *path, u8 id[BUILD_ID_MAX]);

/* The running kernel's build-id. Returns its size; 0: it cannot be read, which is logged. */
u8 buildid_of_kernel(u8 id[BUILD_ID_MAX], struct log *log);

/* The build-id of a loaded module, by its name in brackets. `folder` is /sys/module. Returns 0 if unknown. */
u8 buildid_of_module(const char *folder, const char *name, u8 id[BUILD_ID_MAX], struct log *log);

#endif
