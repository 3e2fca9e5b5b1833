#include "symbol/elf/elf.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/mem.h"

enum { UNPACKED_ZSTD = 2 }; /* ELFCOMPRESS_ZSTD, which some elf.h lack */

/* The unpacked contents of a section. */
struct elf_unpacked {
	bool was_tried, is_good;
	struct str bytes;
};

/* A cursor at an offset of the file; empty if the offset lies outside. */
static struct bytes at_offset(const struct elf *elf, u64 offset)
{
	u64 start = MIN(offset, elf->size);
	struct bytes b = bytes_of(elf->data + start, elf->size - start);

	b.swap = elf->swap;
	b.offset = start;
	return b;
}

/* Reads an address-sized word. */
static bool take_word(const struct elf *elf, struct bytes *b, u64 *ret_v)
{
	return bytes_word(b, elf->is_64 ? 8 : 4, ret_v);
}

static bool take_section(const struct elf *elf, struct bytes *b, struct elf_section *s)
{
	return bytes_u32(b, &s->name) && bytes_u32(b, &s->type) && take_word(elf, b, &s->flags) &&
		take_word(elf, b, &s->addr) && take_word(elf, b, &s->offset) &&
		take_word(elf, b, &s->size) && bytes_u32(b, &s->link) && bytes_u32(b, &s->info) &&
		take_word(elf, b, &s->align) && take_word(elf, b, &s->entry_size);
}

static bool take_segment(const struct elf *elf, struct bytes *b, struct elf_segment *s)
{
	u64 pa, align;

	if (!bytes_u32(b, &s->type))
		return false;
	/* The flags moved forward when words grew to 64 bits. */
	if (elf->is_64 && !bytes_u32(b, &s->flags))
		return false;
	if (!take_word(elf, b, &s->offset) || !take_word(elf, b, &s->va) ||
		!take_word(elf, b, &pa) || !take_word(elf, b, &s->file_size) ||
		!take_word(elf, b, &s->mem_size))
		return false;
	if (!elf->is_64 && !bytes_u32(b, &s->flags))
		return false;
	return take_word(elf, b, &align);
}

static void read_segments(struct elf *elf, u64 offset, u16 n)
{
	struct bytes b = at_offset(elf, offset);

	elf->segments = mem_zalloc(((size_t)n + 1) * sizeof(*elf->segments));
	while (elf->n_segments < n && take_segment(elf, &b, &elf->segments[elf->n_segments]))
		elf->n_segments++;
}

static void read_sections(struct elf *elf, u64 offset, u32 n, u32 names_index)
{
	struct bytes b = at_offset(elf, offset);
	size_t each = elf->is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	struct elf_section first;

	if (!offset)
		return;
	elf->is_cut = true;
	if (!take_section(elf, &b, &first))
		return;
	/* With more than 65,279 sections the numbers are in the first entry. */
	if (n == 0)
		n = MIN(first.size, (u64)UINT32_MAX);
	if (names_index == SHN_XINDEX)
		names_index = first.link;
	b = at_offset(elf, offset);
	elf->is_cut = n > bytes_left(&b) / each;
	n = MIN((u64)n, bytes_left(&b) / each);
	elf->sections = mem_zalloc(((size_t)n + 1) * sizeof(*elf->sections));
	while (elf->n_sections < n && take_section(elf, &b, &elf->sections[elf->n_sections]))
		elf->n_sections++;
	for (u32 i = 0; i < elf->n_sections && !elf->parts; i++)
		if (elf->sections[i].flags & SHF_COMPRESSED)
			elf->parts = mem_zalloc(elf->n_sections * sizeof(*elf->parts));
	if (names_index < elf->n_sections)
		elf_contents(elf, &elf->sections[names_index], &elf->section_names);
}

/* Limits what a hostile file can cost. */
static u64 unpacked_limit(u64 packed)
{
	enum { FLOOR = 64 << 20, RATIO = 32 };

	return FLOOR + RATIO * packed;
}

