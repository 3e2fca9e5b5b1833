#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/cmdline.h"
#include "base/folder.h"
#include "base/out.h"
#include "cmd/cmd.h"
#include "cmd/diff/comparing.h"
#include "cmd/gate/gate_words.h"
#include "cmd/pagefile.h"

/* If the noise decides, there are up to TIMES as many rounds. */
enum { ROUNDS = 10, ROUNDS_MOST = 1000, TIMES = 3, HALVES_LEAST = 4 };

static const double FIND_PCT = 2;

struct gate_options {
	u64 rounds;
	double least_pct, error_pct, find_pct;
	const char *event, *frequency, *prepare, *history, *markdown, *html, *keep;
	bool may_fail, shows_output, is_shell, is_json, is_quiet;
	unsigned verbose;
};

#define AT(member) offsetof(struct gate_options, member)

static const struct opt options[] = {
	{0, NULL, OPT_TITLE, 0, NULL, "What to run"},
	{'r', "rounds", OPT_U64, AT(rounds), "N",
		"runs of each command; default 10, and up to 30 as --find needs them", .min = 2,
		.max = ROUNDS_MOST},
	{0, "shell", OPT_BOOL, AT(is_shell), NULL,
		"each side is one word that a shell takes: 'cd old && make'"},
	{0, "prepare", OPT_STR, AT(prepare), "COMMAND",
		"a shell's command before each run, which is not measured"},
	{'i', "ignore-failure", OPT_BOOL, AT(may_fail), NULL, "commands may end with any status"},
	{0, "output", OPT_BOOL, AT(shows_output), NULL, "show what the commands print"},
	{0, NULL, OPT_TITLE, 0, NULL, "How to measure"},
	{'e', "event", OPT_STR, AT(event), "EVENT",
		"what to compare; default cycles, or time on CPUs where they cannot be counted"},
	{'F', "freq", OPT_STR, AT(frequency), "HZ", "samples a second; default 4000"},
	{0, NULL, OPT_TITLE, 0, NULL, "How to decide"},
	{0, "least", OPT_DOUBLE, AT(least_pct), "PCT",
		"differences below this share of the whole do not matter; default 1", .max = 100},
	{0, "error", OPT_DOUBLE, AT(error_pct), "PCT",
		"how often equal programs may be called different; default 5", .max = 50},
	{0, "find", OPT_DOUBLE, AT(find_pct), "PCT",
		"up to three times the rounds, until nine of ten gates find that change; default 2, and as many rounds as -r says",
		.max = 100},
	{0, "history", OPT_STR, AT(history), "FILE",
		"learn from earlier gates how much this machine varies; this one is added"},
	{0, NULL, OPT_TITLE, 0, NULL, "What to write"},
	{0, "markdown", OPT_STR, AT(markdown), "FILE", "the verdict for a pull request"},
	{0, "html", OPT_STR, AT(html), "FILE",
		"a page for browsers: a differential flame graph, functions with both shares"},
	{0, "json", OPT_BOOL, AT(is_json), NULL, "print JSON"},
	{0, "keep", OPT_STR, AT(keep), "FOLDER", "keep the recordings there"},
	{'q', "quiet", OPT_BOOL, AT(is_quiet), NULL, "only the status"},
	{'v', "verbose", OPT_COUNT, AT(verbose), NULL, "say how it was done"},
	{.kind = OPT_END},
};

struct gate {
	const struct gate_options *options;
	struct log log;
	struct gate_command sides[DELTA_SIDES];
	struct cmdline shells[DELTA_SIDES];
	struct gate_rounds rounds;
	struct gate_past past;
	struct gating_options how;
	char folder[4096];
	struct utsname host;
};

/* ---- the commands ---- */

static int choose_commands(struct gate *g, int argc, char **argv, struct err *err)
{
	int split = 0, at = 0;

	while (split < argc && strcmp(argv[split], "--") != 0)
		split++;
	if (split == 0 || split + 1 >= argc)
		return err_set(err, ERR_INVAL,
			"two commands are needed: 'pace gate ./old 1000 -- ./new 1000'");
	for (int side = 0; side < DELTA_SIDES; side++) {
		struct gate_command *c = &g->sides[side];

		c->words = argv + at;
		c->n = side ? argc - at : split;
		at = split + 1;
		if (g->options->is_shell && c->n > 1)
			return err_set(err, ERR_INVAL,
				"--shell takes one word for each side, in quotes: 'cd old && make' -- 'cd new && make'");
		for (int i = 0; i < c->n; i++) {
			str_add(&c->text, i ? " " : "");
			if (g->options->is_shell)
				str_add_safe(&c->text, c->words[i], strlen(c->words[i]));
			else
				cmdline_add_word(&c->text, c->words[i]);
		}
		if (!g->options->is_shell)
			continue;
		cmdline_make_shell(&g->shells[side], c->words[0]);
		c->words = g->shells[side].at;
		c->n = (int)g->shells[side].n;
	}
	return 0;
}

