#include "test.h"

#include <stdio.h>
#include <string.h>

#include "view/rows/histrows.h"
#include "unit/profilemaker.h"
#include "view/forms/forms.h"

TEST(forms_table_says_everything_about_each_form)
{
	struct form_choice c = {0};
	struct err err;

	for (size_t i = 0; form_table[i]; i++) {
		const struct form *f = form_table[i];

		CHECK(*f->name && *f->extension && *f->help && f->table);
		c.name = f->name;
		CHECK_EQ(form_check(&c, FORM_OF_SAMPLES, &err),
			f->missing && f->missing() ? ERR_UNSUPPORTED : 0);
		CHECK(form_chosen(&c) == f);
		if (f->missing && f->missing())
			CHECK_HAS(err.msg, f->missing());
	}
}

TEST(form_names_that_none_has_are_refused_with_those_there_are)
{
	struct form_choice c = {.name = "yaml"};
	struct err err;

	CHECK_EQ(form_check(&c, FORM_OF_SAMPLES, &err), ERR_INVAL);
	CHECK_STR(err.msg,
		"--format: 'yaml' is none of text, csv, json, md, folded, speedscope, firefox, chrome, pprof, callgrind, otlp, sqlite, ndjson, html, svg");
	c = (struct form_choice){.name = "csv", .is_chosen[FORM_JSON] = true};
	CHECK_EQ(form_check(&c, FORM_OF_SAMPLES, &err), ERR_INVAL);
}

/* A table of many functions, of two events, in this form. */
static void show(const char *name_of_form, u32 n_events, struct str *ret)
{
	const struct form *form = form_chosen(&(struct form_choice){.name = name_of_form});
	const struct hist_events events = {.n = n_events};
	struct hist_options options = {0};
	const struct text_options text = {.n_workers = 1};
	FILE *file = tmpfile();
	struct out out = {.fd = fileno(file)};
	struct page p = {.form = form,
		.out = &out,
		.text = &text,
		.list = "events",
		.n_lines = 10,
		.n_parts = n_events > 1 ? n_events : 0};
	const struct histrows_options columns = {0};
	struct profilemaker m;
	struct histrows rows;
	struct calls calls;
	struct hist hist;
	struct err err;
	char name[32], buf[4096];
	size_t n;

	profilemaker_init(&m, LABEL_BIT(LABEL_COMM));
	profilemaker_event(&m, "cycles");
	profilemaker_event(&m, "a\"b,c");
	for (u32 i = 0; i < 2000; i++) {
		snprintf(name, sizeof(name), "function_%u", i);
		profilemaker_add(&m,
			&(struct profilemaker_sample){i % 2, "sh", .stack = name, .period = i + 1});
	}
	CHECK_EQ(key_parse_list("comm,symbol", options.keys, HIST_KEYS_MAX, &options.n_keys, &err),
		0);
	calls_init(&calls, &m.profile);
	hist_init_table(&hist, &m.profile, &calls, &events, &options);
	histrows_init(&rows, &hist, &columns);
	page_begin(&p);
	form->table(&p, &rows.rows);
	page_end(&p, NULL);
	histrows_fini(&rows);
	CHECK_EQ(out_close(&out, &err), 0);
	rewind(file);
	while ((n = fread(buf, 1, sizeof(buf), file)) > 0)
		str_addn(ret, buf, n);
	fclose(file);
	hist_fini(&hist);
	calls_fini(&calls);
	profilemaker_fini(&m);
}

static size_t count_of(const char *text, const char *word)
{
	size_t n = 0;

	while ((text = strstr(text, word)) != NULL) {
		text += strlen(word);
		n++;
	}
	return n;
}

/* What is flushed meanwhile has its commas already. */
TEST(form_json_has_no_comma_behind_the_last_of_many_rows)
{
	for (u32 n_events = 1; n_events < 3; n_events++) {
		struct str text = {0};

		show("json", n_events, &text);
		CHECK(text.n > 64 * 1024);
		CHECK(!strstr(str_text(&text), ",]") && !strstr(str_text(&text), ",}"));
		CHECK_EQ(count_of(str_text(&text), "\"comm\":"), n_events * 1000);
		str_fini(&text);
	}
}

TEST(form_csv_has_columns_for_each_event_of_a_table)
{
	static const char header[] =
		"event_1,samples_1,period_1,share_1,event_2,samples_2,period_2,share_2,comm,symbol\n";
	static const char row[] = "cycles,1,1999,0.1999,\"a\"\"b,c\",0,0,0.0000,sh,function_1998\n";
	struct str text = {0};

	show("csv", 2, &text);
	CHECK_EQ(strncmp(str_text(&text), header, strlen(header)), 0);
	CHECK_EQ(strncmp(str_text(&text) + strlen(header), row, strlen(row)), 0);
	CHECK_EQ(count_of(str_text(&text), "\n"), 2001);
	str_fini(&text);
}

