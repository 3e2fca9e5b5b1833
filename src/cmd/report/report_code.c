#include "cmd/report/report_code.h"

#include "base/json.h"
#include "profile/code/annotation.h"
#include "view/code/annotate_page.h"
#include "view/code/annotate_types_page.h"

/* The page has the code of at most so many functions, and of none with a smaller share of an event (percent). */
enum { FUNCTIONS_MOST = 20 };

#define SHARE_LEAST 0.5

void report_code(struct recorded *r, const struct symbol_options *symbols, const u32 *events,
	size_t n_events, struct page_about *about)
{
	struct datanames datanames = {0};
	const struct assembly_options options = {.style = symbol_options_style(symbols, 0),
		.frame_style = symbol_options_style(symbols, 0) | DEMANGLE_COMPACT,
		.has_source = true,
		.has_code = true,
		.places = {.symfs = symbols->symfs ? symbols->symfs : ""},
		.datanames = &datanames};
	struct page_document document = {.name = "code"};
	struct str *text = &document.text;
	struct annotation annotation;

	annotation_init(&annotation, &r->profile);
	str_addc(text, '{');
	json_u64(text, "functions", annotation.functions.n);
	json_open(text, "shown", '[');
	for (size_t i = 0; i < MIN(annotation.functions.n, (size_t)FUNCTIONS_MOST); i++) {
		struct assembly a;

		if (annotation.functions.at[i].share < SHARE_LEAST)
			break;
		assembly_init(&a, &annotation, &annotation.functions.at[i], &r->trace.resolver,
			&options);
		annotate_page_add(text, &a, events, n_events);
		assembly_fini(&a);
	}
	json_close(text, ']');
	json_end(text, '}');
	vec_add(&about->documents, document);
	annotation_fini(&annotation);
	datanames_fini(&datanames);
}

void report_types(const struct recorded *r, const u32 *events, size_t n_events,
	struct page_about *about)
{
	const struct typing_events typing = recorded_typing(r);
	struct page_document document = {.name = "types"};
	struct typeprofile types;

	if (!r->profile.types.n)
		return;
	typeprofile_init(&types, &r->profile);
	if (!annotate_types_page_is_empty(&types)) {
		annotate_types_page_add(&document.text, &types, &typing, events, n_events);
		vec_add(&about->documents, document);
	}
	typeprofile_fini(&types);
}
