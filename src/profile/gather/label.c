#include "profile/gather/label.h"

#include "base/bytes.h"
#include "event/abi.h"
#include "event/attr.h"
#include "profile/gather/blocks.h"
#include "record/branch.h"

/* The fields that samples must carry, and the option that makes perf and pace record them. */
static const struct {
	u64 fields;
	const char *what, *remedy;
	u64 flags; /* of attrs: records beside the samples */
} needs[LABEL_COUNT] = {
	/* No remedy: the report says in each row that the value is not known. */
	[LABEL_CPU] = {PERF_SAMPLE_CPU, NULL, NULL},
	[LABEL_TIME] = {PERF_SAMPLE_TIME, NULL, NULL},
	[LABEL_WEIGHT] = {PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT, NULL, NULL},
	[LABEL_CODE_PAGE] = {PERF_SAMPLE_CODE_PAGE_SIZE, NULL, NULL},
	[LABEL_DATA_PAGE] = {PERF_SAMPLE_DATA_PAGE_SIZE, NULL, NULL},
	[LABEL_SOCKET] = {PERF_SAMPLE_CPU, "the processor", "--sample-cpu"},
	[LABEL_INS_LATENCY] = {PERF_SAMPLE_WEIGHT_STRUCT, "latencies of instructions", "-W"},
	[LABEL_STAGE] = {PERF_SAMPLE_WEIGHT_STRUCT, "latencies of stages", "-W"},
	[LABEL_TRANSACTION] = {PERF_SAMPLE_TRANSACTION, "transactions", "--transaction"},
	[LABEL_CGROUP] = {PERF_SAMPLE_CGROUP, "control groups", "--all-cgroups"},
	[LABEL_CGROUP_NAMESPACE] = {PERF_SAMPLE_TID | PERF_SAMPLE_TIME, "namespaces",
		"--namespaces", ATTR_NAMESPACES},
	[LABEL_PARALLELISM] = {PERF_SAMPLE_TIME, "context switches", "--switch-events",
		ATTR_CONTEXT_SWITCH},
	[LABEL_LATENCY] = {PERF_SAMPLE_TIME, "context switches", "--switch-events",
		ATTR_CONTEXT_SWITCH},
	[LABEL_FROM] = {PERF_SAMPLE_BRANCH_STACK, "branches", "-b"},
	[LABEL_TO] = {PERF_SAMPLE_BRANCH_STACK, "branches", "-b"},
	[LABEL_BRANCH] = {PERF_SAMPLE_BRANCH_STACK, "branches", "-b"},
	[LABEL_BLOCK] = {PERF_SAMPLE_BRANCH_STACK, "branches", "-b"},
	[LABEL_DATA] = {PERF_SAMPLE_ADDR, "addresses of data", "-d"},
	[LABEL_DATA_SOURCE] = {PERF_SAMPLE_DATA_SRC, "accesses to memory",
		"-d and an event of memory accesses"},
	[LABEL_PHYSICAL] = {PERF_SAMPLE_PHYS_ADDR, "physical addresses", "--phys-data"},
	[LABEL_TRACE] = {PERF_SAMPLE_RAW, "tracepoint data", "-e and a tracepoint"},
	[LABEL_FIELD] = {PERF_SAMPLE_RAW, "tracepoint data", "-e and a tracepoint"},
};

static enum profile_label row_of(enum profile_label label)
{
	return label >= LABEL_FIELD && label <= LABEL_FIELD_LAST ? LABEL_FIELD : label;
}

u64 label_needs(enum profile_label label)
{
	return needs[row_of(label)].fields;
}

bool label_needs_sideband(u64 labels)
{
	return labels &
		(LABEL_BIT(LABEL_CGROUP_NAMESPACE) | LABEL_BIT(LABEL_PARALLELISM) |
			LABEL_BIT(LABEL_LATENCY));
}

int label_check(const struct session *s, enum profile_label label, struct err *err)
{
	enum profile_label row = row_of(label);

	if (!needs[row].remedy)
		return 0;
	vec_each(e, &s->reader.events)
		if (needs[row].flags ? e->attr.flags & needs[row].flags
				     : e->attr.sample_type & needs[row].fields)
			return 0;
	return err_set(err, ERR_INVAL, "the recording does not have %s: record with %s",
		needs[row].what, needs[row].remedy);
}

int label_facts_init(struct label_facts *f, const struct session *s, const struct machine *m,
	u64 labels, struct err *err)
{
	const u64 traces =
		LABEL_BIT(LABEL_TRACE) | (LABEL_BIT(LABEL_FIELD_LAST + 1) - LABEL_BIT(LABEL_FIELD));

	memset(f, 0, sizeof(*f));
	f->session = s;
	f->machine = m;
	pthread_mutex_init(&f->lock, NULL);
	return labels & traces
		? tracepoints_open(&f->tracepoints, &s->reader.info.tracing_data, err)
		: 0;
}

void label_facts_fini(struct label_facts *f)
{
	tracepoints_close(&f->tracepoints);
	pthread_mutex_destroy(&f->lock);
}

/* per sample: a part of the weight, if it has parts */
static u64 weight_part(const struct label_facts *f, const struct visit *in, unsigned shift,
	u64 mask)
{
	u64 type = f->session->reader.formats.at[in->taken_by].type;

	if (type & PERF_SAMPLE_WEIGHT_STRUCT)
		return in->sample->weight >> shift & mask;
	return shift ? 0 : in->sample->weight;
}

static u32 socket_of(const struct label_facts *f, u32 cpu)
{
	const struct host *host = &f->session->reader.info.host;

	return cpu < host->cpus.n ? host->cpus.at[cpu].socket : (u32)-1;
}

