#include "test.h"

#include "unit/profilemaker.h"
#include "view/html/columns.h"
#include "view/rows/stackrows.h"

struct made {
	struct profilemaker maker;
	struct calls calls;
	struct stackrows stacks;
	struct columns columns;
};

static void made_init(struct made *m, const char *const *stacks, size_t n)
{
	memset(m, 0, sizeof(*m));
	profilemaker_init(&m->maker, LABEL_BIT(LABEL_COMM));
	profilemaker_event(&m->maker, "cycles");
	for (size_t i = 0; i < n; i++)
		profilemaker_add(&m->maker,
			&(struct profilemaker_sample){.comm = "sh",
				.stack = stacks[i],
				.period = 1u << i});
	calls_init(&m->calls, &m->maker.profile);
	m->stacks.detail = STACKROWS_FUNCTIONS;
	m->stacks.is_one_recording = true;
	m->stacks.n_parts = 1;
	stackrows_add_part(&m->stacks, "cycles", false);
	stackrows_add(&m->stacks, &m->maker.profile, &m->calls, 0, 0);
	stackrows_finish(&m->stacks);
	columns_init(&m->columns, &m->stacks.rows);
}

static void made_fini(struct made *m)
{
	columns_fini(&m->columns);
	stackrows_fini(&m->stacks);
	calls_fini(&m->calls);
	profilemaker_fini(&m->maker);
}

/* The tree as the page's code builds it: "sh(main(f=1,g=2))", where numbers are values of nodes. */
static struct str drawn(const struct made *m)
{
	const struct columns *c = &m->columns;
	const struct rowset_column *period = columns_find(&m->stacks.rows, "period");
	struct str text = {0}, room = {0};
	struct cell cell;
	u32 depth = 0;

	for (size_t i = 0; i < c->n; i++) {
		CHECK(c->levels_up[i] <= depth);
		for (u32 k = 0; k < c->levels_up[i]; k++)
			str_addc(&text, ')');
		depth -= c->levels_up[i];
		rowset_cell(&m->stacks.rows, period, c->rows[i], 0, &room, &cell);
		str_addf(&text, "(%s=%llu", c->names.at[c->name_of[i]].text,
			(unsigned long long)cell.n);
		depth++;
		CHECK(depth <= c->depth);
	}
	str_fini(&room);
	return text;
}

TEST(columns_are_the_tree_in_preorder_with_children_by_name)
{
	static const char *const stacks[] = {"main;z;leaf", "main;a", "main", "start"};
	struct made m;
	struct str text;

	made_init(&m, stacks, ARRAY_SIZE(stacks));
	text = drawn(&m);
	CHECK_STR(str_text(&text), "(sh=0(main=4(a=2)(z=0(leaf=1)))(start=8");
	CHECK_EQ(m.columns.n, 6);
	CHECK_EQ(m.columns.depth, 4);
	str_fini(&text);
	made_fini(&m);
}

TEST(columns_give_the_shortest_numbers_to_the_names_of_most_nodes)
{
	static const char *const stacks[] = {"a;often", "b;often", "c;often", "often;d"};
	struct made m;

	made_init(&m, stacks, ARRAY_SIZE(stacks));
	CHECK_STR(m.columns.names.at[0].text, "often");
	CHECK_EQ(m.columns.names.at[0].n_nodes, 4);
	CHECK_EQ(m.columns.names.n, 6);
	for (size_t i = 1; i < m.columns.names.n; i++)
		CHECK_EQ(m.columns.names.at[i].n_nodes, 1);
	made_fini(&m);
}

/* Equal names in two files are two names. */
TEST(columns_tell_names_apart_by_their_files)
{
	static const char *const stacks[] = {"main;free@/lib/libc.so", "main;free@/lib/libm.so"};
	struct made m;

	made_init(&m, stacks, ARRAY_SIZE(stacks));
	CHECK_EQ(m.columns.names.n, 4);
	CHECK_EQ(m.columns.n, 4);
	made_fini(&m);
}

TEST(columns_sum_counts_a_recursion_once)
{
	static const char *const stacks[] = {"main;again;again;again", "main;again;leaf;again",
		"main"};
	u64 self[8], total[8];
	struct made m;

	made_init(&m, stacks, ARRAY_SIZE(stacks));
	columns_sum(&m.columns, &m.stacks.rows, columns_find(&m.stacks.rows, "period"), 0, self,
		total);
	for (size_t i = 0; i < m.columns.names.n; i++) {
		const char *name = m.columns.names.at[i].text;
		const bool is_again = !strcmp(name, "again"), is_leaf = !strcmp(name, "leaf");

		CHECK_EQ(self[i], is_again ? 3 : !strcmp(name, "main") ? 4 : 0);
		CHECK_EQ(total[i], is_again ? 3 : is_leaf ? 2 : 7);
	}
	CHECK(!columns_find(&m.stacks.rows, "no such column"));
	made_fini(&m);
}
