#include "test.h"

#include "profile/rows/graph.h"
#include "profile/rows/hist.h"
#include "profile/rows/key.h"
#include "unit/profilemaker.h"
#include "unit/recording.h"

#define ALL_LABELS (LABEL_BIT(LABEL_COUNT) - 2)

/* A histogram and everything it is made from. */
struct counting {
	struct profilemaker maker;
	struct calls calls;
	struct hist_options options;
	struct hist hist;
};

static void counting_init(struct counting *c)
{
	memset(c, 0, sizeof(*c));
	profilemaker_init(&c->maker, ALL_LABELS);
	profilemaker_event(&c->maker, "cycles");
	profilemaker_event(&c->maker, "faults");
}

static void add(struct counting *c, const char *stack, u64 period)
{
	profilemaker_add(&c->maker,
		&(struct profilemaker_sample){.comm = "comm", .stack = stack, .period = period});
}

/* Counts by the keys of a list; counting_stop() takes it back, so that the same samples can be
 * counted otherwise. */
static void counting_start(struct counting *c, const char *keys, bool has_children)
{
	struct err err;

	if (key_parse_list(keys, c->options.keys, HIST_KEYS_MAX, &c->options.n_keys, &err))
		test_failed(__FILE__, __LINE__, "%s", err.msg);
	c->options.has_children = has_children;
	calls_init(&c->calls, &c->maker.profile);
	hist_init(&c->hist, &c->maker.profile, &c->calls, 0, &c->options);
}

static void counting_stop(struct counting *c)
{
	hist_fini(&c->hist);
	calls_fini(&c->calls);
}

static void counting_fini(struct counting *c)
{
	counting_stop(c);
	profilemaker_fini(&c->maker);
}

/* "total self key key", or without totals "self key key": periods. */
static void add_entry(const struct hist *h, const struct hist_entry *e, struct str *text)
{
	if (h->options->has_children)
		str_addf(text, "%llu ", (unsigned long long)e->of[0].total.period);
	str_addf(text, "%llu", (unsigned long long)e->of[0].self.period);
	for (size_t k = 0; k < h->options->n_keys; k++) {
		str_addc(text, ' ');
		profilemaker_add_cell(h->options->keys[k], h, e, text);
	}
	str_addc(text, '\n');
}

static void check(const struct counting *c, const char *expected)
{
	struct str text = {0};

	vec_each(e, &c->hist.entries)
		add_entry(&c->hist, e, &text);
	CHECK_STR(str_text(&text), expected);
	str_fini(&text);
}

/* ---- self and total ---- */

TEST(hist_counts_self_and_total)
{
	struct counting c;

	counting_init(&c);
	add(&c, "main;a;b", 10);
	add(&c, "main;a", 5);
	add(&c, "main;c", 3);
	add(&c, "main;a;b", 1);
	add(&c, "main", 2);
	counting_start(&c, "symbol", true);
	check(&c,
		"21 2 [.] main\n"
		"16 5 [.] a\n"
		"11 11 [.] b\n"
		"3 3 [.] c\n");
	CHECK_EQ(c.hist.events[0].all.period, 21);
	CHECK_EQ(c.hist.events[0].all.n_samples, 5);
	CHECK_EQ(c.hist.entries.at[2].of[0].self.n_samples, 2);
	CHECK_EQ(c.hist.entries.at[1].of[0].total.n_samples, 3);
	counting_fini(&c);
}

TEST(hist_without_children_has_only_what_was_sampled)
{
	struct counting c;

	counting_init(&c);
	add(&c, "main;a;b", 10);
	add(&c, "main;a", 15);
	add(&c, "main;c;b", 6);
	counting_start(&c, "symbol", false);
	check(&c,
		"16 [.] b\n"
		"15 [.] a\n");
	CHECK_EQ(c.hist.events[0].all.period, 31);
	counting_fini(&c);
}

TEST(hist_counts_a_recursive_function_once)
{
	struct counting c;

	counting_init(&c);
	add(&c, "main;f;f;f", 10);
	add(&c, "main;f", 1);
	add(&c, "main;f;f;g", 4);
	counting_start(&c, "symbol", true);
	check(&c,
		"15 11 [.] f\n"
		"15 0 [.] main\n"
		"4 4 [.] g\n");
	counting_fini(&c);
}

