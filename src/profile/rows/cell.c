#include "profile/rows/cell.h"

#include <string.h>

#include "base/num.h"

bool cell_is_number(enum cell_kind kind)
{
	static const bool are_numbers[] = {[CELL_COUNT] = true,
		[CELL_SIGNED] = true,
		[CELL_SHARE] = true,
		[CELL_REAL] = true,
		[CELL_TIME] = true,
		[CELL_SIZE] = true,
		[CELL_RANGE] = false};

	return are_numbers[kind];
}

static void add_level(const struct cell *c, struct str *text)
{
	const char level[] = {'[', c->level, ']', ' '};

	if (c->level)
		str_addn(text, level, sizeof(level));
}

static void add_name(const struct cell *c, struct str *text)
{
	str_add_safe(text, c->text, strlen(c->text));
	if (c->spans & CELL_IS_INLINED)
		str_add(text, " (inlined)");
}

/* Code addresses are in one column: all have the same width. */
static void add_code(const struct cell *c, struct str *text)
{
	if (c->origin)
		str_addf(text, "%-#18llx %c ", (unsigned long long)c->offset, c->origin);
	add_level(c, text);
	if (!c->text) {
		str_add(text, "0x");
		num_add_hex(text, c->n, 16);
		return;
	}
	add_name(c, text);
	if (c->has_offset)
		str_addf(text, "+0x%llx", (unsigned long long)c->offset);
}

static void add_time(const struct cell *c, struct str *text)
{
	const u64 s = 1000000000;

	str_addf(text, "%llu.", (unsigned long long)(c->n / s));
	if (c->digits == CELL_TIME_NS)
		str_addf(text, "%09llu", (unsigned long long)(c->n % s));
	else
		str_addf(text, "%06llu", (unsigned long long)(c->n % s / 1000));
}

/* All of its digits count: no need to look which. */
static bool is_small_whole(const struct cell *c)
{
	return c->digits >= 9 && c->real >= 0 && c->real < 1e9 && c->real == (double)(u64)c->real;
}

static void add_value(const struct cell *c, struct str *text)
{
	switch ((enum cell_kind)c->kind) {
	case CELL_NONE:
	case CELL_ROWS:
		return;
	case CELL_TEXT:
		str_add_safe(text, c->text ? c->text : "", c->text ? strlen(c->text) : 0);
		return;
	case CELL_FUNCTION:
	case CELL_PLACE:
		add_code(c, text);
		return;
	case CELL_BOOL:
	case CELL_COUNT:
	case CELL_SIZE:
		num_add_u64(text, c->n);
		return;
	case CELL_SIGNED:
		str_addf(text, "%lld", (long long)c->n);
		return;
	case CELL_ADDRESS:
		add_level(c, text);
		str_add(text, "0x");
		num_add_hex(text, c->n, c->level ? 16 : 1);
		return;
	case CELL_SHARE:
		num_add_percent(text, c->n, c->whole);
		return;
	case CELL_REAL:
		if (c->is_significant && !is_small_whole(c))
			str_addf(text, "%.*g", c->digits, c->real);
		else
			num_add_fixed(text, c->real, c->is_significant ? 0 : c->digits);
		return;
	case CELL_TIME:
		add_time(c, text);
		return;
	case CELL_RANGE:
		str_addf(text, "%.2f-%.2f%%%s", 100 * c->real, 100 * c->high,
			c->spans & CELL_IS_UNCERTAIN ? " ~" : "");
		return;
	}
}

void cell_add_text(const struct cell *c, struct str *text)
{
	add_value(c, text);
	if (!c->name)
		return;
	str_addc(text, ':');
	str_add_safe(text, c->name, strlen(c->name));
}

void cell_add_data(const struct cell *c, struct str *text)
{
	if (c->kind == CELL_SHARE) {
		num_add_fixed(text, c->whole ? 100.0 * (double)c->n / (double)c->whole : 0, 4);
	} else if (c->kind != CELL_FUNCTION) {
		add_value(c, text);
	} else if (c->text) {
		add_name(c, text);
	} else {
		str_add(text, "0x");
		num_add_hex(text, c->n, 1);
	}
}
