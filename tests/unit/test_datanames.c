#include "test.h"

#include "symbol/types/datanames.h"
#include "unit/elfmaker.h"

/* .text with a function that has no size, .rodata right behind it, .data with an object. */
static void open_program(struct elf *elf, const char *constants, size_t n)
{
	struct elfmaker m;
	struct err err;
	u32 data;

	elfmaker_init(&m, true, false, EM_X86_64);
	elfmaker_text(&m, 0x1000, 0x1000, NULL, 0x20);
	elfmaker_section(&m,
		&(struct elfmaker_section){.name = ".rodata",
			.type = SHT_PROGBITS,
			.flags = SHF_ALLOC,
			.addr = 0x2000,
			.offset = 0x2000,
			.size = n,
			.data = constants});
	elfmaker_segment(&m, PT_LOAD, PF_R, 0x2000, 0x2000, n);
	data = elfmaker_section(&m,
		&(struct elfmaker_section){.name = ".data",
			.type = SHT_PROGBITS,
			.flags = SHF_ALLOC | SHF_WRITE,
			.addr = 0x3000,
			.offset = 0x3000,
			.size = 0x100,
			.data = NULL});
	elfmaker_function(&m, "_fini", 0x1000, 0);
	elfmaker_symbol(&m, SHT_SYMTAB, "table", STB_LOCAL, STT_OBJECT, (u16)data, 0x3010, 0x20);
	elfmaker_symbol(&m, SHT_SYMTAB, "end", STB_GLOBAL, STT_NOTYPE, (u16)data, 0x3040, 0);
	elfmaker_finish(&m);
	test_write(test_path("prog"), m.file.at, m.file.n);
	elfmaker_fini(&m);
	if (elf_open(elf, test_path("prog"), &err))
		test_failed(__FILE__, __LINE__, "%s", err.msg);
}

TEST(data_is_named_after_the_object_it_lies_in_and_after_no_function)
{
	struct datanames d = {0};
	const struct symbol *s;
	struct elf elf;

	open_program(&elf, "x", 2);
	CHECK(!datanames_is_data(&elf, 0x1008));
	CHECK(datanames_is_data(&elf, 0x2000));
	CHECK(!datanames_is_data(&elf, 0x2002));
	s = datanames_find(&d, &elf, 0x302f);
	CHECK(s);
	CHECK_STR(s->name, "table");
	CHECK_EQ(s->start, 0x3010);
	CHECK(!datanames_find(&d, &elf, 0x3030));
	CHECK(!datanames_find(&d, &elf, 0x3040));
	CHECK(!datanames_find(&d, &elf, 0x2000));
	CHECK(!datanames_find(&d, &elf, 0x1004));
	datanames_fini(&d);
	elf_close(&elf);
}

TEST(constant_text_is_shown_if_it_is_text)
{
	/* A string; one with a control character; a short one; a long one; one that the section ends. */
	static const char constants[] = "hello\0ab\x1b[31m\0ok\0"
					"0123456789012345678901234567890123456789more\0unended";
	struct elf elf;
	bool is_cut;
	size_t n;
	const char *text;

	open_program(&elf, constants, sizeof(constants) - 1);
	text = datanames_text(&elf, 0x2000, &n, &is_cut);
	CHECK(text && n == 5 && !memcmp(text, "hello", 5) && !is_cut);
	text = datanames_text(&elf, 0x2001, &n, &is_cut);
	CHECK(text && n == 4);
	CHECK(!datanames_text(&elf, 0x2006, &n, &is_cut));
	CHECK(!datanames_text(&elf, 0x200e, &n, &is_cut));
	text = datanames_text(&elf, 0x2011, &n, &is_cut);
	CHECK(text && n == DATANAMES_TEXT_MAX && is_cut);
	CHECK(!datanames_text(&elf, 0x2011 + 45, &n, &is_cut));
	/* What may be written is no constant; what is not there is nothing. */
	CHECK(!datanames_text(&elf, 0x3000, &n, &is_cut));
	CHECK(!datanames_text(&elf, 0x9000, &n, &is_cut));
	elf_close(&elf);
}
