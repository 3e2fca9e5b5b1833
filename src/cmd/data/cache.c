#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/num.h"
#include "base/out.h"
#include "cmd/cmd.h"
#include "symbol/dwarf/lineindexfile.h"

enum { ID_COLUMN = 40, SIZE_COLUMN = 10, USED_COLUMN = 12, WHAT_COLUMN = 27 };

struct cache_options {
	bool clears;
};

#define AT(member) offsetof(struct cache_options, member)

static const struct opt options[] = {
	{0, "clear", OPT_BOOL, AT(clears), NULL, "remove all of these files"},
	{.kind = OPT_END},
};

/* "3 hours ago" */
static void add_age(s64 seconds, struct str *text)
{
	static const struct {
		s64 seconds;
		const char *unit;
	} units[] = {{86400, "day"}, {3600, "hour"}, {60, "minute"}};

	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		s64 n = seconds / units[i].seconds;

		if (n > 0) {
			str_addf(text, "%lld %s%s", (long long)n, units[i].unit, n > 1 ? "s" : "");
			return;
		}
	}
	str_add(text, "now");
}

/* Adds the name of the file that the entry is about, if the entry tells. */
static void add_file(const struct cache_entry *e, struct str *text)
{
	struct lineindexfile f;
	const u8 *data;
	u64 size;

	if (e->kind == CACHE_KALLSYMS)
		str_add(text, "[kernel.kallsyms]");
	if (e->kind != CACHE_LINES || !cache_map(e->key, true, &data, &size))
		return;
	if (lineindexfile_view(&f, data, size, NULL))
		str_add_safe(text, f.path, strlen(f.path));
	else
		str_add(text, "(of another version, or damaged: not used)");
	munmap((void *)data, size);
}

static void pad(struct str *text, size_t begin, size_t width)
{
	size_t n = text->n - begin;

	str_fill(text, ' ', (n < width ? width - n : 0) + 2);
}

static void add_entry(const struct cache_entry *e, s64 now_s, struct str *text)
{
	/* The build-id is the last part of a key. */
	const char *dash = strrchr(e->key, '-');
	size_t begin = text->n;

	num_add_bytes(text, e->bytes);
	str_pad_left(text, begin, SIZE_COLUMN);
	str_add(text, "  ");
	begin = text->n;
	add_age(now_s - e->used_s, text);
	pad(text, begin, USED_COLUMN);
	begin = text->n;
	str_add(text, cache_kinds[e->kind].what);
	pad(text, begin, WHAT_COLUMN);
	begin = text->n;
	if (dash)
		str_add_safe(text, dash + 1, strcspn(dash + 1, "."));
	if (e->kind != CACHE_UNFINISHED) {
		pad(text, begin, ID_COLUMN);
		add_file(e, text);
	}
	str_addc(text, '\n');
}

static void add_total(const cache_entries *entries, const struct str *folder, u64 limit,
	struct str *text)
{
	u64 sum = 0;

	vec_each(e, entries)
		sum += e->bytes;
	str_addf(text, "%zu file%s, ", entries->n, entries->n == 1 ? "" : "s");
	num_add_bytes(text, sum);
	str_add(text, " of ");
	num_add_bytes(text, limit);
	str_add(text, " in ");
	if (folder->n)
		str_add_safe(text, folder->at, folder->n);
	else
		str_add(text, "no folder: neither XDG_CACHE_HOME nor HOME names one");
	str_addc(text, '\n');
}

static int show(const cache_entries *entries, const struct str *folder, u64 limit, struct err *err)
{
	struct out out = {.fd = STDOUT_FILENO};
	s64 now_s = time(NULL);

	if (entries->n)
		str_addf(&out.text, "%*s  %-*s  %-*s  %-*s  %s\n", SIZE_COLUMN, "size", USED_COLUMN,
			"last used", WHAT_COLUMN, "what", ID_COLUMN, "build-id", "file");
	vec_each(e, entries)
		add_entry(e, now_s, &out.text);
	add_total(entries, folder, limit, &out.text);
	return out_close(&out, err);
}

static int run_cache(int argc, char **argv)
{
	struct cache_options o = {0};
	int status = cmd_parse_alone(&cmd_cache, &o, argc, argv);
	cache_entries entries;
	struct str folder = {0};
	struct err err;
	u64 limit;

	if (status >= 0)
		return status;
	status = EXIT_OK;
	if (cache_limit(&limit, &err))
		return cmd_fail(&cmd_cache, &err, EXIT_USAGE);
	cache_list(&entries, &folder);
	if (o.clears) {
		if (cache_clear(&entries, &err))
			status = cmd_fail(&cmd_cache, &err, EXIT_FAILED);
		cache_list_fini(&entries);
		cache_list(&entries, &(struct str){0});
	}
	if (show(&entries, &folder, limit, &err))
		status = cmd_fail(&cmd_cache, &err, EXIT_FAILED);
	cache_list_fini(&entries);
	str_fini(&folder);
	return status;
}

const struct cmd cmd_cache = {
	.name = "cache",
	.summary = "list or remove what pace keeps between runs",
	.usage = {"[OPTIONS]", NULL},
	.notes =
		"PACE_CACHE_SIZE=300M limits the cache, PACE_CACHE_SIZE=0 turns it off; the default is 1G.\n",
	.options = options,
	.is_paged = true,
	.run = run_cache,
};
