#include "test.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "symbol/elf/elf.h"
#include "symbol/elf/symtab.h"
#include "symbol/elf/vdso.h"
#include "unit/elfmaker.h"
#include "unit/outside.h"
#include "unit/recording.h"

static const u8 some_id[BUILD_ID_MAX] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17,
	18, 19, 20};

/* The four forms there are. */
static const struct form {
	bool is_64, is_big;
} forms[] = {{true, false}, {true, true}, {false, false}, {false, true}};

/* jmp *disp(%rip), one for each of two slots; the PLT's head before them is no such jump. */
static void make_plt(u8 plt[48], u64 address, u64 first_slot)
{
	memset(plt, 0x90, 48);
	for (u32 i = 0; i < 2; i++) {
		u32 disp = (u32)(first_slot + 8 * i - (address + 16 * (i + 1) + 6));

		plt[16 * (i + 1)] = 0xff;
		plt[16 * (i + 1) + 1] = 0x25;
		memcpy(plt + 16 * (i + 1) + 2, &disp, 4);
	}
}

/* A file with one of everything. */
static void make_full(struct elfmaker *m, const struct form *form)
{
	u8 plt[48];

	make_plt(plt, 0x2000, 0x3000);
	elfmaker_init(m, form->is_64, form->is_big, EM_X86_64);
	elfmaker_section(m,
		&(struct elfmaker_section){.name = ".text",
			.type = SHT_PROGBITS,
			.flags = SHF_ALLOC | SHF_EXECINSTR,
			.addr = 0x1000,
			.offset = 0x200,
			.size = 0x100});
	elfmaker_section(m,
		&(struct elfmaker_section){.name = ".plt",
			.type = SHT_PROGBITS,
			.flags = SHF_ALLOC | SHF_EXECINSTR,
			.addr = 0x2000,
			.size = sizeof(plt),
			.data = plt,
			.entry_size = 16});
	elfmaker_section(m,
		&(struct elfmaker_section){.name = ".bss",
			.type = SHT_NOBITS,
			.addr = 0x9000,
			.size = 1 << 20});
	elfmaker_note(m, ".note.ABI-tag", "GNU", NT_GNU_ABI_TAG, "abcdabcdabcdabcd", 16);
	elfmaker_note(m, ".note.gnu.build-id", "GNU", NT_GNU_BUILD_ID, some_id, sizeof(some_id));
	elfmaker_debug_link(m, "prog.debug", 0x12345678);
	elfmaker_segment(m, PT_LOAD, PF_R, 0, 0, 0x200);
	elfmaker_segment(m, PT_LOAD, PF_R | PF_X, 0x200, 0x1000, 0x100);
	elfmaker_function(m, "first", 0x1000, 16);
	elfmaker_function(m, "second", 0x1010, 0);
	elfmaker_symbol(m, SHT_SYMTAB, "third", STB_LOCAL, STT_NOTYPE, 1, 0x1020, 0);
	elfmaker_symbol(m, SHT_DYNSYM, "puts", STB_GLOBAL, STT_FUNC, SHN_UNDEF, 0, 0);
	elfmaker_symbol(m, SHT_DYNSYM, "first", STB_GLOBAL, STT_FUNC, 1, 0x1000, 16);
	elfmaker_relocation(m, 0x3000, 1, R_X86_64_JUMP_SLOT, 0);
	elfmaker_relocation(m, 0x3008, 0, R_X86_64_IRELATIVE, 0x1010);
	elfmaker_finish(m);
}

/* Asks everything that can be asked of a file; the block has exactly its size, so that ASan sees a
 * step too far. */
