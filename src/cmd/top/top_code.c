#include "cmd/top/top_code.h"

#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "cmd/report/report_annotate.h"

enum { NS = 1000000000 };

struct top_code *top_code_new(struct feed *f)
{
	struct top_code *c = mem_zalloc(sizeof(*c));
	struct moment_options showing = f->showing;
	/* The log is the other thread's. */
	const struct find_places places = {
		.symfs = f->options.symbols->symfs ? f->options.symbols->symfs : "",
		.is_now = true};

	showing.has_places = true;
	c->time_ns = clock_ns_of(CLOCK_REALTIME);
	aggregate_flush(&f->counted, UINT64_MAX);
	moment_init(&c->moment, &f->counted, &f->trace.resolver, &showing);
	trace_begin_live(&c->trace, &f->events, &places);
	dso_list_copy(&c->trace.machine.dsos, &f->trace.machine.dsos);
	feed_choose_names(f, &c->trace.resolver);
	resolver_settle(&c->trace.resolver);
	return c;
}

void top_code_free(struct top_code *c)
{
	if (!c)
		return;
	moment_fini(&c->moment);
	trace_close(&c->trace);
	mem_free(c);
}

/* The DSO with that number in the feed; TABLE_NONE: no sample is in it. */
static u32 find_dso(const struct profile *p, u32 source)
{
	for (u32 i = 0; i < p->dsos.n; i++)
		if (p->dsos.at[i].source == source)
			return i;
	return TABLE_NONE;
}

/* The same symbol in the profile of the code; 0: there is none. */
static u32 find_symbol(const struct profile *p, const struct profile_symbol *s, u32 dso)
{
	for (u32 i = 1; i < p->symbols.n; i++) {
		const struct profile_symbol *other = &p->symbols.at[i];

		if (other->dso == dso && other->start == s->start &&
			other->is_inlined == s->is_inlined && other->name &&
			!strcmp(other->name, s->name))
			return i;
	}
	return 0;
}

static void add_title(const struct top_code *c, struct str *text)
{
	const time_t seconds = (time_t)(c->time_ns / NS);
	char clock[16];
	struct tm tm;

	localtime_r(&seconds, &tm);
	strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
	str_addf(text, "frozen at %s, measuring goes on", clock);
}

void top_code_show(struct top_code *c, const struct top_options *o, const struct profile *of,
	u32 symbol, struct browser *b)
{
	const struct profile *p = &c->moment.profile;
	struct codeview_place place = {.symbol = of->symbols.at[symbol],
		.function = ANNOTATION_NONE,
		.row = ASSEMBLY_NONE};
	const u32 dso = find_dso(p, of->dsos.at[place.symbol.dso].source);
	struct annotation annotation;
	struct str title = {0};
	u32 same;

	if (dso == TABLE_NONE) {
		browser_say(b, "no sample is left in its file");
		return;
	}
	add_title(c, &title);
	annotation_init(&annotation, p);
	same = find_symbol(p, &place.symbol, dso);
	place.symbol.dso = dso;
	if (same)
		place.function = annotation_of_symbol(&annotation, same);
	if (place.function == ANNOTATION_NONE && place.symbol.is_inlined)
		browser_say(b, "this function is inlined, and no sample is in it itself");
	else
		report_annotate_show(&(struct annotating){.title = str_text(&title),
					     .resolver = &c->trace.resolver,
					     .symbols = &o->symbols,
					     .verbose = o->record.verbose,
					     .events = &c->trace.session.reader.events},
			&annotation, &place, b->screen);
	annotation_fini(&annotation);
	str_fini(&title);
}
