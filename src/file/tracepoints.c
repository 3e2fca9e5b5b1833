#include "file/tracepoints.h"

#include <traceevent/event-parse.h>
#include <traceevent/trace-seq.h>

#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "file/traceformat.h"

/*
 * libtraceevent trusts its input. Whether numbers from a damaged recording would harm it is checked
 * here first.
 */
enum {
	FORMAT_LIMIT = 64 << 10, /* the largest of the kernel's have 6 KiB */
	/*
	 * No place that a sample names by 16 bits, and no run of bytes from such a place, reaches
	 * beyond this.
	 */
	REACH = 64 << 10,
	RECORD_ROOM = 4 * REACH,
	DEPTH_LIMIT = 2 * TRACEFORMAT_OPERATORS,
	WIDTH_LIMIT = 4096,
};

/* Reads "name\0", a u64 size, and that many bytes. */
static bool take_part(struct bytes *b, const char *name, struct bytes *ret_part)
{
	const char *text;
	size_t n;
	u64 size;

	return bytes_cstr(b, &text, &n) && !strcmp(text, name) && bytes_u64(b, &size) &&
		bytes_sub(b, size, ret_part);
}

/* ---- formats ---- */

/*
 * Appends the text, with the lengths of arrays that probes fetch: the kernel writes "s32 a[];" and the size of all, from which
 * libtraceevent does not know the size of one.
 */
static void add_with_lengths(const char *text, size_t n, struct str *copy)
{
	const char *at = text, *end = text + n, *brackets;

	while ((brackets = memmem(at, end - at, "[];\toffset:", 11)) != NULL) {
		const char *size = memmem(brackets, end - brackets, "\tsize:", 6), *type = brackets;
		unsigned bits = 0, bytes = 0;

		while (type > at && type[-1] != ':' && type[-1] != '\n')
			type--;
		str_addn(copy, at, brackets + 1 - at);
		if (size && type > at && type[-1] == ':' &&
			sscanf(type, "%*1[sux]%2u ", &bits) == 1 &&
			sscanf(size, "\tsize:%5u", &bytes) == 1 && bits >= 8 && bytes >= bits / 8)
			str_addf(copy, "%u", bytes / (bits / 8));
		at = brackets + 1;
	}
	str_addn(copy, at, end - at);
}

static void parse_format(struct tep_handle *tep, const struct bytes *format, const char *system)
{
	/*
	 * The kernel itself writes such lines when they contain macros; the fields are printed
	 * instead.
	 */
	static const char instead[] = "print fmt: \"%s\", ({ 0; })\n";
	struct str given = {0}, copy = {0};
	const char *print;

	if (bytes_left(format) > FORMAT_LIMIT)
		return;
	/* libtraceevent needs text that ends with a NUL: the copies do. */
	str_addn(&given, format->at, bytes_left(format));
	add_with_lengths(str_text(&given), given.n, &copy);
	str_fini(&given);
	if (traceformat_is_one(str_text(&copy), copy.n, &print)) {
		if (!traceformat_is_printable(print)) {
			str_cut(&copy, (size_t)(print - copy.at));
			str_add(&copy, instead);
		}
		/* A format that libtraceevent does not understand is skipped. */
		if (tep_parse_event(tep, str_text(&copy), copy.n, system) ==
			TEP_ERRNO__MEM_ALLOC_FAILED)
			mem_exhausted(0);
	}
	str_fini(&copy);
}

static bool parse_formats(struct tep_handle *tep, struct bytes *b, const char *system)
{
	u32 n;

	if (!bytes_u32(b, &n))
		return false;
	for (u32 i = 0; i < n; i++) {
		struct bytes format;
		u64 size;

		if (!bytes_u64(b, &size) || !bytes_sub(b, size, &format))
			return false;
		parse_format(tep, &format, system);
	}
	return true;
}

