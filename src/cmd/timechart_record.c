#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/timechart.h"
#include "collect/around/privilege.h"
#include "event/tracefs.h"
#include "profile/chart/scheduling.h"

struct timechart_recording {
	const char *output;
	bool has_power_only, has_tasks_only, has_io_only, has_chains;
};

#define AT(member) offsetof(struct timechart_recording, member)

const struct opt timechart_record_options[] = {
	{'P', "power-only", OPT_BOOL, AT(has_power_only), NULL, "only the power states of CPUs"},
	{'T', "tasks-only", OPT_BOOL, AT(has_tasks_only), NULL,
		"only tasks: no power states of CPUs"},
	{'I', "io-only", OPT_BOOL, AT(has_io_only), NULL, "only system calls for I/O"},
	{'g', "callchain", OPT_BOOL, AT(has_chains), NULL, "also record call chains"},
	{'o', "output", OPT_STR, AT(output), "FILE", "write FILE; default perf.data"},
	{.kind = OPT_END},
};

static const struct cmd cmd_timechart_record = {
	.name = "timechart record",
	.summary = "record what every CPU and task does, for a chart",
	.usage = {"[OPTIONS] [-- RECORD-OPTIONS] [COMMAND...]", NULL},
	.notes =
		"It records the whole machine until COMMAND ends, or until Ctrl-C. Without the rights for that, it records when COMMAND's own tasks run and wait.\n",
	.options = timechart_record_options,
};

/* The tracepoints that tell of tasks and of power states; a chart needs the first of each. */
static const char *const task_events[][2] = {{"sched", "sched_switch"}, {"sched", "sched_wakeup"},
	{"sched", "sched_wakeup_new"}, {"sched", "sched_waking"}};
static const char *const power_events[][2] = {{"power", "cpu_idle"}, {"power", "cpu_frequency"}};

/* ---- which events ---- */

struct found {
	struct str events, missing; /* names with commas between them */
	struct err why;             /* why the last one is missing */
};

static void find_event(struct found *f, const char *system, const char *name)
{
	u64 id;
	struct str *list = tracefs_id(NULL, system, name, &id, &f->why) ? &f->missing : &f->events;

	str_addf(list, "%s%s:%s", list->n ? "," : "", system, name);
}

static void find_events(const struct timechart_recording *r, struct found *f)
{
	const char *call;

	if (r->has_io_only) {
		for (size_t i = 0; (call = scheduling_io_call(i)); i++) {
			struct str name = {0};

			str_addf(&name, "sys_enter_%s", call);
			find_event(f, "syscalls", str_text(&name));
			str_clear(&name);
			str_addf(&name, "sys_exit_%s", call);
			find_event(f, "syscalls", str_text(&name));
			str_fini(&name);
		}
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(task_events) && !r->has_power_only; i++)
		find_event(f, task_events[i][0], task_events[i][1]);
	for (size_t i = 0; i < ARRAY_SIZE(power_events) && !r->has_tasks_only; i++)
		find_event(f, power_events[i][0], power_events[i][1]);
}

/* ---- the words of record ---- */

typedef VEC(char *) word_list;

static void add_word(word_list *words, const char *word)
{
	vec_add(words, (char *)(uintptr_t)word);
}

/* The words for all tasks of the machine. ERR_UNSUPPORTED, ...: none of the tracepoints is there. */
static int add_events(const struct timechart_recording *r, struct found *f, word_list *words,
	struct log *log, struct err *err)
{
	find_events(r, f);
	if (!f->events.n) {
		*err = f->why;
		return err->code;
	}
	if (f->missing.n)
		log_note(log, "this kernel does not have %s", str_text(&f->missing));
	add_word(words, "-a");
	add_word(words, "-R");
	add_word(words, "-c");
	add_word(words, "1");
	/* A busy machine has bursts of them, and a chart with holes misleads. */
	add_word(words, "-m");
	add_word(words, "4M");
	add_word(words, "-e");
	add_word(words, str_text(&f->events));
	/* What the recorder writes would be recorded, and written again. */
	if (r->has_io_only)
		add_word(words, "--exclude-perf");
	if (r->has_chains)
		add_word(words, "-g");
	return 0;
}

/* Without tracepoints the kernel still says when a user's own tasks come to a CPU and leave it. */
static int add_switches(const struct timechart_recording *r, const struct privilege *p,
	word_list *words, struct log *log, struct err *err)
{
	char why[512];

	privilege_explain(p, PRIVILEGE_TRACEPOINT, why, sizeof(why));
	if (r->has_power_only || r->has_io_only)
		return err_set(err, ERR_PERM, "%s needs tracepoints: %.400s",
			r->has_io_only ? "-I" : "-P", why);
	log_note(log,
		"only the command's own tasks are recorded, without wake-ups, I/O and idle states of CPUs: %s",
		why);
	add_word(words, "--switch-events");
	add_word(words, "--sample-cpu");
	add_word(words, "-c");
	add_word(words, "1");
	add_word(words, "-e");
	add_word(words, "dummy:u");
	return 0;
}

static int find_words(const struct timechart_recording *r, struct found *f, word_list *words,
	struct log *log, struct err *err)
{
	struct privilege p;

	if (r->has_power_only + r->has_tasks_only + r->has_io_only > 1)
		return err_set(err, ERR_INVAL, "give only one of -P, -T and -I");
	add_word(words, "record");
	if (r->output) {
		add_word(words, "-o");
		add_word(words, r->output);
	}
	privilege_read(&p);
	return privilege_allows(&p, PRIVILEGE_TRACEPOINT) ? add_events(r, f, words, log, err)
							  : add_switches(r, &p, words, log, err);
}

int timechart_record(int argc, char **argv)
{
	struct timechart_recording r = {0};
	struct found found = {0};
	word_list words = {0};
	struct log log;
	struct err err;
	/* Parsing stops at the first word that is not an option: the command, or options of record after "--". */
	int status = cmd_parse(&cmd_timechart_record, &r, OPTS_STOP, &argc, argv);

	if (status >= 0)
		return status;
	cmd_log_init(&log, LOG_NOTE);
	if (find_words(&r, &found, &words, &log, &err)) {
		status = cmd_fail(&cmd_timechart_record, &err,
			err.code == ERR_INVAL ? EXIT_USAGE : EXIT_FAILED);
	} else {
		for (int i = 0; i < argc; i++)
			add_word(&words, argv[i]);
		vec_add(&words, NULL);
		status = cmd_record.run((int)words.n - 1, words.at);
	}
	vec_fini(&words);
	str_fini(&found.events);
	str_fini(&found.missing);
	log_fini(&log);
	return status;
}