static int choose_folder(struct gate *g, struct err *err)
{
	const char *keep = g->options->keep;

	snprintf(g->folder, sizeof(g->folder), "%s%s", keep ? keep : folder_of_temporaries(),
		keep ? "" : "/pace-gate-XXXXXX");
	if (keep && mkdir(keep, 0700) && errno != EEXIST)
		return err_sys(err, errno, "--keep: creating '%s'", keep);
	if (!keep && !mkdtemp(g->folder)) {
		g->folder[0] = '\0';
		return err_sys(err, errno, "creating a folder in '%s'", folder_of_temporaries());
	}
	return 0;
}

static void remove_folder(const struct gate *g)
{
	if (g->options->keep || !g->folder[0])
		return;
	for (int side = 0; side < DELTA_SIDES; side++)
		for (u64 i = 0; g->rounds.paths[side] && i < g->rounds.n; i++)
			unlink(g->rounds.paths[side][i]);
	rmdir(g->folder);
}

/* ---- comparing ---- */

struct comparison {
	struct diff_command options;
	struct comparing comparing;
	struct significance significance;
};

static struct delta *delta_of(struct comparison *c)
{
	return &c->comparing.events.at[0].delta;
}

/* Reads recordings, of which is_b() says on which side they are. */
static int compare(struct gate *g, struct comparison *c, const struct delta_recording *recordings,
	size_t n, struct err *err)
{
	*c = (struct comparison){.options = {.order = 1,
					 .symbols.demangles = true,
					 .symbols.makes_names = true,
					 .view = {.has_sides = true, .is_quiet = true}}};
	c->comparing = (struct comparing){.options = &c->options, .log = &g->log};
	for (size_t i = 0; i < n; i++)
		vec_add(&c->comparing.recordings, recordings[i]);
	if (comparing_read(&c->comparing, err))
		return err->code;
	if (!c->comparing.events.n)
		return err_set(err, ERR_FORMAT, "the recordings have no events");
	for (size_t i = 0; i < n; i++)
		if (!delta_of(c)->recordings.at[i].period)
			return err_set(err, ERR_INVAL,
				"a run was too short to be sampled: -F %s takes that many samples a second; give the commands more work",
				g->rounds.frequency);
	delta_pair(delta_of(c));
	gating_level(delta_of(c));
	significance_init(&c->significance, delta_of(c));
	return 0;
}

static void comparison_fini(struct comparison *c)
{
	significance_fini(&c->significance);
	comparing_fini(&c->comparing);
}

/* Of the baseline's odd rounds beside its even ones; NAN: there are too few. */
static int compare_halves(struct gate *g, double *ret_q, struct err *err)
{
	VEC(struct delta_recording) recordings = {0};
	struct comparison halves;
	int result;

	*ret_q = NAN;
	if (g->rounds.n < HALVES_LEAST)
		return 0;
	for (u64 half = 0; half < DELTA_SIDES; half++)
		for (u64 i = half; i < g->rounds.n; i += DELTA_SIDES)
			vec_add(&recordings,
				((struct delta_recording){g->rounds.paths[DELTA_A][i],
					.side = (u8)half}));
	result = compare(g, &halves, recordings.at, recordings.n, err);
	if (!result)
		*ret_q = gating_least_q(&halves.significance);
	comparison_fini(&halves);
	vec_fini(&recordings);
	return result;
}

static int compare_sides(struct gate *g, struct comparison *c, struct err *err)
{
	VEC(struct delta_recording) recordings = {0};
	int result;

	for (int side = 0; side < DELTA_SIDES; side++)
		for (u64 i = 0; i < g->rounds.n; i++)
			vec_add(&recordings,
				((struct delta_recording){g->rounds.paths[side][i],
					.side = (u8)side}));
	result = compare(g, c, recordings.at, recordings.n, err);
	vec_fini(&recordings);
	return result;
}

static void decide(struct gate *g, const struct comparison *c, struct gating *ret)
{
	const struct delta *d = &c->comparing.events.at[0].delta;
	const u64 n = g->rounds.n;
	double *sums = mem_alloc(DELTA_SIDES * n * sizeof(*sums));

	for (u64 i = 0; i < DELTA_SIDES * n; i++)
		sums[i] = (double)d->recordings.at[i].period;
	gating_init(ret, &g->how, sums, sums + n, n, &c->significance,
		gating_threshold(&g->how, g->past.nulls.at, g->past.nulls.n));
	mem_free(sums);
}

/* ---- what comes out ---- */

