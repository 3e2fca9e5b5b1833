/*
 * tsx_steps.c - the way from "does it use transactions at all" to the branches before an abort, one pace command for each
 * step, which is printed: the next time users type what they need.
 */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cmdline.h"
#include "base/out.h"
#include "cmd/tsx/tsx_command.h"

extern char **environ;

/* More atomic instructions for each transaction than this: some locks do not elide. */
static const double LOCKS_EACH = 2;

enum { EXIT_SIGNAL = 128 };

typedef VEC(const char *) words_list;

struct steps {
	const struct tsx_command *options;
	char **command;
	int n;
	char counts_path[4096], locks_path[4096], loads_path[4096], aborts_path[4096];
	struct txcounts counts;
	struct log log;
	unsigned n_steps;
	struct str text; /* scratch */
};

/* ---- commands ---- */

static void add_words(words_list *to, const char *const *words)
{
	for (; *words; words++)
		vec_add(to, *words);
}

/* "    $ pace stat record -T -o tsx-counts.data -- ./prog", as a shell takes it */
static void print_words(const words_list *words, bool is_run)
{
	struct out out = {.fd = STDOUT_FILENO};
	struct err ignored;

	str_add(&out.text, "    $");
	vec_each(word, words) {
		str_addc(&out.text, ' ');
		cmdline_add_word(&out.text, *word);
	}
	str_add(&out.text, is_run ? "\n\n" : "\n");
	out_close(&out, &ignored);
}

static void print_title(struct steps *s, const char *title)
{
	struct out out = {.fd = STDOUT_FILENO};
	struct err ignored;

	str_addf(&out.text, "%s%u. %s\n", s->n_steps ? "\n" : "", s->n_steps + 1, title);
	s->n_steps++;
	out_close(&out, &ignored);
}

