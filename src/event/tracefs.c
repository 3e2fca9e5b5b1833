#include "event/tracefs.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/nearest.h"
#include "base/str.h"
#include "base/sysfile.h"

static int denied(const char *root, struct err *err)
{
	/*
	 * Since Linux 5.16 only root and its group may read the files: mode=755 alone opens the
	 * directory.
	 */
	return err_set(err, ERR_PERM,
		"tracepoints are in '%s', which only root may read: run as root, or '" TRACEFS_OPEN
		" %s'",
		root, getgid(), root);
}

int tracefs_find(char *buf, size_t size, struct err *err)
{
	const char *said = getenv(TRACEFS_VARIABLE);
	const char *const places[] = {said && *said ? said : "/sys/kernel/tracing",
		said && *said ? said : "/sys/kernel/debug/tracing"};
	char probe[512];

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		snprintf(probe, sizeof(probe), "%s/events", places[i]);
		if (access(probe, R_OK | X_OK) == 0) {
			snprintf(buf, size, "%s", places[i]);
			return 0;
		}
		if (errno == EACCES)
			return denied(places[i], err);
	}
	return err_set(err, ERR_NOENT,
		"tracepoints need tracefs, which is not mounted: '" TRACEFS_MOUNT "'");
}

void tracefs_add_fields(const char *root, const char *system, const char *name, struct str *text)
{
	char found[128], path[512];
	struct str format = {0};
	struct err err;
	size_t before = text->n;

	if (!root && tracefs_find(found, sizeof(found), &err))
		return;
	snprintf(path, sizeof(path), "%s/events/%s/%s/format", root ? root : found, system, name);
	if (!sysfile_read(path, 1 << 20, &format, &err)) {
		char *rest = format.at, *line;

		/* "\tfield:char prev_comm[16];\toffset:8;..." */
		while ((line = strsep(&rest, "\n")) != NULL) {
			char *end = strchr(line, ';'), *field;

			if (strncmp(line, "\tfield:", 7) != 0 || !end)
				continue;
			*end = '\0';
			field = strrchr(line, ' ');
			if (!field || !strncmp(field + 1, "common_", 7))
				continue;
			field[strcspn(field, "[")] = '\0';
			str_addf(text, "%s%s", text->n > before ? " " : "", field + 1);
		}
	}
	str_fini(&format);
}

/* Offers the names of a directory's directories, each as prefix:entry. */
static void offer_entries(struct nearest *near, struct intern *names, const char *dir_path,
	const char *prefix)
{
	DIR *dir = opendir(dir_path);
	struct dirent *entry;
	char name[512];

	if (!dir)
		return;
	while ((entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.' || entry->d_type == DT_REG)
			continue;
		snprintf(name, sizeof(name), "%s%s", prefix, entry->d_name);
		nearest_offer(near, intern_str(names, name));
	}
	closedir(dir);
}

static int unknown(const char *root, const char *system, const char *name, struct err *err)
{
	struct intern names = {0};
	struct str hint = {0}, typed = {0};
	struct nearest near = {0};
	char path[512];
	bool has_system;

	snprintf(path, sizeof(path), "%s/events/%s", root, system);
	has_system = access(path, F_OK) == 0;
	str_addf(&typed, has_system ? "%s:%s" : "%s", system, name);
	near.typed = str_text(&typed);
	if (has_system) {
		char prefix[128];

		snprintf(prefix, sizeof(prefix), "%s:", system);
		offer_entries(&near, &names, path, prefix);
	} else {
		snprintf(path, sizeof(path), "%s/events", root);
		offer_entries(&near, &names, path, "");
	}
	nearest_add_hint(&near, &hint);
	if (has_system)
		err_set(err, ERR_NOENT, "there is no tracepoint '%s:%s'%s", system, name,
			str_text(&hint));
	else
		err_set(err, ERR_NOENT, "there are no tracepoints of '%s' ('%s:%s')%s", system,
			system, name, str_text(&hint));
	str_fini(&hint);
	str_fini(&typed);
	intern_fini(&names);
	return err->code;
}

enum { ROOT_SIZE = 128 };

/* Finds out where tracefs is mounted, unless *root says so, and checks the names, which become parts of paths. */
static int prepare(const char **root, char found[ROOT_SIZE], const char *system, const char *name,
	struct err *err)
{
	if (!*root && tracefs_find(found, ROOT_SIZE, err))
		return err->code;
	*root = *root ? *root : found;
	return strchr(system, '/') || strchr(name, '/')
		? err_set(err, ERR_INVAL, "'%s:%s' is not the name of a tracepoint", system, name)
		: 0;
}

int tracefs_id(const char *root, const char *system, const char *name, u64 *ret_id, struct err *err)
{
	char found[ROOT_SIZE], path[512];
	s64 id;

	if (prepare(&root, found, system, name, err))
		return err->code;
	snprintf(path, sizeof(path), "%s/events/%s/%s/id", root, system, name);
	if (!sysfile_s64(path, &id))
		return access(path, R_OK) && errno == EACCES ? denied(root, err)
							     : unknown(root, system, name, err);
	*ret_id = id;
	return 0;
}

/* Directories of `path` that match a glob, sorted; -1 and errno if it cannot be read. */
static int matching_dirs(const char *path, const char *glob, struct intern *names)
{
	struct dirent **entries;
	int n = scandir(path, &entries, NULL, alphasort);

	if (n < 0)
		return -1;
	for (int i = 0; i < n; i++) {
		if (entries[i]->d_name[0] != '.' && entries[i]->d_type != DT_REG &&
			!fnmatch(glob, entries[i]->d_name, 0))
			intern_str(names, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	return 0;
}

/* The tracepoints of one system: directories that have an id. */
static void match_names(const char *root, const char *system, const char *glob,
	struct intern *names)
{
	struct intern found = {0};
	char path[512], full[512];

	snprintf(path, sizeof(path), "%s/events/%s", root, system);
	(void)matching_dirs(path, glob, &found);
	vec_each(name, &found.strings) {
		snprintf(path, sizeof(path), "%s/events/%s/%s/id", root, system, *name);
		snprintf(full, sizeof(full), "%s:%s", system, *name);
		if (access(path, F_OK) == 0)
			intern_str(names, full);
	}
	intern_fini(&found);
}

int tracefs_match(const char *root, const char *system, const char *name, struct intern *names,
	struct err *err)
{
	struct intern systems = {0};
	char found[ROOT_SIZE], path[256];
	int r;

	if (prepare(&root, found, system, name, err))
		return err->code;
	snprintf(path, sizeof(path), "%s/events", root);
	r = matching_dirs(path, system, &systems);
	if (r)
		return errno == EACCES ? denied(root, err)
				       : err_sys(err, errno, "reading '%s'", path);
	vec_each(one, &systems.strings)
		match_names(root, *one, name, names);
	intern_fini(&systems);
	if (!names->strings.n)
		return err_set(err, ERR_NOENT, "no tracepoint matches '%s:%s'", system, name);
	return 0;
}
