#include "profile/key.h"

#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/num.h"
#include "event/abi.h"
#include "profile/key_wall.h"

static int compare_u64(u64 a, u64 b)
{
	return a < b ? -1 : a > b;
}

static const struct profile_symbol *symbol_of(const struct profile *p, const struct hist_entry *e)
{
	return &p->symbols.at[e->symbol];
}

/* ---- figures ---- */

static void print_share(const struct hist *h, u64 period, struct str *text)
{
	num_add_percent(text, period, h->all.period);
}

static void print_overhead(const struct hist *h, const struct hist_entry *e, struct str *text)
{
	print_share(h, e->self.period, text);
}

static void print_children(const struct hist *h, const struct hist_entry *e, struct str *text)
{
	print_share(h, h->options->has_children ? e->total.period : e->self.period, text);
}

static void print_samples(const struct hist *h, const struct hist_entry *e, struct str *text)
{
	(void)h;
	num_add_u64(text, e->self.n_samples);
}

static void print_period(const struct hist *h, const struct hist_entry *e, struct str *text)
{
	(void)h;
	num_add_u64(text, e->self.period);
}

static void print_system(const struct hist *h, const struct hist_entry *e, struct str *text)
{
	print_share(h, e->self_in[HIST_SYSTEM], text);
}

static void print_user(const struct hist *h, const struct hist_entry *e, struct str *text)
{
	print_share(h, e->self_in[HIST_USER], text);
}

static void print_guest_system(const struct hist *h, const struct hist_entry *e, struct str *text)
{
	print_share(h, e->self_in[HIST_GUEST_SYSTEM], text);
}

static void print_guest_user(const struct hist *h, const struct hist_entry *e, struct str *text)
{
	print_share(h, e->self_in[HIST_GUEST_USER], text);
}

/* ---- context ---- */

static const char *comm_of(const struct hist_entry *e)
{
	return (const char *)(uintptr_t)e->labels[LABEL_COMM];
}

static int compare_comm(const struct profile *p, const u64 *a, const u64 *b)
{
	(void)p;
	return strcmp((const char *)(uintptr_t)a[LABEL_COMM],
		(const char *)(uintptr_t)b[LABEL_COMM]);
}

static void print_comm(const struct hist *h, const struct hist_entry *e, struct str *text)
{
	(void)h;
	str_add_safe(text, comm_of(e), strlen(comm_of(e)));
}

static int compare_tid(const struct profile *p, const u64 *a, const u64 *b)
{
	(void)p;
	return compare_u64(a[LABEL_TID], b[LABEL_TID]);
}

static int compare_pid(const struct profile *p, const u64 *a, const u64 *b)
{
	(void)p;
	return compare_u64(a[LABEL_PID], b[LABEL_PID]);
}

static void print_task(const struct profile *p, u32 tid, struct str *text)
{
	const char *comm = tid ? "" : "swapper";

	vec_each(task, &p->tasks)
		if (task->tid == tid && *task->comm)
			comm = task->comm;
	/* Tasks that are just ending have the number -1. */
	str_addf(text, "%7d:", (s32)tid);
	if (*comm)
		str_add_safe(text, comm, strlen(comm));
	else
		str_addf(text, ":%d", (s32)tid);
}

static void print_tid(const struct hist *h, const struct hist_entry *e, struct str *text)
{
	print_task(h->profile, e->labels[LABEL_TID], text);
}

static void print_pid(const struct hist *h, const struct hist_entry *e, struct str *text)
{
	print_task(h->profile, e->labels[LABEL_PID], text);
}

static int compare_cpu(const struct profile *p, const u64 *a, const u64 *b)
{
	(void)p;
	return compare_u64((u32)a[LABEL_CPU], (u32)b[LABEL_CPU]);
}

static void print_cpu(const struct hist *h, const struct hist_entry *e, struct str *text)
{
	(void)h;
	str_addf(text, "%.3d", (s32)(u32)e->labels[LABEL_CPU]); /* -001: not recorded */
}

static int compare_time(const struct profile *p, const u64 *a, const u64 *b)
{
	(void)p;
	return compare_u64(a[LABEL_TIME], b[LABEL_TIME]);
}

static void print_time(const struct hist *h, const struct hist_entry *e, struct str *text)
{
	const u64 us = e->labels[LABEL_TIME] / 1000;

	(void)h;
	str_addf(text, "%llu.%06llu", (unsigned long long)(us / 1000000),
		(unsigned long long)(us % 1000000));
}