static void ask_everything(const void *bytes, size_t n)
{
	static const u64 places[] = {0, 1, 0x200, 0x210, 0x1000, 0x1010, 0x2010, 0x2fff, UINT32_MAX,
		1ULL << 63, UINT64_MAX};
	static const char *const names[] = {"", ".text", ".gnu_debuglink", ".plt",
		".a name that no section has"};
	void *exact = recording_exact(bytes, n);
	struct symtab symtab = {0};
	struct bytes contents;
	u8 id[BUILD_ID_MAX];
	const char *link;
	struct elf elf;
	struct err err;
	u64 va;
	u32 crc;

	if (elf_of_memory(&elf, exact, n, &err) == 0) {
		for (size_t i = 0; i < ARRAY_SIZE(names); i++)
			elf_section(&elf, names[i]);
		for (u32 i = 0; i < elf.n_sections; i++)
			elf_contents(&elf, elf_section_at(&elf, i), &contents);
		elf_build_id(&elf, id);
		if (elf_debug_link(&elf, &link, &crc))
			CHECK(strlen(link) < n);
		symtab_add_elf(&symtab, &elf, SHT_SYMTAB);
		symtab_add_elf(&symtab, &elf, SHT_DYNSYM);
		symtab_finish(&symtab);
		symtab_add_plt(&symtab, &elf);
		for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
			const struct symbol *s = symtab_find(&symtab, places[i]);

			CHECK(!s || (s->start <= places[i] && strlen(s->name) < n));
			elf_address_of_offset(&elf, places[i], &va);
		}
		symtab_fini(&symtab);
		elf_close(&elf);
	}
	free(exact);
}

TEST(elf_reads_all_four_forms)
{
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		const struct elf_section *s;
		struct bytes contents;
		struct elfmaker m;
		u8 id[BUILD_ID_MAX] = {0};
		const char *link;
		struct elf elf;
		struct err err;
		u32 crc;
		u64 va;

		make_full(&m, &forms[i]);
		CHECK_EQ(elf_of_memory(&elf, m.file.at, m.file.n, &err), 0);
		CHECK_EQ(elf.is_64, forms[i].is_64);
		CHECK_EQ(elf.swap, forms[i].is_big);
		CHECK_EQ(elf.machine, EM_X86_64);
		CHECK_EQ(elf.type, ET_DYN);
		CHECK_EQ(elf.n_sections, 13);
		CHECK_EQ(elf.n_segments, 2);
		s = elf_section(&elf, ".text");
		CHECK(s == elf_section_at(&elf, 1));
		CHECK_EQ(s->addr, 0x1000);
		CHECK_EQ(s->offset, 0x200);
		CHECK_EQ(s->size, 0x100);
		CHECK_EQ(s->flags, SHF_ALLOC | SHF_EXECINSTR);
		CHECK(elf_contents(&elf, s, &contents));
		CHECK_EQ(bytes_left(&contents), 0x100);
		CHECK(contents.at == (u8 *)m.file.at + 0x200);
		CHECK_EQ(elf_section(&elf, ".plt")->entry_size, 16);
		CHECK_EQ(elf_section_of_type(&elf, SHT_DYNSYM)->link,
			elf_section(&elf, ".dynstr") - elf.sections);
		CHECK_EQ(elf_build_id(&elf, id), BUILD_ID_MAX);
		CHECK(!memcmp(id, some_id, BUILD_ID_MAX));
		CHECK(elf_debug_link(&elf, &link, &crc));
		CHECK_STR(link, "prog.debug");
		CHECK_EQ(crc, 0x12345678);
		CHECK_EQ(elf.segments[1].flags, PF_R | PF_X);
		CHECK(elf_address_of_offset(&elf, 0x210, &va));
		CHECK_EQ(va, 0x1010);
		elf_close(&elf);
		elfmaker_fini(&m);
	}
}

TEST(elf_finds_sections_by_their_whole_name_only)
{
	struct elfmaker m;
	struct elf elf;
	struct err err;

	make_full(&m, &forms[0]);
	CHECK_EQ(elf_of_memory(&elf, m.file.at, m.file.n, &err), 0);
	CHECK(!elf_section(&elf, ".tex"));
	CHECK(!elf_section(&elf, ".text1"));
	CHECK(!elf_section(&elf, "text"));
	CHECK(elf_section(&elf, ".shstrtab"));
	CHECK(!elf_section_at(&elf, elf.n_sections));
	CHECK(!elf_section_at(&elf, UINT32_MAX));
	CHECK(!elf_section_of_type(&elf, SHT_DYNAMIC));
	elf_close(&elf);
	elfmaker_fini(&m);
}

