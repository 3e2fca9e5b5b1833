#include "collect/open/missing.h"

#include <string.h>

#include "event/abi.h"

const char *missing_reason(const struct err *why)
{
	const char *end = !strncmp(why->msg, "opening '", 9) ? strstr(why->msg, "': ") : NULL;

	return end ? end + 3 : why->msg;
}

int missing_check(const struct counting *c, struct err *err)
{
	const struct err *denied = NULL;

	vec_each(e, c->events) {
		const struct err *why = &c->why[e - c->events->at];

		if (!why->code)
			return 0;
		if (why->code != ERR_UNSUPPORTED && !denied)
			denied = why;
	}
	if (!denied)
		return 0;
	*err = *denied;
	return err->code;
}

static bool has_reason(const struct counting *c, size_t event, const char *reason)
{
	const struct err *why = &c->why[event];

	return why->code && !strcmp(missing_reason(why), reason);
}

/* Most processors cannot count these: nobody needs to be told. */
static bool is_rare(const struct event *e)
{
	return e->attr.type == PERF_TYPE_HARDWARE &&
		((u32)e->attr.config == PERF_COUNT_HW_STALLED_CYCLES_FRONTEND ||
			(u32)e->attr.config == PERF_COUNT_HW_STALLED_CYCLES_BACKEND);
}

/* The next event from `i` on that could not be opened for a reason that none before it had. */
static size_t next_reason(const struct counting *c, size_t i)
{
	for (; i < c->events->n; i++) {
		bool is_known = false;

		for (size_t k = 0; k < i; k++)
			is_known |= has_reason(c, k, missing_reason(&c->why[i]));
		if (c->why[i].code && !is_known)
			break;
	}
	return i;
}

void missing_note(const struct counting *c, struct log *log)
{
	for (size_t i = next_reason(c, 0); i < c->events->n; i = next_reason(c, i + 1)) {
		const char *reason = missing_reason(&c->why[i]);
		struct str names = {0};

		for (size_t k = i; k < c->events->n; k++)
			if (has_reason(c, k, reason) && !is_rare(&c->events->at[k]))
				str_addf(&names, "%s%s", names.n ? ", " : "",
					c->events->at[k].name);
		/* Only the cause: the table already shows the rest. */
		if (names.n)
			log_note(log, "not counted by default: %s: %.*s", str_text(&names),
				(int)strcspn(reason, ";"), reason);
		str_fini(&names);
	}
}