TEST(hist_counts_functions_that_call_each_other_once)
{
	struct counting c;

	counting_init(&c);
	add(&c, "main;a;b;a;b;a", 8);
	add(&c, "main;b;a", 2);
	add(&c, "main;a;b", 1);
	counting_start(&c, "symbol", true);
	check(&c,
		"11 10 [.] a\n"
		"11 1 [.] b\n"
		"11 0 [.] main\n");
	counting_fini(&c);
}

TEST(hist_counts_a_library_that_calls_back_once)
{
	struct counting c;

	counting_init(&c);
	add(&c, "main;sort@libc.so;compare;strcmp@libc.so", 8);
	add(&c, "main;sort@libc.so", 2);
	counting_start(&c, "dso", true);
	check(&c,
		"10 10 libc.so\n"
		"10 0 prog\n");
	counting_fini(&c);
}

TEST(hist_counts_one_event_at_a_time)
{
	struct counting c;

	counting_init(&c);
	add(&c, "main;a", 10);
	profilemaker_add(&c.maker,
		&(struct profilemaker_sample){.event = 1,
			.stack = "main;b",
			.n_samples = 3,
			.period = 100});
	counting_start(&c, "symbol", true);
	check(&c, "10 10 [.] a\n10 0 [.] main\n");
	hist_fini(&c.hist);
	hist_init(&c.hist, &c.maker.profile, &c.calls, 1, &c.options);
	check(&c, "100 100 [.] b\n100 0 [.] main\n");
	CHECK_EQ(c.hist.events[0].all.n_samples, 3);
	counting_fini(&c);
}

TEST(hist_of_an_event_without_samples_is_empty)
{
	struct counting c;

	counting_init(&c);
	counting_start(&c, "comm,dso,symbol", true);
	check(&c, "");
	CHECK_EQ(c.hist.events[0].all.period, 0);
	CHECK_EQ(c.hist.n_groups, 0);
	counting_fini(&c);
}

TEST(hist_keeps_rows_whose_samples_stand_for_nothing)
{
	struct counting c;

	/* Counters that did not move between two ticks. */
	counting_init(&c);
	add(&c, "main;a", 0);
	add(&c, "main;b", 0);
	counting_start(&c, "symbol", true);
	check(&c, "0 0 [.] a\n0 0 [.] b\n0 0 [.] main\n");
	CHECK_EQ(c.hist.events[0].all.n_samples, 2);
	counting_fini(&c);
}

/* ---- what rows are told apart by ---- */

/* One function, in all sorts of company. */
static void add_company(struct counting *c)
{
	static const struct profilemaker_sample samples[] = {
		{.comm = "sh", .pid = 10, .tid = 10, .cpu = 1, .stack = "f", .period = 1},
		{.comm = "sh", .pid = 10, .tid = 11, .cpu = 2, .stack = "f", .period = 2},
		{.comm = "ls", .pid = 9, .tid = 9, .cpu = 2, .stack = "f", .period = 4},
		{.comm = "ls", .pid = 9, .tid = 9, .cpu = (u32)-1, .stack = "f", .period = 8},
		{.comm = "ls",
			.pid = 10,
			.tid = 10,
			.cpu = 1,
			.stack = "f@/other/prog",
			.period = 16},
		{.comm = "ls", .pid = 10, .tid = 10, .cpu = 1, .stack = "k:f", .period = 32},
	};

	for (size_t i = 0; i < ARRAY_SIZE(samples); i++)
		profilemaker_add(&c->maker, &samples[i]);
	vec_add(&c->maker.profile.tasks, ((struct profile_task){9, 9, "ls"}));
	vec_add(&c->maker.profile.tasks, ((struct profile_task){10, 10, "sh"}));
}

TEST(hist_tells_rows_apart_by_its_keys_and_nothing_else)
{
	static const struct {
		const char *keys, *rows;
	} tables[] = {
		{"comm", "60 ls\n3 sh\n"},
		{"pid", "49      10:sh\n12       9:ls\n2      11::11\n"},
		{"tgid", "51      10:sh\n12       9:ls\n"},
		{"cpu", "49 001\n8 -001\n6 002\n"},
		/* Two files of one name are one. */
		{"dso", "32 [kernel]\n31 prog\n"},
		{"symbol", "32 [k] f\n16 [.] f\n15 [.] f\n"},
		{"comm,cpu", "48 ls 001\n8 ls -001\n4 ls 002\n2 sh 002\n1 sh 001\n"},
		{"cpu,comm", "48 001 ls\n8 -001 ls\n4 002 ls\n2 002 sh\n1 001 sh\n"},
		{"comm,dso", "32 ls [kernel]\n28 ls prog\n3 sh prog\n"},
		{"comm,dso,symbol",
			"32 ls [kernel] [k] f\n16 ls prog [.] f\n12 ls prog [.] f\n3 "
			"sh prog [.] f\n"},
	};
	struct counting c;

	counting_init(&c);
	add_company(&c);
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		counting_start(&c, tables[i].keys, false);
		check(&c, tables[i].rows);
		counting_stop(&c);
	}
	counting_start(&c, "symbol", false);
	counting_fini(&c);
}