TEST(elf_has_no_contents_for_sections_without_bytes)
{
	struct bytes contents;
	struct elfmaker m;
	struct elf elf;
	struct err err;

	make_full(&m, &forms[0]);
	CHECK_EQ(elf_of_memory(&elf, m.file.at, m.file.n, &err), 0);
	CHECK(!elf_contents(&elf, elf_section(&elf, ".bss"), &contents));
	CHECK(!elf_contents(&elf, NULL, &contents));
	elf_close(&elf);
	elfmaker_fini(&m);
}

/* ---- hostile files ---- */

TEST(elf_cut_off_at_any_byte_is_survived)
{
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		struct elfmaker m;

		make_full(&m, &forms[i]);
		for (size_t n = 0; n <= m.file.n; n++)
			ask_everything(m.file.at, n);
		elfmaker_fini(&m);
	}
}

TEST(elf_with_any_field_gone_wild_is_survived)
{
	static const u64 values[] = {0, 1, 0x7fffffff, 1ULL << 31, UINT32_MAX, 1ULL << 63,
		UINT64_MAX - 1, UINT64_MAX};

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		struct elfmaker m;

		make_full(&m, &forms[i]);
		vec_each(f, &m.fields) {
			char kept[8];

			memcpy(kept, m.file.at + f->offset, f->size);
			for (size_t v = 0; v < ARRAY_SIZE(values); v++) {
				for (u32 k = 0; k < f->size; k++)
					m.file.at[f->offset + k] =
						values[v] >> 8 * (m.is_big ? f->size - 1 - k : k);
				ask_everything(m.file.at, m.file.n);
			}
			/* Off by one, where the checks are. */
			memcpy(m.file.at + f->offset, kept, f->size);
			m.file.at[f->offset + (m.is_big ? f->size - 1 : 0)]++;
			ask_everything(m.file.at, m.file.n);
			memcpy(m.file.at + f->offset, kept, f->size);
		}
		elfmaker_fini(&m);
	}
}

TEST(elf_with_any_byte_changed_is_survived)
{
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		u64 random = 1;
		struct elfmaker m;

		make_full(&m, &forms[i]);
		for (size_t at = 0; at < m.file.n; at++) {
			char kept = m.file.at[at];

			m.file.at[at] = recording_random(&random);
			ask_everything(m.file.at, m.file.n);
			m.file.at[at] = kept;
		}
		elfmaker_fini(&m);
	}
}

TEST(elf_refuses_what_is_none)
{
	static const char text[] =
		"#!/bin/sh\nthis is no ELF file, but it is long enough for a header of one\n......";
	struct elf elf;
	struct err err;

	CHECK_EQ(elf_of_memory(&elf, text, sizeof(text), &err), ERR_FORMAT);
	CHECK_STR(err.msg, "it is not an ELF file");
	CHECK_EQ(elf_of_memory(&elf, "", 0, &err), ERR_FORMAT);
	CHECK_EQ(elf_of_memory(&elf,
			 "\x7f"
			 "ELF\2\1\1\0\0\0\0\0\0\0\0\0\1\0",
			 18, &err),
		ERR_FORMAT);
	CHECK_STR(err.msg, "its ELF header is cut off");
}

/* ---- notes ---- */

static struct bytes notes_of(const void *p, size_t n)
{
	return bytes_of(p, n);
}

TEST(elf_finds_the_build_id_behind_other_notes)
{
	const u32 notes[] = {4, 3, 1, 0x00554e47, 0x00ccbbaa,              /* GNU, padded to 4 */
		7, 4, NT_GNU_BUILD_ID, 0x78656c66, 0x00000000, 0x11111111, /* of somebody else */
		4, 0, NT_GNU_BUILD_ID, 0x00554e47,                         /* empty */
		4, 8, NT_GNU_BUILD_ID, 0x00554e47, 0x04030201, 0x08070605, 4, 4, NT_GNU_BUILD_ID,
		0x00554e47, 0x99999999};
	u8 id[BUILD_ID_MAX];

	CHECK_EQ(elf_build_id_in_notes(notes_of(notes, sizeof(notes)), id), 8);
	CHECK(!memcmp(id, "\1\2\3\4\5\6\7\10", 8));
}

