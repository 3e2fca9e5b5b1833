#include "symbol/dwarf/linetable.h"

#include <dwarf.h>

#include "unwind/leb.h"

enum {
	NAMES_MAX = 1 << 20, /* directories or files of a table */
	KINDS_MAX = 64,      /* attributes of each */
};

u64 linetable_size(const struct linetable_sections *s, u64 offset)
{
	struct bytes b = s->line;
	u64 size;
	u32 word;

	if (!b.at || !bytes_skip(&b, offset) || !bytes_u32(&b, &word))
		return 0;
	if (word != UINT32_MAX)
		return word;
	return bytes_u64(&b, &size) ? size : 0;
}

static int damaged(struct err *err, const char *what)
{
	return err_set(err, ERR_FORMAT, "its debug information is damaged, a line table: %s", what);
}

/* ---- names ---- */

/* An attribute of a directory or file, according to its form. */
struct value {
	const char *text;
	u64 number;
};

static bool read_offset(const struct linetable *t, struct bytes *b, u64 *ret_offset)
{
	u32 word;

	if (t->offset_bytes == 8)
		return bytes_u64(b, ret_offset);
	if (!bytes_u32(b, &word))
		return false;
	*ret_offset = word;
	return true;
}

static bool read_text_at(const struct linetable *t, struct bytes *b, struct bytes section,
	struct value *v)
{
	u64 offset;
	size_t n;

	if (!read_offset(t, b, &offset))
		return false;
	/* A string that is not in the section counts as unknown. */
	if (!section.at || !bytes_skip(&section, offset) || !bytes_cstr(&section, &v->text, &n))
		v->text = NULL;
	return true;
}

static bool read_form(const struct linetable *t, struct bytes *b, u64 form, struct value *v)
{
	size_t n;
	u64 size;
	u32 n4;
	u16 n2;
	u8 n1;

	switch (form) {
	case DW_FORM_string:
		return bytes_cstr(b, &v->text, &n);
	case DW_FORM_line_strp:
		return read_text_at(t, b, t->sections->line_str, v);
	case DW_FORM_strp:
		return read_text_at(t, b, t->sections->str, v);
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_strp_alt:
		return read_offset(t, b, &size);
	case DW_FORM_udata:
		return leb_u64(b, &v->number);
	case DW_FORM_data1:
		if (!bytes_u8(b, &n1))
			return false;
		v->number = n1;
		return true;
	case DW_FORM_data2:
		if (!bytes_u16(b, &n2))
			return false;
		v->number = n2;
		return true;
	case DW_FORM_data4:
		if (!bytes_u32(b, &n4))
			return false;
		v->number = n4;
		return true;
	case DW_FORM_data8:
		return bytes_u64(b, &v->number);
	case DW_FORM_data16:
		return bytes_skip(b, 16);
	case DW_FORM_block:
		return leb_u64(b, &size) && bytes_skip(b, size);
	case DW_FORM_block1:
		return bytes_u8(b, &n1) && bytes_skip(b, n1);
	default:
		return false;
	}
}

/* Reads the directories or files of version 5: the list of attributes, then each one's values. */
static bool read_names(struct linetable *t, struct bytes *b, bool is_files)
{
	u64 kinds[KINDS_MAX], forms[KINDS_MAX], count;
	u8 n;

	if (!bytes_u8(b, &n) || n > KINDS_MAX)
		return false;
	for (u8 i = 0; i < n; i++)
		if (!leb_u64(b, &kinds[i]) || !leb_u64(b, &forms[i]))
			return false;
	/* Each name takes at least a byte: a million that take none are bogus. */
	if (!leb_u64(b, &count) || count > NAMES_MAX || count * n > bytes_left(b) || (count && !n))
		return false;
	for (u64 i = 0; i < count; i++) {
		struct linetable_file file = {0};

		for (u8 k = 0; k < n; k++) {
			struct value v = {0};

			if (!read_form(t, b, forms[k], &v))
				return false;
			if (kinds[k] == DW_LNCT_path)
				file.name = v.text;
			else if (kinds[k] == DW_LNCT_directory_index)
				file.dir = v.number;
		}
		if (is_files)
			vec_add(&t->files, file);
		else
			vec_add(&t->dirs, file.name);
	}
	return true;
}

/* Reads a file of versions below 5; *ret_is_end: the empty name that ends the list. */
static bool read_old_file(struct linetable *t, struct bytes *b, bool *ret_is_end)
{
	struct linetable_file file = {0};
	u64 time, size;
	size_t n;

	if (!bytes_cstr(b, &file.name, &n))
		return false;
	*ret_is_end = !n;
	if (!n)
		return true;
	if (!leb_u64(b, &file.dir) || !leb_u64(b, &time) || !leb_u64(b, &size) ||
		t->files.n > NAMES_MAX)
		return false;
	vec_add(&t->files, file);
	return true;
}

