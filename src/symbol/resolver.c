#include "symbol/resolver.h"

#include <elf.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "symbol/extent.h"
#include "symbol/foreign.h"
#include "symbol/perfmap.h"
#include "symbol/kmodule.h"
#include "symbol/vdso.h"

struct resolver_dso {
	bool is_loaded, has_image;
	bool is_embedded; /* the recording's own entry comes first */
	bool has_tried_files;
	enum resolver_outcome files_outcome;
	struct embedded_dso embedded;
	struct kernel *kernel;         /* DSO_KERNEL, DSO_MODULE */
	u64 base;                      /* DSO_MODULE: where it lies in the kernel's kallsyms */
	enum resolver_outcome outcome; /* RESOLVER_FOUND: there are symbols to look at */
	struct elf image, debug;       /* debug: a separate file, or what .gnu_debugdata holds */
	struct elf module;             /* DSO_MODULE: the file that has its lines */
	struct symtab symtab;
	struct extents extents;        /* of the image: functions that have no names */
	struct perfmap perfmap;        /* DSO_JIT */
	const struct jitdump *jitdump; /* DSO_JITDUMP */
	struct err err;
	bool has_tried_lines, has_tried_file_lines;
	struct line_index *lines; /* NULL: none */
	u64 lines_shift;
	struct err lines_err;
};

void resolver_init(struct resolver *r, const struct machine *machine, const char *symfs,
	struct log *log)
{
	memset(r, 0, sizeof(*r));
	r->places.symfs = symfs ? symfs : "";
	r->places.log = log;
	living_init(&r->living, machine, "/proc");
	r->places.living = &r->living;
	debuginfod_init(&r->debuginfod, 0, log);
	r->places.debuginfod = &r->debuginfod;
	r->machine = machine;
	r->kallsyms = "/proc/kallsyms";
	r->modules = "/proc/modules";
	r->kcore = "/proc/kcore";
	pthread_mutex_init(&r->guests_lock, NULL);
	r->n_dsos = machine->dsos.at.n;
	r->dsos = mem_zalloc(r->n_dsos * sizeof(*r->dsos));
}

void resolver_fini(struct resolver *r)
{
	for (size_t i = 0; i < r->n_dsos; i++) {
		symtab_fini(&r->dsos[i].symtab);
		extents_fini(&r->dsos[i].extents);
		perfmap_fini(&r->dsos[i].perfmap);
		line_close(r->dsos[i].lines);
		elf_close(&r->dsos[i].image);
		elf_close(&r->dsos[i].debug);
		elf_close(&r->dsos[i].module);
	}
	mem_free(r->dsos);
	living_fini(&r->living);
	debuginfod_fini(&r->debuginfod);
	kernel_close(&r->kernel);
	vec_each(guest, &r->guests) {
		kernel_close(&(*guest)->kernel);
		guest_request_fini(&(*guest)->request);
		mem_free(*guest);
	}
	vec_fini(&r->guests);
	pthread_mutex_destroy(&r->guests_lock);
	memset(r, 0, sizeof(*r));
}

/* ---- kernel ---- */

static const struct dso *kernel_dso(const struct resolver *r, bool is_guest, u32 pid)
{
	vec_each(dso, &r->machine->dsos.at)
		if ((*dso)->kind == DSO_KERNEL && (*dso)->is_guest == is_guest &&
			(!is_guest || (*dso)->pid == pid))
			return *dso;
	return NULL;
}

/* Modules lie in the kernel's space like the kernel: does the recording have any? */
static bool has_modules(const struct resolver *r)
{
	vec_each(dso, &r->machine->dsos.at)
		if ((*dso)->kind == DSO_MODULE && !(*dso)->is_guest)
			return true;
	return false;
}

static bool has_embedded_kernel(const struct resolver *r)
{
	const struct dso *dso = kernel_dso(r, false, 0);
	struct embedded_dso d;

	return !r->vmlinux && !r->kallsyms_copy && dso && embedded_is_there(r->embedded) &&
		embedded_find_dso(r->embedded, dso, &d) && d.outcome == RESOLVER_FOUND;
}

