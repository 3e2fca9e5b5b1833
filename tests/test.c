#include "test.h"

#include <ftw.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SKIPPED = 77, SECONDS_MAX = 180 };

static struct test *first, **last = &first;
static char dir[64];

/*
 * Locals stay on the stack, as in any other program: later compilers move them to the heap unless told
 * otherwise, and then neither is a stack pointer near them nor does a page fault stand for a new page.
 */
const char *__asan_default_options(void) __attribute__((visibility("default")));
const char *__asan_default_options(void)
{
	return "detect_stack_use_after_return=0";
}

void test_register(struct test *test)
{
	*last = test;
	last = &test->next;
}

void test_failed(const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	fprintf(stderr, "# %s:%d: ", file, line);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\n");
	exit(1);
}

void test_skip(const char *fmt, ...)
{
	va_list ap;

	printf("# SKIP ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	exit(SKIPPED);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

const char *test_dir(void)
{
	return dir;
}

const char *test_path(const char *name)
{
	static char paths[8][256];
	static unsigned next;
	char *path = paths[next++ % 8];

	snprintf(path, sizeof(paths[0]), "%s/%s", dir, name);
	return path;
}

void test_write(const char *path, const void *data, size_t n)
{
	FILE *f = fopen(path, "wb");

	if (!f || fwrite(data, 1, n, f) != n || fclose(f))
		test_failed(__FILE__, __LINE__, "writing %s", path);
}

/* Runs one test in a process of its own; its status as wait(2) gives it. */
static int run(struct test *test)
{
	int status;
	pid_t pid;

	strcpy(dir, "/tmp/pace-test-XXXXXX");
	if (!mkdtemp(dir))
		return 1;
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		setpgid(0, 0);
		alarm(SECONDS_MAX);
		test->run();
		exit(0);
	}
	if (waitpid(pid, &status, 0) != pid)
		status = 1;
	/* What it started ends with it. */
	if (pid > 0)
		kill(-pid, SIGKILL);
	nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	return status;
}

/* Without arguments all tests; else those whose names contain one of them. */
static int is_chosen(const struct test *test, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strstr(test->name, argv[i]) || strstr(test->file, argv[i]))
			return 1;
	return argc == 1;
}

int main(int argc, char **argv)
{
	int n = 0, failed = 0;

	/* A shell's background jobs are begun with it ignored. */
	signal(SIGINT, SIG_DFL);
	for (struct test *test = first; test; test = test->next) {
		int status;

		if (!is_chosen(test, argc, argv))
			continue;
		n++;
		status = run(test);
		if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED) {
			printf("ok %d - %s # SKIP\n", n, test->name);
		} else if (status) {
			failed++;
			if (WIFSIGNALED(status))
				printf("# ended by signal %d\n", WTERMSIG(status));
			printf("not ok %d - %s\n", n, test->name);
		} else {
			printf("ok %d - %s\n", n, test->name);
		}
		fflush(stdout);
	}
	printf("1..%d\n", n);
	return failed > 0;
}
