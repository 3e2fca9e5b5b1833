#include "event/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/nearest.h"
#include "base/str.h"
#include "base/sysfile.h"

/* ---- the mount ---- */

static bool has_option(const char *options, const char *option)
{
	size_t n = strlen(option);

	for (const char *at = options; (at = strstr(at, option)) != NULL; at += n)
		if ((at == options || at[-1] == ',') && (!at[n] || at[n] == ','))
			return true;
	return false;
}

/* "what where type options ..." */
static bool is_mount_of(char *line, const char *type, const char *option, char *buf, size_t size)
{
	char *save = NULL, *where, *found, *options;

	if (!strtok_r(line, " ", &save))
		return false;
	where = strtok_r(NULL, " ", &save);
	found = strtok_r(NULL, " ", &save);
	options = strtok_r(NULL, " ", &save);
	if (!options || strcmp(found, type) || (option && !has_option(options, option)))
		return false;
	snprintf(buf, size, "%s", where);
	return true;
}

static bool find_mount(const struct str *mounts, const char *type, const char *option, char *buf,
	size_t size)
{
	char *copy = mem_strdup(str_text(mounts)), *rest = copy, *line;
	bool is_found = false;

	while (!is_found && (line = strsep(&rest, "\n")) != NULL)
		is_found = is_mount_of(line, type, option, buf, size);
	mem_free(copy);
	return is_found;
}

int cgroup_find_mount(const char *mounts, char *buf, size_t size, struct err *err)
{
	struct str text = {0};
	bool is_found;

	if (sysfile_read(mounts, 16 << 20, &text, err)) {
		str_fini(&text);
		return err->code;
	}
	is_found = find_mount(&text, "cgroup", "perf_event", buf, size) ||
		find_mount(&text, "cgroup2", NULL, buf, size);
	str_fini(&text);
	if (is_found)
		return 0;
	return err_set(err, ERR_NOENT,
		"no cgroup hierarchy that counts events is mounted: 'sudo mount -t cgroup2 none "
		"/sys/fs/cgroup'");
}

/* ---- names ---- */

static const char *without_slashes(const char *name)
{
	while (*name == '/')
		name++;
	return name;
}

static bool leads_out(const char *name)
{
	for (const char *at = name; (at = strstr(at, "..")) != NULL; at += 2)
		if ((at == name || at[-1] == '/') && (!at[2] || at[2] == '/'))
			return true;
	return false;
}