static void add_named(const struct rowset *r, const struct rowset_column *c, size_t row, u32 part,
	struct str *room, struct cell *ret)
{
	(void)r;
	(void)room;
	cell_number(ret, CELL_COUNT, 10 * row + part);
	ret->name = c->has_name ? "a;b" : NULL;
}

/* Another table on the same page has more parts, so the header has columns for them. */
TEST(form_csv_has_empty_cells_for_the_parts_that_a_table_lacks)
{
	static const struct rowset_column columns[] = {
		{"n", "N", ROWSET_VALUE, CELL_COUNT, .is_of_part = true, .has_name = true},
		{"cpu", "CPU", ROWSET_KEY, CELL_COUNT}};
	const struct rowset table = {.columns = columns,
		.n_columns = ARRAY_SIZE(columns),
		.n = 2,
		.n_parts = 1,
		.cell = add_named};
	struct out out = {.fd = -1};
	struct page p = {.form = form_chosen(&(struct form_choice){.name = "csv"}),
		.out = &out,
		.separator = ";",
		.n_parts = 3,
		.is_lines = true};

	p.form->table(&p, &table);
	CHECK_STR(str_text(&out.text),
		"n_1;n_name_1;n_2;n_name_2;n_3;n_name_3;cpu\n"
		"0;\"a;b\";;;;;0\n"
		"10;\"a;b\";;;;;10\n");
	str_fini(&out.text);
}

TEST(form_markdown_puts_what_has_no_line_into_the_last_one)
{
	struct str text = {0};

	show("md", 1, &text);
	CHECK_EQ(count_of(str_text(&text), "| `function_"), 9);
	CHECK(strstr(str_text(&text), "| 98.21% | *991 more* |\n"));
	str_fini(&text);
}

/* Rows that are not of samples, one with a table in a cell. */
static void show_alone(const char *name_of_form, struct str *ret)
{
	struct rowmaker m = {0};
	struct out out = {.fd = -1};

	rowmaker_row(&m);
	rowmaker_text(&m, "name", "cycles");
	rowmaker_u64(rowmaker_below(&m, "encoding", ROWMAKER_OBJECT), "type", 4);
	rowmaker_fixed(&m, "share", 12.345, 2);
	rowmaker_row(&m);
	rowmaker_text(&m, "name", "a|b,\"c\"");
	rowmaker_text(&m, "encoding", NULL);
	rowmaker_bool(&m, "opens", false);
	form_show(form_chosen(&(struct form_choice){.name = name_of_form}), &m, &out);
	rowmaker_fini(&m);
	*ret = out.text;
}

TEST(forms_show_a_table_that_is_of_no_samples)
{
	static const struct {
		const char *form, *text;
	} cases[] = {
		{"json",
			"[{\"name\":\"cycles\",\"encoding\":{\"type\":4},\"share\":12.35},"
			"{\"name\":\"a|b,\\\"c\\\"\",\"encoding\":null,\"opens\":false}]\n"},
		{"csv", "name,encoding,opens,share\ncycles,,,12.35\n\"a|b,\"\"c\"\"\",,0,\n"},
		{"md",
			"| name | encoding | opens | share |\n|---|---|---|---|\n"
			"| `cycles` |  |  | `12.35` |\n| `a\\|b,\"c\"` |  | `0` |  |\n\n"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct str text = {0};

		show_alone(cases[i].form, &text);
		CHECK_STR(str_text(&text), cases[i].text);
		str_fini(&text);
	}
}

TEST(forms_that_have_no_place_for_what_there_is_are_refused)
{
	struct form_choice c = {.name = "folded"};
	struct err err;

	CHECK_EQ(form_check(&c, FORM_OF_ROWS, &err), ERR_INVAL);
	CHECK_STR(err.msg, "--format: 'folded' shows stacks, and there are none here");
	CHECK_EQ(form_check(&c, FORM_OF_NESTED, &err), ERR_INVAL);
	c.name = "csv";
	CHECK_EQ(form_check(&c, FORM_OF_ROWS, &err), 0);
	CHECK_EQ(form_check(&c, FORM_OF_NESTED, &err), ERR_INVAL);
	c.name = "json";
	CHECK_EQ(form_check(&c, FORM_OF_NESTED, &err), 0);
	c = (struct form_choice){0};
	CHECK_EQ(form_check(&c, FORM_OF_ROWS, &err), 0);
	CHECK_EQ(form_check(&c, FORM_OF_NESTED, &err), 0);
}