TEST(hist_splits_totals_by_labels_too)
{
	struct counting c;

	counting_init(&c);
	profilemaker_add(&c.maker,
		&(struct profilemaker_sample){.comm = "a", .stack = "main;f", .period = 5});
	profilemaker_add(&c.maker,
		&(struct profilemaker_sample){.comm = "b", .stack = "main;f", .period = 7});
	profilemaker_add(&c.maker,
		&(struct profilemaker_sample){.comm = "b", .stack = "main", .period = 1});
	counting_start(&c, "comm,symbol", true);
	check(&c,
		"8 1 b [.] main\n"
		"7 7 b [.] f\n"
		"5 5 a [.] f\n"
		"5 0 a [.] main\n");
	counting_fini(&c);
}

/* ---- order ---- */

TEST(hist_orders_ties_by_the_keys_from_the_first_on)
{
	static const struct {
		const char *keys, *rows;
	} tables[] = {
		{"dso,symbol",
			"1 liba.so [.] y\n1 liba.so [.] z\n1 libb.so [.] a\n1 libb.so [.] y\n"},
		{"symbol,dso",
			"1 [.] a libb.so\n1 [.] y liba.so\n1 [.] y libb.so\n1 [.] z liba.so\n"},
		{"symbol", "1 [.] a\n1 [.] y\n1 [.] y\n1 [.] z\n"},
	};
	struct counting c;

	counting_init(&c);
	add(&c, "z@liba.so", 1);
	add(&c, "y@libb.so", 1);
	add(&c, "a@libb.so", 1);
	add(&c, "y@liba.so", 1);
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		counting_start(&c, tables[i].keys, false);
		check(&c, tables[i].rows);
		counting_stop(&c);
	}
	/* Of functions with one name, the one of the first DSO. */
	counting_start(&c, "symbol", false);
	CHECK_STR(
		c.maker.profile.dsos.at[c.maker.profile.symbols.at[c.hist.entries.at[1].symbol].dso]
			.name,
		"liba.so");
	counting_fini(&c);
}

TEST(hist_orders_numbers_by_value_and_names_by_letters)
{
	static const struct profilemaker_sample samples[] = {
		{.comm = "b", .pid = 100, .tid = 100, .cpu = 10, .stack = "f", .period = 1},
		{.comm = "a", .pid = 20, .tid = 20, .cpu = 9, .stack = "f", .period = 1},
		{.comm = "B", .pid = 3, .tid = 3, .cpu = 100, .stack = "f", .period = 1},
	};
	static const struct {
		const char *keys, *rows;
	} tables[] = {
		{"comm", "1 B\n1 a\n1 b\n"},
		{"cpu", "1 009\n1 010\n1 100\n"},
		{"pid", "1       3::3\n1      20::20\n1     100::100\n"},
		{"tgid", "1       3::3\n1      20::20\n1     100::100\n"},
	};
	struct counting c;

	counting_init(&c);
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++)
		profilemaker_add(&c.maker, &samples[i]);
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		counting_start(&c, tables[i].keys, false);
		check(&c, tables[i].rows);
		counting_stop(&c);
	}
	counting_start(&c, "comm", false);
	counting_fini(&c);
}

TEST(hist_orders_addresses_behind_names)
{
	struct counting c;

	counting_init(&c);
	add(&c, "0x20@libz.so", 1);
	add(&c, "zzz", 1);
	add(&c, "0x100", 1);
	add(&c, "0x20@liba.so", 1);
	add(&c, "aaa", 1);
	add(&c, "0x3", 2);
	counting_start(&c, "symbol,dso", false);
	check(&c,
		"2 [.] 0x0000000000000003 prog\n"
		"1 [.] aaa prog\n"
		"1 [.] zzz prog\n"
		"1 [.] 0x0000000000000020 liba.so\n"
		"1 [.] 0x0000000000000020 libz.so\n"
		"1 [.] 0x0000000000000100 prog\n");
	counting_fini(&c);
}

