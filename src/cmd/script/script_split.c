/*
 * script_split.c - --per-event-dump: a file for the samples of each event, "perf.data.cycles.dump".
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/selfname.h"
#include "cmd/script/scripting.h"

/* The file's name; an event's may have characters that none may have. */
static void add_path(const struct script_split *p, const struct event *e, struct str *path)
{
	size_t start;

	str_addf(path, "%s.", p->path);
	start = path->n;
	str_add(path, e->name);
	for (size_t i = start; i < path->n; i++)
		if (path->at[i] == '/')
			path->at[i] = '_';
	str_add(path, ".dump");
}

static struct out *open_out(const struct script_split *p, const struct event *e, struct err *err)
{
	struct str path = {0};
	struct out *out;
	int fd;

	add_path(p, e, &path);
	fd = open(str_text(&path), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0) {
		err_set(err, ERR_SYS, "--per-event-dump: cannot make '%s': %s", str_text(&path),
			strerror(errno));
		str_fini(&path);
		return NULL;
	}
	out = mem_zalloc(sizeof(*out));
	out->fd = fd;
	out->name = mem_strdup(str_text(&path));
	str_fini(&path);
	return out;
}

struct out *script_split_out(struct script_split *p, const struct event_list *events, u32 event,
	struct err *err)
{
	while (p->outs.n < events->n) {
		struct out *out = open_out(p, &events->at[p->outs.n], err);

		if (!out)
			return NULL;
		vec_add(&p->outs, out);
		vec_add(&p->n_samples, (u64)0);
	}
	p->n_samples.at[event]++;
	return p->outs.at[event];
}

int script_split_end(struct script_split *p, struct str *text, struct err *err)
{
	for (size_t i = 0; i < p->outs.n; i++) {
		struct out *out = p->outs.at[i];
		off_t size;

		out_flush(out);
		size = lseek(out->fd, 0, SEEK_CUR);
		if (out_close(out, err))
			return err->code;
		str_addf(text, "[ %s script: Wrote %.3f MB %s (%llu samples) ]\n", program_name(),
			(double)size / 1024 / 1024, out->name,
			(unsigned long long)p->n_samples.at[i]);
	}
	return 0;
}

void script_split_fini(struct script_split *p)
{
	vec_each(out, &p->outs) {
		close((*out)->fd);
		str_fini(&(*out)->text);
		mem_free((char *)(*out)->name);
		mem_free(*out);
	}
	vec_fini(&p->outs);
	vec_fini(&p->n_samples);
}
