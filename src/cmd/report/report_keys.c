#include "cmd/report/report_keys.h"

#include <stdio.h>
#include <string.h>

#include "event/abi.h"
#include "profile/gather/blocks.h"
#include "profile/rows/confidence.h"
#include "profile/gather/label.h"
#include "profile/gather/matching.h"

#define MEMORY_KEYS                                                            \
	"local_weight,mem,symbol,dso,symbol_daddr,dso_daddr,snoop,tlb,locked," \
	"blocked,local_ins_lat,local_p_stage_cyc"

#define NO_CYCLES                                                                                   \
	"the recording has no cycles between branches: record with -b, on a processor that counts " \
	"them"

/* ---- what the recording is ---- */

static bool any_event(const struct keys *k, bool (*is_it)(const struct event *e))
{
	vec_each(e, &k->recorded->trace.session.reader.events)
		if (is_it(e))
			return true;
	return false;
}

static bool has_branches(const struct event *e)
{
	return e->attr.sample_type & PERF_SAMPLE_BRANCH_STACK &&
		!(e->attr.branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK);
}

/*
 * Whether the recorder was asked for branches. Otherwise they were asked for to find callers, as by users of
 * perf_event_open(2). Pipes and unfinished files do not tell.
 */
static bool is_of_branches(const struct reader *r)
{
	return r->is_pipe_mode || r->is_unfinished ||
		layout_has_feature(&r->header, FEATURE_BRANCH_STACK);
}

static bool is_no_tracepoint(const struct event *e)
{
	return e->attr.type != PERF_TYPE_TRACEPOINT;
}

/* Whether all events are tracepoints whose formats are known: then their fields are what to show. */
static bool is_of_tracepoints(const struct keys *k)
{
	const struct reader *r = &k->recorded->trace.session.reader;

	return r->events.n && r->info.tracing_data.n && !any_event(k, is_no_tracepoint);
}

/* Checks what --total-cycles needs. */
static int check_blocks(const struct keys *k, struct err *err)
{
	if (k->has_wall)
		return err_set(err, ERR_INVAL,
			"--total-cycles counts branches, not time on and off the CPU: add --no-wall");
	if (!k->options->branches)
		return err_set(err, ERR_INVAL,
			"--total-cycles counts branches, which --no-branch-stack turns off");
	if (!blocks_are_there(&k->recorded->trace.session))
		return err_set(err, ERR_INVAL, "--total-cycles: " NO_CYCLES);
	return 0;
}

static int check_history(const struct keys *k, bool can_branch, struct err *err)
{
	const struct keys_options *o = k->options;

	if (k->has_wall)
		return err_set(err, ERR_INVAL,
			"--branch-history shows samples, not time on and off the CPU: add --no-wall");
	if (o->branches > 0 || o->has_total_cycles)
		return err_set(err, ERR_INVAL,
			"--branch-history shows samples with the branches before them, %s counts branches",
			o->branches > 0 ? "-b" : "--total-cycles");
	return can_branch
		? 0
		: err_set(err, ERR_INVAL,
			  "--branch-history: the recording has no branches: record with -b");
}

static int check_latency(const struct keys *k, struct err *err)
{
	if (k->options->has_total_cycles)
		return err_set(err, ERR_INVAL,
			"--latency is about samples, --total-cycles counts branches");
	return recorded_check_label(k->recorded, LABEL_LATENCY, err) ? err_prefix(err, "--latency")
								     : 0;
}

static const char *default_keys(const struct keys *k)
{
	if (!recorded_has_trace(k->recorded))
		return k->recorded->import.importer->keys;
	return k->has_blocks              ? "block,dso"
		: k->has_history          ? "srcline,symbol,dso"
		: k->has_branches         ? "comm,dso_from,symbol_from,symbol_to,cycles"
		: k->options->is_mem_mode ? MEMORY_KEYS
		: is_of_tracepoints(k) && !k->has_wall ? "trace"
						       : "comm,dso,symbol";
}

/* Whether a list of keys is one of more keys, beside the usual ones. */
static bool is_more(const char *list)
{
	return list && *list == '+';
}

