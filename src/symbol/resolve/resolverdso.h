/*
 * resolverdso.h - a resolver's state for one DSO; shared by symbol/resolve/resolver (names, and what the
 * recording contains), symbol/resolve/resolverfiles (files of this machine) and symbol/resolve/resolverlines.
 *
 * Owns     tables, indexes and files of modules; resolver_fini() frees them
 */
#ifndef PACE_SYMBOL_RESOLVERDSO_H
#define PACE_SYMBOL_RESOLVERDSO_H

#include "symbol/types/datanames.h"
#include "symbol/jit/perfmap.h"
#include "symbol/resolve/resolver.h"

struct resolver_dso {
	bool is_loaded;
	bool is_embedded; /* the recording's own entry is preferred */
	bool has_tried_files;
	enum resolver_outcome files_outcome;
	struct embedded_dso embedded;
	const struct simpleperf_file
		*carried;      /* the file whose functions are in `own`; NULL: none */
	struct dso_file *file; /* DSO_FILE, DSO_VDSO; NULL: not opened yet, or not needed */
	struct kernel *kernel; /* DSO_KERNEL, DSO_MODULE */
	u64 base;              /* DSO_MODULE: its address in the kernel's kallsyms */
	struct elf module, module_debug; /* DSO_MODULE: the files with its names, its lines */
	enum resolver_outcome outcome;   /* RESOLVER_FOUND: there are symbols to look up */
	struct symtab own;      /* if there is no dso_file: from a module, or from the recording */
	struct datanames data;  /* of the debug file or the image; empty until data is looked up */
	struct perfmap perfmap; /* DSO_JIT */
	const struct jitdump *jitdump; /* DSO_JITDUMP */
	struct err err;
	bool has_tried_lines, has_tried_file_lines;
	struct line_index *lines; /* NULL: none */
	u64 lines_shift;
	struct err lines_err;
};

/* NULL: there is none, or the recording was sufficient. */
static inline const struct elf *resolver_dso_image(const struct resolver_dso *d)
{
	return d->file && d->file->image.data ? &d->file->image : NULL;
}

/*
 * Appends the package with the debug symbols of a file. Returns false if the package manager's data do not have
 * it. This takes time, so it is done only for files with a good part of the samples, like asking servers.
 */
bool resolver_packages_advise(struct resolver *r, const struct dso *dso, const struct elf *image,
	struct str *out);

/* Loads a DSO from files of this machine, whatever the recording contains. */
void resolver_load_files(struct resolver *r, const struct dso *dso, struct resolver_dso *d);

/* Opens the files, too, without changing the outcome. Returns true if they have names. */
bool resolver_load_beside(struct resolver *r, const struct dso *dso, struct resolver_dso *d);

/* The kernel's names from files, even if the recording has some: read at the first call. */
struct kernel *resolver_kernel(struct resolver *r);

/* Where a module's files are. Returns the release of its kernel, NULL if that is unknown. */
const char *resolver_module_places(struct resolver *r, const struct dso *dso,
	struct find_places *ret_places);

#endif
