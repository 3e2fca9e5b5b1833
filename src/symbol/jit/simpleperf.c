#include "symbol/jit/simpleperf.h"

#include "base/hash.h"
#include "unwind/leb.h"

/* simpleperf's types of files. */
enum { TYPE_KERNEL, TYPE_KERNEL_MODULE, TYPE_ELF, TYPE_DEX, TYPE_SYMBOL_MAP };

/* ---- a list of files ---- */

static void add_symbol(struct simpleperf *s, u64 va, u64 n, const char *name, size_t name_n)
{
	u64 end = n > UINT64_MAX - va ? UINT64_MAX : va + n;

	vec_add(&s->symbols,
		((struct symbol){.start = va,
			.end = end,
			.name = arena_strdup(&s->arena, name, strnlen(name, name_n)),
			.binding = SYMTAB_GLOBAL,
			.is_open = !n}));
}

/* If a path comes twice, the first file counts. */
static void add_file(struct simpleperf *s, struct simpleperf_file *file)
{
	u64 hash = hash_bytes(file->path, strlen(file->path));
	struct table_probe probe = table_probe(&s->by_path, hash);
	u32 i;

	file->n_symbols = s->symbols.n - file->first_symbol;
	while ((i = table_next(&s->by_path, &probe)) != TABLE_NONE)
		if (!strcmp(s->files.at[i].path, file->path))
			return;
	table_add(&s->by_path, hash, s->files.n);
	vec_add(&s->files, *file);
}

/* ---- FILE: structs, each preceded by its size ---- */

static bool take_path(struct simpleperf *s, struct bytes *b, struct simpleperf_file *file)
{
	const char *path;
	size_t n;

	if (!bytes_cstr(b, &path, &n))
		return false;
	file->path = arena_strdup(&s->arena, path, n);
	file->first_symbol = s->symbols.n;
	return true;
}

static bool take_struct(struct simpleperf *s, struct bytes *b)
{
	struct simpleperf_file file = {0};
	u32 n;

	if (!take_path(s, b, &file) || !bytes_u32(b, &file.type) || !bytes_u64(b, &file.min_va) ||
		!bytes_u32(b, &n))
		return false;
	for (u32 i = 0; i < n; i++) {
		const char *name;
		u32 size;
		size_t name_n;
		u64 va;

		if (!bytes_u64(b, &va) || !bytes_u32(b, &size) || !bytes_cstr(b, &name, &name_n))
			return false;
		add_symbol(s, va, size, name, name_n);
	}
	file.has_offset = file.type == TYPE_ELF && bytes_u64(b, &file.min_offset);
	add_file(s, &file);
	return true;
}

/* ---- FILE2: messages of Protocol Buffers, each preceded by its size ---- */

struct field {
	u32 number;
	bool is_bytes;
	u64 value;
	struct bytes bytes;
};

static bool next_field(struct bytes *b, struct field *f)
{
	enum { VARINT, FIXED_64, BYTES, FIXED_32 = 5 };
	u64 tag, n;

	if (!bytes_left(b) || !leb_u64(b, &tag))
		return false;
	*f = (struct field){.number = (u32)(tag >> 3), .is_bytes = (tag & 7) == BYTES};
	switch (tag & 7) {
	case VARINT:
		return leb_u64(b, &f->value);
	case FIXED_64:
		return bytes_skip(b, 8);
	case BYTES:
		return leb_u64(b, &n) && bytes_sub(b, n, &f->bytes);
	case FIXED_32:
		return bytes_skip(b, 4);
	default:
		return false;
	}
}

static void take_symbol(struct simpleperf *s, struct bytes b)
{
	enum { VA = 1, SIZE, NAME };
	struct bytes name = {0};
	u64 va = 0, n = 0;
	struct field f;

	while (next_field(&b, &f))
		switch (f.number) {
		case VA:
			va = f.value;
			break;
		case SIZE:
			n = f.value;
			break;
		case NAME:
			name = f.bytes;
			break;
		default:
			break;
		}
	if (bytes_left(&name))
		add_symbol(s, va, n, (const char *)name.at, bytes_left(&name));
}

