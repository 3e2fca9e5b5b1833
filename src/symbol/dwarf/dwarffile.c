#include "symbol/dwarf/dwarffile.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <unistd.h>

#include "symbol/elf/reloc.h"

#define UNPACKED_MAX (4ull << 30)

void dwarf_complain(struct err *complaint, const char *what)
{
	int code = dwarf_errno();

	if (!complaint->code)
		err_set(complaint, ERR_FORMAT, "its debug information is damaged, %s: %s", what,
			code ? dwarf_errmsg(code) : "it is malformed");
}

void dwarf_allow_ranges(struct dwarf_handle *h, struct bytes info, struct bytes lists)
{
	h->ranges_max = MAX(h->ranges_max, bytes_left(&info) + bytes_left(&lists));
}

void dwarf_complain_ranges(const struct dwarf_handle *h, struct err *complaint, const char *of)
{
	if (!complaint->code)
		err_set(complaint, ERR_LIMIT,
			"%s claim to have more than %llu pieces of code, more than the file has bytes for: the rest is left out",
			of, (unsigned long long)h->ranges_max);
}

/* ---- the file ---- */

static u64 first_code(const struct elf *elf)
{
	u64 first = UINT64_MAX;

	for (u32 i = 0; i < elf->n_sections; i++)
		if (elf->sections[i].flags & SHF_EXECINSTR)
			first = MIN(first, elf->sections[i].addr);
	return first == UINT64_MAX ? 0 : first;
}

bool dwarf_is_in(const struct elf *elf)
{
	return elf_section(elf, ".debug_info") || elf_section(elf, ".zdebug_info");
}

/*
 * Recognises the packing used before section headers could express it: "ZLIB", the size, big-endian. libdw
 * unpacks it.
 */
static bool old_packed(const struct elf *elf, const struct elf_section *s, u64 *ret_size)
{
	enum { MAGIC = 4, HEADER = 12 };
	const void *its;
	struct bytes b;

	if (!elf_has_name(elf, s, ".zdebug_") || !elf_raw(elf, s, &b) ||
		!bytes_take(&b, HEADER, &its) || memcmp(its, "ZLIB", MAGIC))
		return false;
	*ret_size = 0;
	for (int i = MAGIC; i < HEADER; i++)
		*ret_size = *ret_size << 8 | ((const u8 *)its)[i];
	return true;
}

/* These sizes are only claims. */
u64 dwarf_packed_bytes(const struct elf *elf)
{
	u64 all = 0;

	for (u32 i = 0; i < elf->n_sections; i++) {
		struct elf_packed p;

		if (elf_packed(elf, &elf->sections[i], &p) ||
			old_packed(elf, &elf->sections[i], &p.size))
			all = p.size > UINT64_MAX - all ? UINT64_MAX : all + p.size;
	}
	return all;
}

/*
 * Sections that are not needed and may be large: libdw would load every section that it knows. The first two,
 * with the locations of variables, are needed by dwarf_open_whole().
 */
static const char *const unused[] = {".debug_loc", ".debug_loclists", ".debug_aranges",
	".debug_frame", ".debug_macinfo", ".debug_macro", ".debug_pubnames", NULL};

enum { OF_VARIABLES = 2 };

static int make_plain(struct dwarf_file *f, const struct elf *elf, struct err *err)
{
	return plainelf_make(elf, unused + (f->is_whole ? OF_VARIABLES : 0),
		elf->size + UNPACKED_MAX, &f->image, err);
}

/* Opens a kernel module. Its sections already have their final addresses. */
static int open_unlinked(struct dwarf_file *f, const struct elf *elf, struct err *err)
{
	struct elf plain;
	int r;

	if (make_plain(f, elf, err) || elf_of_memory(&plain, f->image.at, f->image.size, err))
		return err->code;
	for (u32 i = 0; i < plain.n_sections && i < elf->n_sections; i++)
		plain.sections[i].addr = elf->sections[i].addr;
	r = reloc_apply(&plain, f->image.at, err);
	elf_close(&plain);
	f->elf = r ? NULL : elf_memory((char *)f->image.at, f->image.size);
	return r;
}