static int compare_weight(const struct profile *p, const u64 *a, const u64 *b)
{
	(void)p;
	return compare_u64(a[LABEL_WEIGHT], b[LABEL_WEIGHT]);
}

static void print_local_weight(const struct hist *h, const struct hist_entry *e, struct str *text)
{
	(void)h;
	num_add_u64(text, e->labels[LABEL_WEIGHT]);
}

static void print_weight(const struct hist *h, const struct hist_entry *e, struct str *text)
{
	(void)h;
	num_add_u64(text, e->labels[LABEL_WEIGHT] * e->self.n_samples);
}

/* Pages come in powers of two. */
static void print_page_size(u64 size, struct str *text)
{
	static const char units[] = "BKMGT";
	size_t unit = 0;

	if (!size) {
		str_add(text, "N/A");
		return;
	}
	for (; size >= 1024 && unit + 2 < sizeof(units); size /= 1024)
		unit++;
	num_add_u64(text, size);
	str_addc(text, units[unit]);
}

static int compare_code_page(const struct profile *p, const u64 *a, const u64 *b)
{
	(void)p;
	return compare_u64(a[LABEL_CODE_PAGE], b[LABEL_CODE_PAGE]);
}

static void print_code_page(const struct hist *h, const struct hist_entry *e, struct str *text)
{
	(void)h;
	print_page_size(e->labels[LABEL_CODE_PAGE], text);
}

static int compare_data_page(const struct profile *p, const u64 *a, const u64 *b)
{
	(void)p;
	return compare_u64(a[LABEL_DATA_PAGE], b[LABEL_DATA_PAGE]);
}

static void print_data_page(const struct hist *h, const struct hist_entry *e, struct str *text)
{
	(void)h;
	print_page_size(e->labels[LABEL_DATA_PAGE], text);
}

/* ---- frames ---- */

static const char *dso_of(const struct profile *p, const struct hist_entry *e)
{
	return p->dsos.at[symbol_of(p, e)->dso].name;
}

static void print_dso(const struct hist *h, const struct hist_entry *e, struct str *text)
{
	const char *name = dso_of(h->profile, e);

	str_add_safe(text, name, strlen(name));
}

static char mode_letter(u8 mode)
{
	switch (mode) {
	case PERF_RECORD_MISC_KERNEL:
		return 'k';
	case PERF_RECORD_MISC_HYPERVISOR:
		return 'H';
	case PERF_RECORD_MISC_GUEST_KERNEL:
		return 'g';
	case PERF_RECORD_MISC_GUEST_USER:
		return 'u';
	}
	return '.';
}

void key_add_symbol(const struct profile *p, const struct profile_symbol *s, bool is_padded,
	struct str *text)
{
	(void)p;
	if (s->name) {
		str_add_safe(text, s->name, strlen(s->name));
		if (s->is_inlined)
			str_add(text, " (inlined)");
		return;
	}
	str_add(text, "0x");
	num_add_hex(text, s->start, is_padded ? 16 : 1);
}

static void print_symbol(const struct hist *h, const struct hist_entry *e, struct str *text)
{
	const struct profile_symbol *s = symbol_of(h->profile, e);

	char level[] = {'[', mode_letter(s->mode), ']', ' '};

	str_addn(text, level, sizeof(level));
	key_add_symbol(h->profile, s, true, text);
}

static void print_source(const char *source, struct str *text)
{
	if (source && *source)
		str_add_safe(text, source, strlen(source));
	else
		str_add(text, "[unknown]");
}

static void print_line(const struct hist *h, const struct hist_entry *e, struct str *text)
{
	print_source(symbol_of(h->profile, e)->line, text);
}

static void print_file(const struct hist *h, const struct hist_entry *e, struct str *text)
{
	print_source(symbol_of(h->profile, e)->file, text);
}

static void print_symbol_size(const struct hist *h, const struct hist_entry *e, struct str *text)
{
	const struct profile_symbol *s = symbol_of(h->profile, e);

	if (s->end > s->start)
		num_add_u64(text, s->end - s->start);
	else
		str_add(text, "unknown");
}

/* ---- the table ---- */

