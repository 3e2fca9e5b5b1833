#include "test.h"

#include "profile/tree/calls.h"
#include "profile/gather/profile.h"
#include "unit/profilemaker.h"

/* ---- frames and stacks ---- */

TEST(profile_has_each_frame_once)
{
	struct profile_frame f = {.dso = 1, .address = 0x1000, .mode = 2};
	struct profile p;
	u32 first;

	profile_init(&p, 0);
	first = profile_frame(&p, &f);
	CHECK_EQ(profile_frame(&p, &f), first);
	CHECK_EQ(p.frames.n, 1);
	/* Each of these makes it another one. */
	f.address++;
	CHECK(profile_frame(&p, &f) != first);
	f.address--;
	f.dso = 2;
	CHECK(profile_frame(&p, &f) != first);
	f.dso = 1;
	f.mode = 1;
	CHECK(profile_frame(&p, &f) != first);
	f.mode = 2;
	f.is_return = true;
	CHECK(profile_frame(&p, &f) != first);
	CHECK_EQ(p.frames.n, 5);
	/* A name that was given meanwhile does not. */
	p.frames.at[first].symbol = 7;
	f.is_return = false;
	CHECK_EQ(profile_frame(&p, &f), first);
	profile_fini(&p);
}

TEST(profile_has_each_stack_once_with_parents_first)
{
	struct profile p;
	u32 a, b;

	profile_init(&p, 0);
	CHECK_EQ(p.stacks.n, 1);
	a = profile_stack(&p, 0, 5);
	b = profile_stack(&p, a, 6);
	CHECK(b > a && a > 0);
	CHECK_EQ(profile_stack(&p, 0, 5), a);
	CHECK_EQ(profile_stack(&p, a, 6), b);
	CHECK(profile_stack(&p, 0, 6) != b);
	CHECK(profile_stack(&p, b, 6) != b);
	CHECK_EQ(p.stacks.at[b].parent, a);
	CHECK_EQ(p.stacks.at[b].frame, 6);
	profile_fini(&p);
}

TEST(profile_finds_frames_and_stacks_among_very_many)
{
	struct profile p;

	profile_init(&p, 0);
	for (int round = 0; round < 2; round++) {
		for (u32 i = 0; i < 20000; i++) {
			struct profile_frame f = {.address = (u64)i * 4096};

			CHECK_EQ(profile_frame(&p, &f), i);
			CHECK_EQ(profile_stack(&p, i, i), i + 1);
		}
	}
	profile_fini(&p);
}

/* ---- merging ---- */

static void add_stack(struct profilemaker *m, u32 event, const char *comm, const char *stack,
	u64 period)
{
	profilemaker_add(m,
		&(struct profilemaker_sample){.event = event,
			.comm = comm,
			.stack = stack,
			.period = period});
}

/* Each row as "event comm stack samples period", one a line, in the order of the rows. */
static void add_rows(const struct profile *p, struct str *text)
{
	vec_each(row, &p->rows) {
		u32 path[64], n = 0;

		for (u32 s = row->callers; s; s = p->stacks.at[s].parent)
			path[n++] = p->stacks.at[s].frame;
		str_addf(text, "%s %s ", p->events.at[row->event].name,
			p->labels & LABEL_BIT(LABEL_COMM)
				? profile_text(profile_label(p, row - p->rows.at, LABEL_COMM))
				: "-");
		for (; n; n--)
			str_addf(text, "%s+0x%llx;", p->dsos.at[p->frames.at[path[n - 1]].dso].name,
				(unsigned long long)p->frames.at[path[n - 1]].address);
		str_addf(text, "%s+0x%llx %llu %llu\n",
			p->dsos.at[p->frames.at[row->frame].dso].name,
			(unsigned long long)p->frames.at[row->frame].address,
			(unsigned long long)row->n_samples, (unsigned long long)row->period);
	}
}

