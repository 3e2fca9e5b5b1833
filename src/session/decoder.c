#include "session/decoder.h"

#include "event/abi.h"

void decoder_init(struct decoder *d, const struct session *session, u64 wanted,
	struct session_tally *tally)
{
	memset(d, 0, sizeof(*d));
	d->session = session;
	d->tally = tally;
	d->wanted = wanted;
	d->event = TABLE_NONE;
}

static void begin_event(struct decoder *d, const struct sample_format *format, u32 event)
{
	d->event = event;
	d->limits = reader_limits(&d->session->reader, event);
	d->fields = format->type & (d->wanted | format->fixed_bits);
	d->bounds = oddity_bounds_of(&d->limits, d->fields);
	memset(&d->sample, 0, sizeof(d->sample));
	if (!(format->type & PERF_SAMPLE_CPU))
		d->sample.cpu = (u32)-1;
}

static void note_odd(const struct decoder *d, const struct record *rec)
{
	enum oddity oddity = oddity_of(&d->sample, rec->misc, d->fields, &d->limits);

	session_note_odd(d->tally, rec, oddity);
}

/* per sample */
struct sample *decoder_next(struct decoder *d, const struct record *rec, u32 event)
{
	const struct reader *r = &d->session->reader;
	const struct sample_format *format;
	struct err err;

	if (UNLIKELY(event == TABLE_NONE)) {
		d->tally->n_foreign_id++;
		return NULL;
	}
	format = &r->formats.at[event];
	if (UNLIKELY(d->event != event))
		begin_event(d, format, event);
	if (UNLIKELY(sample_decode(format, rec->at + RECORD_HEADER_SIZE,
		    rec->size - RECORD_HEADER_SIZE, d->wanted, &d->sample, &err))) {
		session_note_undecoded(d->tally, rec);
		d->tally->n_unread_samples++;
		return NULL;
	}
	if (UNLIKELY(oddity_may_be(&d->sample, rec->misc, &d->bounds)))
		note_odd(d, rec);
	if (!(format->type & PERF_SAMPLE_PERIOD))
		d->sample.period = r->events.at[event].attr.sample_period;
	return &d->sample;
}
