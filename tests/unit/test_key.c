#include "test.h"

#include "event/abi.h"
#include "view/text/celltext.h"
#include "unit/profilemaker.h"

/* ---- the table ---- */

TEST(key_table_says_everything_about_each_key)
{
	size_t n = 0;

	for (const struct key *key; (key = key_at(n)) != NULL; n++) {
		CHECK(*key->name && *key->title && *key->help && key->cell);
		/* Figures with parts and averages have names that keys to group by have, too. */
		CHECK(key_find_field(key->name, strlen(key->name)) == key ||
			(!key->is_value && key_find_field(key->name, strlen(key->name))->is_value));
		CHECK(key->has_parts || key_find(key->name, strlen(key->name)) == key);
		if (key->alias && !key->has_parts)
			CHECK(key_find(key->alias, strlen(key->alias)) == key);
		/* A key to group by looks at a label or at a frame. */
		if (key->is_value)
			CHECK(key->frame == KEY_NO_FRAME &&
				(key->figure || key->is_wall || key->is_of_code));
		else
			CHECK_EQ(key->label != LABEL_NONE, key->frame == KEY_NO_FRAME);
		CHECK(!key->label || key->frame == KEY_NO_FRAME);
		CHECK(key->label || (!key->compare && !key->value));
	}
	CHECK(n > 70);
	CHECK(!key_at(n) && !key_at(1000));
}

TEST(key_names_are_whole_words)
{
	CHECK(key_find("symbol", 6) && key_find("sym", 3) == key_find("symbol", 6));
	CHECK(key_find("tid", 3) == key_find("pid", 3));
	CHECK(key_find("comm,dso", 4) == key_find("comm", 4));
	CHECK(!key_find("symb", 4));
	CHECK(!key_find("symbols", 7));
	CHECK(!key_find("comm,dso", 8));
	CHECK(!key_find("", 0));
	CHECK(!key_find("Symbol", 6));
}

static const char *title_of(const struct key *key)
{
	return key ? key->title : "";
}

TEST(key_words_of_accesses_are_parts_as_fields_and_groups_as_keys)
{
	static const char *const words[][3] = {{"op", "Mem Op", "Operation"},
		{"cache", "Cache", "Cache"}, {"memory", "Memory", "Memory"},
		{"mem", "Memory", "Memory access"}, {"dtlb", "D-TLB", "D-TLB"},
		{"snoop", "Snoop", "Snoop"}};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		const size_t n = strlen(words[i][0]);
		const struct key *field = key_find_field(words[i][0], n);
		const struct key *key = key_find(words[i][0], n);

		CHECK_STR(title_of(field), words[i][1]);
		CHECK_STR(title_of(key), words[i][2]);
		CHECK(field->is_value && field->has_parts && field->n_data == field->n_sums);
		CHECK(!key->is_value && key->label == LABEL_DATA_SOURCE);
		for (size_t k = 0; k < field->n_data; k++)
			CHECK(field->data[k].band == field->data[0].band &&
				field->data[k].sums == &field->sums[k]);
	}
	CHECK(key_find_field("tlb", 3) == key_find("tlb", 3));
	CHECK(!key_find_field("op_load", 7));
}

TEST(key_words_of_sums_are_averages_as_fields)
{
	CHECK(key_find_field("weight", 6) == key_find("weight1", 7));
	CHECK(key_find_field("ins_lat", 7) == key_find("weight2", 7));
	CHECK(key_find_field("retire_lat", 10) == key_find("weight3", 7));
	CHECK(key_find_field("p_stage_cyc", 11) == key_find("weight3", 7));
	CHECK(key_find_field("local_weight", 12) == key_find("local_weight", 12));
	CHECK(!key_field_average("weights", 7) && !key_field_average("", 0));
}

/* ---- lists ---- */

