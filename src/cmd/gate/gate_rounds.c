#include "cmd/gate/gate_rounds.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/progress.h"
#include "base/random.h"
#include "base/vec.h"
#include "session/session.h"

extern char **environ;

enum { SEED = 0x67617465, LAST_WORDS = 400, NS = 1000000000 };

typedef VEC(const char *) word_list;

/* ---- a run ---- */

/* The end of what a command has said, made safe. */
static void add_last_words(struct str *text, int fd)
{
	char said[LAST_WORDS];
	const off_t size = lseek(fd, 0, SEEK_END);
	const off_t from = size > LAST_WORDS ? size - LAST_WORDS : 0;
	ssize_t n = size > 0 ? fd_read_some_at(fd, said, (size_t)(size - from), (u64)from) : 0;

	while (n > 0 && (said[n - 1] == '\n' || said[n - 1] == ' '))
		n--;
	if (n <= 0)
		return;
	str_add(text, ": ");
	str_add_safe(text, said, (size_t)n);
}

/* Starts words, with stderr going to `said_fd`, and waits; the status as wait4() has it. */
static int spawn(const struct gate_rounds *r, const char *path, const word_list *words, int said_fd,
	int *ret_status, struct err *err)
{
	posix_spawn_file_actions_t files;
	pid_t pid;
	int sys;

	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (!r->shows_output) {
		posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
		posix_spawn_file_actions_adddup2(&files, said_fd, STDERR_FILENO);
	}
	sys = posix_spawn(&pid, path, &files, NULL, (char *const *)(uintptr_t)words->at, environ);
	posix_spawn_file_actions_destroy(&files);
	if (sys)
		return err_sys(err, sys, "starting '%s'", words->at[0]);
	while (waitpid(pid, ret_status, 0) < 0)
		if (errno != EINTR)
			return err_sys(err, errno, "waiting for '%s'", words->at[0]);
	return 0;
}

static int prepare(const struct gate_rounds *r, int said_fd, struct err *err)
{
	const char *const shell[] = {"sh", "-c", r->prepare, NULL};
	word_list words = {.at = (const char **)(uintptr_t)shell, .n = 3};
	int status;

	if (!r->prepare || spawn(r, "/bin/sh", &words, said_fd, &status, err))
		return err->code;
	return status ? err_set(err, ERR_INVAL, "--prepare: '%.200s' failed", r->prepare) : 0;
}

static int check_status(const struct gate_rounds *r, u64 round, int side, int status, int said_fd,
	struct err *err)
{
	struct str text = {0};

	if (!status || (r->may_fail && WIFEXITED(status)))
		return 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) < 128)
		str_addf(&text, "status %d", WEXITSTATUS(status));
	else
		str_addf(&text, "signal %d",
			WIFEXITED(status) ? WEXITSTATUS(status) - 128 : WTERMSIG(status));
	if (said_fd >= 0)
		add_last_words(&text, said_fd);
	err_set(err, ERR_INVAL,
		"run %llu of '%.200s' ended with %s (--ignore-failure goes on nevertheless)",
		(unsigned long long)round + 1, str_text(&r->sides[side].text), str_text(&text));
	str_fini(&text);
	return err->code;
}

