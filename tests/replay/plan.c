#include "replay.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct machine machine;

void replay_log(const char *format, ...)
{
	const char *path = getenv("REPLAY_LOG");
	char line[512];
	va_list args;
	int fd, n;

	if (!path)
		return;
	va_start(args, format);
	n = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (fd < 0)
		return;
	if (write(fd, line, (size_t)n < sizeof(line) ? (size_t)n : sizeof(line) - 1) < 0)
		errno = 0;
	close(fd);
}

/* ---- words: "key=value" ---- */

struct words {
	char *rest;
	char *key, *value;
};

static bool next_word(struct words *w)
{
	char *word;

	do {
		word = strsep(&w->rest, " \n");
	} while (word && !*word);
	if (!word)
		return false;
	w->key = word;
	w->value = strchr(word, '=');
	if (w->value)
		*w->value++ = '\0';
	else
		w->value = word;
	return true;
}

static bool is_key(const struct words *w, const char *key)
{
	return !strcmp(w->key, key);
}

static uint64_t number(const char *text)
{
	return strtoull(text, NULL, 0);
}

/* Numbers with commas between; how many. */
static unsigned numbers(char *text, uint64_t *ret, unsigned max)
{
	unsigned n = 0;

	for (char *one; n < max && (one = strsep(&text, ",")) != NULL;)
		ret[n++] = strcmp(one, "none") ? number(one) : ~0ULL;
	return n;
}

/* ---- lines ---- */

static const char *const kinds[] = {"intel", "amd", "arm", "uncore", "plain"};

static const char *take_pmu(struct words *w)
{
	struct pmu *p = &machine.pmus[machine.n_pmus];
	uint64_t pair[3];

	if (machine.n_pmus == PMUS_MAX)
		return "too many PMUs";
	*p = (struct pmu){.kind = KIND_PLAIN, .n_gp = 64};
	while (next_word(w)) {
		if (is_key(w, "name"))
			snprintf(p->name, sizeof(p->name), "%s", w->value);
		else if (is_key(w, "type"))
			p->type = number(w->value);
		else if (is_key(w, "cpus"))
			p->cpus = number(w->value);
		else if (is_key(w, "gp"))
			p->n_gp = number(w->value);
		else if (is_key(w, "fixed"))
			p->n_fixed = numbers(w->value, p->fixed, FIXED_MAX);
		else if (is_key(w, "metrics"))
			p->n_metrics = number(w->value);
		else if (is_key(w, "precise"))
			p->max_precise = number(w->value);
		else if (is_key(w, "rtm"))
			p->has_rtm = number(w->value);
		else if (is_key(w, "loads-aux"))
			p->has_aux = number(w->value);
		else if (is_key(w, "no-rdpmc"))
			p->no_rdpmc = number(w->value);
		else if (is_key(w, "generic") && numbers(w->value, pair, 2) == 2 &&
			pair[0] < PERF_COUNT_HW_MAX)
			p->generic[pair[0]] = pair[1];
		else if (is_key(w, "limit") && p->n_limits < LIMITS_MAX &&
			numbers(w->value, pair, 3) == 3)
			p->limits[p->n_limits++] = (struct limit){pair[0], pair[1], pair[2]};
		else if (is_key(w, "kind")) {
			for (p->kind = 0; p->kind <= KIND_PLAIN; p->kind++)
				if (!strcmp(w->value, kinds[p->kind]))
					break;
			if (p->kind > KIND_PLAIN)
				return "no such kind of PMU";
		} else {
			return "an unknown word about a PMU";
		}
	}
	machine.n_pmus++;
	return NULL;
}

static const char *take_count(struct words *w)
{
	struct script *s = &machine.scripts[machine.n_scripts];

	if (machine.n_scripts == SCRIPTS_MAX)
		return "too many counts";
	*s = (struct script){.cpu = -1, .running = 100};
	while (next_word(w)) {
		if (is_key(w, "type"))
			s->type = number(w->value);
		else if (is_key(w, "config"))
			s->config = number(w->value);
		else if (is_key(w, "cpu"))
			s->cpu = atoi(w->value);
		else if (is_key(w, "running"))
			s->running = number(w->value);
		else if (is_key(w, "rate"))
			s->rate = strtod(w->value, NULL);
		else if (is_key(w, "every"))
			s->every_ns = number(w->value) * 1000000;
		else if (is_key(w, "values")) {
			size_t n = strlen(w->value) / 2 + 1;

			s->values = calloc(n, sizeof(*s->values));
			s->n_values = s->values ? numbers(w->value, s->values, n) : 0;
		} else {
			return "an unknown word about a count";
		}
	}
	machine.n_scripts++;
	return NULL;
}

