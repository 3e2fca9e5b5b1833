#include "symbol/embed/elfstub.h"

#include "base/fd.h"
#include "symbol/elf/elfparts.h"

/* Offsets above any real file's: the symbols are written behind all segments. */
#define FILE_MAX (16ULL << 30)

enum { SEGMENTS_MAX = 32 }; /* no real file has more executable segments */

enum { SECTIONS = 6, TEXT = 1, SYMTAB = 2, STRTAB = 3, NOTE = 4, NAMES = 5 };

struct stub {
	const struct embedded *from;
	const struct embedded_dso *dso;
	struct allowance_rest *rest;
	u32 n_segments;
	struct str symbols, strings, note, names;
	struct str segments;
	u64 text_from, text_to; /* the span of .text: all executable segments */
	u64 text_offset;
	u64 end; /* of the segments in the file */
};

static bool has_code(const struct stub *s, u64 from, u64 size)
{
	const u8 *bytes;
	u64 before;

	for (u32 i = 0; i < s->dso->n_code; i++) {
		struct embedded_code c;

		embedded_entry(s->from, EMBEDDED_CODE, s->dso->first_code + i, &c, sizeof(c));
		if (c.at >= from && c.at - from < size &&
			embedded_find_code(s->from, s->dso, c.at, &bytes, &before))
			return true;
	}
	return false;
}

static int take_segments(struct stub *s, struct err *err)
{
	s->n_segments = MIN(s->dso->n_segments, (u32)SEGMENTS_MAX);
	for (u32 i = 0; i < s->n_segments; i++) {
		struct embedded_segment g;
		bool runs;

		embedded_entry(s->from, EMBEDDED_SEGMENTS, s->dso->first_segment + i, &g,
			sizeof(g));
		if (g.offset > FILE_MAX || g.size > FILE_MAX)
			return err_set(err, ERR_LIMIT,
				"a segment at 0x%llx is too far out for a file",
				(unsigned long long)g.offset);
		runs = has_code(s, g.va, g.size);
		if (runs && !s->text_to) {
			s->text_from = g.va;
			s->text_to = g.va + g.size;
			s->text_offset = g.offset;
		}
		s->end = MAX(s->end, g.offset + g.size);
		str_addn(&s->segments,
			&(Elf64_Phdr){.p_type = PT_LOAD,
				.p_flags = PF_R | (runs ? PF_X : 0),
				.p_offset = g.offset,
				.p_vaddr = g.va,
				.p_paddr = g.va,
				.p_filesz = g.size,
				.p_memsz = g.size,
				.p_align = 0x1000},
			sizeof(Elf64_Phdr));
	}
	return 0;
}

static int take_symbols(struct stub *s, struct err *err)
{
	elfparts_begin_symbols(&s->symbols, &s->strings);
	for (u32 i = 0; i < s->dso->n_symbols; i++) {
		struct embedded_symbol symbol;
		const char *name;

		embedded_entry(s->from, EMBEDDED_SYMBOLS, s->dso->first_symbol + i, &symbol,
			sizeof(symbol));
		name = embedded_string(s->from, symbol.name);
		if (!name)
			continue;
		if (allowance_take(s->rest, sizeof(Elf64_Sym) + strlen(name) + 1, err))
			return err->code;
		elfparts_add_function(&s->symbols, &s->strings, TEXT, name, symbol.start,
			symbol.end - symbol.start);
	}
	return 0;
}

static void take_note(struct stub *s)
{
	const u8 *id = embedded_bytes(s->from, s->dso->build_id, s->dso->build_id_size);

	if (id && s->dso->build_id_size)
		elfparts_add_build_id(&s->note, id, s->dso->build_id_size);
}

