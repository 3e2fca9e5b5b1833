#include "fleet/schema.h"

#include <string.h>

#include "base/vec.h"

enum kind { KEY, TEXT, TEXTS, U8S, U32, U64, U64S, NS, TIME, KINDS };

/* KEY: few distinct texts, as a column is sorted by. NS: the same number in many rows one after the other. */
static const char *const types[KINDS][SCHEMA_DIALECTS] = {
	[KEY] = {"LowCardinality(String)", "String", "VARCHAR"},
	[TEXT] = {"String CODEC(ZSTD(3))", "String", "VARCHAR"},
	[TEXTS] = {"Array(LowCardinality(String)) CODEC(ZSTD(3))", "Array(String)", "VARCHAR[]"},
	[U8S] = {"Array(UInt8) CODEC(ZSTD(3))", "Array(UInt8)", "UTINYINT[]"},
	[U32] = {"UInt32 CODEC(Delta, ZSTD(1))", "UInt32", "UINTEGER"},
	[U64] = {"UInt64 CODEC(ZSTD(1))", "UInt64", "UBIGINT"},
	[U64S] = {"Array(UInt64) CODEC(ZSTD(1))", "Array(UInt64)", "UBIGINT[]"},
	[NS] = {"UInt64 CODEC(DoubleDelta, ZSTD(1))", "UInt64", "UBIGINT"},
	[TIME] = {"DateTime('UTC') CODEC(DoubleDelta, ZSTD(1))", "DateTime('UTC')", "TIMESTAMP"},
};

static const char *const dialects[SCHEMA_DIALECTS] = {
	[SCHEMA_CLICKHOUSE] = "clickhouse",
	[SCHEMA_CLICKHOUSE_18] = "clickhouse-18",
	[SCHEMA_DUCKDB] = "duckdb",
};

struct column {
	const char *name;
	enum kind kind;
	const char *what;
};

static const struct column stacks[] = {
	{"hash", U64, "of the names below: the same on all hosts and builds"},
	{"host", KEY, "that sent it last"},
	{"time", TIME, "when it was sent last"},
	{"frames", TEXTS, "functions, the outermost first; [file+0xaddress] if one has no name"},
	{"files", TEXTS, "of each function, without the folder"},
	{"builds", TEXTS,
		"build-ids of functions without names, which name them later; else empty"},
	{"modes", U8S, "1 kernel, 2 user; + 16 has a name, + 32 is inlined"},
	{0},
};

static const struct column samples[] = {
	{"service", KEY, "what ran"},
	{"type", KEY, "event, like cpu-clock"},
	{"time", TIME, "start_ns in seconds"},
	{"host", KEY, "where it ran"},
	{"batch", U64, "what one host measured in one stretch of time"},
	{"row", U32, "in the batch, from 0: batch and row are there once"},
	{"start_ns", NS, "since 1970, of the batch"},
	{"end_ns", NS, "since 1970, of the batch"},
	{"comm", KEY, "name of the thread"},
	{"label_names", TEXTS, "further labels of the row and of the host"},
	{"label_values", TEXTS, "their values, in the same order"},
	{"build", KEY, "build-id of the file that ran"},
	{"stack", U64, "pace_stacks.hash"},
	{"samples", U64, "how many"},
	{"value", U64, "what they stand for, in the unit of the event"},
	{0},
};

static const struct column batches[] = {
	{"batch", U64,
		"pace_samples.batch; its row here is written last: without it the batch is not complete"},
	{"host", KEY, "that measured"},
	{"time", TIME, "start_ns in seconds"},
	{"start_ns", U64, "since 1970"},
	{"end_ns", U64, "since 1970"},
	{"services", TEXTS, "of each sum"},
	{"types", TEXTS, "of each sum"},
	{"row_counts", U64S, "rows in pace_samples, for each sum"},
	{"sample_sums", U64S, "samples, for each sum"},
	{"value_sums", U64S, "values, for each sum"},
	{"lost", U64, "samples that the kernel dropped"},
	{"loss_causes", TEXTS, "what else is missing"},
	{"loss_places", TEXTS, "of each loss"},
	{"loss_units", TEXTS, "of each loss"},
	{"loss_amounts", U64S, "of each loss"},
	{"label_names", TEXTS, "of the host"},
	{"label_values", TEXTS, "their values, in the same order"},
	{"fact_names", TEXTS, "what else the host said of the batch"},
	{"fact_values", TEXTS, "their values, in the same order"},
	{0},
};

