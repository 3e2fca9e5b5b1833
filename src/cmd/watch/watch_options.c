#include "cmd/watch/watch_options.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "fleet/storewriter.h"

#define AT(member)     offsetof(struct watch_options, member)
#define RECORD(member) AT(record.member)

#define NS 1000000000ULL

/* Columns of a batch that are not the user's: service, comm. */
enum { OWN_COLUMNS = 2 };

static int set_every(void *target, const char *value, struct err *err)
{
	struct watch_options *o = target;
	u64 ns;

	if (record_parse_time(value, &ns, err))
		return err->code;
	if (ns < NS || ns > STORE_HOUR_NS)
		return err_set(err, ERR_INVAL, "'%.40s' is not between 1s and 1h", value);
	o->every_ns = ns;
	return 0;
}

/* clang-format off: rows of an option table */
const struct opt watch_option_rows[] = {
	{0, NULL, OPT_TITLE, 0, NULL, "What to measure"},
	{'e', "event", OPT_CALL, 0, "EVENT",
		"events to sample; default cycles, or cpu-clock without a PMU", .flags = OPT_COMMON,
		.call = event_words_event},
	{0, "filter", OPT_CALL, 0, "FILTER",
		"restrict the preceding events to those that match FILTER",
		.call = event_words_filter},
	{0, "events-dir", OPT_STR, offsetof(struct event_words, folder), "DIR",
		"look up event names in the vendors' tables in DIR"},
	{'F', "freq", OPT_STR, RECORD(frequency), "HZ", "samples per second and CPU; default 19",
		.flags = OPT_COMMON},
	{'c', "count", OPT_U64, RECORD(period), "N", "take one sample every N events instead",
		.min = 1},
	{'g', NULL, OPT_BOOL, RECORD(callers.has_chains), NULL,
		"with call chains, by frame pointers (default; --no-call-graph: without)"},
	{0, "call-graph", OPT_CALL, RECORD(callers.has_chains), "HOW",
		"fp[,N], dwarf[,SIZE] or lbr: how callers are found",
		.call = record_set_call_graph},
	{0, "max-overhead", OPT_CALL, 0, "PCT",
		"sample less often when watching takes more than this share of the CPUs; default 0.5",
		.flags = OPT_COMMON, .call = record_set_overhead},

	{0, NULL, OPT_TITLE, 0, NULL, "What to measure it on"},
	{'a', "all-cpus", OPT_BOOL, RECORD(target.all_cpus), NULL,
		"everything that runs, on all CPUs (default)", .flags = OPT_COMMON},
	{'C', "cpu", OPT_STR, RECORD(target.cpus), "LIST", "only these CPUs, like 0-3,8"},
	{'p', "pid", OPT_STR, RECORD(target.pids), "PID,...",
		"running processes with all their threads", .flags = OPT_COMMON},
	{'u', "uid", OPT_STR, RECORD(target.users), "USER",
		"everything that runs as this user (name or number)"},
	{'G', "cgroup", OPT_LIST, AT(cgroups), "NAME",
		"only what runs in this cgroup; may be repeated"},
	{0, "unit", OPT_LIST, AT(units), "UNIT",
		"only what runs in this unit of systemd, like nginx.service; may be repeated",
		.flags = OPT_COMMON},

	{0, NULL, OPT_TITLE, 0, NULL, "What to keep"},
	{0, "every", OPT_CALL, 0, "TIME", "an aggregate for each so long, 1s to 1h; default 60s",
		.call = set_every},
	{0, "store", OPT_STR, AT(store), "DIR",
		"keep them in this folder; default /var/lib/pace for root, else ~/.local/state/pace",
		.flags = OPT_COMMON},
	{0, "size", OPT_STR, AT(size), "SIZE",
		"keep so many bytes at most, like 1G; the oldest go first; default 256M",
		.flags = OPT_COMMON},
	{0, "odd", OPT_STR, AT(odd), "SIZE",
		"of that, keep so many bytes of recordings of odd minutes, with all their samples; default a quarter; 0: none"},
	{0, "service", OPT_STR, AT(service), "NAME",
		"count everything as this service; default the unit, the container, or the thread's name"},
	{0, "label", OPT_LIST, AT(labels), "KEY=VALUE",
		"a label of everything that is counted, like zone=b; may be repeated"},

	{0, NULL, OPT_TITLE, 0, NULL, "Where to send them"},
	{0, "push", OPT_STR, AT(push), "URL",
		"send each aggregate to the tables of a fleet, as 'pace push' does; what cannot be sent waits in the store"},
	{0, "user", OPT_STR, AT(secrets.user), "NAME", "who sends; default PACE_FLEET_USER"},
	{0, "password-file", OPT_STR, AT(secrets.password_file), "FILE",
		"the password is the first line of FILE; default PACE_FLEET_PASSWORD_FILE"},
	{0, "token-file", OPT_STR, AT(secrets.token_file), "FILE",
		"a token instead of user and password; default PACE_FLEET_TOKEN_FILE"},
	{0, "ca", OPT_STR, AT(secrets.authority), "FILE",
		"certificates that the server's is checked with; default PACE_FLEET_CA, or the system's"},

	{0, NULL, OPT_TITLE, 0, NULL, "How"},
	{0, "status", OPT_BOOL, AT(is_status), NULL,
		"say whether a watch is running, what it takes and what the store has; status 1: none is running",
		.flags = OPT_COMMON},
	{'m', "mmap-pages", OPT_STR, RECORD(rings.pages), "PAGES",
		"size of each CPU's ring, in pages, or in bytes with B, K, M, G"},
	{'v', "verbose", OPT_COUNT, RECORD(verbose), NULL,
		"say how events were opened, and what each minute had"},
	{0, NULL, OPT_TITLE, 0, NULL, "Names"},
	{'k', "vmlinux", OPT_STR, AT(symbols.vmlinux), "FILE",
		"take the kernel's functions from this ELF file"},
	SYMBOL_NAME_ROWS(watch_options),
	SYMBOL_MADE_ROW(watch_options),
	{.kind = OPT_END},
};
/* clang-format on */