static int open_elf(struct dwarf_file *f, const struct elf *elf, struct err *err)
{
	elf_version(EV_CURRENT);
	if (elf->type == ET_REL) {
		if (open_unlinked(f, elf, err))
			return err->code;
	} else if (plainelf_is_needed(elf)) {
		if (make_plain(f, elf, err))
			return err->code;
		f->elf = elf_memory((char *)f->image.at, f->image.size);
	} else if (elf->path) {
		f->fd = open(elf->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (f->fd < 0)
			return err_sys(err, errno, "opening '%s'", elf->path);
		f->elf = elf_begin(f->fd, ELF_C_READ_MMAP_PRIVATE, NULL);
	} else {
		f->elf = elf_memory((char *)elf->data, elf->size);
	}
	if (!f->elf)
		return err_set(err, ERR_FORMAT, "%s", elf_errmsg(-1));
	return 0;
}

static int open_file(struct dwarf_file **ret_file, const struct elf *elf, bool is_whole,
	struct err *err)
{
	u64 packed = dwarf_packed_bytes(elf);
	struct dwarf_file *f;

	if (!dwarf_is_in(elf))
		return err_set(err, ERR_NOENT, "it has no debug information");
	if (packed > UNPACKED_MAX)
		return err_set(err, ERR_LIMIT,
			"its debug information is %llu MB unpacked: no more than %llu MB are read",
			(unsigned long long)packed >> 20, UNPACKED_MAX >> 20);
	f = mem_zalloc(sizeof(*f));
	f->fd = -1;
	f->swap = elf->swap;
	f->is_whole = is_whole;
	f->first_code = first_code(elf);
	if (elf->path)
		str_add(&f->path, elf->path);
	pthread_mutex_init(&f->lock, NULL);
	if (open_elf(f, elf, err) || !(f->spare = dwarf_handle_new(f, err)) ||
		!f->spare->tree.info.at) {
		/* An error in unpacking explains the later ones. */
		if (f->image.wrong.code)
			*err = f->image.wrong;
		else if (f->spare)
			err_set(err, ERR_FORMAT, "its .debug_info is empty or damaged");
		dwarf_close(f);
		return err->code;
	}
	*ret_file = f;
	return 0;
}

int dwarf_open(struct dwarf_file **ret_file, const struct elf *elf, struct err *err)
{
	return open_file(ret_file, elf, false, err);
}

int dwarf_open_whole(struct dwarf_file **ret_file, const struct elf *elf, struct err *err)
{
	return open_file(ret_file, elf, true, err);
}

struct bytes dwarf_section(Elf *elf, bool swap, const char *name, const char *packed_name)
{
	struct bytes b = {.swap = swap};
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return b;
	while ((section = elf_nextscn(elf, section)) != NULL) {
		GElf_Shdr header;
		const char *its;
		Elf_Data *data;

		if (!gelf_getshdr(section, &header) ||
			!(its = elf_strptr(elf, names, header.sh_name)) ||
			(strcmp(its, name) && strcmp(its, packed_name)) ||
			header.sh_flags & SHF_COMPRESSED || !(data = elf_rawdata(section, NULL)))
			continue;
		b = bytes_of(data->d_buf, data->d_buf ? data->d_size : 0);
		b.swap = swap;
	}
	return b;
}

static void handle_free(struct dwarf_handle *h)
{
	dietree_fini(&h->tree);
	dietree_fini(&h->split_tree);
	linetable_fini(&h->table);
	linetable_fini(&h->split_table);
	arena_fini(&h->texts);
	vec_fini(&h->origins);
	table_fini(&h->origin_index);
	if (h->dwarf)
		dwarf_end(h->dwarf);
	mem_free(h);
}

struct dwarf_handle *dwarf_handle_new(struct dwarf_file *f, struct err *err)
{
	struct dwarf_handle *h;

	pthread_mutex_lock(&f->lock);
	h = f->spare;
	f->spare = NULL;
	if (h) {
		pthread_mutex_unlock(&f->lock);
		return h;
	}
	h = mem_zalloc(sizeof(*h));
	h->file = f;
	h->dwarf = dwarf_begin_elf(f->elf, DWARF_C_READ, NULL);
	if (h->dwarf) {
		dwarf_new_oom_handler(h->dwarf, dwarf_exhausted);
		h->lines.line = dwarf_section(f->elf, f->swap, ".debug_line", ".zdebug_line");
		h->lines.line_str =
			dwarf_section(f->elf, f->swap, ".debug_line_str", ".zdebug_line_str");
		h->lines.str = dwarf_section(f->elf, f->swap, ".debug_str", ".zdebug_str");
		h->tree.info = dwarf_section(f->elf, f->swap, ".debug_info", ".zdebug_info");
		h->tree.abbrevs = dwarf_section(f->elf, f->swap, ".debug_abbrev", ".zdebug_abbrev");
		h->ranges = dwarf_section(f->elf, f->swap, ".debug_ranges", ".zdebug_ranges");
		h->rnglists = dwarf_section(f->elf, f->swap, ".debug_rnglists", ".zdebug_rnglists");
		dwarf_allow_ranges(h, h->tree.info, h->ranges);
		dwarf_allow_ranges(h, h->tree.info, h->rnglists);
		vec_add(&f->handles, h);
	} else {
		err_set(err, ERR_FORMAT, "reading its debug information: %s", dwarf_errmsg(-1));
		handle_free(h);
		h = NULL;
	}
	pthread_mutex_unlock(&f->lock);
	return h;
}

void dwarf_close(struct dwarf_file *f)
{
	if (!f)
		return;
	vec_each(h, &f->handles)
		handle_free(*h);
	vec_fini(&f->handles);
	if (f->elf)
		elf_end(f->elf);
	if (f->fd >= 0)
		close(f->fd);
	plainelf_free(&f->image);
	str_fini(&f->path);
	dwp_close(&f->package);
	if (f->has_tried_package && f->package_sections.nowhere >= 0)
		close(f->package_sections.nowhere);
	pthread_mutex_destroy(&f->lock);
	mem_free(f);
}

static void open_package(struct dwarf_file *f)
{
	f->has_tried_package = true;
	if (!f->path.n)
		err_set(&f->package_err, ERR_NOENT, "it has no package of split units (.dwp)");
	else
		f->has_package = !dwp_open_beside(&f->package, f->path.at, &f->package_err);
	f->package_sections.nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
	f->package_sections.addresses =
		dwarf_section(f->elf, f->swap, ".debug_addr", ".zdebug_addr");
	f->package_sections.ranges =
		dwarf_section(f->elf, f->swap, ".debug_ranges", ".zdebug_ranges");
}

const struct dwp *dwarf_package(struct dwarf_file *f, struct err *err)
{
	pthread_mutex_lock(&f->lock);
	if (!f->has_tried_package)
		open_package(f);
	pthread_mutex_unlock(&f->lock);
	if (f->has_package)
		return &f->package;
	*err = f->package_err;
	return NULL;
}

/* ---- attributes ---- */

struct rangelist_source dwarf_ranges_of(const struct dwarf_handle *h, const struct unithead *unit)
{
	return (struct rangelist_source){.lists = unit->unit.version < 5 ? h->ranges : h->rnglists,
		.base = unit->low,
		.version = unit->unit.version,
		.address_bytes = unit->unit.address_bytes};
}

bool dwarf_number(Dwarf_Die *die, unsigned name, Dwarf_Word *ret_number)
{
	Dwarf_Attribute a;

	return dwarf_attr(die, name, &a) && !dwarf_formudata(&a, ret_number);
}

bool dwarf_add_ranges(struct dwarf_handle *h, Dwarf_Die *die, u32 value, range_list *ranges,
	struct err *complaint)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t next = 0;

	while ((next = dwarf_ranges(die, next, &base, &start, &end)) > 0) {
		if (ranges->n >= h->ranges_max)
			return false;
		if (start >= h->file->first_code && start < end)
			vec_add(ranges, ((struct range){start, end, value}));
	}
	if (next < 0)
		dwarf_complain(complaint, "a list of ranges");
	return true;
}
