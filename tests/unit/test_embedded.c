#include "test.h"

#include <unistd.h>
#include <zstd.h>

#include "symbol/embed/embedunion.h"
#include "symbol/embed/frames.h"
#include "symbol/jit/jitdump.h"

/* A section with a file, the kernel and a dump in it. */
static void make_section(struct str *section)
{
	static const struct line_frame chain[] = {{"inner", "a.h", "/src", 3, 1},
		{"middle", "a.h", "/src", 30, 2}, {"outer", "a.c", "/src", 300, 0}};
	struct dso file = {.kind = DSO_FILE, .path = "/bin/a", .build_id_size = 4},
		   kernel = {.kind = DSO_KERNEL, .path = "[kernel.kallsyms]"};
	struct embedded_dso *d;
	struct embedder e;
	struct err err;
	u32 source;

	memcpy(file.build_id, "\1\2\3\4", 4);
	embedder_init(&e);
	d = embedder_add_dso(&e, &file);
	d->flags = EMBEDDED_HAS_IMAGE | EMBEDDED_HAS_LINES;
	d->reason = embedder_string(&e, "half of it is missing");
	embedder_add_segment(&e, 0x1000, 0x401000, 0x1000);
	embedder_add_symbol(&e, &(struct embedded_name){0x401000, 0x401100, "outer", ORIGIN_TABLE});
	embedder_add_symbol(&e,
		&(struct embedded_name){0x401040, 0x401080, "nested", ORIGIN_TABLE});
	embedder_add_symbol(&e, &(struct embedded_name){0x401200, 0x401210, "write", ORIGIN_PLT});
	source = embedder_source(&e, chain, 3);
	embedder_add_place(&e, 0x401010, 0, source, LINE_GAP_NONE);
	embedder_add_place(&e, 0x401050, 1, EMBEDDED_NOTHING, LINE_GAP_NONE);
	embedder_add_place(&e, 0x401150, EMBEDDED_NOTHING, EMBEDDED_NOT_ASKED, LINE_GAP_NONE);
	embedder_add_place(&e, 0x401204, 2, embedder_source(&e, chain + 1, 2), LINE_GAP_NONE);
	embedder_add_code(&e, 0x401000, "\x55\x48\x89\xe5\xc3", 5);
	embedder_add_frame(&e, 0x401000, 0x401100, 24, 0);
	embedder_add_section(&e, 0, 0x402000, 64, 0x401000, 0x403000, EMBEDDED_IS_64);
	embedder_add_section_piece(&e, 24, "abcdefgh", 8);
	embedder_add_dso(&e, &kernel);
	embedder_add_symbol(&e,
		&(struct embedded_name){0xffffffff81000000, 0xffffffff81000040, "vfs_read",
			ORIGIN_TABLE});
	embedder_add_dump(&e, "/tmp/jit-7.dump", 7, 0x200000000);
	embedder_add_piece(&e, 0, "header", 6);
	embedder_add_piece(&e, 100, "a record", 8);
	embedder_add_piece(&e, 0x180000000, "the last", 8);
	CHECK_EQ(embedder_finish(&e, section, &err), 0);
	embedder_fini(&e);
}

static void open_section(struct embedded *e, const struct str *section)
{
	struct err err;

	CHECK_EQ(embedded_of_memory(e, section->at, section->n, &err), 0);
}

/* "start-end name", or how it is not known. */
static const char *name_at(const struct embedded *e, const struct embedded_dso *d, u64 at)
{
	static char text[128];
	struct embedded_name name;

	switch (embedded_find_name(e, d, at, &name)) {
	case EMBEDDED_FOUND:
		snprintf(text, sizeof(text), "%llx-%llx %s%s", (unsigned long long)name.start,
			(unsigned long long)name.end, name.name,
			name.origin == ORIGIN_PLT ? "@plt" : "");
		return text;
	case EMBEDDED_NONE:
		return "none";
	case EMBEDDED_UNKNOWN:
		break;
	}
	return "unknown";
}

