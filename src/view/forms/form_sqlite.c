/*
 * form_sqlite.c - stacks and samples as a database of SQLite: a row for each thing, and views with the usual sums.
 *
 * The database is made in memory and then written as it is. Numbers of threads, files, functions, frames and nodes are from 1 on. Without
 * libsqlite3 the form is there, and says why it cannot be used.
 * Source   sqlite.org/c3ref; the schema is documented in doc/pace-export.1
 */
#include "view/forms/forms.h"

#include <stdarg.h>
#include <string.h>

#include "profile/rows/codekind.h"
#include "view/forms/filelayout.h"
#include "view/forms/stackpath.h"

#ifdef PACE_HAS_SQLITE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#include <sqlite3.h>

/* Other tables or columns need another version. */
#define SCHEMA_VERSION "1"

static const char schema[] =
	"PRAGMA page_size = 65536;"
	"PRAGMA application_id = 0x70616365;" /* "pace" */
	"PRAGMA user_version = " SCHEMA_VERSION ";"
	"CREATE TABLE recording (name TEXT, value TEXT);"
	"CREATE TABLE events (id INTEGER PRIMARY KEY, name TEXT, unit TEXT, samples INTEGER, period INTEGER);"
	"CREATE TABLE threads (id INTEGER PRIMARY KEY, name TEXT);"
	"CREATE TABLE files (id INTEGER PRIMARY KEY, path TEXT, name TEXT, build_id TEXT);"
	"CREATE TABLE functions (id INTEGER PRIMARY KEY, name TEXT, file INTEGER REFERENCES files);"
	"CREATE TABLE frames (id INTEGER PRIMARY KEY, function INTEGER REFERENCES functions,"
	" file INTEGER REFERENCES files, address INTEGER, kind TEXT, inlined INTEGER,"
	" source TEXT, line INTEGER);"
	"CREATE TABLE nodes (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES nodes,"
	" thread INTEGER REFERENCES threads, frame INTEGER REFERENCES frames, depth INTEGER);"
	"CREATE TABLE counts (node INTEGER REFERENCES nodes, event INTEGER REFERENCES events,"
	" samples INTEGER, period INTEGER, PRIMARY KEY (node, event)) WITHOUT ROWID;"
	"CREATE TABLE totals (event INTEGER REFERENCES events, function INTEGER REFERENCES functions,"
	" inlined INTEGER, self_samples INTEGER, self INTEGER, total_samples INTEGER, total INTEGER,"
	" PRIMARY KEY (event, function, inlined)) WITHOUT ROWID;"
	"CREATE TABLE tasks (id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER, name TEXT);"
	"CREATE TABLE samples (time INTEGER, cpu INTEGER, task INTEGER REFERENCES tasks,"
	" event INTEGER REFERENCES events, node INTEGER REFERENCES nodes, samples INTEGER, period INTEGER);"
	"CREATE VIEW by_function AS SELECT e.name AS event,"
	" f.name || CASE t.inlined WHEN 1 THEN ' (inlined)' ELSE '' END AS function, d.name AS file,"
	" t.self_samples, t.self, t.total_samples, t.total,"
	" 100.0 * t.self / e.period AS self_percent, 100.0 * t.total / e.period AS total_percent"
	" FROM totals t JOIN events e ON e.id = t.event JOIN functions f ON f.id = t.function"
	" JOIN files d ON d.id = f.file ORDER BY e.id, t.self DESC, t.total DESC;"
	"CREATE VIEW by_line AS SELECT e.name AS event, p.source, p.line, sum(c.samples) AS samples,"
	" sum(c.period) AS period, 100.0 * sum(c.period) / e.period AS percent"
	" FROM counts c JOIN nodes n ON n.id = c.node JOIN frames p ON p.id = n.frame"
	" JOIN events e ON e.id = c.event"
	" GROUP BY e.id, p.source, p.line ORDER BY e.id, sum(c.period) DESC;"
	"CREATE VIEW by_file AS SELECT e.name AS event, d.path AS file, sum(c.samples) AS samples,"
	" sum(c.period) AS period, 100.0 * sum(c.period) / e.period AS percent"
	" FROM counts c JOIN nodes n ON n.id = c.node JOIN frames p ON p.id = n.frame"
	" JOIN files d ON d.id = p.file JOIN events e ON e.id = c.event"
	" GROUP BY e.id, d.path ORDER BY e.id, sum(c.period) DESC;"
	"CREATE VIEW by_thread AS SELECT e.name AS event, t.name AS thread, sum(c.samples) AS samples,"
	" sum(c.period) AS period, 100.0 * sum(c.period) / e.period AS percent"
	" FROM counts c JOIN nodes n ON n.id = c.node LEFT JOIN threads t ON t.id = n.thread"
	" JOIN events e ON e.id = c.event GROUP BY e.id, t.id ORDER BY e.id, sum(c.period) DESC;"
	"CREATE VIEW stacks AS WITH RECURSIVE up (leaf, node, text) AS ("
	" SELECT n.id, n.parent, coalesce(f.name, t.name) FROM nodes n"
	" LEFT JOIN frames p ON p.id = n.frame LEFT JOIN functions f ON f.id = p.function"
	" LEFT JOIN threads t ON t.id = n.thread"
	" UNION ALL SELECT up.leaf, n.parent, coalesce(f.name, t.name) || ';' || up.text FROM up"
	" JOIN nodes n ON n.id = up.node"
	" LEFT JOIN frames p ON p.id = n.frame LEFT JOIN functions f ON f.id = p.function"
	" LEFT JOIN threads t ON t.id = n.thread)"
	" SELECT leaf AS node, text AS stack FROM up WHERE node IS NULL;"
	"BEGIN;";

