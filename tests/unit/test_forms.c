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
		CHECK_EQ(form_check(&c, &err), 0);
		CHECK(form_chosen(&c) == f);
	}
}

TEST(form_names_that_none_has_are_refused_with_those_there_are)
{
	struct form_choice c = {.name = "yaml"};
	struct err err;

	CHECK_EQ(form_check(&c, &err), ERR_INVAL);
	CHECK_STR(err.msg, "--format: 'yaml' is none of text, csv, json, md, folded, html");
	c = (struct form_choice){.name = "csv", .is_chosen[FORM_JSON] = true};
	CHECK_EQ(form_check(&c, &err), ERR_INVAL);
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

TEST(form_markdown_puts_what_has_no_line_into_the_last_one)
{
	struct str text = {0};

	show("md", 1, &text);
	CHECK_EQ(count_of(str_text(&text), "| `function_"), 9);
	CHECK(strstr(str_text(&text), "| 98.21% | *991 more* |\n"));
	str_fini(&text);
}
