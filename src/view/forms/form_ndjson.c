/*
 * form_ndjson.c - rows as JSON, each an object on a line of its own with the name of its event, for databases and jq.
 */
#include "base/json.h"
#include "view/forms/forms.h"

static void ndjson_form_table(struct page *p, const struct rowset *r)
{
	for (size_t row = 0; row < r->n; row++) {
		if (!rowset_shows(r, row))
			continue;
		form_json_line(p, r, row);
		out_flush_some(p->out);
	}
}

const struct form form_ndjson = {.name = "ndjson",
	.extension = "ndjson",
	.help = "each row as a JSON object on a line of its own",
	.wants = FORM_SPLITS_COLUMNS | FORM_HAS_NO_TREE,
	.table = ndjson_form_table};
