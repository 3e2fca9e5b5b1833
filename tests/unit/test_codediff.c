#include "test.h"

#include "profile/diff/codediff.h"

/* A side made by hand: instructions as text, where jumps go, samples. */
struct written {
	const char *text;
	enum isa_flow flow;
	u32 to; /* row + 1; 0: nowhere */
	u64 n_samples;
};

struct code_case {
	struct profile profile;
	struct annotation annotation;
	struct annotation_function function;
	struct annotation_count total;
	struct assembly assembly;
};

static void case_init(struct code_case *c, const struct written *rows, size_t n)
{
	struct assembly *a = &c->assembly;
	struct annotation_count own = {0};

	memset(c, 0, sizeof(*c));
	vec_add(&c->profile.events, ((struct profile_event){.name = "cycles"}));
	for (size_t i = 0; i < n; i++) {
		u64 va = 0x1000 + 4 * i;

		vec_add(&a->disasm.listing.instructions,
			((struct instruction){.va = va,
				.size = 4,
				.text = (u32)a->disasm.listing.texts.n,
				.flow = (u8)rows[i].flow,
				.has_target = rows[i].to != 0}));
		str_addn(&a->disasm.listing.texts, rows[i].text, strlen(rows[i].text) + 1);
		vec_add(&a->rows,
			((struct assembly_row){.va = va,
				.size = 4,
				.to = rows[i].to ? rows[i].to - 1 : ASSEMBLY_NONE,
				.counts = i}));
		vec_add(&a->counts,
			((struct annotation_count){rows[i].n_samples, 10 * rows[i].n_samples}));
		own.n_samples += rows[i].n_samples;
	}
	own.period = 10 * own.n_samples;
	/* Half of the run was elsewhere. */
	c->total = (struct annotation_count){2 * own.n_samples, 2 * own.period};
	c->annotation.profile = &c->profile;
	c->annotation.totals = &c->total;
	vec_add(&c->annotation.counts, own);
	a->annotation = &c->annotation;
	a->function = &c->function;
}

static void case_fini(struct code_case *c)
{
	vec_fini(&c->profile.events);
	vec_fini(&c->annotation.counts);
	vec_fini(&c->assembly.rows);
	vec_fini(&c->assembly.counts);
	listing_fini(&c->assembly.disasm.listing);
}

/* Parts as "A's rows|B's rows", each line marked: " " same, "~", "-", "+"; "!" moved. */
static void check(const struct written *a, size_t n, const struct written *b, size_t m,
	const char *expected)
{
	static const char marks[] = " ~-+";
	const struct codediff_event event = {{0, 0}};
	struct code_case of_a, of_b;
	struct str text = {0};
	struct codediff d;
	u64 sums[2] = {0};

	case_init(&of_a, a, n);
	case_init(&of_b, b, m);
	codediff_init(&d, &of_a.assembly, &of_b.assembly, &event, 1);
	vec_each(part, &d.parts) {
		str_addf(&text, "%u|%u%s:", part->n_blocks[0], part->n_blocks[1],
			part->is_moved ? "!" : "");
		for (u32 i = 0; i < part->n_lines; i++)
			str_addc(&text, marks[d.lines.at[part->first_line + i].how]);
		str_addc(&text, '\n');
		for (int side = 0; side < 2; side++)
			sums[side] += codediff_part_count(&d, part, 0, side)->n_samples;
	}
	CHECK_STR(str_text(&text), expected);
	/* Each row is in one line, each sample in one part. */
	CHECK_EQ(sums[0], codediff_function_count(&d, 0, CODEDIFF_A)->n_samples);
	CHECK_EQ(sums[1], codediff_function_count(&d, 0, CODEDIFF_B)->n_samples);
	str_fini(&text);
	codediff_fini(&d);
	case_fini(&of_a);
	case_fini(&of_b);
}

/* A head, a loop of four, a tail. */
static const struct written old[] = {{"pushq  %rbp", ISA_ON, 0, 1}, {"xorl   %eax, %eax"},
	{"addl   (%rdi), %eax", ISA_ON, 0, 50}, {"addq   $0x4, %rdi"},
	{"cmpq   %rsi, %rdi", ISA_ON, 0, 20}, {"jne    0x1008", ISA_BRANCH, 3, 9}, {"popq   %rbp"},
	{"retq", ISA_RETURN}};