void watch_options_init(struct watch_options *o)
{
	const struct record_options record = RECORD_OPTIONS_DEFAULT;

	*o = (struct watch_options){.record = record,
		.symbols = {.demangles = true, .makes_names = true},
		.every_ns = 60 * NS,
		.size_bytes = STOREWRITER_BYTES};
	o->record.callers.has_chains = o->record.callers.has_chain_mode = true;
	o->record.timing.overhead_pct = 0.5;
	o->record.records.has_cgroups = true;
}

const char *watch_label_value(const char *label, size_t *ret_n)
{
	const char *sign = strchr(label, '=');

	*ret_n = sign ? (size_t)(sign - label) : 0;
	return sign ? sign + 1 : label;
}

/* Keys are words: columns of tables elsewhere are called so. */
static int check_label(const char *label, struct err *err)
{
	static const char *const own[] = {"service", "comm", "host", "symbol", "dso"};
	size_t n;

	watch_label_value(label, &n);
	if (!n)
		return err_set(err, ERR_INVAL, "--label '%.60s': a label is KEY=VALUE", label);
	for (size_t i = 0; i < n; i++)
		if (!isalpha((u8)label[i]) && label[i] != '_' && (!i || !isdigit((u8)label[i])))
			return err_set(err, ERR_INVAL,
				"--label '%.60s': a key has letters, digits and '_' only", label);
	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		if (strlen(own[i]) == n && !memcmp(own[i], label, n))
			return err_set(err, ERR_INVAL,
				"--label '%.60s': '%s' is there already; choose another key", label,
				own[i]);
	return 0;
}

