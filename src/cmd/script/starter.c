#include "cmd/script/starter.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "event/abi.h"

static const char usual_path[] = "perf-script.py";

static const char beginning[] =
	"\"\"\"Run this with -s: each function gets the samples of one event; see perf-script-python(1).\"\"\"\n"
	"from perf_trace_context import *\n"
	"from Core import *\n\n\n"
	"def trace_begin():\n"
	"    pass\n\n\n"
	"def trace_end():\n"
	"    pass\n\n\n"
	"def process_event(sample):\n"
	"    print(sample['ev_name'], sample['comm'], sample.get('symbol', '[unknown]'))\n\n\n"
	"def trace_unhandled(event_name, context, fields):\n"
	"    print(event_name, fields)\n";

/* Adds each of the words between commas; with an end also as NAME={NAME}, which Python shows with its value. */
static void add_fields(const char *words, const char *begin, const char *end, struct str *text)
{
	while (*words) {
		const size_t n = strcspn(words, ",");

		str_add(text, begin);
		str_addn(text, words, n);
		if (end) {
			str_add(text, "={");
			str_addn(text, words, n);
			str_addc(text, '}');
			str_add(text, end);
		}
		words += n + (words[n] == ',');
	}
}

/* A function for the tracepoint; nothing if its format is not known. */
static void add_handler(const struct tracepoints *t, u64 id, struct str *text)
{
	struct str name = {0}, fields = {0};

	if (tracepoints_add_name(t, id, &name) && tracepoints_add_fields(t, id, &fields)) {
		const char *system = str_text(&name), *colon = strchr(system, ':');

		str_addf(text,
			"\n\ndef %.*s__%s(event_name, context, common_cpu, common_secs, common_nsecs, common_pid, common_comm,\n"
			"        common_callchain",
			(int)(colon - system), system, colon + 1);
		add_fields(str_text(&fields), ", ", NULL, text);
		str_add(text,
			"):\n    print(event_name, common_cpu, f'{common_secs}.{common_nsecs:09}', common_pid, common_comm");
		add_fields(str_text(&fields), ",\n          f'", "'", text);
		str_add(text, ")\n");
	}
	str_fini(&name);
	str_fini(&fields);
}

static int write_file(const char *path, const struct str *script, struct err *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666), sys;
	struct stat st;

	/* What is there may be somebody's work; mktemp leaves an empty file. */
	if (fd >= 0 && (fstat(fd, &st) || st.st_size || !S_ISREG(st.st_mode))) {
		close(fd);
		fd = -1;
		errno = EEXIST;
	}
	if (fd < 0)
		return err_set(err, ERR_SYS, "-g: cannot make '%s': %s", path, strerror(errno));
	sys = fd_write(fd, str_text(script), script->n);
	if (close(fd) && !sys)
		sys = errno;
	return sys ? err_set(err, ERR_SYS, "-g: cannot write '%s': %s", path, strerror(sys)) : 0;
}

int starter_write(const char *language, const struct event_list *events,
	const struct tracepoints *tracepoints, struct str *text, struct err *err)
{
	const char *end = strrchr(language, '.');
	const bool is_path = end && end > language && !strcmp(end, ".py");
	const char *path = is_path ? language : usual_path;
	struct str script = {0};
	int r;

	if (!is_path && strcasecmp(language, "python") && strcasecmp(language, "py"))
		return err_set(err, ERR_UNSUPPORTED, "-g %.40s: scripts are in Python", language);
	str_add(&script, beginning);
	vec_each(e, events)
		if (e->attr.type == PERF_TYPE_TRACEPOINT && tracepoints->handle)
			add_handler(tracepoints, e->attr.config, &script);
	r = write_file(path, &script, err);
	str_fini(&script);
	if (!r)
		str_addf(text, "generated Python script: %s\n", path);
	return r;
}