TEST(hist_orders_by_total_then_self_then_names)
{
	struct counting c;

	counting_init(&c);
	add(&c, "z;y;x", 5);
	add(&c, "a", 5);
	add(&c, "b;a", 0);
	counting_start(&c, "symbol", true);
	check(&c,
		"5 5 [.] a\n"
		"5 5 [.] x\n"
		"5 0 [.] y\n"
		"5 0 [.] z\n"
		"0 0 [.] b\n");
	counting_stop(&c);
	/* Where graphs are drawn callers come first. */
	c.options.prefers_callers = true;
	counting_start(&c, "symbol", true);
	check(&c,
		"5 5 [.] a\n"
		"5 0 [.] z\n"
		"5 0 [.] y\n"
		"5 5 [.] x\n"
		"0 0 [.] b\n");
	counting_fini(&c);
}

TEST(hist_takes_the_call_nearest_to_the_root_for_a_functions_depth)
{
	struct counting c;

	counting_init(&c);
	add(&c, "a;b;c;f", 5);
	add(&c, "f", 5);
	add(&c, "x;g", 10);
	c.options.prefers_callers = true;
	counting_start(&c, "symbol", true);
	check(&c,
		"10 10 [.] f\n"
		"10 0 [.] x\n"
		"10 10 [.] g\n"
		"5 0 [.] a\n"
		"5 0 [.] b\n"
		"5 0 [.] c\n");
	counting_fini(&c);
}

/* ---- random profiles, counted by definition ---- */

enum { FUNCTIONS = 8, DSOS = 3, COMMS = 3, SAMPLES = 60, DEPTH_MAX = 7 };

/* Stacks of few functions, so that they recurse in all ways. */
static void add_random(struct counting *c, u64 seed)
{
	for (int i = 0; i < SAMPLES; i++) {
		char stack[256] = "", comm[8];
		u64 depth = 1 + recording_below(&seed, DEPTH_MAX);

		for (u64 k = 0; k < depth; k++) {
			u64 f = recording_below(&seed, FUNCTIONS);
			char *end = stack + strlen(stack);

			/* Function 7 has no name; 3 and 6 share theirs in two DSOs. */
			if (f == 7)
				snprintf(end, 32, "%s0x70@d0", k ? ";" : "");
			else
				snprintf(end, 32, "%s%c@d%llu", k ? ";" : "", (char)('a' + f % 4),
					(unsigned long long)(f * 7 % DSOS));
		}
		snprintf(comm, sizeof(comm), "c%llu",
			(unsigned long long)recording_below(&seed, COMMS));
		profilemaker_add(&c->maker,
			&(struct profilemaker_sample){.event = recording_below(&seed, 2),
				.comm = comm,
				.pid = 1 + recording_below(&seed, 2),
				.tid = 1 + recording_below(&seed, 3),
				.cpu = recording_below(&seed, 2),
				.stack = stack,
				.n_samples = 1 + recording_below(&seed, 3),
				.period = recording_below(&seed, 5)});
	}
}

/* Whether a function belongs to an entry, by what the keys say of it. */
static bool is_of_entry(const struct hist *h, const struct hist_entry *e, u32 symbol)
{
	const struct profile_symbol *a = &h->profile->symbols.at[e->symbol],
				    *b = &h->profile->symbols.at[symbol];

	for (size_t k = 0; k < h->options->n_keys; k++) {
		if (h->options->keys[k]->frame == KEY_SYMBOL && e->symbol != symbol)
			return false;
		if (h->options->keys[k]->frame == KEY_DSO &&
			strcmp(h->profile->dsos.at[a->dso].name, h->profile->dsos.at[b->dso].name))
			return false;
	}
	return true;
}

static bool has_labels_of(const struct hist *h, const struct hist_entry *e,
	const struct profilemaker_taken *t)
{
	if (t->event != h->events[0].event)
		return false;
	for (size_t k = 0; k < h->options->n_keys; k++) {
		const struct key *key = h->options->keys[k];

		if (key->label && hist_label(h, e->group, key) != t->labels[key->label])
			return false;
	}
	return true;
}