static void check_rows(const struct profile *p, const char *expected)
{
	struct str text = {0};

	add_rows(p, &text);
	CHECK_STR(str_text(&text), expected);
	str_fini(&text);
}

TEST(profile_merge_keeps_every_row_and_sums_the_events)
{
	struct profilemaker a, b;

	profilemaker_init(&a, LABEL_BIT(LABEL_COMM));
	profilemaker_init(&b, LABEL_BIT(LABEL_COMM));
	for (int i = 0; i < 2; i++) {
		profilemaker_event(i ? &b : &a, "cycles");
		profilemaker_event(i ? &b : &a, "faults");
	}
	/* Numbers of DSOs, frames, stacks and strings differ on the two sides. */
	add_stack(&a, 0, "sh", "0x10@x;0x20@y", 3);
	add_stack(&a, 1, "ls", "0x30@x", 4);
	add_stack(&b, 1, "ls", "0x30@z", 5);
	add_stack(&b, 0, "sh", "0x10@x;0x20@y", 6);
	add_stack(&b, 0, "cp", "0x10@x;0x99@z;0x20@y", 7);
	b.profile.dsos.at[0].source = 2; /* z */
	b.profile.dsos.at[1].source = 0; /* x */
	b.profile.dsos.at[2].source = 1; /* y */
	profile_merge(&a.profile, &b.profile);
	check_rows(&a.profile,
		"cycles sh x+0x10;y+0x20 1 3\n"
		"faults ls x+0x30 1 4\n"
		"faults ls z+0x30 1 5\n"
		"cycles sh x+0x10;y+0x20 1 6\n"
		"cycles cp x+0x10;z+0x99;y+0x20 1 7\n");
	CHECK_EQ(a.profile.events.at[0].n_samples, 3);
	CHECK_EQ(a.profile.events.at[0].period, 16);
	CHECK_EQ(a.profile.events.at[1].n_samples, 2);
	CHECK_EQ(a.profile.events.at[1].period, 9);
	/* What is the same is there once. */
	CHECK_EQ(a.profile.dsos.n, 3);
	CHECK_EQ(a.profile.rows.at[0].frame, a.profile.rows.at[3].frame);
	CHECK_EQ(a.profile.rows.at[0].callers, a.profile.rows.at[3].callers);
	CHECK_EQ(profile_label(&a.profile, 1, LABEL_COMM),
		profile_label(&a.profile, 2, LABEL_COMM));
	/* The other one may go. */
	profilemaker_fini(&b);
	CHECK_STR(profile_text(profile_label(&a.profile, 4, LABEL_COMM)), "cp");
	CHECK_STR(a.profile.dsos.at[2].name, "z");
	profilemaker_fini(&a);
}

TEST(profile_merge_tells_dsos_apart_by_number_and_kind)
{
	struct profilemaker a, b;

	profilemaker_init(&a, 0);
	profilemaker_init(&b, 0);
	profilemaker_event(&a, "e");
	profilemaker_event(&b, "e");
	add_stack(&a, 0, NULL, "0x10@/one/lib.so", 1);
	add_stack(&b, 0, NULL, "0x10@/two/lib.so", 1);
	add_stack(&b, 0, NULL, "0x10@/one/lib.so", 1);
	b.profile.dsos.at[0].source = 1;
	b.profile.dsos.at[1].source = 0;
	b.profile.dsos.at[1].kind++;
	profile_merge(&a.profile, &b.profile);
	CHECK_EQ(a.profile.dsos.n, 3);
	CHECK(a.profile.rows.at[0].frame != a.profile.rows.at[1].frame);
	CHECK(a.profile.rows.at[0].frame != a.profile.rows.at[2].frame);
	profilemaker_fini(&a);
	profilemaker_fini(&b);
}