static void load_kernel_files(struct resolver *r)
{
	kernel_load(&r->kernel,
		&(struct kernel_request){.dso = kernel_dso(r, false, 0),
			.release = r->recorded_release,
			.text = r->machine->kernel_text,
			.has_modules = has_modules(r),
			.kallsyms = r->kallsyms,
			.modules = r->modules,
			.named_vmlinux = r->vmlinux,
			.named_kallsyms = r->kallsyms_copy,
			.recorded_kallsyms = r->recorded_kallsyms,
			.ignores_vmlinux = r->ignores_vmlinux,
			.symfs = r->places.symfs,
			.log = r->places.log});
}

void resolver_load_kernel(struct resolver *r)
{
	if (!has_embedded_kernel(r))
		load_kernel_files(r);
}

static struct resolver_guest *load_guest(struct resolver *r, u32 pid)
{
	const struct guest *known = machine_guest(r->machine, pid);
	struct resolver_guest *guest;

	vec_each(g, &r->guests)
		if ((*g)->pid == pid)
			return *g;
	guest = mem_zalloc(sizeof(*guest));
	guest->pid = pid;
	guest_request_init(&guest->request, &r->guest_files, pid, r->places.symfs, r->places.log);
	guest->request.kernel.dso = kernel_dso(r, true, pid);
	guest->request.kernel.text = known ? known->text : 0;
	kernel_load(&guest->kernel, &guest->request.kernel);
	if (!kernel_has_names(&guest->kernel) && !guest->kernel.err.code)
		err_set(&guest->kernel.err, ERR_NOENT,
			"nothing of the guest's kernel is here: --guestkallsyms or --guestvmlinux names a file of it, --guestmount a folder of all guests");
	vec_add(&r->guests, guest);
	return guest;
}

static struct resolver_guest *guest_of(struct resolver *r, const struct dso *dso)
{
	struct resolver_guest *guest;