/* Which occurrence of the entry's functions in a stack is first or last; n: none. */
static size_t first_in(const struct hist *h, const struct hist_entry *e,
	const struct profilemaker_taken *t)
{
	size_t i = 0;

	while (i < t->n && !is_of_entry(h, e, t->symbols[i]))
		i++;
	return i;
}

static size_t last_in(const struct hist *h, const struct hist_entry *e,
	const struct profilemaker_taken *t)
{
	for (size_t i = t->n; i-- > 0;)
		if (is_of_entry(h, e, t->symbols[i]))
			return i;
	return t->n;
}

static void check_entry(const struct counting *c, const struct hist_entry *e)
{
	struct hist_value self = {0}, total = {0};

	vec_each(t, &c->maker.taken) {
		if (!has_labels_of(&c->hist, e, t))
			continue;
		if (is_of_entry(&c->hist, e, t->symbols[t->n - 1])) {
			self.n_samples += t->n_samples;
			self.period += t->period;
		}
		if (first_in(&c->hist, e, t) < t->n) {
			total.n_samples += t->n_samples;
			total.period += t->period;
		}
	}
	CHECK_EQ(e->of[0].self.n_samples, self.n_samples);
	CHECK_EQ(e->of[0].self.period, self.period);
	if (!c->options.has_children)
		return;
	CHECK_EQ(e->of[0].total.n_samples, total.n_samples);
	CHECK_EQ(e->of[0].total.period, total.period);
}

/* Every sample's leaf has exactly one entry; with children so has every function of its stack. */
static void check_complete(const struct counting *c)
{
	struct hist_value sum = {0};

	vec_each(t, &c->maker.taken) {
		for (size_t i = c->options.has_children ? 0 : t->n - 1; i < t->n; i++) {
			size_t n = 0;

			vec_each(e, &c->hist.entries)
				n += has_labels_of(&c->hist, e, t) &&
					is_of_entry(&c->hist, e, t->symbols[i]);
			CHECK_EQ(n, t->event == c->hist.events[0].event);
		}
	}
	vec_each(e, &c->hist.entries) {
		sum.n_samples += e->of[0].self.n_samples;
		sum.period += e->of[0].self.period;
	}
	CHECK_EQ(sum.n_samples, c->hist.events[0].all.n_samples);
	CHECK_EQ(sum.period, c->hist.events[0].all.period);
	CHECK_EQ(sum.n_samples, c->maker.profile.events.at[c->hist.events[0].event].n_samples);
	CHECK_EQ(sum.period, c->maker.profile.events.at[c->hist.events[0].event].period);
}

static const char *const key_lists[] = {"symbol", "dso", "comm", "comm,dso,symbol", "cpu,symbol",
	"dso,comm", "pid,dso", "tgid,tid,cpu,comm", "symbol,comm,cpu"};

TEST(hist_of_random_profiles_is_what_the_definitions_say)
{
	for (u64 seed = 1; seed <= 12; seed++) {
		struct counting c;

		counting_init(&c);
		add_random(&c, seed);
		for (size_t i = 0; i < ARRAY_SIZE(key_lists); i++) {
			for (int has_children = 0; has_children < 2; has_children++) {
				counting_start(&c, key_lists[i], has_children);
				vec_each(e, &c.hist.entries)
					check_entry(&c, e);
				check_complete(&c);
				for (size_t k = 1; k < c.hist.entries.n; k++) {
					const struct hist_entry *a = &c.hist.entries.at[k - 1],
								*b = a + 1;

					CHECK(has_children ? a->of[0].total.period >
									b->of[0].total.period ||
								(a->of[0].total.period ==
										b->of[0].total
											.period &&
									a->of[0].self.period >=
										b->of[0].self
											.period)
							   : a->of[0].self.period >=
								b->of[0].self.period);
				}
				counting_stop(&c);
			}
		}
		counting_start(&c, "symbol", false);
		counting_fini(&c);
	}
}

/* The rows as text, which must not depend on what was counted first. */
static void add_rows_of(struct counting *c, const char *keys, bool has_children, struct str *text)
{
	counting_start(c, keys, has_children);
	vec_each(e, &c->hist.entries)
		add_entry(&c->hist, e, text);
	counting_stop(c);
}

