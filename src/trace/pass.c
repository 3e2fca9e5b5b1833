#include "trace/pass.h"

#include "base/workers.h"

/* All that one thread writes to. */
struct pass_worker {
	const struct trace_where *where;
	const struct visitor *const *visitors;
	size_t n;
	void **workers; /* the context of each visitor */
	const struct formats *formats;
	struct visits visits;
	struct visit visit; /* the current one */
	u64 n_passed_over;
};

/* per sample */
static inline struct visit *begin_visit(struct pass_worker *w, const struct session_sample *in)
{
	struct visit *v = &w->visit;

	v->rec = in->rec;
	v->sample = in->sample;
	v->format = &w->formats->at[in->taken_by];
	v->time = in->time;
	v->event = in->event;
	v->taken_by = in->taken_by;
	v->mode = in->rec->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	v->is_next = in->is_next;
	v->state = NULL;
	v->has_callers = false;
	return v;
}

static void take_sample(void *ctx, const struct session_sample *in)
{
	struct pass_worker *w = ctx;
	struct visit *v = begin_visit(w, in);

	if (w->where && !trace_where_has(w->where, v)) {
		w->n_passed_over++;
		return;
	}
	for (size_t i = 0; i < w->n; i++)
		w->visitors[i]->sample(w->workers[i], v);
}

/* The same if one visitor takes all samples. */
static void take_sample_for_one(void *ctx, const struct session_sample *in)
{
	struct pass_worker *w = ctx;

	w->visitors[0]->sample(w->workers[0], begin_visit(w, in));
}

static u64 held(const void *ctx)
{
	const struct pass_worker *w = ctx;
	u64 n = 0;

	for (size_t i = 0; i < w->n; i++)
		n += w->visitors[i]->held ? w->visitors[i]->held(w->workers[i]) : 0;
	return n;
}

static u64 needs_of(const struct trace *t, const struct pass_options *o,
	const struct visitor *const *visitors, size_t n)
{
	u64 wanted = trace_where_needs(o->where);

	for (size_t i = 0; i < n; i++) {
		wanted |= visitors[i]->wanted;
		if (visitors[i]->has_callers)
			wanted |= visits_need_for_callers(t);
	}
	return wanted;
}

static unsigned workers_for(const struct trace *t, const struct pass_options *o,
	const struct visitor *const *visitors, size_t n)
{
	size_t n_pieces = MAX(t->session.pieces.n, (size_t)1);
	unsigned n_workers =
		o->n_workers ? MIN(o->n_workers, (unsigned)WORKERS_MAX) : workers_available();
	/* Stitching needs the samples of a thread in the order of time. */
	bool is_serial = t->options.stitches;

	for (size_t i = 0; i < n; i++)
		is_serial |= visitors[i]->is_serial;
	return is_serial ? 1 : (unsigned)MIN((size_t)n_workers, n_pieces);
}

static struct pass_worker *worker_new(struct trace *t, const struct pass_options *o,
	const struct visitor *const *visitors, size_t n)
{
	struct pass_worker *w = mem_zalloc(sizeof(*w));

	w->where = trace_where_is_all(o->where) ? NULL : o->where;
	w->visitors = visitors;
	w->n = n;
	w->workers = mem_alloc((n + 1) * sizeof(*w->workers));
	visits_init(&w->visits, t);
	w->visit.visits = &w->visits;
	w->formats = &t->session.reader.formats;
	for (size_t i = 0; i < n; i++)
		w->workers[i] = visitors[i]->join(visitors[i]->ctx);
	return w;
}

int pass_run(struct trace *t, struct pass_options *o, const struct visitor *const *visitors,
	size_t n, struct err *err)
{
	unsigned n_workers = workers_for(t, o, visitors, n);
	struct pass_worker *workers[WORKERS_MAX];
	bool is_for_one = n == 1 && trace_where_is_all(o->where);
	struct session_sink sink = {needs_of(t, o, visitors, n),
		is_for_one ? take_sample_for_one : take_sample, (void **)workers, held};
	struct session_tally before = t->session.tally;
	int r;

	for (unsigned i = 0; i < n_workers; i++)
		workers[i] = worker_new(t, o, visitors, n);
	r = session_samples(&t->session, n_workers, &sink, err);
	/* An earlier pass has counted the same losses. */
	if (t->is_walked)
		t->session.tally = before;
	t->is_walked = true;
	for (size_t k = 0; k < n; k++)
		for (unsigned i = 0; i < n_workers; i++)
			visitors[k]->leave(visitors[k]->ctx, workers[i]->workers[k]);
	for (unsigned i = 0; i < n_workers; i++) {
		o->n_passed_over += workers[i]->n_passed_over;
		visits_fini(&workers[i]->visits);
		mem_free(workers[i]->workers);
		mem_free(workers[i]);
	}
	return r;
}
