#include "profile/rows/outline.h"

#include "test.h"
#include "unit/profilemaker.h"

struct outlining {
	struct profilemaker maker;
	struct calls calls;
	struct outline outline;
};

static void outlining_init(struct outlining *o)
{
	memset(o, 0, sizeof(*o));
	profilemaker_init(&o->maker, 0);
	profilemaker_event(&o->maker, "cycles");
}

static void add(struct outlining *o, const char *stack, u64 period)
{
	profilemaker_add(&o->maker,
		&(struct profilemaker_sample){.stack = stack, .period = period});
}

static void outlining_start(struct outlining *o)
{
	calls_init(&o->calls, &o->maker.profile);
	outline_init(&o->outline, &o->maker.profile, &o->calls, 0);
}

static void outlining_fini(struct outlining *o)
{
	outline_fini(&o->outline);
	calls_fini(&o->calls);
	profilemaker_fini(&o->maker);
}

/* "total own names" by depth; a rest is "total ... n". */
static void check(struct outlining *o, u32 top, u64 n, const char *expected)
{
	struct str text = {0};

	outline_cut(&o->outline, top, n);
	vec_each(l, &o->outline.lines) {
		str_fill(&text, ' ', 2 * l->depth);
		str_addf(&text, "%llu ", (unsigned long long)l->total);
		if (l->is_rest) {
			str_addf(&text, "... %llu\n", (unsigned long long)l->n_hidden);
			continue;
		}
		str_addf(&text, "%llu ", (unsigned long long)l->own);
		outline_add_names(&o->outline, l->node,
			l->node == top ? o->outline.nodes.at[top].parent
				       : o->outline.nodes.at[l->node].line_parent,
			&text);
		str_addc(&text, '\n');
	}
	CHECK_STR(str_text(&text), expected);
	str_fini(&text);
}

static u32 find(const struct outlining *o, const char *id)
{
	struct err err;
	u32 node = 0;

	if (outline_find(&o->outline, id, &node, &err))
		test_failed(__FILE__, __LINE__, "%s", err.msg);
	return node;
}

static void add_program(struct outlining *o)
{
	add(o, "start;main;parse;lex", 300);
	add(o, "start;main;parse", 100);
	add(o, "start;main;run;eval", 350);
	add(o, "start;main;run;eval;lookup", 150);
	add(o, "start;main;run;print", 60);
	add(o, "start;main;close", 40);
}

TEST(outline_shows_the_largest_with_their_callers_and_the_rest)
{
	struct outlining o;

	outlining_init(&o);
	add_program(&o);
	outlining_start(&o);
	check(&o, 0, 100,
		"1000 0 start > main\n"
		"  560 0 run\n"
		"    500 350 eval\n"
		"      150 150 lookup\n"
		"    60 60 print\n"
		"  400 100 parse\n"
		"    300 300 lex\n"
		"  40 40 close\n");
	/* Functions tell more than sums, and more than callers that have a choice of two. */
	check(&o, 0, 5,
		"500 350 start > main > run > eval\n"
		"  150 150 lookup\n"
		"400 100 start > main > parse\n"
		"  300 300 lex\n"
		"100 ... 2\n");
	check(&o, 0, 1, "1000 ... 6\n");
	outlining_fini(&o);
}

TEST(outline_gives_its_lines_to_what_tells_most)
{
	struct outlining o;
	char stack[64];

	outlining_init(&o);
	/* A hot leaf, deep below callers which lead to many others, each of them little. */
	for (unsigned i = 0; i < 40; i++) {
		snprintf(stack, sizeof(stack), "main;run;step;f%u", i);
		add(&o, stack, 6);
		snprintf(stack, sizeof(stack), "main;run;g%u", i);
		add(&o, stack, 3);
		snprintf(stack, sizeof(stack), "main;h%u", i);
		add(&o, stack, 1);
	}
	add(&o, "main;run;step;eval;compare", 500);
	add(&o, "main;run;step;eval", 98);
	add(&o, "exit", 2);
	outlining_start(&o);
	check(&o, 0, 3,
		"838 0 main > run > step\n"
		"  500 500 eval > compare\n"
		"500 ... 122\n");
	check(&o, 0, 6,
		"958 0 main > run\n"
		"  838 0 step\n"
		"    598 98 eval\n"
		"      500 500 compare\n"
		"  360 ... 80\n"
		"42 ... 41\n");
	outlining_fini(&o);
}

TEST(outline_has_what_leaves_lines_that_functions_share)
{
	struct outlining o;

	outlining_init(&o);
	add(&o, "main;run", 970);
	add(&o, "main;parse", 20);
	add(&o, "main", 10);
	outlining_start(&o);
	check(&o, 0, 6,
		"970 970 main > run\n"
		"20 20 main > parse\n"
		"10 ... 1\n");
	outlining_fini(&o);
}

TEST(outline_of_a_large_tree_may_have_as_many_lines_as_one_likes)
{
	struct outlining o;
	char stack[64];
	u64 sum = 0;

	outlining_init(&o);
	for (unsigned i = 0; i < 20000; i++) {
		snprintf(stack, sizeof(stack), "main;f%u", i);
		add(&o, stack, 1 + i % 3);
	}
	outlining_start(&o);
	outline_cut(&o.outline, 0, 15000);
	CHECK_EQ(o.outline.lines.n, 15000);
	vec_each(l, &o.outline.lines)
		sum += l->own;
	CHECK_EQ(sum, o.outline.whole);
	outlining_fini(&o);
}

