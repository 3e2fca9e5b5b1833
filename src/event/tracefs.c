#include "event/tracefs.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
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
	static const char *const places[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
	char probe[64];

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

int tracefs_id(const char *root, const char *system, const char *name, u64 *ret_id, struct err *err)
{
	char found[128], path[512];
	s64 id;

	if (!root) {
		if (tracefs_find(found, sizeof(found), err))
			return err->code;
		root = found;
	}
	if (strchr(system, '/') || strchr(name, '/'))
		return err_set(err, ERR_INVAL, "'%s:%s' is no name of a tracepoint", system, name);
	snprintf(path, sizeof(path), "%s/events/%s/%s/id", root, system, name);
	if (!sysfile_s64(path, &id))
		return access(path, R_OK) && errno == EACCES ? denied(root, err)
							     : unknown(root, system, name, err);
	*ret_id = id;
	return 0;
}