/* clang-format off: a row a fact */
static const struct key keys[] = {
	{.name = "overhead_children",
		.header = "Children",
		.help = "share of the samples in it and in what it called",
		.is_value = true,
		.min_width = 8,
		.print = print_children},
	{.name = "overhead",
		.header = "Overhead",
		.header_with_children = "Self",
		.help = "share of the samples in it",
		.is_value = true,
		.min_width = 8,
		.print = print_overhead},
	{.name = "overhead_sys",
		.header = "sys",
		.help = "share of the samples in it that were taken in the kernel",
		.is_value = true,
		.min_width = 8,
		.print = print_system},
	{.name = "overhead_us",
		.header = "usr",
		.help = "share of those in user code",
		.is_value = true,
		.min_width = 8,
		.print = print_user},
	{.name = "overhead_guest_sys",
		.header = "guest sys",
		.help = "share of those in kernels of guests",
		.is_value = true,
		.min_width = 9,
		.print = print_guest_system},
	{.name = "overhead_guest_us",
		.header = "guest usr",
		.help = "share of those in programs of guests",
		.is_value = true,
		.min_width = 9,
		.print = print_guest_user},
	{.name = "sample",
		.header = "Samples",
		.help = "number of samples in it",
		.is_value = true,
		.min_width = 12,
		.print = print_samples},
	{.name = "period",
		.header = "Period",
		.help = "events (or ns) its samples stand for",
		.is_value = true,
		.min_width = 12,
		.print = print_period},
	{.name = "latency",
		.header = "Latency",
		.help = "share of the elapsed time that went by because of it",
		.is_value = true,
		.is_wall = true,
		.min_width = 8,
		.print = key_latency},
	{.name = "latency_time",
		.header = "Latency ms",
		.help = "the same in milliseconds",
		.is_value = true,
		.is_wall = true,
		.min_width = 8,
		.print = key_latency_ms},
	{.name = "wall",
		.header = "Wall",
		.help = "share of all threads' time, on and off CPUs",
		.is_value = true,
		.is_wall = true,
		.min_width = 8,
		.print = key_wall},
	{.name = "wall_time",
		.header = "Wall ms",
		.help = "the same in milliseconds",
		.is_value = true,
		.is_wall = true,
		.min_width = 8,
		.print = key_wall_ms},
	{.name = "wall_cpu",
		.header = "CPU",
		.help = "share of all threads' time that they ran in it",
		.is_value = true,
		.is_wall = true,
		.min_width = 8,
		.print = key_wall_cpu},
	{.name = "wall_cpu_time",
		.header = "CPU ms",
		.help = "the same in milliseconds",
		.is_value = true,
		.is_wall = true,
		.min_width = 8,
		.print = key_wall_cpu_ms},
	{.name = "wall_runnable",
		.header = "Runnable",
		.help = "share of all threads' time that they waited for a CPU in it",
		.is_value = true,
		.is_wall = true,
		.min_width = 8,
		.print = key_wall_runnable},
	{.name = "wall_runnable_time",
		.header = "Runnable ms",
		.help = "the same in milliseconds",
		.is_value = true,
		.is_wall = true,
		.min_width = 8,
		.print = key_wall_runnable_ms},
	{.name = "wall_blocked",
		.header = "Blocked",
		.help = "share of all threads' time that they were blocked in it",
		.is_value = true,
		.is_wall = true,
		.min_width = 8,
		.print = key_wall_blocked},
	{.name = "wall_blocked_time",
		.header = "Blocked ms",
		.help = "the same in milliseconds",
		.is_value = true,
		.is_wall = true,
		.min_width = 8,
		.print = key_wall_blocked_ms},
	{.name = "comm",
		.header = "Command",
		.help = "name of the thread when it was sampled",
		.labels = 1 << LABEL_COMM,
		.compare = compare_comm,
		.print = print_comm},
	{.name = "pid",
		.alias = "tid",
		.header = "    Pid:Command",
		.help = "thread: its number and last name",
		.labels = 1 << LABEL_TID,
		.compare = compare_tid,
		.print = print_tid},
	{.name = "tgid",
		.header = "   Tgid:Command",
		.help = "process: its number and last name",
		.labels = 1 << LABEL_PID,
		.compare = compare_pid,
		.print = print_pid},
	{.name = "cpu",
		.header = "CPU",
		.help = "processor that was sampled",
		.labels = 1 << LABEL_CPU,
		.min_width = 3,
		.compare = compare_cpu,
		.print = print_cpu},
	{.name = "time",
		.header = "Time",
		.help = "when it was sampled, by --time-quantum",
		.labels = 1 << LABEL_TIME,
		.min_width = 12,
		.compare = compare_time,
		.print = print_time},
	{.name = "local_weight",
		.header = "Local Weight",
		.help = "what the processor says a sample cost",
		.labels = 1 << LABEL_WEIGHT,
		.compare = compare_weight,
		.print = print_local_weight},
	{.name = "weight",
		.header = "Weight",
		.help = "that, times the number of samples",
		.labels = 1 << LABEL_WEIGHT,
		.compare = compare_weight,
		.print = print_weight},
	{.name = "code_page_size",
		.header = "Code Page Size",
		.help = "of the page that the code lies in",
		.labels = 1 << LABEL_CODE_PAGE,
		.compare = compare_code_page,
		.print = print_code_page},
	{.name = "data_page_size",
		.header = "Data Page Size",
		.help = "of the page that the code accessed",
		.labels = 1 << LABEL_DATA_PAGE,
		.compare = compare_data_page,
		.print = print_data_page},
	{.name = "dso",
		.header = "Shared Object",
		.help = "program, library, module or kernel the code is from",
		.frame = KEY_DSO,
		.print = print_dso},
	{.name = "symbol",
		.alias = "sym",
		.header = "Symbol",
		.help = "function; [k] kernel, [.] user",
		.frame = KEY_SYMBOL,
		.print = print_symbol},
	{.name = "symbol_size",
		.alias = "sym_size",
		.header = "Symbol size",
		.help = "bytes of code of the function",
		.is_right = true,
		.frame = KEY_SIZE,
		.print = print_symbol_size},
	{.name = "srcline",
		.header = "Source:Line",
		.help = "line of source, or place in the function if it is not known",
		.frame = KEY_LINE,
		.print = print_line},
	{.name = "srcfile",
		.header = "Source File",
		.help = "file of source",
		.frame = KEY_FILE,
		.print = print_file},
};
/* clang-format on */

