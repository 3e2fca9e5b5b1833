#include "symbol/jit/jitimage.h"

#include <string.h>

#include "symbol/elf/elfparts.h"
#include "symbol/jit/jitlines.h"

enum { SEGMENTS = 3, SECTIONS_MAX = 11, CODE_MAX = 64 << 20 };

struct making {
	struct str *file;
	struct str names;
	Elf64_Shdr sections[SECTIONS_MAX];
	u16 n_sections;
};

/* Appends a section's bytes; with SHF_ALLOC it has the address of its place. */
static Elf64_Shdr *add_section(struct making *m, const char *name, u32 type, u64 flags,
	const void *bytes, size_t n, u64 align)
{
	Elf64_Shdr *s = &m->sections[m->n_sections++];

	str_fill(m->file, '\0', align_up(m->file->n, align) - m->file->n);
	*s = (Elf64_Shdr){.sh_name = elfparts_add_name(&m->names, name),
		.sh_type = type,
		.sh_flags = flags,
		.sh_addr = flags & SHF_ALLOC ? m->file->n : 0,
		.sh_offset = m->file->n,
		.sh_size = n,
		.sh_addralign = align};
	str_addn(m->file, bytes, n);
	return s;
}

static Elf64_Shdr *add_str(struct making *m, const char *name, u32 type, u64 flags,
	const struct str *bytes, u64 align)
{
	return bytes->n ? add_section(m, name, type, flags, bytes->at, bytes->n, align) : NULL;
}

/* 128 bits of the name and the code: FNV-1a, twice, the second time backwards. The same function has the same build-id always. */
static void make_build_id(const char *name, const u8 *code, size_t n, u8 id[JITIMAGE_BUILD_ID])
{
	const u64 prime = 0x100000001b3;
	u64 a = 0xcbf29ce484222325, b = a ^ n;

	for (const char *p = name; *p; p++)
		a = (a ^ (u8)*p) * prime;
	b ^= a;
	for (size_t i = 0; i < n; i++) {
		a = (a ^ code[i]) * prime;
		b = (b ^ code[n - 1 - i]) * prime;
	}
	memcpy(id, &a, sizeof(a));
	memcpy(id + sizeof(a), &b, sizeof(b));
}

static void add_text(struct making *m, const struct jitdump_code *code, const u8 *bytes)
{
	/* Header and segments, written at the end, and what is missing up to the code's place. */
	str_fill(m->file, '\0', JITIMAGE_TEXT);
	m->n_sections = 1;
	str_addc(&m->names, '\0');
	add_section(m, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, bytes, code->size, 16);
}

static void add_unwinding(struct making *m, const struct jitdump_code *code, const u8 *bytes,
	Elf64_Phdr *ret_segment)
{
	const u32 n_hdr = code->unwind_hdr_size, n = code->unwind_size - n_hdr;
	const Elf64_Shdr *s;

	*ret_segment = (Elf64_Phdr){.p_type = PT_NULL};
	if (!code->unwind_size)
		return;
	add_section(m, ".eh_frame", SHT_PROGBITS, SHF_ALLOC, bytes, n, 8);
	if (!n_hdr)
		return;
	s = add_section(m, ".eh_frame_hdr", SHT_PROGBITS, SHF_ALLOC, bytes + n, n_hdr, 1);
	*ret_segment = (Elf64_Phdr){.p_type = PT_GNU_EH_FRAME,
		.p_flags = PF_R,
		.p_offset = s->sh_offset,
		.p_vaddr = s->sh_addr,
		.p_paddr = s->sh_addr,
		.p_filesz = n_hdr,
		.p_memsz = n_hdr,
		.p_align = 4};
}

static void add_note(struct making *m, const u8 *id, Elf64_Phdr *ret_segment)
{
	struct str note = {0};
	const Elf64_Shdr *s;

	elfparts_add_build_id(&note, id, JITIMAGE_BUILD_ID);
	s = add_str(m, ".note.gnu.build-id", SHT_NOTE, SHF_ALLOC, &note, 4);
	*ret_segment = (Elf64_Phdr){.p_type = PT_NOTE,
		.p_flags = PF_R,
		.p_offset = s->sh_offset,
		.p_vaddr = s->sh_addr,
		.p_paddr = s->sh_addr,
		.p_filesz = note.n,
		.p_memsz = note.n,
		.p_align = 4};
	str_fini(&note);
}

