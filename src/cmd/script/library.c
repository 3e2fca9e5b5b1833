#include "cmd/script/library.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/mem.h"
#include "base/vec.h"

extern char **environ;

static const char *const places[] = {"/usr/libexec/perf-core", "/usr/lib/perf-core",
	"/usr/share/perf-core", "/usr/local/libexec/perf-core"};

typedef VEC(char *) word_list;

/* ---- where scripts are ---- */

void library_set_path(void)
{
	const char *chosen = places[0];

	for (size_t i = ARRAY_SIZE(places); i--;) {
		char path[64];

		snprintf(path, sizeof(path), "%s/scripts/python", places[i]);
		if (!access(path, F_OK))
			chosen = places[i];
	}
	setenv("PERF_EXEC_PATH", chosen, 0);
}

/* The path of a script in the library: "bin/NAME-report", "NAME.py". */
static bool find_file(const char *name, const char *prefix, const char *suffix, struct str *path)
{
	const char *home = getenv("HOME"), *chosen = getenv("PERF_EXEC_PATH");

	for (size_t i = 0; i < ARRAY_SIZE(places) + 2; i++) {
		str_clear(path);
		if (i == 0 && chosen)
			str_addf(path, "%s/scripts/python/", chosen);
		else if (i == 1 && home)
			str_addf(path, "%s/.config/perf/scripts/python/", home);
		else if (i > 1)
			str_addf(path, "%s/scripts/python/", places[i - 2]);
		str_addf(path, "%s%s%s", prefix, name, suffix);
		if (!access(str_text(path), R_OK))
			return true;
	}
	return false;
}

static int check_name(const char *name, struct err *err)
{
	if (strchr(name, '/') || !*name)
		return err_set(err, ERR_INVAL, "'%.60s' is not the name of a script: -l lists them",
			name);
	return 0;
}

int library_find(const char *name, struct str *ret_path, struct err *err)
{
	const char *dot = strrchr(name, '.');

	if (!strncasecmp(name, "python:", 7))
		name += 7;
	if (!strncasecmp(name, "perl:", 5) || (dot && !strcmp(dot, ".pl")))
		return err_set(err, ERR_UNSUPPORTED,
			"-s '%s': scripts in Perl are not run, those in Python are", name);
	if (!access(name, R_OK)) {
		str_add(ret_path, name);
		return 0;
	}
	if (!strchr(name, '/') &&
		find_file(name, "", dot && !strcmp(dot, ".py") ? "" : ".py", ret_path))
		return 0;
	return err_set(err, ERR_NOENT, "-s: there is no script '%s': -l lists perf's own", name);
}

bool library_has(const char *name)
{
	struct str path = {0};
	bool result = !strchr(name, '/') &&
		(find_file(name, "bin/", "-report", &path) ||
			find_file(name, "bin/", "-record", &path));

	str_fini(&path);
	return result;
}

/* ---- the list ---- */

/* What stands behind "# title:" in a script. */
static void read_remark(FILE *file, const char *title, char *text, size_t n)
{
	char line[256];

	*text = '\0';
	rewind(file);
	while (fgets(line, sizeof(line), file)) {
		const char *p = line + strspn(line, "# \t");

		if (*line != '#' || strncmp(p, title, strlen(title)))
			continue;
		p += strlen(title);
		p += strspn(p, " \t");
		snprintf(text, n, "%.*s", (int)strcspn(p, "\n"), p);
		return;
	}
}

static void add_script(const char *path, struct str *text)
{
	enum { NAME_WIDTH = 36, SUFFIX = 7 };
	const char *name = strrchr(path, '/') + 1;
	FILE *file = fopen(path, "r");
	char said[256];
	size_t start;

	if (!file)
		return;
	str_add(text, "  ");
	start = text->n;
	str_add_safe(text, name, strlen(name) - SUFFIX);
	read_remark(file, "args:", said, sizeof(said));
	if (*said) {
		str_addc(text, ' ');
		str_add_safe(text, said, strlen(said));
	}
	str_pad_right(text, start, NAME_WIDTH);
	read_remark(file, "description:", said, sizeof(said));
	str_addc(text, ' ');
	str_add_safe(text, said, strlen(said));
	str_addc(text, '\n');
	fclose(file);
}