static bool is_word(const char *name, const char *text, size_t n)
{
	return name && !strncmp(name, text, n) && !name[n];
}

const struct key *key_find(const char *name, size_t n)
{
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (is_word(keys[i].name, name, n) || is_word(keys[i].alias, name, n))
			return &keys[i];
	return NULL;
}

const struct key *key_at(size_t i)
{
	return i < ARRAY_SIZE(keys) ? &keys[i] : NULL;
}

/* ---- ranks ---- */

struct ranking {
	const struct profile *profile;
	const struct hist *hist;
	const struct key *key;
};

static int compare_groups(const void *a, const void *b, void *ctx)
{
	const struct ranking *r = ctx;

	return r->key->compare(r->profile, r->hist->groups.at[*(const u32 *)a].labels,
		r->hist->groups.at[*(const u32 *)b].labels);
}

static int compare_dsos(const void *a, const void *b, void *ctx)
{
	const struct ranking *r = ctx;

	return strcmp(r->profile->dsos.at[*(const u32 *)a].name,
		r->profile->dsos.at[*(const u32 *)b].name);
}

static const char *source_of(const struct ranking *r, u32 symbol)
{
	const struct profile_symbol *s = &r->profile->symbols.at[symbol];
	const char *source = r->key->frame == KEY_LINE ? s->line : s->file;

	return source ? source : "";
}

static int compare_sizes(const void *a, const void *b, void *ctx)
{
	const struct ranking *r = ctx;
	const struct profile_symbol *x = &r->profile->symbols.at[*(const u32 *)a];
	const struct profile_symbol *y = &r->profile->symbols.at[*(const u32 *)b];

	return compare_u64(x->end - x->start, y->end - y->start);
}

static int compare_sources(const void *a, const void *b, void *ctx)
{
	const struct ranking *r = ctx;

	return strcmp(source_of(r, *(const u32 *)a), source_of(r, *(const u32 *)b));
}

static int compare_names(const void *a, const void *b, void *ctx)
{
	const struct ranking *r = ctx;
	const struct profile_symbol *x = &r->profile->symbols.at[*(const u32 *)a];
	const struct profile_symbol *y = &r->profile->symbols.at[*(const u32 *)b];
	int c = strcmp(x->name, y->name);

	if (!c)
		c = strcmp(r->profile->dsos.at[x->dso].name, r->profile->dsos.at[y->dso].name);
	if (!c)
		c = compare_u64(x->start, y->start);
	/* Functions of one start differ in lines, or one of them is inlined. */
	if (!c && x->line && y->line)
		c = strcmp(x->line, y->line);
	if (!c && x->file && y->file)
		c = strcmp(x->file, y->file);
	return c ? c : (int)x->is_inlined - (int)y->is_inlined;
}

