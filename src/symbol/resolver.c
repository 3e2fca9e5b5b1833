#include "symbol/resolver.h"

#include <elf.h>
#include <sys/utsname.h>

#include "symbol/vdso.h"

struct resolver_dso {
	bool is_loaded, has_image;
	u64 base;                      /* DSO_MODULE: where it is loaded now */
	enum resolver_outcome outcome; /* RESOLVER_FOUND: there are symbols to look at */
	struct elf image, debug;
	struct symtab symtab;
	struct err err;
	bool has_tried_lines;
	struct line_index *lines; /* NULL: none */
	struct err lines_err;
};

void resolver_init(struct resolver *r, const struct machine *machine, const char *symfs,
	struct log *log)
{
	memset(r, 0, sizeof(*r));
	r->places.symfs = symfs ? symfs : "";
	r->places.log = log;
	r->machine = machine;
	r->kallsyms = "/proc/kallsyms";
	r->modules = "/proc/modules";
	r->n_dsos = machine->dsos.at.n;
	r->dsos = mem_zalloc(r->n_dsos * sizeof(*r->dsos));
}

void resolver_fini(struct resolver *r)
{
	for (size_t i = 0; i < r->n_dsos; i++) {
		symtab_fini(&r->dsos[i].symtab);
		line_close(r->dsos[i].lines);
		elf_close(&r->dsos[i].image);
		elf_close(&r->dsos[i].debug);
	}
	mem_free(r->dsos);
	kallsyms_close(&r->kernel);
	memset(r, 0, sizeof(*r));
}

/* ---- kernel ---- */

static const struct dso *kernel_dso(const struct resolver *r)
{
	vec_each(dso, &r->machine->dsos.at)
		if ((*dso)->kind == DSO_KERNEL)
			return *dso;
	return NULL;
}

static bool is_running_kernel(struct resolver *r)
{
	const struct dso *dso = kernel_dso(r);
	u8 id[BUILD_ID_MAX], n = kallsyms_build_id(id);
	struct utsname uts;

	if (dso && dso->build_id_size && n) {
		if (n == dso->build_id_size && !memcmp(id, dso->build_id, n))
			return true;
		err_set(&r->kernel_err, ERR_FORMAT, "it was recorded on another kernel build%s%s",
			r->recorded_release ? ", " : "",
			r->recorded_release ? r->recorded_release : "");
		return false;
	}
	/* Without build-ids the release has to do. */
	if (r->recorded_release && uname(&uts) == 0 && strcmp(uts.release, r->recorded_release)) {
		err_set(&r->kernel_err, ERR_FORMAT, "it was recorded on Linux %s, this is %s",
			r->recorded_release, uts.release);
		return false;
	}
	return true;
}

/* Modules lie in the kernel's space like the kernel: does the recording have any? */
static bool has_modules(const struct resolver *r)
{
	vec_each(dso, &r->machine->dsos.at)
		if ((*dso)->kind == DSO_MODULE)
			return true;
	return false;
}

void resolver_load_kernel(struct resolver *r)
{
	u8 id[BUILD_ID_MAX], n = kallsyms_build_id(id);

	r->has_kernel = is_running_kernel(r) &&
		!kallsyms_open(&r->kernel, r->kallsyms, has_modules(r), id, n, &r->kernel_err);
}

/* How far the kernel lay from where it lies now: it moves at each boot (KASLR). */
static u64 kernel_shift(const struct resolver *r)
{
	u64 recorded = r->machine->kernel_text;

	return recorded && r->kernel.text ? r->kernel.text - recorded : 0;
}

/* ---- files ---- */

/* The vdso of this kernel, if it is the one that was recorded. */
static bool own_vdso(const struct dso *dso, struct elf *ret_elf, struct err *err)
{
	u8 id[BUILD_ID_MAX], n = vdso_build_id(id);

	if (dso->build_id_size && (n != dso->build_id_size || memcmp(id, dso->build_id, n)))
		return false;
	return !vdso_open(ret_elf, err);
}

static void load_file(struct resolver *r, const struct dso *dso, struct resolver_dso *d)
{
	struct err ignored;
	bool has_all;

	if (find_image(&r->places, dso, &d->image, &d->err)) {
		d->outcome = d->err.code == ERR_FORMAT ? RESOLVER_OTHER_BUILD : RESOLVER_NO_FILE;
		return;
	}
	d->has_image = true;
	has_all = symtab_add_elf(&d->symtab, &d->image, SHT_SYMTAB) ||
		(!find_debug(&r->places, dso, &d->image, &d->debug, &ignored) &&
			symtab_add_elf(&d->symtab, &d->debug, SHT_SYMTAB));
	if (!has_all) {
		symtab_add_elf(&d->symtab, &d->image, SHT_DYNSYM);
		err_set(&d->err, ERR_NOENT,
			"'%s' is stripped: a package with its debug symbols (-dbgsym, -debuginfo) gives names",
			dso->path);
	}
	symtab_finish(&d->symtab);
	symtab_add_plt(&d->symtab, &d->image);
	if (!d->symtab.symbols.n)
		d->outcome = RESOLVER_NO_SYMBOLS;
}

/* A recording that is read while it is made names files as they come. */
static void make_room(struct resolver *r, u32 id)
{
	size_t n = MAX((size_t)id + 1, 2 * r->n_dsos);

	if (id < r->n_dsos)
		return;
	r->dsos = mem_realloc(r->dsos, n * sizeof(*r->dsos));
	memset(r->dsos + r->n_dsos, 0, (n - r->n_dsos) * sizeof(*r->dsos));
	r->n_dsos = n;
}