TEST(codediff_of_the_same_code_has_nothing_to_say)
{
	check(old, ARRAY_SIZE(old), old, ARRAY_SIZE(old), "1|1:  \n1|1:    \n1|1:  \n");
}

TEST(codediff_finds_the_block_that_got_another_instruction)
{
	const struct written new[] = {{"pushq  %rbp"}, {"xorl   %eax, %eax"},
		{"imull  $0x7, (%rdi), %ecx", ISA_ON, 0, 30}, {"addl   %ecx, %eax"},
		{"addq   $0x4, %rdi"}, {"cmpq   %rsi, %rdi"}, {"jne    0x1008", ISA_BRANCH, 3},
		{"popq   %rbp"}, {"retq", ISA_RETURN}};

	check(old, ARRAY_SIZE(old), new, ARRAY_SIZE(new), "1|1:  \n1|1:-++   \n1|1:  \n");
}

TEST(codediff_sees_that_only_registers_differ)
{
	const struct written new[] = {{"pushq  %rbx"}, {"xorl   %edx, %edx"},
		{"addl   (%rcx), %edx"}, {"addq   $0x4, %rcx"}, {"cmpq   %rsi, %rcx"},
		{"jne    0x2008", ISA_BRANCH, 3}, {"popq   %rbx"}, {"retq", ISA_RETURN}};

	check(old, ARRAY_SIZE(old), new, ARRAY_SIZE(new), "1|1:~~\n1|1:~~~ \n1|1:~ \n");
}

TEST(codediff_keeps_a_block_together_that_a_new_branch_cuts)
{
	const struct written new[] = {{"pushq  %rbp"}, {"xorl   %eax, %eax"},
		{"addl   (%rdi), %eax"}, {"addq   $0x4, %rdi"}, {"js     0x101c", ISA_BRANCH, 8},
		{"cmpq   %rsi, %rdi"}, {"jne    0x1008", ISA_BRANCH, 3}, {"popq   %rbp"},
		{"retq", ISA_RETURN}};

	check(old, ARRAY_SIZE(old), new, ARRAY_SIZE(new), "1|1:  \n1|2:  +  \n1|1:  \n");
}

TEST(codediff_finds_hot_blocks_that_a_compiler_moved)
{
	/* The loop stands behind the tail, and the tail is another one. */
	const struct written new[] = {{"pushq  %rbp"}, {"xorl   %eax, %eax"},
		{"jmp    0x1018", ISA_JUMP, 7}, {"leave"}, {"bswapl %eax"}, {"retq", ISA_RETURN},
		{"addl   (%rdi), %eax", ISA_ON, 0, 50}, {"addq   $0x4, %rdi"},
		{"cmpq   %rsi, %rdi"}, {"jne    0x1018", ISA_BRANCH, 7},
		{"jmp    0x100c", ISA_JUMP, 4}};
	const struct written before[] = {{"addl   (%rdi), %eax", ISA_ON, 0, 50},
		{"addq   $0x4, %rdi"}, {"cmpq   %rsi, %rdi"}, {"jne    0x1000", ISA_BRANCH, 1},
		{"pushq  %rbp"}, {"xorl   %eax, %eax"}, {"movl   %eax, (%rsi)"},
		{"movl   %eax, 0x8(%rsi)"}, {"movl   %eax, 0x10(%rsi)"}, {"leave"}, {"bswapl %eax"},
		{"retq", ISA_RETURN}};

	check(before, ARRAY_SIZE(before), new, ARRAY_SIZE(new),
		"1|1:    \n0|1:+\n1|2!:  ---+   \n");
}

TEST(codediff_calls_a_change_one_only_if_sampling_does_not_explain_it)
{
	const struct annotation_count few[] = {{10, 100}, {16, 160}},
				      many[] = {{1000, 10000}, {1600, 16000}},
				      whole_a = {2000, 20000}, whole_b = {2600, 26000};
	const struct annotation_count *const whole[] = {&whole_a, &whole_b};
	struct codediff_change change = codediff_change(few, whole, false);

	CHECK_EQ(change.more, 60);
	CHECK(!change.is_beyond);
	change = codediff_change(many, whole, false);
	CHECK(change.is_beyond && change.half > 980 && change.half < 1020);
	/* 50% of A, 61.5% of B: a share cannot vary as much as a number. */
	change = codediff_change(many, whole, true);
	CHECK(change.more > 0.115 && change.more < 0.116);
	CHECK(change.is_beyond && change.half < 0.03);
}