void library_add_list(struct str *text)
{
	const char *chosen = getenv("PERF_EXEC_PATH"), *home = getenv("HOME");
	struct str pattern = {0};
	glob_t found = {0};

	str_add(text, "List of available trace scripts:\n");
	str_addf(&pattern, "%s/scripts/python/bin/*-report", chosen ? chosen : places[0]);
	glob(str_text(&pattern), 0, NULL, &found);
	str_clear(&pattern);
	if (home) {
		str_addf(&pattern, "%s/.config/perf/scripts/python/bin/*-report", home);
		glob(str_text(&pattern), found.gl_pathc ? GLOB_APPEND : 0, NULL, &found);
	}
	for (size_t i = 0; i < found.gl_pathc; i++)
		add_script(found.gl_pathv[i], text);
	if (!found.gl_pathc)
		str_addf(text,
			"  (none in %s: perf's package has them; -s FILE.py runs any script)\n",
			chosen ? chosen : places[0]);
	globfree(&found);
	str_fini(&pattern);
}

/* ---- running them ---- */

/* A folder at the front of PATH in which pace is called perf. */
struct stand_in {
	char folder[PATH_MAX];
	char link[PATH_MAX + 8];
	char *before; /* PATH */
};

static int stand_in_begin(struct stand_in *in, struct err *err)
{
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	struct str path = {0};

	snprintf(in->folder, sizeof(in->folder), "%s/pace-perf-XXXXXX", folder_of_temporaries());
	if (n < 0 || !mkdtemp(in->folder))
		return err_set(err, ERR_SYS, "no folder for a link to pace: %s", strerror(errno));
	self[n] = '\0';
	snprintf(in->link, sizeof(in->link), "%s/perf", in->folder);
	if (symlink(self, in->link)) {
		rmdir(in->folder);
		return err_set(err, ERR_SYS, "cannot make '%s': %s", in->link, strerror(errno));
	}
	in->before = mem_strdup(getenv("PATH") ? getenv("PATH") : "/usr/bin:/bin");
	str_addf(&path, "%s:%s", in->folder, in->before);
	setenv("PATH", str_text(&path), 1);
	str_fini(&path);
	return 0;
}

static void stand_in_end(struct stand_in *in)
{
	setenv("PATH", in->before, 1);
	mem_free(in->before);
	unlink(in->link);
	rmdir(in->folder);
}

/* Starts `sh PATH words`; its standard input or output is `fd` then, if that is not -1. */
static pid_t start(const char *path, const word_list *words, int fd, int as, struct err *err)
{
	posix_spawn_file_actions_t actions;
	word_list all = {0};
	pid_t pid = -1;
	int failed;

	vec_add(&all, (char *)"sh");
	vec_add(&all, (char *)path);
	vec_each(word, words)
		vec_add(&all, *word);
	vec_add(&all, (char *)NULL);
	posix_spawn_file_actions_init(&actions);
	if (fd >= 0)
		posix_spawn_file_actions_adddup2(&actions, fd, as);
	failed = posix_spawn(&pid, "/bin/sh", &actions, NULL, all.at, environ);
	posix_spawn_file_actions_destroy(&actions);
	vec_fini(&all);
	if (failed)
		err_set(err, ERR_SYS, "/bin/sh cannot be started: %s", strerror(failed));
	return failed ? -1 : pid;
}

