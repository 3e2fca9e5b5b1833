/*
 * push.c - push: batches and recordings into the tables of a fleet.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/num.h"
#include "base/selfname.h"
#include "cmd/batchfile.h"
#include "cmd/cmd.h"
#include "fleet/pushstore.h"
#include "fleet/schema.h"

struct push_command {
	struct batchfile_options input;
	struct opt_list inputs;
	const char *service, *folder;
	struct fleeturl_secrets secrets;
	u64 timeout_s, n_attempts;
	bool is_quiet;
	unsigned verbose;
};

#define AT(member) offsetof(struct push_command, member)

static const struct opt options[] = {
	{0, NULL, OPT_TITLE, 0, NULL, "What is sent"},
	{'i', "input", OPT_LIST, AT(inputs), "FILE",
		"a recording, which becomes one batch, a file of batches, or the store of 'pace watch': what was not sent yet; default perf.data"},
	{0, "service", OPT_STR, AT(service), "NAME", "the service of rows that name none"},
	{0, "host", OPT_STR, AT(input.host), "NAME",
		"the host; default what FILE says, or this machine"},
	{0, "label", OPT_LIST, AT(input.labels), "NAME=VALUE",
		"a label of the host, like region=eu"},
	{0, NULL, OPT_TITLE, 0, NULL, "Where to"},
	{0, "user", OPT_STR, AT(secrets.user), "NAME", "who asks; default PACE_FLEET_USER"},
	{0, "password-file", OPT_STR, AT(secrets.password_file), "FILE",
		"the password is the first line of FILE; default PACE_FLEET_PASSWORD_FILE"},
	{0, "token-file", OPT_STR, AT(secrets.token_file), "FILE",
		"a token instead of user and password; default PACE_FLEET_TOKEN_FILE"},
	{0, "ca", OPT_STR, AT(secrets.authority), "FILE",
		"certificates that the server's is checked with; default PACE_FLEET_CA, or the system's"},
	{'o', "output", OPT_STR, AT(folder), "FOLDER",
		"write rows of JSON into FOLDER, a file for each table, and ask no server"},
	{0, NULL, OPT_TITLE, 0, NULL, "How"},
	{0, "timeout", OPT_U64, AT(timeout_s), "SECONDS", "of a request; default 30", .min = 1,
		.max = 3600},
	{0, "attempts", OPT_U64, AT(n_attempts), "N",
		"try each request N times, with growing pauses; default 8", .min = 1, .max = 1000},
	{'q', "quiet", OPT_BOOL, AT(is_quiet), NULL, "say nothing if all goes well"},
	{'v', "verbose", OPT_COUNT, AT(verbose), NULL, "say why requests were sent again"},
	{0, NULL, OPT_TITLE, 0, NULL, "Names in recordings"},
	{0, "symfs", OPT_STR, AT(input.symbols.symfs), "DIR", "look for recorded files below DIR"},
	{'k', "vmlinux", OPT_STR, AT(input.symbols.vmlinux), "FILE",
		"take the kernel's functions from this ELF file"},
	{0, "debuginfod", OPT_DOUBLE, AT(input.debuginfod_s), "SECONDS",
		"fetch missing files (DEBUGINFOD_URLS) for at most SECONDS; default 10, 0: never",
		.max = 86400},
	{.kind = OPT_END},
};

/* ---- to a server ---- */

