#include "unit/elfmaker.h"

/* Adds an integer of n bytes in the file's byte order. */
static void put(const struct elfmaker *m, struct str *to, u64 v, u32 n)
{
	for (u32 i = 0; i < n; i++)
		str_addc(to, (char)(v >> 8 * (m->is_big ? n - 1 - i : i)));
}

/* The same, into the file, and remembers where. */
static void field(struct elfmaker *m, u64 v, u32 n)
{
	vec_add(&m->fields, ((struct elfmaker_field){m->file.n, n}));
	put(m, &m->file, v, n);
}

static u32 word_size(const struct elfmaker *m)
{
	return m->is_64 ? 8 : 4;
}

static void word(struct elfmaker *m, u64 v)
{
	field(m, v, word_size(m));
}

void elfmaker_init(struct elfmaker *m, bool is_64, bool is_big, u16 machine)
{
	memset(m, 0, sizeof(*m));
	m->is_64 = is_64;
	m->is_big = is_big;
	m->machine = machine;
	/* Index 0 stands for no section, offset 0 of string tables for no name. */
	vec_add(&m->sections, ((struct elfmaker_section){.name = ""}));
	str_addc(&m->strtab, '\0');
	str_addc(&m->dynstr, '\0');
}

void elfmaker_fini(struct elfmaker *m)
{
	vec_fini(&m->sections);
	vec_fini(&m->segments);
	vec_fini(&m->fields);
	str_fini(&m->symtab);
	str_fini(&m->strtab);
	str_fini(&m->dynsym);
	str_fini(&m->dynstr);
	str_fini(&m->rela);
	str_fini(&m->file);
	arena_fini(&m->arena);
}

u32 elfmaker_section(struct elfmaker *m, const struct elfmaker_section *section)
{
	struct elfmaker_section *s = vec_push(&m->sections);

	*s = *section;
	if (s->data)
		s->data = arena_copy(&m->arena, s->data, s->size);
	return m->sections.n - 1;
}

void elfmaker_segment(struct elfmaker *m, u32 type, u32 flags, u64 offset, u64 va, u64 size)
{
	vec_add(&m->segments, ((struct elfmaker_segment){type, flags, offset, va, size, size}));
}

void elfmaker_text(struct elfmaker *m, u64 va, u64 offset, const void *data, u64 size)
{
	elfmaker_section(m,
		&(struct elfmaker_section){.name = ".text",
			.type = SHT_PROGBITS,
			.flags = SHF_ALLOC | SHF_EXECINSTR,
			.addr = va,
			.offset = offset,
			.size = size,
			.data = data});
	elfmaker_segment(m, PT_LOAD, PF_R | PF_X, offset, va, size);
}

static u32 symbol_size(const struct elfmaker *m)
{
	return m->is_64 ? 24 : 16;
}

static void add_symbol(const struct elfmaker *m, struct str *table, u32 name, u8 info, u16 section,
	u64 value, u64 size)
{
	put(m, table, name, 4);
	if (!m->is_64) {
		put(m, table, value, 4);
		put(m, table, size, 4);
	}
	put(m, table, info, 1);
	put(m, table, 0, 1);
	put(m, table, section, 2);
	if (m->is_64) {
		put(m, table, value, 8);
		put(m, table, size, 8);
	}
}

u32 elfmaker_symbol(struct elfmaker *m, u32 table, const char *name, u8 binding, u8 type,
	u16 section, u64 value, u64 size)
{
	struct str *symbols = table == SHT_DYNSYM ? &m->dynsym : &m->symtab;
	struct str *strings = table == SHT_DYNSYM ? &m->dynstr : &m->strtab;

	if (!symbols->n)
		add_symbol(m, symbols, 0, 0, 0, 0, 0);
	add_symbol(m, symbols, strings->n, binding << 4 | type, section, value, size);
	str_addn(strings, name, strlen(name) + 1);
	return symbols->n / symbol_size(m) - 1;
}

void elfmaker_function(struct elfmaker *m, const char *name, u64 value, u64 size)
{
	elfmaker_symbol(m, SHT_SYMTAB, name, STB_GLOBAL, STT_FUNC, 1, value, size);
}

u32 elfmaker_note(struct elfmaker *m, const char *section, const char *owner, u32 type,
	const void *desc, u32 n)
{
	struct str note = {0};
	u32 index;

	put(m, &note, strlen(owner) + 1, 4);
	put(m, &note, n, 4);
	put(m, &note, type, 4);
	str_addn(&note, owner, strlen(owner) + 1);
	str_fill(&note, '\0', align_up(note.n, 4) - note.n);
	str_addn(&note, desc, n);
	str_fill(&note, '\0', align_up(note.n, 4) - note.n);
	index = elfmaker_section(m,
		&(struct elfmaker_section){.name = section,
			.type = SHT_NOTE,
			.size = note.n,
			.data = note.at});
	str_fini(&note);
	return index;
}

u32 elfmaker_debug_link(struct elfmaker *m, const char *name, u32 crc)
{
	struct str link = {0};
	u32 index;

	str_addn(&link, name, strlen(name) + 1);
	str_fill(&link, '\0', align_up(link.n, 4) - link.n);
	put(m, &link, crc, 4);
	index = elfmaker_section(m,
		&(struct elfmaker_section){.name = ".gnu_debuglink",
			.type = SHT_PROGBITS,
			.size = link.n,
			.data = link.at});
	str_fini(&link);
	return index;
}

