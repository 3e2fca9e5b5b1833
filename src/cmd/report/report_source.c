#include "cmd/report/report_source.h"

#include "cmd/report/report_spot.h"
#include "symbol/code/source.h"
#include "view/screen/editor.h"

bool report_source_offer(void *of, const struct browser_spot *at, struct str *title)
{
	const struct browse *b = of;
	const struct recorded *r = &b->reporting->recorded;
	const struct profile_symbol *s = &r->profile.symbols.at[spot_symbol(&b->table->hist, at)];

	if (!s->name || s->is_inlined)
		str_add(title, "this line has no function with code of its own");
	else if (!recorded_has_trace(r))
		str_add(title, "a profile of another program does not say where the source is");
	else
		str_addf(title, "Open the source of %s in the editor", s->name);
	return s->name && !s->is_inlined && recorded_has_trace(r);
}

/* The line where a function begins; false: there is no debug information about it. */
static bool line_of(struct reporting *r, const struct profile_symbol *s, struct line_frame *ret)
{
	struct trace *t = &r->recorded.trace;
	const struct dso *dso = t->machine.dsos.at.at[r->recorded.profile.dsos.at[s->dso].source];

	resolver_load_lines(&t->resolver, dso);
	return resolver_find_line(&t->resolver, dso, s->start, ret) && ret->file;
}

static void edit(struct reporting *r, struct browser *screen, const struct line_frame *at)
{
	const char *symfs = r->options->symbols.symfs;
	const struct source_places places = {.symfs = symfs ? symfs : ""};
	struct source source;
	struct err err;

	source_open(&source, &places, at->dir, at->file, 0);
	if (source.state == SOURCE_MISSING) {
		str_cut(&screen->message, 0);
		str_addf(&screen->message, "'%s': %s", str_text(&source.path),
			str_text(&source.why));
	} else if (editor_run(screen->screen, str_text(&source.path), at->line, &err)) {
		browser_say(screen, err.msg);
	}
	source_close(&source);
}

void report_source_act(void *of, struct browser *screen, const struct browser_spot *at)
{
	struct browse *b = of;
	struct reporting *r = b->reporting;
	const struct profile_symbol *s =
		&r->recorded.profile.symbols.at[spot_symbol(&b->table->hist, at)];
	struct line_frame line;

	log_hold(&r->log);
	if (!line_of(r, s, &line))
		browser_say(screen, "no debug information says where its source is");
	else if (screen->screen)
		edit(r, screen, &line);
	log_release(&r->log);
}
