#include <string.h>

#include "cmd/cmd.h"
#include "cmd/stat/measuring.h"
#include "cmd/version.h"
#include "file/identity.h"

bool stat_record_is_piped(const struct stat_command *o)
{
	return o->is_record && o->output && !strcmp(o->output, "-");
}

int stat_record_prepare(struct measuring *m, struct err *err)
{
	return stat_record_is_piped(m->options) ? cmd_divert_stdout(&m->pipe_fd, err) : 0;
}

/* A stream begins with what a file has at its end. */
static int open_writer(struct measuring *m, struct err *err)
{
	const struct stat_command *o = m->options;
	struct file_info info;
	int r;

	if (!stat_record_is_piped(o))
		return writer_open(&m->writer, o->output ? o->output : "perf.data", &m->events,
			err);
	identity_fill(&info, &m->events, version_text(), m->line_n, m->line);
	info.has_counts = true;
	r = writer_open_pipe(&m->writer, m->pipe_fd, &m->events, &info, err);
	file_info_fini(&info);
	return r;
}

int stat_record_begin(struct measuring *m, struct err *err)
{
	static const u64 modes[] = {
		[COUNTS_ALL] = STATFILE_MODE_GLOBAL,
		[COUNTS_SOCKET] = STATFILE_MODE_SOCKET,
		[COUNTS_DIE] = STATFILE_MODE_DIE,
		[COUNTS_CORE] = STATFILE_MODE_CORE,
		[COUNTS_CPU] = STATFILE_MODE_NONE,
		[COUNTS_THREAD] = STATFILE_MODE_THREAD,
		/* perf has these modes only in some versions: */
		[COUNTS_CLUSTER] = STATFILE_MODE_GLOBAL,
		[COUNTS_CACHE] = STATFILE_MODE_GLOBAL,
		[COUNTS_NODE] = STATFILE_MODE_GLOBAL,
	};
	const struct stat_command *o = m->options;
	const struct statfile_config config = {modes[m->counts.scope], o->interval_ms,
		!o->no_scale};

	if (!o->is_record)
		return 0;
	if (open_writer(m, err))
		return err->code;
	return statfile_begin(&m->writer, &m->counting, &m->target, &config, counts_unit,
		counts_scale, err);
}

void stat_record_moment(struct measuring *m, const struct run *run, enum statfile_round round)
{
	if (m->options->is_record && !m->why_unwritten.code)
		statfile_round(&m->writer, &m->counting, &m->target, round,
			run->now_ns - run->start_ns, &m->why_unwritten);
}

int stat_record_finish(struct measuring *m, struct err *err)
{
	struct file_info info;
	int r;

	if (!m->options->is_record)
		return 0;
	identity_fill(&info, &m->events, version_text(), m->line_n, m->line);
	info.has_counts = true;
	r = writer_finish(&m->writer, &info, err);
	file_info_fini(&info);
	if (m->why_unwritten.code)
		*err = m->why_unwritten;
	return r ? r : m->why_unwritten.code;
}