TEST(hist_does_not_depend_on_the_order_of_samples)
{
	for (size_t i = 0; i < ARRAY_SIZE(key_lists); i++) {
		for (int has_children = 0; has_children < 2; has_children++) {
			struct str first = {0}, second = {0};
			struct counting a, b;

			counting_init(&a);
			counting_init(&b);
			add_random(&a, 99);
			/* The same samples from the last to the first, their functions met in
			 * another order. */
			for (size_t k = a.maker.taken.n; k-- > 0;) {
				const struct profilemaker_taken *t = &a.maker.taken.at[k];
				const struct profile *p = &a.maker.profile;
				char stack[256] = "";

				for (size_t s = 0; s < t->n; s++) {
					const struct profile_symbol *symbol =
						&p->symbols.at[t->symbols[s]];
					char *end = stack + strlen(stack);

					snprintf(end, 32, "%s%s@%s", s ? ";" : "",
						symbol->name ? symbol->name : "0x70",
						p->dsos.at[symbol->dso].name);
				}
				profilemaker_add(&b.maker,
					&(struct profilemaker_sample){.event = t->event,
						.comm = (const char *)(uintptr_t)
								t->labels[LABEL_COMM],
						.pid = t->labels[LABEL_PID],
						.tid = t->labels[LABEL_TID],
						.cpu = t->labels[LABEL_CPU],
						.stack = stack,
						.n_samples = t->n_samples,
						.period = t->period});
			}
			add_rows_of(&a, key_lists[i], has_children, &first);
			add_rows_of(&b, key_lists[i], has_children, &second);
			CHECK_STR(str_text(&first), str_text(&second));
			str_fini(&first);
			str_fini(&second);
			profilemaker_fini(&a.maker);
			profilemaker_fini(&b.maker);
		}
	}
}

/* ---- views ---- */

TEST(hist_view_shows_one_group_after_the_other)
{
	struct hist_view v;
	struct counting c;
	u64 sum = 0;

	counting_init(&c);
	add_random(&c, 5);
	counting_start(&c, "comm,symbol", true);
	hist_view_init(&v, &c.hist);
	for (int round = 0; round < 2; round++) {
		for (u32 g = 0; g < c.hist.n_groups; g++) {
			hist_view_show(&v, g);
			hist_view_show(&v, g); /* nothing is counted twice */
			for (u32 node = 1; node < c.calls.nodes.n; node++) {
				u64 below = v.own[node].period;

				for (u32 k = c.calls.nodes.at[node].first_child; k;
					k = c.calls.nodes.at[k].next_sibling)
					below += v.total[k].period;
				CHECK_EQ(v.total[node].period, below);
				sum += v.own[node].period;
			}
		}
	}
	CHECK_EQ(sum, 2 * c.hist.events[0].all.period);
	hist_view_fini(&v);
	counting_fini(&c);
}

/* ---- graphs ---- */

/* A tree made by definition: the total of each path. Children are found by symbol. */
struct plain_node {
	u32 symbol, parent;
	u64 own, total;
};

typedef VEC(struct plain_node) plain_tree;

static u32 plain_child(plain_tree *tree, u32 parent, u32 symbol)
{
	vec_each(n, tree)
		if (n != tree->at && n->parent == parent && n->symbol == symbol)
			return n - tree->at;
	vec_add(tree, ((struct plain_node){.symbol = symbol, .parent = parent}));
	return tree->n - 1;
}

static void plain_add(plain_tree *tree, u32 node, u64 period)
{
	tree->at[node].own += period;
	for (;; node = tree->at[node].parent) {
		tree->at[node].total += period;
		if (!node)
			return;
	}
}

/* One sample's place in an entry's graph, as graph.h defines it. */
static void plain_take(plain_tree *tree, const struct hist *h, const struct hist_entry *e,
	const struct profilemaker_taken *t, enum graph_order order)
{
	bool is_own = is_of_entry(h, e, t->symbols[t->n - 1]);
	u32 node = 0;

	if (!is_own && (!h->options->has_children || first_in(h, e, t) == t->n))
		return;
	if (order == GRAPH_CALLER)
		for (size_t i = is_own ? 0 : first_in(h, e, t); i < t->n; i++)
			node = plain_child(tree, node, t->symbols[i]);
	else
		for (size_t i = (is_own ? t->n - 1 : last_in(h, e, t)) + 1; i-- > 0;)
			node = plain_child(tree, node, t->symbols[i]);
	plain_add(tree, node, t->period);
}

