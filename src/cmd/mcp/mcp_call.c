#include "cmd/mcp/mcp_call.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"

/* Standard output and standard error into memory, nothing to read. False: an errno says why not. */
static bool settle_streams(int said_fd)
{
	const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC),
		  page = memfd_create("pace-mcp", MFD_CLOEXEC);

	return nothing >= 0 && page >= 0 && dup2(nothing, STDIN_FILENO) >= 0 &&
		dup2(page, STDOUT_FILENO) >= 0 && dup2(said_fd, STDERR_FILENO) >= 0;
}

int mcp_call_start(struct mcp_call *c, const struct mcp_folders *folders,
	const struct mcp_limits *limits, struct err *err)
{
	const pid_t parent = getpid();
	int pipes[2];

	c->said_fd = memfd_create("pace-mcp", MFD_CLOEXEC);
	if (c->said_fd < 0 || pipe2(pipes, O_CLOEXEC))
		return err_sys(err, errno, "starting a process that answers");
	c->pid = fork();
	if (c->pid < 0) {
		c->pid = 0;
		close(pipes[0]);
		close(pipes[1]);
		return err_sys(err, errno, "starting a process that answers");
	}
	if (!c->pid) {
		/* It and what it starts end together, and not after the server. */
		setpgid(0, 0);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		signal(SIGPIPE, SIG_DFL);
		if (getppid() != parent || !settle_streams(c->said_fd))
			_exit(EXIT_FAILED);
		mcp_child_run(&c->question, folders, limits, pipes[1]);
	}
	setpgid(c->pid, c->pid);
	close(pipes[1]);
	c->fd = pipes[0];
	c->until_ns = clock_now_ns() + limits->seconds * 1000000000;
	return 0;
}

/*
 * Ends the process and all that it started; returns how it ended. One that has closed its pipe is about to exit: it gets the time for
 * that, so that its own end is seen.
 */
static int end_process(struct mcp_call *c, unsigned patience_ms)
{
	int status = 0;
	pid_t pid = 0;

	if (c->pid <= 0)
		return 0;
	for (unsigned i = 0; i < patience_ms && !pid; i++) {
		pid = waitpid(c->pid, &status, WNOHANG);
		if (!pid)
			poll(NULL, 0, 1);
	}
	kill(-c->pid, SIGKILL);
	while (!pid && (pid = waitpid(c->pid, &status, 0)) < 0 && errno == EINTR)
		pid = 0;
	c->pid = 0;
	return status;
}

bool mcp_call_read(struct mcp_call *c)
{
	char bytes[16384];
	const ssize_t n = fd_read(c->fd, bytes, sizeof(bytes));

	if (n > 0)
		str_addn(&c->text, bytes, (size_t)n);
	return n <= 0 || c->text.n > MCP_ANSWER_BYTES;
}

/* One line of JSON that is an object. */
static bool is_answer(const struct str *text)
{
	cJSON *page;
	bool is_object;

	if (!text->n || text->n > MCP_ANSWER_BYTES || memchr(text->at, '\n', text->n))
		return false;
	page = cJSON_ParseWithLength(text->at, text->n);
	is_object = cJSON_IsObject(page);
	cJSON_Delete(page);
	return is_object;
}

/* What the process said last, in one sentence more. */
static void add_said(int fd, struct str *text)
{
	char said[512];
	const ssize_t n = fd_read_some_at(fd, said, sizeof(said) - 1, 0);

	if (n <= 0)
		return;
	said[n] = '\0';
	str_addf(text, ": %s", said);
}

/* Why there is no answer, and what to do. */
static void explain(const struct mcp_call *c, int status, const struct mcp_limits *limits,
	struct str *why)
{
	if (c->is_late)
		str_addf(why,
			"this took longer than %llu seconds: ask for less, by time, comm or dso, or start the server with a longer --timeout",
			(unsigned long long)limits->seconds);
	else if (c->text.n > MCP_ANSWER_BYTES)
		str_addf(why, "the answer was longer than %d bytes", MCP_ANSWER_BYTES);
	else if (WIFSIGNALED(status))
		str_addf(why,
			"the process that answered was ended by signal %d (%s): there was no memory, or the recording has damage that pace does not withstand",
			WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		str_add(why, "the process that answered gave up (--memory says what it may take)");
	if (!c->is_late)
		add_said(c->said_fd, why);
}

void mcp_call_result(struct mcp_call *c, const struct mcp_limits *limits, struct str *ret)
{
	const bool is_whole = !c->is_late && is_answer(&c->text);
	const int status = end_process(c, c->is_late ? 0 : 500);
	struct str why = {0};

	if (is_whole) {
		str_addn(ret, c->text.at, c->text.n);
		return;
	}
	explain(c, status, limits, &why);
	mcp_answer_error(why.at, ret);
	str_fini(&why);
}

void mcp_call_free(struct mcp_call *c)
{
	end_process(c, 0);
	if (c->fd >= 0)
		close(c->fd);
	if (c->said_fd >= 0)
		close(c->said_fd);
	mcp_question_fini(&c->question);
	cJSON_Delete(c->request);
	str_fini(&c->text);
	mem_free(c->id);
	mem_free(c);
}
