#include "profile/diff/txcounts.h"

#include <math.h>

#include "profile/diff/counts.h"
#include "session/replay.h"

/* ---- files ---- */

static void take_counts(struct txcounts *c, const struct counts *counts)
{
	struct txcounts own = {0};

	for (u32 i = 0; i < counts->events->n; i++) {
		const enum tsx_count kind = tsx_count_of(&counts->events->at[i]);

		for (u32 place = 0; kind != TSX_COUNTS && place < counts->places.n; place++) {
			const struct count mean = counts_mean(counts, i, place);

			if (count_state(&mean) != COUNT_OK)
				continue;
			own.value[kind] += mean.value;
			own.is_known[kind] = true;
		}
	}
	/* Cycles that were counted beside others belong to those. */
	for (unsigned i = 0; i < TSX_COUNTS; i++) {
		if (!own.is_known[i] || c->is_known[i])
			continue;
		c->value[i] = own.value[i];
		c->is_known[i] = true;
	}
}

static void nothing(const void *ctx, s32 cpu, struct topology *ret)
{
	(void)ctx;
	(void)cpu;
	*ret = (struct topology){.node = -1};
}

static bool no_name(const void *ctx, pid_t tid, char *buf, size_t size)
{
	(void)ctx;
	(void)tid;
	(void)buf;
	(void)size;
	return false;
}

static int walk(struct txcounts *c, struct session *session, struct err *err)
{
	static const struct counts_places places = {nothing, no_name, NULL};
	struct replay_moment moment;
	struct counts counts;
	struct replay replay;
	int r;

	if (replay_open(&replay, session, err))
		return err->code;
	counts_init(&counts, replay.counting.events, COUNTS_ALL);
	counts.is_unscaled = !replay.config.is_scaled;
	counts_begin(&counts, &replay.counting, &places);
	while ((r = replay_next(&replay, &moment, err)) > 0)
		;
	/* The readings are those of the last moment. */
	if (!r) {
		counts_take_run(&counts);
		take_counts(c, &counts);
	}
	counts_fini(&counts);
	replay_close(&replay);
	return r;
}

int txcounts_read(struct txcounts *c, const char *path, struct log *log, struct err *err)
{
	struct session session;
	int r;

	if (session_open(&session, path, log, err))
		return err->code;
	r = walk(c, &session, err);
	session_close(&session);
	return r;
}

bool txcounts_is_file(const char *path)
{
	struct session session;
	struct replay replay;
	struct err ignored;
	struct log log = {0};
	bool is_file;

	if (session_open(&session, path, &log, &ignored))
		return false;
	is_file = !replay_open(&replay, &session, &ignored);
	if (is_file)
		replay_close(&replay);
	session_close(&session);
	return is_file;
}

/* ---- shares ---- */

static double part(const struct txcounts *c, double of, bool is_known, enum tsx_count by)
{
	return is_known && c->is_known[by] && c->value[by] > 0 ? of / c->value[by] : NAN;
}

double txcounts_share(const struct txcounts *c)
{
	return part(c, c->value[TSX_CYCLES_IN], c->is_known[TSX_CYCLES_IN], TSX_CYCLES);
}

double txcounts_share_aborted(const struct txcounts *c)
{
	const double in = c->value[TSX_CYCLES_IN], committed = c->value[TSX_CYCLES_COMMITTED];

	/* The two are not read at the same instant. */
	return part(c, in > committed ? in - committed : 0,
		c->is_known[TSX_CYCLES_IN] && c->is_known[TSX_CYCLES_COMMITTED], TSX_CYCLES);
}

double txcounts_starts(const struct txcounts *c)
{
	return c->is_known[TSX_STARTS] || c->is_known[TSX_ELISIONS]
		? c->value[TSX_STARTS] + c->value[TSX_ELISIONS]
		: NAN;
}

double txcounts_length(const struct txcounts *c)
{
	const double starts = txcounts_starts(c);

	return c->is_known[TSX_CYCLES_IN] && starts > 0 ? c->value[TSX_CYCLES_IN] / starts : NAN;
}

double txcounts_locks(const struct txcounts *c)
{
	const double starts = txcounts_starts(c);

	return c->is_known[TSX_LOCK_LOADS] && starts > 0 ? c->value[TSX_LOCK_LOADS] / starts : NAN;
}
