#include "edit/embed.h"

#include <elf.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/sort.h"
#include "base/workers.h"
#include "profile/code/excerpt.h"
#include "symbol/jit/foreign.h"
#include "symbol/embed/jitcut.h"
#include "symbol/embed/mapcut.h"

/* A place that was looked up. */
struct sought {
	u64 at;
	struct embedded_name name; /* .name NULL: no function is known there */
	u32 first_frame, n_frames; /* in dso->frames */
	enum line_gap gap;
	bool has_asked_lines;
	u64 n_samples; /* taken there */
};

/* One DSO: what a worker finds out about it before all of it goes into the embedder. */
struct embedding {
	const struct dso *dso;
	size_t first_hit, n_hits;
	VEC(struct sought) sought; /* sorted by `at` from end_names() on */
	VEC(struct line_frame) frames;
	excerpt_list code;
	bool is_worthwhile, has_tried_lines;
	bool is_late; /* no time was left to look for its lines */
};

struct embed {
	struct resolver *resolver;
	const struct hits *hits;
	const struct embed_options *options;
	VEC(struct embedding) dsos;
	struct embed_tally tally;
	u64 n_done, n_all;
	bool is_over; /* no time is left to look up lines */
	u64 began_ns, began_cpu_ns;
	pthread_mutex_t lock;
};

/* ---- time ---- */

/*
 * The time until the deadline. On a busy machine the deadline moves until this process has had as
 * much CPU time as it was given, or four times as long has passed.
 */
static u64 left_ns(const struct embed *e)
{
	enum { PATIENCE = 4 };
	u64 now = clock_now_ns(), deadline = e->options->deadline_ns;
	u64 had, whole = deadline > e->began_ns ? deadline - e->began_ns : 0;

	if (now < deadline)
		return deadline - now;
	if (now > e->began_ns + PATIENCE * whole)
		return 0;
	had = clock_ns_of(CLOCK_PROCESS_CPUTIME_ID) - e->began_cpu_ns;
	return had < whole ? whole - had : 0;
}

/* Reports progress. False: it is time to stop. */
static bool go_on(struct embed *e, u64 n_done)
{
	const struct embed_options *o = e->options;
	bool is_over;

	pthread_mutex_lock(&e->lock);
	e->n_done += n_done;
	if (o->progress)
		o->progress(o->ctx, e->n_done, e->n_all);
	if (o->is_stopped && !e->is_over && o->is_stopped(o->ctx))
		e->tally.is_stopped = e->is_over = true;
	if (o->deadline_ns && !e->is_over && !left_ns(e))
		e->is_over = true;
	is_over = e->is_over;
	pthread_mutex_unlock(&e->lock);
	return !is_over;
}

/* Whether the user has stopped it: neither lines nor names are wanted any more. */
static bool is_stopped(struct embed *e)
{
	bool ret;

	pthread_mutex_lock(&e->lock);
	ret = e->tally.is_stopped;
	pthread_mutex_unlock(&e->lock);
	return ret;
}

/* How many bytes can still be unpacked in the time left, on a slow core; 0: no limit. */
static u64 unpack_max(const struct embed *e)
{
	enum { BYTES_PER_US = 200 };

	return e->options->deadline_ns ? left_ns(e) / 1000 * BYTES_PER_US + 1 : 0;
}

/* ---- names ---- */

static const char *seek(struct embed *e, struct embedding *d, u64 address, u64 n_samples)
{
	struct resolver_answer a = resolver_find(e->resolver, d->dso, address);
	struct sought s = {.at = a.at, .n_samples = n_samples};

	if (a.origin)
		s.name = (struct embedded_name){a.start, a.end, a.name ? a.name : "", a.origin};
	vec_add(&d->sought, s);
	return a.name;
}

SORT_BY(by_at, struct sought, at)

/* Sorts the places that were looked up and merges equal ones. */
static void end_names(struct embedding *d)
{
	size_t n = 0;

	if (d->sought.n)
		qsort(d->sought.at, d->sought.n, sizeof(*d->sought.at), by_at);
	vec_each(s, &d->sought)
		if (n && d->sought.at[n - 1].at == s->at)
			d->sought.at[n - 1].n_samples += s->n_samples;
		else
			d->sought.at[n++] = *s;
	d->sought.n = n;
}

