/*
 * form_svg.c - stacks as a picture: a flame graph that browsers search and zoom, and that other viewers show as it is.
 */
#include <string.h>

#include "view/forms/forms.h"
#include "view/svg/flamegraph.h"

static void svg_form_table(struct page *p, const struct rowset *r)
{
	static const struct page_about unknown = {0};
	const struct page_about *about = p->about ? p->about : &unknown;
	struct picture plain = {0}, *picture = p->picture ? p->picture : &plain;
	const char *title = picture->options && picture->options->title ? picture->options->title
									: str_text(&about->title);
	struct str safe = {0};

	str_add_safe(&safe, title, strlen(title));
	flamegraph_add(p->out, r, picture,
		&(struct flamegraph_about){.title = safe.n ? str_text(&safe) : "pace",
			.ledger = str_text(&about->ledger),
			.n_samples = about->n_samples,
			.n_lost = MAX(about->n_lost_samples, about->n_lost_records),
			.lost = about->n_lost_records > about->n_lost_samples ? "record"
									      : "sample"});
	str_fini(&safe);
	str_fini(&plain.said);
}

const struct form form_svg = {.name = "svg",
	.extension = "svg",
	.help = "a flame graph as a picture, for browsers and documents",
	.wants = FORM_WANTS_STACKS | FORM_WANTS_FUNCTIONS | FORM_SHOWS_WALL | FORM_SKIPS_EMPTY |
		FORM_HAS_NO_TREE,
	.table = svg_form_table};
