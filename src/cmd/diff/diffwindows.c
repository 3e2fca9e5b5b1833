#include "cmd/diff/diffwindows.h"

#include <time.h>

#include "base/clock.h"

#define NS 1000000000ULL

enum { DAYS_MOST = 60 };

static void add(struct comparing *c, struct fleetinput *in, int side)
{
	vec_add(&c->windows, in);
	vec_add(&c->recordings,
		((struct delta_recording){.name = str_text(&in->name),
			.path = in->path,
			.side = (u8)side}));
}

/* Takes a window that was opened, or gives it up. */
static int take(struct comparing *c, struct fleetinput *in, int result, int side)
{
	if (!result) {
		add(c, in, side);
		return 0;
	}
	fleetinput_close(in);
	mem_free(in);
	return result;
}

/* The same time of the clock, so many days before; clocks may have been changed meanwhile. */
static u64 days_before(u64 ns, int days)
{
	const time_t t = (time_t)(ns / NS);
	struct tm tm;

	localtime_r(&t, &tm);
	tm.tm_mday -= days;
	tm.tm_isdst = -1;
	return (u64)mktime(&tm) * NS + ns % NS;
}

/* Where the store's first file begins. */
static int find_beginning(const struct diff_command *o, u64 *ret_ns, struct err *err)
{
	char path[STORE_PATH];
	struct store s;

	if (!o->store && !store_default(true, path))
		return err_set(err, ERR_NOENT,
			"there is no home to look for a store in: name its folder with -i");
	if (store_open(&s, o->store ? o->store : path, err))
		return err->code;
	*ret_ns = s.files.n ? s.files.at[0].hour * STORE_HOUR_NS : UINT64_MAX;
	store_close(&s);
	return 0;
}

/* Days without a minute of that time are passed over. */
static int add_other_days(struct comparing *c, const struct timerange *window, struct err *err)
{
	u64 beginning;

	if (find_beginning(c->options, &beginning, err))
		return err->code;
	if (!window->from_ns || window->to_ns - window->from_ns > 24 * STORE_HOUR_NS)
		return err_set(err, ERR_INVAL, "--usual: the window is longer than a day");
	for (int days = 1; days <= DAYS_MOST; days++) {
		const struct timerange other = {days_before(window->from_ns, days),
			days_before(window->to_ns, days)};
		struct fleetinput *in;

		if (other.to_ns <= beginning ||
			days_before(window->from_ns, days) > window->from_ns)
			break;
		in = mem_zalloc(sizeof(*in));
		if (take(c, in, fleetinput_open_range(in, c->options->store, &other, c->log, err),
			    DELTA_A) &&
			err->code != ERR_NOENT)
			return err->code;
		*err = (struct err){0};
	}
	if (!c->recordings.n)
		return err_set(err, ERR_NOENT,
			"--usual: the store has nothing of this time of other days");
	return 0;
}

int diffwindows_choose(struct comparing *c, struct err *err)
{
	const struct diff_command *o = c->options;
	struct timerange window;

	if (o->is_usual && o->at.n != 1)
		return err_set(err, ERR_INVAL,
			"--usual compares one window: --at is there %zu times", o->at.n);
	if (!o->is_usual && o->at.n < 2)
		return err_set(err, ERR_INVAL,
			"--at: a second window is missing; --usual compares one with the same time of other days");
	if (timerange_parse(o->at.at[0], clock_ns_of(CLOCK_REALTIME), &window, err))
		return err_prefix(err, "--at");
	*err = (struct err){0};
	if (o->is_usual && add_other_days(c, &window, err))
		return err->code;
	for (size_t i = 0; i < o->at.n; i++) {
		struct fleetinput *in = mem_zalloc(sizeof(*in));
		const int result = fleetinput_open(in, o->store, o->at.at[i], c->log, err);

		if (take(c, in, result, o->is_usual || i ? DELTA_B : DELTA_A))
			return err->code;
	}
	return 0;
}
