#include "symbol/resolve/resolverdso.h"

#include "symbol/resolve/extent.h"

void resolver_init(struct resolver *r, struct dso_files *files)
{
	memset(r, 0, sizeof(*r));
	r->files = files;
	r->machine = files->machine;
	packages_init(&r->packages, "");
	r->kallsyms = "/proc/kallsyms";
	r->modules = "/proc/modules";
	r->module_folder = "/sys/module";
	r->kcore = "/proc/kcore";
	pthread_mutex_init(&r->guests_lock, NULL);
	pthread_mutex_init(&r->kernel_lock, NULL);
	resolver_settle(r);
}

void resolver_set_recording(struct resolver *r, const struct reader *reader,
	const struct jitcode *jitcode, const struct embedded *embedded)
{
	find_set_recording(&r->files->places, &reader->info.host);
	r->recorded_release = reader->info.host.release;
	r->recorded_machine = reader->info.host.arch;
	r->recorded_kallsyms = reader->kallsyms;
	r->jitcode = jitcode;
	r->embedded = embedded;
	simpleperf_fini(&r->simpleperf);
	simpleperf_init(&r->simpleperf, &reader->info);
}

static void close_dso(struct resolver_dso *d)
{
	symtab_fini(&d->own);
	datanames_fini(&d->data);
	perfmap_fini(&d->perfmap);
	line_close(d->lines);
	elf_close(&d->module);
	elf_close(&d->module_debug);
}

void resolver_forget(struct resolver *r, const bool *is_kept)
{
	for (size_t i = 0; i < r->n_dsos; i++) {
		struct resolver_dso *d = &r->dsos[i];

		if (!d->is_loaded || is_kept[i])
			continue;
		close_dso(d);
		if (d->file)
			dso_files_close(r->files, (u32)i);
		memset(d, 0, sizeof(*d));
	}
}

void resolver_fini(struct resolver *r)
{
	if (r->has_kernel_reader)
		pthread_join(r->kernel_reader, NULL);
	for (size_t i = 0; i < r->n_dsos; i++)
		close_dso(&r->dsos[i]);
	mem_free(r->dsos);
	packages_fini(&r->packages);
	kernel_close(&r->kernel);
	str_fini(&r->modules_release);
	vec_each(guest, &r->guests) {
		kernel_close(&(*guest)->kernel);
		guest_request_fini(&(*guest)->request);
		mem_free(*guest);
	}
	vec_fini(&r->guests);
	simpleperf_fini(&r->simpleperf);
	pthread_mutex_destroy(&r->guests_lock);
	pthread_mutex_destroy(&r->kernel_lock);
	memset(r, 0, sizeof(*r));
}

void resolver_settle(struct resolver *r)
{
	dso_files_settle(r->files);
	if (r->machine->dsos.at.n)
		r->dsos = dso_files_room(r->dsos, &r->n_dsos, (u32)r->machine->dsos.at.n - 1,
			sizeof(*r->dsos));
}

/* ---- what the recording contains ---- */

static bool find_entry(const struct resolver *r, const struct dso *dso, struct embedded_dso *ret)
{
	bool is_kernel = dso->kind == DSO_KERNEL || dso->kind == DSO_MODULE;

	if (!embedded_is_there(r->embedded) || (is_kernel && (r->vmlinux || r->kallsyms_copy)))
		return false;
	return embedded_find_dso(r->embedded, dso, ret);
}

static void say_as_embedded(const struct resolver *r, struct resolver_dso *d)
{
	const char *reason = embedded_string(r->embedded, d->embedded.reason);

	d->outcome = MIN(d->embedded.outcome, (u32)RESOLVER_OUTCOMES - 1);
	d->err.code = 0;
	if (reason)
		err_set(&d->err, ERR_NOENT, "%s", reason);
}

bool resolver_load_beside(struct resolver *r, const struct dso *dso, struct resolver_dso *d)
{
	/* The kernel's names are read once for all its DSOs; the other kinds have no files of their own. */
	if (dso->kind != DSO_FILE && dso->kind != DSO_VDSO)
		return false;
	if (!d->has_tried_files) {
		d->has_tried_files = true;
		d->outcome = RESOLVER_FOUND;
		resolver_load_files(r, dso, d);
		d->files_outcome = d->outcome;
		say_as_embedded(r, d);
	}
	return d->files_outcome == RESOLVER_FOUND;
}

/*
 * Whether this machine has names that were missing when the recording was made. Only a build-id shows that the
 * file is the same one.
 */
static bool is_better_here(struct resolver *r, const struct dso *dso, struct resolver_dso *d)
{
	if (dso->kind != DSO_FILE || !dso->build_id_size)
		return false;
	d->has_tried_files = true;
	d->outcome = RESOLVER_FOUND;
	resolver_load_files(r, dso, d);
	d->files_outcome = d->outcome;
	return d->outcome == RESOLVER_FOUND &&
		(!d->err.code || d->embedded.outcome != RESOLVER_FOUND);
}