TEST(outline_sums_to_the_whole_however_few_lines_there_are)
{
	struct outlining o;

	outlining_init(&o);
	for (unsigned i = 0; i < 400; i++) {
		char stack[200];

		snprintf(stack, sizeof(stack), "main;f%u;g%u;h%u;i%u", i % 3, i % 11, i % 29,
			i % 97);
		add(&o, stack, 1 + i * i % 1009);
		stack[strlen(stack) - 3 - (i % 97 > 9)] = '\0';
		add(&o, stack, 1 + i % 7);
	}
	outlining_start(&o);
	for (u64 n = 1; n < 700; n += 1 + n / 9) {
		u64 sum = 0;

		outline_cut(&o.outline, 0, n);
		CHECK(o.outline.lines.n <= n);
		vec_each(l, &o.outline.lines)
			sum += l->own;
		CHECK_EQ(sum, o.outline.whole);
	}
	CHECK_EQ(o.outline.whole, o.maker.profile.events.at[0].period);
	outlining_fini(&o);
}

TEST(outline_of_a_node_is_what_is_below_it)
{
	struct outlining o;
	struct str id = {0};
	u32 run;

	outlining_init(&o);
	add_program(&o);
	outlining_start(&o);
	outline_cut(&o.outline, 0, 100);
	run = o.outline.lines.at[1].node;
	outline_add_id(&o.outline, run, &id);
	CHECK_EQ(find(&o, str_text(&id)), run);
	check(&o, run, 100,
		"560 0 run\n"
		"  500 350 eval\n"
		"    150 150 lookup\n"
		"  60 60 print\n");
	check(&o, run, 2, "560 0 run\n  560 ... 3\n");
	str_fini(&id);
	outlining_fini(&o);
}

TEST(outline_ids_are_the_same_in_every_recording_of_a_program)
{
	/* Written down: ids that users noted have to lead to the same place in later versions. */
	static const char *const known[] = {"dccc052b6e", "0904295a21", "329ef31e44"};
	struct outlining o, other;
	size_t k = 0;

	outlining_init(&o);
	add_program(&o);
	outlining_start(&o);
	/* Other symbols first, so that all numbers are others; and other shares. */
	outlining_init(&other);
	add(&other, "exit;flush", 5);
	add(&other, "start;main;run;eval", 1);
	add(&other, "start;main;parse;lex;skip", 90);
	outlining_start(&other);
	outline_cut(&o.outline, 0, 100);
	for (size_t i = 0; i < 3; i++) {
		struct str id = {0}, there = {0};
		u32 node = o.outline.lines.at[i].node;

		outline_add_id(&o.outline, node, &id);
		outline_add_id(&other.outline, find(&other, str_text(&id)), &there);
		CHECK_STR(str_text(&there), str_text(&id));
		CHECK_STR(str_text(&id), known[k++]);
		str_fini(&id);
		str_fini(&there);
	}
	outlining_fini(&o);
	outlining_fini(&other);
}

TEST(outline_ids_do_not_depend_on_what_the_c_library_calls_its_beginning)
{
	struct outlining o, other;
	struct str id = {0};

	outlining_init(&o);
	add(&o, "_start;0x2724a@libc.so.6;main;run", 10);
	add(&o, "0x8ea7@libc.so.6;work;run", 10);
	outlining_start(&o);
	outlining_init(&other);
	add(&other, "0x1000;__libc_start_call_main@libc.so.6;main;run;f", 3);
	add(&other, "__libc_start_main@libc.so.6;__libc_start_call_main@libc.so.6;main;run;f", 4);
	add(&other, "clone3@libc.so.6;start_thread@libc.so.6;work;run", 5);
	outlining_start(&other);
	for (u32 i = 1; i < o.outline.nodes.n; i++) {
		const struct outline_node *n = &o.outline.nodes.at[i];
		const char *name = o.maker.profile.symbols.at[n->symbol].name;
		u32 there;

		if (!name || !strcmp(name, "_start"))
			continue;
		str_cut(&id, 0);
		outline_add_id(&o.outline, i, &id);
		there = find(&other, str_text(&id));
		CHECK_STR(other.maker.profile.symbols.at[other.outline.nodes.at[there].symbol].name,
			name);
		/* Of several ways the one with most in it. */
		CHECK(other.outline.nodes.at[there].total >= 4);
	}
	str_fini(&id);
	outlining_fini(&o);
	outlining_fini(&other);
}

TEST(outline_finds_no_node_that_is_not_there)
{
	struct outlining o;
	struct err err;
	u32 node;

	outlining_init(&o);
	add_program(&o);
	outlining_start(&o);
	CHECK_EQ(outline_find(&o.outline, "0123456789", &node, &err), ERR_INVAL);
	CHECK_HAS(err.msg, "no such node");
	CHECK_EQ(outline_find(&o.outline, "main", &node, &err), ERR_INVAL);
	CHECK_HAS(err.msg, "hexadecimal digits");
	CHECK_EQ(outline_find(&o.outline, "", &node, &err), ERR_INVAL);
	CHECK_EQ(outline_find(&o.outline, "0123456789a", &node, &err), ERR_INVAL);
	CHECK_EQ(outline_find(&o.outline, "-1", &node, &err), ERR_INVAL);
	outlining_fini(&o);
}

TEST(outline_of_long_chains_is_one_line)
{
	struct outlining o;

	outlining_init(&o);
	add(&o, "a;b;c;d;e;f;g;h;i;j", 7);
	outlining_start(&o);
	check(&o, 0, 10, "7 7 a > b > ... 5 more ... > h > i > j\n");
	outlining_fini(&o);
	outlining_init(&o);
	outlining_start(&o);
	check(&o, 0, 10, "");
	outlining_fini(&o);
}
