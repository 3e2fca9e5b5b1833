#include "event/dynevents.h"
#include "symbol/probe/probetext.h"
#include "symbol/probe/stapnote.h"

#include "arch/arch.h"
#include "test.h"

TEST(probetext_reads_places_of_all_kinds)
{
	static const struct {
		const char *text, *function, *file;
		u64 line, offset;
		bool is_return;
	} cases[] = {
		{"lookup", "lookup", NULL, 0, 0, false},
		{"lookup:12 key", "lookup", NULL, 12, 0, false},
		{"lookup:0", "lookup", NULL, 0, 0, false},
		{"lookup+0x10", "lookup", NULL, 0, 16, false},
		{"lookup%return", "lookup", NULL, 0, 0, true},
		{"lookup@src/a.c:3", "lookup", "src/a.c", 3, 0, false},
		{"prog.c:120", NULL, "prog.c", 120, 0, false},
		{"shop::take:4", "shop::take", NULL, 4, 0, false},
		{"work.constprop.0+4", "work.constprop.0", NULL, 0, 4, false},
		{"work.cold", "work.cold", NULL, 0, 0, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct probe_text t;
		struct err err;

		CHECK_EQ(probetext_parse(&t, cases[i].text, &err), 0);
		CHECK_EQ(!t.function, !cases[i].function);
		CHECK_EQ(!t.file, !cases[i].file);
		if (t.function)
			CHECK_STR(t.function, cases[i].function);
		if (t.file)
			CHECK_STR(t.file, cases[i].file);
		CHECK_EQ(t.line, cases[i].line);
		CHECK_EQ(t.offset, cases[i].offset);
		CHECK_EQ(t.is_return, cases[i].is_return);
		probetext_fini(&t);
	}
}

TEST(probetext_reads_names_members_elements_and_types)
{
	struct probe_text t;
	struct err err;

	CHECK_EQ(probetext_parse(&t,
			 "g:e=lookup len=s->in.b[3]:u32 %di:x64 $vars x@user ret=$retval", &err),
		0);
	CHECK_STR(t.group, "g");
	CHECK_STR(t.event, "e");
	CHECK_EQ(t.args.n, 5);
	CHECK_STR(t.args.at[0].name, "len");
	CHECK_STR(t.args.at[0].text, "s");
	CHECK_STR(t.args.at[0].type, "u32");
	CHECK_EQ(t.args.at[0].members.n, 3);
	CHECK(t.args.at[0].members.at[0].is_arrow);
	CHECK(!t.args.at[0].members.at[1].is_arrow);
	CHECK_EQ(t.args.at[0].members.at[2].index, 3);
	CHECK_EQ(t.args.at[1].kind, PROBE_ARG_KERNEL);
	CHECK_STR(t.args.at[1].text, "%di");
	CHECK_EQ(t.args.at[2].kind, PROBE_ARG_VARS);
	CHECK_EQ(t.args.at[3].kind, PROBE_ARG_VARIABLE);
	CHECK_STR(t.args.at[3].text, "x");
	CHECK_STR(t.args.at[4].text, "$retval");
	probetext_fini(&t);
}

TEST(probetext_reads_markers)
{
	static const char *const texts[] = {"%shop:sale", "%sdt_shop:sale", "sdt_shop:sale",
		"g:e=%shop:sale"};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct probe_text t;
		struct err err;

		CHECK_EQ(probetext_parse(&t, texts[i], &err), 0);
		CHECK_STR(t.provider, "shop");
		CHECK_STR(t.mark, "sale");
		probetext_fini(&t);
	}
}

TEST(probetext_refuses_what_makes_no_sense)
{
	static const char *const texts[] = {"", " ", "lookup:", "lookup:x", "lookup+", "lookup:3+4",
		"lookup%return:3", "lookup%back", "prog.c", "a-b=lookup", "1=lookup", "lookup@",
		"lookup;", "0x", "0x12z", "lookup s->", "lookup s[", "lookup s[x]", "lookup s[1",
		"lookup a-b=c", "lookup a=", "lookup x:", "lookup ->a", "lookup%return key",
		"lookup n=$vars", "%:sale", "%shop:"};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct probe_text t;
		struct err err = {0};

		if (probetext_parse(&t, texts[i], &err) != ERR_INVAL)
			test_failed(__FILE__, __LINE__, "'%s' was taken", texts[i]);
		CHECK(*err.msg);
		probetext_fini(&t);
	}
}

TEST(probelines_reads_ranges)
{
	static const struct {
		const char *text;
		u64 from, to;
	} cases[] = {{"f", 0, 0}, {"f:3", 3, 0}, {"f:3+4", 3, 6}, {"f:3-9", 3, 9},
		{"a.c:7+0", 7, 7}};
	struct probe_lines l;
	struct err err;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CHECK_EQ(probelines_parse(&l, cases[i].text, &err), 0);
		CHECK_EQ(l.from, cases[i].from);
		CHECK_EQ(l.to, cases[i].to);
		probelines_fini(&l);
	}
	CHECK_EQ(probelines_parse(&l, "f:9-3", &err), ERR_INVAL);
	probelines_fini(&l);
}

TEST(dynevents_reads_what_the_kernel_lists)
{
	struct dynevents d = {0};

	dynevents_parse(&d, DYNEVENT_UPROBE,
		"p:probe_a/f /bin/a:0x0000000000001234 x=%di:s32 y=+0(%si):string\n"
		"r:probe_a/f__return /bin/a:0x1234\nnonsense\np:without_slash /bin/a:0x1\np:a/b\n");
	CHECK_EQ(d.at.n, 2);
	CHECK_STR(d.at.at[0].group, "probe_a");
	CHECK_STR(d.at.at[0].name, "f");
	CHECK_STR(d.at.at[0].place, "/bin/a:0x0000000000001234");
	CHECK_STR(d.at.at[0].args, "x=%di:s32 y=+0(%si):string");
	CHECK(d.at.at[1].is_return);
	CHECK_STR(d.at.at[1].args, "");
	dynevents_fini(&d);
}

TEST(stapnote_arguments_become_what_the_kernel_fetches)
{
	static const struct {
		const struct arch *arch;
		const char *args, *fetched;
	} cases[] = {
		{&arch_x86_64, "-4@%eax 8@%rdi 1@%al 2@%r8w 8@%r15",
			" arg1=%ax:s32 arg2=%di:u64 arg3=%ax:u8 arg4=%r8:u16 arg5=%r15:u64"},
		{&arch_x86_64, "-4@-20(%rbp) 8@(%rax) 4@$-7",
			" arg1=-20(%bp):s32 arg2=+0(%ax):u64 arg3=\\-7:u32"},
		{&arch_x86_64, "4@%ecx 8@table(%rip) 4@%eax", " arg1=%cx:u32"},
		{&arch_x86_64, "1@%dil 1@%bpl", " arg1=%di:u8 arg2=%bp:u8"},
		{&arch_arm64, "-4@[sp, 12] 8@x0 4@w3 4@5",
			" arg1=+12(%sp):s32 arg2=%x0:u64 arg3=%x3:u32 arg4=\\5:u32"},
		{&arch_x86_64, "", ""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct stapnote n = {.args = cases[i].args};
		struct str text = {0};

		stapnote_add_args(&n, cases[i].arch, &text);
		CHECK_STR(str_text(&text), cases[i].fetched);
		str_fini(&text);
	}
}