static void check_list(const char *text, const char *expected)
{
	const struct key *keys[HIST_KEYS_MAX];
	struct str names = {0};
	struct err err;
	size_t n;

	if (key_parse_list(text, keys, HIST_KEYS_MAX, &n, &err))
		test_failed(__FILE__, __LINE__, "%s", err.msg);
	for (size_t i = 0; i < n; i++)
		str_addf(&names, "%s ", keys[i]->name);
	CHECK_STR(str_text(&names), expected);
	str_fini(&names);
}

TEST(key_list_is_split_at_commas_and_spaces)
{
	check_list("comm,dso,symbol", "comm dso symbol ");
	check_list("sym", "symbol ");
	check_list("comm, dso symbol", "comm dso symbol ");
	check_list("comm,,dso,", "comm dso ");
	check_list("overhead,sample,period,cpu,tgid,tid", "overhead sample period cpu tgid pid ");
}

static void check_refused(const char *text, const char *message)
{
	const struct key *keys[HIST_KEYS_MAX] = {0};
	struct err err;
	size_t n = 99;

	CHECK_EQ(key_parse_list(text, keys, HIST_KEYS_MAX, &n, &err), ERR_INVAL);
	CHECK_STR(err.msg, message);
	CHECK_EQ(n, 99);
}

TEST(key_list_with_an_unknown_key_names_the_nearest)
{
	struct str all = {0};
	const struct key *key;

	check_refused("comm,simbol", "there is no key 'simbol'; did you mean 'symbol'?");
	check_refused("dos", "there is no key 'dos'; did you mean 'dso'?");
	check_refused("Overhead", "there is no key 'Overhead'; did you mean 'overhead'?");
	check_refused("com", "there is no key 'com'; did you mean 'comm'?");
	str_add(&all, "there is no key 'xyzzy'; known are");
	for (size_t i = 0; (key = key_at(i)) != NULL; i++)
		if (!key->has_parts)
			str_addf(&all, " %s", key->name);
	check_refused("xyzzy,comm", str_text(&all));
	str_fini(&all);
	check_refused("comm,simd",
		"there is no key 'simd': it needs traces of Arm SPE, which pace does not decode");
	check_refused("ipc_null",
		"there is no key 'ipc_null': perf adds it where nothing is known; 'ipc_lbr' shows "
		"instructions per cycle, of recordings with branches");
}

TEST(key_list_without_keys_is_refused)
{
	check_refused("", "a list of keys is needed, like comm,dso,symbol");
}

TEST(key_list_with_a_very_long_word_is_refused)
{
	char *text = malloc(10001);
	struct err err;
	const struct key *key;
	size_t n;

	memset(text, 'x', 10000);
	text[10000] = '\0';
	CHECK_EQ(key_parse_list(text, &key, 1, &n, &err), ERR_INVAL);
	CHECK_HAS(err.msg,
		"there is no key "
		"'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'; known are");
	free(text);
}

TEST(key_list_that_is_too_long_is_refused)
{
	const struct key **keys = malloc(2 * sizeof(*keys));
	struct err err;
	size_t n;

	CHECK_EQ(key_parse_list("comm,dso", keys, 2, &n, &err), 0);
	CHECK_EQ(n, 2);
	CHECK_EQ(key_parse_list("comm,dso,cpu", keys, 2, &n, &err), ERR_INVAL);
	CHECK_STR(err.msg, "more than 2 keys");
	free(keys);
}

/* ---- cells ---- */

