#include "event/dynevents.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/sysfile.h"
#include "event/tracefs.h"

enum { ROOT_SIZE = 128, PATH_SIZE = 256, LIST_MAX = 16 << 20 };

static const struct {
	const char *file, *what, *config;
} kinds[DYNEVENT_KINDS] = {
	[DYNEVENT_UPROBE] = {"uprobe_events", "programs", "CONFIG_UPROBE_EVENTS"},
	[DYNEVENT_KPROBE] = {"kprobe_events", "the kernel", "CONFIG_KPROBE_EVENTS"},
};

static int path_of(const char *root, enum dynevent_kind kind, char *path, struct err *err)
{
	char found[ROOT_SIZE];

	if (!root && tracefs_find(found, sizeof(found), err))
		return err->code;
	snprintf(path, PATH_SIZE, "%s/%s", root ? root : found, kinds[kind].file);
	return 0;
}

static int explain(const char *path, enum dynevent_kind kind, int sys, struct err *err)
{
	const char *remedy = kind == DYNEVENT_UPROBE
		? "; without tracefs, 'pace record -e uprobe:FILE:FUNCTION' puts a probe into a program while it records"
		: "";

	if (sys == ENOENT)
		return err_set(err, ERR_NOENT,
			"this kernel cannot put named probes into %s: there is no '%s' (%s)%s",
			kinds[kind].what, path, kinds[kind].config, remedy);
	if (sys == EACCES || sys == EPERM || sys == EROFS)
		return err_set(err, ERR_PERM,
			"'%s' cannot be written (%s): probes are root's, so run 'sudo pace probe'%s",
			path, strerror(sys), remedy);
	return err_sys(err, sys, "opening '%s'", path);
}

/* "p:group/name PLACE ARGS" */
static void parse_line(struct dynevents *d, enum dynevent_kind kind, char *line)
{
	struct dynevent e = {.kind = kind, .is_return = *line == 'r'};
	char *head = strsep(&line, " "), *colon = strchr(head, ':'), *slash;

	slash = colon ? strchr(colon, '/') : NULL;
	if (!slash || !line)
		return;
	*slash = '\0';
	e.group = colon + 1;
	e.name = slash + 1;
	e.place = strsep(&line, " ");
	e.args = line ? line : "";
	vec_add(&d->at, e);
}

void dynevents_parse(struct dynevents *d, enum dynevent_kind kind, const char *text)
{
	char *rest = arena_strdup(&d->texts, text, strlen(text)), *line;

	while ((line = strsep(&rest, "\n")) != NULL)
		if (*line == 'p' || *line == 'r')
			parse_line(d, kind, line);
}

int dynevents_read(struct dynevents *d, const char *root, struct err *err)
{
	memset(d, 0, sizeof(*d));
	for (int kind = 0; kind < DYNEVENT_KINDS; kind++) {
		char path[PATH_SIZE];
		struct str text = {0};

		if (path_of(root, kind, path, err))
			return err->code;
		if (access(path, F_OK))
			continue;
		if (sysfile_read(path, LIST_MAX, &text, err)) {
			str_fini(&text);
			return err->code == ERR_PERM ? explain(path, kind, EACCES, err) : err->code;
		}
		dynevents_parse(d, kind, str_text(&text));
		str_fini(&text);
	}
	return 0;
}

void dynevents_fini(struct dynevents *d)
{
	vec_fini(&d->at);
	arena_fini(&d->texts);
}

/* The kernel's last complaint: "[123.4] trace_uprobe: error: Invalid probed event name". */
static void add_reason(const char *path, struct str *text)
{
	struct str name = {0}, log = {0};
	char *at = NULL, *next;
	struct err ignored;

	str_addn(&name, path, strrchr(path, '/') - path);
	str_add(&name, "/error_log");
	if (!sysfile_read(str_text(&name), 1 << 20, &log, &ignored) && log.n)
		for (next = log.at; (next = strstr(next, ": error: ")) != NULL; next += 9)
			at = next + 9;
	if (at)
		str_addf(text, ": %.*s", (int)strcspn(at, "\n"), at);
	str_fini(&name);
	str_fini(&log);
}

static int write_line(const char *root, enum dynevent_kind kind, const char *line, struct err *err)
{
	char path[PATH_SIZE];
	struct str text = {0}, why = {0};
	int fd, sys;

	if (path_of(root, kind, path, err))
		return err->code;
	fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (fd < 0)
		return explain(path, kind, errno, err);
	str_addf(&text, "%s\n", line);
	sys = fd_write(fd, text.at, text.n);
	close(fd);
	if (sys == EINVAL || sys == EEXIST || sys == E2BIG)
		add_reason(path, &why);
	if (sys == EACCES || sys == EPERM)
		explain(path, kind, sys, err);
	else if (sys)
		err_set(err, ERR_INVAL, "the kernel refuses '%s' (%s)%s", line, strerror(sys),
			str_text(&why));
	err->sys = sys;
	str_fini(&text);
	str_fini(&why);
	return sys ? err->code : 0;
}

int dynevents_define(const char *root, enum dynevent_kind kind, const char *definition,
	struct err *err)
{
	return write_line(root, kind, definition, err);
}

int dynevents_remove(const char *root, enum dynevent_kind kind, const char *group, const char *name,
	struct err *err)
{
	struct str line = {0};
	int r;

	str_addf(&line, "-:%s/%s", group, name);
	r = write_line(root, kind, str_text(&line), err);
	if (r && err->sys == EBUSY)
		err_set(err, ERR_SYS, "'%s:%s' is in use: something records it right now", group,
			name);
	str_fini(&line);
	return r;
}

bool dynevents_can_share_names(const char *root)
{
	char found[ROOT_SIZE], path[PATH_SIZE];
	struct str text = {0};
	struct err err;
	bool can;

	if (!root && tracefs_find(found, sizeof(found), &err))
		return false;
	snprintf(path, sizeof(path), "%s/README", root ? root : found);
	can = !sysfile_read(path, 1 << 20, &text, &err) &&
		strstr(str_text(&text), "Create/append/remove/show");
	str_fini(&text);
	return can;
}
