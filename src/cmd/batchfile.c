#include "cmd/batchfile.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/workers.h"
#include "profile/tree/batching.h"
#include "profile/tree/calls.h"

enum { FILE_MOST = 1 << 30, HOST_BYTES = 256 };

/* ---- recordings ---- */

static void label_comm(void *ctx, struct batch *b, const struct profile *p, size_t row, u32 *cells)
{
	const char *comm = profile_text(profile_label(p, row, LABEL_COMM));

	(void)ctx;
	cells[0] = batch_add_string(b, comm ? comm : "");
}

/* When it was made: its file was complete then. */
static void take_times(struct batch *b, const struct recorded *r, const char *path)
{
	const struct file_info *info = &r->trace.session.reader.info;
	struct stat st;
	u64 end = 0;

	if (!stat(path, &st))
		end = (u64)st.st_mtim.tv_sec * 1000000000 + (u64)st.st_mtim.tv_nsec;
	b->end_ns = end;
	b->start_ns = info->has_times && info->last_time > info->first_time
		? end - MIN(end, info->last_time - info->first_time)
		: end;
}

static void take_losses(struct batch *b, const struct recorded *r)
{
	vec_each(e, &r->ledger.entries)
		if (e->cause == LEDGER_NAMELESS)
			batch_lose(b, "nameless", e->where, e->unit, e->amount);
	batch_lose(b, "dropped", "", "samples", r->trace.session.tally.n_lost_samples);
}

static int read_recording(struct batchfile *f, const char *path, struct err *err)
{
	static const struct batch_labelling labelling = {label_comm, NULL};
	struct recorded_options reading = {.labels = LABEL_BIT(LABEL_COMM),
		.has_stacks = true,
		.n_workers = workers_available(),
		.naming.has_inlined = true};
	const char *host;
	struct recorded r;
	struct calls calls;
	int result = recorded_open(&r, path, f->log, err);

	if (result)
		return result;
	symbol_options_tell(&f->options->symbols, f->options->debuginfod_s, &reading);
	reading.naming.style = symbol_options_style(&f->options->symbols, 0);
	result = recorded_read(&r, &reading, err);
	if (!result) {
		calls_init(&calls, &r.profile);
		batch_column(&f->recorded, "comm");
		batch_add_profile(&f->recorded, &r.profile, &calls, &labelling);
		calls_fini(&calls);
		take_times(&f->recorded, &r, path);
		take_losses(&f->recorded, &r);
		host = r.trace.session.reader.info.host.hostname;
		if (host)
			batch_say(&f->recorded, "host", host);
	}
	recorded_close(&r);
	return result;
}

/* ---- files of batches ---- */

static int read_all(struct batchfile *f, const char *path, struct err *err)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	int sys = 0;

	if (fd < 0)
		return err_sys(err, errno, "opening '%s'", path);
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size > FILE_MOST) {
		close(fd);
		return err_set(err, ERR_INVAL, "'%s' is no file of batches, and no recording",
			path);
	}
	str_reserve(&f->bytes, (size_t)st.st_size + 1);
	if (fd_read_some_at(fd, f->bytes.at, (size_t)st.st_size, 0) != st.st_size)
		sys = errno ? errno : EIO;
	f->bytes.n = (size_t)st.st_size;
	close(fd);
	return sys ? err_sys(err, sys, "reading '%s'", path) : 0;
}

static bool has_batches(const char *path)
{
	u8 first[BATCH_MAGIC_BYTES];
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	const ssize_t n = fd < 0 ? -1 : fd_read_some_at(fd, first, sizeof(first), 0);

	if (fd >= 0)
		close(fd);
	return n > 0 && batch_recognizes(first, (size_t)n);
}

int batchfile_open(struct batchfile *f, const char *path, const struct batchfile_options *o,
	struct log *log, struct err *err)
{
	int result;

	*f = (struct batchfile){.options = o, .log = log};
	vec_each(label, &o->labels)
		if (!strchr(*label, '=') || **label == '=')
			return err_set(err, ERR_INVAL, "--label: '%.60s' is not NAME=VALUE",
				*label);
	f->is_recording = !has_batches(path);
	batch_init(&f->recorded);
	if (f->is_recording)
		result = read_recording(f, path, err);
	else
		result = read_all(f, path, err) ||
			batch_reader_init(&f->reader, bytes_of(f->bytes.at, f->bytes.n), path, err);
	if (!result)
		return 0;
	batchfile_close(f);
	return err->code;
}

void batchfile_close(struct batchfile *f)
{
	batch_reader_fini(&f->reader);
	batch_fini(&f->recorded);
	str_fini(&f->bytes);
}

/* ---- batches ---- */

static void add_facts(const struct batchfile *f, struct batch *b)
{
	char own[HOST_BYTES] = "";
	struct str key = {0};

	if (f->options->host)
		batch_say(b, "host", f->options->host);
	else if (!*batch_fact(b, "host") && !gethostname(own, sizeof(own) - 1))
		batch_say(b, "host", own);
	vec_each(label, &f->options->labels) {
		const size_t n = strcspn(*label, "=");

		str_clear(&key);
		str_addf(&key, "label.%.*s", (int)n, *label);
		batch_say(b, str_text(&key), *label + n + 1);
	}
	str_fini(&key);
}

int batchfile_next(struct batchfile *f, struct batch *ret, struct err *err)
{
	int more = !f->is_read;

	if (!f->is_recording) {
		while ((more = batch_next(&f->reader, err)) != 0) {
			if (more > 0 && !batch_read(&f->reader, ret, err))
				break;
			log_warn(f->log, "%s; the batch is left out", err->msg);
			*err = (struct err){0};
			f->n_damaged++;
		}
	} else if (more) {
		*ret = f->recorded;
		batch_init(&f->recorded);
		f->is_read = true;
	}
	if (more > 0)
		add_facts(f, ret);
	return more;
}
