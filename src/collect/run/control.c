#include "collect/run/control.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/num.h"

static const struct {
	const char *word;
	enum control_command command;
	bool takes_argument, is_recorders;
} words[] = {
	{"enable", CONTROL_ENABLE, true, false},
	{"disable", CONTROL_DISABLE, true, false},
	{"ping", CONTROL_PING, false, false},
	{"stop", CONTROL_STOP, false, false},
	{"snapshot", CONTROL_SNAPSHOT, false, true},
	{"evlist", CONTROL_EVLIST, true, true},
};

static int bad_text(const char *text, struct err *err)
{
	return err_set(err, ERR_INVAL,
		"--control '%s': expected fd:NUMBER[,NUMBER] or fifo:PATH[,PATH]", text);
}

/* Opened for both directions: opening a fifo for reading only would wait for a writer. */
static int open_fifo(const char *path, size_t n, int *ret_fd, struct err *err)
{
	char name[4096];
	struct stat st;
	int fd;

	if (n >= sizeof(name))
		return err_set(err, ERR_INVAL, "--control: a path of %zu bytes is too long", n);
	memcpy(name, path, n);
	name[n] = '\0';
	fd = open(name, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return err_sys(err, errno, "--control: opening '%s'", name);
	if (fstat(fd, &st) || !S_ISFIFO(st.st_mode)) {
		close(fd);
		return err_set(err, ERR_INVAL, "--control: '%s' is not a fifo ('mkfifo' makes one)",
			name);
	}
	*ret_fd = fd;
	return 0;
}

static int open_fifos(struct control *c, const char *text, struct err *err)
{
	size_t n = strcspn(text, ",");

	c->owns = true;
	if (open_fifo(text, n, &c->fd, err))
		return err->code;
	return text[n] ? open_fifo(text + n + 1, strlen(text + n + 1), &c->ack_fd, err) : 0;
}

static int take_numbers(struct control *c, const char *text, struct err *err)
{
	u64 fd, ack_fd = 0;
	const char *p = text;
	bool has_ack;

	if (!num_scan(&p, 10, &fd))
		return bad_text(text, err);
	has_ack = *p == ',';
	if ((has_ack && (p++, !num_scan(&p, 10, &ack_fd))) || *p || fd > INT32_MAX ||
		ack_fd > INT32_MAX)
		return bad_text(text, err);
	if (fcntl((int)fd, F_GETFD) < 0 || (has_ack && fcntl((int)ack_fd, F_GETFD) < 0))
		return err_sys(err, errno, "--control 'fd:%s'", text);
	c->fd = (int)fd;
	c->ack_fd = has_ack ? (int)ack_fd : -1;
	fcntl(c->fd, F_SETFL, fcntl(c->fd, F_GETFL) | O_NONBLOCK);
	return 0;
}

int control_open(struct control *c, const char *text, struct err *err)
{
	int r;

	*c = (struct control){.fd = -1, .ack_fd = -1};
	if (!strncmp(text, "fd:", 3))
		r = take_numbers(c, text + 3, err);
	else if (!strncmp(text, "fifo:", 5))
		r = open_fifos(c, text + 5, err);
	else
		r = bad_text(text, err);
	if (r)
		control_close(c);
	return r;
}

void control_close(struct control *c)
{
	if (c->owns && c->fd >= 0)
		close(c->fd);
	if (c->owns && c->ack_fd >= 0)
		close(c->ack_fd);
	c->fd = c->ack_fd = -1;
}

static enum control_command command_of(struct control *c, size_t n, struct log *log)
{
	const char *space = memchr(c->line, ' ', n);
	size_t word_n = space ? (size_t)(space - c->line) : n,
	       argument_n = space ? n - word_n - 1 : 0;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		bool is_known =
			c->is_recording || (!words[i].is_recorders && !argument_n && word_n == n);

		if (strlen(words[i].word) != word_n || memcmp(words[i].word, c->line, word_n) ||
			!is_known || (argument_n && !words[i].takes_argument) ||
			argument_n >= sizeof(c->argument))
			continue;
		memcpy(c->argument, c->line + n - argument_n, argument_n);
		c->argument[argument_n] = '\0';
		return words[i].command;
	}
	if (n)
		log_warn(log,
			"--control: '%.*s' is not a command; the known ones are enable, disable, ping, stop%s",
			(int)n, c->line,
			c->is_recording
				? ", snapshot, evlist, and enable or disable with an event's name"
				: "");
	return CONTROL_NONE;
}

enum control_command control_next(struct control *c, struct log *log)
{
	for (;;) {
		char *end = memchr(c->line, '\n', c->n);
		enum control_command command = CONTROL_NONE;
		ssize_t n;

		if (end || c->n == sizeof(c->line)) {
			size_t length = end ? (size_t)(end - c->line) : c->n;
			size_t used = length + (end != NULL);

			command = command_of(c, length, log);
			memmove(c->line, c->line + used, c->n - used);
			c->n -= used;
			if (command)
				return command;
			continue;
		}
		n = read(c->fd, c->line + c->n, sizeof(c->line) - c->n);
		if (n < 0)
			return errno == EAGAIN || errno == EINTR ? CONTROL_NONE : CONTROL_CLOSED;
		if (n == 0)
			return CONTROL_CLOSED;
		c->n += n;
	}
}

void control_ack(struct control *c)
{
	/* A sender that does not read its acknowledgements does not want them. */
	if (c->ack_fd >= 0 && write(c->ack_fd, "ack\n", 4) < 0)
		return;
}