/* Adds the starts of functions: some readers show their lines. */
static void seek_starts(struct embedding *d)
{
	size_t n = d->sought.n;

	for (size_t i = 0; i < n; i++) {
		struct sought s = d->sought.at[i];

		if (!s.name.name || !*s.name.name || s.at == s.name.start ||
			(i && d->sought.at[i - 1].name.start == s.name.start))
			continue;
		s.at = s.name.start;
		s.n_samples = 0;
		vec_add(&d->sought, s);
	}
}

static void name_dso(void *ctx, size_t i, unsigned worker)
{
	struct embed *e = ctx;
	struct embedding *d = &e->dsos.at[i];
	enum resolver_outcome outcome;

	(void)worker;
	if (is_stopped(e))
		return;
	resolver_load(e->resolver, d->dso);
	outcome = resolver_outcome(e->resolver, d->dso);
	/* If nothing was found, nothing is embedded: a reader may find it. */
	d->is_worthwhile = outcome == RESOLVER_FOUND ||
		(outcome == RESOLVER_NO_SYMBOLS && resolver_image(e->resolver, d->dso));
	for (size_t k = 0; k < d->n_hits && d->is_worthwhile; k++) {
		const struct hit *hit = &e->hits->places.at[d->first_hit + k];
		const char *name;

		if (hit->is_look)
			continue;
		name = seek(e, d, hit->address - hit->is_return, hit->n_samples);
		/* As resolver_find_caller() does: a return address right behind a __pfx_ symbol. */
		if (hit->is_return && name && !strncmp(name, "__pfx_", 6))
			seek(e, d, hit->address, 0);
	}
	/* Readers compute from this symbol how far the kernel was moved (KASLR). */
	if (d->dso->kind == DSO_KERNEL && d->is_worthwhile && e->resolver->machine->kernel_text)
		seek(e, d, e->resolver->machine->kernel_text, 0);
	end_names(d);
	if (d->dso->kind == DSO_FILE) {
		seek_starts(d);
		end_names(d);
	}
	go_on(e, d->n_hits);
}

/* ---- lines ---- */

/* Reads the units of a DSO's places on all cores. False: there was no time for all of them. */
static bool fetch_units(struct embed *e, const struct embedding *d)
{
	enum { SLICE_BYTES = 2 << 20 }; /* for each worker, about 50 ms */
	const struct line_index *index = resolver_lines(e->resolver, d->dso);
	u64 most = unpack_max(e);
	line_wishes wishes = {0};
	bool is_whole, can_unpack;
	size_t n = 0;

	vec_each(s, &d->sought)
		resolver_want_line(e->resolver, d->dso, s->at, true, &wishes);
	can_unpack = !wishes.n || !most || line_unpack_bytes(index) <= most;
	while (n < wishes.n && can_unpack && go_on(e, 0)) {
		line_wishes slice = {.at = wishes.at + n};
		u64 bytes = 0;

		while (n < wishes.n && bytes < e->options->n_workers * (u64)SLICE_BYTES) {
			bytes += wishes.at[n++].bytes;
			slice.n++;
		}
		line_fetch(&slice, e->options->n_workers, NULL);
	}
	is_whole = n == wishes.n;
	vec_fini(&wishes);
	return is_whole;
}

/* Looks up the lines of one DSO: its units first, then its places. */
static void find_lines(struct embed *e, struct embedding *d)
{
	enum { STEP = 256 };
	const struct line_index *index;
	struct line_frame frames[LINE_DEPTH_MAX];
	u64 shift;
	size_t n_told = 0;
	bool is_whole;

	if (!d->is_worthwhile || !go_on(e, 0))
		return;
	d->has_tried_lines = true;
	e->resolver->unpack_max = unpack_max(e);
	resolver_load_lines(e->resolver, d->dso);
	if (!resolver_has_lines(e->resolver, d->dso)) {
		d->is_late = e->options->deadline_ns && resolver_lines_failed(e->resolver, d->dso);
		go_on(e, d->n_hits);
		return;
	}
	is_whole = fetch_units(e, d);
	index = resolver_lines(e->resolver, d->dso);
	shift = resolver_lines_shift(e->resolver, d->dso);
	for (size_t k = 0; k < d->sought.n; k++) {
		struct sought *s = &d->sought.at[k];

		if (!is_whole && index && !line_is_ready(index, s->at + shift, true))
			continue;
		s->n_frames = (u32)resolver_find_chain(e->resolver, d->dso, s->at, frames);
		s->gap = resolver_line_gap(e->resolver, d->dso, s->at);
		s->first_frame = (u32)d->frames.n;
		s->has_asked_lines = true;
		for (u32 f = 0; f < s->n_frames; f++)
			vec_add(&d->frames, frames[f]);
		if (is_whole && k % STEP == STEP - 1) {
			if (!go_on(e, MIN((size_t)STEP, d->n_hits - n_told)))
				return;
			n_told = MIN(n_told + STEP, d->n_hits);
		}
	}
	go_on(e, d->n_hits - n_told);
}