TEST(embedded_names_are_found_where_they_were_and_in_the_functions_that_are_known)
{
	struct dso file = {.kind = DSO_FILE, .path = "/bin/a"};
	struct str section = {0};
	struct embedded e;
	struct embedded_dso d;
	u64 va;

	make_section(&section);
	open_section(&e, &section);
	CHECK(embedded_find_dso(&e, &file, &d));
	CHECK_STR(embedded_string(&e, d.reason), "half of it is missing");
	CHECK(embedded_address_of_offset(&e, &d, 0x1010, &va));
	CHECK_EQ(va, 0x401010);
	CHECK(!embedded_address_of_offset(&e, &d, 0x2000, &va));
	CHECK_STR(name_at(&e, &d, 0x401010), "401000-401100 outer");
	CHECK_STR(name_at(&e, &d, 0x401050), "401040-401080 nested");
	CHECK_STR(name_at(&e, &d, 0x401204), "401200-401210 write@plt");
	CHECK_STR(name_at(&e, &d, 0x401150), "none");
	/* Nobody asked for these: the innermost function that is known. */
	CHECK_STR(name_at(&e, &d, 0x401060), "401040-401080 nested");
	CHECK_STR(name_at(&e, &d, 0x401090), "401000-401100 outer");
	CHECK_STR(name_at(&e, &d, 0x401160), "unknown");
	CHECK_STR(name_at(&e, &d, 0x400000), "unknown");
	embedded_close(&e);
	str_fini(&section);
}

TEST(embedded_chains_have_their_frames_and_three_answers)
{
	struct dso file = {.kind = DSO_FILE, .path = "/bin/a"};
	struct line_frame frames[LINE_DEPTH_MAX];
	struct str section = {0};
	struct embedded_dso d;
	struct embedded e;
	size_t n;

	make_section(&section);
	open_section(&e, &section);
	CHECK(embedded_find_dso(&e, &file, &d));
	CHECK_EQ(embedded_find_chain(&e, &d, 0x401010, frames, &n), EMBEDDED_FOUND);
	CHECK_EQ(n, 3);
	CHECK_STR(frames[0].function, "inner");
	CHECK_EQ(frames[0].line, 3);
	CHECK_STR(frames[1].function, "middle");
	CHECK_STR(frames[2].file, "a.c");
	CHECK_STR(frames[2].dir, "/src");
	/* Callers are stored once. */
	CHECK_EQ(embedded_count(&e, EMBEDDED_SOURCES), 3);
	CHECK_EQ(embedded_find_chain(&e, &d, 0x401204, frames, &n), EMBEDDED_FOUND);
	CHECK_EQ(n, 2);
	CHECK_EQ(embedded_find_chain(&e, &d, 0x401050, frames, &n), EMBEDDED_NONE);
	CHECK_EQ(embedded_find_chain(&e, &d, 0x401150, frames, &n), EMBEDDED_UNKNOWN);
	CHECK_EQ(embedded_find_chain(&e, &d, 0x401011, frames, &n), EMBEDDED_UNKNOWN);
	embedded_close(&e);
	str_fini(&section);
}

TEST(embedded_files_of_another_build_or_kind_are_others)
{
	struct dso same = {.kind = DSO_FILE, .path = "/bin/a", .build_id_size = 4},
		   other = {.kind = DSO_FILE, .path = "/bin/a", .build_id_size = 4},
		   kind = {.kind = DSO_VDSO, .path = "/bin/a"},
		   kernel = {.kind = DSO_KERNEL, .path = "[kernel.kallsyms]", .build_id_size = 1};
	struct str section = {0};
	struct embedded_dso d;
	struct embedded e;

	memcpy(same.build_id, "\1\2\3\4", 4);
	make_section(&section);
	open_section(&e, &section);
	CHECK(embedded_find_dso(&e, &same, &d));
	CHECK(!embedded_find_dso(&e, &other, &d));
	CHECK(!embedded_find_dso(&e, &kind, &d));
	/* Of the kernel no build-id was known then. */
	CHECK(embedded_find_dso(&e, &kernel, &d));
	CHECK_STR(name_at(&e, &d, 0xffffffff81000004),
		"ffffffff81000000-ffffffff81000040 vfs_read");
	embedded_close(&e);
	str_fini(&section);
}

TEST(embedded_code_is_handed_out_from_any_of_its_bytes_on)
{
	struct dso file = {.kind = DSO_FILE, .path = "/bin/a"};
	struct str section = {0};
	const u8 *bytes = NULL;
	u64 before;
	struct embedded_dso d;
	struct embedded e;

	make_section(&section);
	open_section(&e, &section);
	CHECK(embedded_find_dso(&e, &file, &d));
	CHECK_EQ(embedded_find_code(&e, &d, 0x401003, &bytes, &before), 2);
	CHECK(bytes && bytes[0] == 0xe5 && bytes[1] == 0xc3);
	CHECK_EQ(embedded_find_code(&e, &d, 0x401005, &bytes, &before), 0);
	CHECK_EQ(embedded_find_code(&e, &d, 0x400fff, &bytes, &before), 0);
	embedded_close(&e);
	str_fini(&section);
}