static const char ending[] = "CREATE INDEX samples_by_time ON samples (time);"
			     "CREATE INDEX nodes_by_parent ON nodes (parent);"
			     "COMMIT;";

struct sqlite_writer {
	sqlite3 *db;
	const struct rowset *r;
	struct filelayout layout;
	u32 *thread_of; /* by node: its place, + 1; 0: none */
	u32 *seen_at; /* by function, and whether it was inlined: the row, + 1, whose stack had it last */
	u64 *totals; /* likewise, and by event: enum total */
};

enum total { TOTAL_SELF_SAMPLES, TOTAL_SELF, TOTAL_SAMPLES, TOTAL_PERIOD, TOTALS };

/* ---- SQLite ---- */

/* Few need it, and linked with it every start of pace would take longer: it is loaded when it is asked for, and stays loaded. */
#define FUNCTIONS(X)  \
	X(bind_int64) \
	X(bind_null)  \
	X(bind_text)  \
	X(close) X(exec) X(finalize) X(free) X(open) X(prepare_v2) X(reset) X(serialize) X(step)

static struct {
#define MEMBER(name) __typeof__(sqlite3_##name) *name;
	FUNCTIONS(MEMBER)
	char why[256]; /* why it could not be loaded; "" if it was */
} sqlite;

static void load(void)
{
	void *handle = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL);
	const char *lacks = NULL;

	if (!handle) {
		snprintf(sqlite.why, sizeof(sqlite.why),
			"libsqlite3.so.0 (package libsqlite3-0) cannot be used: %s", dlerror());
		return;
	}
#define FIND(name)                                                \
	*(void **)&sqlite.name = dlsym(handle, "sqlite3_" #name); \
	lacks = sqlite.name ? lacks : #name;
	FUNCTIONS(FIND)
	if (lacks)
		snprintf(sqlite.why, sizeof(sqlite.why),
			"libsqlite3.so.0 lacks sqlite3_%s(): version 3.36 and newer have it",
			lacks);
}

static const char *missing(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, load);
	return sqlite.why[0] ? sqlite.why : NULL;
}

/* A database in memory fails only if there is no memory. */
static void check(int code)
{
	if (code != SQLITE_OK && code != SQLITE_DONE && code != SQLITE_ROW)
		mem_exhausted(0);
}

static sqlite3_stmt *prepare(const struct sqlite_writer *w, const char *sql)
{
	sqlite3_stmt *s;

	check(sqlite.prepare_v2(w->db, sql, -1, &s, NULL));
	return s;
}

/*
 * Adds a row: a letter for each of its values, which follow. 't': a text, or NULL; 'n': u64; '0': the same, but 0 becomes NULL; 'c': the
 * same, but (u32)-1 becomes NULL.
 */