/* Whether both trees have the same below these nodes; those that hold nothing are not drawn. */
static void compare_trees(const struct graph *g, u32 node, const plain_tree *tree, u32 plain)
{
	u64 last = UINT64_MAX, sum = g->nodes.at[node].own;
	size_t n = 0, n_plain = 0;

	CHECK_EQ(g->nodes.at[node].own, tree->at[plain].own);
	CHECK_EQ(g->nodes.at[node].total, tree->at[plain].total);
	for (u32 child = g->nodes.at[node].first_child; child;
		child = g->nodes.at[child].next_sibling, n++) {
		const struct rowset_node *c = &g->nodes.at[child];
		bool is_found = false;

		/* The most expensive come first. */
		CHECK(c->total && c->total <= last);
		last = c->total;
		sum += c->total;
		for (u32 k = 1; k < tree->n && !is_found; k++) {
			is_found = tree->at[k].parent == plain && tree->at[k].symbol == c->symbol;
			if (is_found)
				compare_trees(g, child, tree, k);
		}
		CHECK(is_found);
	}
	CHECK_EQ(sum, g->nodes.at[node].total);
	for (u32 k = 1; k < tree->n; k++)
		n_plain += tree->at[k].parent == plain && tree->at[k].total;
	CHECK_EQ(n, n_plain);
}

TEST(graph_of_random_profiles_is_what_the_definitions_say)
{
	for (u64 seed = 1; seed <= 6; seed++) {
		struct counting c;

		counting_init(&c);
		add_random(&c, seed * 1000);
		for (size_t i = 0; i < ARRAY_SIZE(key_lists); i++) {
			for (int variant = 0; variant < 4; variant++) {
				enum graph_order order = variant & 1 ? GRAPH_CALLEE : GRAPH_CALLER;
				struct hist_view view;

				counting_start(&c, key_lists[i], variant & 2);
				hist_view_init(&view, &c.hist);
				vec_each(e, &c.hist.entries) {
					plain_tree tree = {0};
					struct graph g;

					vec_add(&tree, ((struct plain_node){0}));
					vec_each(t, &c.maker.taken)
						if (has_labels_of(&c.hist, e, t))
							plain_take(&tree, &c.hist, e, t, order);
					graph_init(&g, &view, e, order);
					compare_trees(&g, 0, &tree, 0);
					/* A row's graph holds what the row says. */
					CHECK_EQ(g.nodes.at[0].total,
						variant & 2 ? e->of[0].total.period
							    : e->of[0].self.period);
					CHECK_EQ(g.nodes.at[0].total_samples,
						variant & 2 ? e->of[0].total.n_samples
							    : e->of[0].self.n_samples);
					graph_fini(&g);
					vec_fini(&tree);
				}
				hist_view_fini(&view);
				counting_stop(&c);
			}
		}
		counting_start(&c, "symbol", false);
		counting_fini(&c);
	}
}

/* "name total(child ...)" for all children of a node. */
static void add_graph(const struct counting *c, const struct graph *g, u32 node, struct str *text)
{
	const char *between = "";

	for (u32 child = g->nodes.at[node].first_child; child;
		child = g->nodes.at[child].next_sibling) {
		str_addf(text, "%s", between);
		key_add_symbol(&c->maker.profile.symbols.at[g->nodes.at[child].symbol], text);
		str_addf(text, " %llu", (unsigned long long)g->nodes.at[child].total);
		between = " ";
		if (!g->nodes.at[child].first_child)
			continue;
		str_addc(text, '(');
		add_graph(c, g, child, text);
		str_addc(text, ')');
	}
}

/* The graph of the row that begins so. */
static void check_graph(struct counting *c, const char *row, enum graph_order order,
	const char *expected)
{
	struct hist_view view;

	hist_view_init(&view, &c->hist);
	vec_each(e, &c->hist.entries) {
		struct str text = {0};
		struct graph g;

		add_entry(&c->hist, e, &text);
		if (strncmp(str_text(&text), row, strlen(row))) {
			str_fini(&text);
			continue;
		}
		str_clear(&text);
		graph_init(&g, &view, e, order);
		add_graph(c, &g, 0, &text);
		CHECK_STR(str_text(&text), expected);
		graph_fini(&g);
		str_fini(&text);
		hist_view_fini(&view);
		return;
	}
	test_failed(__FILE__, __LINE__, "there is no row '%s'", row);
}