	pthread_mutex_lock(&r->guests_lock);
	guest = load_guest(r, dso->pid);
	pthread_mutex_unlock(&r->guests_lock);
	return guest;
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

/*
 * A stripped file has the symbols that others link to, and maybe a few more in .gnu_debugdata. Why
 * there are not all of them: `missing` tells if a debug file was found and refused.
 */
static void load_stripped(const struct dso *dso, struct resolver_dso *d, const struct err *missing)
{
	static const char remedy[] =
		"a package with its debug symbols (-dbgsym, -debuginfo) gives names";
	struct err packed;

	if (missing->code != ERR_NOENT)
		d->err = *missing;
	else
		err_set(&d->err, ERR_NOENT, "'%s' is stripped: %s", dso->path, remedy);
	symtab_add_elf(&d->symtab, &d->image, SHT_DYNSYM);
	if (!elf_open_debugdata(&d->debug, &d->image, &packed))
		symtab_add_elf(&d->symtab, &d->debug, SHT_SYMTAB);
	else if (packed.code != ERR_NOENT && missing->code == ERR_NOENT)
		err_set(&d->err, packed.code, "'%s' is stripped, %.300s: %s", dso->path, packed.msg,
			remedy);
}

static void load_file(struct resolver *r, const struct dso *dso, struct resolver_dso *d)
{
	struct err missing = {.code = ERR_NOENT};

	if (find_image(&r->places, dso, &d->image, &d->err)) {
		d->outcome = d->err.code == ERR_FORMAT ? RESOLVER_OTHER_BUILD : RESOLVER_NO_FILE;
		return;
	}
	d->has_image = true;
	if (symtab_add_elf(&d->symtab, &d->image, SHT_SYMTAB) ||
		(!find_debug(&r->places, dso, &d->image, &d->debug, &missing) &&
			symtab_add_elf(&d->symtab, &d->debug, SHT_SYMTAB))) {
		symtab_finish(&d->symtab);
		symtab_merge_elf(&d->symtab, &d->image, SHT_DYNSYM);
	} else {
		elf_close(&d->debug);
		load_stripped(dso, d, &missing);
		symtab_finish(&d->symtab);
	}
	symtab_add_plt(&d->symtab, &d->image);
	if (!d->symtab.symbols.n)
		d->outcome = RESOLVER_NO_SYMBOLS;
}

/* ---- generated code ---- */

static void say_of_perfmap(struct log *log, const struct perfmap *p, const char *path)
{
	if (p->n_bad)
		log_warn(log, "'%s': %llu lines are not like 'START SIZE name' and are left out",
			path, (unsigned long long)p->n_bad);
	if (p->is_cut)
		log_warn(log,
			"'%s' is too big: only its first %zu names are read; the limit is %d lines, %llu MiB",
			path, p->ranges.n, PERFMAP_LINES, (unsigned long long)PERFMAP_BYTES >> 20);
}

static void load_perfmap(struct resolver *r, const struct dso *dso, struct resolver_dso *d)
{
	struct foreign whose = {"/proc", r->places.symfs, dso->pid};
	char own_path[64];
	int fd;

	d->outcome = RESOLVER_NO_CODE_FILE;
	snprintf(own_path, sizeof(own_path), "/tmp/perf-%u.map", foreign_own_pid(&whose));
	if (foreign_open(&whose, dso->path, own_path, &fd, &d->err)) {
		log_debug(r->places.log, "%s: %s", dso->name, d->err.msg);
		if (d->err.code == ERR_NOENT)
			err_set(&d->err, ERR_NOENT,
				"the program left no '%s' (node --perf-basic-prof, java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit, python -X perf)",
				dso->path);
		return;
	}
	perfmap_init(&d->perfmap);
	if (perfmap_read(&d->perfmap, fd, &d->err)) {
		err_prefix(&d->err, "'%s'", dso->path);
	} else {
		say_of_perfmap(r->places.log, &d->perfmap, dso->path);
		log_debug(r->places.log, "%s: using '%s', %zu ranges", dso->name, dso->path,
			d->perfmap.ranges.n);
		d->outcome = RESOLVER_FOUND;
	}
	close(fd);
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

/* Where a module's files are, and those of which kernel. */
static const char *module_places(struct resolver *r, const struct dso *dso,
	struct find_places *ret_places)
{
	struct resolver_guest *guest = dso->is_guest ? guest_of(r, dso) : NULL;

	*ret_places = r->places;
	if (!guest)
		return r->recorded_release;
	ret_places->symfs = guest->request.kernel.symfs;
	return str_text(&guest->request.release);
}

/* Out of its kernel's kallsyms, if it is loaded there, else out of its file. */
static void load_module(struct resolver *r, const struct dso *dso, struct resolver_dso *d)
{
	struct find_places places;
	const char *release = module_places(r, dso, &places);

	d->kernel = dso->is_guest ? &guest_of(r, dso)->kernel : &r->kernel;
	d->base = kernel_module_base(d->kernel, dso);
	if (d->base || !kmodule_open(&places, dso, release, &d->debug, &d->symtab, &d->err))
		return;
	d->outcome = RESOLVER_NO_KERNEL;
	/* That the kernel itself has no names explains more than that a file is missing. */
	if (!kernel_has_names(d->kernel) && d->err.code == ERR_NOENT)
		d->err = d->kernel->err;
}

/* From files of this machine, whatever the recording says itself. */
static void load_from_files(struct resolver *r, const struct dso *dso, struct resolver_dso *d)
{
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
		load_module(r, dso, d);
		break;
	case DSO_KERNEL:
		d->kernel = dso->is_guest ? &guest_of(r, dso)->kernel : &r->kernel;
		d->outcome = kernel_has_names(d->kernel) ? RESOLVER_FOUND : RESOLVER_NO_KERNEL;
		if (d->outcome != RESOLVER_FOUND)
			d->err = d->kernel->err;
		break;
	case DSO_BPF:
		break;
	case DSO_JIT:
		load_perfmap(r, dso, d);
		break;
	case DSO_JITDUMP:
		d->jitdump = r->jitcode ? jitcode_find(r->jitcode, dso) : NULL;
		d->outcome = d->jitdump ? RESOLVER_FOUND : RESOLVER_NO_FILE;
		break;
	case DSO_NONE:
		d->outcome = RESOLVER_NO_CODE_FILE;
		break;
	}
}

/* ---- what the recording carries ---- */

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

/* Opens the files too, which change nothing of what is said; true if they have names. */
static bool load_beside(struct resolver *r, const struct dso *dso, struct resolver_dso *d)
{
	/* The kernel's names are read once for all; the rest has no files of its own. */
	if (dso->kind != DSO_FILE && dso->kind != DSO_VDSO)
		return false;
	if (!d->has_tried_files) {
		d->has_tried_files = true;
		d->outcome = RESOLVER_FOUND;
		load_from_files(r, dso, d);
		d->files_outcome = d->outcome;
		say_as_embedded(r, d);
	}
	return d->files_outcome == RESOLVER_FOUND;
}

/*
 * What was missing when the recording was made may be here. The build-id tells that it is the same
 * file; without one it may be any.
 */
static bool is_better_here(struct resolver *r, const struct dso *dso, struct resolver_dso *d)
{
	if (dso->kind != DSO_FILE || !dso->build_id_size)
		return false;
	d->has_tried_files = true;
	d->outcome = RESOLVER_FOUND;
	load_from_files(r, dso, d);
	d->files_outcome = d->outcome;
	return d->outcome == RESOLVER_FOUND &&
		(!d->err.code || d->embedded.outcome != RESOLVER_FOUND);
}

void resolver_load(struct resolver *r, const struct dso *dso)
{
	struct resolver_dso *d;

	make_room(r, dso->id);
	d = &r->dsos[dso->id];
	if (d->is_loaded)
		return;
	d->is_loaded = true;
	d->is_embedded = find_entry(r, dso, &d->embedded);
	if (!d->is_embedded)
		load_from_files(r, dso, d);
	else if (d->embedded.reason && is_better_here(r, dso, d))
		d->is_embedded = false;
	else
		say_as_embedded(r, d);
}

/* False: the files have to say. */
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
		if (!*name.name) {
			a->extent_start = name.start;
			a->extent_end = name.end;
			break;
		}
		a->name = name.name;
		a->start = name.start;
		a->end = name.end;
		a->is_plt = name.is_plt;
		return true;
	case EMBEDDED_UNKNOWN:
		if (d->outcome == RESOLVER_FOUND && load_beside(r, dso, d))
			return false;
		break;
	case EMBEDDED_NONE:
		break;
	}
	if (d->outcome == RESOLVER_FOUND)
		a->outcome = RESOLVER_NO_SYMBOL;
	return true;
}