TEST(elf_build_id_is_never_longer_than_there_is_room_for)
{
	u32 notes[4 + 16] = {4, 64, NT_GNU_BUILD_ID, 0x00554e47};
	u8 *id = malloc(BUILD_ID_MAX);

	memset(notes + 4, 0x5a, 64);
	CHECK_EQ(elf_build_id_in_notes(notes_of(notes, sizeof(notes)), id), BUILD_ID_MAX);
	CHECK_EQ(id[BUILD_ID_MAX - 1], 0x5a);
	free(id);
}

TEST(elf_build_id_that_is_cut_off_is_none)
{
	const u32 notes[] = {4, 20, NT_GNU_BUILD_ID, 0x00554e47, 1, 2, 3, 4, 5};
	u8 id[BUILD_ID_MAX];

	for (size_t n = 0; n < sizeof(notes); n++) {
		void *exact = recording_exact(notes, n);

		CHECK_EQ(elf_build_id_in_notes(notes_of(exact, n), id), 0);
		free(exact);
	}
	CHECK_EQ(elf_build_id_in_notes(notes_of(notes, sizeof(notes)), id), 20);
}

TEST(elf_build_id_may_lack_its_padding)
{
	const u8 notes[] = {4, 0, 0, 0, 3, 0, 0, 0, NT_GNU_BUILD_ID, 0, 0, 0, 'G', 'N', 'U', 0, 7,
		8, 9};
	void *exact = recording_exact(notes, sizeof(notes));
	u8 id[BUILD_ID_MAX];

	CHECK_EQ(elf_build_id_in_notes(notes_of(exact, sizeof(notes)), id), 3);
	CHECK(!memcmp(id, "\7\10\11", 3));
	free(exact);
}

TEST(elf_without_sections_has_its_build_id_from_segments)
{
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		u8 id[BUILD_ID_MAX] = {0};
		struct elfmaker m;
		struct elf elf;
		struct err err;
		u32 note;

		elfmaker_init(&m, forms[i].is_64, forms[i].is_big, EM_X86_64);
		note = elfmaker_note(&m, ".note", "GNU", NT_GNU_BUILD_ID, some_id, 16);
		m.sections.at[note].offset = 0x100;
		m.sections.at[note].type =
			SHT_PROGBITS; /* nothing there says that it holds notes */
		elfmaker_segment(&m, PT_NOTE, PF_R, 0x100, 0x100, m.sections.at[note].size);
		elfmaker_finish(&m);
		CHECK_EQ(elf_of_memory(&elf, m.file.at, m.file.n, &err), 0);
		CHECK_EQ(elf_build_id(&elf, id), 16);
		CHECK(!memcmp(id, some_id, 16));
		elf_close(&elf);
		elfmaker_fini(&m);
	}
}

/* ---- debug link ---- */

TEST(elf_debug_link_has_its_checksum_aligned)
{
	static const char *const names[] = {"a", "ab", "abc", "abcd", "abcde.debug"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct elfmaker m;
		const char *name;
		struct elf elf;
		struct err err;
		u32 crc;

		elfmaker_init(&m, true, false, EM_X86_64);
		elfmaker_debug_link(&m, names[i], 0xcafe0000 + i);
		elfmaker_finish(&m);
		CHECK_EQ(elf_of_memory(&elf, m.file.at, m.file.n, &err), 0);
		CHECK(elf_debug_link(&elf, &name, &crc));
		CHECK_STR(name, names[i]);
		CHECK_EQ(crc, 0xcafe0000 + i);
		elf_close(&elf);
		elfmaker_fini(&m);
	}
}