/* Whether the columns are those of -F and no others. */
static bool has_own_columns(const struct keys *k)
{
	return k->options->fields && !is_more(k->options->fields);
}

int keys_init(struct keys *k, const struct keys_options *o, struct recorded *r, bool has_wall,
	struct err *err)
{
	bool can_branch;

	*k = (struct keys){.options = o, .recorded = r, .has_wall = has_wall};
	can_branch = any_event(k, has_branches);
	if (o->branches > 0 && !can_branch)
		return err_set(err, ERR_INVAL, "-b: the recording has no branches: record with -b");
	if (o->is_mem_mode && label_check(&r->trace.session, LABEL_DATA, err))
		return err_prefix(err, "--mem-mode");
	if ((o->branches > 0 || o->has_total_cycles) && o->is_mem_mode)
		return err_set(err, ERR_INVAL, "%s and --mem-mode count different things",
			o->branches > 0 ? "-b" : "--total-cycles");
	if (o->has_total_cycles && check_blocks(k, err))
		return err->code;
	if (o->has_history && check_history(k, can_branch, err))
		return err->code;
	if (o->is_by_latency && !has_wall && check_latency(k, err))
		return err->code;
	k->has_history = o->has_history;
	k->has_blocks = o->has_total_cycles;
	k->has_branches = k->has_blocks ||
		(o->branches < 0 ? can_branch && is_of_branches(&r->trace.session.reader) &&
					!o->is_mem_mode && !has_wall && !o->has_history
				 : o->branches);
	if (is_more(o->sort))
		str_addf(&k->sort, "%s,%s", default_keys(k), o->sort + 1);
	if (o->drops_others || o->parent) {
		k->needs_parent = true;
		if (!r->has_chains)
			return err_set(err, ERR_INVAL,
				"-p and -x look at callers, and the recording has none: record with -g");
	}
	return 0;
}

bool keys_have_stacks(const struct keys *k)
{
	return k->recorded->has_chains || k->has_history;
}

const char *keys_sort(const struct keys *k)
{
	return k->sort.n           ? str_text(&k->sort)
		: k->options->sort ? k->options->sort
				   : default_keys(k);
}

/* ---- fields of tracepoints as keys ---- */

/* Without a name any event is meant. */
static bool is_named(const struct event *e, const char *name, size_t n)
{
	const char *colon = strchr(e->name, ':');

	return !n || (strlen(e->name) == n && !memcmp(e->name, name, n)) ||
		(colon && strlen(colon + 1) == n && !memcmp(colon + 1, name, n));
}

/* Whether formats of tracepoints are known. */
static bool open_formats(struct keys *k)
{
	struct err err;

	return k->tracepoints.handle ||
		!tracepoints_open(&k->tracepoints,
			&k->recorded->trace.session.reader.info.tracing_data, &err);
}

static bool has_field(const struct keys *k, const char *event, size_t n, const char *field)
{
	vec_each(e, &k->recorded->trace.session.reader.events)
		if (e->attr.type == PERF_TYPE_TRACEPOINT && is_named(e, event, n) &&
			tracepoints_has_field(&k->tracepoints, e->attr.config, field))
			return true;
	return false;
}

/* Whether all events that have the field print it as a number. */
static bool is_number(struct keys *k, const char *field)
{
	vec_each(e, &k->recorded->trace.session.reader.events)
		if (e->attr.type == PERF_TYPE_TRACEPOINT &&
			tracepoints_has_field(&k->tracepoints, e->attr.config, field) &&
			!tracepoints_is_number(&k->tracepoints, e->attr.config, field,
				k->options->is_raw_trace))
			return false;
	return true;
}

/* Whether the recording's tracepoints have the field, or an imported profile the label. */
static bool is_known(struct keys *k, const char *own, const char *field)
{
	const struct import *in = &k->recorded->import;

	if (!recorded_has_trace(k->recorded))
		return in->importer->has_field && in->importer->has_field(in, own);
	return open_formats(k) &&
		has_field(k, own, field > own ? (size_t)(field - own) - 1 : 0, field);
}