static bool is_store(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

/* A store remembers where this stopped. */
static int push_store(struct push_command *c, struct push *p, const char *path, struct log *log,
	struct err *err)
{
	if (c->input.host || c->input.labels.n)
		return err_set(err, ERR_INVAL,
			"'%s' is a store: its hosts and labels are those that 'pace watch' was given",
			path);
	if (push_flush(p, err))
		return err->code;
	p->options.remembers = true;
	pushstore(p, path, log, err);
	p->options.remembers = false;
	p->is_unclear = true;
	return err->code;
}

static int push_file(struct push_command *c, struct push *p, const char *path, struct log *log,
	struct err *err)
{
	struct batchfile file;
	struct batch b;
	int more;

	if (is_store(path))
		return push_store(c, p, path, log, err);
	if (batchfile_open(&file, path, &c->input, log, err))
		return err->code;
	while ((more = batchfile_next(&file, &b, err)) > 0) {
		const int result = push_add(p, &b, err);

		batch_fini(&b);
		if (result)
			break;
	}
	batchfile_close(&file);
	return err->code;
}

static void say_pushed(const struct push *p, const struct fleeturl *url)
{
	struct str text = {0};

	str_addf(&text, "[ %s push: %llu batch%s, ", program_name(),
		(unsigned long long)p->n_batches, p->n_batches == 1 ? "" : "es");
	num_add_grouped(&text, p->n_sent_rows);
	str_add(&text, " rows and ");
	num_add_grouped(&text, p->n_sent_stacks);
	str_add(&text, " stacks are in '");
	str_add_safe(&text, url->server, strlen(url->server));
	str_addf(&text, "' (%.3f MB, %.3f MB of them sent", (double)p->n_bytes / 1e6,
		(double)p->server.http.n_sent / 1e6);
	if (p->n_there)
		str_addf(&text, "; %llu request%s were there already",
			(unsigned long long)p->n_there, p->n_there == 1 ? "'s rows" : "s' rows");
	str_add(&text, ") ]\n");
	fputs(str_text(&text), stderr);
	str_fini(&text);
}

static int push_all(struct push_command *c, const char *address, struct log *log, struct err *err)
{
	struct fleeturl url;
	struct push p = {0};
	int result = fleeturl_parse(&url, address, err);

	if (!result && url.words.n)
		result = err_set(err, ERR_INVAL, "'%s': '%.60s' is for reading, not for pushing",
			address, url.words.at[0].key);
	if (!result)
		result = fleeturl_login(&url, &c->secrets, err);
	if (!result)
		result = push_open(&p,
			&(struct push_options){.url = &url,
				.service = c->service,
				.timeout_ms = (u32)c->timeout_s * 1000,
				.n_attempts = (u32)c->n_attempts,
				.log = log},
			err);
	for (size_t i = 0; !result && i < c->inputs.n; i++)
		result = push_file(c, &p, c->inputs.at[i], log, err);
	if (!result)
		result = push_flush(&p, err);
	if (!result && !c->is_quiet)
		say_pushed(&p, &url);
	push_close(&p);
	fleeturl_fini(&url);
	return result;
}

/* ---- to files ---- */

struct tables {
	struct str path;
	int fds[SCHEMA_TABLES];
};

static int open_tables(struct tables *t, const char *folder, struct err *err)
{
	if (mkdir(folder, 0777) && errno != EEXIST)
		return err_sys(err, errno, "making the folder '%s'", folder);
	for (size_t i = 0; i < SCHEMA_MINUTES; i++) {
		str_clear(&t->path);
		str_addf(&t->path, "%s/%s.ndjson", folder, schema_name((enum schema_table)i));
		t->fds[i] = open(str_text(&t->path),
			O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
		if (t->fds[i] < 0)
			return err_sys(err, errno, "opening '%s'", str_text(&t->path));
	}
	return 0;
}

static int write_rows(struct tables *t, const struct rowtext *rows, struct err *err)
{
	const struct batch *b = rows->batch;
	struct str text[SCHEMA_TABLES] = {0};
	bool *seen = mem_zalloc(b->stacks.n);
	int sys = 0;

	for (size_t i = 0; i < b->rows.n; i++) {
		const u32 stack = b->rows.at[i].stack;

		rowtext_add_sample(rows, i, &text[SCHEMA_SAMPLES]);
		if (!seen[stack])
			rowtext_add_stack(rows, stack, &text[SCHEMA_STACKS]);
		seen[stack] = true;
	}
	rowtext_add_batch(rows, &text[SCHEMA_BATCHES]);
	for (size_t i = 0; i < SCHEMA_MINUTES; i++) {
		if (!sys)
			sys = fd_write(t->fds[i], str_text(&text[i]), text[i].n);
		str_fini(&text[i]);
	}
	mem_free(seen);
	return sys ? err_sys(err, sys, "writing rows") : 0;
}

static int write_file(struct push_command *c, struct tables *t, const char *path, struct log *log,
	struct err *err)
{
	struct batchfile file;
	struct batch b;

	if (batchfile_open(&file, path, &c->input, log, err))
		return err->code;
	while (!err->code && batchfile_next(&file, &b, err) > 0) {
		struct rowtext rows;

		rowtext_init(&rows, &b, c->service);
		write_rows(t, &rows, err);
		rowtext_fini(&rows);
		batch_fini(&b);
	}
	batchfile_close(&file);
	return err->code;
}

static int write_all(struct push_command *c, struct log *log, struct err *err)
{
	struct tables t = {.fds = {-1, -1, -1, -1}};

	open_tables(&t, c->folder, err);
	for (size_t i = 0; !err->code && i < c->inputs.n; i++)
		write_file(c, &t, c->inputs.at[i], log, err);
	for (size_t i = 0; i < SCHEMA_MINUTES; i++)
		if (t.fds[i] >= 0)
			close(t.fds[i]);
	str_fini(&t.path);
	return err->code;
}

/* ---- the command ---- */

static int run_push(int argc, char **argv)
{
	struct push_command c = {.timeout_s = 30,
		.n_attempts = 8,
		.input = {.debuginfod_s = 10, .symbols = {.demangles = true, .makes_names = true}}};
	struct err err = {0};
	struct log log;
	int status = cmd_parse(&cmd_push, &c, 0, &argc, argv);

	if (status >= 0)
		return status;
	status = EXIT_OK;
	cmd_log_init(&log, c.verbose ? LOG_DEBUG : LOG_NOTE);
	if (!c.inputs.n)
		vec_add(&c.inputs, "perf.data");
	if (argc != !c.folder)
		err_set(&err, ERR_INVAL,
			c.folder ? "-o writes files: there is no server to name"
				 : "name one server: pace push http://HOST:8123/");
	else if (c.folder)
		write_all(&c, &log, &err);
	else
		push_all(&c, argv[0], &log, &err);
	if (err.code)
		status = cmd_fail(&cmd_push, &err,
			err.code == ERR_INVAL && argc != !c.folder ? EXIT_USAGE : EXIT_FAILED);
	else if (log.has_warned)
		status = EXIT_FAILED;
	vec_fini(&c.inputs);
	vec_fini(&c.input.labels);
	log_fini(&log);
	return status;
}

const struct cmd cmd_push = {
	.name = "push",
	.summary = "send profiles to the tables of a fleet",
	.usage = {"[OPTIONS] [-i FILE]... URL", "[OPTIONS] [-i FILE]... -o FOLDER", NULL},
	.notes =
		"URL: http[s]://HOST[:PORT]/[DATABASE] of ClickHouse. 'pace export --ddl clickhouse' prints its tables.\n",
	.options = options,
	.run = run_push,
};