TEST(elf_debug_link_without_end_or_checksum_is_none)
{
	static const struct {
		const char *bytes;
		u64 n;
	} rows[] = {{"abc", 3}, {"abc\0", 4}, {"abc\0\1\2\3", 7}, {"abcd\0\0\0", 7}, {"", 0}};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct elfmaker m;
		const char *name;
		struct elf elf;
		struct err err;
		u32 crc;

		elfmaker_init(&m, true, false, EM_X86_64);
		elfmaker_section(&m,
			&(struct elfmaker_section){.name = ".gnu_debuglink",
				.type = SHT_PROGBITS,
				.size = rows[i].n,
				.data = rows[i].bytes});
		elfmaker_finish(&m);
		CHECK_EQ(elf_of_memory(&elf, m.file.at, m.file.n, &err), 0);
		CHECK(!elf_debug_link(&elf, &name, &crc));
		elf_close(&elf);
		elfmaker_fini(&m);
	}
}

/* ---- segments ---- */

TEST(elf_maps_offsets_to_addresses_by_segment)
{
	struct elfmaker m;
	struct elf elf;
	struct err err;
	u64 va = 99;

	elfmaker_init(&m, true, false, EM_X86_64);
	elfmaker_segment(&m, PT_NOTE, PF_X, 0, 0xbad000, 0x10000);
	elfmaker_segment(&m, PT_LOAD, PF_R, 0x0, 0x400000, 0x1800);
	elfmaker_segment(&m, PT_LOAD, PF_R | PF_X, 0x1000, 0x501000, 0x1000);
	elfmaker_segment(&m, PT_LOAD, PF_R | PF_W, 0x1f00, 0x701f00, 0x200);
	elfmaker_finish(&m);
	CHECK_EQ(elf_of_memory(&elf, m.file.at, m.file.n, &err), 0);
	CHECK(elf_address_of_offset(&elf, 0, &va));
	CHECK_EQ(va, 0x400000);
	CHECK(elf_address_of_offset(&elf, 0xfff, &va));
	CHECK_EQ(va, 0x400fff);
	/* Two segments share this piece of the file: code is what gets sampled. */
	CHECK(elf_address_of_offset(&elf, 0x1000, &va));
	CHECK_EQ(va, 0x501000);
	CHECK(elf_address_of_offset(&elf, 0x1fff, &va));
	CHECK_EQ(va, 0x501fff);
	CHECK(elf_address_of_offset(&elf, 0x2000, &va));
	CHECK_EQ(va, 0x702000);
	va = 99;
	CHECK(!elf_address_of_offset(&elf, 0x2100, &va));
	CHECK(!elf_address_of_offset(&elf, UINT64_MAX, &va));
	CHECK_EQ(va, 99);
	elf_close(&elf);
	elfmaker_fini(&m);
}

TEST(elf_with_very_many_sections_says_so_in_the_first)
{
	struct elfmaker m;
	struct elf elf;
	struct err err;

	/* e_shnum 0 and e_shstrndx SHN_XINDEX: the numbers stand in section 0. */
	elfmaker_init(&m, true, false, EM_X86_64);
	elfmaker_section(&m,
		&(struct elfmaker_section){.name = ".text", .type = SHT_PROGBITS, .size = 16});
	m.sections.at[0].size = 3;
	m.sections.at[0].link = 2;
	elfmaker_finish(&m);
	m.file.at[60] = m.file.at[61] = 0;
	m.file.at[62] = m.file.at[63] = (char)0xff;
	CHECK_EQ(elf_of_memory(&elf, m.file.at, m.file.n, &err), 0);
	CHECK_EQ(elf.n_sections, 3);
	CHECK(elf_section(&elf, ".text") == elf_section_at(&elf, 1));
	elf_close(&elf);
	elfmaker_fini(&m);
}

/* ---- files ---- */

