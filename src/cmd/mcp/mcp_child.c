/*
 * mcp_child.c - the process that answers one call. See mcp_call.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "cmd/mcp/mcp_call.h"

enum {
	PAGE_BYTES = 128 << 20, /* of a command's JSON */
	SAID_BYTES = 16 << 10,
};

/* What the data of this process takes now: a sanitizer's shadow counts, too. */
static u64 data_bytes(void)
{
	unsigned long long pages[6] = {0};
	FILE *file = fopen("/proc/self/statm", "re");

	if (!file)
		return 0;
	if (fscanf(file, "%llu %llu %llu %llu %llu %llu", &pages[0], &pages[1], &pages[2],
		    &pages[3], &pages[4], &pages[5]) != 6)
		pages[5] = 0;
	fclose(file);
	return pages[5] * (u64)sysconf(_SC_PAGESIZE);
}

static void limit(int what, u64 most)
{
	const struct rlimit r = {most, most};

	setrlimit(what, &r);
}

static void set_limits(const struct mcp_limits *limits)
{
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_DATA, data_bytes() + limits->memory);
	limit(RLIMIT_FSIZE, PAGE_BYTES);
	/* A write that is too long fails, and the command says so. */
	signal(SIGXFSZ, SIG_IGN);
	/* No server is asked for files: what a recording asks for must not leave this machine. */
	unsetenv("DEBUGINFOD_URLS");
}

static void read_back(int fd, size_t most, struct str *ret)
{
	const off_t n = lseek(fd, 0, SEEK_END);
	const size_t size = n > 0 ? MIN((size_t)n, most) : 0;

	str_clear(ret);
	str_fill(ret, ' ', size);
	if (size && fd_read_at(fd, ret->at, size, 0))
		str_cut(ret, 0);
}

/* Empties the files in memory, for a second attempt. */
static void empty_outputs(void)
{
	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
		if (ftruncate(fd, 0) || lseek(fd, 0, SEEK_SET))
			return;
}

/* Runs the command with its JSON form; the words of the question stay whole. Returns its status. */
static int run_words(const struct mcp_question *q, bool has_extra)
{
	VEC(char *) words = {0};
	int status;

	vec_add(&words, q->words.at[0]);
	vec_add(&words, mem_strdup("--json"));
	if (has_extra)
		vec_add(&words, mem_strdup(q->tool->extra));
	for (size_t i = 1; i < q->words.n; i++)
		vec_add(&words, mem_strdup(q->words.at[i]));
	vec_add(&words, NULL);
	status = q->tool->cmd->run((int)words.n - 1, words.at);
	fflush(stdout);
	fflush(stderr);
	return status;
}

/* What the command's JSON says of losses; else what --strict says, where it can. */
static void add_losses(const struct mcp_question *q, const cJSON *page, bool has_extra, int status,
	struct mcp_answer *a)
{
	const cJSON *ledger = cJSON_GetObjectItemCaseSensitive(page, "ledger");

	if (cJSON_IsObject(ledger))
		mcp_answer_losses(a, ledger);
	else if (status == EXIT_INCOMPLETE)
		mcp_answer_losses_said(a,
			"samples were lost: 'ledger' tells more; the notes name them");
	else if (has_extra && !q->tool->is_of_machine)
		mcp_answer_losses_said(a, "none");
	else if (!q->tool->is_of_machine)
		mcp_answer_losses_said(a, "not known: profiles of other programs do not tell");
}

/* Why there is no page: the command says it, or its JSON is more than can be taken apart. */
static int say_unread(struct str *text, int status, struct err *err)
{
	const bool is_whole = text->n > 2 && text->at[0] == '{' && text->at[text->n - 2] == '}';

	read_back(STDERR_FILENO, SAID_BYTES, text);
	if (is_whole)
		err_set(err, ERR_LIMIT,
			"the answer is more than can be taken apart: call chains of more than %d calls, or not enough memory (--memory): 'tree' has no such limit, else ask for less",
			CJSON_NESTING_LIMIT / 2 - 10);
	else
		err_set(err, ERR_FORMAT, "%s",
			text->n          ? text->at
				: status ? "the command failed without a word"
					 : "the command answered nothing");
	str_fini(text);
	return err->code;
}

static int shape_page(const struct mcp_question *q, bool has_extra, int status,
	struct mcp_answer *a, struct err *err)
{
	struct str text = {0};
	cJSON *page;
	int result;

	read_back(STDOUT_FILENO, PAGE_BYTES, &text);
	if (text.n >= PAGE_BYTES - 4096)
		return err_set(err, ERR_LIMIT,
			"the whole answer has more than %d MB, of which the rows would be chosen: ask for less, by time, comm, dso or another 'by'",
			PAGE_BYTES >> 20);
	page = cJSON_ParseWithLength(str_text(&text), text.n);
	if (!page)
		return say_unread(&text, status, err);
	result = q->tool->shape(q, page, a, err);
	add_losses(q, page, has_extra, status, a);
	cJSON_Delete(page);
	str_fini(&text);
	return result;
}

/* Runs the command; with the tool's extra word first, and without it if the command refuses that for this recording. */
static int ask_command(const struct mcp_question *q, struct mcp_answer *a, bool *ret_extra,
	struct err *err)
{
	const char *extra = q->tool->extra;
	int status = run_words(q, extra != NULL);
	struct str said = {0};

	*ret_extra = extra != NULL;
	if (extra && (status == EXIT_USAGE || status == EXIT_FAILED)) {
		read_back(STDERR_FILENO, SAID_BYTES, &said);
		if (strstr(str_text(&said), extra)) {
			empty_outputs();
			*ret_extra = false;
			status = run_words(q, false);
		}
		str_fini(&said);
	}
	return shape_page(q, *ret_extra, status, a, err);
}

static void answer(const struct mcp_question *q, struct str *ret)
{
	struct mcp_answer a = {.most = mcp_question_number(q, "limit")};
	struct str command = {0}, said = {0};
	bool has_extra = false;
	struct err err;
	int result;

	/* A tree has its own limit. */
	a.most = a.most ? a.most : UINT64_MAX;
	if (q->has_changed)
		str_add(&a.foot, "The file has changed since it was loaded.\n");
	result = q->tool->read ? q->tool->read(q, &a, &err) : ask_command(q, &a, &has_extra, &err);
	fflush(stderr);
	if (result) {
		mcp_answer_error(err.msg, ret);
	} else {
		read_back(STDERR_FILENO, SAID_BYTES, &said);
		mcp_question_command(q, has_extra, &command);
		mcp_answer_finish(&a, command.at, str_text(&said), q->has_structure, ret);
	}
	mcp_answer_fini(&a);
	str_fini(&command);
	str_fini(&said);
}

void mcp_child_run(const struct mcp_question *q, const struct mcp_folders *folders,
	const struct mcp_limits *limits, int fd)
{
	struct str text = {0};
	struct err err;

	set_limits(limits);
	if (!q->tool->is_of_machine && limits->has_fence && mcp_fence_raise(folders, &err))
		mcp_answer_error(err.msg, &text);
	else
		answer(q, &text);
	_exit(fd_write(fd, text.at, text.n) ? EXIT_FAILED : EXIT_OK);
}