static int write_markdown(const struct gate *g, const struct gate_result *r, struct err *err)
{
	struct out out = {.fd = -1};
	struct fresh file;

	if (!g->options->markdown)
		return 0;
	if (pagefile_open(&file, g->options->markdown, &out, err))
		return err->code;
	gate_add_markdown(r, &out.text);
	return pagefile_close(&file, &out, 0, err);
}

static int write_html(const struct gate *g, struct err *err)
{
	return g->options->html ? gate_rounds_page(&g->rounds, g->options->html, err) : 0;
}

static int learn(const struct gate *g, const struct gate_result *r, struct err *err)
{
	if (!g->options->history || isnan(r->null_q))
		return 0;
	return gate_past_add(g->options->history,
		&(struct gate_line){.host = g->host.nodename,
			.command = str_text(&g->sides[DELTA_A].text),
			.verdict = gate_word(gating_verdict(r->gating)),
			.n_rounds = g->rounds.n,
			.noise = r->gating->whole.noise,
			.null_q = r->null_q},
		err);
}

static int tell(struct gate *g, const struct gate_result *r, struct err *err)
{
	struct out out = {.fd = STDOUT_FILENO};

	if (g->options->is_json)
		gate_add_json(r, &out.text);
	else if (!g->options->is_quiet)
		gate_add_text(r, &out.text);
	if (out_close(&out, err) || write_markdown(g, r, err) || write_html(g, err))
		return err->code;
	return learn(g, r, err);
}

/* 0, EXIT_CONDITION: it is slower; or an error's negative code. */
static int gate(struct gate *g, int argc, char **argv, struct err *err)
{
	struct gate_result r = {.rounds = &g->rounds,
		.past = &g->past,
		.is_learning = g->options->history};
	struct comparison sides = {0};
	struct gating gating = {0};
	int result;

	if (choose_commands(g, argc, argv, err) ||
		gate_past_read(&g->past, g->options->history, g->host.nodename, g->how.error / 2,
			err) ||
		choose_folder(g, err) || gate_rounds_run(&g->rounds, err) ||
		compare_halves(g, &r.null_q, err))
		return err->code;
	result = compare_sides(g, &sides, err);
	if (!result) {
		decide(g, &sides, &gating);
		r.gating = &gating;
		r.delta = delta_of(&sides);
		r.significance = &sides.significance;
		r.event = sides.comparing.events.at[0].name;
		result = tell(g, &r, err);
	}
	if (!result && gating_verdict(&gating) == GATING_SLOWER)
		result = EXIT_CONDITION;
	gating_fini(&gating);
	comparison_fini(&sides);
	return result;
}

static int run_gate(int argc, char **argv)
{
	struct gate_options o = {.find_pct = -1,
		.least_pct = 1,
		.error_pct = 5,
		.frequency = "4000"};
	struct gate g = {.options = &o};
	struct err err = {0};
	int status = cmd_parse(&cmd_gate, &o, OPTS_STOP, &argc, argv);

	if (status >= 0)
		return status;
	cmd_log_init(&g.log, o.verbose ? LOG_DEBUG : LOG_WARN);
	uname(&g.host);
	if (o.find_pct < 0)
		o.find_pct = o.rounds ? 0 : FIND_PCT;
	if (!o.rounds)
		o.rounds = ROUNDS;
	g.how = (struct gating_options){o.error_pct / 100, o.least_pct / 100, o.find_pct / 100};
	g.rounds = (struct gate_rounds){.sides = g.sides,
		.folder = g.folder,
		.event = o.event,
		.frequency = o.frequency,
		.prepare = o.prepare,
		.may_fail = o.may_fail,
		.shows_output = o.shows_output,
		.how = &g.how,
		.log = &g.log,
		.least = o.rounds,
		.most = o.find_pct > 0 ? o.rounds * TIMES : o.rounds};
	status = gate(&g, argc, argv, &err);
	if (status < 0)
		status = cmd_fail(&cmd_gate, &err,
			err.code == ERR_INVAL || err.code == ERR_NOENT ? EXIT_USAGE : EXIT_FAILED);
	remove_folder(&g);
	gate_rounds_fini(&g.rounds);
	gate_past_fini(&g.past);
	for (int side = 0; side < DELTA_SIDES; side++) {
		str_fini(&g.sides[side].text);
		cmdline_fini(&g.shells[side]);
	}
	log_fini(&g.log);
	return status;
}

const struct cmd cmd_gate = {
	.name = "gate",
	.summary = "run two programs in turns and decide whether the second is slower",
	.usage = {"[OPTIONS] BASE [ARGUMENT...] -- NEW [ARGUMENT...]",
		"--shell [OPTIONS] 'COMMAND' -- 'COMMAND'", NULL},
	.notes = "Status 0: not slower; 4: slower; 1 or 2: that could not be found out.\n",
	.options = options,
	.run = run_gate,
};