TEST(graph_shows_what_was_called_and_who_called)
{
	struct counting c;

	counting_init(&c);
	add(&c, "main;a;x", 10);
	add(&c, "main;b;x", 20);
	add(&c, "main;b;x;y", 5);
	add(&c, "main;b", 1);
	counting_start(&c, "symbol", true);
	/* Its own samples hang on their whole path, those below it start with it. */
	check_graph(&c, "35 30 [.] x", GRAPH_CALLER, "main 30(b 20(x 20) a 10(x 10)) x 5(y 5)");
	check_graph(&c, "35 30 [.] x", GRAPH_CALLEE, "x 35(b 25(main 25) a 10(main 10))");
	check_graph(&c, "36 0 [.] main", GRAPH_CALLER, "main 36(b 26(x 25(y 5)) a 10(x 10))");
	check_graph(&c, "36 0 [.] main", GRAPH_CALLEE, "main 36");
	check_graph(&c, "5 5 [.] y", GRAPH_CALLEE, "y 5(x 5(b 5(main 5)))");
	counting_stop(&c);
	counting_start(&c, "symbol", false);
	check_graph(&c, "30 [.] x", GRAPH_CALLER, "main 30(b 20(x 20) a 10(x 10))");
	check_graph(&c, "30 [.] x", GRAPH_CALLEE, "x 30(b 20(main 20) a 10(main 10))");
	counting_fini(&c);
}

TEST(graph_of_a_recursive_function_begins_at_its_outermost_or_innermost_call)
{
	struct counting c;

	counting_init(&c);
	add(&c, "main;f;f;g", 7);
	add(&c, "main;f;f", 2);
	counting_start(&c, "symbol", true);
	check_graph(&c, "9 2 [.] f", GRAPH_CALLER, "f 7(f 7(g 7)) main 2(f 2(f 2))");
	check_graph(&c, "9 2 [.] f", GRAPH_CALLEE, "f 9(f 9(main 9))");
	counting_fini(&c);
}

TEST(graph_orders_equal_children_by_name)
{
	struct counting c;

	counting_init(&c);
	add(&c, "main;z", 1);
	add(&c, "main;0x20", 1);
	add(&c, "main;a", 1);
	add(&c, "main;m@b.so", 1);
	add(&c, "main;0x10", 1);
	add(&c, "main;m@a.so", 1);
	counting_start(&c, "dso", true);
	check_graph(&c, "6 4 prog", GRAPH_CALLEE,
		"main 2 a 1(main 1) z 1(main 1) 0x10 1(main 1) 0x20 1(main 1)");
	counting_fini(&c);
}

TEST(graph_order_does_not_depend_on_the_order_of_samples)
{
	/* By its address the one without a name stands between the others, whose names stand the
	 * other way round. */
	static const char *const stacks[] = {"main;z", "main;0x250", "main;a"};

	for (size_t first = 0; first < 3; first++) {
		for (size_t step = 1; step < 3; step++) {
			struct counting c;

			counting_init(&c);
			add(&c, "main", 1); /* 0x100 */
			add(&c, "z", 1);    /* 0x200 */
			add(&c, "a", 1);    /* 0x300 */
			for (size_t i = 0; i < 3; i++)
				add(&c, stacks[(first + step * i) % 3], 5);
			counting_start(&c, "symbol", true);
			check_graph(&c, "16 1 [.] main", GRAPH_CALLER, "main 16(a 5 z 5 0x250 5)");
			counting_fini(&c);
		}
	}
}

/* Live views decay counts, and samples are used up before periods: perf's top keeps rows until their period is. */
TEST(hist_counts_what_has_decayed_to_less_than_a_sample)
{
	for (int has_children = 0; has_children < 2; has_children++) {
		struct counting c;

		counting_init(&c);
		add(&c, "main;f", 100);
		add(&c, "main;f;g", 300);
		add(&c, "main;h", 800);
		add(&c, "main;h", 800);
		profile_scale(&c.maker.profile, 0.5);
		counting_start(&c, "symbol", has_children);
		check(&c,
			has_children
				? "1000 0 [.] main\n800 800 [.] h\n200 50 [.] f\n150 150 [.] g\n"
				: "800 [.] h\n150 [.] g\n50 [.] f\n");
		if (has_children)
			check_graph(&c, "1000 0 [.] main", GRAPH_CALLER,
				"main 1000(h 800 f 200(g 150))");
		check_graph(&c, has_children ? "150 150 [.] g" : "150 [.] g", GRAPH_CALLEE,
			"g 150(f 150(main 150))");
		counting_fini(&c);
	}
}
