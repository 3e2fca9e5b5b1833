#include "cmd/report/report_annotate.h"

#include "view/screen/codeview.h"

bool report_annotate_offer(void *of, const struct browser_spot *at, struct str *title)
{
	const struct browse *b = of;
	const struct recorded *r = &b->reporting->recorded;

	if (!report_spot_has_function(b, at, title))
		return false;
	if (!recorded_has_trace(r)) {
		str_add(title, "a profile of another program has no code");
		return false;
	}
	str_addf(title, "Annotate %s", r->profile.symbols.at[report_spot_symbol(b, at)].name);
	return true;
}

/* The assemblies are those of the text of annotate, with the report's names. */
static void run(struct browse *b, const struct annotation *annotation,
	const struct codeview_place *place, struct screen *screen)
{
	static const struct event_list no_events;
	struct reporting *r = b->reporting;
	const struct symbol_options *symbols = &r->options->symbols;
	const unsigned style = symbol_options_style(symbols, r->options->verbose);
	struct datanames datanames = {0};
	const struct assembly_options how = {.style = style,
		.frame_style = style | DEMANGLE_COMPACT,
		.has_source = true,
		.has_code = true,
		.places = {.symfs = symbols->symfs ? symbols->symfs : ""},
		.datanames = &datanames};
	/* With time off the CPUs, the profile's events are others than the recording's. */
	const struct annotate_options shown = {.has_source = true,
		.has_full_paths = r->options->has_full_paths,
		.events = r->recorded.has_wall ? &no_events
					       : &r->recorded.trace.session.reader.events};
	const struct codeview_source source = {.title = str_text(&b->title),
		.annotation = annotation,
		.resolver = &r->recorded.trace.resolver,
		.assembly = &how,
		.shown = &shown};

	/* What is said meanwhile would stand on the screen. */
	log_hold(&r->log);
	codeview_run(&source, place, screen);
	log_release(&r->log);
	datanames_fini(&datanames);
}

/*
 * Of the samples that the rows are of: those that zooms leave. A function that was sampled only in what it calls has code,
 * too.
 */
void report_annotate_act(void *of, struct browser *b, const struct browser_spot *at)
{
	struct browse *browse = of;
	const struct profile *p = report_levels_top(&browse->levels)->answer.profile;
	const u32 symbol = report_spot_symbol(browse, at);
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
