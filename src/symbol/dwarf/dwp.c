#include "symbol/dwarf/dwp.h"

enum { SLOTS_MAX = 1 << 26, COLUMNS_MAX = 16 };

/* The index' numbers of sections, which depend on its version; 0: that version lacks the section. */
static const struct {
	const char *name;
	u32 id_2, id_5;
} sections[DWP_SECTIONS] = {
	[DWP_INFO] = {".debug_info.dwo", 1, 1},
	[DWP_ABBREV] = {".debug_abbrev.dwo", 3, 3},
	[DWP_LINE] = {".debug_line.dwo", 4, 4},
	[DWP_STR_OFFSETS] = {".debug_str_offsets.dwo", 6, 6},
	[DWP_RNGLISTS] = {".debug_rnglists.dwo", 0, 8},
};

static u32 word_at(struct bytes b, u64 i)
{
	u32 word = 0;

	if (bytes_skip(&b, i * sizeof(word)))
		bytes_u32(&b, &word);
	return word;
}

/* Reads the index' header and finds its tables. Returns false if it is malformed. */
static bool open_index(struct dwp *d, struct bytes b)
{
	u16 version, other;
	u32 words[3];
	u64 cells;

	/* In version 2 the number has four bytes, in either byte order; in 5 two, then two of padding. */
	if (!bytes_u16(&b, &version) || !bytes_u16(&b, &other))
		return false;
	version = version ? version : other;
	if (version != 2 && version != 5)
		return false;
	for (int i = 0; i < 3; i++)
		if (!bytes_u32(&b, &words[i]))
			return false;
	d->n_columns = words[0];
	d->n_units = words[1];
	d->n_slots = words[2];
	cells = (u64)d->n_columns * d->n_units;
	if (!d->n_slots || d->n_slots & (d->n_slots - 1) || d->n_slots > SLOTS_MAX ||
		d->n_columns > COLUMNS_MAX || d->n_units > d->n_slots ||
		!bytes_sub(&b, (u64)d->n_slots * 8, &d->signatures) ||
		!bytes_sub(&b, (u64)d->n_slots * 4, &d->rows))
		return false;
	for (u32 i = 0; i < d->n_columns; i++) {
		u32 id;

		if (!bytes_u32(&b, &id))
			return false;
		for (u32 s = 0; s < DWP_SECTIONS; s++)
			if (id && id == (version == 2 ? sections[s].id_2 : sections[s].id_5))
				d->columns[s] = i + 1;
	}
	return d->columns[DWP_INFO] && d->columns[DWP_ABBREV] &&
		bytes_sub(&b, cells * 4, &d->offsets) && bytes_sub(&b, cells * 4, &d->sizes);
}

static int open_file(struct dwp *d, struct err *err)
{
	struct bytes index;

	if (!elf_contents(&d->elf, elf_section(&d->elf, ".debug_cu_index"), &index) ||
		!open_index(d, index))
		return err_set(err, ERR_FORMAT, "'%s' has no index of units", d->elf.path);
	for (u32 s = 0; s < DWP_SECTIONS; s++)
		elf_contents(&d->elf, elf_section(&d->elf, sections[s].name), &d->sections[s]);
	elf_contents(&d->elf, elf_section(&d->elf, ".debug_str.dwo"), &d->str);
	return 0;
}

int dwp_open(struct dwp *d, const char *path, struct err *err)
{
	memset(d, 0, sizeof(*d));
	if (elf_open(&d->elf, path, err))
		return err->code;
	if (!open_file(d, err))
		return 0;
	dwp_close(d);
	return err->code;
}

int dwp_open_beside(struct dwp *d, const char *path, struct err *err)
{
	static const char debug[] = ".debug";
	size_t n = strlen(path), n_debug = sizeof(debug) - 1;
	struct str name = {0};
	int r;

	str_addf(&name, "%s.dwp", path);
	r = dwp_open(d, name.at, err);
	/* The package is named after the program, not after its debug file. */
	if (r == ERR_NOENT && n > n_debug && !strcmp(path + n - n_debug, debug)) {
		str_clear(&name);
		str_addf(&name, "%.*s.dwp", (int)(n - n_debug), path);
		r = dwp_open(d, name.at, err);
	}
	str_fini(&name);
	return r;
}

void dwp_close(struct dwp *d)
{
	elf_close(&d->elf);
	memset(d, 0, sizeof(*d));
}

/* The row of a unit, counted from 1; 0: there is none. */
static u32 row_of(const struct dwp *d, u64 id)
{
	u32 mask = d->n_slots - 1, slot = (u32)id & mask, step = ((u32)(id >> 32) & mask) | 1;

	for (u32 n = 0; n < d->n_slots; n++, slot = (slot + step) & mask) {
		struct bytes b = d->signatures;
		u32 row = word_at(d->rows, slot);
		u64 signature = 0;

		bytes_skip(&b, (u64)slot * sizeof(signature));
		bytes_u64(&b, &signature);
		if (!row)
			return 0;
		if (signature == id)
			return row <= d->n_units ? row : 0;
	}
	return 0;
}

bool dwp_find(const struct dwp *d, u64 id, struct dwp_unit *ret_unit)
{
	u32 row = d->n_slots ? row_of(d, id) : 0;
	struct dwp_unit unit = {0};

	if (!row)
		return false;
	for (u32 s = 0; s < DWP_SECTIONS; s++) {
		u64 cell = (u64)(row - 1) * d->n_columns + d->columns[s] - 1;
		struct bytes b = d->sections[s];

		if (d->columns[s] && b.at &&
			(!bytes_skip(&b, word_at(d->offsets, cell)) ||
				!bytes_sub(&b, word_at(d->sizes, cell), &unit.parts[s])))
			return false;
	}
	*ret_unit = unit;
	return true;
}
