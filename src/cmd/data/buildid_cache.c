#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/out.h"
#include "cmd/cmd.h"
#include "file/reader.h"
#include "symbol/find/filecache.h"

struct caching_options {
	struct opt_list added, removed, purged, updated;
	const char *missing;
	u64 namespace_pid;
	bool lists, purges_all;
	unsigned verbose;
};

#define AT(member) offsetof(struct caching_options, member)

static const struct opt options[] = {
	{'a', "add", OPT_LIST, AT(added), "FILE,...", "add these files"},
	{'r', "remove", OPT_LIST, AT(removed), "FILE,...",
		"remove the builds that these files are now"},
	{'p', "purge", OPT_LIST, AT(purged), "FILE,...", "remove all builds of these files"},
	{'P', "purge-all", OPT_BOOL, AT(purges_all), NULL, "remove everything"},
	{'u', "update", OPT_LIST, AT(updated), "FILE,...",
		"remove all builds of these files, and add what they are now"},
	{'M', "missing", OPT_STR, AT(missing), "DATA",
		"print the files of this recording that the cache lacks"},
	{'l', "list", OPT_BOOL, AT(lists), NULL, "list what is there"},
	{0, "target-ns", OPT_U64, AT(namespace_pid), "PID", "files are those that process PID sees",
		.max = INT32_MAX},
	{'v', "verbose", OPT_COUNT, AT(verbose), NULL, "say what was done"},
	{'f', "force", OPT_NOTHING, .help = "files of other users are taken anyway"},
	{'k', "kcore", OPT_REFUSED, .arg = "FILE",
		.help = "the kernel's code is read from /proc/kcore when it is needed; 'pace record' keeps what was sampled in the recording"},
	{0, "debuginfod", OPT_NOTHING, .arg = "URLS", .flags = OPT_OPTIONAL | OPT_ATTACHED,
		.help = "nothing is fetched here, but when it is needed: 'pace report --debuginfod SECONDS'"},
	{.kind = OPT_END},
};

struct caching {
	const struct caching_options *options;
	struct filecache cache;
	struct str root; /* of the process, or "" */
	struct out out;
	int status;
};

static void fail(struct caching *c, const struct err *err)
{
	c->status = cmd_fail(&cmd_buildid_cache, err, EXIT_FAILED);
}

static void say(struct caching *c, const char *what, const char *id, const char *path)
{
	if (c->options->verbose)
		fprintf(stderr, "%s %s %s\n", what, id, path);
}

static void add(struct caching *c, const char *path)
{
	struct str id = {0};
	struct err err;

	if (filecache_add(&c->cache, str_text(&c->root), path, &id, &err))
		fail(c, &err);
	else
		say(c, "added", id.at, path);
	str_fini(&id);
}

/* Removes the entries of a path, or only that of the build that the file is now. */
static void remove_builds(struct caching *c, const char *path, bool of_all)
{
	char *real = realpath(path, NULL);
	const char *name = real ? real : path;
	struct err err;
	size_t n = 0;

	vec_each(e, &c->cache.entries) {
		if (strcmp(e->path, name) != 0)
			continue;
		if (!of_all) {
			struct str id = {0};
			const bool is_it = !filecache_id(path, &id, &err) && !strcmp(id.at, e->id);

			str_fini(&id);
			if (!is_it)
				continue;
		}
		n++;
		if (filecache_remove(&c->cache, e, &err))
			fail(c, &err);
		else
			say(c, "removed", e->id, e->path);
	}
	if (!n)
		say(c, "nothing to remove:", "no entry of", path);
	free(real);
}

static void each_word(struct caching *c, const struct opt_list *list,
	void (*act)(struct caching *c, const char *path))
{
	for (size_t i = 0; i < list->n; i++) {
		char *copy = mem_strdup(list->at[i]), *save;

		for (char *p = strtok_r(copy, ",", &save); p; p = strtok_r(NULL, ",", &save))
			act(c, p);
		mem_free(copy);
	}
}

static void remove_one(struct caching *c, const char *path)
{
	remove_builds(c, path, false);
}