static bool read_old_names(struct linetable *t, struct bytes *b, const char *dir)
{
	bool is_end = false;
	const char *text;
	size_t n;

	/* They are numbered from 1: 0 is the folder where the unit was compiled, and no file. */
	vec_add(&t->dirs, dir);
	vec_add(&t->files, ((struct linetable_file){0}));
	do {
		if (!bytes_cstr(b, &text, &n) || t->dirs.n > NAMES_MAX)
			return false;
		if (n)
			vec_add(&t->dirs, text);
	} while (n);
	while (!is_end)
		if (!read_old_file(t, b, &is_end))
			return false;
	return true;
}

const char *linetable_path(struct linetable *t, u64 number)
{
	struct linetable_file *f;
	const char *dir;
	size_t n_dir, n_name;
	char *path;

	if (number >= t->files.n || !t->files.at[number].name)
		return NULL;
	f = &t->files.at[number];
	if (f->path)
		return f->path;
	dir = f->dir < t->dirs.n ? t->dirs.at[f->dir] : NULL;
	if (*f->name == '/' || !dir || !*dir)
		return f->path = f->name;
	n_dir = strlen(dir);
	n_name = strlen(f->name);
	path = arena_alloc(t->texts, n_dir + n_name + 2);
	memcpy(path, dir, n_dir);
	path[n_dir] = '/';
	memcpy(path + n_dir + 1, f->name, n_name + 1);
	return f->path = path;
}

/* ---- the header ---- */

static void restart(struct linetable *t)
{
	t->row = (struct linetable_row){.file = 1, .line = 1};
	t->operation = 0;
}

/* Finds the bytes of the table, after its length. */
static int open_table(struct linetable *t, u64 offset, struct bytes *ret_bytes, struct err *err)
{
	struct bytes b = t->sections->line;
	u64 size = linetable_size(t->sections, offset);
	u32 word;

	t->offset_bytes = 4;
	if (!b.at || !bytes_skip(&b, offset) || !bytes_u32(&b, &word))
		return damaged(err, "it begins beyond the section");
	if (word == UINT32_MAX) {
		t->offset_bytes = 8;
		bytes_skip(&b, 8);
	}
	if (size > LINETABLE_BYTES_MAX)
		return err_set(err, ERR_LIMIT,
			"a line table of %llu MB is left out: no more than %d MB are read",
			(unsigned long long)size >> 20, LINETABLE_BYTES_MAX >> 20);
	if (!bytes_sub(&b, size, ret_bytes))
		return damaged(err, "it ends beyond the section");
	return 0;
}

static void find_steps(struct linetable *t, int line_base)
{
	for (int code = t->opcode_base, special = 0; code <= UINT8_MAX; code++, special++)
		t->steps[code] = (struct linetable_step){(u16)(special / t->line_range),
			(int16_t)(line_base + special % t->line_range)};
}

/* Reads the header from the version on; the names and the program follow. */
static bool read_head(struct linetable *t, struct bytes *b, u8 address_bytes)
{
	u64 head_bytes;
	struct bytes rest;
	const void *operands;
	u8 is_statement, base, segment_bytes = 0;

	t->address_bytes = address_bytes;
	if (!bytes_u16(b, &t->version) || t->version < 2 || t->version > 5 ||
		(t->version >= 5 &&
			(!bytes_u8(b, &t->address_bytes) || !bytes_u8(b, &segment_bytes))) ||
		!read_offset(t, b, &head_bytes))
		return false;
	rest = *b;
	if (!bytes_skip(&rest, head_bytes))
		return false;
	t->program = rest;
	b->end = rest.at;
	t->most_operations = 1;
	if (!bytes_u8(b, &t->least_bytes) ||
		(t->version >= 4 && !bytes_u8(b, &t->most_operations)) ||
		!bytes_u8(b, &is_statement) || !bytes_u8(b, &base) ||
		!bytes_u8(b, &t->line_range) || !bytes_u8(b, &t->opcode_base) || !t->line_range ||
		!t->opcode_base || !t->most_operations ||
		!bytes_take(b, t->opcode_base - 1u, &operands))
		return false;
	t->operands = operands;
	find_steps(t, base < 128 ? base : base - 256);
	return true;
}

