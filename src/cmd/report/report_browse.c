#include "cmd/report/report.h"
#include "cmd/report/report_browse.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/pager.h"
#include "cmd/report/report_files.h"
#include "cmd/report/report_sort.h"
#include "view/records/header.h"
#include "view/screen/browser.h"

/* Rows in the form of plain text: what the browser has, too. */
static bool is_of_rows(const struct report_options *o)
{
	const struct answer_options *a = &o->answer;

	return !(a->is_hierarchy || a->budget || a->node || o->has_thread_counts ||
		o->has_header_only || o->is_dump || o->is_stats || o->is_tasks || o->is_mmaps);
}

static bool is_of_plain_form(const struct report_options *o)
{
	return form_chosen(&o->answer.forms) == &form_text && !answer_file(&o->answer);
}

int report_browse_check(const struct report_options *o, struct err *err)
{
	if (o->browser <= 0 || o->is_text)
		return 0;
	if (!is_of_plain_form(o))
		return err_set(err, ERR_INVAL,
			"--tui: a form for a file or a program cannot be walked through: leave it out");
	if (!is_of_rows(o))
		return err_set(err, ERR_INVAL,
			"--tui shows rows: without it, --hierarchy, --budget, --node, -T, -D, --stats, --tasks, --mmaps and --header-only print text");
	return 0;
}

bool report_browse_fits(const struct report_options *o)
{
	return is_of_plain_form(o) && is_of_rows(o) && !o->is_quiet && !o->has_header &&
		!o->has_ledger && !o->is_strict && !o->answer.forms.name &&
		o->colour == COLOUR_AUTO && o->graph.style != DRAWING_FLAT &&
		o->graph.style != DRAWING_FOLDED && !o->answer.assertions.n;
}

bool report_browse_is_wanted(const struct reporting *r, const struct out *out)
{
	const struct report_options *o = r->options;

	if (!o->browser || o->is_text || out->fd != STDOUT_FILENO)
		return false;
	/* That there is nothing, and why, is a text. */
	if (o->browser < 0)
		return report_browse_fits(o) && screen_is_default() && r->recorded.profile.rows.n;
	if (screen_is_possible())
		return true;
	log_note(r->recorded.log,
		"--tui needs a terminal on which it can place the cursor (TERM): this is plain text");
	return false;
}

static const struct rowset *open_table(void *of, size_t table)
{
	struct browse *b = of;

	b->table = report_levels_table(&b->levels, table);
	return &b->table->rows.rows;
}

/* The file, and what is on top of it: "perf.data > thread sh". */
static void set_title(struct browse *b)
{
	const char *path = report_name(&report_levels_top(&b->levels)->options),
		   *name = strrchr(path, '/');
	size_t first = b->levels.at.n;

	while (first > 1 && !b->levels.at.at[first - 1]->input.n)
		first--;
	str_cut(&b->title, 0);
	str_add(&b->title, name && name[1] ? name + 1 : path);
	for (size_t i = first; i < b->levels.at.n; i++)
		str_addf(&b->title, " > %s", str_text(&b->levels.at.at[i]->crumb));
}

static void set_pages(struct browse *b)
{
	struct recorded *in = &b->reporting->recorded;

	str_cut(&b->ledger, 0);
	str_cut(&b->header, 0);
	ledger_add_text(&in->ledger, true, &b->ledger);
	if (recorded_has_trace(in))
		header_add_text(&in->trace.session.reader, b->reporting->options->has_details,
			&b->header);
	report_files_strip(&b->ledger);
	report_files_strip(&b->header);
	b->source.n_pages = 0;
	if (b->ledger.n)
		b->pages[b->source.n_pages++] = (struct browser_page){BROWSER_KEY_LEDGER,
			"What was lost or has no name", str_text(&b->ledger)};
	if (b->header.n)
		b->pages[b->source.n_pages++] = (struct browser_page){BROWSER_KEY_HEADER,
			"The header of the file", str_text(&b->header)};
}

/* What the browser shows of the level on top. */
static void set_source(struct browse *b)
{
	struct report_level *top = report_levels_top(&b->levels);

	b->reporting = top->reporting;
	set_title(b);
	set_pages(b);
	b->source.title = str_text(&b->title);
	b->source.n = answer_n_tables(&top->answer);
	b->source.drawing = &top->choice->text.drawing;
}

void report_browse_show(struct browse *b, struct browser *screen)
{
	set_source(b);
	browser_renew(screen);
}

static bool back(void *of, struct browser *screen)
{
	struct browse *b = of;
	struct report_level *level = report_levels_pop(&b->levels);

	if (!level)
		return false;
	report_browse_show(b, screen);
	screen->line = report_levels_top(&b->levels)->line;
	report_level_drop(level);
	return true;
}

bool report_browse_take_back(struct browse *b, struct browser *screen, u32 key)
{
	return report_levels_top(&b->levels)->key == key && back(b, screen);
}

static int run(const struct browser_source *source, struct err *err)
{
	struct screen screen;

	if (screen_open(&screen, NULL, err))
		return err->code;
	browser_run(source, &screen);
	screen_close(&screen);
	return 0;
}

static void close_all(struct browse *b)
{
	report_levels_fini(&b->levels);
	str_fini(&b->title);
	str_fini(&b->ledger);
	str_fini(&b->header);
	report_files_forget(b);
	vec_fini(&b->files);
}

int report_browse(struct reporting *r, struct err *err)
{
	struct browse b = {.source = {.open = open_table,
				   .pages = b.pages,
				   .actions = report_actions,
				   .n_actions = n_report_actions,
				   .orders = &report_orders,
				   .back = back}};
	int result = 0;

	pager_never();
	b.source.of = &b;
	report_levels_init(&b.levels, r);
	set_source(&b);
	if (!b.source.n)
		log_note(r->recorded.log, "there are no events: --tui has nothing to show");
	else
		result = run(&b.source, err);
	close_all(&b);
	return result;
}