/* "bytes_req", or "kmem:kmalloc.bytes_req"; of a profile from elsewhere a label of its own, such as "service". */
static const struct key *find_field(void *ctx, const char *name, size_t n)
{
	struct keys *k = ctx;
	const struct key *found = key_own_find(&k->own, name, n);
	char *own = found ? NULL : key_own_name(&k->own, name, n);
	const char *field;
	struct key *key;

	if (!own)
		return found;
	field = strchr(own, '.') ? strchr(own, '.') + 1 : own;
	if (!recorded_has_trace(k->recorded))
		field = own;
	if (!is_known(k, own, field))
		return NULL;
	key = key_own_add(&k->own, field);
	if (recorded_has_trace(k->recorded) && is_number(k, field)) {
		key->kind = CELL_COUNT;
		key->cell = key_cell_decimal;
	}
	return key;
}

/* ---- choosing ---- */

/* Names a field by its event where its own name is a key's: sched:sched_wakeup.comm is not whose sample it is. */
static void add_field(const char *event, const char *field, size_t n, struct str *text)
{
	str_add(text, text->n ? "," : "");
	if (key_find(field, n))
		str_addf(text, "%s.", event);
	str_addn(text, field, n);
}

/* Adds the fields of all tracepoints, or of the one of that name, each once. */
static void add_fields(struct keys *k, const char *event, size_t n, struct str *text)
{
	struct str fields = {0};

	vec_each(e, &k->recorded->trace.session.reader.events) {
		str_cut(&fields, 0);
		if (e->attr.type != PERF_TYPE_TRACEPOINT || !is_named(e, event, n) ||
			!tracepoints_add_fields(&k->tracepoints, e->attr.config, &fields))
			continue;
		for (const char *at = str_text(&fields); *at; at += *at == ',') {
			const size_t length = strcspn(at, ",");

			add_field(e->name, at, length, text);
			at += length;
		}
	}
	str_fini(&fields);
}

/* "trace_fields" and "sched:sched_switch.*" stand for several keys. */
static void add_words(struct keys *k, const char *text, struct str *ret)
{
	static const char all[] = "trace_fields";

	while (*text) {
		const size_t n = strcspn(text, ", ");
		const bool is_all = n == strlen(all) && !memcmp(text, all, n),
			   is_event = n > 2 && !memcmp(text + n - 2, ".*", 2);

		if ((is_all || is_event) && open_formats(k))
			add_fields(k, text, is_all ? 0 : n - 2, ret);
		else
			str_addf(ret, "%s%.*s", ret->n ? "," : "", (int)n, text);
		text += n;
		text += strspn(text, ", ");
	}
}

static const char sort_option[] = "--sort", fields_option[] = "--fields";

/* What is another figure in -s is said, as by perf 7.2: earlier ones make rows of it in -F, too. */
static void tell_averages(const struct keys *k, const char *text)
{
	for (size_t n; *text; text += n + (text[n] != '\0')) {
		n = strcspn(text, ", ");
		const char *average = key_field_average(text, n);

		if (average)
			log_note(k->recorded->log,
				"--fields: '%.*s' is the average, '%s'; in --sort it makes rows by the sum",
				(int)n, text, average);
	}
}

static int parse(struct keys *k, const char *option, const char *text, const struct key **keys,
	size_t *ret_n, struct err *err)
{
	const struct key_source more = {.ctx = k,
		.has_fields = option == fields_option,
		.find = find_field};
	struct str words = {0};
	int r;

	add_words(k, text, &words);
	if (more.has_fields)
		tell_averages(k, text);
	r = key_parse_list_of(str_text(&words), &more, keys, HIST_KEYS_MAX, ret_n, err);
	str_fini(&words);
	if (r)
		return err_prefix(err, "%s", option);
	for (size_t i = 0; i < *ret_n && !k->has_wall; i++)
		if (!strcmp(keys[i]->name, key_sampled_latency.name))
			keys[i] = &key_sampled_latency;
	return 0;
}

static bool is_in(const struct key *const *keys, size_t n, const struct key *key)
{
	for (size_t i = 0; i < n; i++)
		if (keys[i] == key)
			return true;
	return false;
}

static int add(const struct key **keys, size_t *n, const struct key *key, struct err *err)
{
	if (is_in(keys, *n, key))
		return 0;
	if (*n == HIST_KEYS_MAX)
		return err_set(err, ERR_INVAL, "more than %d keys", HIST_KEYS_MAX);
	keys[(*n)++] = key;
	return 0;
}