TEST(elf_file_is_the_same_as_memory)
{
	const char *path = test_path("file");
	struct elfmaker m;
	struct elf elf;
	struct err err;
	u8 id[BUILD_ID_MAX];

	make_full(&m, &forms[0]);
	test_write(path, m.file.at, m.file.n);
	CHECK_EQ(elf_open(&elf, path, &err), 0);
	CHECK_EQ(elf.size, m.file.n);
	CHECK(!memcmp(elf.data, m.file.at, m.file.n));
	CHECK_EQ(elf_build_id(&elf, id), BUILD_ID_MAX);
	elf_close(&elf);
	elf_close(&elf);
	elfmaker_fini(&m);
}

/* Opening fails at once, with this code and text behind the quoted path. */
static void check_refused(const char *path, int code, const char *before, const char *behind)
{
	char message[512];
	struct elf elf;
	struct err err;

	CHECK_EQ(elf_open(&elf, path, &err), code);
	snprintf(message, sizeof(message), "%s'%s'%s", before, path, behind);
	CHECK_STR(err.msg, message);
}

TEST(elf_open_says_why_not)
{
	const char *path = test_path("file");

	check_refused(test_path("missing"), ERR_NOENT, "opening ", ": No such file or directory");
	check_refused(test_dir(), ERR_FORMAT, "", " is not a regular file");
	test_write(path, "", 0);
	check_refused(path, ERR_FORMAT, "", " is too small for an ELF file");
	test_write(path, "#!/bin/sh\necho something\n", 25);
	check_refused(path, ERR_FORMAT, "", ": it is not an ELF file");
	test_write(path,
		"\x7f"
		"ELF\2\1\1\0\0\0\0\0\0\0\0\0\1\0",
		18);
	check_refused(path, ERR_FORMAT, "", ": its ELF header is cut off");
}

TEST(elf_open_does_not_wait_for_a_fifo)
{
	const char *path = test_path("fifo");

	CHECK_EQ(mkfifo(path, 0600), 0);
	check_refused(path, ERR_FORMAT, "", " is not a regular file");
	/* Nor for a device. */
	check_refused("/dev/zero", ERR_FORMAT, "", " is not a regular file");
}

/* ---- vdso ---- */

TEST(vdso_of_this_process_has_functions)
{
	u8 id[BUILD_ID_MAX], again[BUILD_ID_MAX];
	struct symtab symtab = {0};
	struct elf elf;
	struct err err;
	bool has_clock = false;

	if (vdso_open(&elf, &err))
		SKIP("%s", err.msg);
	CHECK(symtab_add_elf(&symtab, &elf, SHT_DYNSYM) > 0);
	symtab_finish(&symtab);
	vec_each(s, &symtab.symbols)
		has_clock |= strstr(s->name, "clock_gettime") != NULL;
	CHECK(has_clock);
	CHECK_EQ(vdso_build_id(again), elf_build_id(&elf, id));
	CHECK(!memcmp(id, again, elf_build_id(&elf, id)));
	symtab_fini(&symtab);
	elf_close(&elf);
}

/* ---- packed ---- */

/* A section's contents behind the header that says how they are packed. */
static void pack_section(struct str *out, bool is_64, u32 type, const char *plain, size_t n)
{
	uLongf size = compressBound(n) + 64;
	u8 *packed = mem_alloc(size);
	u64 head[3] = {type, n, 1};
	u32 head_32[3] = {type, (u32)n, 1};

	if (type == ELFCOMPRESS_ZLIB)
		CHECK_EQ(compress(packed, &size, (const u8 *)plain, n), Z_OK);
	else
		size = ZSTD_compress(packed, size, plain, n, 1);
	str_clear(out);
	str_addn(out, is_64 ? (void *)head : (void *)head_32,
		is_64 ? sizeof(head) : sizeof(head_32));
	str_addn(out, packed, size);
	mem_free(packed);
}

