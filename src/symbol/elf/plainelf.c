#include "symbol/elf/plainelf.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/mem.h"
#include "base/sort.h"
#include "base/vec.h"
#include "base/workers.h"

enum {
	DEFLATE_RATIO = 1032,  /* zlib's best ratio */
	WORTH_BYTES = 1 << 20, /* beside the largest section, before other threads help */
};

/* A packed section. */
struct part {
	u32 section;
	bool is_unused;
	struct elf_packed packed;
	u64 from, to;   /* in the file, its header included */
	u64 at;         /* of its contents, in the image */
	struct err err; /* why it is left out */
};

struct making {
	const struct elf *elf;
	const char *const *unused;
	VEC(struct part) parts;
	VEC(struct part *) jobs; /* the parts to unpack, the largest first */
	struct plainelf image;
};

bool plainelf_is_needed(const struct elf *elf)
{
	struct elf_packed ignored;

	for (u32 i = 0; i < elf->n_sections; i++)
		if (elf_packed(elf, &elf->sections[i], &ignored))
			return true;
	return false;
}

/* ---- layout ---- */

static bool is_unused(const struct making *m, u32 section)
{
	for (const char *const *name = m->unused; *name; name++)
		if (elf_is_called(m->elf, &m->elf->sections[section], *name))
			return true;
	return false;
}

/* Checks the size that the header claims: a few bytes may claim anything. */
static void check_part(struct part *p, u64 room)
{
	unsigned long long megabytes = p->packed.size >> 20;

	if (p->packed.form == UNPACK_NONE)
		err_set(&p->err, ERR_UNSUPPORTED, "it is packed in an unknown format");
	else if (p->packed.size > room)
		err_set(&p->err, ERR_LIMIT, "it is %llu MB unpacked, which is too large",
			megabytes);
	else if (p->packed.form == UNPACK_ZLIB &&
		p->packed.size / DEFLATE_RATIO > bytes_left(&p->packed.bytes))
		err_set(&p->err, ERR_FORMAT, "it is too small to hold the %llu MB that it claims",
			megabytes);
}

static void lay_out(struct making *m, u64 limit)
{
	const struct elf *elf = m->elf;
	u64 at = elf->size;

	for (u32 i = 0; i < elf->n_sections; i++) {
		struct part p = {.section = i};

		if (!elf_packed(elf, &elf->sections[i], &p.packed))
			continue;
		p.from = elf->sections[i].offset;
		p.to = p.from + elf->sections[i].size;
		p.at = align_up(at, 8);
		p.is_unused = is_unused(m, i);
		if (!p.is_unused)
			check_part(&p, limit - MIN(limit, p.at));
		if (!p.is_unused && !p.err.code)
			at = p.at + p.packed.size;
		vec_add(&m->parts, p);
	}
	m->image.size = at;
}

SORT_BY(by_place, struct part, from, section)

static int by_size(const void *a, const void *b)
{
	const struct part *x = *(const struct part *const *)a, *y = *(const struct part *const *)b;

	if (x->packed.size != y->packed.size)
		return x->packed.size > y->packed.size ? -1 : 1;
	return x->section < y->section ? -1 : x->section > y->section;
}

/* Copies the file without its packed sections. */
static void copy_rest(struct making *m)
{
	const struct elf *elf = m->elf;
	u64 at = 0;

	vec_each(p, &m->parts) {
		if (p->from > at)
			memcpy(m->image.at + at, elf->data + at, p->from - at);
		at = MAX(at, p->to);
	}
	memcpy(m->image.at + at, elf->data + at, elf->size - at);
}

/* ---- headers ---- */

/* Finds the header of section 0. Returns false if the table is not in the file. */
static bool find_headers(const struct elf *elf, u64 *ret_at)
{
	struct bytes b = bytes_of(elf->data, elf->size);
	u64 wide = 0, size = elf->is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	u32 narrow = 0;

	b.swap = elf->swap;
	if (elf->is_64 ? !bytes_skip(&b, offsetof(Elf64_Ehdr, e_shoff)) || !bytes_u64(&b, &wide)
		       : !bytes_skip(&b, offsetof(Elf32_Ehdr, e_shoff)) || !bytes_u32(&b, &narrow))
		return false;
	*ret_at = elf->is_64 ? wide : narrow;
	return *ret_at <= elf->size && elf->n_sections <= (elf->size - *ret_at) / size;
}

