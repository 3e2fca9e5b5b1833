#include "file/tracing.h"

#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

#include "base/sysfile.h"
#include "event/abi.h"
#include "event/tracefs.h"

enum { FILE_LIMIT = 16 << 20 };

bool tracing_is_needed(const struct event_list *events)
{
	vec_each(e, events)
		if (e->attr.type == PERF_TYPE_TRACEPOINT)
			return true;
	return false;
}

static void put_u32(struct str *out, u32 v)
{
	str_addn(out, &v, sizeof(v));
}

static void put_u64(struct str *out, u64 v)
{
	str_addn(out, &v, sizeof(v));
}

/* Adds a file's 64-bit size and contents; size 0 if it cannot be read and is not needed. */
static int put_file(const char *path, bool is_needed, struct str *out, struct err *err)
{
	struct str text = {0};
	int r = sysfile_read(path, FILE_LIMIT, &text, err);

	if (r && is_needed) {
		str_fini(&text);
		return r;
	}
	put_u64(out, r ? 0 : text.n);
	if (!r)
		str_addn(out, text.at, text.n);
	str_fini(&text);
	return 0;
}

static bool is_recorded(const struct event_list *events, s64 id)
{
	vec_each(e, events)
		if (e->attr.type == PERF_TYPE_TRACEPOINT && (s64)e->attr.config == id)
			return true;
	return false;
}

/* Adds the formats of one system's recorded tracepoints. Returns how many. */
static u32 put_system(const char *dir_path, const struct event_list *events, struct str *out)
{
	DIR *dir = opendir(dir_path);
	struct dirent *entry;
	char path[1024];
	struct err err;
	u32 n = 0;

	if (!dir)
		return 0;
	while ((entry = readdir(dir)) != NULL) {
		s64 id;

		snprintf(path, sizeof(path), "%s/%s/id", dir_path, entry->d_name);
		if (entry->d_name[0] == '.' || !sysfile_s64(path, &id) || !is_recorded(events, id))
			continue;
		snprintf(path, sizeof(path), "%s/%s/format", dir_path, entry->d_name);
		n += !put_file(path, true, out, &err);
	}
	closedir(dir);
	return n;
}

static int put_systems(const char *root, const struct event_list *events, struct str *out,
	struct err *err)
{
	char path[512];
	struct str all = {0};
	struct dirent *entry;
	u32 n_systems = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/events", root);
	dir = opendir(path);
	if (!dir)
		return err_set(err, ERR_NOENT, "'%s' cannot be read", path);
	while ((entry = readdir(dir)) != NULL) {
		struct str formats = {0};
		u32 n;

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/events/%s", root, entry->d_name);
		n = put_system(path, events, &formats);
		if (n) {
			str_addn(&all, entry->d_name, strlen(entry->d_name) + 1);
			put_u32(&all, n);
			str_addn(&all, formats.at, formats.n);
			n_systems++;
		}
		str_fini(&formats);
	}
	closedir(dir);
	put_u32(out, n_systems);
	str_addn(out, all.at, all.n);
	str_fini(&all);
	return 0;
}

int tracing_write(const char *root, const struct event_list *events, struct str *out,
	struct err *err)
{
	static const char magic[] = "\027\010\104tracing0.6";
	const u16 probe = 1;
	char found[128], path[512];

	if (!root) {
		if (tracefs_find(found, sizeof(found), err))
			return err->code;
		root = found;
	}
	str_addn(out, magic, sizeof(magic));
	str_addc(out, *(const u8 *)&probe == 1 ? 0 : 1); /* 1: big-endian */
	str_addc(out, sizeof(long));
	put_u32(out, (u32)sysconf(_SC_PAGESIZE));
	str_addn(out, "header_page", 12);
	snprintf(path, sizeof(path), "%s/events/header_page", root);
	if (put_file(path, true, out, err))
		return err->code;
	str_addn(out, "header_event", 13);
	snprintf(path, sizeof(path), "%s/events/header_event", root);
	if (put_file(path, true, out, err))
		return err->code;
	put_u32(out, 0); /* formats of ftrace's own events */
	if (put_systems(root, events, out, err))
		return err->code;
	put_u32(out, 0); /* kallsyms */
	put_u32(out, 0); /* printk formats */
	put_u64(out, 0); /* saved command lines: the records have them */
	return 0;
}
