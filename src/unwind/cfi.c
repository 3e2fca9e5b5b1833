#include "unwind/cfi.h"

#include <stdlib.h>

#include "base/search.h"
#include "base/sort.h"

SORT_BY(by_start, struct cfi_function, start)

/* Adds all FDEs of a section to the index. */
static void add_section(struct cfi *cfi, const struct entry_section *section)
{
	struct bytes at = section->bytes;
	struct entry_fde fde = {0};

	while (bytes_left(&at)) {
		struct bytes entry = at;

		if (!entry_skip(&at))
			return;
		/* The functions that the linker dropped begin at 0. */
		if (entry_fde(section, entry, &fde) && fde.start)
			vec_add(&cfi->index,
				((struct cfi_function){fde.start, fde.end,
					entry.offset - section->bytes.offset,
					section->is_debug_frame}));
	}
}

/* Takes the search table of .eh_frame_hdr if it has the format that all linkers write. */
static bool take_table(struct cfi *cfi, struct bytes b)
{
	u8 version, frame, count, table, address_size = cfi->eh_frame.bases.address_size;
	u64 ignored, n;

	cfi->table_base = b.offset;
	if (!bytes_u8(&b, &version) || version != 1 || !bytes_u8(&b, &frame) ||
		!bytes_u8(&b, &count) || !bytes_u8(&b, &table) ||
		!encoded_number(&b, frame, address_size, &ignored) || count == ENCODED_OMIT ||
		!encoded_number(&b, count, address_size, &n) ||
		table != (ENCODED_DATAREL | ENCODED_SDATA4) || n > bytes_left(&b) / 8)
		return false;
	cfi->table = b;
	cfi->n_in_table = n;
	return true;
}

static void take_sections(struct cfi *cfi, const struct cfi_input *in)
{
	memset(cfi, 0, sizeof(*cfi));
	cfi->eh_frame = (struct entry_section){in->eh_frame,
		{in->text, in->data, in->is_64 ? 8 : 4}, false};
	cfi->debug_frame = (struct entry_section){in->debug_frame, cfi->eh_frame.bases, true};
}

void cfi_init(struct cfi *cfi, const struct cfi_input *in)
{
	take_sections(cfi, in);
	if (!take_table(cfi, in->eh_frame_hdr))
		add_section(cfi, &cfi->eh_frame);
	add_section(cfi, &cfi->debug_frame);
	if (cfi->index.n)
		qsort(cfi->index.at, cfi->index.n, sizeof(*cfi->index.at), by_start);
}

void cfi_init_listed(struct cfi *cfi, const struct cfi_input *in,
	const struct cfi_function *functions, size_t n)
{
	take_sections(cfi, in);
	for (size_t i = 0; i < n; i++)
		vec_add(&cfi->index, functions[i]);
}

void cfi_fini(struct cfi *cfi)
{
	vec_fini(&cfi->index);
	memset(cfi, 0, sizeof(*cfi));
}

/* A word of the search table: both words of a pair are relative to the section's start. */
static u64 table_word(const struct cfi *cfi, u64 i)
{
	u32 word = load_u32(cfi->table.at + 4 * i);
	u64 at;

	word = cfi->table.swap ? __builtin_bswap32(word) : word;
	at = cfi->table_base + (u64)(s64)(s32)word;
	return cfi->eh_frame.bases.address_size == 4 ? (u32)at : at;
}

/* per address */
static bool find_in_table(const struct cfi *cfi, u64 rva, struct cfi_function *ret_function)
{
	const size_t behind = search_first(i, cfi->n_in_table, table_word(cfi, 2 * i) > rva);

	if (!behind)
		return false;
	*ret_function = (struct cfi_function){
		.entry = table_word(cfi, 2 * behind - 1) - cfi->eh_frame.bytes.offset};
	return true;
}

static bool find_in_index(const struct cfi *cfi, u64 rva, struct cfi_function *ret_function)
{
	/* `start` is the first member, so search_behind() compares it. */
	size_t next = search_behind(cfi->index.at, cfi->index.n, sizeof(*cfi->index.at), rva);

	if (!next)
		return false;
	*ret_function = cfi->index.at[next - 1];
	return true;
}

unsigned cfi_candidates(const struct cfi *cfi, u64 rva, struct cfi_function *ret)
{
	unsigned n = find_in_table(cfi, rva, ret);

	return n + find_in_index(cfi, rva, ret + n);
}

bool cfi_take(const struct cfi *cfi, const struct cfi_function *candidate, u64 rva,
	struct entry_fde *ret_fde)
{
	const struct entry_section *section =
		candidate->is_debug_frame ? &cfi->debug_frame : &cfi->eh_frame;
	struct bytes at = section->bytes;
	struct entry_fde fde = {0};

	if (!bytes_skip(&at, candidate->entry) || !entry_fde(section, at, &fde) ||
		rva < fde.start || rva >= fde.end)
		return false;
	*ret_fde = fde;
	return true;
}

/* Finds the candidate that covers rva. */
static bool find_entry(const struct cfi *cfi, u64 rva, struct cfi_function *ret_function,
	struct entry_fde *ret_fde)
{
	struct cfi_function candidates[CFI_CANDIDATES];
	unsigned n = cfi_candidates(cfi, rva, candidates);

	for (unsigned i = 0; i < n; i++) {
		*ret_function = candidates[i];
		if (cfi_take(cfi, &candidates[i], rva, ret_fde))
			return true;
	}
	return false;
}

/* The size of the entry at an offset in bytes, or 0 if there is none. */
static u64 size_of_entry(const struct entry_section *section, u64 offset)
{
	struct bytes at = section->bytes;
	u64 start;

	if (!bytes_skip(&at, offset))
		return 0;
	start = at.offset;
	return entry_skip(&at) ? at.offset - start : 0;
}

bool cfi_extent_of(const struct cfi *cfi, u64 rva, struct cfi_extent *ret)
{
	const struct entry_section *section;
	struct cfi_function found;
	struct entry_fde fde;

	if (!find_entry(cfi, rva, &found, &fde))
		return false;
	section = found.is_debug_frame ? &cfi->debug_frame : &cfi->eh_frame;
	*ret = (struct cfi_extent){{fde.start, fde.end, found.entry, found.is_debug_frame},
		size_of_entry(section, found.entry), fde.cie.offset,
		size_of_entry(section, fde.cie.offset)};
	return ret->fde_size && ret->cie_size;
}

bool cfi_find(const struct cfi *cfi, u64 rva, struct entry_fde *ret_fde)
{
	struct cfi_function found;

	return find_entry(cfi, rva, &found, ret_fde);
}