/* ---- into the embedder ---- */

static int by_name(const void *a, const void *b)
{
	return embedded_name_order(*(const struct embedded_name *const *)a,
		*(const struct embedded_name *const *)b);
}

typedef VEC(const struct embedded_name *) name_list;

/* The distinct names, by start. */
static void collect_names(const struct embedding *d, name_list *names)
{
	size_t n = 0;

	vec_each(s, &d->sought)
		if (s->name.name)
			vec_add(names, &s->name);
	if (names->n)
		qsort(names->at, names->n, sizeof(*names->at), by_name);
	for (size_t i = 0; i < names->n; i++)
		if (!n || embedded_name_order(names->at[n - 1], names->at[i]))
			names->at[n++] = names->at[i];
	names->n = n;
}

static u32 position_of(const name_list *names, const struct embedded_name *name)
{
	const struct embedded_name *const *found =
		bsearch(&name, names->at, names->n, sizeof(*names->at), by_name);

	return (u32)(found - names->at);
}

static void add_places(struct embed *e, struct embedder *out, const struct embedding *d,
	const name_list *names)
{
	bool has_lines =
		!d->has_tried_lines || d->is_late || resolver_has_lines(e->resolver, d->dso);

	vec_each(s, &d->sought) {
		u32 symbol = EMBEDDED_NOTHING, source = EMBEDDED_NOT_ASKED;

		if (s->name.name)
			symbol = position_of(names, &s->name);
		if (s->has_asked_lines)
			source = embedder_source(out, d->frames.at + s->first_frame, s->n_frames);
		e->tally.n_places++;
		e->tally.n_named += s->name.name && *s->name.name;
		e->tally.n_lineless += has_lines && !s->has_asked_lines;
		embedder_add_place(out, s->at, symbol, source, s->gap);
	}
}

/* ---- code ---- */

/* Code that made stacks go on, or end, where no frame is. */
static void collect_looks(const struct embed *e, struct embedding *d)
{
	const struct elf *elf = resolver_image(e->resolver, d->dso);
	u64 rva;

	for (size_t k = 0; elf && k < d->n_hits; k++) {
		const struct hit *hit = &e->hits->places.at[d->first_hit + k];

		if (hit->is_look && elf_address_of_offset(elf, hit->address, &rva))
			vec_add(&d->code,
				((struct excerpt_part){rva - MIN(rva, (u64)EMBED_LOOK),
					rva + EMBED_LOOK, 0}));
	}
}

/*
 * Selects code for annotate: the functions in which samples were taken. If stacks are unwound when
 * the recording is read, unwinding needs the code of every function on them too.
 */
static void collect_code(const struct embed *e, struct embedding *d)
{
	bool unwinds = e->options->callers != NULL;

	vec_each(s, &d->sought) {
		struct excerpt_part part = {s->name.start, s->name.end, s->n_samples};

		if (!s->name.name || part.to <= part.from ||
			part.to - part.from > EMBED_FUNCTION_MAX) {
			if (!unwinds)
				continue;
			part.from = s->at - MIN(s->at, (u64)EMBED_AROUND);
			part.to = s->at + EMBED_AROUND;
		}
		/*
		 * A call may be a function's last instruction: its return address is behind the
		 * function.
		 */
		part.to += unwinds ? EMBED_BEHIND : 0;
		vec_add(&d->code, part);
	}
	collect_looks(e, d);
	excerpt_sort(&d->code);
}

