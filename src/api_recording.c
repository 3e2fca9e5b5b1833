/*
 * api_recording.c - the public functions that read recordings.
 */
#include "api.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "event/abi.h"
#include "machine/machine.h"
#include "profile/ledger.h"
#include "session/decoder.h"
#include "session/stream.h"
#include "symbol/demangle.h"
#include "symbol/location.h"

struct pace_recording {
	char *path;
	int memory_fd; /* -1: none */
	struct session session;
	struct decoder decoder;
	struct machine machine;
	struct embedded embedded;
	struct jitcode jitcode;
	struct resolver resolver;
	struct intern strings;
	struct locator locator;
	bool is_placing; /* the machine is at the moment of the sample that is handed out */
	bool has_begun;  /* reading: from a pipe, what was read is gone */
	/* chain and branches of the sample that is handed out, where words may be */
	struct str lists;
};

/* ---- opening ---- */

static void init_state(struct pace_recording *r)
{
	embedded_attach(&r->embedded, &r->session.reader, NULL);
	machine_init(&r->machine);
	jitcode_init(&r->jitcode, &r->session.reader.events, NULL, NULL);
	r->jitcode.embedded = &r->embedded;
	r->machine.coder = &r->jitcode.coder;
	machine_set_build_ids(&r->machine, &r->session.reader.info);
	embedded_prepare(&r->embedded, &r->machine);
	resolver_init(&r->resolver, &r->machine, NULL, NULL);
	resolver_set_recording(&r->resolver, &r->session.reader, &r->jitcode, &r->embedded);
	locator_init(&r->locator, &r->machine, &r->resolver);
}

static void fini_state(struct pace_recording *r)
{
	resolver_fini(&r->resolver);
	jitcode_fini(&r->jitcode);
	embedded_close(&r->embedded);
	machine_fini(&r->machine);
}

static struct pace_recording *open_session(const char *path, int fd, struct pace_error *ret_err)
{
	struct pace_recording *r = mem_zalloc(sizeof(*r));
	struct err err;

	r->memory_fd = -1;
	r->path = mem_alloc(strlen(path) + 1);
	memcpy(r->path, path, strlen(path) + 1);
	if (session_open_fd(&r->session, fd, r->path, NULL, &err)) {
		api_give_error(&err, ret_err);
		mem_free(r->path);
		mem_free(r);
		return NULL;
	}
	init_state(r);
	return r;
}

PUBLIC struct pace_recording *pace_recording_open(const char *path, struct pace_error *err)
{
	return open_session(path, strcmp(path, "-") ? -1 : STDIN_FILENO, err);
}

PUBLIC struct pace_recording *pace_recording_open_fd(int fd, struct pace_error *ret_err)
{
	struct err err;

	if (fd < 0) {
		err_set(&err, ERR_INVAL, "%d is no descriptor", fd);
		api_give_error(&err, ret_err);
		return NULL;
	}
	return open_session("the descriptor", fd, ret_err);
}

PUBLIC struct pace_recording *pace_recording_open_memory(const void *bytes, size_t size,
	struct pace_error *ret_err)
{
	int fd = memfd_create("pace", MFD_CLOEXEC), sys;
	struct pace_recording *r;
	struct err err;

	sys = fd < 0 ? errno : fd_write(fd, bytes, size);
	if (sys) {
		err_sys(&err, sys, "copying %zu bytes", size);
		api_give_error(&err, ret_err);
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	r = open_session("the memory", fd, ret_err);
	close(fd);
	return r;
}

PUBLIC void pace_recording_close(struct pace_recording *r)
{
	if (!r)
		return;
	fini_state(r);
	session_close(&r->session);
	intern_fini(&r->strings);
	str_fini(&r->lists);
	mem_free(r->path);
	mem_free(r);
}

/* ---- what it says of itself ---- */

PUBLIC uint32_t pace_recording_events(const struct pace_recording *r)
{
	return (uint32_t)r->session.reader.events.n;
}

PUBLIC int pace_recording_event(const struct pace_recording *r, uint32_t number,
	struct pace_event *ret_event, struct pace_error *ret_err)
{
	const struct event_list *events = &r->session.reader.events;
	const struct event *e;
	struct err err;

