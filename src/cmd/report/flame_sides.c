#include "cmd/report/flame_sides.h"

#include <string.h>

#include "base/hash.h"
#include "cmd/report/report_about.h"
#include "cmd/report/reporting.h"
#include "view/rows/stackrows.h"

struct drawing {
	struct flame_sides *sides;
	struct stackrows stacks;
	struct page_about about;
	char *event; /* the first recording's, which the others have to have */
	size_t n_imports;
	struct intern names;
	const char *thread; /* the first recording's heaviest */
	struct str notes;
};

/* ---- threads ---- */

struct thread_sum {
	u64 label, period;
};

/* The name of the threads that have the most of an event; NULL: they have no names. */
static const char *heaviest_thread(const struct profile *p, u32 event)
{
	VEC(struct thread_sum) sums = {0};
	struct thread_sum most = {0};
	struct table index = {0};

	for (size_t row = 0; row < p->rows.n; row++) {
		const u64 label = profile_label(p, row, LABEL_COMM);
		struct table_probe probe = table_probe(&index, hash_u64(label));
		u32 i;

		if (p->rows.at[row].event != event || !profile_text(label))
			continue;
		while ((i = table_next(&index, &probe)) != TABLE_NONE && sums.at[i].label != label)
			;
		if (i == TABLE_NONE) {
			i = (u32)sums.n;
			table_add(&index, hash_u64(label), i);
			vec_add(&sums, ((struct thread_sum){.label = label}));
		}
		sums.at[i].period += p->rows.at[row].period;
	}
	vec_each(sum, &sums)
		if (sum->period > most.period)
			most = *sum;
	vec_fini(&sums);
	table_fini(&index);
	return most.period ? profile_text(most.label) : NULL;
}

/* Programs have other names when they are built anew, and so have their threads: the heaviest ones are compared unless the first recording has such. */
static void pair_threads(struct drawing *d, const struct profile *p, u32 event, u32 part)
{
	const char *thread = heaviest_thread(p, event);

	d->stacks.renamed_thread = NULL;
	if (!thread)
		return;
	if (!part) {
		d->thread = intern_str(&d->names, thread);
		return;
	}
	if (!d->thread || !strcmp(d->thread, thread) || stackrows_has_thread(&d->stacks, thread))
		return;
	d->stacks.renamed_thread = thread;
	d->stacks.known_thread = d->thread;
	if (d->notes.n)
		return;
	str_add(&d->notes, "Threads called '");
	str_add_safe(&d->notes, thread, strlen(thread));
	str_add(&d->notes, "' are compared with those called '");
	str_add_safe(&d->notes, d->thread, strlen(d->thread));
	str_add(&d->notes, "'. ");
}

/* ---- recordings ---- */

/* The event that is compared: -e, or the first with samples; in later recordings that of the same name, or their only one. */
static int find_event(struct drawing *d, const struct profile *p, const char *path, u32 *ret_event,
	struct err *err)
{
	const char *wanted = d->event ? d->event : d->sides->options->answer.picture.event;

	for (u32 i = 0; i < p->events.n; i++)
		if (wanted ? !strcmp(p->events.at[i].name, wanted) : p->events.at[i].n_samples) {
			*ret_event = i;
			return 0;
		}
	*ret_event = 0;
	if (p->events.n == 1 && (d->event || !wanted))
		return 0;
	if (!p->events.n)
		return err_set(err, ERR_INVAL, "'%s' has no events", path);
	return wanted ? err_set(err, ERR_INVAL, "'%s' has no event '%.60s'", path, wanted)
		      : err_set(err, ERR_INVAL, "'%s' has no samples", path);
}

static int add_stacks(struct drawing *d, struct reporting *r, u32 part, struct err *err)
{
	const struct delta_recording *recording = &d->sides->recordings.at[part];
	const struct profile *p = &r->recorded.profile;
	u32 event;

	if (find_event(d, p, recording->name, &event, err))
		return err->code;
	if (!d->event && p->events.n)
		d->event = mem_strdup(p->events.at[event].name);
	pair_threads(d, p, event, part);
	stackrows_add(&d->stacks, p, &r->calls, event, part);
	return 0;
}

/* Adds what a recording lacks, with its name. */
static void add_ledger(struct drawing *d, const struct reporting *r, const char *path)
{
	struct str text = {0};

	ledger_add_text(&r->recorded.ledger, true, &text);
	if (text.n) {
		str_addf(&d->about.ledger, "# %s:\n", path);
		str_addn(&d->about.ledger, text.at, text.n);
	}
	str_fini(&text);
}