int linetable_open(struct linetable *t, const struct linetable_sections *s, u64 offset,
	const char *dir, u8 address_bytes, struct arena *texts, struct err *err)
{
	struct bytes b = {0};

	t->sections = s;
	t->texts = texts;
	t->program = t->rest = (struct bytes){0};
	t->files.n = t->dirs.n = 0;
	t->is_wrong = false;
	restart(t);
	if (open_table(t, offset, &b, err))
		return err->code;
	if (!read_head(t, &b, address_bytes)) {
		t->program = (struct bytes){0};
		return damaged(err, "its header");
	}
	if (t->version < 5 ? !read_old_names(t, &b, dir)
			   : !read_names(t, &b, false) || !read_names(t, &b, true)) {
		t->program = (struct bytes){0};
		return damaged(err, "its names of files");
	}
	t->rest = t->program;
	return 0;
}

void linetable_fini(struct linetable *t)
{
	vec_fini(&t->dirs);
	vec_fini(&t->files);
}

/* ---- the program ---- */

static void advance(struct linetable *t, u64 operations)
{
	if (t->most_operations == 1) {
		t->row.address += t->least_bytes * operations;
		return;
	}
	operations += t->operation;
	t->row.address += t->least_bytes * (operations / t->most_operations);
	t->operation = (u8)(operations % t->most_operations);
}

static bool read_address(struct linetable *t, struct bytes *b)
{
	u32 narrow;

	t->operation = 0;
	if (bytes_left(b) == 8)
		return bytes_u64(b, &t->row.address);
	if (bytes_left(b) != 4 || !bytes_u32(b, &narrow))
		return false;
	t->row.address = narrow;
	return true;
}

/* *ret_is_row: a sequence ended. */
static bool run_extended(struct linetable *t, bool *ret_is_row)
{
	bool is_end;
	struct bytes b;
	u64 size;
	u8 code;

	if (!leb_u64(&t->rest, &size) || !bytes_sub(&t->rest, size, &b))
		return false;
	if (!bytes_u8(&b, &code))
		return true;
	switch (code) {
	case DW_LNE_end_sequence:
		*ret_is_row = true;
		return true;
	case DW_LNE_set_address:
		return read_address(t, &b);
	case DW_LNE_define_file:
		return read_old_file(t, &b, &is_end);
	default:
		return true;
	}
}

static bool skip_operands(struct linetable *t, u8 code)
{
	u64 ignored;

	for (u8 i = 0; i < t->operands[code - 1]; i++)
		if (!leb_u64(&t->rest, &ignored))
			return false;
	return true;
}

/* *ret_is_row: a row was emitted. */
static bool run_standard(struct linetable *t, u8 code, bool *ret_is_row)
{
	u64 number;
	s64 distance;
	u16 bytes;

	switch (code) {
	case DW_LNS_copy:
		*ret_is_row = true;
		return true;
	case DW_LNS_advance_pc:
		if (!leb_u64(&t->rest, &number))
			return false;
		advance(t, number);
		return true;
	case DW_LNS_advance_line:
		if (!leb_s64(&t->rest, &distance))
			return false;
		t->row.line += (u32)distance;
		return true;
	case DW_LNS_set_file:
		return leb_u64(&t->rest, &t->row.file);
	case DW_LNS_set_column:
		if (!leb_u64(&t->rest, &number))
			return false;
		t->row.column = (u32)MIN(number, (u64)UINT32_MAX);
		return true;
	case DW_LNS_const_add_pc:
		advance(t, (UINT8_MAX - t->opcode_base) / t->line_range);
		return true;
	case DW_LNS_fixed_advance_pc:
		if (!bytes_u16(&t->rest, &bytes))
			return false;
		t->row.address += bytes;
		t->operation = 0;
		return true;
	default:
		return skip_operands(t, code);
	}
}

/* Runs one instruction of the program. Returns false if it is malformed. */
static bool step(struct linetable *t, bool *ret_is_row, bool *ret_is_end)
{
	u8 code;

	if (!bytes_u8(&t->rest, &code))
		return false;
	if (code >= t->opcode_base) {
		advance(t, t->steps[code].operations);
		t->row.line += (u32)(s32)t->steps[code].lines;
		*ret_is_row = true;
		return true;
	}
	if (code)
		return run_standard(t, code, ret_is_row);
	if (!run_extended(t, ret_is_row))
		return false;
	*ret_is_end = *ret_is_row;
	return true;
}

void linetable_rewind(struct linetable *t)
{
	t->rest = t->program;
	restart(t);
}

bool linetable_next(struct linetable *t, struct linetable_row *ret_row)
{
	bool is_row = false, is_end = false;

	while (!is_row) {
		if (t->rest.at == t->rest.end)
			return false;
		if (!step(t, &is_row, &is_end)) {
			t->is_wrong = true;
			t->rest.at = t->rest.end;
			return false;
		}
	}
	*ret_row = t->row;
	ret_row->is_end = is_end;
	if (is_end)
		restart(t);
	return true;
}