/* The fewest samples of code that is worth its room, of all files together. */
static u64 least_samples(const struct embed *e)
{
	excerpt_list all = {0};
	u64 n_samples = 0, least;

	vec_each(d, &e->dsos)
		vec_each(part, &d->code)
			vec_add(&all, *part);
	vec_each(hit, &e->hits->places)
		n_samples += hit->n_samples;
	least = excerpt_least(&all, n_samples, e->options->code_most);
	vec_fini(&all);
	return least;
}

static void choose_code(struct embed *e)
{
	vec_each(d, &e->dsos)
		if (d->is_worthwhile)
			collect_code(e, d);
	if (!e->options->callers)
		e->tally.least_samples = least_samples(e);
	vec_each(d, &e->dsos)
		excerpt_keep(&d->code, e->tally.least_samples);
}

/* Adds the part of `c` that a segment loads, from the file. */
static void add_stretch(struct embed *e, struct embedder *out, const struct elf *elf,
	const struct elf_segment *segment, struct excerpt_part c)
{
	u64 n;

	c.from = MAX(c.from, segment->va);
	c.to = MIN(c.to, segment->va + segment->file_size);
	if (c.from >= c.to || segment->offset > elf->size ||
		c.to - segment->va > elf->size - segment->offset)
		return;
	n = c.to - c.from;
	if (out->bytes.n + n > EMBED_CODE_MAX) {
		e->tally.n_code_cut += n;
		return;
	}
	embedder_add_code(out, c.from, elf->data + segment->offset + (c.from - segment->va), n);
}

static void add_code(struct embed *e, struct embedder *out, const struct embedding *d,
	const struct elf *elf)
{
	vec_each(c, &d->code)
		for (u32 i = 0; i < elf->n_segments; i++)
			if (elf->segments[i].type == PT_LOAD)
				add_stretch(e, out, elf, &elf->segments[i], *c);
}

/* Adds the unwind tables for all places: stacks led through them. */
static void add_frames(struct embed *e, struct embedder *out, const struct embedding *d)
{
	VEC(u64) at = {0};

	vec_each(s, &d->sought)
		vec_add(&at, s->at);
	callers_embed(e->options->callers, d->dso, at.at, at.n, out);
	vec_fini(&at);
}

static void add_dso(struct embed *e, struct embedder *out, const struct embedding *d)
{
	const struct elf *elf = resolver_image(e->resolver, d->dso);
	struct embedded_dso *entry = embedder_add_dso(out, d->dso);
	bool has_lines = resolver_has_lines(e->resolver, d->dso);
	name_list names = {0};

	entry->outcome = resolver_outcome(e->resolver, d->dso);
	entry->reason = embedder_string(out, resolver_reason(e->resolver, d->dso));
	entry->lines_reason = embedder_string(out,
		has_lines ? NULL : resolver_lines_reason(e->resolver, d->dso, LINE_GAP_FILE));
	for (enum line_gap gap = LINE_GAP_DAMAGED; has_lines && gap < LINE_GAPS; gap++)
		entry->gaps[gap] =
			embedder_string(out, resolver_lines_reason(e->resolver, d->dso, gap));
	entry->entry = elf ? elf->entry : 0;
	entry->flags = (elf ? EMBEDDED_HAS_IMAGE : 0) | (has_lines ? EMBEDDED_HAS_LINES : 0);
	entry->machine = elf ? elf->machine : 0;
	for (u32 i = 0; elf && i < elf->n_segments; i++)
		if (elf->segments[i].type == PT_LOAD)
			embedder_add_segment(out, elf->segments[i].offset, elf->segments[i].va,
				elf->segments[i].file_size);
	collect_names(d, &names);
	vec_each(name, &names)
		embedder_add_symbol(out, *name);
	add_places(e, out, d, &names);
	if (elf)
		add_code(e, out, d, elf);
	if (elf && e->options->callers)
		add_frames(e, out, d);
	vec_fini(&names);
}

/* ---- generated code ---- */

/* Adds the dumps of JITs, cut down to the functions that were sampled. */
static void add_dumps(struct embed *e, struct embedder *out)
{
	const struct jitcode *jitcode = e->resolver->jitcode;

	vec_each(f, &jitcode->files) {
		VEC(u64) places = {0};

		vec_each(hit, &e->hits->places)
			if (hit->dso == (*f)->dso->id)
				vec_add(&places, hit->address - hit->is_return);
		if (places.n &&
			!jitcut_add(out, &(*f)->dump, (*f)->marker->path, (*f)->pid, places.at,
				places.n, EMBED_DUMPS_MAX))
			e->tally.is_dump_cut = true;
		vec_fini(&places);
	}
}

