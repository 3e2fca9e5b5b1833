#include "cmd/memory.h"

#include <string.h>
#include <unistd.h>

#include "base/out.h"
#include "base/vec.h"

enum { WORDS_MAX = 20 }; /* that this file adds */

static int find_event(const struct memory_record *m, struct str *text, struct err *err)
{
	const struct memevents_wish wish = {m->what, m->latency};

	if (m->has_user_only && m->has_kernel_only)
		return err_set(err, ERR_INVAL,
			"--all-user and --all-kernel together leave nothing");
	if (!m->event)
		return memevents_find(m->sysfs, &wish, text, err);
	str_add(text, m->event);
	return 0;
}

/* --dry-run: prints the command line instead of running it. */
static int show_words(const struct cmd *cmd, char *const *words, size_t n)
{
	struct out out = {.fd = STDOUT_FILENO};
	struct err err;

	str_add(&out.text, "pace");
	for (size_t i = 0; i < n; i++) {
		str_addc(&out.text, ' ');
		str_add_safe(&out.text, words[i], strlen(words[i]));
	}
	str_addc(&out.text, '\n');
	return out_close(&out, &err) ? cmd_fail(cmd, &err, EXIT_FAILED) : EXIT_OK;
}

int memory_run_record(const struct cmd *cmd, const struct memory_record *m, int argc, char **argv)
{
	char **all = mem_alloc(((size_t)argc + WORDS_MAX) * sizeof(*all));
	struct str event = {0};
	struct err err;
	size_t n = 0;
	int status;

	if (find_event(m, &event, &err)) {
		mem_free(all);
		str_fini(&event);
		return cmd_fail(cmd, &err, err.code == ERR_INVAL ? EXIT_USAGE : EXIT_FAILED);
	}
	all[n++] = (char *)(uintptr_t) "record";
	all[n++] = (char *)(uintptr_t) "-e";
	all[n++] = event.at;
	all[n++] = (char *)(uintptr_t) "-W";
	all[n++] = (char *)(uintptr_t) "-d";
	all[n++] = (char *)(uintptr_t) "--sample-cpu";
	if (!m->has_no_phys)
		all[n++] = (char *)(uintptr_t) "--phys-data";
	if (m->has_page_sizes)
		all[n++] = (char *)(uintptr_t) "--data-page-size";
	if (m->has_user_only)
		all[n++] = (char *)(uintptr_t) "--all-user";
	if (m->has_kernel_only)
		all[n++] = (char *)(uintptr_t) "--all-kernel";
	if (m->cpus) {
		all[n++] = (char *)(uintptr_t) "-C";
		all[n++] = (char *)(uintptr_t)m->cpus;
	}
	if (m->output) {
		all[n++] = (char *)(uintptr_t) "-o";
		all[n++] = (char *)(uintptr_t)m->output;
	}
	if (m->verbose)
		all[n++] = (char *)(uintptr_t)(m->verbose > 1 ? "-vv" : "-v");
	for (int i = 0; i < argc; i++)
		all[n++] = argv[i];
	all[n] = NULL;
	status = m->shows ? show_words(cmd, all, n) : cmd_record.run((int)n, all);
	mem_free(all);
	str_fini(&event);
	return status;
}
