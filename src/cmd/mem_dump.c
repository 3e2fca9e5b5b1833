#include "cmd/mem_dump.h"

#include <string.h>
#include <unistd.h>

#include "base/out.h"
#include "cmd/cmd.h"
#include "cmd/symbols.h"
#include "cmd/which.h"
#include "profile/check/ledger.h"
#include "profile/gather/label.h"
#include "symbol/resolve/location.h"
#include "trace/follow.h"
#include "trace/where.h"
#include "view/records/script.h"
#include "view/text/words.h"

struct mem_dump_command {
	const char *input, *cpus, *separator;
	bool hides_unresolved;
	unsigned verbose;
	struct symbol_options symbols;
};

#define AT(member) offsetof(struct mem_dump_command, member)

static const struct opt options[] = {
	{'i', "input", OPT_STR, AT(input), "FILE", "the recording"},
	{'C', "cpu", OPT_STR, AT(cpus), "LIST", "only accesses on these CPUs"},
	{'U', "hide-unresolved", OPT_BOOL, AT(hides_unresolved), NULL,
		"only accesses by functions with names"},
	{0, "field-separator", OPT_STR, AT(separator), "SEP", "columns separated by SEP"},
	{'v', "verbose", OPT_COUNT, AT(verbose), NULL, "say where files were looked for"},
	{'f', "force", OPT_NOTHING, 0, NULL, "no effect: files of any owner are read"},
	{0, "stdio", OPT_NOTHING, 0, NULL, "no effect: this is plain text"},
	SYMBOL_FILE_ROWS(mem_dump_command),
	SYMBOL_NAME_ROWS(mem_dump_command),
	{.kind = OPT_END},
};

static const struct cmd cmd_mem_dump = {.name = "mem",
	.summary = "print memory accesses one by one",
	.usage = {"report -D [OPTIONS] [FILE]", NULL},
	.options = options};

struct dumping {
	const struct mem_dump *columns;
	const struct mem_dump_command *command;
	struct trace trace;
	struct which which;
	struct locator locator;
	struct intern strings;
	struct out out;
	struct log log;
	struct ledger ledger;
};

static const char *separator_of(const struct dumping *d)
{
	return d->command->separator ? d->command->separator : " ";
}

/* Numbers in hexadecimal, `digits` at least. */
static void add_address(struct dumping *d, u64 address, int digits)
{
	str_addf(&d->out.text, "0x%0*llx%s", digits, (unsigned long long)address, separator_of(d));
}

static void add_page_size(struct dumping *d, u64 size)
{
	struct str *text = &d->out.text;

	if (size)
		words_add_page_size(text, size);
	else
		str_add(text, "N/A");
	str_add(text, separator_of(d));
}

static void add_head(struct dumping *d)
{
	str_addf(&d->out.text, "# PID, TID, IP, ADDR, %s%sLOCAL WEIGHT, DSRC, SYMBOL\n",
		d->columns->has_phys ? "PHYS ADDR, " : "",
		d->columns->has_page_sizes ? "DATA PAGE SIZE, " : "");
}

/* The function of the instruction; NULL: it has no name. */
static const char *find_name(struct dumping *d, struct visit *v, const struct dso **ret_dso)
{
	const struct chain_step step = {.ip = v->sample->ip, .mode = v->mode};
	const unsigned style = symbol_options_style(&d->command->symbols, d->command->verbose);
	struct resolver_answer answer;
	struct location at;

	locator_find(&d->locator, visit_state(v), &step, &at);
	answer = locator_name(&d->locator, &at);
	*ret_dso = at.dso;
	return resolver_title(&answer, style, &d->strings);
}

static u64 weight_of(const struct dumping *d, const struct visit *v)
{
	const struct event *e = &d->trace.session.reader.events.at[v->taken_by];

	return script_weight(e->attr.sample_type, v->sample->weight).cost;
}

static void add_access(struct dumping *d, struct visit *v)
{
	const struct sample *s = v->sample;
	struct str *text = &d->out.text;
	const struct dso *dso;
	const char *name = find_name(d, v, &dso);

	if (!name && d->command->hides_unresolved)
		return;
	str_addf(text, "%d%s%d%s", (int)s->pid, separator_of(d), (int)s->tid, separator_of(d));
	add_address(d, s->ip, 1);
	add_address(d, s->addr, 1);
	if (d->columns->has_phys)
		add_address(d, s->phys_addr, 16);
	if (d->columns->has_page_sizes)
		add_page_size(d, s->data_page_size);
	str_addf(text, "%llu%s", (unsigned long long)weight_of(d, v), separator_of(d));
	add_address(d, s->data_src, 1);
	str_add_safe(text, dso->path, strlen(dso->path));
	str_addc(text, ':');
	name = name ? name : "???";
	str_add_safe(text, name, strlen(name));
	str_addc(text, '\n');
}

static int walk(struct dumping *d, struct err *err)
{
	const struct trace_where where = {.cpus = &d->which.cpus};
	struct follow follow;
	struct visit *v;
	int r;

	follow_init(&follow, &d->trace, FOLLOW_IN_TIME, UINT64_MAX);
	while ((r = follow_next(&follow, &v, err)) > 0 && !d->out.sys) {
		if (v->rec->type == PERF_RECORD_SAMPLE && v->sample && trace_where_has(&where, v))
			add_access(d, v);
		out_flush_some(&d->out);
	}
	follow_fini(&follow);
	return MIN(r, 0);
}

static int dump(struct dumping *d, struct err *err)
{
	const struct trace_options how = symbol_options_trace(&d->command->symbols);
	const struct session *s = &d->trace.session;

	if (label_check(s, LABEL_DATA_SOURCE, err) ||
		(d->columns->has_phys && label_check(s, LABEL_PHYSICAL, err)) ||
		which_choose(&d->which, d->command->cpus, NULL, s, err) ||
		trace_begin(&d->trace, &how, err))
		return err->code;
	locator_init(&d->locator, &d->trace.machine, &d->trace.resolver);
	add_head(d);
	if (walk(d, err))
		return err->code;
	ledger_add_tally(&d->ledger, &s->tally);
	ledger_warn(&d->ledger, &d->log);
	return 0;
}

int mem_dump(const struct mem_dump *columns, int argc, char **argv)
{
	struct mem_dump_command c = {.symbols = {.demangles = true}};
	struct dumping d = {.columns = columns, .command = &c, .out.fd = STDOUT_FILENO};
	int status = cmd_parse_reader(&cmd_mem_dump, &c, &c.input, argc, argv);
	struct err err;

	if (status >= 0)
		return status;
	status = EXIT_OK;
	cmd_log_init(&d.log, c.verbose ? LOG_DEBUG : LOG_NOTE);
	c.input = cmd_input(c.input);
	if (trace_open(&d.trace, c.input, &d.log, &err)) {
		cmd_explain_missing(c.input, &err);
		log_fini(&d.log);
		return cmd_fail(&cmd_mem_dump, &err, EXIT_USAGE);
	}
	if (dump(&d, &err))
		status = cmd_fail(&cmd_mem_dump, &err,
			err.code == ERR_INVAL ? EXIT_USAGE : EXIT_FAILED);
	if (out_close(&d.out, &err))
		status = cmd_fail(&cmd_mem_dump, &err, EXIT_FAILED);
	if (status == EXIT_OK && (d.log.has_warned || ledger_has_unread(&d.ledger)))
		status = EXIT_FAILED;
	which_fini(&d.which);
	trace_close(&d.trace);
	intern_fini(&d.strings);
	ledger_fini(&d.ledger);
	log_fini(&d.log);
	return status;
}