static bool parse_section(struct tep_handle *tep, struct bytes *b)
{
	static const char magic[] = "\027\010\104tracing";
	struct bytes page, event;
	const char *version;
	const void *start;
	u32 page_size, n_systems;
	u8 is_big, long_size;
	u16 probe = 1;
	size_t n;

	if (!bytes_take(b, sizeof(magic) - 1, &start) || memcmp(start, magic, sizeof(magic) - 1) ||
		!bytes_cstr(b, &version, &n) || !bytes_u8(b, &is_big) || !bytes_u8(b, &long_size))
		return false;
	b->swap = (is_big != 0) != (*(const u8 *)&probe == 0);
	if (!bytes_u32(b, &page_size) || !take_part(b, "header_page", &page) ||
		!take_part(b, "header_event", &event))
		return false;
	tep_set_file_bigendian(tep, is_big ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	tep_set_local_bigendian(tep, *(const u8 *)&probe ? TEP_LITTLE_ENDIAN : TEP_BIG_ENDIAN);
	tep_set_long_size(tep, long_size == 4 ? 4 : 8);
	tep_set_page_size(tep, (int)page_size);
	if (!parse_formats(tep, b, "ftrace") || !bytes_u32(b, &n_systems))
		return false;
	for (u32 i = 0; i < n_systems; i++) {
		const char *system;

		if (!bytes_cstr(b, &system, &n) || !parse_formats(tep, b, system))
			return false;
	}
	return true;
}

/*
 * Whether each format has the event's number in front. libtraceevent reads the number from all
 * samples at the place that one of the formats gives. The kernel has never put it anywhere else.
 */
static bool has_numbers_in_front(struct tep_handle *tep)
{
	const struct tep_event *event;

	for (int i = 0; (event = tep_get_event(tep, i)) != NULL; i++)
		for (const struct tep_format_field *f = event->format.common_fields; f; f = f->next)
			if (!strcmp(f->name, "common_type") && (f->offset || f->size != 2))
				return false;
	return true;
}

int tracepoints_open(struct tracepoints *t, const struct str *section, struct err *err)
{
	struct bytes b = bytes_of(section->at, section->n);
	bool is_whole;

	memset(t, 0, sizeof(*t));
	if (!section->n)
		return 0;
	/* By default it prints to stderr. */
	tep_set_loglevel(TEP_LOG_NONE);
	t->handle = tep_alloc();
	if (!t->handle)
		return err_set(err, ERR_LIMIT, "no memory for the formats of tracepoints");
	is_whole = parse_section(t->handle, &b);
	if (!has_numbers_in_front(t->handle)) {
		tep_free(t->handle);
		t->handle = NULL;
		return err_set(err, ERR_FORMAT,
			"the formats of tracepoints do not begin with the event's number: they are ignored");
	}
	if (is_whole)
		return 0;
	return err_set(err, ERR_FORMAT,
		"the formats of tracepoints are damaged at byte %llu of %zu",
		(unsigned long long)b.offset, section->n);
}

void tracepoints_close(struct tracepoints *t)
{
	if (t->handle)
		tep_free(t->handle);
	str_fini(&t->text);
	memset(t, 0, sizeof(*t));
}

/* ---- what may be printed ---- */

struct check {
	struct tep_event *event;
	const u8 *data; /* RECORD_ROOM bytes */
	unsigned depth;
};

/*
 * Whether the fields are inside the raw bytes: otherwise the format must not be used. Fields that
 * point to the rest of their data do so in 4 bytes.
 */
static bool fits(const struct tep_event *event, u32 size)
{
	const struct tep_format_field *lists[] = {event->format.common_fields,
		event->format.fields};

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		for (const struct tep_format_field *f = lists[i]; f; f = f->next)
			if (f->offset < 0 || f->size < 0 || (u64)f->offset + (u64)f->size > size ||
				(f->flags & TEP_FIELD_IS_DYNAMIC && f->size != 4))
				return false;
	return true;
}

static u64 number_at(const struct check *c, const struct tep_format_field *f)
{
	if (f->size != 1 && f->size != 2 && f->size != 4 && f->size != 8)
		return 0;
	return tep_read_number(c->event->tep, c->data + f->offset, f->size);
}

static const struct tep_format_field *field_of(const struct check *c, const char *name)
{
	return name ? tep_find_any_field(c->event, name) : NULL;
}

/* An upper bound of a number; UINT64_MAX if there is none. */
static u64 most(struct check *c, const struct tep_print_arg *arg);

static u64 most_of_op(struct check *c, const struct tep_print_arg *arg)
{
	const char *op = arg->op.op;
	u64 left, right, sum;

	if (!op || !arg->op.left || !arg->op.right)
		return UINT64_MAX;
	/* A conditional is '?' with ':' as its right operand. */
	left = strcmp(op, "?") ? most(c, arg->op.left) : 0;
	right = most(c, arg->op.right);
	if (left > UINT32_MAX || right > UINT32_MAX)
		return !strcmp(op, "&") ? MIN(left, right) : UINT64_MAX;
	if (!strcmp(op, "+"))
		return left + right;
	if (!strcmp(op, "*"))
		return left * right;
	if (!strcmp(op, "&"))
		return MIN(left, right);
	if (!strcmp(op, "/") || !strcmp(op, "%") || !strcmp(op, ">>"))
		return left;
	if (!strcmp(op, "?") || !strcmp(op, ":"))
		return MAX(left, right);
	sum = left | right;
	return strcmp(op, "|") ? UINT64_MAX : sum;
}

static u64 most(struct check *c, const struct tep_print_arg *arg)
{
	const struct tep_format_field *f;
	u64 result = UINT64_MAX;

	if (!arg || c->depth >= DEPTH_LIMIT)
		return UINT64_MAX;
	c->depth++;
	switch (arg->type) {
	case TEP_PRINT_ATOM:
		result = strtoull(arg->atom.atom, NULL, 0);
		break;
	case TEP_PRINT_FIELD:
		f = field_of(c, arg->field.name);
		result = f ? number_at(c, f) : 0;
		break;
	case TEP_PRINT_TYPE:
		result = most(c, arg->typecast.item);
		break;
	case TEP_PRINT_DYNAMIC_ARRAY_LEN:
		result = UINT16_MAX;
		break;
	case TEP_PRINT_OP:
		result = most_of_op(c, arg);
		break;
	default:
		break;
	}
	c->depth--;
	return result;
}

static bool is_safe(struct check *c, const struct tep_print_arg *arg);

/* Divisors must be constants of the format: one from a sample might be zero. */
static bool is_safe_divisor(const struct tep_print_arg *arg)
{
	/* A cast may leave only one byte of it. */
	u64 left = UINT64_MAX;

	for (; arg && arg->type == TEP_PRINT_TYPE; arg = arg->typecast.item)
		left = 0x7f;
	return arg && arg->type == TEP_PRINT_ATOM && strtoull(arg->atom.atom, NULL, 0) & left;
}

static bool is_safe_index(struct check *c, const struct tep_print_arg *arg)
{
	const struct tep_print_arg *of = arg->op.left;
	const struct tep_format_field *f = NULL;
	u64 index = most(c, arg->op.right);

	while (of && of->type == TEP_PRINT_TYPE)
		of = of->typecast.item;
	if (of && of->type == TEP_PRINT_FIELD)
		f = field_of(c, of->field.name);
	else if (of && of->type == TEP_PRINT_DYNAMIC_ARRAY)
		f = of->dynarray.field;
	return f && index <= REACH && index * MAX(f->elementsize, 8u) <= REACH;
}

static bool is_safe_op(struct check *c, const struct tep_print_arg *arg)
{
	const char *op = arg->op.op;

	if (!op)
		return false;
	if ((*op == '/' || *op == '%') && !is_safe_divisor(arg->op.right))
		return false;
	if (*op == '[' && !is_safe_index(c, arg))
		return false;
	return is_safe(c, arg->op.left) && is_safe(c, arg->op.right);
}

/*
 * Whether everything read from a sample for an argument is in its bytes, or in the zeros behind
 * them.
 */
static bool is_safe_alone(struct check *c, const struct tep_print_arg *arg)
{
	switch (arg->type) {
	case TEP_PRINT_NULL:
	case TEP_PRINT_ATOM:
	case TEP_PRINT_FIELD:
	case TEP_PRINT_STRING:
	case TEP_PRINT_BSTRING:
	case TEP_PRINT_BITMASK:
	case TEP_PRINT_DYNAMIC_ARRAY_LEN:
		return true;
	case TEP_PRINT_DYNAMIC_ARRAY:
		return is_safe(c, arg->dynarray.index);
	case TEP_PRINT_TYPE:
		return is_safe(c, arg->typecast.item);
	case TEP_PRINT_FLAGS:
		return is_safe(c, arg->flags.field);
	case TEP_PRINT_SYMBOL:
		return is_safe(c, arg->symbol.field);
	case TEP_PRINT_HEX:
	case TEP_PRINT_HEX_STR:
		return is_safe(c, arg->hex.field) && is_safe(c, arg->hex.size) &&
			most(c, arg->hex.size) <= REACH;
	case TEP_PRINT_INT_ARRAY:
		return is_safe(c, arg->int_array.field) && is_safe(c, arg->int_array.count) &&
			is_safe(c, arg->int_array.el_size) &&
			most(c, arg->int_array.count) <= REACH / 8;
	case TEP_PRINT_OP:
		return is_safe_op(c, arg);
	default:
		/* Functions of plugins, which are not loaded; kinds of later versions. */
		return false;
	}
}

static bool is_safe(struct check *c, const struct tep_print_arg *arg)
{
	bool result;

	if (!arg)
		return true;
	if (c->depth >= DEPTH_LIMIT)
		return false;
	c->depth++;
	result = is_safe_alone(c, arg);
	c->depth--;
	return result;
}

/* Widths are printed as blanks: a format must not ask for absurdly many. */
static bool has_sane_widths(struct check *c, const struct tep_print_fmt *fmt)
{
	const struct tep_print_arg *arg = fmt->args;
	bool is_known = true;

	for (const char *p = fmt->format; p && *p; p++) {
		unsigned n_digits = 0;

		if (*p != '%')
			continue;
		for (p++; *p && strchr("#0123456789.*-+ hlLzZ", *p); p++) {
			n_digits = *p >= '0' && *p <= '9' ? n_digits + 1 : 0;
			if (n_digits > 3)
				return false;
			if (*p != '*')
				continue;
			/*
			 * After a conversion that libtraceevent may not know, the argument of the
			 * width is uncertain.
			 */
			if (!arg || !is_known || most(c, arg) > WIDTH_LIMIT)
				return false;
			arg = arg->next;
		}
		if (!*p)
			break;
		is_known = is_known && strchr("%dixXups", *p);
		if (*p != '%' && arg)
			arg = arg->next;
	}
	return true;
}

static bool may_be_printed(struct tep_event *event, const u8 *data, u32 size)
{
	struct check c = {event, data, 0};

	if (!fits(event, size))
		return false;
	/* libtraceevent prints the fields one by one then. */
	if (event->flags & TEP_EVENT_FL_FAILED)
		return true;
	for (const struct tep_print_arg *arg = event->print_fmt.args; arg; arg = arg->next)
		if (!is_safe(&c, arg))
			return false;
	return has_sane_widths(&c, &event->print_fmt);
}

/* Copies a sample's bytes to a buffer where zeros follow them. */
static u8 *copy_raw(struct tracepoints *t, const struct record_bytes *raw)
{
	size_t before = t->n_copied;

	if (!t->text.n)
		str_fill(&t->text, '\0', RECORD_ROOM);
	memcpy(t->text.at, raw->at, raw->n);
	if (before > raw->n)
		memset(t->text.at + raw->n, 0, before - raw->n);
	t->n_copied = raw->n;
	return (u8 *)t->text.at;
}

/*
 * Copies a sample's bytes to where they can be printed from, and returns their format; NULL: not
 * known, or not safe.
 */
static struct tep_event *take_sample(struct tracepoints *t, u64 id, const struct record_bytes *raw)
{
	struct tep_event *event = t->handle ? tep_find_event(t->handle, (int)id) : NULL;
	u16 number;

	if (!event || raw->n < sizeof(number) || raw->n > REACH)
		return NULL;
	copy_raw(t, raw);
	/* libtraceevent uses the number in the sample, not the one the caller asked for. */
	number = (u16)tep_read_number(t->handle, t->text.at, sizeof(number));
	return number == id && may_be_printed(event, (const u8 *)t->text.at, raw->n) ? event : NULL;
}

static void take_text(struct trace_seq *seq, struct str *text)
{
	trace_seq_terminate(seq);
	if (seq->state == TRACE_SEQ__GOOD)
		str_add_safe(text, seq->buffer, seq->len);
	trace_seq_destroy(seq);
}

bool tracepoints_add_text(struct tracepoints *t, u64 id, u32 cpu, const struct record_bytes *raw,
	struct str *text)
{
	struct tep_event *event = take_sample(t, id, raw);
	struct tep_record record = {.cpu = (int)cpu, .data = t->text.at, .size = (int)raw->n};
	struct trace_seq seq;

	if (!event)
		return false;
	trace_seq_init(&seq);
	tep_print_event(t->handle, &seq, &record, "%s", TEP_PRINT_INFO);
	take_text(&seq, text);
	return true;
}

static void print_number(struct trace_seq *seq, const struct tep_event *event, void *data,
	const struct tep_format_field *f)
{
	u64 value = tep_read_number(event->tep, (u8 *)data + f->offset, f->size);

	if (f->flags & TEP_FIELD_IS_SIGNED)
		trace_seq_printf(seq, "%lld",
			f->size == 4           ? (long long)(s32)value
				: f->size == 2 ? (long long)(int16_t)value
				: f->size == 1 ? (long long)(int8_t)value
					       : (long long)value);
	else
		trace_seq_printf(seq, "%llu", (unsigned long long)value);
}

/* libtraceevent takes a field for no text any more once it had one that cannot be printed: not only that one. */
static void print_field(struct trace_seq *seq, void *data, struct tep_format_field *f)
{
	const unsigned long flags = f->flags;

	tep_print_field(seq, data, f);
	f->flags = flags;
}

static void print_fields(struct trace_seq *seq, const struct tep_event *event, void *data)
{
	for (struct tep_format_field *f = event->format.fields; f; f = f->next) {
		trace_seq_printf(seq, " %s=", f->name);
		print_field(seq, data, f);
	}
}

bool tracepoints_add_field(struct tracepoints *t, u64 id, const struct record_bytes *raw,
	const char *field, bool is_raw, struct str *text)
{
	struct tep_event *event = take_sample(t, id, raw);
	struct tep_format_field *f = event && field ? tep_find_field(event, field) : NULL;
	struct trace_seq seq;

	if (!event || (field && !f))
		return false;
	trace_seq_init(&seq);
	if (!f)
		print_fields(&seq, event, t->text.at);
	else if (is_raw && !(f->flags & (TEP_FIELD_IS_ARRAY | TEP_FIELD_IS_STRING)))
		print_number(&seq, event, t->text.at, f);
	else
		print_field(&seq, t->text.at, f);
	take_text(&seq, text);
	return true;
}

bool tracepoints_has_field(const struct tracepoints *t, u64 id, const char *field)
{
	struct tep_event *event =
		t->handle && id <= INT32_MAX ? tep_find_event(t->handle, (int)id) : NULL;

	return event && tep_find_field(event, field);
}

bool tracepoints_is_number(struct tracepoints *t, u64 id, const char *field, bool is_raw)
{
	static const u8 no_bytes[1];
	struct tep_event *event =
		t->handle && id <= INT32_MAX ? tep_find_event(t->handle, (int)id) : NULL;
	struct tep_format_field *f = event ? tep_find_field(event, field) : NULL;
	struct str text = {0};
	struct trace_seq seq;
	bool is_number;

	if (!f || f->flags & (TEP_FIELD_IS_ARRAY | TEP_FIELD_IS_STRING | TEP_FIELD_IS_DYNAMIC))
		return false;
	if (is_raw)
		return true;
	/* The format decides how a field is printed: print it for a sample of zeros and see. */
	copy_raw(t, &(struct record_bytes){no_bytes, 0});
	if (!may_be_printed(event, (const u8 *)t->text.at, REACH))
		return false;
	trace_seq_init(&seq);
	tep_print_field(&seq, t->text.at, f);
	take_text(&seq, &text);
	is_number = !strcmp(str_text(&text), "0");
	str_fini(&text);
	return is_number;
}

bool tracepoints_find_field(const struct tracepoints *t, u64 id, const char *name, u32 size,
	u32 *ret_offset)
{
	struct tep_event *event =
		t->handle && id <= INT32_MAX ? tep_find_event(t->handle, (int)id) : NULL;
	const struct tep_format_field *f = event ? tep_find_field(event, name) : NULL;

	if (!f || f->size != (int)size || f->offset < 0)
		return false;
	*ret_offset = (u32)f->offset;
	return true;
}

bool tracepoints_add_fields(const struct tracepoints *t, u64 id, struct str *text)
{
	const struct tep_event *event =
		t->handle && id <= INT32_MAX ? tep_find_event(t->handle, (int)id) : NULL;

	if (!event)
		return false;
	for (const struct tep_format_field *f = event->format.fields; f; f = f->next) {
		str_add_safe(text, f->name, strlen(f->name));
		if (f->next)
			str_addc(text, ',');
	}
	return true;
}

bool tracepoints_add_name(const struct tracepoints *t, u64 id, struct str *text)
{
	struct tep_event *event =
		t->handle && id <= INT32_MAX ? tep_find_event(t->handle, (int)id) : NULL;

	if (!event || !event->system || !event->name)
		return false;
	str_addf(text, "%s:%s", event->system, event->name);
	return true;
}

/* ---- fields and words, one by one ---- */

/* Text that ends inside its bytes and has nothing that cannot be printed. */
static bool is_text(const u8 *at, size_t n)
{
	if (!n || at[n - 1])
		return false;
	for (size_t i = 0; at[i]; i++)
		if ((at[i] < ' ' && !(at[i] >= '\t' && at[i] <= '\r')) || at[i] > '~')
			return false;
	return true;
}

static void find_array(const struct tracepoints *t, const struct tep_format_field *f, u32 size,
	struct tracepoint_value *v)
{
	u64 offset = (u64)f->offset, n = (u64)f->size;

	if (f->flags & TEP_FIELD_IS_DYNAMIC) {
		u64 place = tep_read_number(t->handle, t->text.at + f->offset, f->size);

		offset = place & 0xffff;
		n = place >> 16;
		if (f->flags & TEP_FIELD_IS_RELATIVE)
			offset += (u64)f->offset + (u64)f->size;
	}
	offset = MIN(offset, (u64)size);
	v->at = (const u8 *)t->text.at + offset;
	v->n = MIN(n, size - offset);
	v->kind = TRACEPOINT_BYTES;
	if (f->flags & TEP_FIELD_IS_STRING && is_text(v->at, v->n)) {
		v->kind = TRACEPOINT_TEXT;
		v->n = strlen((const char *)v->at);
	}
}

static u64 sign_extended(u64 v, int size)
{
	switch (size) {
	case 1:
		return (u64)(s64)(int8_t)v;
	case 2:
		return (u64)(s64)(int16_t)v;
	case 4:
		return (u64)(s64)(s32)v;
	}
	return v;
}

bool tracepoints_each_value(struct tracepoints *t, u64 id, const struct record_bytes *raw,
	void (*see)(void *ctx, const struct tracepoint_value *value), void *ctx)
{
	struct tep_event *event = take_sample(t, id, raw);

	if (!event)
		return false;
	for (unsigned i = 0; i < 2; i++) {
		const struct tep_format_field *f =
			i ? event->format.fields : event->format.common_fields;

		for (; f; f = f->next) {
			struct tracepoint_value v = {.name = f->name, .is_common = !i};

			if (f->flags & TEP_FIELD_IS_ARRAY) {
				find_array(t, f, raw->n, &v);
			} else {
				bool is_signed = f->flags & TEP_FIELD_IS_SIGNED;

				v.kind = is_signed ? TRACEPOINT_SIGNED : TRACEPOINT_UNSIGNED;
				v.number =
					tep_read_number(t->handle, t->text.at + f->offset, f->size);
				if (is_signed)
					v.number = sign_extended(v.number, f->size);
			}
			see(ctx, &v);
		}
	}
	return true;
}

/* The first field that an argument is made from; NULL: none. */
static const char *field_in(const struct tep_print_arg *arg, unsigned depth)
{
	const char *left;

	if (!arg || depth > DEPTH_LIMIT)
		return NULL;
	switch (arg->type) {
	case TEP_PRINT_FIELD:
		return arg->field.name;
	case TEP_PRINT_TYPE:
		return field_in(arg->typecast.item, depth + 1);
	case TEP_PRINT_OP:
		left = field_in(arg->op.left, depth + 1);
		return left ? left : field_in(arg->op.right, depth + 1);
	default:
		return NULL;
	}
}

static void see_words(const struct tep_print_arg *arg, unsigned depth,
	void (*see)(void *ctx, const struct tracepoint_word *word), void *ctx)
{
	bool has_flags = arg->type == TEP_PRINT_FLAGS;
	struct tracepoint_word word = {0};

	if (depth > DEPTH_LIMIT)
		return;
	if (arg->type == TEP_PRINT_OP) {
		if (arg->op.left)
			see_words(arg->op.left, depth + 1, see, ctx);
		if (arg->op.right)
			see_words(arg->op.right, depth + 1, see, ctx);
	}
	if (!has_flags && arg->type != TEP_PRINT_SYMBOL)
		return;
	word.field = field_in(has_flags ? arg->flags.field : arg->symbol.field, 0);
	word.delimiter = !has_flags ? NULL : arg->flags.delim ? arg->flags.delim : "";
	for (const struct tep_print_flag_sym *w = has_flags ? arg->flags.flags
							    : arg->symbol.symbols;
		word.field && w; w = w->next) {
		word.value = w->value;
		word.word = w->str;
		if (word.value && word.word)
			see(ctx, &word);
	}
}

void tracepoints_each_word(const struct tracepoints *t, u64 id,
	void (*see)(void *ctx, const struct tracepoint_word *word), void *ctx)
{
	struct tep_event *event =
		t->handle && id <= INT32_MAX ? tep_find_event(t->handle, (int)id) : NULL;

	if (!event)
		return;
	for (const struct tep_print_arg *arg = event->print_fmt.args; arg; arg = arg->next)
		see_words(arg, 0, see, ctx);
}