/*
 * Loads the functions that simpleperf recorded, which are the sampled ones. Files that the user names have
 * more.
 */
static bool load_carried(struct resolver *r, const struct dso *dso, struct resolver_dso *d)
{
	const struct simpleperf_file *file = simpleperf_find(&r->simpleperf, dso);

	if (!file)
		return false;
	if (*r->files->places.symfs)
		resolver_load_files(r, dso, d);
	if (*r->files->places.symfs && d->outcome == RESOLVER_FOUND)
		return true;
	d->carried = file;
	d->outcome = RESOLVER_FOUND;
	d->err.code = 0;
	simpleperf_add(&r->simpleperf, file, &d->own);
	return true;
}

void resolver_load(struct resolver *r, const struct dso *dso)
{
	struct resolver_dso *d;

	/* While a recording is being made, its reader meets new files. */
	if (UNLIKELY(dso->id >= r->n_dsos))
		resolver_settle(r);
	d = &r->dsos[dso->id];
	if (d->is_loaded)
		return;
	d->is_loaded = true;
	d->is_embedded = find_entry(r, dso, &d->embedded);
	if (!d->is_embedded && load_carried(r, dso, d))
		return;
	if (!d->is_embedded)
		resolver_load_files(r, dso, d);
	else if (d->embedded.reason && is_better_here(r, dso, d))
		d->is_embedded = false;
	else
		say_as_embedded(r, d);
}

void resolver_pass_over(struct resolver *r, const struct dso *dso)
{
	struct resolver_dso *d = &r->dsos[dso->id];

	if (d->is_loaded)
		return;
	d->is_loaded = true;
	d->outcome = RESOLVER_NO_FILE;
	err_set(&d->err, ERR_LIMIT, "the look-up of names was stopped before this file");
}

bool resolver_has_loaded(const struct resolver *r, u32 id)
{
	return id < r->n_dsos && r->dsos[id].is_loaded;
}

static void give(struct resolver_answer *a, enum origin origin, const char *name, u64 start,
	u64 end)
{
	a->origin = origin;
	a->name = origin == ORIGIN_EXTENT ? NULL : name;
	a->start = start;
	a->end = end;
	if (origin == ORIGIN_CRT)
		a->outcome = RESOLVER_FOUND;
}

/* Returns false if the files must be used. */
static bool find_embedded(struct resolver *r, const struct dso *dso, struct resolver_dso *d,
	u64 address, struct resolver_answer *a)
{
	struct embedded_name name;

	*a = (struct resolver_answer){.start = address, .outcome = d->outcome};
	if (d->embedded.flags & EMBEDDED_HAS_IMAGE)
		embedded_address_of_offset(r->embedded, &d->embedded, address, &a->start);
	a->end = a->at = a->start;
	if (d->outcome != RESOLVER_FOUND && d->outcome != RESOLVER_NO_SYMBOLS)
		return true;
	switch (embedded_find_name(r->embedded, &d->embedded, a->start, &name)) {
	case EMBEDDED_FOUND:
		if (r->ignores_made && origin_is_made(name.origin))
			break;
		give(a, name.origin, name.name, name.start, name.end);
		if (name.origin != ORIGIN_EXTENT)
			return true;
		break;
	case EMBEDDED_UNKNOWN:
		if (d->outcome == RESOLVER_FOUND && resolver_load_beside(r, dso, d))
			return false;
		break;
	case EMBEDDED_NONE:
		break;
	}
	if (d->outcome == RESOLVER_FOUND)
		a->outcome = RESOLVER_NO_SYMBOL;
	return true;
}

enum resolver_outcome resolver_outcome(const struct resolver *r, const struct dso *dso)
{
	return r->dsos[dso->id].outcome;
}

const struct embedded_dso *resolver_embedded(const struct resolver *r, const struct dso *dso)
{
	const struct resolver_dso *d = &r->dsos[dso->id];

	return d->is_embedded ? &d->embedded : NULL;
}

const struct elf *resolver_image(const struct resolver *r, const struct dso *dso)
{
	return resolver_dso_image(&r->dsos[dso->id]);
}

const char *resolver_reason(const struct resolver *r, const struct dso *dso)
{
	const struct resolver_dso *d = &r->dsos[dso->id];

	return d->err.code ? d->err.msg : NULL;
}

static void find_generated(const struct resolver_dso *d, u64 address, struct resolver_answer *a)
{
	const struct jitdump_code *code = d->jitdump ? jitdump_find(d->jitdump, address) : NULL;
	const struct perfmap_range *range = d->jitdump ? NULL : perfmap_find(&d->perfmap, address);

	a->outcome = code || range ? RESOLVER_FOUND : RESOLVER_NO_SYMBOL;
	if (code)
		give(a, ORIGIN_TABLE, code->name, code->off, code->off + code->size);
	else if (range)
		give(a, ORIGIN_TABLE, range->name, range->symbol, range->end);
}

