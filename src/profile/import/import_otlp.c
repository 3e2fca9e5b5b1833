/*
 * Profiles of OpenTelemetry (ProfilesData): a protocol buffers message in development, see otlp.h for its version.
 *
 * Profiles with the same type and unit are one event, in the order in which they come; the first one is the default. A sample without values
 * counts one for each of its times. For a profile whose unit is not "count", the numbers of samples are those of its neighbour in the
 * file that counts the same stacks, as pace writes it; else each sample is one.
 * Source   profile/import/otlp.h; its rules: opentelemetry.io/docs/specs/otel/profiles
 */
#include "profile/import/otlpreader.h"

#include <string.h>

enum {
	EVENTS_MOST = 64,
	TIME_BYTES = 8,
};

/* Reads a sample's stack, its values and the number of its times; its attributes into r->numbers. */
static int take_fields(struct otlp_reader *r, struct bytes b, u64 *ret_stack, struct err *err)
{
	struct protobuf_field f;
	int got;

	r->values.n = r->numbers.n = r->n_times = 0;
	*ret_stack = 0;
	while ((got = protobuf_next(&b, &f)) > 0) {
		if (f.number == OTLP_SAMPLE_STACK && f.type == PROTOBUF_VARINT)
			*ret_stack = f.value;
		if ((f.number == OTLP_SAMPLE_VALUES && MESSAGES_TAKE_LIST(&f, &r->values)) ||
			(f.number == OTLP_SAMPLE_ATTRIBUTES && MESSAGES_TAKE_LIST(&f, &r->numbers)))
			return messages_cut_off(r->b.in, &f.bytes, err);
		if (f.number == OTLP_SAMPLE_TIMES)
			r->n_times +=
				f.type == PROTOBUF_BYTES ? bytes_left(&f.bytes) / TIME_BYTES : 1;
	}
	return got ? messages_cut_off(r->b.in, &b, err) : 0;
}

/* The sum of a sample's values; without values it is the number of its times. */
static int sum_values(const struct otlp_reader *r, const struct bytes *at, u64 *ret_sum,
	struct err *err)
{
	*ret_sum = r->values.n ? 0 : r->n_times;
	vec_each(v, &r->values) {
		if ((s64)*v < 0)
			return messages_damaged(r->b.in, at,
				"a value is negative: this is a difference of profiles; give both profiles to 'pace diff'",
				err);
		if (__builtin_add_overflow(*ret_sum, *v, ret_sum))
			return messages_damaged(r->b.in, at,
				"the sum of all values is more than 64 bits hold", err);
	}
	return 0;
}

/*
 * How many samples the next sample of the neighbour counts, if that is of the same stack; 0: it does not tell. The neighbour's
 * cursor moves on.
 */
static u64 counted_next(struct otlp_reader *r, struct bytes *neighbour, u64 stack)
{
	struct protobuf_field f;
	struct err ignored;
	u64 other, n;

	while (protobuf_next(neighbour, &f) > 0) {
		if (f.number != OTLP_SAMPLES || f.type != PROTOBUF_BYTES)
			continue;
		if (take_fields(r, f.bytes, &other, &ignored) || other != stack ||
			sum_values(r, &f.bytes, &n, &ignored))
			return 0;
		return n;
	}
	return 0;
}

static int take_sample(struct otlp_reader *r, struct otlp_event *e, bool is_count,
	struct bytes message, struct bytes *neighbour, struct err *err)
{
	const struct importing_stack *made = NULL;
	u64 labels[LABEL_COUNT], stack, value, n;

	if (take_fields(r, message, &stack, err) || sum_values(r, &message, &value, err) ||
		otlp_take_labels(r, &message, labels, err))
		return err->code;
	n = is_count ? value : r->n_times;
	if (neighbour)
		n = counted_next(r, neighbour, stack);
	n = n ? n : value != 0;
	if (otlp_find_stack(r, stack, &message, &made, err))
		return err->code;
	if (__builtin_add_overflow(e->sum, value, &e->sum) ||
		__builtin_add_overflow(e->n_samples, n, &e->n_samples))
		return messages_damaged(r->b.in, &message,
			"the sum of all values is more than 64 bits hold", err);
	importing_add_stack(&r->b, made, e->event, n, value, labels);
	return 0;
}

