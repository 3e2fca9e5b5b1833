#include "cmd/script/runner.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/marshal.h"

extern const char script_driver[];
extern char **environ;

enum { FRAME_FULL = 64 << 10, FRAME_HEADER = 4, ANSWER_LIMIT = 16 << 20 };

static volatile sig_atomic_t n_interrupts;

static void note_interrupt(int sig)
{
	(void)sig;
	n_interrupts++;
}

/* ---- the process ---- */

static const char loader[] =
	"import os,sys;frames=os.fdopen(int(sys.argv[1]),'rb');answers=int(sys.argv[2]);"
	"sys.argv=sys.argv[3:];__file__='<pace>';"
	"exec(compile(frames.read(int.from_bytes(frames.read(4),'little')),'<pace>','exec'))";

static int spawn(struct script_runner *r, int reads, int answers, char **args, struct err *err)
{
	VEC(char *) words = {0};
	posix_spawn_file_actions_t actions;
	char first[16], second[16];
	int failed;

	snprintf(first, sizeof(first), "%d", reads);
	snprintf(second, sizeof(second), "%d", answers);
	vec_add(&words, (char *)"python3");
	vec_add(&words, (char *)"-c");
	vec_add(&words, (char *)loader);
	vec_add(&words, first);
	vec_add(&words, second);
	vec_add(&words, (char *)r->path);
	for (; *args; args++)
		vec_add(&words, *args);
	vec_add(&words, (char *)NULL);
	posix_spawn_file_actions_init(&actions);
	/* The same number: the child keeps it. */
	posix_spawn_file_actions_adddup2(&actions, reads, reads);
	posix_spawn_file_actions_adddup2(&actions, answers, answers);
	failed = posix_spawnp(&r->pid, "python3", &actions, NULL, words.at, environ);
	posix_spawn_file_actions_destroy(&actions);
	vec_fini(&words);
	if (!failed)
		return 0;
	r->pid = 0;
	if (failed == ENOENT)
		return err_set(err, ERR_NOENT,
			"'%s' is a script for Python, and there is no python3 here: install it",
			r->path);
	return err_set(err, ERR_SYS, "python3 cannot be started: %s", strerror(failed));
}

static int start(struct script_runner *r, char **args, struct err *err)
{
	int to[2], from[2], result;

	if (pipe2(to, O_CLOEXEC))
		return err_set(err, ERR_SYS, "no pipe to the script: %s", strerror(errno));
	if (pipe2(from, O_CLOEXEC)) {
		close(to[0]);
		close(to[1]);
		return err_set(err, ERR_SYS, "no pipe from the script: %s", strerror(errno));
	}
	result = spawn(r, to[0], from[1], args, err);
	close(to[0]);
	close(from[1]);
	r->to = to[1];
	r->from = from[0];
	return result;
}

/* ---- frames ---- */

static void begin_frame(struct script_runner *r)
{
	str_clear(&r->frame);
	str_fill(&r->frame, 0, FRAME_HEADER);
	r->list = marshal_open(&r->frame, MARSHAL_LIST);
	r->n = 0;
}

static void write_all(struct script_runner *r, const void *at, size_t n)
{
	while (n && !r->has_left) {
		ssize_t done = write(r->to, at, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0) {
			r->has_left = true;
			return;
		}
		at = (const char *)at + done;
		n -= (size_t)done;
	}
}

void script_runner_flush(struct script_runner *r)
{
	if (!r->n)
		return;
	marshal_close(&r->frame, r->list, r->n);
	marshal_close(&r->frame, 0, (u32)(r->frame.n - FRAME_HEADER));
	write_all(r, r->frame.at, r->frame.n);
	begin_frame(r);
}

static void flush_full(struct script_runner *r)
{
	if (r->frame.n >= FRAME_FULL)
		script_runner_flush(r);
}

static void send_driver(struct script_runner *r)
{
	size_t n = strlen(script_driver);

	str_fill(&r->frame, 0, FRAME_HEADER);
	str_addn(&r->frame, script_driver, n);
	marshal_close(&r->frame, 0, (u32)n);
	write_all(r, r->frame.at, r->frame.n);
}

