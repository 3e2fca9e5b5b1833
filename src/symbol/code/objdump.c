#include "symbol/code/objdump.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "collect/open/program.h"

enum { CODE_FD = 3, OUTPUT_MAX = 1 << 30 };

const char *objdump_path(const struct isa *isa, const char *wanted, char found[PATH_MAX])
{
	if (wanted)
		return program_find(wanted, found) ? found : NULL;
	for (size_t i = 0; i < ARRAY_SIZE(isa->objdumps); i++)
		if (!access(isa->objdumps[i], X_OK))
			return isa->objdumps[i];
	return NULL;
}

/* Writes the bytes to a nameless file. */
static int put_into_file(const struct code *c, struct err *err)
{
	int fd = memfd_create("code", MFD_CLOEXEC), sys;

	if (fd < 0)
		return err_sys(err, errno, "memfd_create");
	sys = fd_write(fd, c->at, c->n);
	if (sys) {
		close(fd);
		return err_sys(err, sys, "a file in memory cannot be written");
	}
	return fd;
}

/* Starts the program with the code as descriptor CODE_FD. Returns the descriptor of its output. */
static int start(char *const argv[], int code_fd, pid_t *ret_pid, struct err *err)
{
	char *const env[] = {(char *)(uintptr_t) "LC_ALL=C", NULL};
	posix_spawn_file_actions_t files;
	int ends[2], r;

	if (pipe2(ends, O_CLOEXEC))
		return err_sys(err, errno, "pipe");
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_adddup2(&files, code_fd, CODE_FD);
	r = posix_spawn(ret_pid, argv[0], &files, NULL, argv, env);
	posix_spawn_file_actions_destroy(&files);
	close(ends[1]);
	if (r) {
		close(ends[0]);
		return err_sys(err, r, "'%s' cannot be run", argv[0]);
	}
	return ends[0];
}

static void read_all(int fd, struct str *out)
{
	for (;;) {
		ssize_t r;

		str_reserve(out, 1 << 16);
		r = fd_read(fd, out->at + out->n, 1 << 16);
		if (r <= 0 || out->n > OUTPUT_MAX)
			break;
		out->n += (size_t)r;
		out->at[out->n] = '\0';
	}
}

/*
 * Parses "  401136:\t55                   \tpush   %rbp": address, bytes, text. Returns the number of bytes; 0: it
 * is another kind of line.
 */
static u32 parse_line(const char *line, u64 *ret_va, const char **ret_text)
{
	char *end;
	u32 n = 0;

	*ret_va = strtoull(line, &end, 16);
	if (end == line || end[0] != ':' || end[1] != '\t')
		return 0;
	line = end + 2;
	/* Single bytes, on arm64 words. */
	while (*line && *line != '\t' && *line != '\n') {
		size_t digits = strspn(line, "0123456789abcdef");

		n += (u32)digits / 2;
		line += digits;
		if (!digits)
			line++;
	}
	*ret_text = *line == '\t' ? line + 1 : "";
	return n;
}

static void take_lines(const struct code *c, char *text, struct listing *ret)
{
	u64 at = 0;

	for (char *line = text, *next; line && *line && at < c->n; line = next) {
		const char *what;
		u64 va;
		u32 n;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		n = parse_line(line, &va, &what);
		if (!n || va != c->va + at || n > c->n - at)
			continue;
		if (!*what || !strncmp(what, "(bad)", 5) || !strncmp(what, ".inst", 5) ||
			!strncmp(what, ".byte", 5))
			listing_add_bytes(ret, va, c->at + at, n);
		else
			listing_add(ret, c->isa, va, n, what);
		at += n;
	}
	/* The rest of an instruction that is cut off by the end. */
	for (; at < c->n; at++)
		listing_add_bytes(ret, c->va + at, c->at + at, 1);
}

int objdump_list(const struct code *c, bool is_intel, const char *path, struct listing *ret,
	struct err *err)
{
	char adjust[48];
	char *argv[] = {(char *)(uintptr_t)path, "-D", "-w", "-z", "-b", "binary", "-m",
		(char *)(uintptr_t)c->isa->bfd, adjust, "/proc/self/fd/3", NULL, NULL, NULL};
	struct str text = {0};
	int code_fd, out_fd, status = 0;
	pid_t pid;

	snprintf(adjust, sizeof(adjust), "--adjust-vma=0x%llx", (unsigned long long)c->va);
	if (c->isa->has_syntaxes) {
		argv[10] = "-M";
		argv[11] = is_intel ? "intel" : "att";
	}
	code_fd = put_into_file(c, err);
	if (code_fd < 0)
		return code_fd;
	out_fd = start(argv, code_fd, &pid, err);
	close(code_fd);
	if (out_fd < 0)
		return out_fd;
	read_all(out_fd, &text);
	close(out_fd);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!WIFEXITED(status) || WEXITSTATUS(status) || !text.n) {
		str_fini(&text);
		return err_set(err, ERR_UNSUPPORTED, "'%s' does not decode %s", path, c->isa->name);
	}
	take_lines(c, text.at, ret);
	str_fini(&text);
	return 0;
}
