#include "file/copier.h"

#include "base/fd.h"
#include "event/abi.h"

enum { BATCH = 1 << 20 };

int copier_open(struct copier *c, struct fresh *to, const struct event_list *events,
	struct err *err)
{
	memset(c, 0, sizeof(*c));
	c->to = to;
	return writer_open(&c->writer, to->temporary, events, err);
}

int copier_open_pipe(struct copier *c, int fd, const struct event_list *events,
	const struct file_info *info, struct err *err)
{
	memset(c, 0, sizeof(*c));
	return writer_open_pipe(&c->writer, fd, events, info, err);
}

static int flush(struct copier *c, struct err *err)
{
	struct iovec run = {c->batch.at, c->batch.n};
	int r = c->batch.n ? writer_append(&c->writer, &run, 1, err) : 0;

	str_clear(&c->batch);
	return r;
}

int copier_add(struct copier *c, const struct record *rec, struct err *err)
{
	struct record_header header = {rec->type, rec->misc, rec->size};

	switch (rec->type) {
	case PERF_RECORD_HEADER_ATTR:
	case PERF_RECORD_HEADER_EVENT_TYPE:
	case PERF_RECORD_HEADER_TRACING_DATA:
	case SIMPLEPERF_RECORD_TRACING_DATA:
	case PERF_RECORD_HEADER_BUILD_ID:
	case PERF_RECORD_HEADER_FEATURE:
		return 0; /* sections say it */
	case PERF_RECORD_AUXTRACE:
	case PERF_RECORD_AUXTRACE_INFO:
		return err_set(err, ERR_UNSUPPORTED,
			"it holds an instruction trace, whose times are unknown unless it is decoded");
	default:
		break;
	}
	str_addn(&c->batch, &header, sizeof(header));
	str_addn(&c->batch, rec->at + sizeof(header), rec->size - sizeof(header));
	c->n_records++;
	return c->batch.n < BATCH ? 0 : flush(c, err);
}

int copier_add_sample(struct copier *c, const struct record *rec, u64 time, struct err *err)
{
	if (!c->n_samples++ || time < c->first_time)
		c->first_time = time;
	c->last_time = MAX(c->last_time, time);
	return copier_add(c, rec, err);
}

struct str *copier_replace(struct copier *c, unsigned id)
{
	c->is_replaced[id] = true;
	str_clear(&c->sections[id]);
	return &c->sections[id];
}

/*
 * Adds a section as it is in the model; written anew if the model is a pipe or has the other byte
 * order.
 */
static bool add_section(void *ctx, unsigned id, struct str *out)
{
	struct copier *c = ctx;
	const struct reader *m = c->model;
	size_t before = out->n;
	int sys;

	if (c->is_replaced[id]) {
		str_addn(out, c->sections[id].at, c->sections[id].n);
		return c->sections[id].n > 0;
	}
	/* These describe how the old file stored its records. */
	if (id == FEATURE_COMPRESSED || id == FEATURE_DIR_FORMAT)
		return false;
	if (m->is_pipe_mode || m->is_foreign ||
		(id == FEATURE_TRACING_DATA && !m->sections[id].offset))
		return feature_write(id, &m->info, out);
	/* Offset 0 marks a section that is missing: the file was cut off before it. */
	if (!layout_has_feature(&m->header, id) || !m->sections[id].offset)
		return false;
	str_reserve(out, m->sections[id].size + 1);
	sys = fd_read_at(m->parts.at[0].fd, out->at + before, m->sections[id].size,
		m->sections[id].offset);
	if (sys) {
		c->section_errno = sys;
		return false;
	}
	out->n += m->sections[id].size;
	return true;
}

static void put_times(struct copier *c)
{
	struct file_info times = {.has_times = c->last_time > 0,
		.first_time = c->first_time,
		.last_time = c->last_time};

	feature_write(FEATURE_SAMPLE_TIME, &times, copier_replace(c, FEATURE_SAMPLE_TIME));
}

static void fini(struct copier *c)
{
	for (unsigned id = 0; id < LAYOUT_FEATURE_BITS; id++)
		str_fini(&c->sections[id]);
	str_fini(&c->batch);
}

int copier_finish(struct copier *c, const struct reader *model, struct err *err)
{
	c->model = model;
	if (!c->to) {
		int r = flush(c, err);

		writer_close(&c->writer, true);
		fini(c);
		return r;
	}
	put_times(c);
	if (flush(c, err) || writer_finish_with(&c->writer, add_section, c, err) ||
		(c->section_errno &&
			err_sys(err, c->section_errno, "reading the sections of '%s'",
				model->path))) {
		copier_abandon(c);
		return err->code;
	}
	writer_close(&c->writer, true);
	fini(c);
	if (fresh_commit(c->to, err)) {
		fresh_abandon(c->to);
		return err->code;
	}
	return 0;
}

void copier_abandon(struct copier *c)
{
	writer_close(&c->writer, false);
	fini(c);
}