static const struct column minutes[] = {
	{"service", KEY, "what ran"},
	{"type", KEY, "event"},
	{"time", TIME, "start of the minute"},
	{"stack", U64, "pace_stacks.hash"},
	{"samples", U64, "of all hosts"},
	{"value", U64, "of all hosts"},
	{0},
};

static const struct layout {
	const char *name, *what;
	const struct column *columns;
	const char *engine, *order;
	const char *partition;
	const char *settings;
	u32 more_days;  /* kept longer than samples */
	u32 days_times; /* ... and that many times as long */
} tables[SCHEMA_TABLES] = {
	/* Few rows for each mark: stacks are looked up one by one. */
	[SCHEMA_STACKS] = {"pace_stacks", "call stacks by hash; hosts send theirs again each day",
		stacks, "ReplacingMergeTree(time)", "hash", "toYYYYMM(time)",
		" SETTINGS index_granularity = 256", 2, 4},
	[SCHEMA_SAMPLES] = {"pace_samples", "what ran, by service, host and stack", samples,
		"ReplacingMergeTree", "service, type, time, host, batch, row", "toYYYYMMDD(time)",
		"", 0, 1},
	[SCHEMA_BATCHES] = {"pace_batches", "the ledger: what each host announced and lost",
		batches, "ReplacingMergeTree", "time, host, batch", "toYYYYMMDD(time)", "", 0, 4},
	[SCHEMA_MINUTES] = {"pace_minutes", "sums of all hosts; what 'pace report' reads if it can",
		minutes, "SummingMergeTree", "service, type, time, stack", "toYYYYMMDD(time)", "",
		0, 4},
};

static const char rolling_up[] =
	"SELECT service, type, toStartOfMinute(time) AS time, stack, sum(samples) AS samples, sum(value) AS value\n"
	"FROM %s%s GROUP BY service, type, time, stack;\n\n";

const char *schema_name(enum schema_table table)
{
	return tables[table].name;
}

int schema_find_dialect(const char *name, enum schema_dialect *ret_dialect, struct err *err)
{
	for (size_t i = 0; i < SCHEMA_DIALECTS; i++) {
		if (strcmp(dialects[i], name))
			continue;
		*ret_dialect = (enum schema_dialect)i;
		return 0;
	}
	return err_set(err, ERR_INVAL,
		"'%.60s' is none of clickhouse, clickhouse-18 (and all before 20.8) and duckdb",
		name);
}

/* ---- ClickHouse ---- */

static void add_columns(struct str *text, const struct layout *t, enum schema_dialect dialect)
{
	for (const struct column *c = t->columns; c->name; c++) {
		const bool is_last = !c[1].name;

		str_addf(text, "\t%s %s", c->name, types[c->kind][dialect]);
		/* The old one has comments of columns too, but forgets them when it starts again. */
		if (dialect == SCHEMA_CLICKHOUSE)
			str_addf(text, " COMMENT '%s'%s\n", c->what, is_last ? "" : ",");
		else
			str_addf(text, "%s -- %s\n", is_last ? "" : ",", c->what);
	}
}