/* Runs this program; its exit status. Ctrl-C is for the command that runs: it ends that step. */
static int run_words(words_list *words)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
	posix_spawnattr_t how;
	sigset_t interrupt;
	int status = 0, r;
	pid_t pid;

	vec_add(words, NULL);
	sigemptyset(&interrupt);
	sigaddset(&interrupt, SIGINT);
	sigaction(SIGINT, &ignore, &before);
	posix_spawnattr_init(&how);
	posix_spawnattr_setsigdefault(&how, &interrupt);
	posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGDEF);
	r = posix_spawn(&pid, "/proc/self/exe", NULL, &how, (char *const *)(uintptr_t)words->at,
		environ);
	posix_spawnattr_destroy(&how);
	while (!r && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	sigaction(SIGINT, &before, NULL);
	words->n--;
	if (r)
		return EXIT_FAILED;
	return WIFSIGNALED(status) ? EXIT_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

/*
 * A step: "pace" and these words, the target, and the command. Its status is that of the command; whether it has measured
 * something, the file tells.
 */
static int run_step(struct steps *s, const char *title, const char *const *words, const char *file)
{
	const struct tsx_command *o = s->options;
	words_list all = {0};
	int status = EXIT_OK;

	vec_add(&all, "pace");
	add_words(&all, words);
	add_words(&all, (const char *const[]){"-o", file, NULL});
	if (o->is_system_wide)
		vec_add(&all, "-a");
	if (o->pids)
		add_words(&all, (const char *const[]){"-p", o->pids, NULL});
	vec_add(&all, "--");
	for (int i = 0; i < s->n; i++)
		vec_add(&all, s->command[i]);
	print_title(s, title);
	print_words(&all, !o->shows);
	if (!o->shows) {
		unlink(file);
		status = run_words(&all);
	}
	vec_fini(&all);
	return status;
}

/* Takes over what a step has counted; false, after a message, if it has counted nothing. */
static bool take_counts(struct steps *s, const char *path)
{
	struct err err;

	/* The step itself has said why. */
	if (access(path, F_OK))
		return false;
	if (!txcounts_read(&s->counts, path, &s->log, &err))
		return true;
	cmd_fail(&cmd_tsx, &err, EXIT_FAILED);
	return false;
}

/* ---- the steps ---- */

static bool has_elision(void)
{
	struct intern cores = {0};
	bool is_there = false;
	struct err ignored;

	pmu_list_cores("/sys", &cores);
	vec_each(name, &cores.strings) {
		struct pmu pmu;
		char text[256];

		if (pmu_open(&pmu, "/sys", *name, &ignored))
			continue;
		is_there |= pmu_alias(&pmu, "el-start", text, sizeof(text));
		pmu_close(&pmu);
	}
	intern_fini(&cores);
	return is_there;
}

static int run_abort_step(struct steps *s, bool has_hle)
{
	/* -I ax: the register in which the status of the abort is. */
	const char *events =
		!has_hle || (s->counts.is_known[TSX_ELISIONS] && !s->counts.value[TSX_ELISIONS])
		? "cpu/tx-abort/pp"
		: s->counts.is_known[TSX_STARTS] && !s->counts.value[TSX_STARTS]
		? "cpu/el-abort/pp"
		: "cpu/tx-abort/pp,cpu/el-abort/pp";

	return run_step(s,
		"Why transactions are aborted, and what ran in them before (samples of aborts disturb no transaction)",
		(const char *const[]){"record", "-e", events, "--transaction", "-W", "-g", "-b",
			"--intr-regs=ax", NULL},
		s->aborts_path);
}

/* Which atomic instructions these are: where locks are taken that do not elide. */
static int run_lock_steps(struct steps *s)
{
	words_list words = {0};
	int status = run_step(s, "Which locks are taken most: these have to elide",
		(const char *const[]){"record", "-g", "-e", "r21d0:p", NULL}, s->loads_path);

	if (status > EXIT_SIGNAL || (!s->options->shows && access(s->loads_path, F_OK)))
		return status;
	add_words(&words,
		(const char *const[]){"pace", "--no-pager", "report", "-i", s->loads_path,
			"--stdio", "--no-children", "-g", "none", "-s", "symbol,dso",
			"--percent-limit", "5", NULL});
	print_words(&words, !s->options->shows);
	if (!s->options->shows)
		status = run_words(&words);
	vec_fini(&words);
	return status;
}

static void print_beginning(void)
{
	struct out out = {.fd = STDOUT_FILENO};
	struct err ignored;

	str_add(&out.text,
		"Where the time goes at all, 'pace record -e cycles:pp -g' shows; its samples abort transactions.\n"
		"Each of the following steps runs the command once: long enough that its start does not matter.\n\n");
	out_close(&out, &ignored);
}

static int print_report(struct steps *s, bool has_aborts)
{
	const char *files[3] = {s->counts_path, s->locks_path, s->aborts_path};
	words_list words = {0};
	int status = EXIT_OK;

	add_words(&words, (const char *const[]){"pace", "tsx", "report", NULL});
	for (unsigned i = 0; i < (has_aborts ? 3 : 2); i++)
		vec_add(&words, files[i]);
	print_title(s, "What that means");
	print_words(&words, !s->options->shows);
	if (!s->options->shows)
		status = tsx_report(s->options, files, has_aborts ? 3 : 2);
	vec_fini(&words);
	return status;
}

static int run_all(struct steps *s)
{
	const bool has_hle = has_elision(), shows = s->options->shows;
	int status;

	print_beginning();
	status = run_step(s, "How much runs in transactions, and how much of that is lost",
		(const char *const[]){"stat", "record", "-T", NULL}, s->counts_path);
	if (status > EXIT_SIGNAL || (!shows && !take_counts(s, s->counts_path)))
		return status ? status : EXIT_FAILED;
	status = run_step(s, "Whether all locks elide: atomic instructions beside transactions",
		(const char *const[]){"stat", "record", "-e",
			has_hle || shows ? "{r21d0,tx-start,el-start,cycles}"
					 : "{r21d0,tx-start,cycles}",
			NULL},
		s->locks_path);
	if (status > EXIT_SIGNAL || (!shows && !take_counts(s, s->locks_path)))
		return status ? status : EXIT_FAILED;
	if ((shows || txcounts_locks(&s->counts) > LOCKS_EACH) &&
		(status = run_lock_steps(s)) > EXIT_SIGNAL)
		return status;
	if (!shows && !(txcounts_starts(&s->counts) > 0))
		return print_report(s, false);
	status = run_abort_step(s, has_hle);
	if (status > EXIT_SIGNAL)
		return status;
	return print_report(s, shows || !access(s->aborts_path, F_OK));
}

static int refuse(enum tsx_state state)
{
	struct err err;

	err_set(&err, ERR_UNSUPPORTED,
		"%s. 'pace tsx report FILE...' analyses recordings of other machines, which 'pace tsx record' makes there",
		tsx_reason(state));
	return cmd_fail(&cmd_tsx, &err, EXIT_FAILED);
}

int tsx_run_steps(const struct tsx_command *o, char **command, int n)
{
	enum tsx_state state = tsx_state_here("/sys");
	const char *folder = o->output ? o->output : ".";
	struct steps s = {.options = o, .command = command, .n = n};
	int status;

	if (state != TSX_COUNTED && !o->shows)
		return refuse(state);
	cmd_log_init(&s.log, LOG_NOTE);
	snprintf(s.counts_path, sizeof(s.counts_path), "%s/tsx-counts.data", folder);
	snprintf(s.locks_path, sizeof(s.locks_path), "%s/tsx-locks.data", folder);
	snprintf(s.loads_path, sizeof(s.loads_path), "%s/tsx-lock-samples.data", folder);
	snprintf(s.aborts_path, sizeof(s.aborts_path), "%s/tsx-aborts.data", folder);
	status = run_all(&s);
	log_fini(&s.log);
	return status;
}

int tsx_run_record(const struct tsx_command *o, char **words, int n)
{
	enum tsx_state state = tsx_state_here("/sys");
	words_list all = {0};
	int status;

	if (state != TSX_COUNTED && !o->shows)
		return refuse(state);
	add_words(&all,
		(const char *const[]){"record", "-e",
			has_elision() ? "cpu/tx-abort/pp,cpu/el-abort/pp" : "cpu/tx-abort/pp",
			"--transaction", "-W", "-g", "-b", "--intr-regs=ax", NULL});
	if (o->output)
		add_words(&all, (const char *const[]){"-o", o->output, NULL});
	if (o->is_system_wide)
		vec_add(&all, "-a");
	if (o->pids)
		add_words(&all, (const char *const[]){"-p", o->pids, NULL});
	for (int i = 0; i < n; i++)
		vec_add(&all, words[i]);
	if (o->shows) {
		words_list shown = {0};

		vec_add(&shown, "pace");
		vec_each(word, &all)
			vec_add(&shown, *word);
		print_words(&shown, false);
		vec_fini(&shown);
		status = EXIT_OK;
	} else {
		vec_add(&all, NULL);
		status = cmd_record.run((int)all.n - 1, (char **)(uintptr_t)all.at);
	}
	vec_fini(&all);
	return status;
}