/* Ranks 0 .. n - 1 by a comparison. */
static u32 *rank_by(size_t n, int (*compare)(const void *a, const void *b, void *ctx),
	struct ranking *r)
{
	u32 *order = mem_alloc((n + 1) * sizeof(*order)),
	    *ranks = mem_zalloc((n + 1) * sizeof(*ranks)), rank = 0;

	for (size_t i = 0; i < n; i++)
		order[i] = i;
	qsort_r(order, n, sizeof(*order), compare, r);
	for (size_t i = 0; i < n; i++) {
		rank += i && compare(&order[i - 1], &order[i], r) != 0;
		ranks[order[i]] = rank;
	}
	mem_free(order);
	return ranks;
}

/* Puts addresses that are equal in the order of their DSOs' names. */
static void order_by_dso(const struct profile *p, struct sort_item *items, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct sort_item item = items[i];
		const char *name = p->dsos.at[p->symbols.at[item.value].dso].name;
		size_t j = i;

		for (; j > 0 && items[j - 1].key == item.key &&
			strcmp(p->dsos.at[p->symbols.at[items[j - 1].value].dso].name, name) > 0;
			j--)
			items[j] = items[j - 1];
		items[j] = item;
	}
}

/*
 * Functions by name; addresses without one behind them: of those there may be many, and numbers
 * sort fast.
 */
static u32 *rank_symbols(struct ranking *r)
{
	const struct profile *p = r->profile;
	u32 *named = mem_alloc(p->symbols.n * sizeof(*named)),
	    *ranks = mem_zalloc(p->symbols.n * sizeof(*ranks));
	struct sort_item *nameless = mem_alloc(p->symbols.n * sizeof(*nameless));
	size_t n_named = 0, n_nameless = 0;

	for (u32 i = 1; i < p->symbols.n; i++) {
		if (p->symbols.at[i].name)
			named[n_named++] = i;
		else
			nameless[n_nameless++] = (struct sort_item){p->symbols.at[i].start, i};
	}
	qsort_r(named, n_named, sizeof(*named), compare_names, r);
	sort_by_key(nameless, n_nameless);
	order_by_dso(p, nameless, n_nameless);
	for (size_t i = 0; i < n_named; i++)
		ranks[named[i]] = i;
	for (size_t i = 0; i < n_nameless; i++)
		ranks[nameless[i].value] = n_named + i;
	mem_free(named);
	mem_free(nameless);
	return ranks;
}

u32 *key_ranks(const struct key *key, const struct hist *h)
{
	struct ranking r = {h->profile, h, key};

	if (key->frame == KEY_SYMBOL)
		return rank_symbols(&r);
	if (key->frame == KEY_DSO)
		return rank_by(h->profile->dsos.n, compare_dsos, &r);
	if (key->frame == KEY_SIZE)
		return rank_by(h->profile->symbols.n, compare_sizes, &r);
	if (key->frame == KEY_LINE || key->frame == KEY_FILE)
		return rank_by(h->profile->symbols.n, compare_sources, &r);
	return rank_by(h->groups.n, compare_groups, &r);
}

/* ---- lists of keys ---- */

static int unknown_key(const char *word, struct err *err)
{
	struct nearest near = {.typed = word};
	struct str hint = {0};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		nearest_offer(&near, keys[i].name);
		if (keys[i].alias)
			nearest_offer(&near, keys[i].alias);
	}
	nearest_add_hint(&near, &hint);
	if (!near.best) {
		str_add(&hint, "; known are");
		for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
			str_addf(&hint, " %s", keys[i].name);
	}
	err_set(err, ERR_INVAL, "there is no key '%s'%s", word, str_text(&hint));
	str_fini(&hint);
	return err->code;
}

int key_parse_list(const char *text, const struct key **ret_keys, size_t max, size_t *ret_n,
	struct err *err)
{
	size_t n = 0;

	while (*text) {
		size_t length = strcspn(text, ", ");
		const struct key *key = key_find(text, length);

		if (!key) {
			char word[64];

			memcpy(word, text, MIN(length, sizeof(word) - 1));
			word[MIN(length, sizeof(word) - 1)] = '\0';
			return unknown_key(word, err);
		}
		if (n == max)
			return err_set(err, ERR_INVAL, "more than %zu keys", max);
		ret_keys[n++] = key;
		text += length;
		text += strspn(text, ", ");
	}
	if (!n)
		return err_set(err, ERR_INVAL, "a list of keys is needed, like comm,dso,symbol");
	*ret_n = n;
	return 0;
}