static int read_one(struct drawing *d, u32 part, struct err *err)
{
	const struct report_options *o = d->sides->options;
	const char *path = d->sides->recordings.at[part].name;
	struct reporting r = {.options = o};
	int result;

	cmd_log_init(&r.log, o->verbose ? LOG_DEBUG : LOG_NOTE);
	result = recorded_open_any(&r.recorded, path, &r.log, err);
	if (result) {
		log_fini(&r.log);
		return result;
	}
	d->n_imports += !recorded_has_trace(&r.recorded);
	d->stacks.are_imports &= !recorded_has_trace(&r.recorded);
	result = answer_open(&r.answer, &o->answer, err);
	if (!result)
		result = choice_make(&r.choice, o, &r.recorded, err);
	if (!result)
		result = reporting_read(&r, err);
	if (!result)
		result = add_stacks(d, &r, part, err);
	if (result)
		err_prefix(err, "'%s'", path);
	add_ledger(d, &r, path);
	ledger_warn(&r.recorded.ledger, &r.log);
	d->sides->is_unclean |= r.log.has_warned || ledger_has_unread(&r.recorded.ledger);
	reporting_close(&r);
	return result;
}

/* If one side counts samples and the other time, only shares can be compared. */
static int choose_scale(struct flame_sides *f, size_t n_imports, struct err *err)
{
	const char *scale = f->scale;

	if (!scale)
		scale = n_imports && n_imports < f->recordings.n ? "total" : "level";
	f->picture.scale = !strcmp(scale, "total") ? PICTURE_BY_TOTAL
		: !strcmp(scale, "run")            ? PICTURE_BY_RUN
						   : PICTURE_BY_LEVEL;
	return f->picture.scale != PICTURE_BY_LEVEL || !strcmp(scale, "level")
		? 0
		: err_set(err, ERR_INVAL, "--normalise: '%.60s' is none of level, total and run",
			  scale);
}

static void add_title(struct drawing *d)
{
	size_t n[DELTA_SIDES] = {0};

	vec_each(r, &d->sides->recordings)
		if (!n[r->side]++)
			str_addf(&d->about.title, "%s%s", r->side == DELTA_B ? " -> " : "",
				r->name);
		else if (r == r_end - 1 || r[1].side != r->side)
			str_addf(&d->about.title, " and %zu more", n[r->side] - 1);
	if (d->event)
		str_addf(&d->about.title, ": %s", d->event);
}

static void show(struct drawing *d, struct out *out)
{
	struct flame_sides *f = d->sides;
	struct page p = {.form = form_chosen(&f->options->answer.forms),
		.out = out,
		.about = &d->about,
		.picture = &f->picture};

	f->picture.options = &f->options->answer.picture;
	f->picture.recordings = f->recordings.at;
	add_title(d);
	if (d->n_imports)
		str_add(&d->notes,
			"Chance is computed as if the numbers in profiles of other programs were numbers of samples.");
	f->picture.notes = d->notes.n ? str_text(&d->notes) : NULL;
	stackrows_finish(&d->stacks);
	page_begin(&p);
	p.form->table(&p, &d->stacks.rows);
	page_end(&p, NULL);
}

int flame_sides_draw(struct flame_sides *f, struct out *out, struct err *err)
{
	struct drawing d = {.sides = f,
		.stacks = {.detail = STACKROWS_FUNCTIONS,
			.n_parts = (u32)f->recordings.n,
			.has_builds = true,
			.are_imports = true}};
	int result = 0;

	for (u32 i = 0; i < f->recordings.n; i++)
		stackrows_add_part(&d.stacks, f->recordings.at[i].name, false);
	for (u32 i = 0; !result && i < f->recordings.n; i++)
		result = read_one(&d, i, err);
	if (!result)
		result = choose_scale(f, d.n_imports, err);
	if (!result)
		show(&d, out);
	stackrows_fini(&d.stacks);
	page_about_fini(&d.about);
	intern_fini(&d.names);
	str_fini(&d.notes);
	mem_free(d.event);
	return result;
}

void flame_sides_fini(struct flame_sides *f)
{
	vec_fini(&f->recordings);
	str_fini(&f->picture.said);
}