static const char *take_step(struct words *w)
{
	struct step *steps =
		reallocarray(machine.steps, machine.n_steps + 1, sizeof(*machine.steps));
	struct step *s;

	if (!steps)
		return "no memory";
	machine.steps = steps;
	s = &steps[machine.n_steps++];
	*s = (struct step){0};
	while (next_word(w)) {
		if (is_key(w, "slots"))
			s->slots = number(w->value);
		else if (is_key(w, "parts"))
			numbers(w->value, s->parts, METRICS_MAX);
		else
			return "an unknown word about a step";
	}
	return NULL;
}

static const char *take_sample(struct words *w)
{
	struct scripted_sample *s = &machine.samples[machine.n_samples];
	const struct {
		const char *key;
		uint64_t *to;
	} members[] = {{"config", &s->config}, {"ip", &s->ip}, {"addr", &s->addr},
		{"weight", &s->weight}, {"ins_latency", &s->ins_latency},
		{"retire_latency", &s->retire_latency}, {"transaction", &s->transaction},
		{"data_src", &s->data_src}, {"period", &s->period}, {"count", &s->count},
		{"ax", &s->ax}};
	const size_t n = sizeof(members) / sizeof(*members);

	if (machine.n_samples == SCRIPTS_MAX)
		return "too many samples";
	*s = (struct scripted_sample){.count = 1};
	while (next_word(w)) {
		size_t i = 0;

		if (is_key(w, "type")) {
			s->type = number(w->value);
			continue;
		}
		if (is_key(w, "chain")) {
			s->n_chain = numbers(w->value, s->chain, CHAIN_MAX);
			continue;
		}
		if (is_key(w, "branches")) {
			s->n_branch_words = numbers(w->value, s->branches, 3 * BRANCHES_MAX);
			continue;
		}
		s->has_ax |= is_key(w, "ax");
		while (i < n && !is_key(w, members[i].key))
			i++;
		if (i == n)
			return "an unknown word about a sample";
		*members[i].to = number(w->value);
	}
	machine.n_samples++;
	return NULL;
}

static const char *take_machine(struct words *w)
{
	while (next_word(w)) {
		if (is_key(w, "root"))
			snprintf(machine.root, sizeof(machine.root), "%s", w->value);
		else if (is_key(w, "cpus"))
			machine.n_cpus = number(w->value);
		else
			return "an unknown word about the machine";
	}
	return machine.n_cpus && machine.n_cpus <= CPUS_MAX ? NULL : "a strange number of CPUs";
}

static const char *take_line(char *line)
{
	static const struct {
		const char *name;
		const char *(*take)(struct words *w);
	} lines[] = {{"machine", take_machine}, {"pmu", take_pmu}, {"count", take_count},
		{"step", take_step}, {"sample", take_sample}};
	struct words w = {line, NULL, NULL};

	if (!next_word(&w))
		return NULL;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		if (!strcmp(lines[i].name, w.key))
			return lines[i].take(&w);
	return "an unknown line";
}

const char *plan_read(const char *path)
{
	FILE *file = fopen(path, "re");
	const char *wrong = file ? NULL : "it cannot be read";
	char *line = NULL;
	size_t room = 0;

	while (!wrong && getline(&line, &room, file) > 0)
		wrong = take_line(line);
	free(line);
	if (file)
		fclose(file);
	return wrong;
}

struct script *plan_script(uint32_t type, uint64_t config, int cpu)
{
	struct script *found = NULL;

	for (unsigned i = 0; i < machine.n_scripts; i++) {
		struct script *s = &machine.scripts[i];

		if (s->type != type || s->config != config)
			continue;
		if (s->cpu == cpu)
			return s;
		if (s->cpu < 0)
			found = s;
	}
	return found;
}