static void purge(struct caching *c, const char *path)
{
	remove_builds(c, path, true);
}

static void purge_all(struct caching *c)
{
	struct err err;

	vec_each(e, &c->cache.entries)
		if (filecache_remove(&c->cache, e, &err))
			fail(c, &err);
		else
			say(c, "removed", e->id, e->path);
}

/* Prints the entries of the recording's table that the cache lacks. */
static void list_missing(struct caching *c)
{
	struct reader reader;
	struct log log;
	struct err err;

	cmd_log_init(&log, LOG_WARN);
	if (reader_open(&reader, c->options->missing, &log, &err)) {
		fail(c, &err);
		log_fini(&log);
		return;
	}
	vec_each(b, &reader.info.build_ids) {
		struct str id = {0};

		for (u8 i = 0; i < b->id_size; i++)
			str_addf(&id, "%02x", b->id[i]);
		if (b->id_size && !filecache_find(&c->cache, id.at)) {
			str_addf(&c->out.text, "%s ", id.at);
			str_add_safe(&c->out.text, b->path, strlen(b->path));
			str_addc(&c->out.text, '\n');
		}
		str_fini(&id);
	}
	reader_close(&reader);
	log_fini(&log);
}

static void list_all(struct caching *c)
{
	vec_each(e, &c->cache.entries) {
		str_addf(&c->out.text, "%s ", e->id);
		str_add_safe(&c->out.text, e->path, strlen(e->path));
		str_addc(&c->out.text, '\n');
	}
}

/* The list of what is there, as it is after a change. */
static int look_again(struct caching *c)
{
	struct err err;

	filecache_close(&c->cache);
	if (filecache_open(&c->cache, &err))
		fail(c, &err);
	return c->cache.folder.n ? 0 : -1;
}

static int run(const struct caching_options *o)
{
	const struct {
		const struct opt_list *list;
		void (*act)(struct caching *c, const char *path);
	} steps[] = {{&o->removed, remove_one}, {&o->purged, purge}, {&o->updated, purge},
		{&o->updated, add}, {&o->added, add}};
	struct caching c = {.options = o, .out.fd = STDOUT_FILENO};
	struct err err;

	if (filecache_open(&c.cache, &err))
		return cmd_fail(&cmd_buildid_cache, &err, EXIT_FAILED);
	if (o->namespace_pid)
		str_addf(&c.root, "/proc/%llu/root", (unsigned long long)o->namespace_pid);
	if (o->purges_all)
		purge_all(&c);
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
		if (!look_again(&c))
			each_word(&c, steps[i].list, steps[i].act);
	look_again(&c);
	if (o->missing)
		list_missing(&c);
	if (o->lists)
		list_all(&c);
	if (out_close(&c.out, &err))
		fail(&c, &err);
	filecache_close(&c.cache);
	str_fini(&c.root);
	return c.status;
}

static int run_buildid_cache(int argc, char **argv)
{
	struct caching_options o = {0};
	int status = cmd_parse_alone(&cmd_buildid_cache, &o, argc, argv);
	struct err err;

	if (status < 0) {
		if (o.lists || o.purges_all || o.missing || o.added.n || o.removed.n ||
			o.purged.n || o.updated.n) {
			status = run(&o);
		} else {
			err_set(&err, ERR_INVAL,
				"there is nothing to do: -a FILE adds a file, -l lists what is there");
			status = cmd_fail(&cmd_buildid_cache, &err, EXIT_USAGE);
		}
	}
	vec_fini(&o.added);
	vec_fini(&o.removed);
	vec_fini(&o.purged);
	vec_fini(&o.updated);
	return status;
}

const struct cmd cmd_buildid_cache = {
	.name = "buildid-cache",
	.summary = "keep programs and libraries by build-id, where perf keeps them",
	.usage = {"-a FILE,... | -r FILE,... | -p FILE,... | -u FILE,... | -P", "-l | -M DATA",
		NULL},
	.options = options,
	.run = run_buildid_cache,
};