void elfmaker_relocation(struct elfmaker *m, u64 slot, u32 symbol, u32 type, u64 addend)
{
	put(m, &m->rela, slot, word_size(m));
	put(m, &m->rela, m->is_64 ? (u64)symbol << 32 | type : symbol << 8 | (type & 0xff),
		word_size(m));
	put(m, &m->rela, addend, word_size(m));
}

/* ---- the file ---- */

static u32 add_table(struct elfmaker *m, const char *name, u32 type, const struct str *bytes,
	u32 link, u64 entry_size)
{
	return elfmaker_section(m,
		&(struct elfmaker_section){.name = name,
			.type = type,
			.size = bytes->n,
			.data = str_text(bytes),
			.link = link,
			.entry_size = entry_size});
}

static void add_tables(struct elfmaker *m)
{
	u32 dynsym = 0;

	if (m->symtab.n)
		add_table(m, ".symtab", SHT_SYMTAB, &m->symtab,
			add_table(m, ".strtab", SHT_STRTAB, &m->strtab, 0, 0), symbol_size(m));
	if (m->dynsym.n)
		dynsym = add_table(m, ".dynsym", SHT_DYNSYM, &m->dynsym,
			add_table(m, ".dynstr", SHT_STRTAB, &m->dynstr, 0, 0), symbol_size(m));
	if (m->rela.n)
		add_table(m, ".rela.plt", SHT_RELA, &m->rela, dynsym, 3 * word_size(m));
}

static void put_header(struct elfmaker *m, u64 segments, u64 sections)
{
	const u8 ident[EI_NIDENT] = {0x7f, 'E', 'L', 'F', m->is_64 ? ELFCLASS64 : ELFCLASS32,
		m->is_big ? ELFDATA2MSB : ELFDATA2LSB, EV_CURRENT};

	str_addn(&m->file, ident, sizeof(ident));
	field(m, ET_DYN, 2);
	field(m, m->machine, 2);
	field(m, EV_CURRENT, 4);
	word(m, 0);
	word(m, segments);
	word(m, sections);
	field(m, 0, 4);
	field(m, m->is_64 ? 64 : 52, 2);
	field(m, m->is_64 ? 56 : 32, 2);
	field(m, m->segments.n, 2);
	field(m, m->is_64 ? 64 : 40, 2);
	field(m, m->sections.n, 2);
	field(m, m->sections.n - 1, 2);
}

static void put_segments(struct elfmaker *m)
{
	vec_each(s, &m->segments) {
		field(m, s->type, 4);
		if (m->is_64)
			field(m, s->flags, 4);
		word(m, s->offset);
		word(m, s->va);
		word(m, s->va);
		word(m, s->file_size);
		word(m, s->mem_size);
		if (!m->is_64)
			field(m, s->flags, 4);
		word(m, 0x1000);
	}
}

static void put_sections(struct elfmaker *m, const u32 *names)
{
	vec_each(s, &m->sections) {
		field(m, names[s - m->sections.at], 4);
		field(m, s->type, 4);
		word(m, s->flags);
		word(m, s->addr);
		word(m, s->offset);
		word(m, s->size);
		field(m, s->link, 4);
		field(m, s->info, 4);
		word(m, s->type ? 4 : 0);
		word(m, s->entry_size);
	}
}

void elfmaker_finish(struct elfmaker *m)
{
	struct str names = {0}, body = {0};
	u64 header = m->is_64 ? 64 : 52, front, sections;
	u32 *name_at;

	add_tables(m);
	elfmaker_section(m, &(struct elfmaker_section){.name = ".shstrtab", .type = SHT_STRTAB});
	name_at = mem_alloc(m->sections.n * sizeof(*name_at));
	vec_each(s, &m->sections) {
		name_at[s - m->sections.at] = names.n;
		str_addn(&names, s->name, strlen(s->name) + 1);
	}
	m->sections.at[m->sections.n - 1].data = names.at;
	m->sections.at[m->sections.n - 1].size = names.n;
	front = align_up(header + m->segments.n * (m->is_64 ? 56 : 32), 8);
	for (size_t i = 1; i < m->sections.n; i++) {
		struct elfmaker_section *s = &m->sections.at[i];
		u64 at = align_up(front + body.n, 8);

		s->offset = MAX(s->offset, at);
		if (s->type == SHT_NOBITS)
			continue;
		str_fill(&body, '\0', s->offset - front - body.n);
		if (s->data)
			str_addn(&body, s->data, s->size);
		else
			str_fill(&body, '\0', s->size);
	}
	sections = align_up(front + body.n, 8);
	put_header(m, header, sections);
	put_segments(m);
	str_fill(&m->file, '\0', front - m->file.n);
	str_addn(&m->file, body.at, body.n);
	str_fill(&m->file, '\0', sections - m->file.n);
	put_sections(m, name_at);
	m->sections.at[m->sections.n - 1].data = NULL;
	mem_free(name_at);
	str_fini(&names);
	str_fini(&body);
}