/* Whether the key is about the place of a sample itself: callers have no such value. */
static bool is_of_own_place(const struct key *key)
{
	return key->label == LABEL_IP || key->label == LABEL_FRAME ||
		key->label == LABEL_MAP_BYTES || key->label == LABEL_PARENT ||
		key->label == LABEL_ACCESS;
}

static int check_children(const struct keys *k, struct hist_options *h, struct err *err)
{
	for (size_t i = 0; i < h->n_keys; i++) {
		if (!is_of_own_place(h->keys[i]) || !h->has_children)
			continue;
		if (k->options->children > 0)
			return err_set(err, ERR_INVAL,
				"key '%s' describes where samples were taken, not their callers: add --no-children",
				h->keys[i]->name);
		h->has_children = false;
	}
	return 0;
}

/* Takes what a figure adds up. */
static int take_sums(struct hist_options *h, const struct key *key, struct err *err)
{
	bool has_room = true;

	if (key->label)
		has_room = hist_ask_sum(h, &(struct hist_sum){.label = key->label});
	for (size_t i = 0; i < key->n_sums; i++)
		has_room &= hist_ask_sum(h, &key->sums[i]);
	return has_room ? 0
			: err_set(err, ERR_INVAL, "more than %d sums of figures", HIST_SUMS_MAX);
}

static int take_code(struct keys *k, const struct key *key, struct err *err)
{
	if (k->has_wall || !blocks_are_there(&k->recorded->trace.session))
		return err_set(err, ERR_INVAL, "key '%s': %s", key->name,
			k->has_wall ? "it is not of time on and off the CPU: add --no-wall"
				    : NO_CYCLES);
	k->needs_ipc = true;
	return 0;
}

static bool has_functions(const struct hist_options *h)
{
	for (size_t i = 0; i < h->n_keys; i++)
		if (h->keys[i]->frame == KEY_SYMBOL)
			return true;
	return false;
}

/* Takes a key to group by, or a figure. */
static int take_key(struct keys *k, struct hist_options *h, const struct key *key, struct err *err)
{
	if (key_is_of_branches(key) && !k->has_branches)
		return err_set(err, ERR_INVAL, "key '%s': branches are not counted%s", key->name,
			k->options->is_mem_mode || k->options->branches == 0
				? ""
				: ": the recording has none, record with -b");
	if ((key->is_of_blocks || key->label == LABEL_BLOCK) && !k->has_blocks)
		return err_set(err, ERR_INVAL,
			"key '%s': cycles between branches are counted with --total-cycles",
			key->name);
	if (key->is_of_history && !k->has_history)
		return err_set(err, ERR_INVAL,
			"key '%s': the branches before samples are counted with --branch-history",
			key->name);
	k->needs_history |= key->is_of_history;
	if (key->is_of_code && take_code(k, key, err))
		return err->code;
	if (key->has_parts && recorded_check_label(k->recorded, key->sums->label, err))
		return err_prefix(err, "key '%s'", key->name);
	/* perf's default keys for memory include latencies that not all CPUs report. */
	if (key->label && !(k->options->is_mem_mode && (!k->options->sort || k->sort.n)) &&
		recorded_check_label(k->recorded, key->label, err))
		return err_prefix(err, "key '%s'", key->name);
	if (!key->is_value)
		return add(h->keys, &h->n_keys, key, err);
	return take_sums(h, key, err);
}

/* The shares that stand before all other columns, in their order. */
struct shares {
	struct {
		const struct key *key;
		bool is_implied; /* it is there, and sorts rows, without being asked for */
	} of[4];
	size_t n;
};

static void add_share(struct shares *s, const struct key *key, bool is_implied)
{
	s->of[s->n].key = key;
	s->of[s->n++].is_implied = is_implied;
}

/*
 * As in perf, who names latency in -s names all shares, and --latency puts each latency before the overhead. In wall-clock
 * time, latency is another figure.
 */