	if (number >= events->n) {
		err_set(&err, ERR_NOENT, "there is no event %u: the recording has %zu", number,
			events->n);
		return api_give_error(&err, ret_err);
	}
	e = &events->at[number];
	*ret_event = (struct pace_event){.name = e->name,
		.attr = &e->attr,
		.attr_size = sizeof(e->attr),
		.ids = e->ids,
		.n_ids = e->n_ids};
	return 0;
}

PUBLIC void pace_recording_facts(const struct pace_recording *r, struct pace_facts *ret_facts)
{
	const struct file_info *info = &r->session.reader.info;

	*ret_facts = (struct pace_facts){.hostname = info->host.hostname,
		.release = info->host.release,
		.arch = info->host.arch,
		.cpu = info->host.cpu_description,
		.cpuid = info->host.cpuid,
		.version = info->version,
		.command = info->cmdline.at,
		.n_command = (uint32_t)info->cmdline.n,
		.n_cpus = info->host.cpus_available,
		.total_memory_kb = info->host.memory_kb,
		.first_time = info->has_times ? info->first_time : 0,
		.last_time = info->has_times ? info->last_time : 0};
}

/* ---- reading ---- */

static struct pace_record public_record(const struct stream_event *e)
{
	return (struct pace_record){.type = e->rec.type,
		.misc = e->rec.misc,
		.size = e->rec.size,
		.bytes = e->rec.at,
		.offset = e->rec.offset,
		.time = e->time,
		.event = e->event};
}

static int hand_out_sample(struct pace_recording *r, const struct pace_slots *slots,
	const struct stream_event *e)
{
	struct pace_record record = public_record(e);
	const struct sample *s = decoder_next(&r->decoder, &e->rec, e->event);
	const struct sample_format *format;
	struct pace_sample out;

	if (!s)
		return 0;
	format = &r->session.reader.formats.at[e->event];
	/* Lists may stand at any address; whoever is given words expects them where words are. */
	str_clear(&r->lists);
	str_reserve(&r->lists, 1);
	str_addn(&r->lists, s->chain.at, s->chain.n * 8);
	str_addn(&r->lists, s->branches.entries, s->branches.n * sizeof(*out.branches));
	out = api_public_sample(format, s, &record);
	out.cpu = format->type & PERF_SAMPLE_CPU ? s->cpu : 0;
	out.chain = (const uint64_t *)(const void *)r->lists.at;
	out.branches = (const struct pace_branch *)(const void *)(r->lists.at + s->chain.n * 8);
	return slots->sample(slots->context, &out);
}

static int hand_out(struct pace_recording *r, const struct pace_slots *slots,
	const struct stream_event *e)
{
	struct pace_record record;

	if (e->rec.type == PERF_RECORD_SAMPLE)
		return slots->sample ? hand_out_sample(r, slots, e) : 0;
	if (!slots->record)
		return 0;
	record = public_record(e);
	return slots->record(slots->context, &record);
}

static int read_in_time(struct pace_recording *r, const struct pace_slots *slots, struct err *err)
{
	union record_body body;
	struct stream stream;
	struct stream_event e;
	int result, said = 0;

	/* The state at the end is not that at the beginning. */
	fini_state(r);
	init_state(r);
	stream_init(&stream, &r->session);
	r->is_placing = true;
	while (!said && (result = stream_next(&stream, &e, err)) > 0) {
		machine_follow(&r->machine, &r->session, &e, &body);
		said = hand_out(r, slots, &e);
	}
	r->is_placing = false;
	stream_fini(&stream);
	return said ? said : MIN(result, 0);
}

static int read_in_file(struct pace_recording *r, const struct pace_slots *slots, struct err *err)
{
	struct reader *reader = &r->session.reader;
	struct reader_cursor cursor;
	struct stream_event e;
	int result = 0, said = 0;

	reader_cursor_init(&cursor, reader, reader->data_start, reader->data_end);
	while (!said && (result = reader_next(&cursor, &e.rec, err)) > 0) {
		session_take(&r->session, &cursor, &e.rec);
		stream_place(&r->session, &e);
		said = hand_out(r, slots, &e);
	}
	session_note_end(&r->session, &cursor);
	reader_cursor_fini(&cursor);
	return said ? said : MIN(result, 0);
}

static void tell_losses(struct pace_recording *r, const struct pace_slots *slots)
{
	struct ledger ledger = {0};
	struct str text = {0};
	char *line, *next;

	if (!slots->loss)
		return;
	ledger_add_tally(&ledger, &r->session.tally);
	ledger_add_text(&ledger, true, &text);
	/* "# sentence\n" each. */
	for (line = text.at; line && *line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		slots->loss(slots->context, line + (strncmp(line, "# ", 2) ? 0 : 2));
	}
	str_fini(&text);
	ledger_fini(&ledger);
}

PUBLIC int pace_recording_read(struct pace_recording *r, enum pace_order order,
	const struct pace_slots *slots, struct pace_error *ret_err)
{
	struct err err = {0};
	int result;

	if (r->has_begun && r->session.reader.is_stream) {
		err_set(&err, ERR_INVAL, "'%s' was read before: a pipe can be read once", r->path);
		return api_give_error(&err, ret_err);
	}
	r->has_begun = true;
	memset(&r->session.tally, 0, sizeof(r->session.tally));
	decoder_init(&r->decoder, &r->session,
		(slots->wanted ? slots->wanted : UINT64_MAX) | PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		&r->session.tally);
	result = order == PACE_TIME_ORDER ? read_in_time(r, slots, &err)
					  : read_in_file(r, slots, &err);
	if (result < 0)
		return api_give_error(&err, ret_err);
	if (!result)
		tell_losses(r, slots);
	return result;
}

PUBLIC int pace_recording_place(struct pace_recording *r, const struct pace_sample *sample,
	uint64_t ip, struct pace_place *ret, struct pace_error *ret_err)
{
	/* Behind the innermost address come those that calls return to. */
	const struct chain_step step = {ip,
		ip >> 63 ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER, ip != sample->ip};
	struct resolver_answer a;
	struct location location;
	struct thread_state t;
	struct err err;

	if (!r->is_placing) {
		err_set(&err, ERR_INVAL, "places are known while samples are read in time order");
		return api_give_error(&err, ret_err);
	}
	machine_state_at(&r->machine, sample->pid, sample->tid, sample->record->time, &r->strings,
		&t);
	locator_find(&r->locator, &t, &step, &location);
	a = locator_name(&r->locator, &location);
	*ret = (struct pace_place){.function = resolver_title(&a, 0, &r->strings),
		.offset = a.at - a.start,
		.file = location.dso->path,
		.thread = t.comm};
	return 0;
}