/* The text of a tracepoint, or of one field of it. 0 if its format is not known. */
static u64 trace_of(struct label_maker *m, const struct visit *in, const char *field)
{
	struct label_facts *f = m->facts;
	const struct event *e = &f->session->reader.events.at[in->taken_by];
	bool is_known;

	if (e->attr.type != PERF_TYPE_TRACEPOINT)
		return 0;
	str_cut(&m->scratch, 0);
	pthread_mutex_lock(&f->lock);
	is_known = field || f->has_raw_fields
		? tracepoints_add_field(&f->tracepoints, e->attr.config, &in->sample->raw, field,
			  f->has_raw_fields, &m->scratch)
		: tracepoints_add_text(&f->tracepoints, e->attr.config, in->sample->cpu,
			  &in->sample->raw, &m->scratch);
	pthread_mutex_unlock(&f->lock);
	return is_known ? (u64)(uintptr_t)intern_str(m->strings, str_text(&m->scratch)) : 0;
}

struct uniques_place label_place(const struct label_sample *s, u64 address)
{
	/* On all architectures of Linux the upper half is the kernel's. */
	bool is_kernel = address >> 63;

	return (struct uniques_place){is_kernel ? s->kernel : s->user, address,
		is_kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER};
}

static u64 place_of(struct label_maker *m, const struct label_sample *s, u64 address)
{
	struct uniques_place place = label_place(s, address);

	return uniques_place(m->uniques, &place);
}

/* The share of a sample's time that passed because of it, if each of the threads that ran caused as much. */
static u64 latency_of(const struct sideband *m, const struct visit *in)
{
	return m ? in->sample->period / MAX(sideband_parallelism(m, in->time), 1u) : 0;
}

void label_set_nodigit(const char *comm, struct str *text)
{
	str_cut(text, 0);
	while (*comm) {
		const size_t n = strspn(comm, "0123456789");

		if (n)
			str_add(text, "<N>");
		else
			str_addc(text, *comm);
		comm += n ? n : 1;
	}
}

static u64 nodigit_of(struct label_maker *m, const char *comm)
{
	if (!comm)
		return 0;
	label_set_nodigit(comm, &m->scratch);
	return (u64)(uintptr_t)intern_str(m->strings, str_text(&m->scratch));
}

static struct branch branch_of(const struct label_sample *s)
{
	return s->branch ? branch_at(s->branch, 0) : (struct branch){0};
}

static u64 sideband_value(const struct sideband *m, enum profile_label label,
	const struct visit *in)
{
	if (!m)
		return 0;
	return label == LABEL_PARALLELISM
		? sideband_parallelism(m, in->time)
		: (u64)(uintptr_t)sideband_cgroup_namespace(m, in->sample->tid, in->time);
}

/*
 * The run from the target of the previous branch to this branch. If it goes backwards, or so far that a branch
 * between them must be missing, its start is unknown.
 */
static u64 block_of(struct label_maker *m, const struct label_sample *s)
{
	u64 end = branch_of(s).from;
	u64 start = s->before ? branch_at(s->before, 0).to : 0;
	u32 last = (u32)place_of(m, s, end);

	if (!s->before || start > end || end - start > BLOCKS_REACH)
		return profile_block_label((struct profile_block){PROFILE_NO_FRAME, last});
	return profile_block_label((struct profile_block){(u32)place_of(m, s, start), last});
}

u64 label_of(struct label_maker *m, enum profile_label label, const struct label_sample *s)
{
	const struct visit *in = s->in;
	const struct sample *sample = in->sample;

	switch (label) {
	case LABEL_COMM:
		return (u64)(uintptr_t)s->comm;
	case LABEL_PID:
		return sample->pid;
	case LABEL_TID:
		return sample->tid;
	case LABEL_CPU:
		return sample->cpu;
	case LABEL_TIME:
		return in->time - in->time % m->facts->time_quantum;
	case LABEL_WEIGHT:
		return weight_part(m->facts, in, 0, UINT32_MAX);
	case LABEL_INS_LATENCY:
		return weight_part(m->facts, in, 32, UINT16_MAX);
	case LABEL_STAGE:
		return weight_part(m->facts, in, 48, UINT16_MAX);
	case LABEL_CODE_PAGE:
		return sample->code_page_size;
	case LABEL_DATA_PAGE:
		return sample->data_page_size;
	case LABEL_SOCKET:
		return socket_of(m->facts, sample->cpu);
	case LABEL_TRANSACTION:
		return sample->transaction;
	case LABEL_CGROUP:
		return (u64)(uintptr_t)machine_cgroup(m->facts->machine, sample->cgroup);
	case LABEL_CGROUP_NAMESPACE:
	case LABEL_PARALLELISM:
		return sideband_value(m->facts->sideband, label, in);
	case LABEL_LATENCY:
		return latency_of(m->facts->sideband, in);
	case LABEL_COMM_NODIGIT:
		return nodigit_of(m, s->comm);
	case LABEL_FROM:
		return place_of(m, s, branch_of(s).from);
	case LABEL_TO:
		return place_of(m, s, branch_of(s).to);
	case LABEL_BRANCH:
		return branch_of(s).flags;
	case LABEL_BLOCK:
		return block_of(m, s);
	case LABEL_DATA:
		return place_of(m, s, sample->addr);
	case LABEL_DATA_SOURCE:
		return sample->data_src;
	case LABEL_PHYSICAL:
		return sample->phys_addr;
	case LABEL_TRACE:
		return trace_of(m, in, NULL);
	default:
		return label >= LABEL_FIELD && label <= LABEL_FIELD_LAST
			? trace_of(m, in, m->facts->fields[label - LABEL_FIELD])
			: 0; /* set once frames are known */
	}
}