/* ---- lines ---- */

/* In the file itself, or else in its separate debug file. */
static void open_lines(struct resolver *r, const struct dso *dso, struct resolver_dso *d)
{
	u64 most = r->unpack_max ? r->unpack_max : UINT64_MAX;
	struct err ignored;

	if (line_open_within(&d->lines, &d->image, most, &d->lines_err) != ERR_NOENT)
		return;
	if ((d->debug.data || !find_debug(&r->places, dso, &d->image, &d->debug, &ignored)) &&
		line_open_within(&d->lines, &d->debug, most, &d->lines_err) != ERR_NOENT)
		return;
	err_set(&d->lines_err, ERR_NOENT,
		"'%s' has no debug information: compile it with -g, install the package that has it (-dbg, -dbgsym, -debuginfo), set DEBUGINFOD_URLS, or name a folder of debug files with --symfs",
		dso->path);
}

static void open_kernel_lines(const struct resolver *r, struct resolver_dso *d)
{
	const struct elf *elf = kernel_debug_file(d->kernel, &d->lines_shift, &d->lines_err);

	if (elf && !r->skips_kernel_lines && line_open(&d->lines, elf, &d->lines_err) == ERR_NOENT)
		err_set(&d->lines_err, ERR_NOENT, "'%s' has no debug information", elf->path);
}

static void open_module_lines(struct resolver *r, const struct dso *dso, struct resolver_dso *d)
{
	struct find_places places;
	const char *release = module_places(r, dso, &places);

	if (!r->skips_kernel_lines &&
		!kmodule_open_debug(&places, dso, release, &d->module, &d->lines_err))
		line_open(&d->lines, &d->module, &d->lines_err);
}

