#include "symbol/resolve/resolverdso.h"

#include "symbol/dwarf/dwarf.h"
#include "symbol/kernel/kmodule.h"

/* Opens the lines of the file itself, of its separate debug file, or of a Go program's runtime table. */
static void open_lines(struct resolver *r, const struct dso *dso, struct resolver_dso *d)
{
	u64 most = r->unpack_max ? r->unpack_max : UINT64_MAX;
	struct dso_file *file = d->file;
	struct str remedy = {0};
	struct err ignored;
	bool has_debug;

	if (line_open_within(&d->lines, &file->image, most, &d->lines_err) != ERR_NOENT)
		return;
	has_debug = dso_files_debug(r->files, file);
	if (has_debug &&
		line_open_within(&d->lines, &file->debug, most, &d->lines_err) != ERR_NOENT)
		return;
	if (!line_open_go(&d->lines, &file->image, &ignored)) {
		d->lines_err.code = 0;
		return;
	}
	if (!has_debug && file->debug_err.code != ERR_NOENT)
		d->lines_err = file->debug_err;
	else if (resolver_packages_advise(r, dso, &file->image, &remedy))
		err_set(&d->lines_err, ERR_NOENT, "'%s' has no debug information: %s", dso->path,
			str_text(&remedy));
	else
		err_set(&d->lines_err, ERR_NOENT,
			"'%s' has no debug information: compile it with -g, install the package that has it (-dbg, -dbgsym, -debuginfo), set DEBUGINFOD_URLS, or name a folder of debug files with --symfs",
			dso->path);
	str_fini(&remedy);
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
	const char *release = resolver_module_places(r, dso, &places);

	if (!r->skips_kernel_lines &&
		!kmodule_open_debug(&places, dso, release, &d->module_debug, &d->lines_err))
		line_open(&d->lines, &d->module_debug, &d->lines_err);
}

static void read_file_lines(struct resolver *r, const struct dso *dso, struct resolver_dso *d)
{
	d->has_tried_file_lines = true;
	if (d->carried) {
		err_set(&d->lines_err, ERR_NOENT,
			"the recording has the names of its functions but no lines: name the folder of its files with --symfs");
		return;
	}
	/* The kernel's names came from the recording, so its files have not been searched yet. */
	if (d->is_embedded && dso->kind == DSO_KERNEL)
		d->kernel = resolver_kernel(r);
	else if (d->is_embedded && dso->kind != DSO_MODULE && !resolver_load_beside(r, dso, d))
		return;
	if (dso->kind == DSO_FILE && resolver_dso_image(d))
		open_lines(r, dso, d);
	else if (dso->kind == DSO_FILE)
		err_set(&d->lines_err, d->err.code,
			"%.800s: name the folder of the recorded file with --symfs, or set DEBUGINFOD_URLS",
			d->err.msg);
	else if (dso->kind == DSO_KERNEL)
		open_kernel_lines(r, d);
	else if (dso->kind == DSO_MODULE)
		open_module_lines(r, dso, d);
}

static void load_file_lines(struct resolver *r, const struct dso *dso, struct resolver_dso *d)
{
	read_file_lines(r, dso, d);
	if (d->lines_err.code == ERR_SYS)
		log_warn(r->files->places.log, "%s has no lines of source: %s", dso->name,
			d->lines_err.msg);
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

/* Returns false if the files must be used. */
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

const struct elf *resolver_dwarf(struct resolver *r, const struct dso *dso,
	const struct elf **ret_image, u64 *ret_shift)
{
	struct resolver_dso *d = &r->dsos[dso->id];
	const struct elf *elf = NULL;
	struct err ignored;

	/* The recording contains lines, but no types. */
	if (d->is_embedded && !d->has_tried_file_lines)
		load_file_lines(r, dso, d);
	*ret_shift = 0;
	if (dso->kind == DSO_FILE && resolver_dso_image(d)) {
		elf = dwarf_is_in(&d->file->image) ? &d->file->image : &d->file->debug;
		*ret_image = &d->file->image;
	} else if (dso->kind == DSO_KERNEL && d->kernel && !r->skips_kernel_lines) {
		elf = kernel_debug_file(d->kernel, ret_shift, &ignored);
		*ret_image = elf;
	}
	return elf && elf->data && dwarf_is_in(elf) ? elf : NULL;
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

bool resolver_lines_failed(const struct resolver *r, const struct dso *dso)
{
	const struct resolver_dso *d = &r->dsos[dso->id];

	return resolver_dso_image(d) && !d->lines && d->lines_err.code &&
		d->lines_err.code != ERR_NOENT;
}