static int run_one(struct gate_rounds *r, u64 round, int side, struct err *err)
{
	const struct gate_command *c = &r->sides[side];
	word_list words = {0};
	int status = 0, said_fd, result;

	said_fd = open(r->folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (said_fd < 0)
		return err_sys(err, errno, "creating a file in '%s'", r->folder);
	result = prepare(r, said_fd, err);
	vec_add(&words, "pace");
	vec_add(&words, "record");
	vec_add(&words, "-q");
	vec_add(&words, "-o");
	vec_add(&words, r->paths[side][round]);
	vec_add(&words, "-F");
	vec_add(&words, r->frequency);
	if (r->event) {
		vec_add(&words, "-e");
		vec_add(&words, r->event);
	}
	vec_add(&words, "--");
	for (int i = 0; i < c->n; i++)
		vec_add(&words, c->words[i]);
	vec_add(&words, NULL);
	if (!result)
		result = spawn(r, "/proc/self/exe", &words, said_fd, &status, err);
	if (!result)
		result = check_status(r, round, side, status, said_fd, err);
	if (!result && access(r->paths[side][round], R_OK))
		result = err_sys(err, errno, "'%s' was not recorded", str_text(&c->text));
	vec_fini(&words);
	close(said_fd);
	return result;
}

/* ---- all of them ---- */

static void choose_paths(struct gate_rounds *r)
{
	for (int side = 0; side < DELTA_SIDES; side++) {
		r->paths[side] = mem_zalloc(r->most * sizeof(*r->paths[side]));
		for (u64 i = 0; i < r->most; i++) {
			struct str path = {0};

			str_addf(&path, "%s/%s-%03llu.data", r->folder, side ? "new" : "base",
				(unsigned long long)i + 1);
			r->paths[side][i] = mem_strdup(path.at);
			str_fini(&path);
		}
	}
}

static void add_period(void *worker, const struct session_sample *s)
{
	if (!s->event)
		*(double *)worker += (double)s->sample->period;
}

static u64 no_state(void *ctx, const struct record *rec, const union record_body *body, u64 time)
{
	(void)ctx, (void)rec, (void)body, (void)time;
	return 0;
}

/* What a run took, by its recording's first event. */
static int add_up(const struct gate_rounds *r, const char *path, double *ret, struct err *err)
{
	void *workers[] = {ret};
	const struct session_sink sink = {.sample = add_period, .workers = workers};
	struct session session;
	int result;

	*ret = 0;
	if (session_open(&session, path, r->log, err))
		return err->code;
	result = session_scan(&session, no_state, NULL, err);
	if (!result)
		result = session_samples(&session, 1, &sink, err);
	session_close(&session);
	return result;
}

/* Adds up a round; ret_is_enough: no more rounds are needed. */
static int look(const struct gate_rounds *r, double *sums[DELTA_SIDES], u64 round,
	bool *ret_is_enough, struct err *err)
{
	const u64 n = round + 1;

	*ret_is_enough = false;
	for (int side = 0; side < DELTA_SIDES; side++)
		if (add_up(r, r->paths[side][round], &sums[side][round], err))
			return err->code;
	if (n < r->least)
		return 0;
	for (u64 i = 0; i < n; i++)
		if (sums[DELTA_A][i] <= 0 || sums[DELTA_B][i] <= 0) {
			*ret_is_enough = true; /* nothing was sampled, which the comparison says */
			return 0;
		}
	*ret_is_enough = gating_is_enough(r->how, sums[DELTA_A], sums[DELTA_B], n, n == r->least);
	return 0;
}

int gate_rounds_run(struct gate_rounds *r, struct err *err)
{
	struct progress progress = {.what = "measuring",
		.all = r->least * DELTA_SIDES,
		.leaves_signal = true};
	struct random random = {SEED ^ clock_now_ns()};
	const u64 start = clock_now_ns();
	double *sums[DELTA_SIDES];
	bool is_enough = false;
	int result = 0;

	for (int side = 0; side < DELTA_SIDES; side++)
		sums[side] = mem_alloc(r->most * sizeof(*sums[side]));
	choose_paths(r);
	progress_begin(&progress);
	while (r->n < r->most && !is_enough && !result) {
		const u64 round = r->n++;
		const int first = (int)random_below(&random, DELTA_SIDES);

		if (round >= r->least)
			progress_expect_more(&progress, DELTA_SIDES);
		for (int i = 0; i < DELTA_SIDES && !result; i++) {
			result = run_one(r, round, i ? !first : first, err);
			progress_add(&progress, 1);
		}
		if (!result && r->how->find > 0)
			result = look(r, sums, round, &is_enough, err);
	}
	progress_end(&progress);
	for (int side = 0; side < DELTA_SIDES; side++)
		mem_free(sums[side]);
	r->seconds = (double)(clock_now_ns() - start) / NS;
	return result;
}

int gate_rounds_page(const struct gate_rounds *r, const char *path, struct err *err)
{
	const char *const begin[] = {"pace", "diff", "-q", "--html", path};
	word_list words = {0};
	int status = 0, result;

	for (size_t i = 0; i < ARRAY_SIZE(begin); i++)
		vec_add(&words, begin[i]);
	for (int side = 0; side < DELTA_SIDES; side++) {
		for (u64 i = 0; i < r->n; i++)
			vec_add(&words, r->paths[side][i]);
		if (side == DELTA_A)
			vec_add(&words, "--");
	}
	vec_add(&words, NULL);
	result = spawn(r, "/proc/self/exe", &words, STDERR_FILENO, &status, err);
	vec_fini(&words);
	if (!result && status)
		return err_set(err, ERR_SYS, "--html: '%s' could not be written", path);
	return result;
}

void gate_rounds_fini(struct gate_rounds *r)
{
	for (int side = 0; side < DELTA_SIDES; side++) {
		for (u64 i = 0; r->paths[side] && i < r->most; i++)
			mem_free(r->paths[side][i]);
		mem_free(r->paths[side]);
	}
}