static void take_message(struct simpleperf *s, struct bytes b)
{
	enum { PATH = 1, TYPE, MIN_VA, SYMBOL, ELF = 6, ELF_OFFSET = 1 };
	struct simpleperf_file file = {.first_symbol = s->symbols.n};
	struct field f, inner;

	while (next_field(&b, &f))
		switch (f.number) {
		case PATH:
			file.path = arena_strdup(&s->arena, (const char *)f.bytes.at,
				f.is_bytes ? bytes_left(&f.bytes) : 0);
			break;
		case TYPE:
			file.type = (u32)f.value;
			break;
		case MIN_VA:
			file.min_va = f.value;
			break;
		case SYMBOL:
			take_symbol(s, f.bytes);
			break;
		case ELF:
			while (next_field(&f.bytes, &inner))
				if (inner.number == ELF_OFFSET)
					file.min_offset = inner.value;
			file.has_offset = true;
			break;
		default:
			break;
		}
	if (file.path)
		add_file(s, &file);
}

void simpleperf_init(struct simpleperf *s, const struct file_info *info)
{
	struct bytes b = bytes_of(info->files[0].at, info->files[0].n), one;
	u32 n;

	memset(s, 0, sizeof(*s));
	while (bytes_u32(&b, &n) && bytes_sub(&b, n, &one) && take_struct(s, &one))
		;
	b = bytes_of(info->files[1].at, info->files[1].n);
	while (bytes_u32(&b, &n) && bytes_sub(&b, n, &one))
		take_message(s, one);
}

void simpleperf_fini(struct simpleperf *s)
{
	vec_fini(&s->files);
	vec_fini(&s->symbols);
	table_fini(&s->by_path);
	arena_fini(&s->arena);
	memset(s, 0, sizeof(*s));
}

/* ---- look-ups ---- */

/* simpleperf's name of a DSO: for maps of generated code the path without the folder. */
static const char *path_of(const struct dso *dso)
{
	const char *slash = dso->kind == DSO_JIT ? strrchr(dso->path, '/') : NULL;

	return slash ? slash + 1 : dso->path;
}

static const struct simpleperf_file *find(const struct simpleperf *s, const char *path)
{
	struct table_probe probe = table_probe(&s->by_path, hash_bytes(path, strlen(path)));
	u32 i;

	while ((i = table_next(&s->by_path, &probe)) != TABLE_NONE)
		if (!strcmp(s->files.at[i].path, path))
			return s->files.at[i].n_symbols ? &s->files.at[i] : NULL;
	return NULL;
}

const struct simpleperf_file *simpleperf_find(const struct simpleperf *s, const struct dso *dso)
{
	const struct simpleperf_file *file = dso->is_guest ? NULL : find(s, path_of(dso));

	/*
	 * The last module's map reaches up to the end of memory, over the kernel: addresses in no module are
	 * the kernel's.
	 */
	return file || dso->kind != DSO_MODULE || dso->is_guest ? file
								: find(s, "[kernel.kallsyms]");
}

void simpleperf_add(const struct simpleperf *s, const struct simpleperf_file *file,
	struct symtab *to)
{
	for (size_t i = 0; i < file->n_symbols; i++)
		vec_add(&to->symbols, s->symbols.at[file->first_symbol + i]);
	symtab_finish(to);
}

u64 simpleperf_address(const struct simpleperf_file *file, const struct dso *dso, u64 address)
{
	if (dso->kind == DSO_MODULE && file->type == TYPE_KERNEL)
		return dso->base + address;
	if (dso->kind != DSO_FILE || file->type == TYPE_SYMBOL_MAP)
		return address;
	/* Older simpleperf did not record min_offset, and assumed that the code starts where the map does. */
	return address - (file->has_offset ? file->min_offset : dso->code_from) + file->min_va;
}