static void find_carried(const struct dso *dso, const struct resolver_dso *d, u64 address,
	struct resolver_answer *a)
{
	const struct symbol *s;

	a->start = a->end = a->at = simpleperf_address(d->carried, dso, address);
	s = symtab_find(&d->own, a->at);
	if (s)
		give(a, ORIGIN_TABLE, s->name, s->start, s->end);
	else
		a->outcome = RESOLVER_NO_SYMBOL;
}

/* Finds a function that is in no table. */
static void find_extent(const struct resolver *r, struct resolver_dso *d, struct resolver_answer *a)
{
	struct extent e;

	if (!r->ignores_made && resolver_dso_image(d) && extent_find(r->files, d->file, a->at, &e))
		give(a, e.origin, e.name, e.start, e.end);
}

struct resolver_answer resolver_find(struct resolver *r, const struct dso *dso, u64 address)
{
	struct resolver_dso *d = &r->dsos[dso->id];
	/* A module that was read from its own file is treated like any other file. */
	bool is_kernel = dso->kind == DSO_KERNEL || (dso->kind == DSO_MODULE && !d->own.symbols.n);
	const struct elf *image = resolver_dso_image(d);
	struct resolver_answer a = {.start = address, .end = address, .outcome = d->outcome};
	const struct symbol *s;

	if (dso->kind == DSO_BPF) {
		give(&a, ORIGIN_TABLE, dso->path, 0, 0);
		return a;
	}
	if (d->is_embedded && find_embedded(r, dso, d, address, &a))
		return a;
	if (d->carried) {
		find_carried(dso, d, address, &a);
		return a;
	}
	a.start = address;
	if (image)
		elf_address_of_offset(image, address, &a.start);
	a.end = a.at = a.start;
	if (d->outcome != RESOLVER_FOUND) {
		find_extent(r, d, &a);
		return a;
	}
	if (is_kernel) {
		a.name = kernel_find(d->kernel, dso->kind == DSO_MODULE ? d->base : 0, address,
			&a.start, &a.end);
		if (!a.name)
			a.outcome = RESOLVER_NO_SYMBOL;
		else
			a.origin = ORIGIN_TABLE;
		return a;
	}
	if (dso->kind == DSO_JIT || dso->kind == DSO_JITDUMP) {
		find_generated(d, address, &a);
		return a;
	}
	s = symtab_find(d->file ? &d->file->symtab : &d->own, a.start);
	if (s && s->is_open && image && dso_file_is_beyond(d->file, s->start, a.start))
		s = NULL;
	if (!s) {
		a.outcome = RESOLVER_NO_SYMBOL;
		find_extent(r, d, &a);
		return a;
	}
	give(&a, s->is_plt ? ORIGIN_PLT : ORIGIN_TABLE, s->name, s->start, s->end);
	return a;
}

/* The variable at an address of the file. A debug file has all of them. */
static const struct symbol *find_variable(struct resolver_dso *d, u64 address)
{
	const struct elf *image = resolver_dso_image(d);
	const struct elf *elf = d->data.elf    ? d->data.elf
		: image && d->file->debug.data ? &d->file->debug
					       : image;
	const struct symbol *s = elf ? datanames_find(&d->data, elf, address) : NULL;

	return !s && elf != image && !d->data.table.symbols.n
		? datanames_find(&d->data, image, address)
		: s;
}

struct resolver_answer resolver_find_data(struct resolver *r, const struct dso *dso, u64 address)
{
	struct resolver_dso *d = &r->dsos[dso->id];
	struct resolver_answer a;
	const struct symbol *s;

	/* The kernel's table has its variables, too; other DSOs without a file have no names of data. */
	if (dso->kind == DSO_KERNEL || dso->kind == DSO_MODULE)
		return resolver_find(r, dso, address);
	if (d->is_embedded)
		resolver_load_beside(r, dso, d);
	a = (struct resolver_answer){.start = address, .outcome = RESOLVER_NO_SYMBOL};
	if (resolver_dso_image(d))
		elf_address_of_offset(resolver_dso_image(d), address, &a.start);
	a.end = a.at = a.start;
	s = find_variable(d, a.start);
	if (!s)
		return a;
	give(&a, ORIGIN_TABLE, s->name, s->start, s->end);
	a.outcome = RESOLVER_FOUND;
	return a;
}

struct resolver_answer resolver_find_caller(struct resolver *r, const struct dso *dso, u64 address)
{
	struct resolver_answer a = resolver_find(r, dso, address - 1);

	if (a.name && !strncmp(a.name, "__pfx_", 6))
		return resolver_find(r, dso, address);
	a.at++;
	if (!a.origin)
		a.start = a.end = a.at;
	return a;
}
