#include "symbol/embed/jitcode.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/num.h"
#include "symbol/jit/foreign.h"

static void take_map(void *ctx, struct machine *m, u32 pid, const struct dso *dso, u64 time);
static void take_time(void *ctx, struct machine *m, u64 time);

void jitcode_init(struct jitcode *j, const struct event_list *events, const char *symfs,
	struct log *log)
{
	*j = (struct jitcode){.symfs = symfs ? symfs : "", .log = log, .events = events};
	j->coder = (struct machine_coder){j, take_map, take_time};
}

void jitcode_fini(struct jitcode *j)
{
	vec_each(file, &j->files) {
		jitdump_close(&(*file)->dump);
		mem_free(*file);
	}
	vec_fini(&j->files);
}

const struct jitdump *jitcode_find(const struct jitcode *j, const struct dso *dso)
{
	vec_each(file, &j->files)
		if ((*file)->dso == dso)
			return &(*file)->dump;
	return NULL;
}

bool jitcode_has_code(const struct jitcode *j, u32 pid)
{
	vec_each(file, &j->files)
		if ((*file)->pid == pid && !(*file)->dump.is_names_only)
			return true;
	return false;
}

bool jitcode_is_timed(const struct event_list *events, const struct jitdump *d)
{
	if (d->has_other_clock)
		return false;
	vec_each(e, events)
		if (!(e->attr.flags & ATTR_USE_CLOCKID) || e->attr.clockid != CLOCK_MONOTONIC)
			return false;
	return events->n > 0;
}

/* ---- code into the machine ---- */

static void say_of_end(struct jitcode *j, struct jitcode_file *f)
{
	const struct jitdump *d = &f->dump;
	const char *path = f->dso->path;

	log_debug(j->log,
		"'%s': %llu functions, %zu lines, %llu bad ones, %llu tables for unwinding", path,
		(unsigned long long)f->n_loaded, d->lines.n, (unsigned long long)d->n_bad_lines,
		(unsigned long long)d->n_unwinding);
	if (d->is_cut)
		log_warn(j->log, "'%s' is too big: only its first %zu functions have names", path,
			d->codes.n);
	if (f->n_replaced && !f->is_timed)
		log_warn(j->log,
			"'%s': %llu functions replaced others at the same addresses, and the recording has another clock than the dump: "
			"samples there have the later name; 'pace record -k mono' tells the functions apart",
			path, (unsigned long long)f->n_replaced);
}

/* Reads the next event of a dump, if there is one. */
static bool read_on(struct jitcode *j, struct jitcode_file *f, u64 time)
{
	enum { RETRY_NS = 10000000 };
	struct err err;
	int r;

	if (f->has_next)
		return true;
	if (f->is_over || (time < f->retry_ns && time != UINT64_MAX))
		return false;
	r = jitdump_next(&f->dump, &f->next, &err);
	if (r < 0)
		log_warn(j->log, "'%s': %s; functions generated after this have no names",
			f->dso->path, err.msg);
	f->is_over = r < 0 || f->dump.is_closed;
	if (!r)
		f->retry_ns = time < UINT64_MAX - RETRY_NS ? time + RETRY_NS : UINT64_MAX;
	f->has_next = r > 0;
	return f->has_next;
}

/* Whether another of the process' files has code there: the dump with the code itself. */
static bool is_known_better(const struct machine *m, const struct jitcode_file *f)
{
	u64 first = f->next.va, last = f->next.va + f->next.size - 1;
	const struct map *at_first = machine_code_at(m, f->pid, first),
			 *at_last = machine_code_at(m, f->pid, last);

	return f->dump.is_names_only && f->next.size &&
		((at_first && at_first->dso != f->dso) || (at_last && at_last->dso != f->dso));
}

static void load(struct machine *m, struct jitcode_file *f, u64 time)
{
	struct map code = {.start = f->next.va,
		.end = f->next.va + f->next.size,
		.pgoff = f->next.off,
		.dso = f->dso};

	f->has_next = false;
	if (is_known_better(m, f))
		return;
	f->n_loaded++;
	f->n_replaced += machine_add_code(m, f->pid, &code, time);
}

/* The time of a file's next event, or the time to look at the file again. */
static u64 next_time(const struct jitcode_file *f)
{
	return f->has_next ? f->next.time_ns : f->is_over ? UINT64_MAX : f->retry_ns;
}

static u64 time_of_next(const struct jitcode_file *f)
{
	/* If the times cannot be compared, code is valid from the beginning, and later code replaces it. */
	return f->is_timed ? f->next.time_ns : 0;
}