static int status_of(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Finds the script; ERR_NOENT. */
static int find_step(const char *name, const char *suffix, struct str *path, struct err *err)
{
	if (check_name(name, err))
		return err->code;
	if (!find_file(name, "bin/", suffix, path))
		return err_set(err, ERR_NOENT,
			"there is no script '%s%s': -l lists those that there are", name, suffix);
	return 0;
}

static int run_step(const char *name, const char *suffix, const word_list *words, struct err *err)
{
	struct str path = {0};
	struct stand_in in;
	pid_t pid;
	int status = -1;

	if (find_step(name, suffix, &path, err) || stand_in_begin(&in, err)) {
		str_fini(&path);
		return -1;
	}
	pid = start(str_text(&path), words, -1, 0, err);
	if (pid > 0)
		status = status_of(pid);
	stand_in_end(&in);
	str_fini(&path);
	return status;
}

/* Without a command to run, the whole system is recorded. */
static void add_record_words(word_list *list, bool is_system_wide, char **words)
{
	bool has_command = false;

	for (char **w = words; *w; w++)
		has_command |= **w != '-';
	if (is_system_wide || !has_command)
		vec_add(list, (char *)"-a");
	for (; *words; words++)
		vec_add(list, *words);
}

int library_record(const char *name, bool is_system_wide, char **words, struct err *err)
{
	word_list list = {0};
	int status;

	add_record_words(&list, is_system_wide, words);
	status = run_step(name, "-record", &list, err);
	vec_fini(&list);
	return status;
}

int library_report(const char *name, char **words, struct err *err)
{
	word_list list = {0};
	int status;

	for (; *words; words++)
		vec_add(&list, *words);
	status = run_step(name, "-report", &list, err);
	vec_fini(&list);
	return status;
}

/* How many arguments the script cannot do without: of "[comm] <n>" one. */
static size_t n_required(const char *path)
{
	FILE *file = fopen(path, "r");
	char said[256] = "";
	size_t n = 0;

	if (!file)
		return 0;
	read_remark(file, "args:", said, sizeof(said));
	fclose(file);
	for (const char *p = said; *p; p++)
		n += *p == '<';
	return n;
}

static int run_both(const struct str *record, const word_list *record_words,
	const struct str *report, const word_list *report_words, struct err *err)
{
	int between[2], status = -1;
	pid_t first, second = -1;

	if (pipe2(between, O_CLOEXEC)) {
		err_set(err, ERR_SYS, "no pipe between the scripts: %s", strerror(errno));
		return -1;
	}
	first = start(str_text(record), record_words, between[1], STDOUT_FILENO, err);
	if (first > 0)
		second = start(str_text(report), report_words, between[0], STDIN_FILENO, err);
	close(between[0]);
	close(between[1]);
	if (second > 0)
		status = status_of(second);
	if (first > 0)
		status_of(first);
	return status;
}

int library_live(const char *name, bool is_system_wide, char **words, struct err *err)
{
	struct str record = {0}, report = {0};
	word_list record_words = {0}, report_words = {0};
	const size_t length = strlen(name);
	bool is_top = length > 3 && !strcmp(name + length - 3, "top");
	struct stand_in in;
	int status = -1;

	if (!find_step(name, "-record", &record, err) &&
		!find_step(name, "-report", &report, err) && !stand_in_begin(&in, err)) {
		size_t n = is_top ? SIZE_MAX : n_required(str_text(&report));

		for (; n && *words; n--)
			vec_add(&report_words, *words++);
		vec_add(&report_words, (char *)"-i");
		vec_add(&report_words, (char *)"-");
		vec_add(&record_words, (char *)"-q");
		vec_add(&record_words, (char *)"-o");
		vec_add(&record_words, (char *)"-");
		add_record_words(&record_words, is_system_wide, words);
		status = run_both(&record, &record_words, &report, &report_words, err);
		stand_in_end(&in);
	}
	vec_fini(&record_words);
	vec_fini(&report_words);
	str_fini(&record);
	str_fini(&report);
	return status;
}
