#include "event/target.h"

#include <dirent.h>
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/num.h"
#include "base/selfname.h"
#include "base/sort.h"
#include "base/sysfile.h"

struct thread_adding {
	struct target *target;
	pid_t pid;
};

static bool add_entry(void *adding, const struct dirent *entry)
{
	struct thread_adding *a = adding;

	vec_add(&a->target->threads, ((struct target_thread){a->pid, atoi(entry->d_name)}));
	return true;
}

int target_add_process(struct target *t, pid_t pid, struct err *err)
{
	struct thread_adding adding = {t, pid};
	size_t before = t->threads.n;
	char path[64];
	int sys;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	sys = folder_each(path, add_entry, &adding);
	if (sys)
		return sys == ENOENT ? err_set(err, ERR_NOENT, "there is no process %d", pid)
				     : err_sys(err, sys, "opening '%s'", path);
	/* The directory of a process that is just ending opens but is empty. */
	return t->threads.n > before ? 0 : err_set(err, ERR_NOENT, "process %d has ended", pid);
}

/* Adds the processes that exist now, of all users if `uid` is NULL. */
static int add_processes(struct target *t, const uid_t *uid, struct err *err)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;

	if (!dir)
		return err_sys(err, errno, "opening '/proc'");
	while ((entry = readdir(dir)) != NULL) {
		const char *p = entry->d_name;
		struct err has_ended;
		struct stat st;
		u64 pid;

		if (!num_scan(&p, 10, &pid) || *p || pid > INT32_MAX)
			continue;
		if (uid &&
			((pid_t)pid == getpid() || fstatat(dirfd(dir), entry->d_name, &st, 0) ||
				st.st_uid != *uid))
			continue;
		target_add_process(t, (pid_t)pid, &has_ended);
	}
	closedir(dir);
	return 0;
}

int target_add_all(struct target *t, struct err *err)
{
	return add_processes(t, NULL, err);
}

/* Appends the threads of all processes that run as this user now, except this process. */
static int add_uid(struct target *t, uid_t uid, struct err *err)
{
	return add_processes(t, &uid, err);
}

static int add_user(struct target *t, const char *text, struct err *err)
{
	const struct passwd *user = getpwnam(text);
	const char *p = text;
	u64 uid;

	if (user)
		uid = user->pw_uid;
	else if (!num_scan(&p, 10, &uid) || *p || uid >= UINT32_MAX)
		return err_set(err, ERR_NOENT, "-u %s: there is no user of this name", text);
	if (add_uid(t, (uid_t)uid, err))
		return err->code;
	return t->threads.n ? 0 : err_set(err, ERR_NOENT, "-u %s: nothing runs as this user", text);
}

/* The process that thread `tid` belongs to; 0 if there is no such thread. */
pid_t target_process(pid_t tid)
{
	struct str status = {0};
	struct err err;
	char path[64];
	const char *line;
	pid_t pid = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	if (!sysfile_read(path, 1 << 16, &status, &err)) {
		line = strstr(str_text(&status), "\nTgid:");
		pid = line ? atoi(line + 6) : 0;
	}
	str_fini(&status);
	return pid;
}

static int add_thread(struct target *t, pid_t tid, struct err *err)
{
	pid_t pid = target_process(tid);

	if (!pid)
		return err_set(err, ERR_NOENT, "there is no thread %d", tid);
	vec_add(&t->threads, ((struct target_thread){pid, tid}));
	return 0;
}

/* The next number of a list like "12,34"; 0 if there is no valid number. */
static pid_t next_id(const char **p)
{
	u64 id;

	if (!num_scan(p, 10, &id) || id > INT32_MAX || (**p && **p != ','))
		return 0;
	return (pid_t)id;
}

/* Calls `add` for each number of a list, after checking that all of them are numbers. */
static int each_id(struct target *t, const char *option, const char *text,
	int (*add)(struct target *t, pid_t id, struct err *err), struct err *err)
{
	const char *p = text;

	do {
		if (!next_id(&p))
			return err_set(err, ERR_INVAL,
				"%s '%s': expected process numbers like 12,34", option, text);
	} while (*p++);
	p = text;
	do {
		if (add(t, next_id(&p), err))
			return err_prefix(err, "%s %s", option, text);
	} while (*p++);
	return 0;
}

SORT_BY(by_process_and_thread, struct target_thread, pid, tid)

/*
 * A thread that is listed twice, or by -p and by -t, has one counter: two would count everything
 * twice.
 */
static void drop_doubles(struct target *t)
{
	size_t kept = 0;

	if (t->threads.n)
		qsort(t->threads.at, t->threads.n, sizeof(*t->threads.at), by_process_and_thread);
	vec_each(thread, &t->threads)
		if (!kept || by_process_and_thread(&t->threads.at[kept - 1], thread))
			t->threads.at[kept++] = *thread;
	t->threads.n = kept;
}

/* Of words that exclude each other perf takes those that choose least. */
static void choose_narrowest(struct target_words *words)
{
	const bool has_some = words->pids || words->tids;

	if (has_some)
		words->users = NULL;
	if (has_some || words->users)
		words->all_cpus = false;
}

int target_init(struct target *t, const struct target_words *given, struct err *err)
{
	struct target_words own = *given, *words = &own;
	bool has_tasks = words->pids || words->tids || words->users;

	memset(t, 0, sizeof(*t));
	if (program_is_perf())
		choose_narrowest(words);
	if (has_tasks && words->all_cpus)
		return err_set(err, ERR_INVAL, "-a measures everything, %s %s: choose one",
			words->pids           ? "-p only"
				: words->tids ? "-t only"
					      : "-u only",
			words->pids           ? words->pids
				: words->tids ? words->tids
					      : words->users);
	if (words->users && (words->pids || words->tids))
		return err_set(err, ERR_INVAL,
			"-u %s names all tasks of a user, %s only some: choose one", words->users,
			words->pids ? "-p" : "-t");
	t->is_per_thread = words->per_thread && !words->all_cpus && !words->cpus;
	t->is_system_wide = !has_tasks && (words->all_cpus || words->cpus);
	t->has_cpu_list = words->cpus != NULL;
	if (cpus_online(&t->cpus, err))
		return err->code;
	if (words->cpus) {
		struct cpus chosen = {0};

		if (cpus_parse(&chosen, words->cpus, err)) {
			cpus_fini(&chosen);
			return err_prefix(err, "-C");
		}
		for (size_t i = 0; i < chosen.n; i++) {
			struct str online = {0};

			if (cpus_has(&t->cpus, chosen.at[i]))
				continue;
			cpus_add_text(&t->cpus, &online);
			err_set(err, ERR_NOENT, "-C %s: CPU %u is not online (online are %s)",
				words->cpus, chosen.at[i], str_text(&online));
			str_fini(&online);
			cpus_fini(&chosen);
			return err->code;
		}
		cpus_fini(&t->cpus);
		t->cpus = chosen;
	}
	if (words->pids && each_id(t, "-p", words->pids, target_add_process, err))
		return err->code;
	if (words->tids && each_id(t, "-t", words->tids, add_thread, err))
		return err->code;
	if (words->users && add_user(t, words->users, err))
		return err->code;
	drop_doubles(t);
	return 0;
}

void target_fini(struct target *t)
{
	cpus_fini(&t->cpus);
	vec_fini(&t->threads);
}
