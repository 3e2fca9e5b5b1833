#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/out.h"
#include "cmd/cmd.h"
#include "symbol/kernel/kallsyms.h"

struct kallsyms_options {
	const char *file;
	unsigned verbose;
};

#define AT(member) offsetof(struct kallsyms_options, member)

static const struct opt options[] = {
	{0, "kallsyms", OPT_STR, AT(file), "FILE",
		"look in this copy of /proc/kallsyms; then modules' addresses are the copy's"},
	{'v', "verbose", OPT_COUNT, AT(verbose), NULL,
		"say how many functions were looked through"},
	{.kind = OPT_END},
};

static const char ours[] = "/proc/kallsyms";

struct place {
	const char *name; /* of the module */
	size_t n;
	u64 base, size;
};

static bool see_module(void *ctx, const char *name, size_t n, u64 base, u64 size)
{
	struct place *p = ctx;

	if (n != p->n || memcmp(name, p->name, n))
		return true;
	p->base = base;
	p->size = size;
	return false;
}

struct search {
	const struct kallsyms *table;
	struct log *log;
	const char *name;
	bool is_of_now; /* so that /proc/modules says where modules begin */
	struct str *text;
};

/* Adds a line for one function of the wanted name. */
static void take(void *ctx, u64 address, const char *module, size_t n)
{
	struct search *s = ctx;
	u64 start = address, end = address, base = 0;

	kallsyms_find(s->table, address, &start, &end);
	str_add_safe(s->text, s->name, strlen(s->name));
	if (!n) {
		str_add(s->text, ": [kernel] [kernel.kallsyms]");
	} else {
		struct place place = {.name = module, .n = n};

		if (s->is_of_now)
			kallsyms_each_module("/proc/modules", s->log, see_module, &place);
		base = place.base;
		str_add(s->text, ": [");
		str_add_safe(s->text, module, n);
		str_add(s->text, "] [");
		str_add_safe(s->text, module, n);
		str_addc(s->text, ']');
	}
	str_addf(s->text, " %#" PRIx64 "-%#" PRIx64 " (%#" PRIx64 "-%#" PRIx64 ")\n", address, end,
		address - base, end - base);
}

static int look_up(const struct kallsyms_options *o, int n, char **names, struct log *log)
{
	const char *path = o->file ? o->file : ours;
	struct out out = {.fd = STDOUT_FILENO};
	int status = EXIT_OK;
	struct kallsyms table;
	struct err err;

	if (kallsyms_open(&table, path, true, NULL, 0, &err))
		return cmd_fail(&cmd_kallsyms, &err, EXIT_FAILED);
	if (o->verbose)
		log_note(log, "'%s' has %" PRIu64 " functions", path, table.n);
	for (int i = 0; i < n && status == EXIT_OK; i++) {
		struct search s = {&table, log, names[i], !o->file, &out.text};
		const size_t before = out.text.n;

		if (kallsyms_each_named(path, names[i], take, &s, &err)) {
			status = cmd_fail(&cmd_kallsyms, &err, EXIT_FAILED);
		} else if (out.text.n == before) {
			str_add_safe(&out.text, names[i], strlen(names[i]));
			str_add(&out.text, ": not found\n");
		}
	}
	kallsyms_close(&table);
	return out_close(&out, &err) ? cmd_fail(&cmd_kallsyms, &err, EXIT_FAILED) : status;
}

static int run_kallsyms(int argc, char **argv)
{
	struct kallsyms_options o = {0};
	int status = cmd_parse(&cmd_kallsyms, &o, 0, &argc, argv);
	struct log log;
	struct err err;

	if (status >= 0)
		return status;
	if (!argc) {
		err_set(&err, ERR_INVAL, "no function was given: kallsyms NAME...");
		return cmd_fail(&cmd_kallsyms, &err, EXIT_USAGE);
	}
	cmd_log_init(&log, o.verbose ? LOG_NOTE : LOG_WARN);
	status = look_up(&o, argc, argv, &log);
	log_fini(&log);
	return status;
}

const struct cmd cmd_kallsyms = {
	.name = "kallsyms",
	.summary = "say where functions of the running kernel are",
	.usage = {"NAME...", NULL},
	.options = options,
	.run = run_kallsyms,
};