static void choose_shares(const struct keys *k, const struct hist_options *h,
	const struct key *const *given, size_t n, struct shares *ret)
{
	const bool is_by_latency = k->options->is_by_latency && !k->has_wall && !k->has_blocks,
		   is_implied = !has_own_columns(k) &&
		(is_by_latency ||
			(!is_in(given, n, &key_sampled_latency) &&
				!is_in(given, n, key_total_latency)));
	const struct key *const order[2][4] = {
		{key_total, key_total_latency, key_self, &key_sampled_latency},
		{key_total_latency, key_total, &key_sampled_latency, key_self}};

	*ret = (struct shares){0};
	for (size_t i = 0; i < 4; i++) {
		const struct key *key = order[is_by_latency][i];
		const bool is_of_total = key == key_total || key == key_total_latency,
			   is_of_latency = key == &key_sampled_latency || key == key_total_latency;

		add_share(ret, key,
			is_implied && (h->has_children || !is_of_total) &&
				(is_by_latency || !is_of_latency));
	}
}

/*
 * Rows are sorted by the keys of -s, then by those of -F, and before them by the shares, unless these are among the keys
 * or -F is given.
 */
static int choose_order(const struct keys *k, struct hist_options *h, const struct shares *shares,
	const struct key *const *given, size_t n, const struct key *const *fields, size_t n_fields,
	struct err *err)
{
	/* The rows of wall-clock time have their own order. */
	if (k->has_wall)
		return 0;
	for (size_t i = 0; i < shares->n; i++)
		if (shares->of[i].is_implied && !is_in(given, n, shares->of[i].key) &&
			add(h->order, &h->n_order, shares->of[i].key, err))
			return err->code;
	for (size_t i = 0; i < n; i++)
		if (add(h->order, &h->n_order, given[i], err))
			return err->code;
	for (size_t i = 0; i < n_fields && h->n_order < HIST_KEYS_MAX; i++)
		if (add(h->order, &h->n_order, fields[i], err))
			return err->code;
	return 0;
}

static int add_all(struct histrows_options *t, const struct key *const *keys, size_t n,
	struct err *err)
{
	for (size_t i = 0; i < n; i++)
		if (add(t->columns, &t->n_columns, keys[i], err))
			return err->code;
	return 0;
}

/* Whether a share stands before the other columns: where it is implied, or where -s names the latency, and this. */
static bool leads(const struct shares *s, size_t i, const struct key *const *given, size_t n)
{
	return s->of[i].is_implied ||
		(is_in(given, n, s->of[i].key) &&
			(is_in(given, n, &key_sampled_latency) ||
				is_in(given, n, key_total_latency)));
}

static int choose_columns(const struct keys *k, const struct shares *shares,
	struct histrows_options *t, const struct key *const *fields, size_t n_fields,
	const struct key *const *given, size_t n, struct err *err)
{
	const struct keys_options *o = k->options;
	static const char *const of_wall[] = {"latency", "wall_cpu_time", "wall_runnable_time",
		"wall_blocked_time"};
	static const char *const of_blocks[] = {"cycles_share", "cycles_sum",
		"cycles_average_share", "cycles_average"};
	bool is_strict = has_own_columns(k),
	     has_shares = !is_strict && !k->has_wall && !k->has_blocks;
	const struct key *first[] = {o->has_modes && has_shares ? key_find("overhead_sys", 12)
								: NULL,
		o->has_modes && has_shares ? key_find("overhead_us", 11) : NULL,
		o->has_intervals ? &confidence_column : NULL,
		o->has_counts ? key_find("sample", 6) : NULL,
		o->has_periods ? key_find("period", 6) : NULL};

	if (is_strict && add_all(t, fields, n_fields, err))
		return err->code;
	for (size_t i = 0; k->has_wall && !is_strict && i < ARRAY_SIZE(of_wall); i++)
		if (add(t->columns, &t->n_columns, key_find(of_wall[i], strlen(of_wall[i])), err))
			return err->code;
	for (size_t i = 0; k->has_blocks && !is_strict && i < ARRAY_SIZE(of_blocks); i++)
		if (add(t->columns, &t->n_columns, key_find(of_blocks[i], strlen(of_blocks[i])),
			    err))
			return err->code;
	for (size_t i = 0; has_shares && i < shares->n; i++)
		if (leads(shares, i, given, n) &&
			add(t->columns, &t->n_columns, shares->of[i].key, err))
			return err->code;
	for (size_t i = 0; i < ARRAY_SIZE(first); i++)
		if (first[i] && add(t->columns, &t->n_columns, first[i], err))
			return err->code;
	return add_all(t, fields, n_fields, err) || add_all(t, given, n, err) ? err->code : 0;
}