/* ---- profiles ---- */

static int read_type(const struct otlp_reader *r, struct bytes profile, struct otlp_event *ret,
	struct err *err)
{
	u64 *const places[] = {[OTLP_TYPE] = &ret->type, [OTLP_UNIT] = &ret->unit};
	struct protobuf_field f;
	int got;

	*ret = (struct otlp_event){0};
	while ((got = protobuf_next(&profile, &f)) > 0)
		if (f.number == OTLP_SAMPLE_TYPE && f.type == PROTOBUF_BYTES &&
			messages_take_numbers(r->b.in, f.bytes, places, ARRAY_SIZE(places), err))
			return err->code;
	if (got)
		return messages_cut_off(r->b.in, &profile, err);
	return MAX(ret->type, ret->unit) < MAX(r->strings.n, (size_t)1)
		? 0
		: otlp_unknown_entry(r, &profile, err);
}

static bool is_count(struct otlp_reader *r, const struct otlp_event *type)
{
	return !strcmp(messages_string(&r->b, &r->strings, type->unit), "count");
}

/* The event of that type, which is new if there is none; NULL: there are too many. */
static struct otlp_event *event_of(struct otlp_reader *r, const struct otlp_event *type)
{
	vec_each(e, &r->events)
		if (e->type == type->type && e->unit == type->unit)
			return e;
	if (r->events.n == EVENTS_MOST)
		return NULL;
	str_clear(&r->room);
	str_addf(&r->room, "%s/%s", messages_string(&r->b, &r->strings, type->type),
		messages_string(&r->b, &r->strings, type->unit));
	vec_add(&r->events, *type);
	r->events.at[r->events.n - 1].event = importing_event(&r->b, str_text(&r->room), 0);
	return &r->events.at[r->events.n - 1];
}

/* The profile of the current scope that counts the samples of another one: the one after it, or else the one before. */
static bool find_neighbour(struct otlp_reader *r, size_t i, struct bytes *ret)
{
	const size_t candidates[] = {i + 1, i - 1};
	struct otlp_event type;
	struct err ignored;

	for (size_t k = 0; k < ARRAY_SIZE(candidates); k++)
		if (candidates[k] < r->profiles.n &&
			!read_type(r, r->profiles.at[candidates[k]], &type, &ignored) &&
			is_count(r, &type)) {
			*ret = r->profiles.at[candidates[k]];
			return true;
		}
	return false;
}

static int take_profile(struct otlp_reader *r, size_t i, struct err *err)
{
	struct bytes b = r->profiles.at[i], neighbour;
	struct otlp_event type, *e;
	struct protobuf_field f;
	bool counts, has_neighbour;

	if (read_type(r, b, &type, err))
		return err->code;
	e = event_of(r, &type);
	if (!e)
		return messages_damaged(r->b.in, &b, "there are more than 64 sample types", err);
	counts = is_count(r, &type);
	has_neighbour = !counts && find_neighbour(r, i, &neighbour);
	while (protobuf_next(&b, &f) > 0) {
		if (f.number != OTLP_SAMPLES || f.type != PROTOBUF_BYTES)
			continue;
		if (take_sample(r, e, counts, f.bytes, has_neighbour ? &neighbour : NULL, err) ||
			importing_charge(&r->b, b.offset, err))
			return err->code;
	}
	return 0;
}

static int take_scope(struct otlp_reader *r, struct bytes b, struct err *err)
{
	struct protobuf_field f;
	int got;

	r->profiles.n = 0;
	while ((got = protobuf_next(&b, &f)) > 0)
		if (f.number == OTLP_PROFILES && f.type == PROTOBUF_BYTES)
			vec_add(&r->profiles, f.bytes);
	if (got)
		return messages_cut_off(r->b.in, &b, err);
	for (size_t i = 0; i < r->profiles.n; i++)
		if (take_profile(r, i, err))
			return err->code;
	return 0;
}

