#include "cmd/report/report_annotate.h"

#include "cmd/report/report_spot.h"

bool report_annotate_offer(void *of, const struct browser_spot *at, struct str *title)
{
	const struct browse *b = of;
	const struct recorded *r = &b->reporting->recorded;

	if (!spot_has_function(&b->table->hist, at, title))
		return false;
	if (!recorded_has_trace(r)) {
		str_add(title, "a profile of another program has no code");
		return false;
	}
	str_addf(title, "Annotate %s",
		r->profile.symbols.at[spot_symbol(&b->table->hist, at)].name);
	return true;
}

/* The assemblies are those of the text of annotate, with the names that rows have. */
void report_annotate_show(const struct annotating *a, const struct annotation *annotation,
	const struct codeview_place *place, struct screen *screen)
{
	const unsigned style = symbol_options_style(a->symbols, a->verbose);
	struct datanames datanames = {0};
	struct assembly_options how = {.style = style,
		.frame_style = style | DEMANGLE_COMPACT,
		.has_source = true,
		.has_code = true,
		.datanames = &datanames};
	struct annotate_options shown = {.has_full_paths = a->has_full_paths, .events = a->events};
	const struct codeview_source source = {.title = a->title,
		.annotation = annotation,
		.resolver = a->resolver,
		.assembly = &how,
		.shown = &shown};

	code_options_tell(a->code, a->symbols, &how, &shown);
	codeview_run(&source, place, screen);
	datanames_fini(&datanames);
}

static void run(struct browse *b, const struct annotation *annotation,
	const struct codeview_place *place, struct screen *screen)
{
	static const struct event_list no_events;
	struct reporting *r = b->reporting;
	/* With time off the CPUs, the profile's events are others than the recording's. */
	const struct annotating how = {.title = str_text(&b->title),
		.resolver = &r->recorded.trace.resolver,
		.symbols = &r->options->symbols,
		.code = &r->options->code,
		.verbose = r->options->verbose,
		.has_full_paths = r->options->has_full_paths,
		.events = r->recorded.has_wall ? &no_events
					       : &r->recorded.trace.session.reader.events};

	/* What is said meanwhile would stand on the screen. */
	log_hold(&r->log);
	report_annotate_show(&how, annotation, place, screen);
	log_release(&r->log);
}

/*
 * Of the samples that the rows are of: those that zooms leave. A function that was sampled only in what it calls has code,
 * too.
 */
void report_annotate_act(void *of, struct browser *b, const struct browser_spot *at)
{
	struct browse *browse = of;
	const struct profile *p = report_levels_top(&browse->levels)->answer.profile;
	const u32 symbol = spot_symbol(&browse->table->hist, at);
	struct codeview_place place = {.symbol = p->symbols.at[symbol], .row = ASSEMBLY_NONE};
	struct annotation annotation;

	annotation_init(&annotation, p);
	place.function = annotation_of_symbol(&annotation, symbol);
	if (place.function == ANNOTATION_NONE && place.symbol.is_inlined)
		browser_say(b, "this function is inlined, and no sample is in it itself");
	else
		run(browse, &annotation, &place, b->screen);
	annotation_fini(&annotation);
}
