#include "file/window.h"

#include "base/hash.h"
#include "base/table.h"
#include "record/record.h"

enum {
	ROUNDS = 64, /* about so many make the window */
	ROUND_MOST_NS = 100000000,
	COMPACT_BYTES = 64 << 10, /* below that it does not pay */
};

void window_init(struct window *w, u64 span_ns, u64 most_bytes)
{
	memset(w, 0, sizeof(*w));
	w->span_ns = span_ns;
	w->most_bytes = most_bytes;
}

void window_fini(struct window *w)
{
	vec_each(round, &w->rounds)
		str_fini(&round->records);
	vec_fini(&w->rounds);
	str_fini(&w->state);
}

/* ---- what comes ---- */

void window_add(struct window *w, const struct iovec *runs, int n, u64 now_ns)
{
	u64 length = MAX(w->span_ns / ROUNDS, (u64)ROUND_MOST_NS);
	struct window_round *last = w->rounds.n ? &w->rounds.at[w->rounds.n - 1] : NULL;

	if (!last || now_ns >= last->begin_ns + length) {
		last = vec_push(&w->rounds);
		*last = (struct window_round){.begin_ns = now_ns};
	}
	last->end_ns = now_ns;
	for (int i = 0; i < n; i++) {
		str_addn(&last->records, runs[i].iov_base, runs[i].iov_len);
		w->bytes += runs[i].iov_len;
	}
}

/* ---- what goes ---- */

bool window_is_lasting(u32 type)
{
	switch (type) {
	case PERF_RECORD_SAMPLE:
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
	case PERF_RECORD_READ:
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
	case PERF_RECORD_FINISHED_ROUND:
		return false;
	}
	return true;
}

/* The header at `at`; false at the end, or where no record can be. */
static bool header_at(const struct str *records, size_t at, struct record_header *ret)
{
	if (records->n < at + sizeof(*ret))
		return false;
	memcpy(ret, records->at + at, sizeof(*ret));
	return ret->size >= sizeof(*ret) && ret->size <= records->n - at;
}

static void keep_state(struct window *w, const struct str *records)
{
	struct record_header header;

	for (size_t at = 0; header_at(records, at, &header); at += header.size)
		if (window_is_lasting(header.type))
			str_addn(&w->state, records->at + at, header.size);
}

void window_advance(struct window *w, u64 now_ns)
{
	size_t n = 0;

	for (; n < w->rounds.n; n++) {
		struct window_round *round = &w->rounds.at[n];
		bool is_old = round->end_ns + w->span_ns < now_ns;
		/* The newest round stays, however large it is. */
		bool is_much = w->most_bytes && w->bytes > w->most_bytes && n + 1 < w->rounds.n;

		if (!is_old && !is_much)
			break;
		w->was_full |= !is_old;
		keep_state(w, &round->records);
		w->bytes -= round->records.n;
		str_fini(&round->records);
	}
	if (!n)
		return;
	w->rounds.n -= n;
	memmove(w->rounds.at, w->rounds.at + n, w->rounds.n * sizeof(*w->rounds.at));
	if (w->state.n > 2 * w->compacted + COMPACT_BYTES)
		window_compact(w);
}

/* ---- tasks that are no more ---- */

/* A process as long as it lives; who gets its pid later is another one. */
struct life {
	u32 pid;
	u32 parent; /* position; TABLE_NONE: nobody told */
	s32 n_threads;
	bool has_leader_ended, is_needed;
};

struct lives {
	VEC(struct life) at;
	struct table by_pid;
};

static u32 find_life(struct lives *l, u32 pid)
{
	struct table_probe probe = table_probe(&l->by_pid, hash_u64(pid));
	u32 i, newest = TABLE_NONE;

	while ((i = table_next(&l->by_pid, &probe)) != TABLE_NONE)
		if (l->at.at[i].pid == pid && (newest == TABLE_NONE || i > newest))
			newest = i;
	return newest;
}

static u32 begin_life(struct lives *l, u32 pid, u32 parent)
{
	table_add(&l->by_pid, hash_u64(pid), (u32)l->at.n);
	vec_add(&l->at, ((struct life){.pid = pid, .parent = parent, .n_threads = 1}));
	return (u32)l->at.n - 1;
}

static u32 get_life(struct lives *l, u32 pid)
{
	u32 i = find_life(l, pid);

	return i == TABLE_NONE ? begin_life(l, pid, TABLE_NONE) : i;
}

/* Whose a record is; TABLE_NONE: the whole machine's. */
static u32 owner_of(struct lives *l, const struct record_header *header, const char *body)
{
	u32 task[4]; /* of FORK and EXIT: pid, ppid, tid, ptid */
	size_t n = header->size - sizeof(*header);
	u32 i;

	switch (header->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_COMM:
	case PERF_RECORD_NAMESPACES:
		if (n < sizeof(u32))
			return TABLE_NONE;
		memcpy(task, body, sizeof(u32));
		/* The kernel's own maps belong to no process. */
		return task[0] == UINT32_MAX ? TABLE_NONE : get_life(l, task[0]);
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		if (n < sizeof(task))
			return TABLE_NONE;
		memcpy(task, body, sizeof(task));
		break;
	default:
		return TABLE_NONE;
	}
	if (header->type == PERF_RECORD_FORK && task[0] != task[1])
		return begin_life(l, task[0], get_life(l, task[1]));
	i = get_life(l, task[0]);
	l->at.at[i].n_threads += header->type == PERF_RECORD_FORK ? 1 : -1;
	l->at.at[i].has_leader_ended |= header->type == PERF_RECORD_EXIT && task[0] == task[2];
	return i;
}

/* Who lives, and whose maps he may have inherited. */
static void mark_needed(struct lives *l)
{
	vec_each(life, &l->at) {
		if (life->has_leader_ended && life->n_threads <= 0)
			continue;
		for (u32 i = life - l->at.at; i != TABLE_NONE && !l->at.at[i].is_needed;
			i = l->at.at[i].parent)
			l->at.at[i].is_needed = true;
	}
}

void window_compact(struct window *w)
{
	VEC(u32) owners = {0};
	struct lives lives = {0};
	struct record_header header;
	size_t n = 0, i = 0;

	for (size_t at = 0; header_at(&w->state, at, &header); at += header.size)
		vec_add(&owners, owner_of(&lives, &header, w->state.at + at + sizeof(header)));
	mark_needed(&lives);
	for (size_t at = 0; header_at(&w->state, at, &header); at += header.size) {
		u32 owner = owners.at[i++];

		if (owner != TABLE_NONE && !lives.at.at[owner].is_needed)
			continue;
		memmove(w->state.at + n, w->state.at + at, header.size);
		n += header.size;
	}
	if (w->state.at)
		str_cut(&w->state, n);
	w->compacted = n;
	vec_fini(&owners);
	vec_fini(&lives.at);
	table_fini(&lives.by_pid);
}

/* ---- into a file ---- */

static int write_records(const struct str *records, struct writer *writer, struct err *err)
{
	struct iovec run = {records->at, records->n};

	return run.iov_len ? writer_append(writer, &run, 1, err) : 0;
}

int window_write(const struct window *w, struct writer *writer, struct err *err)
{
	if (write_records(&w->state, writer, err))
		return err->code;
	vec_each(round, &w->rounds)
		if (write_records(&round->records, writer, err))
			return err->code;
	return 0;
}