/* Whatever cgroup ends with the unit's name: a regular expression, as --for-each-cgroup takes one. */
static void add_unit(const char *unit, struct str *text)
{
	str_add(text, "(^|/)");
	for (const char *at = unit; *at; at++)
		str_addf(text, isalnum((u8)*at) || strchr("_-@:/", *at) ? "%c" : "\\%c", *at);
	str_add(text, strchr(unit, '.') ? "$" : "\\.service$");
}

static int restrict_to_cgroups(struct watch_options *o, struct err *err)
{
	for (size_t i = 0; i < o->cgroups.n; i++)
		str_addf(&o->restriction, "%s%s", o->restriction.n ? "," : "", o->cgroups.at[i]);
	for (size_t i = 0; i < o->units.n; i++) {
		if (!*o->units.at[i] || strchr(o->units.at[i], ',') || strchr(o->units.at[i], '/'))
			return err_set(err, ERR_INVAL, "--unit '%.60s' is no unit's name",
				o->units.at[i]);
		str_addf(&o->restriction, o->restriction.n ? "," : "");
		add_unit(o->units.at[i], &o->restriction);
	}
	if (!o->restriction.n)
		return 0;
	if (o->record.target.pids || o->record.target.users)
		return err_set(err, ERR_INVAL,
			"-G and --unit say whom to watch, and so do -p and -u: choose one");
	o->record.target.all_cpus = true;
	return event_words_each_cgroup(o, str_text(&o->restriction), err);
}

int watch_options_settle(struct watch_options *o, struct err *err)
{
	struct record_options *r = &o->record;

	if (!r->frequency && !r->period)
		r->frequency = "19";
	if (o->size && num_parse_bytes(o->size, &o->size_bytes, err))
		return err_prefix(err, "--size");
	if (o->size_bytes < STOREWRITER_LEAST)
		return err_set(err, ERR_INVAL, "--size %s: a store has at least 1M", o->size);
	o->odd_bytes = o->size_bytes / 4;
	if (o->odd && num_parse_bytes(o->odd, &o->odd_bytes, err))
		return err_prefix(err, "--odd");
	if (o->odd_bytes > o->size_bytes / 2)
		return err_set(err, ERR_INVAL, "--odd %s: at most half of the store's size",
			o->odd);
	if (o->labels.n > BATCH_COLUMNS - OWN_COLUMNS)
		return err_set(err, ERR_INVAL, "--label: there are %zu, at most %d can be kept",
			o->labels.n, BATCH_COLUMNS - OWN_COLUMNS);
	for (size_t i = 0; i < o->labels.n; i++)
		if (check_label(o->labels.at[i], err))
			return err->code;
	if (o->service && !*o->service)
		return err_set(err, ERR_INVAL, "--service: the name is empty");
	return restrict_to_cgroups(o, err);
}

int watch_store_path(const struct watch_options *o, bool reads, char path[STORE_PATH],
	struct err *err)
{
	if (o->store && (size_t)snprintf(path, STORE_PATH, "%s", o->store) >= STORE_PATH)
		return err_set(err, ERR_INVAL, "--store: the path is too long");
	if (!o->store && !store_default(reads, path))
		return err_set(err, ERR_NOENT,
			"there is no home to keep a store in: name a folder with '--store'");
	return 0;
}

struct feed_options watch_options_feed(const struct watch_options *o)
{
	return (struct feed_options){.record = &o->record,
		.symbols = &o->symbols,
		.filter = &o->filter,
		.delay_s = (double)o->every_ns / NS,
		.has_inlined = false,
		.is_zeroed = true,
		.is_aligned = true,
		.shows_rest = true,
		.done = "watched",
		.instead = "name processes with '-p'"};
}

void watch_options_fini(struct watch_options *o)
{
	event_words_fini(&o->record.events);
	profile_filter_fini(&o->filter);
	vec_fini(&o->cgroups);
	vec_fini(&o->units);
	vec_fini(&o->labels);
	str_fini(&o->restriction);
}