static void add(sqlite3_stmt *s, const char *kinds, ...)
{
	va_list list;

	va_start(list, kinds);
	for (int i = 0; kinds[i]; i++) {
		const char *text = kinds[i] == 't' ? va_arg(list, const char *) : NULL;
		const u64 n = kinds[i] == 't' ? 0 : va_arg(list, u64);

		if (text)
			check(sqlite.bind_text(s, i + 1, text, -1, SQLITE_STATIC));
		else if (kinds[i] == 't' || (kinds[i] == '0' && !n) ||
			(kinds[i] == 'c' && n == (u32)-1))
			check(sqlite.bind_null(s, i + 1));
		else
			check(sqlite.bind_int64(s, i + 1, (sqlite3_int64)n));
	}
	va_end(list);
	check(sqlite.step(s));
	check(sqlite.reset(s));
}

/* ---- what was recorded ---- */

static void add_ledger(sqlite3_stmt *s, const char *ledger)
{
	while (*ledger) {
		const size_t n = strcspn(ledger, "\n");
		const size_t head = strspn(ledger, "# ");
		struct str line = {0};

		if (head < n) {
			str_add_safe(&line, ledger + head, n - head);
			add(s, "tt", "missing", str_text(&line));
		}
		str_fini(&line);
		ledger += n + (ledger[n] == '\n');
	}
}

static void add_recording(const struct sqlite_writer *w, const struct page_about *about)
{
	sqlite3_stmt *s = prepare(w, "INSERT INTO recording VALUES (?, ?)");
	struct str text = {0};

	add(s, "tt", "pace", PACE_VERSION);
	for (size_t i = 0; about && i < about->facts.n; i++) {
		str_clear(&text);
		str_add_safe(&text, about->facts.at[i].text, strlen(about->facts.at[i].text));
		add(s, "tt", about->facts.at[i].name, str_text(&text));
	}
	if (about)
		add_ledger(s, str_text(&about->ledger));
	str_fini(&text);
	sqlite.finalize(s);
}

static void add_events(const struct sqlite_writer *w)
{
	sqlite3_stmt *s = prepare(w, "INSERT INTO events VALUES (?, ?, ?, ?, ?)");
	const struct rowset *r = w->r;

	for (u32 part = 0; part < r->n_parts; part++) {
		u64 n_samples = 0, period = 0;

		for (size_t row = 0; row < r->n; row++) {
			n_samples += stackpath_value(r, row, part, STACKPATH_SAMPLES);
			period += stackpath_value(r, row, part, STACKPATH_PERIOD);
		}
		add(s, "nttnn", (u64)part + 1, r->parts[part].name,
			r->parts[part].is_time ? "ns" : "events", n_samples, period);
	}
	sqlite.finalize(s);
}

/* ---- code ---- */

static const char *kind_text(const struct rowset_place *place)
{
	switch (place->kind) {
	case CODEKIND_KERNEL:
		return "kernel";
	case CODEKIND_PROGRAM:
		return "program";
	case CODEKIND_LIBRARY:
		return "library";
	case CODEKIND_JIT:
		return "jit";
	case CODEKIND_INLINED:
		return "inlined";
	case CODEKIND_CUT:
		return "truncated";
	}
	return "unknown";
}

static void add_files(const struct sqlite_writer *w)
{
	sqlite3_stmt *s = prepare(w, "INSERT INTO files VALUES (?, ?, ?, ?)");

	for (size_t i = 0; i < w->layout.files.n; i++) {
		const struct filelayout_file *file = &w->layout.files.at[i];

		add(s, "nttt", (u64)i + 1, file->dso, file->name, file->build);
	}
	sqlite.finalize(s);
}