static int parse(struct elf *elf, struct err *err)
{
	u16 n_segments, segment_size, n_sections, section_size, names_index, header_size;
	struct bytes b;
	u64 segments, sections;
	u32 version, flags;

	elf->section_names = bytes_of(elf->data, 0);
	if (elf->size < EI_NIDENT || memcmp(elf->data, ELFMAG, SELFMAG))
		return err_set(err, ERR_FORMAT, "it is not an ELF file");
	elf->is_64 = elf->data[EI_CLASS] == ELFCLASS64;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	elf->swap = elf->data[EI_DATA] == ELFDATA2MSB;
#else
	elf->swap = elf->data[EI_DATA] == ELFDATA2LSB;
#endif
	b = at_offset(elf, EI_NIDENT);
	if (!bytes_u16(&b, &elf->type) || !bytes_u16(&b, &elf->machine) ||
		!bytes_u32(&b, &version) || !take_word(elf, &b, &elf->entry) ||
		!take_word(elf, &b, &segments) || !take_word(elf, &b, &sections) ||
		!bytes_u32(&b, &flags) || !bytes_u16(&b, &header_size) ||
		!bytes_u16(&b, &segment_size) || !bytes_u16(&b, &n_segments) ||
		!bytes_u16(&b, &section_size) || !bytes_u16(&b, &n_sections) ||
		!bytes_u16(&b, &names_index))
		return err_set(err, ERR_FORMAT, "its ELF header is cut off");
	read_segments(elf, segments, n_segments);
	read_sections(elf, sections, n_sections, names_index);
	return 0;
}

/* The file may be packed as a whole, as kernel modules are. */
static int parse_or_unpack(struct elf *elf, struct err *err)
{
	struct bytes packed = bytes_of(elf->data, elf->size);
	enum unpack_form form = unpack_form_of(packed);

	if (form == UNPACK_NONE)
		return parse(elf, err);
	if (unpack(form, packed, unpacked_limit(elf->size), &elf->whole, err))
		return err->code;
	if (elf->is_mapped)
		munmap((void *)elf->data, elf->size);
	elf->is_mapped = false;
	elf->data = (const u8 *)str_text(&elf->whole);
	elf->size = elf->whole.n;
	return parse(elf, err);
}