static void add_perfmap(struct embed *e, struct embedder *out, const struct dso *dso)
{
	VEC(u64) places = {0};
	struct foreign whose = {"/proc", "", dso->pid};
	char own_path[64];
	struct err ignored;
	int fd;

	vec_each(hit, &e->hits->places)
		if (hit->dso == dso->id)
			vec_add(&places, hit->address - hit->is_return);
	snprintf(own_path, sizeof(own_path), "/tmp/perf-%u.map", foreign_own_pid(&whose));
	if (places.n && !foreign_open(&whose, dso->path, own_path, &fd, &ignored)) {
		mapcut_add(out, fd, dso->path, dso->pid, e->options->growth, places.at, places.n);
		close(fd);
	}
	vec_fini(&places);
}

/* Adds perf maps with their history: which name an address had when, if it was used again. */
static void add_perfmaps(struct embed *e, struct embedder *out)
{
	const struct machine *m = e->resolver->machine;

	vec_each(d, &m->dsos.at)
		if (e->options->growth && (*d)->kind == DSO_JIT)
			add_perfmap(e, out, *d);
}

/* ---- all of it ---- */

static bool is_embedded_kind(const struct dso *dso)
{
	/* The user says where to find a guest's kernel. */
	if (dso->is_guest)
		return false;
	return dso->kind == DSO_FILE || dso->kind == DSO_KERNEL || dso->kind == DSO_MODULE ||
		dso->kind == DSO_VDSO || dso->kind == DSO_JIT;
}

static void group_hits(struct embed *e)
{
	const struct dso_list *dsos = &e->resolver->machine->dsos;

	for (size_t i = 0; i < e->hits->places.n;) {
		struct embedding d = {.dso = dsos->at.at[e->hits->places.at[i].dso],
			.first_hit = i};

		while (i < e->hits->places.n && e->hits->places.at[i].dso == d.dso->id)
			i++;
		d.n_hits = i - d.first_hit;
		if (!is_embedded_kind(d.dso))
			continue;
		e->n_all += 2 * d.n_hits;
		vec_add(&e->dsos, d);
	}
}

/* Which share of the samples was taken in each DSO. */
static double *share_of_dsos(const struct hits *hits, size_t n_dsos)
{
	double *shares = mem_zalloc((n_dsos + 1) * sizeof(*shares));
	u64 all = 0;

	vec_each(h, &hits->places)
		all += h->n_samples;
	vec_each(h, &hits->places)
		if (all && h->dso < n_dsos)
			shares[h->dso] += (double)h->n_samples / (double)all;
	return shares;
}

void embed_make(struct embedder *out, struct resolver *r, const struct hits *hits,
	const struct embed_options *options, struct embed_tally *ret_tally)
{
	struct embed e = {.resolver = r,
		.hits = hits,
		.options = options,
		.began_ns = clock_now_ns(),
		.began_cpu_ns = clock_ns_of(CLOCK_PROCESS_CPUTIME_ID),
		.lock = PTHREAD_MUTEX_INITIALIZER};
	double *shares = share_of_dsos(hits, r->machine->dsos.at.n);

	r->files->places.shares = shares;
	/* The kernel's debug information is a gigabyte: the time to read it cannot be foreseen. */
	r->skips_kernel_lines = options->deadline_ns != 0;
	group_hits(&e);
	workers_run(options->n_workers, e.dsos.n, name_dso, &e);
	choose_code(&e);
	vec_each(d, &e.dsos)
		find_lines(&e, d);
	vec_each(d, &e.dsos) {
		if (d->is_worthwhile)
			add_dso(&e, out, d);
		vec_fini(&d->sought);
		vec_fini(&d->frames);
		vec_fini(&d->code);
	}
	if (r->jitcode)
		add_dumps(&e, out);
	add_perfmaps(&e, out);
	vec_fini(&e.dsos);
	r->files->places.shares = NULL;
	mem_free(shares);
	*ret_tally = e.tally;
}