TEST(embedded_dumps_are_files_whose_holes_are_records)
{
	u32 prefix[4] = {0}, n_records = 0;
	struct str section = {0};
	struct embedded e;
	struct err err;
	char text[9] = "";
	int fd = -1;

	make_section(&section);
	open_section(&e, &section);
	CHECK_EQ(embedded_open_dump(&e, "/tmp/jit-7.dump", 8, &fd, &err), ERR_NOENT);
	CHECK_EQ(embedded_open_dump(&e, "/tmp/jit-7.dump", 7, &fd, &err), 0);
	CHECK_EQ(pread(fd, text, 8, 100), 8);
	CHECK_STR(text, "a record");
	CHECK_EQ(pread(fd, text, 8, 0x180000000), 8);
	CHECK_STR(text, "the last");
	/* From the first hole to the second piece, and on to the third. */
	for (u64 at = 6; at < 0x180000000; at += prefix[1], n_records++) {
		if (at == 100)
			at += 8;
		CHECK_EQ(pread(fd, prefix, sizeof(prefix), (off_t)at), sizeof(prefix));
		CHECK_EQ(prefix[0], JITDUMP_NOTHING);
		CHECK(prefix[1] >= sizeof(prefix));
	}
	CHECK_EQ(n_records, 1 + 3);
	close(fd);
	embedded_close(&e);
	str_fini(&section);
}

TEST(embedded_frames_lie_where_they_were_in_their_section)
{
	struct dso file = {.kind = DSO_FILE, .path = "/bin/a"};
	struct str section = {0};
	struct embedded_dso d;
	struct embedded e;
	struct frames f;

	make_section(&section);
	open_section(&e, &section);
	CHECK(embedded_find_dso(&e, &file, &d));
	CHECK(frames_open(&f, &e, &d));
	CHECK_EQ(f.cfi.eh_frame.bytes.offset, 0x402000);
	CHECK_EQ(bytes_left(&f.cfi.eh_frame.bytes), 64);
	CHECK(!memcmp(f.cfi.eh_frame.bytes.at + 24, "abcdefgh", 8));
	CHECK_EQ(f.cfi.index.n, 1);
	frames_close(&f);
	embedded_close(&e);
	str_fini(&section);
}

/* All that can be asked of a section. */
static void ask_everything(const struct embedded *e)
{
	struct line_frame frames[LINE_DEPTH_MAX];
	struct embedded_dump dump;
	struct embedded_dso d;
	struct embedder copy;
	struct str again = {0};
	struct err err;

	for (u64 i = 0; embedded_entry(e, EMBEDDED_DSOS, i, &d, sizeof(d)); i++) {
		static const u64 at[] = {0, 0x401003, 0x401010, 0x401050, 0x401150, 0x401204,
			0xffffffff81000004, UINT64_MAX};

		for (size_t k = 0; k < ARRAY_SIZE(at); k++) {
			const u8 *bytes;
			u64 va, before;
			size_t n;

			name_at(e, &d, at[k]);
			embedded_find_chain(e, &d, at[k], frames, &n);
			embedded_find_code(e, &d, at[k], &bytes, &before);
			embedded_address_of_offset(e, &d, at[k], &va);
		}
	}
	for (u64 i = 0; embedded_entry(e, EMBEDDED_DUMPS, i, &dump, sizeof(dump)); i++) {
		const char *path = embedded_string(e, dump.path);
		int fd;

		if (path && !embedded_open_dump(e, path, dump.pid, &fd, &err))
			close(fd);
	}
	embedder_init(&copy);
	embedunion_add(&copy, e, 1);
	embedder_finish(&copy, &again, &err);
	embedder_fini(&copy);
	str_fini(&again);
}

/* The same section, not packed. */
static void make_plain(struct str *plain)
{
	struct embedded_header h = {EMBEDDED_MAGIC, EMBEDDED_VERSION, 0, 0};
	struct str section = {0};
	struct embedded e;

	make_section(&section);
	open_section(&e, &section);
	h.size = e.n_unpacked;
	str_addn(plain, &h, sizeof(h));
	str_addn(plain, e.data, e.n_unpacked);
	embedded_close(&e);
	str_fini(&section);
}

TEST(embedded_sections_that_end_anywhere_are_refused)
{
	struct str section = {0}, plain = {0};
	struct embedded e;
	struct err err;

	make_section(&section);
	for (size_t n = 0; n < section.n; n++) {
		u8 *exact = mem_alloc(n + 1);

		memcpy(exact, section.at, n);
		CHECK(embedded_of_memory(&e, exact, n, &err) < 0);
		mem_free(exact);
	}
	make_plain(&plain);
	for (size_t n = 0; n < plain.n; n++)
		CHECK(embedded_of_memory(&e, plain.at, n, &err) < 0);
	CHECK_EQ(embedded_of_memory(&e, plain.at, plain.n, &err), 0);
	embedded_close(&e);
	str_fini(&section);
	str_fini(&plain);
}