int elf_open(struct elf *elf, const char *path, struct err *err)
{
	/* O_NONBLOCK: opening a FIFO of that name must not block. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int sys, generation = 0;
	struct stat st;
	void *map;

	memset(elf, 0, sizeof(*elf));
	if (fd < 0)
		return err_sys(err, errno, "opening '%s'", path);
	if (fstat(fd, &st)) {
		sys = errno;
		close(fd);
		return err_sys(err, sys, "looking at '%s'", path);
	}
	if (!S_ISREG(st.st_mode)) {
		close(fd);
		return err_set(err, ERR_FORMAT, "'%s' is not a regular file", path);
	}
	if (st.st_size < EI_NIDENT) {
		close(fd);
		return err_set(err, ERR_FORMAT, "'%s' is too small for an ELF file", path);
	}
	map = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	sys = errno;
	if (ioctl(fd, FS_IOC_GETVERSION, &generation))
		generation = 0;
	close(fd);
	if (map == MAP_FAILED)
		return err_sys(err, sys, "mapping '%s'", path);
	elf->data = map;
	elf->size = st.st_size;
	elf->is_mapped = true;
	elf->path = mem_strdup(path);
	elf->device = (u64)major(st.st_dev) << 32 | minor(st.st_dev);
	elf->inode = st.st_ino;
	elf->generation = (u32)generation;
	if (parse_or_unpack(elf, err)) {
		elf_close(elf);
		return err_prefix(err, "'%s'", path);
	}
	return 0;
}

int elf_of_memory(struct elf *elf, const void *data, u64 size, struct err *err)
{
	memset(elf, 0, sizeof(*elf));
	elf->data = data;
	elf->size = size;
	if (parse(elf, err)) {
		elf_close(elf);
		return err->code;
	}
	return 0;
}

int elf_open_debugdata(struct elf *elf, const struct elf *image, struct err *err)
{
	struct bytes packed;

	if (!elf_contents(image, elf_section(image, ".gnu_debugdata"), &packed))
		return err_set(err, ERR_NOENT, "there is no .gnu_debugdata");
	memset(elf, 0, sizeof(*elf));
	elf->data = packed.at;
	elf->size = bytes_left(&packed);
	if (parse_or_unpack(elf, err)) {
		elf_close(elf);
		return err_prefix(err, ".gnu_debugdata");
	}
	return 0;
}

void elf_close(struct elf *elf)
{
	for (u32 i = 0; elf->parts && i < elf->n_sections; i++)
		str_fini(&elf->parts[i].bytes);
	mem_free(elf->parts);
	str_fini(&elf->whole);
	if (elf->is_mapped)
		munmap((void *)elf->data, elf->size);
	mem_free(elf->sections);
	mem_free(elf->segments);
	mem_free(elf->path);
	memset(elf, 0, sizeof(*elf));
}

void elf_rest(const struct elf *elf)
{
	if (elf->is_mapped)
		(void)madvise((void *)elf->data, elf->size, MADV_DONTNEED);
}

const struct arch *elf_arch(const struct elf *elf)
{
	const struct arch *arch = arch_of_machine(elf->machine);

	return arch && (arch->word == 8) == elf->is_64 ? arch : NULL;
}

bool elf_has_name(const struct elf *elf, const struct elf_section *s, const char *begin)
{
	struct bytes names = elf->section_names;
	const void *p;

	return bytes_skip(&names, s->name) && bytes_take(&names, strlen(begin), &p) &&
		!memcmp(p, begin, strlen(begin));
}

bool elf_is_called(const struct elf *elf, const struct elf_section *s, const char *name)
{
	struct bytes names = elf->section_names;
	size_t n = strlen(name) + 1;
	const void *p;

	return bytes_skip(&names, s->name) && bytes_take(&names, n, &p) && !memcmp(p, name, n);
}

const struct elf_section *elf_section(const struct elf *elf, const char *name)
{
	for (u32 i = 0; i < elf->n_sections; i++)
		if (elf_is_called(elf, &elf->sections[i], name))
			return &elf->sections[i];
	return NULL;
}

const struct elf_section *elf_section_of_type(const struct elf *elf, u32 type)
{
	for (u32 i = 0; i < elf->n_sections; i++)
		if (elf->sections[i].type == type)
			return &elf->sections[i];
	return NULL;
}

const struct elf_section *elf_section_at(const struct elf *elf, u32 index)
{
	return index < elf->n_sections ? &elf->sections[index] : NULL;
}

/* The contents begin with a header: the format and the unpacked size. */
bool elf_packed(const struct elf *elf, const struct elf_section *s, struct elf_packed *ret_packed)
{
	struct elf_packed p = {.form = UNPACK_NONE};
	u32 type, reserved;
	u64 align;

	if (!s || !(s->flags & SHF_COMPRESSED) || !elf_raw(elf, s, &p.bytes) ||
		!bytes_u32(&p.bytes, &type) || (elf->is_64 && !bytes_u32(&p.bytes, &reserved)) ||
		!take_word(elf, &p.bytes, &p.size) || !take_word(elf, &p.bytes, &align))
		return false;
	if (type == ELFCOMPRESS_ZLIB)
		p.form = UNPACK_ZLIB;
	else if (type == UNPACKED_ZSTD)
		p.form = UNPACK_ZSTD;
	*ret_packed = p;
	return true;
}

static bool unpack_section(const struct elf *elf, const struct elf_section *s, struct str *out)
{
	struct elf_packed p;
	struct err err;

	if (!elf_packed(elf, s, &p) || p.size > unpacked_limit(bytes_left(&p.bytes)))
		return false;
	str_reserve(out, p.size + 1);
	if (unpack_whole(p.form, p.bytes, (u8 *)out->at, p.size, &err))
		return false;
	out->n = p.size;
	out->at[out->n] = '\0';
	return true;
}

static bool unpacked_contents(const struct elf *elf, const struct elf_section *s,
	struct bytes *ret_bytes)
{
	struct elf_unpacked *part = &elf->parts[s - elf->sections];

	if (!part->was_tried)
		part->is_good = unpack_section(elf, s, &part->bytes);
	part->was_tried = true;
	if (!part->is_good)
		return false;
	*ret_bytes = bytes_of(str_text(&part->bytes), part->bytes.n);
	ret_bytes->swap = elf->swap;
	return true;
}

bool elf_raw(const struct elf *elf, const struct elf_section *s, struct bytes *ret_bytes)
{
	struct bytes b;

	if (!s || s->type == SHT_NOBITS || s->offset > elf->size)
		return false;
	b = at_offset(elf, s->offset);
	return bytes_sub(&b, s->size, ret_bytes);
}

bool elf_contents(const struct elf *elf, const struct elf_section *s, struct bytes *ret_bytes)
{
	if (s && s->flags & SHF_COMPRESSED)
		return unpacked_contents(elf, s, ret_bytes);
	return elf_raw(elf, s, ret_bytes);
}

u8 elf_build_id_in_notes(struct bytes notes, u8 id[BUILD_ID_MAX])
{
	u32 name_size, desc_size, type;

	while (bytes_u32(&notes, &name_size) && bytes_u32(&notes, &desc_size) &&
		bytes_u32(&notes, &type)) {
		const void *name, *desc;

		/* Only the padding of the last note may be missing. */
		if (!bytes_take(&notes, align_up(name_size, 4), &name) ||
			desc_size > bytes_left(&notes) ||
			!bytes_take(&notes, MIN(align_up(desc_size, 4), bytes_left(&notes)), &desc))
			return 0;
		if (type != NT_GNU_BUILD_ID || name_size != 4 || memcmp(name, "GNU", 4) ||
			!desc_size)
			continue;
		desc_size = MIN(desc_size, (u32)BUILD_ID_MAX);
		memcpy(id, desc, desc_size);
		return desc_size;
	}
	return 0;
}

u8 elf_build_id(const struct elf *elf, u8 id[BUILD_ID_MAX])
{
	u8 n = 0;

	for (u32 i = 0; i < elf->n_sections && !n; i++) {
		struct bytes b;

		if (elf->sections[i].type == SHT_NOTE && elf_contents(elf, &elf->sections[i], &b))
			n = elf_build_id_in_notes(b, id);
	}
	/* Files whose section table was stripped still have their segments. */
	for (u32 i = 0; i < elf->n_segments && !n; i++) {
		struct bytes b = at_offset(elf, elf->segments[i].offset), sub;

		if (elf->segments[i].type == PT_NOTE &&
			bytes_sub(&b, elf->segments[i].file_size, &sub))
			n = elf_build_id_in_notes(sub, id);
	}
	return n;
}

bool elf_debug_link(const struct elf *elf, const char **ret_name, u32 *ret_crc)
{
	struct bytes b;
	size_t n;

	if (!elf_contents(elf, elf_section(elf, ".gnu_debuglink"), &b) ||
		!bytes_cstr(&b, ret_name, &n))
		return false;
	/* The checksum is aligned to 4 from the section's start. */
	return bytes_skip(&b, align_up(n + 1, 4) - (n + 1)) && bytes_u32(&b, ret_crc);
}

/*
 * The segment with an offset, or an address, that the file has contents for. Two segments may share a page of the
 * file. Samples are in code, so an executable segment is preferred.
 */
static const struct elf_segment *segment_at(const struct elf *elf, u64 at, bool is_offset)
{
	const struct elf_segment *found = NULL;

	for (u32 i = 0; i < elf->n_segments; i++) {
		const struct elf_segment *s = &elf->segments[i];
		const u64 begin = is_offset ? s->offset : s->va;

		if (s->type != PT_LOAD || at < begin || at - begin >= s->file_size)
			continue;
		if (!found || (s->flags & PF_X && !(found->flags & PF_X)))
			found = s;
	}
	return found;
}

bool elf_address_of_offset(const struct elf *elf, u64 offset, u64 *ret_va)
{
	const struct elf_segment *s = segment_at(elf, offset, true);

	if (!s)
		return false;
	*ret_va = offset - s->offset + s->va;
	return true;
}

bool elf_offset_of_address(const struct elf *elf, u64 va, u64 *ret_offset)
{
	const struct elf_segment *s = segment_at(elf, va, false);

	if (!s)
		return false;
	*ret_offset = va - s->va + s->offset;
	return true;
}

const u8 *elf_bytes_at(const struct elf *elf, u64 va, u64 n)
{
	const struct elf_segment *s = segment_at(elf, va, false);
	u64 offset;

	if (!s || n > s->file_size - (va - s->va))
		return NULL;
	offset = va - s->va + s->offset;
	if (offset < s->offset || offset > elf->size || n > elf->size - offset)
		return NULL;
	return elf->data + offset;
}
