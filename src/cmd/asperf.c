#include "cmd/asperf.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/out.h"
#include "base/selfname.h"
#include "base/vec.h"
#include "cmd/cmd.h"

/* clang-format off: a row a difference; of "stat" and "stat report" the longer name counts */
const struct asperf_row asperf_rows[] = {
	{"stat", "--columns=perf", "the columns of -x and the members of -j", "--columns=perf7"},
	{"stat report", "--columns=perf", "the columns of -x and the members of -j",
		"--columns=perf7"},
	{"stat report", "--stderr", "where the result is printed: on standard output otherwise"},
	{"list", "--columns=perf", "the members of -j, and the lines of the text"},
	{"record", "--no-brief",
		"the lines behind 'Captured and wrote', for which the recording is read again"},
	{"record", "--compression-level=0", "call chains are compressed without -z, too"},
	{"record", "--buildid-cache", "copies of sampled files are kept in ~/.debug"},
	{"report", "--no-unnamed-functions",
		"code without names stands under its address, and not under its function's"},
	{"report", "--no-wall", "recordings of --wall show time instead of samples"},
	{"script", "--no-unnamed-functions", "likewise: [unknown]"},
	{"script", "--frames=perf",
		"callers from copied stacks stand at their calls, inlined functions have offsets",
		"--frames=perf7"},
	{"script", NULL, "parameters of C++ functions are not shown", "--parameters"},
	{"report", NULL, "likewise", "--parameters"},
	{"script", "--show-kernel-path", "modules of the kernel stand under their paths"},
	{"top", "--no-unnamed-functions", "likewise"},
};
/* clang-format on */

const size_t asperf_n_rows = ARRAY_SIZE(asperf_rows);

bool asperf_is_wanted(const char *called)
{
	const char *said = getenv("PACE_AS_PERF"), *slash = called ? strrchr(called, '/') : NULL;

	if (said && *said)
		return strcmp(said, "0") != 0;
	return called && !strcmp(slash ? slash + 1 : called, "perf");
}

static bool is_of(const struct asperf_row *row, int argc, char **argv, int n_words)
{
	const size_t n = strlen(argv[0]);

	if (n_words == 1)
		return !strcmp(row->command, argv[0]);
	return argc > 1 && !strncmp(row->command, argv[0], n) && row->command[n] == ' ' &&
		!strcmp(row->command + n + 1, argv[1]);
}

static bool has_row(int argc, char **argv, int n_words)
{
	for (size_t i = 0; i < asperf_n_rows; i++)
		if (is_of(&asperf_rows[i], argc, argv, n_words))
			return true;
	return false;
}

/* Callers may know a later version of perf. */
static const char *option_of(const struct asperf_row *row)
{
	const bool is_later = program_perf_version() > 6;

	return is_later && row->option_of_7 ? row->option_of_7 : row->option;
}

char **asperf_words(int *argc, char **argv)
{
	const int n_words = has_row(*argc, argv, 2) ? 2 : 1;
	VEC(char *) words = {0};

	for (int i = 0; i < n_words; i++)
		vec_add(&words, argv[i]);
	for (size_t i = 0; i < asperf_n_rows; i++)
		if (is_of(&asperf_rows[i], *argc, argv, n_words) && option_of(&asperf_rows[i]))
			vec_add(&words, (char *)option_of(&asperf_rows[i]));
	for (int i = n_words; i < *argc; i++)
		vec_add(&words, argv[i]);
	*argc = (int)words.n;
	vec_add(&words, NULL);
	return words.at;
}

static int print(const struct str *text)
{
	struct out out = {.fd = STDOUT_FILENO};
	struct err err;

	str_addn(&out.text, str_text(text), text->n);
	return out_close(&out, &err) ? cmd_fail(&cmd_help, &err, EXIT_FAILED) : EXIT_OK;
}

int asperf_answer(int argc, char **argv)
{
	struct str text = {0};
	int status;

	if (argc != 1 || strcmp(argv[0], "--list-cmds") != 0)
		return -1;
	for (size_t i = 0; cmd_table[i]; i++)
		str_addf(&text, "%s ", cmd_table[i]->name);
	str_addc(&text, '\n');
	status = print(&text);
	str_fini(&text);
	return status;
}
