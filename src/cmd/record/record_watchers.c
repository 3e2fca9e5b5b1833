#include "cmd/record/recording.h"

/* Called in this order. If several want another file, the last one gives the reason. */
static const struct record_watcher *const watchers[] = {
	&record_ring_watcher,
	&record_until_watcher,
	&record_wall_watcher,
	&record_waits_watcher,
	&record_overhead_watcher,
	&record_growth_watcher,
	&record_deeper_watcher,
	&record_trigger_watcher,
	&record_signal_watcher,
	&record_when_watcher,
};

int record_watchers_check(const struct record_options *o, struct err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(watchers); i++)
		if (watchers[i]->check && watchers[i]->check(o, err))
			return err->code;
	return 0;
}

int record_watchers_add(struct recording *rec, struct err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(watchers); i++)
		if (watchers[i]->add && watchers[i]->add(rec, err))
			return err->code;
	return 0;
}

int record_watchers_open(struct recording *rec, struct err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(watchers); i++)
		if (watchers[i]->open && watchers[i]->open(rec, err))
			return err->code;
	return 0;
}

void record_watchers_begin(struct recording *rec)
{
	for (size_t i = 0; i < ARRAY_SIZE(watchers); i++)
		if (watchers[i]->begin)
			watchers[i]->begin(rec);
}

void record_watchers_resume(struct recording *rec)
{
	for (size_t i = 0; i < ARRAY_SIZE(watchers); i++)
		if (watchers[i]->resume)
			watchers[i]->resume(rec);
}

void record_watchers_start(struct recording *rec)
{
	for (size_t i = 0; i < ARRAY_SIZE(watchers); i++)
		if (watchers[i]->start)
			watchers[i]->start(rec);
}

u64 record_watchers_due(const struct recording *rec)
{
	u64 next = UINT64_MAX;

	for (size_t i = 0; i < ARRAY_SIZE(watchers); i++)
		if (watchers[i]->due)
			next = MIN(next, watchers[i]->due(rec));
	return next;
}

int record_watchers_look(struct recording *rec, struct err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(watchers); i++)
		if (watchers[i]->look && watchers[i]->look(rec, err))
			return err->code;
	return 0;
}

const char *record_watchers_enough(const struct recording *rec)
{
	const char *why = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(watchers) && !why; i++)
		if (watchers[i]->is_enough)
			why = watchers[i]->is_enough(rec);
	return why;
}

const char *record_watchers_want_file(struct recording *rec)
{
	const char *why = NULL, *its;

	/* All are called: each has to take what has come to it. */
	for (size_t i = 0; i < ARRAY_SIZE(watchers); i++) {
		its = watchers[i]->wants_file ? watchers[i]->wants_file(rec) : NULL;
		why = its ? its : why;
	}
	return why;
}

void record_watchers_say(struct recording *rec)
{
	for (size_t i = 0; i < ARRAY_SIZE(watchers); i++)
		if (watchers[i]->say)
			watchers[i]->say(rec);
}

void record_watchers_close(struct recording *rec)
{
	for (size_t i = 0; i < ARRAY_SIZE(watchers); i++)
		if (watchers[i]->close)
			watchers[i]->close(rec);
}
