/* A profile that another program wrote: folded stacks, pprof, OpenTelemetry, packed or not. The bits of the first byte choose the options. */
#include "fuzz/fuzz.h"

#include <fcntl.h>
#include <unistd.h>

#include "profile/tree/calls.h"
#include "profile/import/import.h"
#include "view/forms/forms.h"
#include "view/rows/stackrows.h"

static void check_frames(const struct profile *p)
{
	vec_each(s, &p->symbols)
		FUZZ_CHECK(s == p->symbols.at || s->dso < p->dsos.n);
	vec_each(f, &p->frames) {
		FUZZ_CHECK(f->symbol && f->symbol < p->symbols.n && f->dso < p->dsos.n);
		FUZZ_CHECK(f->first_inlined + f->n_inlined <= p->inlined.n &&
			f->n_inlined <= IMPORT_INLINED);
	}
	for (size_t i = 1; i < p->stacks.n; i++)
		FUZZ_CHECK(p->stacks.at[i].parent < i && p->stacks.at[i].frame < p->frames.n);
}

static void check_rows(const struct profile *p)
{
	u64 *n_samples = calloc(p->events.n + 1, sizeof(*n_samples)),
	    *periods = calloc(p->events.n + 1, sizeof(*periods));

	vec_each(row, &p->rows) {
		FUZZ_CHECK(row->event < p->events.n && row->frame < p->frames.n &&
			row->callers < p->stacks.n);
		n_samples[row->event] += row->n_samples;
		FUZZ_CHECK(!__builtin_add_overflow(periods[row->event], row->period,
			&periods[row->event]));
	}
	vec_each(e, &p->events)
		FUZZ_CHECK(e->n_samples == n_samples[e - p->events.at] &&
			e->period == periods[e - p->events.at]);
	free(n_samples);
	free(periods);
}

/* What is printed of it does nothing to a terminal, and no stack is too deep for who walks it. */
static void show(const struct profile *p, const char *form)
{
	struct page page = {.form = form_chosen(&(struct form_choice){.name = form})};
	struct stackrows s = {.n_parts = (u32)p->events.n,
		.are_imports = true,
		.detail = page.form->wants & FORM_WANTS_ADDRESSES ? STACKROWS_ADDRESSES
			: page.form->wants & FORM_WANTS_FUNCTIONS ? STACKROWS_FUNCTIONS
								  : STACKROWS_NAMES};
	struct out out = {.fd = -1};
	struct calls calls;

	page.out = &out;
	calls_init(&calls, p);
	vec_each(node, &calls.nodes)
		FUZZ_CHECK(node->depth <= IMPORT_DEEPEST + IMPORT_INLINED + 1);
	for (u32 event = 0; event < p->events.n && s.detail; event++)
		stackrows_add_part(&s, p->events.at[event].name, false);
	for (u32 event = 0; event < p->events.n; event++)
		stackrows_add(&s, p, &calls, event, event);
	stackrows_finish(&s);
	page.form->table(&page, &s.rows);
	FUZZ_CHECK(page.form->wants & FORM_IS_BINARY ||
		fuzz_is_safe_text(str_text(&out.text), out.text.n));
	str_fini(&out.text);
	stackrows_fini(&s);
	calls_fini(&calls);
}

static void read_all(const struct import *in, u8 wishes)
{
	static const char *const forms[] = {"folded", "speedscope", "firefox", "chrome", "pprof",
		"callgrind", "otlp", "svg"};
	const struct import_options o = {.has_stacks = !(wishes & 1),
		.has_inlined = !(wishes & 2),
		.labels = wishes & 4 ? LABEL_BIT(LABEL_COMM) : 0,
		.source = wishes & 2 && wishes & 8 ? NAMING_LINES : NAMING_NO_SOURCE,
		.max_stack = wishes & 16 ? 3 : 0};
	struct profile p;
	struct err err;

	profile_init(&p, o.labels);
	p.is_imported = true;
	if (!import_read(in, &o, &p, &err)) {
		check_frames(&p);
		check_rows(&p);
		if (p.events.n)
			show(&p, forms[wishes >> 5]);
	} else {
		FUZZ_CHECK(err.code == ERR_FORMAT || err.code == ERR_LIMIT);
	}
	profile_fini(&p);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	struct import in;
	struct err err;
	int fd;

	if (!n)
		return 0;
	fd = open(fuzz_file(data + 1, n - 1), O_RDONLY | O_CLOEXEC);
	if (!import_open(&in, fd, "input", NULL, 0, &err) && in.importer)
		read_all(&in, data[0]);
	import_close(&in);
	close(fd);
	return 0;
}
