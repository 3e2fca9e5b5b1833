/*
 * resolverdso.h - what a resolver knows of one DSO; between symbol/resolve/resolver (names, and what the
 * recording carries), symbol/resolve/resolverfiles (files of this machine) and symbol/resolve/resolverlines.
 *
 * Owns     tables, indexes and files of modules; resolver_fini() ends them
 */
#ifndef PACE_SYMBOL_RESOLVERDSO_H
#define PACE_SYMBOL_RESOLVERDSO_H

#include "symbol/types/datanames.h"
#include "symbol/jit/perfmap.h"
#include "symbol/resolve/resolver.h"

struct resolver_dso {
	bool is_loaded;
	bool is_embedded; /* the recording's own entry comes first */
	bool has_tried_files;
	enum resolver_outcome files_outcome;
	struct embedded_dso embedded;
	const struct simpleperf_file *carried; /* whose functions `own` has; NULL: none */
	struct dso_file *file; /* DSO_FILE, DSO_VDSO; NULL: not asked for, or none is needed */
	struct kernel *kernel; /* DSO_KERNEL, DSO_MODULE */
	u64 base;              /* DSO_MODULE: where it lies in the kernel's kallsyms */
	struct elf module, module_debug; /* DSO_MODULE: the files that have its names, its lines */
	enum resolver_outcome outcome;   /* RESOLVER_FOUND: there are symbols to look at */
	struct symtab own; /* of what is no dso_file: a module's, or what the recording carries */
	struct datanames data;  /* of the debug file or the image; empty until data is asked for */
	struct perfmap perfmap; /* DSO_JIT */
	const struct jitdump *jitdump; /* DSO_JITDUMP */
	struct err err;
	bool has_tried_lines, has_tried_file_lines;
	struct line_index *lines; /* NULL: none */
	u64 lines_shift;
	struct err lines_err;
};

/* NULL: there is none, or the recording has said all. */
static inline const struct elf *resolver_dso_image(const struct resolver_dso *d)
{
	return d->file && d->file->image.data ? &d->file->image : NULL;
}

/*
 * Appends which package has the debug symbols of a file; false: the package manager's data do not tell. It is
 * asked only for files that are worth the time: with a good part of the samples, as servers are.
 */
bool resolver_packages_advise(struct resolver *r, const struct dso *dso, const struct elf *image,
	struct str *out);

/* From files of this machine, whatever the recording says itself. */
void resolver_load_files(struct resolver *r, const struct dso *dso, struct resolver_dso *d);

/* Opens the files too, which change nothing of what is said; true if they have names. */
bool resolver_load_beside(struct resolver *r, const struct dso *dso, struct resolver_dso *d);

/* The kernel's names from files, also if the recording has its own: read once, by who asks first. */
struct kernel *resolver_kernel(struct resolver *r);

/* Where a module's files are, and those of which kernel: its release, NULL if that is unknown. */
const char *resolver_module_places(struct resolver *r, const struct dso *dso,
	struct find_places *ret_places);

#endif