static int take_resource(struct otlp_reader *r, struct bytes b, struct err *err)
{
	struct protobuf_field f;
	int got;

	while ((got = protobuf_next(&b, &f)) > 0)
		if (f.number == OTLP_SCOPE_PROFILES && f.type == PROTOBUF_BYTES &&
			take_scope(r, f.bytes, err))
			return err->code;
	return got ? messages_cut_off(r->b.in, &b, err) : 0;
}

/* The dictionary may come behind what refers to it. */
static int take_all(struct otlp_reader *r, struct err *err)
{
	struct bytes all = import_bytes(r->b.in), b = all;
	struct protobuf_field f;
	int got;

	while ((got = protobuf_next(&b, &f)) > 0)
		if (f.number == OTLP_DICTIONARY && f.type == PROTOBUF_BYTES &&
			otlp_take_dictionary(r, f.bytes, err))
			return err->code;
	if (got)
		return messages_cut_off(r->b.in, &b, err);
	if (!r->stacks.n)
		return messages_damaged(r->b.in, &all,
			"the profile's dictionary has no stacks: it is of another version of OpenTelemetry's proto than 1.11",
			err);
	r->b.charged_at = 0;
	for (b = all; protobuf_next(&b, &f) > 0;)
		if (f.number == OTLP_RESOURCE_PROFILES && f.type == PROTOBUF_BYTES &&
			take_resource(r, f.bytes, err))
			return err->code;
	if (!r->events.n)
		return messages_damaged(r->b.in, &all, "there is no profile", err);
	return import_charge(r->b.in, r->b.profile, r->b.held, r->b.in->bytes.n, err);
}

static int otlp_read(const struct import *in, const struct import_options *o, struct profile *p,
	struct err *err)
{
	struct otlp_reader r = {.unknown = PROFILE_NO_FRAME};
	int result;

	importing_init(&r.b, in, o, p);
	result = take_all(&r, err);
	if (p->events.n)
		p->events.at[0].n_group = (u32)p->events.n;
	otlp_reader_fini(&r);
	return result;
}

/* Whether a field that begins with `tag` is a message that begins with one of these, each a message, a text or a list. */
static bool begins_with(struct bytes b, u32 number, u32 first, u32 last)
{
	u64 tag, size;

	return protobuf_varint(&b, &tag) && tag == ((u64)number << 3 | PROTOBUF_BYTES) &&
		protobuf_varint(&b, &size) && size && protobuf_varint(&b, &tag) &&
		(tag & 7) == PROTOBUF_BYTES && tag >> 3 >= first && tag >> 3 <= last;
}

/*
 * Whether the beginning is one of ProfilesData. The first field may be cut off. Profiles of pprof have the same field numbers: there
 * the first one begins with a number, and the second one never with an empty field.
 */
static bool otlp_recognizes(const u8 *first, size_t n)
{
	struct bytes b = bytes_of(first, n), dictionary = b;
	struct protobuf_field f;
	u64 tag, size;

	if (!begins_with(b, OTLP_RESOURCE_PROFILES, OTLP_RESOURCE, OTLP_RESOURCE_SCHEMA) &&
		!(begins_with(b, OTLP_DICTIONARY, OTLP_MAPPINGS, OTLP_MAPPINGS) &&
			protobuf_varint(&dictionary, &tag) && protobuf_varint(&dictionary, &size) &&
			protobuf_varint(&dictionary, &tag) && protobuf_varint(&dictionary, &size) &&
			!size))
		return false;
	while (protobuf_next(&b, &f) > 0)
		if (f.type != PROTOBUF_BYTES ||
			(f.number != OTLP_RESOURCE_PROFILES && f.number != OTLP_DICTIONARY))
			return false;
	return true;
}

const struct importer import_otlp = {.name = "otlp",
	.what = "a profile of OpenTelemetry",
	.keys = "dso,symbol",
	.labels = LABEL_BIT(LABEL_COMM) | LABEL_BIT(LABEL_PID) | LABEL_BIT(LABEL_TID) |
		LABEL_BIT(LABEL_CPU),
	.recognizes = otlp_recognizes,
	.read = otlp_read};