static void load_file_lines(struct resolver *r, const struct dso *dso, struct resolver_dso *d)
{
	d->has_tried_file_lines = true;
	/* The kernel's names were in the recording, so its files were not looked for yet. */
	if (d->is_embedded && dso->kind == DSO_KERNEL) {
		load_kernel_files(r);
		d->kernel = &r->kernel;
	} else if (d->is_embedded && dso->kind != DSO_MODULE && !load_beside(r, dso, d)) {
		return;
	}
	if (dso->kind == DSO_FILE && d->has_image)
		open_lines(r, dso, d);
	else if (dso->kind == DSO_FILE)
		err_set(&d->lines_err, d->err.code,
			"%.800s: name the folder that has the recorded file with --symfs, or set DEBUGINFOD_URLS",
			d->err.msg);
	else if (dso->kind == DSO_KERNEL)
		open_kernel_lines(r, d);
	else if (dso->kind == DSO_MODULE)
		open_module_lines(r, dso, d);
}

void resolver_load_lines(struct resolver *r, const struct dso *dso)
{
	struct resolver_dso *d;
	const char *reason;

	resolver_load(r, dso);
	d = &r->dsos[dso->id];
	if (d->has_tried_lines)
		return;
	d->has_tried_lines = true;
	if (!d->is_embedded || !(d->embedded.flags & EMBEDDED_HAS_LINES))
		load_file_lines(r, dso, d);
	if (!d->is_embedded || d->lines)
		return;
	reason = embedded_string(r->embedded, d->embedded.lines_reason);
	d->lines_err.code = 0;
	if (reason)
		err_set(&d->lines_err, ERR_NOENT, "%s", reason);
}

static bool has_embedded_lines(const struct resolver_dso *d)
{
	return d->is_embedded && d->embedded.flags & EMBEDDED_HAS_LINES;
}

bool resolver_has_lines(const struct resolver *r, const struct dso *dso)
{
	const struct resolver_dso *d = &r->dsos[dso->id];

	return d->lines || has_embedded_lines(d);
}

/* False: the files have to say. */
static bool find_embedded_chain(struct resolver *r, const struct dso *dso, struct resolver_dso *d,
	u64 at, struct line_frame frames[LINE_DEPTH_MAX], size_t *ret_n)
{
	if (!has_embedded_lines(d))
		return false;
	if (embedded_find_chain(r->embedded, &d->embedded, at, frames, ret_n) != EMBEDDED_UNKNOWN)
		return true;
	if (!d->has_tried_file_lines)
		load_file_lines(r, dso, d);
	return false;
}

enum line_gap resolver_line_gap(struct resolver *r, const struct dso *dso, u64 at)
{
	struct resolver_dso *d = &r->dsos[dso->id];
	struct line_frame frames[LINE_DEPTH_MAX];
	size_t n;

	if (find_embedded_chain(r, dso, d, at, frames, &n))
		return embedded_find_gap(r->embedded, &d->embedded, at);
	return d->lines ? line_gap(d->lines, at + d->lines_shift) : LINE_GAP_FILE;
}

void resolver_want_line(struct resolver *r, const struct dso *dso, u64 at, bool with_scopes,
	line_wishes *wishes)
{
	struct resolver_dso *d = &r->dsos[dso->id];
	struct line_frame frames[LINE_DEPTH_MAX];
	size_t n;

	if (!find_embedded_chain(r, dso, d, at, frames, &n) && d->lines)
		line_want(d->lines, at + d->lines_shift, with_scopes, wishes);
}

struct line_index *resolver_lines(const struct resolver *r, const struct dso *dso)
{
	return r->dsos[dso->id].lines;
}

u64 resolver_lines_shift(const struct resolver *r, const struct dso *dso)
{
	return r->dsos[dso->id].lines_shift;
}

static const char *embedded_gap_text(const struct resolver *r, const struct resolver_dso *d,
	enum line_gap gap)
{
	if (gap == LINE_GAP_UNDESCRIBED || gap == LINE_GAP_UNLINED)
		return line_gap_text(d->lines, gap);
	return gap < LINE_GAPS ? embedded_string(r->embedded, d->embedded.gaps[gap]) : NULL;
}

bool resolver_find_line(struct resolver *r, const struct dso *dso, u64 at, struct line_frame *ret)
{
	struct resolver_dso *d = &r->dsos[dso->id];
	struct line_frame frames[LINE_DEPTH_MAX];
	size_t n;

	if (!find_embedded_chain(r, dso, d, at, frames, &n))
		return d->lines && line_find(d->lines, at + d->lines_shift, ret);
	if (!n || !frames[0].file)
		return false;
	*ret = frames[0];
	ret->function = NULL;
	return true;
}