/* Stores a number in the file's byte order. */
static void put_u32(const struct making *m, u64 at, u32 value)
{
	value = m->elf->swap ? __builtin_bswap32(value) : value;
	memcpy(m->image.at + at, &value, sizeof(value));
}

/* The same for a word of the file's class. */
static void put_word(const struct making *m, u64 at, u64 value)
{
	if (!m->elf->is_64) {
		put_u32(m, at, (u32)value);
		return;
	}
	value = m->elf->swap ? __builtin_bswap64(value) : value;
	memcpy(m->image.at + at, &value, sizeof(value));
}

/* Changes the section's header: not packed, at its new offset; or without contents. */
static void change_header(const struct making *m, u64 headers, const struct part *p)
{
	u64 flags = m->elf->sections[p->section].flags & ~(u64)SHF_COMPRESSED;
	u64 each = m->elf->is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	u64 at = headers + p->section * each;
	bool is_64 = m->elf->is_64, is_left = p->is_unused || p->err.code;

	if (is_left)
		put_u32(m, at + offsetof(Elf64_Shdr, sh_type), SHT_NOBITS);
	put_word(m, at + (is_64 ? offsetof(Elf64_Shdr, sh_flags) : offsetof(Elf32_Shdr, sh_flags)),
		flags);
	put_word(m,
		at + (is_64 ? offsetof(Elf64_Shdr, sh_offset) : offsetof(Elf32_Shdr, sh_offset)),
		is_left ? p->from : p->at);
	put_word(m, at + (is_64 ? offsetof(Elf64_Shdr, sh_size) : offsetof(Elf32_Shdr, sh_size)),
		is_left ? 0 : p->packed.size);
}

/* ---- unpacking ---- */

static void unpack_part(void *ctx, size_t i, unsigned worker)
{
	struct making *m = ctx;
	struct part *p = m->jobs.at[i];

	(void)worker;
	unpack_whole(p->packed.form, p->packed.bytes, m->image.at + p->at, p->packed.size, &p->err);
}

static void unpack_parts(struct making *m)
{
	u64 rest = 0;

	vec_each(p, &m->parts)
		if (!p->is_unused && !p->err.code)
			vec_add(&m->jobs, p);
	if (!m->jobs.n)
		return;
	qsort(m->jobs.at, m->jobs.n, sizeof(*m->jobs.at), by_size);
	for (size_t i = 1; i < m->jobs.n; i++)
		rest += m->jobs.at[i]->packed.size;
	workers_run(rest < WORTH_BYTES ? 1 : workers_available(), m->jobs.n, unpack_part, m);
}

/* Takes the unpacked section; a damaged one is left out. */
static void take_part(struct making *m, u64 headers, const struct part *p)
{
	if (p->err.code && !m->image.wrong.code) {
		m->image.wrong = p->err;
		err_prefix(&m->image.wrong, "its debug information, section %u", p->section);
	}
	change_header(m, headers, p);
}

static int fill(struct making *m, u64 limit, struct err *err)
{
	u64 headers;
	void *map;

	if (!find_headers(m->elf, &headers))
		return err_set(err, ERR_FORMAT, "its section headers are cut off");
	lay_out(m, limit);
	/* Only pages that are written cost memory, so a section's claimed size does not. */
	map = mmap(NULL, m->image.size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (map == MAP_FAILED)
		return err_sys(err, errno, "room for its debug information unpacked");
	m->image.at = map;
	mem_prefer_huge(map, m->image.size);
	if (m->parts.n)
		qsort(m->parts.at, m->parts.n, sizeof(*m->parts.at), by_place);
	copy_rest(m);
	unpack_parts(m);
	vec_each(p, &m->parts)
		take_part(m, headers, p);
	return 0;
}

int plainelf_make(const struct elf *elf, const char *const *unused, u64 limit,
	struct plainelf *ret_image, struct err *err)
{
	struct making m = {.elf = elf, .unused = unused};
	int r = fill(&m, limit, err);

	vec_fini(&m.parts);
	vec_fini(&m.jobs);
	if (r)
		plainelf_free(&m.image);
	else
		*ret_image = m.image;
	return r;
}

void plainelf_free(struct plainelf *image)
{
	if (image->at)
		munmap(image->at, image->size);
	*image = (struct plainelf){0};
}