/* A function in files of several builds gets the first one's. */
static void add_code(const struct sqlite_writer *w)
{
	sqlite3_stmt *threads = prepare(w, "INSERT INTO threads VALUES (?, ?)"),
		     *functions = prepare(w, "INSERT INTO functions VALUES (?, ?, ?)"),
		     *frames = prepare(w, "INSERT INTO frames VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
	bool *is_there = mem_zalloc(w->r->n_functions + 1);

	for (u32 i = 0; i < w->r->n_places; i++) {
		const struct rowset_place *place = &w->r->places[i];

		if (place->is_thread) {
			add(threads, "nt", (u64)i + 1, place->name);
			continue;
		}
		if (!is_there[place->function])
			add(functions, "ntn", (u64)place->function + 1, place->name,
				(u64)w->layout.file_of[i] + 1);
		is_there[place->function] = true;
		add(frames, "nnnntnt0", (u64)i + 1, (u64)place->function + 1,
			(u64)w->layout.file_of[i] + 1, place->address, kind_text(place),
			(u64)place->is_inlined, place->source, (u64)place->line);
	}
	mem_free(is_there);
	sqlite.finalize(threads);
	sqlite.finalize(functions);
	sqlite.finalize(frames);
}

/* ---- stacks ---- */

/* Nodes come behind their parents. */
static void add_nodes(const struct sqlite_writer *w)
{
	sqlite3_stmt *nodes = prepare(w, "INSERT INTO nodes VALUES (?, ?, ?, ?, ?)"),
		     *counts = prepare(w, "INSERT INTO counts VALUES (?, ?, ?, ?)");
	const struct rowset *r = w->r;
	u32 *depths = mem_zalloc((r->n + 1) * sizeof(*depths));

	for (size_t row = 1; row < r->n; row++) {
		const u32 parent = r->nodes[row].parent, place = r->nodes[row].symbol;
		const bool is_thread = r->places[place].is_thread;

		depths[row] = parent ? depths[parent] + 1 : 0;
		w->thread_of[row] = is_thread ? place + 1 : w->thread_of[parent];
		add(nodes, "n000n", (u64)row, (u64)parent, (u64)w->thread_of[row],
			is_thread ? (u64)0 : (u64)place + 1, (u64)depths[row]);
		for (u32 part = 0; stackpath_is_end(r, row) && part < r->n_parts; part++) {
			const u64 n = stackpath_value(r, row, part, STACKPATH_SAMPLES),
				  period = stackpath_value(r, row, part, STACKPATH_PERIOD);

			if (n || period)
				add(counts, "nnnn", (u64)row, (u64)part + 1, n, period);
		}
	}
	mem_free(depths);
	sqlite.finalize(nodes);
	sqlite.finalize(counts);
}

/* ---- functions' totals ---- */

/* The position of a function, as such or inlined. */
static size_t role_of(const struct rowset_place *place)
{
	return (size_t)place->function * 2 + place->is_inlined;
}

/* Counts what ended in a row for the functions of its stack; in recursion once. */
static void count_stack(const struct sqlite_writer *w, u32 row)
{
	const struct rowset *r = w->r;
	bool is_own = true;

	for (size_t node = row; node; node = r->nodes[node].parent) {
		const struct rowset_place *place = stackpath_place(r, node);
		const size_t role = role_of(place);
		const bool is_new = w->seen_at[role] != row + 1;

		if (place->is_thread)
			break;
		w->seen_at[role] = row + 1;
		for (u32 part = 0; part < r->n_parts; part++) {
			u64 *sums = w->totals + (role * r->n_parts + part) * TOTALS;
			const u64 n = stackpath_value(r, row, part, STACKPATH_SAMPLES),
				  period = stackpath_value(r, row, part, STACKPATH_PERIOD);

			/* What is inlined has no samples of its own: they are its caller's, as in reports. */
			sums[TOTAL_SELF_SAMPLES] += is_own && !place->is_inlined ? n : 0;
			sums[TOTAL_SELF] += is_own && !place->is_inlined ? period : 0;
			sums[TOTAL_SAMPLES] += is_new ? n : 0;
			sums[TOTAL_PERIOD] += is_new ? period : 0;
		}
		is_own &= place->is_inlined;
	}
}

static void add_totals(const struct sqlite_writer *w)
{
	sqlite3_stmt *s = prepare(w, "INSERT INTO totals VALUES (?, ?, ?, ?, ?, ?, ?)");
	const struct rowset *r = w->r;

	for (u32 row = 1; row < r->n; row++)
		if (stackpath_is_end(r, row))
			count_stack(w, row);
	for (size_t role = 0; role < (size_t)r->n_functions * 2; role++)
		for (u32 part = 0; part < r->n_parts; part++) {
			const u64 *sums = w->totals + (role * r->n_parts + part) * TOTALS;

			if (sums[TOTAL_SAMPLES] || sums[TOTAL_PERIOD])
				add(s, "nnnnnnn", (u64)part + 1, (u64)role / 2 + 1, (u64)role % 2,
					sums[TOTAL_SELF_SAMPLES], sums[TOTAL_SELF],
					sums[TOTAL_SAMPLES], sums[TOTAL_PERIOD]);
		}
	sqlite.finalize(s);
}

/* ---- samples ---- */

static void add_tasks(const struct sqlite_writer *w, const struct timeline *t)
{
	sqlite3_stmt *s = prepare(w, "INSERT INTO tasks VALUES (?, ?, ?, ?)");
	struct str name = {0};

	for (size_t i = 0; i < t->threads.n; i++) {
		const struct timeline_thread *thread = &t->threads.at[i];

		str_clear(&name);
		str_add_safe(&name, thread->comm, strlen(thread->comm));
		add(s, "nnnt", (u64)i + 1, (u64)thread->pid, (u64)thread->tid, str_text(&name));
	}
	str_fini(&name);
	sqlite.finalize(s);
}

static void add_samples(const struct sqlite_writer *w)
{
	const struct rowset_times *times = w->r->times;
	sqlite3_stmt *s;

	if (!times)
		return;
	add_tasks(w, times->timeline);
	s = prepare(w, "INSERT INTO samples VALUES (?, ?, ?, ?, ?, ?, ?)");
	vec_each(sample, &times->timeline->at)
		if (times->spots[sample->row].node)
			add(s, "ncnnnnn", sample->time, (u64)sample->cpu, (u64)sample->thread + 1,
				(u64)times->spots[sample->row].part + 1,
				(u64)times->spots[sample->row].node, (u64)sample->n,
				sample->period);
	sqlite.finalize(s);
}

/* ---- all of it ---- */

static void write_database(const struct sqlite_writer *w, struct out *out)
{
	enum { PIECE = 1 << 16 };
	sqlite3_int64 n = 0;
	unsigned char *bytes = sqlite.serialize(w->db, "main", &n, 0);

	if (!bytes)
		mem_exhausted((size_t)n);
	for (sqlite3_int64 i = 0; i < n; i += PIECE) {
		str_addn(&out->text, bytes + i, (size_t)MIN(n - i, (sqlite3_int64)PIECE));
		out_flush_some(out);
	}
	sqlite.free(bytes);
}

static void sqlite_form_table(struct page *p, const struct rowset *r)
{
	const size_t n_roles = (size_t)r->n_functions * 2 + 1;
	struct sqlite_writer w = {.r = r,
		.thread_of = mem_zalloc((r->n + 1) * sizeof(u32)),
		.seen_at = mem_zalloc(n_roles * sizeof(u32)),
		.totals = mem_zalloc((n_roles * r->n_parts + 1) * TOTALS * sizeof(u64))};

	filelayout_init(&w.layout, r);
	check(sqlite.open(":memory:", &w.db));
	check(sqlite.exec(w.db, schema, NULL, NULL, NULL));
	add_recording(&w, p->about);
	add_events(&w);
	add_files(&w);
	add_code(&w);
	add_nodes(&w);
	add_totals(&w);
	add_samples(&w);
	check(sqlite.exec(w.db, ending, NULL, NULL, NULL));
	write_database(&w, p->out);
	sqlite.close(w.db);
	mem_free(w.thread_of);
	filelayout_fini(&w.layout);
	mem_free(w.seen_at);
	mem_free(w.totals);
}

#else
static void sqlite_form_table(struct page *p, const struct rowset *r)
{
	(void)p;
	(void)r;
}

static const char *missing(void)
{
	return "this pace was built without libsqlite3: install libsqlite3-dev and build it again";
}
#endif

const struct form form_sqlite = {.name = "sqlite",
	.extension = "db",
	.help = "a database of SQLite: samples, stacks and code, with views",
	.wants = FORM_WANTS_STACKS | FORM_WANTS_ADDRESSES | FORM_WANTS_LINES | FORM_WANTS_TIMES |
		FORM_SKIPS_EMPTY | FORM_HAS_NO_TREE | FORM_IS_BINARY,
	.missing = missing,
	.n_times = 20000000,
	.table = sqlite_form_table};