int keys_choose(struct keys *k, struct hist_options *hist, struct histrows_options *rows,
	struct err *err)
{
	const struct keys_options *o = k->options;
	const struct key *fields[HIST_KEYS_MAX], *given[HIST_KEYS_MAX];
	const struct key *parent = key_find("parent", 6);
	size_t n_fields = 0, n = 0;
	struct shares shares;

	if (o->fields &&
		parse(k, fields_option, o->fields + is_more(o->fields), fields, &n_fields, err))
		return err->code;
	if (o->sort || !has_own_columns(k)) {
		if (parse(k, sort_option, keys_sort(k), given, &n, err))
			return err->code;
	} else {
		memcpy(given, fields, n_fields * sizeof(*fields));
		n = n_fields;
	}
	if (o->parent && add(given, &n, parent, err))
		return err->code;
	/* Every shown key must have one value for each row. */
	for (size_t i = 0; i < n; i++)
		if (take_key(k, hist, given[i], err))
			return err->code;
	for (size_t i = 0; i < n_fields; i++)
		if (take_key(k, hist, fields[i], err))
			return err->code;
	/* Figures of -F alone are those of all samples: one row. */
	if (!hist->n_keys && (o->sort || !has_own_columns(k)))
		return err_set(err, ERR_INVAL, "--sort: a key to group by is needed, like symbol");
	if (k->needs_ipc && !has_functions(hist))
		return err_set(err, ERR_INVAL, "key 'ipc_lbr' needs rows by symbol");
	if (check_children(k, hist, err))
		return err->code;
	k->needs_parent |= is_in(hist->keys, hist->n_keys, parent);
	if (k->needs_parent &&
		matching_compile(&k->parent, o->parent ? o->parent : PARENT_DEFAULT, err))
		return err_prefix(err, "--parent");
	k->has_expression = k->needs_parent;
	choose_shares(k, hist, given, n, &shares);
	for (size_t i = 0; i < shares.n; i++)
		if (shares.of[i].is_implied && take_key(k, hist, shares.of[i].key, err))
			return err->code;
	return choose_order(k, hist, &shares, given, n, fields, n_fields, err) ||
			choose_columns(k, &shares, rows, fields, n_fields, given, n, err)
		? err->code
		: 0;
}

void keys_tell(const struct keys *k, const struct hist_options *hist,
	struct recorded_options *reading)
{
	reading->labels |= key_labels(hist->keys, hist->n_keys);
	for (size_t i = 0; i < hist->n_sums; i++)
		reading->labels |= LABEL_BIT(hist->sums[i].label) & ~LABEL_BIT(LABEL_NONE);
	if (k->needs_parent)
		reading->labels |= LABEL_BIT(LABEL_PARENT);
	if (k->needs_parent || k->needs_history)
		reading->has_stacks = keys_have_stacks(k);
	reading->has_stacks &= !k->has_branches;
	reading->has_branches = k->has_branches;
	reading->has_blocks = k->has_blocks;
	reading->is_weighed = k->options->is_mem_mode;
	reading->skid = typing_skid(k->options->skid);
	reading->has_raw_fields = k->options->is_raw_trace;
	reading->fields = k->own.fields;
	reading->has_history = k->has_history;
	reading->naming.source =
		k->has_history ? NAMING_LINES : key_naming_source(hist->keys, hist->n_keys);
}

void keys_finish(const struct keys *k, struct profile *p, bool is_relative)
{
	if (!k->needs_parent)
		return;
	parent_find(p, &k->parent);
	if (k->options->drops_others)
		parent_drop_others(p, is_relative);
}

void keys_fini(struct keys *k)
{
	if (k->has_expression)
		regfree(&k->parent);
	tracepoints_close(&k->tracepoints);
	str_fini(&k->sort);
}
