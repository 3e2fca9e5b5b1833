#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "base/selfname.h"
#include "base/workers.h"
#include "cmd/record/recording.h"
#include "profile/check/brief.h"
#include "profile/rows/key.h"
#include "profile/check/recorded.h"
#include "symbol/name/demangle.h"

/* Larger recordings are read in part: reading all of them takes a while. */
enum { READ_BYTES_MAX = 128 << 20 };

/* A smaller share of samples without a name is not worth a mention. */
#define NAMELESS_SAID 0.05

static void add_read(const struct recorded *in, u64 n_samples, struct str *text)
{
	u64 n_read = in->trace.session.n_read;

	if (n_read >= n_samples)
		return;
	str_add(text, in->trace.session.reader.is_packed ? " (of which the first " : " (of which ");
	num_add_grouped(text, n_read);
	str_add(text,
		in->trace.session.reader.is_packed
			? " were looked at)"
			: ", from all parts of the file, were looked at)");
}

static bool has_chains(const struct recorded *in)
{
	vec_each(e, &in->trace.session.reader.events)
		if (e->attr.sample_type & (PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_STACK_USER))
			return true;
	return false;
}

/* "1,286 samples, 98.10% of their stacks whole; 1.80% end in: ...". */
static void add_stacks(const struct brief *b, const struct recorded *in, u64 n_samples,
	struct str *text)
{
	num_add_grouped(text, n_samples);
	str_add(text, n_samples == 1 ? " sample" : " samples");
	add_read(in, n_samples, text);
	if (!b->n_stacks) {
		str_add(text,
			has_chains(in) ? " without callers: every call chain ends at the sample"
				       : " without callers: -g records them");
		return;
	}
	str_addf(text, ", %.2f%% of their stacks whole",
		100.0 * (double)b->n_whole / (double)b->n_stacks);
	if (!b->worst)
		return;
	str_addf(text,
		"; %.2f%% are not: ", 100.0 * (double)b->worst->amount / (double)b->n_stacks);
	str_add_safe(text, b->worst->where, strlen(b->worst->where));
	if (*b->worst->remedy) {
		str_add(text, ": ");
		str_add_safe(text, b->worst->remedy, strlen(b->worst->remedy));
	}
}

static void add_hottest(const struct brief *b, const struct profile *p, struct str *text)
{
	enum { NAME_MAX_BYTES = 60 };

	str_add(text, "hottest: ");
	for (size_t i = 0; i < b->n; i++) {
		const struct brief_function *f = &b->functions[i];
		struct str name = {0};

		key_add_symbol(&p->symbols.at[f->symbol], &name);
		str_addf(text, "%s%.*s%s %.2f%%", i ? ", " : "", NAME_MAX_BYTES, str_text(&name),
			name.n > NAME_MAX_BYTES ? "..." : "", 100 * f->share);
		str_fini(&name);
	}
	if (!b->n)
		str_add(text, "no function has a name");
	if (b->interpreted) {
		str_addf(text, "; %.2f%% show the interpreter in ", 100 * b->interpreted->share);
		str_add_safe(text, b->interpreted->where, strlen(b->interpreted->where));
		str_addf(text, ": %s", b->interpreted->remedy);
	}
	if (!b->nameless || b->nameless->share < NAMELESS_SAID)
		return;
	str_addf(text, "; %.2f%% in ", 100 * b->nameless->share);
	str_add_safe(text, b->nameless->where, strlen(b->nameless->where));
	str_add(text, " have no names: ");
	str_add_safe(text, b->nameless->remedy, strlen(b->nameless->remedy));
}

static void add_look(const struct recording *rec, const char *path, struct str *text)
{
	const char *begin = strcmp(path, "perf.data") ? " " : "", *file = *begin ? path : "";

	str_addf(text, "'pace report%s", begin);
	str_add_safe(text, file, strlen(file));
	if (rec->options->callers.has_chains)
		str_add(text, " --budget 20' shows where the time goes, 'pace annotate");
	else
		str_add(text, "' shows all of them, 'pace annotate");
	str_add(text, begin);
	str_add_safe(text, file, strlen(file));
	str_add(text, "' the hottest lines");
}

static void say(const struct str *line)
{
	fprintf(stderr, "[ %s record: %s ]\n", program_name(), str_text(line));
}

static void say_brief(const struct recording *rec, const struct recorded *in, const char *path,
	u64 n_samples)
{
	struct str line = {0};
	struct brief b;

	brief_init(&b, &in->profile, &in->ledger);
	add_stacks(&b, in, n_samples, &line);
	say(&line);
	str_clear(&line);
	add_hottest(&b, &in->profile, &line);
	say(&line);
	str_clear(&line);
	add_look(rec, path, &line);
	say(&line);
	str_fini(&line);
}

/* Tracepoints say what happened, not where time went: the function that has one has all of its samples. */
static bool are_tracepoints(const struct recording *rec, bool *ret_has_switches)
{
	*ret_has_switches = false;
	vec_each(e, &rec->events) {
		if (e->attr.type != PERF_TYPE_TRACEPOINT)
			return false;
		*ret_has_switches |= !strcmp(e->name, "sched:sched_switch");
	}
	return true;
}

static void say_tracepoints(const char *path, bool has_switches)
{
	const char *begin = strcmp(path, "perf.data") ? " -i " : "", *file = *begin ? path : "";
	struct str line = {0};

	str_addf(&line, "'pace script%s", begin);
	str_add_safe(&line, file, strlen(file));
	str_add(&line, "' shows each event");
	if (has_switches) {
		str_addf(&line, ", 'pace timechart%s", begin);
		str_add_safe(&line, file, strlen(file));
		str_add(&line, "' draws what CPUs and tasks did");
	}
	say(&line);
	str_fini(&line);
}

void record_say_brief(struct recording *rec, const char *path, u64 n_samples)
{
	bool has_switches;

	struct recorded_options how = {.n_workers = workers_available(),
		.has_stacks = rec->options->callers.has_chains,
		.max_stack = 127,
		.read_most = READ_BYTES_MAX,
		.naming.style = DEMANGLE_COMPACT};
	struct log silent = {.level = LOG_WARN};
	struct recorded in;
	struct err err;

	if (n_samples && are_tracepoints(rec, &has_switches)) {
		say_tracepoints(path, has_switches);
		return;
	}
	if (!n_samples || recorded_open(&in, path, &silent, &err))
		return;
	how.has_stacks &= in.has_chains;
	if (!recorded_read(&in, &how, &err))
		say_brief(rec, &in, path, n_samples);
	recorded_close(&in);
	log_fini(&silent);
}