static bool exists(const char *root, const char *name)
{
	char path[4096];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	return !leads_out(name) && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Lists all cgroups below root/below. More levels than a kernel allows are a loop. */
static void list_below(const char *root, const char *below, unsigned depth, struct intern *names)
{
	struct dirent **entries;
	char path[4096];
	int n;

	snprintf(path, sizeof(path), "%s/%s", root, below);
	n = depth < 64 ? scandir(path, &entries, NULL, alphasort) : -1;
	for (int i = 0; i < n; i++) {
		char name[4096];

		if (entries[i]->d_name[0] != '.' && entries[i]->d_type == DT_DIR) {
			snprintf(name, sizeof(name), "%s%s%s", below, *below ? "/" : "",
				entries[i]->d_name);
			intern_str(names, name);
			list_below(root, name, depth + 1, names);
		}
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
}

static int unknown(const char *root, const char *name, struct err *err)
{
	struct nearest near = {.typed = name};
	struct intern names = {0};
	struct str hint = {0};

	list_below(root, "", 0, &names);
	vec_each(known, &names.strings)
		nearest_offer(&near, *known);
	nearest_add_hint(&near, &hint);
	err_set(err, ERR_NOENT, "there is no cgroup '%s' in '%s'%s", name, root, str_text(&hint));
	str_fini(&hint);
	intern_fini(&names);
	return err->code;
}

/* ---- lists ---- */

/* The names of a list, empty ones included; each must exist. */
static int read_list(const char *list, const char *root, struct intern *ret_names, struct err *err)
{
	char *copy = mem_strdup(list), *rest = copy, *name;
	int r = 0;

	/* Appended, not interned: a name may come twice. */
	while (!r && (name = strsep(&rest, ",")) != NULL) {
		const char *below = without_slashes(name);

		if (*name && !exists(root, below))
			r = unknown(root, below, err);
		vec_add(&ret_names->strings,
			arena_strdup(&ret_names->arena, *name && !*below ? "." : below,
				*name && !*below ? 1 : strlen(below)));
	}
	mem_free(copy);
	return r;
}

static size_t first_without(const struct event_list *events)
{
	size_t i = 0;

	while (i < events->n && events->at[i].cgroup)
		i++;
	return i;
}

static const char *store(struct event_list *events, const char *name)
{
	return *name ? arena_strdup(&events->arena, name, strlen(name)) : NULL;
}

int cgroup_assign(struct event_list *events, const char *list, const char *root, struct err *err)
{
	size_t first = first_without(events);
	struct intern names = {0};
	int r = read_list(list, root, &names, err);

	if (!r && names.strings.n > events->n - first)
		r = err_set(err, ERR_INVAL,
			"-G '%s': %zu cgroups for %zu events; name the events (-e) first", list,
			names.strings.n, events->n - first);
	if (!r && names.strings.n == 1)
		for (size_t i = first; i < events->n; i++)
			events->at[i].cgroup = store(events, names.strings.at[0]);
	else if (!r)
		for (size_t i = 0; i < names.strings.n; i++)
			events->at[first + i].cgroup = store(events, names.strings.at[i]);
	intern_fini(&names);
	return r;
}

/* ---- every event in every cgroup ---- */

/* Whether the pattern matches the name with a slash in front, as a path. */
static bool is_match_of_path(const regex_t *regex, const char *name)
{
	char path[4096];

	snprintf(path, sizeof(path), "/%s", name);
	return !regexec(regex, path, 0, NULL, 0);
}

static int match_regex(const char *pattern, const char *root, struct intern *names, struct err *err)
{
	struct intern all = {0};
	size_t before = names->strings.n;
	regex_t regex;
	char why[128];
	int r = regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB);

	if (r) {
		regerror(r, &regex, why, sizeof(why));
		return err_set(err, ERR_INVAL, "cgroup '%s': %s", pattern, why);
	}
	list_below(root, "", 0, &all);
	vec_each(name, &all.strings)
		if (!regexec(&regex, *name, 0, NULL, 0) || is_match_of_path(&regex, *name))
			intern_str(names, *name);
	regfree(&regex);
	intern_fini(&all);
	return names->strings.n > before ? 0 : unknown(root, pattern, err);
}

static int expand_list(const char *list, const char *root, struct intern *names, struct err *err)
{
	char *copy = mem_strdup(list), *rest = copy, *name;
	int r = 0;

	while (!r && (name = strsep(&rest, ",")) != NULL) {
		const char *below = without_slashes(name);

		if (!*name)
			r = err_set(err, ERR_INVAL, "cgroups '%s': a name is empty", list);
		else if (exists(root, below))
			intern_str(names, *below ? below : ".");
		else
			r = match_regex(name, root, names, err);
	}
	mem_free(copy);
	return r;
}

/* Appends the first n events once more, with their groups. */
static void add_copies(struct event_list *events, size_t n, const char *cgroup)
{
	size_t base = events->n;

	for (size_t i = 0; i < n; i++) {
		struct event *e = event_add_copy(events, i);

		e->leader = base + events->at[i].leader;
		e->n_members = events->at[i].n_members;
		e->cgroup = cgroup;
	}
}

int cgroup_for_each(struct event_list *events, const char *list, const char *root, struct err *err)
{
	size_t n = events->n;
	struct intern names = {0};
	int r = 0;

	for (size_t i = 0; i < n && !r; i++)
		if (events->at[i].cgroup)
			r = err_set(err, ERR_INVAL,
				"event '%s' is for cgroup '%s' already: -G and --for-each-cgroup "
				"exclude each other",
				events->at[i].name, events->at[i].cgroup);
	if (!r && !n)
		r = err_set(err, ERR_INVAL, "cgroups '%s': name the events (-e) first", list);
	if (!r)
		r = expand_list(list, root, &names, err);
	for (size_t k = 1; k < names.strings.n && !r; k++)
		add_copies(events, n, store(events, names.strings.at[k]));
	for (size_t i = 0; i < n && !r; i++)
		events->at[i].cgroup = store(events, names.strings.at[0]);
	intern_fini(&names);
	return r;
}

/* ---- opening ---- */

int cgroup_open(const char *path, int *ret_fd, struct err *err)
{
	char mount[4096];
	struct str whole = {0};
	size_t n;
	int fd;

	if (cgroup_find_mount("/proc/mounts", mount, sizeof(mount), err))
		return err->code;
	n = strlen(mount);
	if (strncmp(path, mount, n) || (path[n] && path[n] != '/'))
		str_addf(&whole, "%s/", mount);
	str_add(&whole, path);
	fd = open(str_text(&whole), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		err_sys(err, errno, "opening the control group '%s'", str_text(&whole));
	str_fini(&whole);
	if (fd < 0)
		return err->code;
	*ret_fd = fd;
	return 0;
}
