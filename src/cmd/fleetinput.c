#include "cmd/fleetinput.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/selfname.h"
#include "profile/check/ledger.h"

#define NS 1000000000ULL

enum { GAPS_NAMED = 8, ODD_NAMED = 5 };

/* What is known of a window while its batches are read. */
struct window {
	struct timerange range;
	u64 reached_ns;            /* the end of the batches so far */
	u64 first_ns, last_len_ns; /* the first batch's beginning; how long the last one was */
	u64 n_batches;
	unsigned n_gaps;
	u64 more_s;            /* of gaps that are not named */
	u64 n_odd, n_odd_more; /* minutes; more: that are not named */
	struct batch lost;
};

int fleetinput_begin(struct fleetinput *in, struct err *err)
{
	in->fd = memfd_create("pace", MFD_CLOEXEC);
	if (in->fd < 0)
		return err_sys(err, errno, "creating a file in memory");
	snprintf(in->path, sizeof(in->path), "/proc/self/fd/%d", in->fd);
	return 0;
}

int fleetinput_add(struct fleetinput *in, struct batch_writer *packing, const struct batch *b,
	struct err *err)
{
	struct str bytes = {0};
	size_t done = 0;
	int result = batch_write(packing, b, &bytes, err);

	while (!result && done < bytes.n) {
		const ssize_t n = write(in->fd, bytes.at + done, bytes.n - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			result = err_sys(err, n < 0 ? errno : ENOSPC, "writing a file in memory");
		else
			done += (size_t)n;
	}
	str_fini(&bytes);
	return result;
}

void fleetinput_close(struct fleetinput *in)
{
	if (in->fd >= 0)
		close(in->fd);
	in->fd = -1;
	str_fini(&in->name);
}

/* ---- what is missing ---- */

static void add_gap(struct window *w, u64 from_ns, u64 to_ns)
{
	const struct timerange gap = {from_ns, to_ns};
	struct str text = {0};

	/* Shorter pauses are those between two batches. */
	if (to_ns < from_ns + NS)
		return;
	if (w->n_gaps++ >= GAPS_NAMED) {
		w->more_s += (to_ns - from_ns) / NS;
		return;
	}
	timerange_add_text(&gap, &text);
	batch_lose(&w->lost, ledger_key(LEDGER_UNWATCHED), str_text(&text), "seconds",
		(to_ns - from_ns) / NS);
	str_fini(&text);
}

static void note(struct window *w, const struct batch *b)
{
	const u64 length = b->end_ns > b->start_ns ? b->end_ns - b->start_ns : 0;

	if (!w->n_batches++) {
		w->first_ns = b->start_ns;
		/* The batch in front belongs to the window before if more of it is there. */
		if (w->range.from_ns && b->start_ns > w->range.from_ns + length)
			add_gap(w, w->range.from_ns, b->start_ns);
	} else if (b->start_ns > w->reached_ns) {
		add_gap(w, w->reached_ns, b->start_ns);
	}
	w->reached_ns = MAX(w->reached_ns, b->end_ns);
	w->last_len_ns = length;
}

/* A minute that is being counted is not in the store yet. */
static void note_end(struct window *w, bool is_watching, u64 now_ns)
{
	u64 end = MIN(w->range.to_ns, now_ns);

	if (is_watching && now_ns - MIN(now_ns, w->reached_ns) < 2 * w->last_len_ns + 5 * NS)
		return;
	if (end > w->reached_ns + w->last_len_ns || end + NS > now_ns)
		add_gap(w, w->reached_ns, end);
	if (w->more_s)
		batch_lose(&w->lost, ledger_key(LEDGER_UNWATCHED), "in other gaps", "seconds",
			w->more_s);
}

/* ---- odd minutes ---- */

/* What was odd, and where all samples of it are if they were kept and are still there. */
static void tell_odd(struct window *w, const struct store *s, const struct batch *b,
	struct log *log)
{
	const char *why = batch_fact(b, "odd"), *name = batch_fact(b, "odd_recording");
	struct str text = {0}, path = {0};

