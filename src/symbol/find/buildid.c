#include "symbol/find/buildid.h"

#include <stdio.h>
#include <string.h>

#include "base/sysfile.h"
#include "event/abi.h"
#include "symbol/elf/elf.h"
#include "symbol/find/find.h"
#include "symbol/find/liveproc.h"
#include "symbol/elf/vdso.h"

enum { NOTES_LIMIT = 1 << 20 };

static u8 of_file(const char *path, u8 id[BUILD_ID_MAX])
{
	struct elf elf;
	struct err err;
	u8 n;

	if (elf_open(&elf, path, &err))
		return 0;
	n = elf_build_id(&elf, id);
	elf_close(&elf);
	return n;
}

/* Reads the build-id from a file in which the running kernel shows its notes. */
static u8 of_notes(const char *path, const char *dso, u8 id[BUILD_ID_MAX], struct log *log)
{
	struct str notes = {0};
	struct err err;
	u8 n = 0;

	if (sysfile_read(path, NOTES_LIMIT, &notes, &err))
		log_untried(log, dso, &err);
	else
		n = elf_build_id_in_notes(bytes_of(notes.at, notes.n), id);
	str_fini(&notes);
	return n;
}

u8 buildid_of_kernel(u8 id[BUILD_ID_MAX], struct log *log)
{
	return of_notes("/sys/kernel/notes", "[kernel.kallsyms]", id, log);
}

u8 buildid_of_module(const char *folder, const char *name, u8 id[BUILD_ID_MAX], struct log *log)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%.*s/notes/.note.gnu.build-id", folder,
		(int)strcspn(name + 1, "]"), name + 1);
	return of_notes(path, name, id, log);
}

/* Reads the build-id of the file that ran, if a process still has it or its path still leads to it. */
static u8 of_mapped_file(struct liveproc *liveproc, const struct dso *dso, u8 id[BUILD_ID_MAX])
{
	struct find_places places = {.symfs = "", .liveproc = liveproc, .is_now = true};
	struct elf elf;
	struct err ignored;
	u8 n;

	if (find_image(&places, dso, &elf, &ignored))
		return 0;
	n = elf_build_id(&elf, id);
	elf_close(&elf);
	return n;
}

static u8 of_dso(struct liveproc *liveproc, const struct dso *dso, u8 id[BUILD_ID_MAX])
{
	if (dso->build_id_size) {
		memcpy(id, dso->build_id, dso->build_id_size);
		return dso->build_id_size;
	}
	/* This machine knows only its own kernel. */
	if (dso->is_guest)
		return 0;
	switch ((enum dso_kind)dso->kind) {
	case DSO_KERNEL:
		return buildid_of_kernel(id, NULL);
	case DSO_MODULE:
		return buildid_of_module("/sys/module", dso->name, id, NULL);
	case DSO_FILE:
		return of_mapped_file(liveproc, dso, id);
	case DSO_VDSO:
		return vdso_build_id(id);
	default:
		return 0;
	}
}

u8 buildid_of_map(const char *path, u8 id[BUILD_ID_MAX])
{
	if (!strncmp(path, "[kernel.kallsyms]", 17))
		return buildid_of_kernel(id, NULL);
	if (!strcmp(path, "[vdso]"))
		return vdso_build_id(id);
	if (path[0] == '[')
		return buildid_of_module("/sys/module", path, id, NULL);
	return path[0] == '/' && path[1] != '/' ? of_file(path, id) : 0;
}

/*
 * The DSOs that get an entry, by id: those that are hit, and all files of a path if one of them is, because their
 * entries' order says which is whose.
 */
static bool *listed(const struct machine *m, const bool *hit)
{
	bool *ret = mem_zalloc(m->dsos.at.n + 1);

	vec_each(d, &m->dsos.at) {
		bool is_hit = false;

		if ((*d)->nth)
			continue; /* the first of the path has marked it */
		for (const struct dso *dso = *d; dso; dso = dso->namesake)
			is_hit |= hit[dso->id];
		for (const struct dso *dso = *d; dso; dso = dso->namesake)
			ret[dso->id] = is_hit;
	}
	return ret;
}

void buildid_collect(const struct machine *m, const bool *hit, const struct roots *roots,
	struct file_info *info)
{
	bool *is_listed = listed(m, hit);
	struct liveproc liveproc;

	liveproc_init(&liveproc, m, "/proc");
	liveproc.roots = roots;
	vec_each(d, &m->dsos.at) {
		const struct dso *dso = *d;
		struct file_build_id entry = {.pid = dso->is_guest ? (s32)dso->pid : -1,
			.path = dso->path};

		if (!is_listed[dso->id])
			continue;
		entry.id_size = of_dso(&liveproc, dso, entry.id);
		entry.misc = dso->kind == DSO_KERNEL || dso->kind == DSO_MODULE
			? PERF_RECORD_MISC_KERNEL
			: PERF_RECORD_MISC_USER;
		if (dso->is_guest)
			entry.misc = PERF_RECORD_MISC_GUEST_KERNEL;
		if (entry.id_size || dso->has_namesakes)
			vec_add(&info->build_ids, entry);
	}
	mem_free(is_listed);
	liveproc_fini(&liveproc);
}