static void add_clickhouse_table(struct str *text, const struct layout *t,
	const struct schema_options *o)
{
	const char *local = o->cluster ? "_local" : "";
	const u32 days = o->days * t->days_times + t->more_days;

	str_addf(text, "-- %s: %s.\nCREATE TABLE IF NOT EXISTS %s%s\n(\n", t->name, t->what,
		t->name, local);
	add_columns(text, t, o->dialect);
	str_addf(text, ")\nENGINE = %s PARTITION BY %s ORDER BY (%s)", t->engine, t->partition,
		t->order);
	if (o->dialect == SCHEMA_CLICKHOUSE)
		str_addf(text, " TTL time + INTERVAL %u DAY", days);
	str_add(text, t->settings);
	/* With it the server knows an insert that it had before (insert_deduplication_token). */
	if (o->dialect == SCHEMA_CLICKHOUSE)
		str_addf(text, "%s non_replicated_deduplication_window = 1000",
			*t->settings ? "," : " SETTINGS");
	str_add(text, ";\n");
	if (o->dialect == SCHEMA_CLICKHOUSE_18)
		str_addf(text,
			"-- No time to live here: each day drop the partitions older than %u days (ALTER TABLE %s%s DROP PARTITION).\n",
			days, t->name, local);
	str_addc(text, '\n');
	if (!o->cluster)
		return;
	/* All that a host sends lies on one server. */
	str_addf(text,
		"CREATE TABLE IF NOT EXISTS %s AS %s_local\nENGINE = Distributed('%s', currentDatabase(), '%s_local', %s);\n\n",
		t->name, t->name, o->cluster, t->name,
		t == &tables[SCHEMA_MINUTES] ? "rand()" : "cityHash64(host)");
}

static void add_clickhouse(struct str *text, const struct schema_options *o)
{
	const char *local = o->cluster ? "_local" : "";

	for (size_t i = 0; i < SCHEMA_TABLES; i++)
		add_clickhouse_table(text, &tables[i], o);
	str_addf(text,
		"CREATE MATERIALIZED VIEW IF NOT EXISTS pace_to_minutes%s TO pace_minutes%s AS\n",
		local, local);
	str_addf(text, rolling_up, "pace_samples", local);
}

/* ---- DuckDB ---- */

static void add_duckdb_table(struct str *text, const struct layout *t)
{
	str_addf(text, "CREATE TABLE IF NOT EXISTS %s\n(\n", t->name);
	add_columns(text, t, SCHEMA_DUCKDB);
	str_addf(text, ");\nCOMMENT ON TABLE %s IS '%s';\n", t->name, t->what);
	for (const struct column *c = t->columns; c->name; c++)
		str_addf(text, "COMMENT ON COLUMN %s.%s IS '%s';\n", t->name, c->name, c->what);
	str_addf(text, "CREATE INDEX IF NOT EXISTS %s_order ON %s (%s);\n\n", t->name, t->name,
		t->order);
}

static void add_duckdb(struct str *text, const struct schema_options *o)
{
	for (size_t i = 0; i < SCHEMA_TABLES; i++)
		if (i != SCHEMA_MINUTES)
			add_duckdb_table(text, &tables[i]);
	str_add(text,
		"CREATE VIEW IF NOT EXISTS pace_minutes AS\n"
		"SELECT service, type, date_trunc('minute', time) AS time, stack, sum(samples) AS samples, sum(value) AS value\n"
		"FROM pace_samples GROUP BY ALL;\n\n");
	str_addf(text,
		"-- No time to live here: each day DELETE FROM pace_samples WHERE time < now() - INTERVAL %u DAY;\n",
		o->days);
}

int schema_add(struct str *text, const struct schema_options *o, struct err *err)
{
	if (o->cluster && o->dialect == SCHEMA_DUCKDB)
		return err_set(err, ERR_INVAL, "--cluster: duckdb is one process, not a cluster");
	/* It goes into a text of SQL. */
	if (o->cluster &&
		(!*o->cluster ||
			o->cluster[strspn(o->cluster,
				"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.")]))
		return err_set(err, ERR_INVAL,
			"--cluster: '%.60s' is no name of a cluster: letters, digits, '_', '-' and '.'",
			o->cluster);
	str_add(text,
		o->cluster
			? "-- Tables of 'pace push' and 'pace report -i clickhouse://...', for each server of the cluster.\n\n"
			: "-- Tables of 'pace push' and 'pace report -i clickhouse://...'.\n\n");
	if (o->dialect == SCHEMA_DUCKDB)
		add_duckdb(text, o);
	else
		add_clickhouse(text, o);
	return 0;
}