size_t resolver_find_chain(struct resolver *r, const struct dso *dso, u64 at,
	struct line_frame frames[LINE_DEPTH_MAX])
{
	struct resolver_dso *d = &r->dsos[dso->id];
	size_t n;

	if (find_embedded_chain(r, dso, d, at, frames, &n))
		return n;
	return d->lines ? line_chain(d->lines, at + d->lines_shift, frames) : 0;
}

const char *resolver_lines_reason(const struct resolver *r, const struct dso *dso,
	enum line_gap gap)
{
	const struct resolver_dso *d = &r->dsos[dso->id];

	if (has_embedded_lines(d))
		return embedded_gap_text(r, d, gap);
	if (d->lines)
		return line_gap_text(d->lines, gap);
	return d->lines_err.code ? d->lines_err.msg : NULL;
}

enum resolver_outcome resolver_outcome(const struct resolver *r, const struct dso *dso)
{
	return r->dsos[dso->id].outcome;
}

bool resolver_lines_failed(const struct resolver *r, const struct dso *dso)
{
	const struct resolver_dso *d = &r->dsos[dso->id];

	return d->has_image && !d->lines && d->lines_err.code && d->lines_err.code != ERR_NOENT;
}

const struct embedded_dso *resolver_embedded(const struct resolver *r, const struct dso *dso)
{
	const struct resolver_dso *d = &r->dsos[dso->id];

	return d->is_embedded ? &d->embedded : NULL;
}

const struct elf *resolver_image(const struct resolver *r, const struct dso *dso)
{
	const struct resolver_dso *d = &r->dsos[dso->id];

	return d->has_image ? &d->image : NULL;
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
	if (code) {
		a->name = code->name;
		a->start = code->off;
		a->end = code->off + code->size;
	} else if (range) {
		a->name = range->name;
		a->start = range->symbol;
		a->end = range->end;
	}
}

static void find_extent(struct resolver_dso *d, struct resolver_answer *a)
{
	if (d->has_image)
		extent_find(&d->extents, &d->image, a->at, &a->extent_start, &a->extent_end);
}

struct resolver_answer resolver_find(struct resolver *r, const struct dso *dso, u64 address)
{
	struct resolver_dso *d = &r->dsos[dso->id];
	/* A module out of its own file is like any other file. */
	bool is_kernel =
		dso->kind == DSO_KERNEL || (dso->kind == DSO_MODULE && !d->symtab.symbols.n);
	struct resolver_answer a = {.start = address, .end = address, .outcome = d->outcome};
	const struct symbol *s;

	if (dso->kind == DSO_BPF) {
		a.name = dso->path;
		a.start = a.end = 0;
		return a;
	}
	if (d->is_embedded && find_embedded(r, dso, d, address, &a))
		return a;
	a.start = address;
	if (d->has_image)
		elf_address_of_offset(&d->image, address, &a.start);
	a.end = a.at = a.start;
	if (d->outcome != RESOLVER_FOUND) {
		find_extent(d, &a);
		return a;
	}
	if (is_kernel) {
		a.name = kernel_find(d->kernel, dso->kind == DSO_MODULE ? d->base : 0, address,
			&a.start, &a.end);
		if (!a.name)
			a.outcome = RESOLVER_NO_SYMBOL;
		return a;
	}
	if (dso->kind == DSO_JIT || dso->kind == DSO_JITDUMP) {
		find_generated(d, address, &a);
		return a;
	}
	s = symtab_find(&d->symtab, a.start);
	if (!s) {
		a.outcome = RESOLVER_NO_SYMBOL;
		find_extent(d, &a);
		return a;
	}
	a.name = s->name;
	a.start = s->start;
	a.end = s->end;
	a.is_plt = s->is_plt;
	return a;
}

struct resolver_answer resolver_find_caller(struct resolver *r, const struct dso *dso, u64 address)
{
	struct resolver_answer a = resolver_find(r, dso, address - 1);

	if (a.name && !strncmp(a.name, "__pfx_", 6))
		return resolver_find(r, dso, address);
	a.at++;
	if (!a.name)
		a.start = a.end = a.at;
	return a;
}
