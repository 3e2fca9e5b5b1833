#include "view/records/perfjson.h"

#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/json.h"
#include "event/abi.h"
#include "unwind/chain.h"

/* ---- headers ---- */

static void add_capture_time(const struct reader *r, struct str *text)
{
	struct stat st;
	char when[64];
	struct tm tm;

	if (fstat(r->parts.at[0].fd, &st) || !gmtime_r(&st.st_mtime, &tm))
		return;
	strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", &tm);
	json_text(text, "captured-on", when);
}

static void add_headers(const struct reader *r, struct str *text)
{
	const struct layout_header *h = &r->header;
	const struct file_info *info = &r->info;

	json_open(text, "headers", '{');
	json_u64(text, "header-version", h->magic == LAYOUT_MAGIC_2 ? 1 : 0);
	add_capture_time(r, text);
	if (!r->is_pipe_mode) {
		json_u64(text, "data-offset", h->data.offset);
		json_u64(text, "data-size", h->data.size);
		json_u64(text, "feat-offset", h->data.offset + h->data.size);
	}
	json_text(text, "hostname", info->host.hostname);
	json_text(text, "os-release", info->host.release);
	json_text(text, "arch", info->host.arch);
	if (info->host.cpu_description)
		json_text(text, "cpu-desc", info->host.cpu_description);
	json_text(text, "cpuid", info->host.cpuid);
	json_u64(text, "nrcpus-online", info->host.cpus_online);
	json_u64(text, "nrcpus-avail", info->host.cpus_available);
	if (info->has_clock_data) {
		json_u64(text, "clockid", info->clockid);
		json_u64(text, "clock-time", info->clock_ns);
		json_u64(text, "real-time", info->wall_ns);
	}
	json_text(text, "perf-version", info->version);
	json_open(text, "cmdline", '[');
	vec_each(word, &info->cmdline)
		json_element(text, *word);
	json_close(text, ']');
	json_close(text, '}');
}

void perfjson_begin(struct perfjson *p, struct trace *trace, struct str *text)
{
	const struct reader *r = &trace->session.reader;
	struct err ignored;

	memset(p, 0, sizeof(*p));
	p->trace = trace;
	locator_init(&p->locator, &trace->machine, &trace->resolver);
	if (r->info.tracing_data.n &&
		tracepoints_open(&p->tracepoints, &r->info.tracing_data, &ignored))
		memset(&p->tracepoints, 0, sizeof(p->tracepoints));
	str_addc(text, '{');
	json_u64(text, "linux-perf-json-version", 1);
	add_headers(r, text);
	json_open(text, "samples", '[');
	str_addc(text, '\n');
}

/* ---- samples ---- */

static void add_place(struct perfjson *p, const struct thread_state *t,
	const struct chain_step *step, struct str *text)
{
	struct resolver_answer a;
	struct location l;
	const char *name;

	locator_find(&p->locator, t, step, &l);
	a = locator_name(&p->locator, &l);
	name = resolver_title(&a, 0, &p->strings);
	str_addc(text, '{');
	json_hex(text, "ip", step->ip);
	if (name) {
		json_text(text, "symbol", name);
		json_text(text, "dso", l.dso->name);
	}
	json_end(text, '}');
	str_addc(text, ',');
}

static void add_chain(struct perfjson *p, struct visit *v, struct str *text)
{
	const struct thread_state *t = visit_state(v);
	struct chain_step step = {v->sample->ip, v->mode, false};
	struct chain_walk walk;

	json_open(text, "callchain", '[');
	if (v->format->type & PERF_SAMPLE_CALLCHAIN) {
		visit_callers(v);
		walk = chain_walk(&v->chain, v->mode);
		while (chain_next(&walk, &step))
			add_place(p, t, &step, text);
	} else {
		add_place(p, t, &step, text);
	}
	json_close(text, ']');
}

/* The fields of a tracepoint, each as the text of its format. */
static void add_fields(struct perfjson *p, u64 id, const struct record_bytes *raw, struct str *text)
{
	struct str names = {0}, value = {0};

	if (tracepoints_add_fields(&p->tracepoints, id, &names)) {
		for (char *save, *name = strtok_r(names.at, ",", &save); name;
			name = strtok_r(NULL, ",", &save)) {
			str_clear(&value);
			if (tracepoints_add_field(&p->tracepoints, id, raw, name, false, &value))
				json_text(text, name, str_text(&value));
		}
	}
	str_fini(&names);
	str_fini(&value);
}

void perfjson_add(struct perfjson *p, struct visit *v, struct str *text)
{
	const struct event *e = &p->trace->session.reader.events.at[v->event];
	const struct sample *s = v->sample;
	const u64 type = v->format->type;

	str_add(text, p->n_samples++ ? ",\n{" : "{");
	json_u64(text, "timestamp", visit_said_time(v) + p->shift_ns);
	json_s64(text, "pid", (s32)s->pid);
	json_s64(text, "tid", (s32)s->tid);
	if (type & PERF_SAMPLE_CPU)
		json_s64(text, "cpu", (s32)s->cpu);
	json_text(text, "comm", visit_state(v)->comm);
	add_chain(p, v, text);
	if (type & PERF_SAMPLE_RAW && e->attr.type == PERF_TYPE_TRACEPOINT && p->tracepoints.handle)
		add_fields(p, e->attr.config, &s->raw, text);
	json_end(text, '}');
}

void perfjson_end(struct perfjson *p, struct str *text)
{
	str_add(text, "\n]}\n");
	intern_fini(&p->strings);
	tracepoints_close(&p->tracepoints);
}