static bool packed_contents(bool is_64, const struct str *stored, struct str *ret_plain)
{
	struct elfmaker m;
	struct bytes b;
	struct elf elf;
	struct err err;
	bool is_good;

	elfmaker_init(&m, is_64, false, is_64 ? EM_X86_64 : EM_386);
	elfmaker_section(&m,
		&(struct elfmaker_section){.name = ".debug_frame",
			.type = SHT_PROGBITS,
			.flags = SHF_COMPRESSED,
			.size = stored->n,
			.data = stored->at});
	elfmaker_finish(&m);
	CHECK_EQ(elf_of_memory(&elf, m.file.at, m.file.n, &err), 0);
	is_good = elf_contents(&elf, elf_section(&elf, ".debug_frame"), &b);
	/* Asked twice, unpacked once: the same bytes. */
	if (is_good) {
		const u8 *first = b.at;

		CHECK(elf_contents(&elf, elf_section(&elf, ".debug_frame"), &b));
		CHECK(b.at == first);
		str_clear(ret_plain);
		str_addn(ret_plain, b.at, bytes_left(&b));
	}
	elf_close(&elf);
	elfmaker_fini(&m);
	return is_good;
}

TEST(elf_contents_of_packed_sections_are_unpacked)
{
	static const u32 types[] = {ELFCOMPRESS_ZLIB, 2};
	static const char text[] = "so many words, so many words, so many words";

	for (int is_64 = 0; is_64 < 2; is_64++) {
		for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
			struct str stored = {0}, plain = {0};

			pack_section(&stored, is_64, types[i], text, sizeof(text));
			CHECK(packed_contents(is_64, &stored, &plain));
			CHECK_EQ(plain.n, sizeof(text));
			CHECK_STR(plain.at, text);

			/* Another size than it says, a size out of all proportion, a cut, a form
			 * that nobody knows. */
			stored.at[is_64 ? 8 : 4]++;
			CHECK(!packed_contents(is_64, &stored, &plain));
			stored.at[is_64 ? 8 : 4] -= 2;
			CHECK(!packed_contents(is_64, &stored, &plain));
			stored.at[is_64 ? 8 : 4]++;
			stored.at[is_64 ? 11 : 7] = 0x7f;
			CHECK(!packed_contents(is_64, &stored, &plain));
			stored.at[is_64 ? 11 : 7] = 0;
			CHECK(packed_contents(is_64, &stored, &plain));
			for (stored.n--; stored.n; stored.n--)
				CHECK(!packed_contents(is_64, &stored, &plain));
			pack_section(&stored, is_64, types[i], text, sizeof(text));
			stored.at[0] = 77;
			CHECK(!packed_contents(is_64, &stored, &plain));
			str_fini(&stored);
			str_fini(&plain);
		}
	}
}

TEST(elf_open_unpacks_a_file_that_is_packed_as_a_whole)
{
	static const char *const packers[] = {"gzip", "zstd", "xz"};

	for (size_t i = 0; i < ARRAY_SIZE(packers); i++) {
		struct str said = {0};
		struct elfmaker m;
		struct elf elf;
		struct err err;
		int r;

		elfmaker_init(&m, true, false, EM_X86_64);
		elfmaker_function(&m, "in_a_module", 0x1000, 8);
		elfmaker_finish(&m);
		test_write(test_path("m.ko"), m.file.at, m.file.n);
		elfmaker_fini(&m);
		if (outside_run(&said, "%s -c <%s/m.ko >%s/m.packed 2>/dev/null", packers[i],
			    test_dir(), test_dir()))
			continue;
		r = elf_open(&elf, test_path("m.packed"), &err);
#ifndef PACE_HAS_LZMA
		if (r == ERR_UNSUPPORTED)
			continue;
#endif
		CHECK_EQ(r, 0);
		CHECK(elf_section_of_type(&elf, SHT_SYMTAB));
		elf_close(&elf);

		/* Packed nonsense is no ELF file. */
		CHECK_EQ(outside_run(&said, "seq 100 | %s -c >%s/m.packed", packers[i], test_dir()),
			0);
		CHECK_EQ(elf_open(&elf, test_path("m.packed"), &err), ERR_FORMAT);
		CHECK_HAS(err.msg, "it is not an ELF file");
		str_fini(&said);
	}
}
