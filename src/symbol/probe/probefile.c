#include "symbol/probe/probefile.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "machine/dso.h"
#include "symbol/elf/elfcfi.h"
#include "symbol/find/find.h"

/* The entries of all units, for walks by name. */
static void list_units(struct probe_file *f)
{
	Dwarf_Off at = 0, next;
	size_t header;

	while (!dwarf_nextcu(f->dwarf, at, &next, &header, NULL, NULL, NULL)) {
		Dwarf_Die unit, split;
		int tag;

		if (dwarf_offdie(f->dwarf, at + header, &unit)) {
			tag = dwarf_tag(&unit);
			/* A skeleton's functions are in its .dwo file. */
			if (tag == DW_TAG_skeleton_unit &&
				!dwarf_cu_info(unit.cu, NULL, NULL, NULL, &split, NULL, NULL,
					NULL) &&
				split.addr)
				unit = split;
			if (tag == DW_TAG_compile_unit || tag == DW_TAG_skeleton_unit)
				vec_add(&f->units, unit);
		}
		at = next;
	}
}

static int open_debug(struct probe_file *f, const char *path)
{
	const struct find_places places = {.symfs = "", .is_now = true};
	struct dso dso = {.kind = DSO_FILE, .path = path, .name = path};
	const struct elf *from = &f->image;
	struct dwarf_handle *handle;
	struct err why;

	if (!dwarf_is_in(&f->image)) {
		if (find_debug(&places, &dso, &f->image, &f->debug, &why))
			return err_set(&f->debug_err, ERR_NOENT, "'%s' has no debug information",
				f->path);
		from = &f->debug;
	}
	if (dwarf_open_whole(&f->dwarf_file, from, &f->debug_err))
		return err_prefix(&f->debug_err, "'%s'", f->path);
	handle = dwarf_handle_new(f->dwarf_file, &f->debug_err);
	if (!handle)
		return f->debug_err.code;
	f->dwarf = handle->dwarf;
	list_units(f);
	return 0;
}

static void add_symbols(struct probe_file *f)
{
	const struct elf *from = &f->image;
	struct symtab dynamic = {0};

	if (!symtab_add_elf(&f->symbols, from, SHT_SYMTAB) && f->debug.data)
		symtab_add_elf(&f->symbols, &f->debug, SHT_SYMTAB);
	/* A finished table keeps one of several names of an address; here the user may type any. */
	symtab_add_elf(&dynamic, from, SHT_DYNSYM);
	vec_each(s, &f->symbols.symbols)
		vec_add(&f->names, *s);
	vec_each(s, &dynamic.symbols)
		vec_add(&f->names, *s);
	symtab_fini(&dynamic);
	symtab_finish(&f->symbols);
	symtab_merge_elf(&f->symbols, from, SHT_DYNSYM);
}

int probefile_open(struct probe_file *f, const char *path, const char *root, bool is_kernel,
	struct err *err)
{
	struct cfi_input in = {0};
	struct str place = {0};
	char *real;
	int r;

	memset(f, 0, sizeof(*f));
	f->is_kernel = is_kernel;
	str_addf(&place, "%s%s", root ? root : "", path);
	real = realpath(str_text(&place), NULL);
	if (!real) {
		r = err_sys(err, errno, "opening '%s'", str_text(&place));
		str_fini(&place);
		return r;
	}
	r = elf_open(&f->image, real, err);
	if (!r) {
		/* The kernel is told the path as seen here: it opens the file itself. */
		f->path = real;
		f->arch = elf_arch(&f->image);
		(void)open_debug(f, real);
		add_symbols(f);
		elfcfi_find(&f->image, &in);
		cfi_init(&f->cfi, &in);
	} else {
		free(real);
	}
	str_fini(&place);
	return r;
}

void probefile_close(struct probe_file *f)
{
	if (!f->path)
		return;
	rows_fini(&f->rows);
	cfi_fini(&f->cfi);
	symtab_fini(&f->symbols);
	vec_fini(&f->names);
	dwarf_close(f->dwarf_file);
	vec_fini(&f->units);
	if (f->debug.data)
		elf_close(&f->debug);
	elf_close(&f->image);
	free(f->path);
	f->path = NULL;
}

int probefile_needs_debug(const struct probe_file *f, const char *what, struct err *err)
{
	return err_set(err, f->debug_err.code,
		"%s: %s. Build it with -g, or install the package with its debug symbols (NAME-dbgsym, NAME-debuginfo); a function and an offset work without",
		what, f->debug_err.msg);
}

const struct symbol *probefile_symbol(const struct probe_file *f, const char *name)
{
	size_t n = strlen(name);

	vec_each(s, &f->names)
		if (!strncmp(s->name, name, n) && (!s->name[n] || s->name[n] == '@') && !s->is_plt)
			return s;
	return NULL;
}

int probefile_offset(const struct probe_file *f, u64 address, u64 *ret_offset, struct err *err)
{
	return elf_offset_of_address(&f->image, address, ret_offset)
		? 0
		: err_set(err, ERR_INVAL, "'%s' has no code at 0x%llx", f->path,
			  (unsigned long long)address);
}

bool probefile_is_instruction(const struct probe_file *f, u64 start, u64 address, u64 *ret_before)
{
	const struct arch *a = f->arch;
	u64 at = start;

	while (a && a->code && at < address) {
		u64 left = address - at + 16;
		const u8 *p;
		unsigned n;

		while (left > address - at && !(p = elf_bytes_at(&f->image, at, left)))
			left--;
		n = left > address - at ? a->code->size(a, p, (u32)MIN(left, (u64)UINT32_MAX)) : 0;
		if (!n)
			return true;
		*ret_before = at;
		at += n;
	}
	return at == address || !a || !a->code;
}