void resolver_load(struct resolver *r, const struct dso *dso)
{
	struct resolver_dso *d;

	make_room(r, dso->id);
	d = &r->dsos[dso->id];

	if (d->is_loaded)
		return;
	d->is_loaded = true;
	switch ((enum dso_kind)dso->kind) {
	case DSO_UNKNOWN:
		d->outcome = RESOLVER_NO_MAP;
		break;
	case DSO_FILE:
		load_file(r, dso, d);
		break;
	case DSO_VDSO:
		if (own_vdso(dso, &d->image, &d->err)) {
			d->has_image = true;
			symtab_add_elf(&d->symtab, &d->image, SHT_DYNSYM);
			symtab_finish(&d->symtab);
		} else {
			d->outcome = RESOLVER_NO_FILE;
			err_set(&d->err, ERR_NOENT,
				"the vdso of the recording is not this kernel's");
		}
		break;
	case DSO_MODULE:
		d->base = kallsyms_module_base(r->modules, dso->name + 1,
			strcspn(dso->name + 1, "]"));
		d->outcome = r->has_kernel && d->base ? RESOLVER_FOUND : RESOLVER_NO_KERNEL;
		d->err = r->kernel_err;
		if (r->has_kernel && !d->base)
			err_set(&d->err, ERR_NOENT, "the module is not loaded now");
		break;
	case DSO_KERNEL:
		d->outcome = r->has_kernel ? RESOLVER_FOUND : RESOLVER_NO_KERNEL;
		d->err = r->kernel_err;
		break;
	case DSO_BPF:
		break;
	case DSO_JIT:
	case DSO_NONE:
		d->outcome = RESOLVER_NO_CODE_FILE;
		break;
	}
}

/* ---- lines ---- */

/* In the file itself, or else in its separate debug file. */
static void open_lines(struct resolver *r, const struct dso *dso, struct resolver_dso *d)
{
	struct err ignored;

	if (line_open(&d->lines, &d->image, &d->lines_err) != ERR_NOENT)
		return;
	if ((d->debug.data || !find_debug(&r->places, dso, &d->image, &d->debug, &ignored)) &&
		line_open(&d->lines, &d->debug, &d->lines_err) != ERR_NOENT)
		return;
	err_set(&d->lines_err, ERR_NOENT,
		"'%s' has no debug information: compile it with -g, or install the package that has it (-dbgsym, -debuginfo)",
		dso->path);
}

void resolver_load_lines(struct resolver *r, const struct dso *dso)
{
	struct resolver_dso *d;

	resolver_load(r, dso);
	d = &r->dsos[dso->id];
	if (d->has_tried_lines)
		return;
	d->has_tried_lines = true;
	if (dso->kind == DSO_FILE && d->has_image)
		open_lines(r, dso, d);
	else if (dso->kind == DSO_FILE)
		d->lines_err = d->err;
	else if (dso->kind == DSO_KERNEL || dso->kind == DSO_MODULE)
		err_set(&d->lines_err, ERR_UNSUPPORTED,
			"this version does not read the kernel's debug information");
}

struct line_index *resolver_lines(const struct resolver *r, const struct dso *dso)
{
	return r->dsos[dso->id].lines;
}

const char *resolver_lines_reason(const struct resolver *r, const struct dso *dso)
{
	const struct resolver_dso *d = &r->dsos[dso->id];

	if (d->lines)
		return line_complaint(d->lines);
	return d->lines_err.code ? d->lines_err.msg : NULL;
}

const char *resolver_reason(const struct resolver *r, const struct dso *dso)
{
	const struct resolver_dso *d = &r->dsos[dso->id];

	return d->err.code ? d->err.msg : NULL;
}

struct resolver_answer resolver_find(const struct resolver *r, const struct dso *dso, u64 address)
{
	const struct resolver_dso *d = &r->dsos[dso->id];
	bool is_kernel = dso->kind == DSO_KERNEL || dso->kind == DSO_MODULE;
	struct resolver_answer a = {.start = address, .end = address, .outcome = d->outcome};
	const struct symbol *s;

	if (dso->kind == DSO_BPF) {
		a.name = dso->path;
		a.start = a.end = 0;
		return a;
	}
	if (d->has_image)
		elf_address_of_offset(&d->image, address, &a.start);
	a.end = a.at = a.start;
	if (d->outcome != RESOLVER_FOUND)
		return a;
	if (is_kernel) {
		u64 to_now = dso->kind == DSO_MODULE ? d->base : kernel_shift(r);

		a.name = kallsyms_find(&r->kernel, address + to_now, &a.start, &a.end);
		if (a.name) {
			a.start -= to_now;
			a.end -= to_now;
		} else {
			a.outcome = RESOLVER_NO_SYMBOL;
		}
		return a;
	}
	s = symtab_find(&d->symtab, a.start);
	if (!s) {
		a.outcome = RESOLVER_NO_SYMBOL;
		return a;
	}
	a.name = s->name;
	a.start = s->start;
	a.end = s->end;
	a.is_plt = s->is_plt;
	return a;
}

struct resolver_answer resolver_find_caller(const struct resolver *r, const struct dso *dso,
	u64 address)
{
	struct resolver_answer a = resolver_find(r, dso, address - 1);

	if (a.name && !strncmp(a.name, "__pfx_", 6))
		return resolver_find(r, dso, address);
	a.at++;
	if (!a.name)
		a.start = a.end = a.at;
	return a;
}
