/*
 * stat_topdown.c - 'pace stat --topdown': which events it counts, and what there is to say about them.
 */
#include <assert.h>
#include <string.h>

#include "base/cmdline.h"
#include "cmd/stat/measuring.h"
#include "collect/known/slotsite.h"
#include "collect/open/missing.h"
#include "event/parse.h"
#include "view/stat/stat_topdown.h"

/* Longer ones hide what changed in between; the seed of the register's precision is a few seconds. */
enum { INTERVAL_MAX_MS = 5000 };

/* Events that count both threads of a core say nothing about one of them, or about a task. */
static int check_cores(const struct measuring *m, const struct site *site, struct err *err)
{
	const struct stat_command *o = m->options;

	if (!tma_plan_counts_cores(&m->topdown) || !slotsite_has_smt(site))
		return 0;
	if (!m->target.is_system_wide)
		return err_set(err, ERR_INVAL,
			"--topdown: this CPU's events count both threads of a core, whatever runs there: count the whole system with -a, or turn SMT off");
	if (o->per_cpu)
		return err_set(err, ERR_INVAL,
			"--topdown -A: this CPU's events count both threads of a core: --per-core has a row for each core");
	return 0;
}

static u32 level_of(const struct measuring *m)
{
	const struct stat_command *o = m->options;
	u32 levels = tma_plan_levels(&m->topdown);

	return !o->has_td_level ? 1 : o->td_level ? (u32)o->td_level : levels;
}

int stat_topdown_parse(struct measuring *m, struct err *err)
{
	const struct parse_env env = {.sysfs = "/sys"};
	struct str text = {0};
	int r;

	tma_plan_add_events(&m->topdown, &text);
	r = parse_events(str_text(&text), &env, &m->events, err);
	str_fini(&text);
	assert(r || m->events.n == m->topdown.n_events);
	return r;
}

int stat_topdown_add_events(struct measuring *m, struct err *err)
{
	const struct stat_command *o = m->options;
	struct site site;
	u32 levels;

	site_read(&site, NULL);
	site_read_machine(&site);
	if (slotsite_open(&m->topdown, &site, err) || check_cores(m, &site, err))
		return err->code = ERR_INVAL;
	levels = tma_plan_levels(&m->topdown);
	if (level_of(m) > levels)
		return err_set(err, ERR_INVAL,
			"--td-level %u: this CPU counts level %s by itself; a vendor's table of metrics may know more: 'stat -M TopdownL%u --events-dir DIR'",
			level_of(m), levels > 1 ? "1 and 2" : "1", level_of(m));
	if (m->topdown.missing.n)
		log_note(&m->log, "without TopDown: %s", m->topdown.missing.at);
	if (o->interval_ms > INTERVAL_MAX_MS && tma_plan_has_register(&m->topdown))
		log_note(&m->log,
			"-I %llu: the register of metrics has 8 bits for each share, which lose precision in long intervals: choose -I of a few seconds at most",
			(unsigned long long)o->interval_ms);
	tma_plan_level(&m->topdown, level_of(m));
	m->has_topdown = true;
	return stat_topdown_parse(m, err);
}

void stat_add_target(const struct measuring *m, struct str *text)
{
	const struct target_words *w = &m->options->target;

	if (w->pids || w->tids)
		str_addf(text, " -%c %s", w->pids ? 'p' : 't', w->pids ? w->pids : w->tids);
	else if (w->cpus)
		str_addf(text, " -C %s", w->cpus);
	else if (m->target.is_system_wide)
		str_add(text, " -a");
	if (m->command)
		str_add(text, " --");
	for (int i = 0; i < m->argc; i++) {
		str_addc(text, ' ');
		cmdline_add_word(text, m->command[i]);
	}
}

int stat_topdown_check(const struct measuring *m, struct err *err)
{
	struct site site;

	if (!m->has_topdown)
		return 0;
	for (u32 i = 0; i < m->topdown.n_events; i++) {
		if (!m->counting.why[i].code)
			continue;
		site_read(&site, NULL);
		site_read_machine(&site);
		return slotsite_refuse(&site, m->events.at[i].name,
			missing_reason(&m->counting.why[i]), err);
	}
	return 0;
}

void stat_topdown_watch(struct measuring *m)
{
	struct count *counts;

	if (!m->has_topdown || m->has_topdown_doubt)
		return;
	counts = mem_alloc(m->events.n * sizeof(*counts));
	for (u32 place = 0; place < m->counts.places.n && !m->has_topdown_doubt; place++) {
		slots_take(&m->counts, place, true, counts);
		for (u32 core = 0; core < m->topdown.cores.n; core++) {
			struct str why = {0};
			struct slots s;

			slots_of(&s, &m->topdown, core, counts);
			stat_topdown_add_doubt(&s, &why);
			if (why.n && !m->has_topdown_doubt)
				log_note(&m->log, "%s: %s", m->topdown.cores.at[core].pmu, why.at);
			m->has_topdown_doubt |= why.n > 0;
			str_fini(&why);
		}
	}
	mem_free(counts);
}