/* Writes note, symbols, strings and names behind all segments, then the table of sections. */
static int put_sections(struct stub *s, int fd, u64 *ret_table)
{
	u64 at = align_up(MAX(s->end, (u64)0x1000), 16);
	Elf64_Shdr table[SECTIONS] = {{0}};
	const struct {
		const char *name;
		u32 type;
		const struct str *bytes;
	} parts[SECTIONS] = {
		[SYMTAB] = {".symtab", SHT_SYMTAB, &s->symbols},
		[STRTAB] = {".strtab", SHT_STRTAB, &s->strings},
		[NOTE] = {".note.gnu.build-id", SHT_NOTE, &s->note},
		[NAMES] = {".shstrtab", SHT_STRTAB, &s->names},
	};
	int sys = 0;

	str_addc(&s->names, '\0');
	table[TEXT] = (Elf64_Shdr){.sh_name = elfparts_add_name(&s->names, ".text"),
		.sh_type = SHT_PROGBITS,
		.sh_flags = SHF_ALLOC | SHF_EXECINSTR,
		.sh_addr = s->text_from,
		.sh_offset = s->text_offset,
		.sh_size = s->text_to - s->text_from,
		.sh_addralign = 16};
	for (unsigned i = SYMTAB; i < SECTIONS; i++)
		table[i].sh_name = elfparts_add_name(&s->names, parts[i].name);
	for (unsigned i = SYMTAB; i < SECTIONS && !sys; i++) {
		table[i].sh_type = parts[i].type;
		table[i].sh_offset = at;
		table[i].sh_size = parts[i].bytes->n;
		table[i].sh_addralign = 8;
		sys = fd_write_at(fd, parts[i].bytes->at, parts[i].bytes->n, at);
		at = align_up(at + parts[i].bytes->n, 16);
	}
	table[SYMTAB].sh_link = STRTAB;
	table[SYMTAB].sh_info = 1;
	table[SYMTAB].sh_entsize = sizeof(Elf64_Sym);
	*ret_table = at;
	return sys ? sys : fd_write_at(fd, table, sizeof(table), at);
}

static int put_piece(const struct stub *s, int fd, const u8 *bytes, u64 n, u64 offset,
	struct err *err)
{
	int sys;

	if (allowance_take(s->rest, n, err))
		return err->code;
	sys = fd_write_at(fd, bytes, n, offset);
	return sys ? err_sys(err, sys, "writing an ELF file") : 0;
}

static int put_code(const struct stub *s, int fd, struct err *err)
{
	for (u32 i = 0; i < s->dso->n_code; i++) {
		struct embedded_code c;
		const u8 *bytes;
		u64 n, before;

		embedded_entry(s->from, EMBEDDED_CODE, s->dso->first_code + i, &c, sizeof(c));
		n = embedded_find_code(s->from, s->dso, c.at, &bytes, &before);
		for (u32 k = 0; k < s->n_segments && n; k++) {
			struct embedded_segment g;

			embedded_entry(s->from, EMBEDDED_SEGMENTS, s->dso->first_segment + k, &g,
				sizeof(g));
			if (c.at >= g.va && c.at - g.va < g.size &&
				put_piece(s, fd, bytes, MIN(n, g.size - (c.at - g.va)),
					g.offset + (c.at - g.va), err))
				return err->code;
		}
	}
	return 0;
}

/* Writes the ELF header last, as the first segment covers it: the bytes there were not sampled. */
static int put_front(const struct stub *s, int fd, u64 table)
{
	Elf64_Ehdr h = elfparts_header((u16)s->dso->machine, (u16)s->n_segments, table, SECTIONS);
	int sys;

	h.e_entry = s->dso->entry;
	sys = fd_write_at(fd, &h, sizeof(h), 0);
	return sys ? sys
		   : fd_write_at(fd, s->segments.at, (size_t)h.e_phnum * sizeof(Elf64_Phdr),
			     sizeof(h));
}

int elfstub_write(const struct embedded *e, const struct embedded_dso *d,
	struct allowance_rest *rest, int fd, struct err *err)
{
	struct stub s = {.from = e, .dso = d, .rest = rest};
	u64 table = 0;
	int r, sys;

	take_note(&s);
	r = allowance_take(rest, sizeof(Elf64_Ehdr) + SECTIONS * sizeof(Elf64_Shdr) + s.note.n,
		    err) ||
			take_segments(&s, err) || take_symbols(&s, err) || put_code(&s, fd, err)
		? err->code
		: 0;
	if (!r) {
		sys = put_sections(&s, fd, &table);
		if (!sys)
			sys = put_front(&s, fd, table);
		if (sys)
			r = err_sys(err, sys, "writing an ELF file");
	}
	str_fini(&s.symbols);
	str_fini(&s.strings);
	str_fini(&s.note);
	str_fini(&s.names);
	str_fini(&s.segments);
	return r;
}
