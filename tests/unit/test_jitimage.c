#include "test.h"

#include <fcntl.h>
#include <unistd.h>

#include "symbol/elf/elf.h"
#include "symbol/elf/symtab.h"
#include "symbol/jit/jitimage.h"
#include "unit/jitmaker.h"

static void read_dump(struct jitdump *d, struct jitmaker *m)
{
	const char *path = test_path("jit-42.dump");
	struct jitdump_event e;
	struct err err;
	int fd;

	test_write(path, m->file.at, m->file.n);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(fd >= 0);
	CHECK_EQ(jitdump_open(d, fd, &err), 0);
	while (jitdump_next(d, &e, &err) > 0)
		;
	jitmaker_fini(m);
}

static void make_elf(struct elf *elf, const struct jitdump *d, size_t code, u8 *id)
{
	const char *path = test_path("jitted.so");
	struct jitimage image;
	struct err err;

	CHECK_EQ(jitimage_make(d, &d->codes.at[code], &image, &err), 0);
	test_write(path, image.file.at, image.file.n);
	memcpy(id, image.build_id, JITIMAGE_BUILD_ID);
	str_fini(&image.file);
	CHECK_EQ(elf_open(elf, path, &err), 0);
}

TEST(jitimage_is_a_file_with_the_code_its_name_and_its_tables_for_unwinding)
{
	struct jitmaker m;
	struct jitdump d;
	struct elf elf;
	u8 id[JITIMAGE_BUILD_ID], read[BUILD_ID_MAX];
	const struct elf_section *text, *frames, *header;
	const u8 *bytes;
	u64 va;

	jitmaker_init(&m, false, 0);
	jitmaker_unwinding(&m, "frames of it", 12, "head", 4);
	jitmaker_load(&m, 100, 1, 0x1000, 0x13, "one");
	read_dump(&d, &m);
	make_elf(&elf, &d, 0, id);
	text = elf_section(&elf, ".text");
	frames = elf_section(&elf, ".eh_frame");
	header = elf_section(&elf, ".eh_frame_hdr");
	CHECK(text && frames && header);
	bytes = elf_bytes_at(&elf, JITIMAGE_TEXT, 0x13);
	CHECK(bytes && bytes[0] == 0xcc && bytes[0x12] == 0xcc);
	/* Addresses in the tables count from their place: it is as far from the code as in memory. */
	bytes = elf_bytes_at(&elf, align_up(JITIMAGE_TEXT + 0x13, 8), 16);
	CHECK(bytes && !memcmp(bytes, "frames of ithead", 16));
	CHECK(elf_address_of_offset(&elf, JITIMAGE_TEXT, &va) && va == JITIMAGE_TEXT);
	CHECK_EQ(elf_build_id(&elf, read), JITIMAGE_BUILD_ID);
	CHECK(!memcmp(id, read, JITIMAGE_BUILD_ID));
	elf_close(&elf);
	jitdump_close(&d);
}

TEST(jitimage_has_another_build_id_for_another_name_or_code)
{
	static const struct {
		u64 size;
		const char *name;
	} codes[] = {{0x20, "one"}, {0x20, "two"}, {0x21, "one"}, {0x20, "one"}};
	u8 ids[ARRAY_SIZE(codes)][JITIMAGE_BUILD_ID];
	struct jitmaker m;
	struct jitdump d;

	jitmaker_init(&m, false, 0);
	for (size_t i = 0; i < ARRAY_SIZE(codes); i++)
		jitmaker_load(&m, 100, i, 0x1000, codes[i].size, codes[i].name);
	read_dump(&d, &m);
	for (size_t i = 0; i < ARRAY_SIZE(codes); i++) {
		struct elf elf;

		make_elf(&elf, &d, i, ids[i]);
		elf_close(&elf);
	}
	for (size_t i = 1; i < ARRAY_SIZE(codes); i++)
		CHECK_EQ(!memcmp(ids[0], ids[i], sizeof(ids[0])), i == 3);
	jitdump_close(&d);
}

TEST(jitimage_refuses_the_other_byte_order)
{
	struct jitmaker m;
	struct jitdump d;
	struct jitimage image;
	struct err err;

	jitmaker_init(&m, true, 0);
	jitmaker_load(&m, 100, 1, 0x1000, 0x20, "one");
	read_dump(&d, &m);
	CHECK_EQ(jitimage_make(&d, &d.codes.at[0], &image, &err), ERR_UNSUPPORTED);
	CHECK_HAS(err.msg, "byte order");
	jitdump_close(&d);
}

TEST(jitimage_says_that_code_is_gone)
{
	struct jitmaker m;
	struct jitdump d;
	struct jitimage image;
	struct err err;

	jitmaker_init(&m, false, 0);
	jitmaker_load(&m, 100, 1, 0x1000, 0x20, "one");
	read_dump(&d, &m);
	CHECK_EQ(truncate(test_path("jit-42.dump"), 60), 0);
	CHECK_EQ(jitimage_make(&d, &d.codes.at[0], &image, &err), ERR_NOENT);
	jitdump_close(&d);
}