/* As a few kilobytes of zstd can be a gigabyte of nothing. */
TEST(embedded_sections_that_would_fill_the_memory_are_refused)
{
	enum { CLAIMED = 1 << 30 };
	u8 *nothing = mem_zalloc(CLAIMED / 8);
	struct str plain = {0}, bomb = {0};
	struct embedded_header h;
	struct embedded e;
	struct err err;
	size_t n;

	make_plain(&plain);
	memcpy(&h, plain.at, sizeof(h));
	h.size = CLAIMED;
	memcpy(plain.at, &h, sizeof(h));
	CHECK_EQ(embedded_of_memory(&e, plain.at, plain.n, &err), ERR_LIMIT);
	CHECK_HAS(err.msg, "says it has 1073741824 bytes unpacked, more than 3");
	/* What it says may be true. */
	h.size = CLAIMED / 8;
	h.packing = EMBEDDED_ZSTD;
	str_addn(&bomb, &h, sizeof(h));
	str_reserve(&bomb, 1 << 20);
	n = ZSTD_compress(bomb.at + bomb.n, 1 << 20, nothing, CLAIMED / 8, 1);
	CHECK(!ZSTD_isError(n) && n < 1 << 16);
	CHECK_EQ(embedded_of_memory(&e, bomb.at, bomb.n + n, &err), ERR_LIMIT);
	mem_free(nothing);
	str_fini(&plain);
	str_fini(&bomb);
}

TEST(embedded_sections_with_any_byte_damaged_hurt_nobody)
{
	static const u8 damages[] = {0x00, 0xff, 0x80, 0x01};
	struct str plain = {0};
	struct embedded e;
	struct err err;

	make_plain(&plain);
	for (size_t i = 0; i < plain.n; i++)
		for (size_t k = 0; k < ARRAY_SIZE(damages); k++) {
			char before = plain.at[i];

			plain.at[i] = (char)(k < 2 ? damages[k] : (u8)before ^ damages[k]);
			/* Terabytes of holes are refused elsewhere; here they would only take time. */
			if (!embedded_of_memory(&e, plain.at, plain.n, &err)) {
				ask_everything(&e);
				embedded_close(&e);
			}
			plain.at[i] = before;
		}
	str_fini(&plain);
}

TEST(embedded_sections_of_later_versions_say_so)
{
	struct str plain = {0};
	struct embedded e;
	struct err err;

	make_plain(&plain);
	plain.at[8] = 2;
	CHECK_EQ(embedded_of_memory(&e, plain.at, plain.n, &err), ERR_UNSUPPORTED);
	CHECK_STR(err.msg, "section EMBEDDED is of version 2, this pace reads version 1");
	plain.at[8] = 1;
	plain.at[12] = 9;
	CHECK_EQ(embedded_of_memory(&e, plain.at, plain.n, &err), ERR_UNSUPPORTED);
	str_fini(&plain);
}

TEST(embedded_sections_copied_without_what_is_there_are_the_same)
{
	struct str section = {0}, again = {0};
	struct embedder copy;
	struct embedded e;
	struct err err;

	make_section(&section);
	open_section(&e, &section);
	embedder_init(&copy);
	embedunion_add(&copy, &e, 1);
	/* What is there already is not taken twice. */
	embedunion_add(&copy, &e, 1);
	CHECK_EQ(embedder_finish(&copy, &again, &err), 0);
	embedder_fini(&copy);
	embedded_close(&e);
	open_section(&e, &again);
	CHECK_EQ(embedded_count(&e, EMBEDDED_DSOS), 2);
	CHECK_EQ(embedded_count(&e, EMBEDDED_DUMPS), 1);
	CHECK_EQ(embedded_count(&e, EMBEDDED_PLACES), 4);
	ask_everything(&e);
	embedded_close(&e);
	str_fini(&section);
	str_fini(&again);
}

TEST(embedded_files_that_had_one_path_in_turn_are_taken_over_each)
{
	struct dso file = {.kind = DSO_FILE, .path = "/bin/a"};
	struct str section = {0};
	struct embedder all;
	struct embedded e;
	struct err err;

	embedder_init(&all);
	embedder_add_dso(&all, &file);
	file.nth = 1;
	embedder_add_dso(&all, &file);
	CHECK_EQ(embedder_finish(&all, &section, &err), 0);
	embedder_fini(&all);
	open_section(&e, &section);
	/* Of the first one something is known already. */
	embedder_init(&all);
	file.nth = 0;
	embedder_add_dso(&all, &file);
	embedunion_add(&all, &e, 1);
	CHECK_EQ(all.dsos.n, 2);
	CHECK_EQ(all.dsos.at[1].nth, 1);
	embedder_fini(&all);
	embedded_close(&e);
	str_fini(&section);
}