	if (!*why || w->n_odd++ >= ODD_NAMED) {
		w->n_odd_more += *why != '\0';
		return;
	}
	timerange_add_time(b->start_ns, &text);
	str_addf(&text, " was odd: %s", why);
	str_addf(&path, "%s/odd/%s", s->path, name);
	if (*name && !strchr(name, '/') && !access(str_text(&path), R_OK))
		str_addf(&text, "; all its samples: '%s report -i %s'", program_name(),
			str_text(&path));
	log_note(log, "%s", str_text(&text));
	str_fini(&text);
	str_fini(&path);
}

/* ---- a window of a store ---- */

static int nothing(const struct store *s, const struct fleetinput *in, struct err *err)
{
	struct store_walk walk;
	struct batch b;
	struct str text = {0};
	u64 first = 0, last = 0;

	store_walk_init(&walk, s, NULL, NULL);
	while (store_next(&walk, &b)) {
		first = first ? first : b.start_ns;
		last = b.end_ns;
		batch_fini(&b);
	}
	store_walk_fini(&walk);
	if (first) {
		timerange_add_time(first, &text);
		str_add(&text, " to ");
		timerange_add_time(last, &text);
		err_set(err, ERR_NOENT, "%s: nothing was kept of that time; the store has %s",
			str_text(&in->name), str_text(&text));
	} else {
		err_set(err, ERR_NOENT, "%s: the store is empty: 'pace watch' fills it",
			str_text(&in->name));
	}
	str_fini(&text);
	return err->code;
}

static int copy(struct fleetinput *in, const struct store *s, struct window *w, struct log *log,
	struct err *err)
{
	struct batch_writer packing = {0};
	struct store_walk walk;
	struct batch b;
	int result = 0;

	store_walk_init(&walk, s, NULL, log);
	store_walk_within(&walk, w->range.from_ns, w->range.to_ns);
	while (!result && store_next(&walk, &b)) {
		note(w, &b);
		if (in->tells_odd)
			tell_odd(w, s, &b, log);
		result = fleetinput_add(in, &packing, &b, err);
		batch_fini(&b);
	}
	batch_lose(&w->lost, ledger_key(LEDGER_DAMAGED), str_text(&in->name), "aggregates",
		walk.n_damaged);
	store_walk_fini(&walk);
	if (w->n_odd_more)
		log_note(log, "%llu more were odd: --at chooses them",
			(unsigned long long)w->n_odd_more);
	if (!result && !w->n_batches)
		result = nothing(s, in, err);
	if (!result) {
		note_end(w, store_writer(s), clock_ns_of(CLOCK_REALTIME));
		w->lost.start_ns = w->first_ns;
		w->lost.end_ns = w->reached_ns;
		if (w->lost.losses.n)
			result = fleetinput_add(in, &packing, &w->lost, err);
	}
	batch_writer_fini(&packing);
	return result;
}

static int open_range(struct fleetinput *in, const char *place, const struct timerange *range,
	struct log *log, struct err *err)
{
	struct window w = {.range = *range};
	char path[STORE_PATH];
	struct store s;
	int result;

	if (!place && !store_default(true, path))
		return err_set(err, ERR_NOENT,
			"there is no home to look for a store in: name its folder with -i");
	if (store_open(&s, place ? place : path, err))
		return err->code;
	str_add(&in->name, "the store '");
	str_add_safe(&in->name, s.path, strlen(s.path));
	str_add(&in->name, "', ");
	timerange_add_text(range, &in->name);
	batch_init(&w.lost);
	result = fleetinput_begin(in, err);
	if (!result)
		result = copy(in, &s, &w, log, err);
	batch_fini(&w.lost);
	store_close(&s);
	return result;
}

int fleetinput_open_range(struct fleetinput *in, const char *place, const struct timerange *range,
	struct log *log, struct err *err)
{
	*in = (struct fleetinput){.fd = -1};
	return open_range(in, place, range, log, err);
}

int fleetinput_check_file(const char *input, struct err *err)
{
	char path[STORE_PATH];

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", input, STORE_LOCK) >= sizeof(path) ||
		access(path, F_OK))
		return 0;
	return err_set(err, ERR_INVAL,
		"'%s' is a store of 'pace watch': choose a time with --at, as in '--at -1h..'",
		input);
}

int fleetinput_open(struct fleetinput *in, const char *place, const char *at, struct log *log,
	struct err *err)
{
	struct timerange range;

	*in = (struct fleetinput){.fd = -1, .tells_odd = true};
	if (timerange_parse(at, clock_ns_of(CLOCK_REALTIME), &range, err))
		return err_prefix(err, "--at");
	return open_range(in, place, &range, log, err);
}