/* What functions the script has: until an empty line. A script that ends before has none. */
static void read_answer(struct script_runner *r)
{
	struct str text = {0};
	char buf[4096];
	struct err ignored;
	ssize_t n;

	while ((n = fd_read(r->from, buf, sizeof(buf))) > 0 && text.n < ANSWER_LIMIT)
		str_addn(&text, buf, (size_t)n);
	if (text.n < 1 || (text.n > 1 && text.at[text.n - 2] != '\n'))
		r->has_left = true;
	for (size_t i = 0; i < text.n; i++)
		if (text.at[i] == '\n')
			text.at[i] = ',';
	name_list_parse(&r->functions, "-s", str_text(&text), &ignored);
	str_fini(&text);
}

int script_runner_begin(struct script_runner *r, const char *path, char **args, struct err *err)
{
	const struct sigaction on_interrupt = {.sa_handler = note_interrupt};

	memset(r, 0, sizeof(*r));
	r->path = path;
	r->to = r->from = -1;
	if (access(path, R_OK))
		return err_set(err, ERR_NOENT, "-s: cannot read '%s': %s", path, strerror(errno));
	if (start(r, args, err))
		return err->code;
	sigaction(SIGINT, &on_interrupt, NULL);
	signal(SIGPIPE, SIG_IGN);
	send_driver(r);
	read_answer(r);
	r->sees_samples = name_list_has(&r->functions, "process_event");
	r->sees_all_tracepoints = name_list_has(&r->functions, "trace_unhandled");
	r->wishes.instructions = name_list_has(&r->functions, "perf_sample_insn");
	r->wishes.sources = name_list_has(&r->functions, "perf_sample_srcline") ||
		name_list_has(&r->functions, "perf_sample_srccode");
	begin_frame(r);
	return 0;
}

/* ---- samples and records ---- */

static bool sees_event(const struct script_runner *r, const struct script *s, u32 event)
{
	const struct event *e = &s->events->at[event];
	struct str name = {0};
	bool result;

	if (e->attr.type != PERF_TYPE_TRACEPOINT)
		return r->sees_samples;
	if (r->sees_all_tracepoints)
		return true;
	if (!s->tracepoints || !tracepoints_add_name(s->tracepoints, e->attr.config, &name))
		return false;
	for (size_t i = 0; i < name.n; i++)
		if (name.at[i] == ':') {
			struct str handler = {0};

			str_addf(&handler, "%.*s__%s", (int)i, name.at, name.at + i + 1);
			result = name_list_has(&r->functions, str_text(&handler));
			str_fini(&handler);
			str_fini(&name);
			return result;
		}
	str_fini(&name);
	return false;
}

void script_runner_sample(struct script_runner *r, struct script *s, struct visit *v)
{
	if (!sees_event(r, s, v->event))
		return;
	for (; r->n_events < s->events->n; r->n_events++)
		r->n += script_python_event(s, r->n_events, &r->frame);
	script_python_sample(s, v, &r->wishes, &r->frame);
	r->n++;
	flush_full(r);
}

void script_runner_record(struct script_runner *r, struct script *s, const struct visit *v,
	const union record_body *body)
{
	r->n += script_python_record(s, v, body, &r->frame);
	flush_full(r);
}

bool script_runner_is_over(const struct script_runner *r)
{
	return r->has_left || n_interrupts;
}

void script_runner_end(struct script_runner *r, int *ret_status, struct err *err)
{
	int status;

	if (!r->pid)
		return;
	script_python_end(&r->frame);
	r->n++;
	script_runner_flush(r);
	close(r->to);
	r->to = -1;
	while (waitpid(r->pid, &status, 0) < 0)
		if (errno != EINTR) {
			r->pid = 0;
			return;
		}
	r->pid = 0;
	if (WIFSIGNALED(status) && WTERMSIG(status) != SIGPIPE) {
		*ret_status = 128 + WTERMSIG(status);
		err_set(err, ERR_SYS, "the script '%s' was ended by signal %d (%s)", r->path,
			WTERMSIG(status), strsignal(WTERMSIG(status)));
	} else if (WIFEXITED(status) && WEXITSTATUS(status)) {
		*ret_status = WEXITSTATUS(status);
		err_set(err, ERR_SYS, "the script '%s' ended with status %d", r->path,
			WEXITSTATUS(status));
	}
}

void script_runner_fini(struct script_runner *r)
{
	int ignored;
	struct err err;

	if (r->pid)
		script_runner_end(r, &ignored, &err);
	if (r->to > 0)
		close(r->to);
	if (r->from > 0)
		close(r->from);
	name_list_fini(&r->functions);
	str_fini(&r->frame);
}
