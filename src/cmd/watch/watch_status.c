#include "cmd/watch/watch_status.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/num.h"
#include "base/sysfile.h"
#include "fleet/oddfolder.h"
#include "fleet/timerange.h"

#define NS 1000000000ULL

/* What /proc says of the process that writes. */
struct watcher {
	u64 started_ns, cpu_ns; /* since 1970; since it started */
	u64 resident_bytes;
};

static bool read_process(int pid, struct watcher *ret)
{
	unsigned long long user, system, start, resident;
	const u64 ticks = (u64)sysconf(_SC_CLK_TCK);
	char path[64], line[2048];
	const char *at;
	u64 since;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (!sysfile_line(path, line, sizeof(line)))
		return false;
	/* The name of the program may have blanks and brackets of its own. */
	at = strrchr(line, ')');
	if (!at ||
		sscanf(at + 1,
			" %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %*d %*d %*d %*d %*d %*d %llu %*u %llu",
			&user, &system, &start, &resident) != 4)
		return false;
	since = clock_ns_of(CLOCK_BOOTTIME) - MIN(clock_ns_of(CLOCK_BOOTTIME), start * NS / ticks);
	ret->started_ns = clock_ns_of(CLOCK_REALTIME) - since;
	ret->cpu_ns = (user + system) * NS / ticks;
	ret->resident_bytes = resident * (u64)sysconf(_SC_PAGESIZE);
	return true;
}

static void add_running(int pid, struct str *text)
{
	const u64 now = clock_ns_of(CLOCK_REALTIME);
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct watcher p;

	if (!pid) {
		str_add(text, "watch: none is running\n");
		return;
	}
	str_addf(text, "watch: pid %d", pid);
	if (read_process(pid, &p)) {
		const double s = (double)(now - p.started_ns) / NS, cpu = (double)p.cpu_ns / NS;

		str_add(text, ", since ");
		timerange_add_time(p.started_ns, text);
		str_addf(text, "\nits own CPU time: %.2f s, %.3f%% of %ld CPUs\nits memory: ", cpu,
			s > 0 ? 100 * cpu / s / (double)cpus : 0, cpus);
		num_add_bytes(text, p.resident_bytes);
	}
	str_addc(text, '\n');
}

/* The first and the last batch: only their files are read. */
static void add_minutes(const struct store *s, struct log *log, struct str *text)
{
	struct store_walk walk;
	struct batch b;
	u64 first = 0, last = 0, n = 0;

	if (s->files.n) {
		const struct store_file *f = &s->files.at[s->files.n - 1];

		store_walk_init(&walk, s, NULL, log);
		if (store_next(&walk, &b)) {
			first = b.start_ns;
			batch_fini(&b);
		}
		store_walk_fini(&walk);
		store_walk_init(&walk, s, &(struct store_place){f->hour, 0, f->part}, log);
		while (store_next(&walk, &b)) {
			last = b.end_ns;
			n++;
			batch_fini(&b);
		}
		store_walk_fini(&walk);
	}
	if (!first) {
		str_add(text, "minutes: none yet\n");
		return;
	}
	str_add(text, "oldest: ");
	timerange_add_time(first, text);
	if (n) {
		str_add(text, "\nnewest: ");
		timerange_add_time(last, text);
	}
	str_addc(text, '\n');
}

static void add_odd(const char *store, struct str *text)
{
	char path[STORE_PATH + 2 * STORE_NAME];
	struct oddfolder odd;
	struct err ignored;

	if (oddfolder_open(&odd, store, false, &ignored))
		return;
	str_addf(text, "odd minutes: %zu recording%s, ", odd.files.n, odd.files.n == 1 ? "" : "s");
	num_add_bytes(text, odd.n_bytes);
	if (odd.files.n) {
		oddfolder_path(&odd, odd.files.at[odd.files.n - 1].begin_ns, path);
		str_add(text, "; the newest: ");
		str_add_safe(text, path, strlen(path));
	}
	str_addc(text, '\n');
	oddfolder_close(&odd);
}

int watch_status_add(const struct watch_options *o, struct log *log, bool *ret_is_running,
	struct str *text, struct err *err)
{
	char path[STORE_PATH];
	struct store s;
	int pid;

	if (watch_store_path(o, true, path, err) || store_open(&s, path, err))
		return err->code;
	pid = store_writer(&s);
	*ret_is_running = pid;
	add_running(pid, text);
	str_add(text, "store: ");
	str_add_safe(text, path, strlen(path));
	str_add(text, ", ");
	num_add_bytes(text, s.n_bytes);
	str_addf(text, " in %zu %s\n", s.files.n, s.files.n == 1 ? "file" : "files");
	add_minutes(&s, log, text);
	add_odd(path, text);
	store_close(&s);
	return 0;
}