TEST(profile_merge_with_nothing_changes_nothing)
{
	struct profilemaker a;
	struct profile empty;

	profilemaker_init(&a, 0);
	profilemaker_event(&a, "e");
	add_stack(&a, 0, NULL, "0x10;0x20", 1);
	profile_init(&empty, 0);
	profile_merge(&a.profile, &empty);
	CHECK_EQ(a.profile.rows.n, 1);
	CHECK(a.profile.has_stacks);
	profile_merge(&empty, &a.profile);
	CHECK_EQ(empty.rows.n, 1);
	CHECK(empty.has_stacks);
	CHECK_EQ(empty.stacks.n, 2);
	/* It has the events too, with names of its own, and sums them up from then on. */
	CHECK_EQ(empty.events.n, 1);
	CHECK_EQ(empty.events.at[0].n_samples, 1);
	CHECK_EQ(empty.events.at[0].period, 1);
	profile_merge(&empty, &a.profile);
	CHECK_EQ(empty.events.n, 1);
	CHECK_EQ(empty.events.at[0].period, 2);
	profilemaker_fini(&a);
	CHECK_STR(empty.events.at[0].name, "e");
	profile_fini(&empty);
}

/* ---- the call tree ---- */

/* "name(child(grandchild) child2)": children in the order of their numbers. */
static void add_tree(const struct calls *c, const struct profile *p, u32 node, struct str *text)
{
	const char *between = "";

	str_add(text, node ? p->symbols.at[c->nodes.at[node].symbol].name : "");
	if (!c->nodes.at[node].first_child)
		return;
	str_addc(text, '(');
	for (u32 i = node + 1; i < c->nodes.n; i++) {
		if (c->nodes.at[i].parent != node)
			continue;
		str_add(text, between);
		add_tree(c, p, i, text);
		between = " ";
	}
	str_addc(text, ')');
}

TEST(calls_merges_stacks_function_by_function)
{
	static const char *const stacks[] = {"main;a;b", "main;a;b;c", "main;b", "main;a;b",
		"main;a;b;a;b", "other", "main"};
	struct str text = {0};
	struct profilemaker m;
	struct calls c;

	profilemaker_init(&m, 0);
	profilemaker_event(&m, "e");
	for (size_t i = 0; i < ARRAY_SIZE(stacks); i++)
		add_stack(&m, 0, NULL, stacks[i], 1);
	/* They are at several addresses of each function. */
	CHECK(m.profile.frames.n > m.profile.symbols.n);
	calls_init(&c, &m.profile);
	add_tree(&c, &m.profile, 0, &text);
	/* Stacks come first, then where samples were taken. */
	CHECK_STR(str_text(&text), "(main(a(b(a(b) c)) b) other)");
	for (u32 i = 1; i < c.nodes.n; i++) {
		const struct calls_node *n = &c.nodes.at[i];
		u32 n_listed = 0;

		CHECK(n->parent < i);
		CHECK_EQ(n->depth, c.nodes.at[n->parent].depth + 1);
		for (u32 k = c.nodes.at[n->parent].first_child; k; k = c.nodes.at[k].next_sibling)
			n_listed += k == i;
		CHECK_EQ(n_listed, 1);
	}
	for (size_t i = 0; i < m.taken.n; i++) {
		u32 node = c.of_row[i];

		for (size_t k = m.taken.at[i].n; k-- > 0; node = c.nodes.at[node].parent)
			CHECK_EQ(c.nodes.at[node].symbol, m.taken.at[i].symbols[k]);
		CHECK_EQ(node, 0);
	}
	str_fini(&text);
	calls_fini(&c);
	profilemaker_fini(&m);
}

TEST(calls_of_an_empty_profile_are_just_the_root)
{
	struct profilemaker m;
	struct calls c;

	profilemaker_init(&m, 0);
	calls_init(&c, &m.profile);
	CHECK_EQ(c.nodes.n, 1);
	CHECK_EQ(c.nodes.at[0].first_child, 0);
	calls_fini(&c);
	profilemaker_fini(&m);
}