/* Adds the events of a file and of its `names`, up to a time, to the machine in order of time. */
static void load_up_to(struct jitcode *j, struct machine *m, struct jitcode_file *f, u64 time)
{
	struct jitcode_file *both[] = {f, f->names}, *first;

	do {
		first = NULL;
		for (size_t i = 0; i < ARRAY_SIZE(both) && both[i]; i++)
			if (read_on(j, both[i], time) && time_of_next(both[i]) <= time &&
				(!first || time_of_next(both[i]) < time_of_next(first)))
				first = both[i];
		if (first)
			load(m, first, time_of_next(first));
	} while (first);
}

/* per record */
static void take_time(void *ctx, struct machine *m, u64 time)
{
	struct jitcode *j = ctx;

	if (LIKELY(time < j->idle_until_ns))
		return;
	j->idle_until_ns = UINT64_MAX;
	vec_each(file, &j->files) {
		struct jitcode_file *f = *file;

		if (!f->is_beside)
			load_up_to(j, m, f, time);
		j->idle_until_ns = MIN(j->idle_until_ns, next_time(f));
		if (time == UINT64_MAX)
			say_of_end(j, f);
	}
}

/* ---- dumps ---- */

bool jitcode_is_dump_name(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	u64 pid;

	if (strncmp(name, "jit-", 4))
		return false;
	name += 4;
	return num_scan(&name, 10, &pid) && !strcmp(name, ".dump");
}

/* Links the two files of one process: code and names. */
static void pair(struct jitcode_file *a, struct jitcode_file *b)
{
	struct jitcode_file *code = a->dump.is_names_only ? b : a,
			    *names = a->dump.is_names_only ? a : b;

	if (a->pid != b->pid || a->dump.is_names_only == b->dump.is_names_only || code->names ||
		names->is_beside)
		return;
	code->names = names;
	names->is_beside = true;
}

static void add_file(struct jitcode *j, struct machine *m, u32 pid, const struct dso *dso,
	const struct jitdump *dump)
{
	struct jitcode_file *f = mem_zalloc(sizeof(*f));

	f->dump = *dump;
	f->marker = dso;
	f->is_timed = dump->is_names_only || jitcode_is_timed(j->events, dump);
	f->pid = pid;
	f->dso = dso_get_kind(&m->dsos, dso->path, strlen(dso->path), DSO_JITDUMP);
	f->dso->name = dump->is_names_only ? dso->name : f->dso->name;
	vec_each(file, &j->files)
		pair(*file, f);
	vec_add(&j->files, f);
	j->idle_until_ns = 0;
}

/* Takes the dump that the recording contains of a perf map, with its reused addresses. */
static void take_perfmap(struct jitcode *j, struct machine *m, u32 pid, const struct dso *dso)
{
	struct jitdump dump;
	struct err err;
	int fd;

	if (!embedded_is_there(j->embedded) ||
		embedded_open_dump(j->embedded, dso->path, pid, &fd, &err))
		return;
	if (!jitdump_open(&dump, fd, &err) && dump.is_names_only) {
		add_file(j, m, pid, dso, &dump);
		return;
	}
	log_warn(j->log, "the part of '%s' that the recording contains cannot be read", dso->path);
	close(fd);
}

int jitcode_open_dump(const struct embedded *e, const char *symfs, const char *path, u32 pid,
	int *ret_fd, bool *ret_is_embedded, struct err *err)
{
	const struct foreign whose = {"/proc", symfs, pid};

	*ret_is_embedded = embedded_is_there(e) && !embedded_open_dump(e, path, pid, ret_fd, err);
	return *ret_is_embedded ? 0 : foreign_open(&whose, path, path, ret_fd, err);
}

static void take_map(void *ctx, struct machine *m, u32 pid, const struct dso *dso, u64 time)
{
	struct jitcode *j = ctx;
	struct jitdump dump;
	bool is_embedded;
	struct err err;
	int fd;

	if (dso->kind != DSO_JIT && !jitcode_is_dump_name(dso->path))
		return;
	vec_each(known, &j->files)
		if ((*known)->marker == dso && (*known)->pid == pid)
			return;
	if (dso->kind == DSO_JIT) {
		take_perfmap(j, m, pid, dso);
		take_time(j, m, time);
		return;
	}
	if (jitcode_open_dump(j->embedded, j->symfs, dso->path, pid, &fd, &is_embedded, &err)) {
		/*
		 * A process from before the recording, like all others of the machine, may have no samples.
		 */
		if (time || err.code != ERR_NOENT)
			log_warn(j->log, "%s: the code that process %u generated has no names",
				err.msg, pid);
		else
			log_debug(j->log, "%s: code that process %u generated has no names",
				err.msg, pid);
		return;
	}
	if (jitdump_open(&dump, fd, &err)) {
		log_warn(j->log, "'%s': %s: the code that process %u generated has no names",
			dso->path, err.msg, pid);
		close(fd);
		return;
	}
	add_file(j, m, pid, dso, &dump);
	take_time(j, m, time);
}