static void add_symbol(struct making *m, const struct jitdump_code *code)
{
	struct str symbols = {0}, strings = {0};
	Elf64_Shdr *s;

	elfparts_begin_symbols(&symbols, &strings);
	elfparts_add_function(&symbols, &strings, 1, code->name, JITIMAGE_TEXT, code->size);
	s = add_str(m, ".symtab", SHT_SYMTAB, 0, &symbols, 8);
	s->sh_link = m->n_sections;
	s->sh_info = 1;
	s->sh_entsize = sizeof(Elf64_Sym);
	add_str(m, ".strtab", SHT_STRTAB, 0, &strings, 1);
	str_fini(&symbols);
	str_fini(&strings);
}

static void add_lines(struct making *m, const struct jitdump *d, const struct jitdump_code *code)
{
	struct jitlines lines;

	jitlines_make(&lines, d, code, JITIMAGE_TEXT);
	add_str(m, ".debug_abbrev", SHT_PROGBITS, 0, &lines.abbrev, 1);
	add_str(m, ".debug_info", SHT_PROGBITS, 0, &lines.info, 1);
	add_str(m, ".debug_line", SHT_PROGBITS, 0, &lines.line, 1);
	jitlines_fini(&lines);
}

/* Names and the table of sections at the end, header and segments in front. */
static void finish(struct making *m, u16 machine, const Elf64_Phdr segments[SEGMENTS])
{
	const u32 name = elfparts_add_name(&m->names, ".shstrtab");
	Elf64_Ehdr h;

	m->sections[m->n_sections++] = (Elf64_Shdr){.sh_name = name,
		.sh_type = SHT_STRTAB,
		.sh_offset = m->file->n,
		.sh_size = m->names.n,
		.sh_addralign = 1};
	str_addn(m->file, m->names.at, m->names.n);
	str_fill(m->file, '\0', align_up(m->file->n, 8) - m->file->n);
	h = elfparts_header(machine, SEGMENTS, m->file->n, m->n_sections);
	str_addn(m->file, m->sections, m->n_sections * sizeof(*m->sections));
	memcpy(m->file->at, &h, sizeof(h));
	memcpy(m->file->at + sizeof(h), segments, SEGMENTS * sizeof(*segments));
}

int jitimage_make(const struct jitdump *d, const struct jitdump_code *code,
	struct jitimage *ret_image, struct err *err)
{
	struct jitimage image = {0};
	struct making m = {.file = &image.file};
	Elf64_Phdr segments[SEGMENTS];
	u8 *bytes;
	u64 n_loaded;
	int r;

	if (d->swap)
		return err_set(err, ERR_UNSUPPORTED,
			"the dump is of a machine with the other byte order");
	if (code->size > CODE_MAX)
		return err_set(err, ERR_LIMIT, "the function has %llu bytes, more than %d MiB",
			(unsigned long long)code->size, CODE_MAX >> 20);
	bytes = mem_alloc(code->size + code->unwind_size);
	r = jitdump_read(d, code->off, bytes, code->size, err);
	if (!r && code->unwind_size)
		r = jitdump_read(d, code->unwind_off, bytes + code->size, code->unwind_size, err);
	if (!r) {
		make_build_id(code->name, bytes, code->size, image.build_id);
		add_text(&m, code, bytes);
		add_unwinding(&m, code, bytes + code->size, &segments[1]);
		add_note(&m, image.build_id, &segments[2]);
		n_loaded = m.file->n;
		segments[0] = (Elf64_Phdr){.p_type = PT_LOAD,
			.p_flags = PF_R | PF_X,
			.p_filesz = n_loaded,
			.p_memsz = n_loaded,
			.p_align = 0x1000};
		add_lines(&m, d, code);
		add_symbol(&m, code);
		finish(&m, d->machine, segments);
		*ret_image = image;
	}
	str_fini(&m.names);
	mem_free(bytes);
	return r;
}