/* What a key prints of an entry with this value, of which the profile knows two tasks. */
static const char *cell_of(const char *name, u32 symbol, struct hist_values values, u64 value)
{
	static char buf[8][64];
	static unsigned next;
	struct hist_options options = {.has_children = true};
	struct hist_event event = {.all = {10, 1000}};
	struct hist hist = {.options = &options, .events = &event, .n_events = 1};
	const struct hist_entry entry = {.symbol = symbol, .of = &values};
	const struct key *key = key_find(name, strlen(name));
	struct str text = {0}, room = {0};
	struct cell cell = {0};
	struct celltext layout;
	struct profile p;
	char *to = buf[next++ % ARRAY_SIZE(buf)];

	CHECK(key);
	profile_init(&p, 0);
	vec_add(&p.dsos, ((struct profile_dso){.path = "/a/b\x1b", .name = "b\x1b"}));
	vec_add(&p.symbols,
		((struct profile_symbol){.name = "f\n", .mode = PERF_RECORD_MISC_USER}));
	vec_add(&p.symbols,
		((struct profile_symbol){.start = 0x1234, .mode = PERF_RECORD_MISC_KERNEL}));
	vec_add(&p.symbols,
		((struct profile_symbol){.name = "g", .mode = PERF_RECORD_MISC_HYPERVISOR}));
	vec_add(&p.symbols,
		((struct profile_symbol){.name = "g", .mode = PERF_RECORD_MISC_GUEST_KERNEL}));
	vec_add(&p.symbols,
		((struct profile_symbol){.name = "g", .mode = PERF_RECORD_MISC_GUEST_USER}));
	vec_add(&p.symbols, ((struct profile_symbol){.name = "g"}));
	vec_add(&p.tasks, ((struct profile_task){10, 10, "sh"}));
	vec_add(&p.tasks, ((struct profile_task){10, 12, ""}));
	vec_add(&p.tasks, ((struct profile_task){-1, -1, ""}));
	hist.profile = &p;
	key->cell(&(struct key_value){&hist, &entry, 0, value, &room}, &cell);
	CHECK(cell.reason || cell.kind == key->kind);
	layout = celltext_of(key);
	celltext_add(&layout, &cell, &text);
	str_fini(&room);
	snprintf(to, sizeof(buf[0]), "%s", str_text(&text));
	str_fini(&text);
	profile_fini(&p);
	return to;
}

static const char *cell(const char *name, struct hist_values values)
{
	return cell_of(name, 0, values, 0);
}

static const char *value_cell(const char *name, u64 value)
{
	return cell_of(name, 0, (struct hist_values){.self = {3, 250}}, value);
}

static const char *symbol_cell(const char *name, u32 symbol)
{
	return cell_of(name, symbol, (struct hist_values){0}, 0);
}

TEST(key_cells_are_written_as_perf_writes_them)
{
	struct hist_values e = {.self = {3, 250}, .total = {7, 1000}};

	CHECK_STR(cell("overhead", e), "25.00%");
	CHECK_STR(cell("overhead_children", e), "100.00%");
	CHECK_STR(cell("sample", e), "3");
	CHECK_STR(cell("period", e), "250");
	e.self.period = 1;
	CHECK_STR(cell("overhead", e), "0.10%");
	CHECK_STR(value_cell("tid", 10), "     10:sh");
	CHECK_STR(value_cell("tgid", 12), "     12::12");
	CHECK_STR(value_cell("pid", 99999999), "99999999::99999999");
	CHECK_STR(value_cell("pid", 0), "      0:swapper");
	CHECK_STR(value_cell("pid", (u32)-1), "     -1::-1");
	CHECK_STR(value_cell("cpu", 7), "007");
	CHECK_STR(value_cell("cpu", 1234), "1234");
	CHECK_STR(value_cell("cpu", (u32)-1), "-001");
	CHECK_STR(value_cell("dso_size", 4096), "4096");
	CHECK_STR(value_cell("dso_size", 0), "unknown");
	CHECK_STR(value_cell("dso_size", 0xffffffff9fffffff), "unknown");
}

TEST(key_cells_show_foreign_text_so_that_a_terminal_does_nothing)
{
	CHECK_STR(value_cell("comm", (u64)(uintptr_t) "a\x1b[2Jb"), "a\\x1b[2Jb");
	CHECK_STR(symbol_cell("dso", 1), "b\\x1b");
	CHECK_STR(symbol_cell("symbol", 1), "[.] f\\x0a");
}

TEST(key_symbol_says_where_it_runs)
{
	static const char *const cells[] = {"[.] f\\x0a", "[k] 0x0000000000001234", "[H] g",
		"[g] g", "[u] g", "[.] g"};

	for (u32 i = 0; i < ARRAY_SIZE(cells); i++)
		CHECK_STR(symbol_cell("symbol", 1 + i), cells[i]);
}
