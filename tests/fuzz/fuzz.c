#include "fuzz/fuzz.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "arch/arch.h"
#include "file/tracepoints.h"
#include "machine/machine.h"
#include "profile/check/inspection.h"
#include "session/stream.h"
#include "view/records/header.h"
#include "view/records/lint.h"

enum { PIPE_ROOM = 1 << 20 };

/* libtraceevent forgets parts of formats that it does not understand; they are few and small. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libtraceevent\n";
}

const char *fuzz_file(const u8 *data, size_t n)
{
	static char path[64];
	static int fd = -1;

	if (fd < 0) {
		fd = memfd_create("fuzz", MFD_CLOEXEC);
		FUZZ_CHECK(fd >= 0);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	FUZZ_CHECK(!ftruncate(fd, 0));
	FUZZ_CHECK(pwrite(fd, data, n, 0) == (ssize_t)n);
	return path;
}

bool fuzz_stdin(const u8 *data, size_t n)
{
	int ends[2];

	if (n > PIPE_ROOM)
		return false;
	FUZZ_CHECK(!pipe(ends));
	if (fcntl(ends[1], F_SETPIPE_SZ, PIPE_ROOM) < PIPE_ROOM && n > 65536) {
		close(ends[0]);
		close(ends[1]);
		return false;
	}
	FUZZ_CHECK(write(ends[1], data, n) == (ssize_t)n);
	close(ends[1]);
	dup2(ends[0], STDIN_FILENO);
	close(ends[0]);
	return true;
}

u8 *fuzz_exact(const u8 *data, size_t n)
{
	u8 *copy = malloc(n ? n : 1);

	FUZZ_CHECK(copy);
	if (n)
		memcpy(copy, data, n);
	return copy;
}

bool fuzz_is_safe_text(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (((u8)text[i] < ' ' && text[i] != '\n' && text[i] != '\t') || text[i] == 127)
			return false;
	return true;
}

/* ---- recordings ---- */

static u64 take_state(void *ctx, const struct record *rec, const union record_body *body, u64 time)
{
	machine_apply(ctx, rec, body, time);
	return 0;
}

static void take_sample(void *worker, const struct session_sample *s)
{
	*(u64 *)worker += 1;
	FUZZ_CHECK(s->rec->type == PERF_RECORD_SAMPLE);
}

static void inspection(struct session *s)
{
	struct inspection inspection;
	struct lint lint = {.reader = &s->reader, .inspection = &inspection};
	struct str text = {0};
	struct err err;

	if (inspection_take(&inspection, &s->reader, NULL, &err))
		return;
	lint_add_text(&lint, &text);
	header_add_text(&s->reader, true, &text);
	FUZZ_CHECK(fuzz_is_safe_text(str_text(&text), text.n));
	str_fini(&text);
	inspection_fini(&inspection);
}

void fuzz_read_recording(const char *path)
{
	u64 n_handed_on = 0, n_samples;
	void *workers[] = {&n_handed_on};
	struct session_sink sink = {UINT64_MAX, take_sample, workers};
	struct machine machine;
	struct session s;
	struct err err;

	if (session_open(&s, path, NULL, &err))
		return;
	machine_init(&machine);
	if (!session_scan(&s, take_state, &machine, &err)) {
		n_samples = s.tally.n_samples;
		FUZZ_CHECK(!session_samples(&s, 1, &sink, &err));
		/* Nothing is lost without being counted. */
		FUZZ_CHECK(n_handed_on <= n_samples);
		FUZZ_CHECK(n_handed_on + s.tally.n_undecoded + s.tally.n_foreign_id >= n_samples);
	}
	machine_fini(&machine);
	session_close(&s);
	if (!strcmp(path, "-") || session_open(&s, path, NULL, &err))
		return;
	inspection(&s);
	session_close(&s);
}

struct telling {
	struct session *session;
	struct tracepoints tracepoints;
	struct sample sample;
	struct str text;
};

static void tell(struct telling *t, const struct stream_event *e)
{
	const struct formats *f = &t->session->reader.formats;
	const struct sample_format *format = &f->at[e->event == TABLE_NONE ? 0 : e->event];
	u32 trailer = record_has_trailer(e->rec.type) ? format->trailer : 0;
	union record_body body;
	struct err err;

	str_clear(&t->text);
	memset(&t->sample, 0, sizeof(t->sample));
	if (e->rec.type != PERF_RECORD_SAMPLE) {
		if (record_decode(&e->rec, trailer, &body, &err) > 0)
			record_add_text(e->rec.type, e->rec.misc, &body, &t->text);
	} else if (!sample_decode(format, e->rec.at + RECORD_HEADER_SIZE,
			   e->rec.size - RECORD_HEADER_SIZE, UINT64_MAX, &t->sample, &err)) {
		sample_add_text(format, &t->sample, arch_of_host(), &t->text);
		if (e->event != TABLE_NONE)
			tracepoints_add_text(&t->tracepoints,
				t->session->reader.events.at[e->event].attr.config, t->sample.cpu,
				&t->sample.raw, &t->text);
	}
	FUZZ_CHECK(fuzz_is_safe_text(str_text(&t->text), t->text.n));
}

void fuzz_stream_recording(const char *path)
{
	struct telling t = {0};
	struct session s;
	struct stream stream;
	struct stream_event e;
	struct err err;
	u64 n = 0, n_all = 0;

	if (session_open(&s, path, NULL, &err))
		return;
	t.session = &s;
	tracepoints_open(&t.tracepoints, &s.reader.info.tracing_data, &err);
	stream_init(&stream, &s);
	while (stream_next(&stream, &e, &err) > 0) {
		tell(&t, &e);
		n++;
	}
	/* What was read was handed out. */
	for (size_t i = 0; i < ARRAY_SIZE(s.tally.n_by_type); i++)
		n_all += s.tally.n_by_type[i];
	FUZZ_CHECK(n == n_all);
	stream_fini(&stream);
	tracepoints_close(&t.tracepoints);
	str_fini(&t.text);
	session_close(&s);
}
