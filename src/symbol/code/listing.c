#include "symbol/code/listing.h"

#include <stdlib.h>

#include "base/search.h"

enum { OPERANDS_COLUMN = 7 };

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Appends the words of a line: the first blanks fill up to the operands' column, the others become one. */
static void add_shaped(struct str *out, const char *text, size_t n)
{
	size_t start = out->n;
	bool is_first = true;

	for (size_t i = 0; i < n; i++) {
		if (!is_blank(text[i])) {
			str_addc(out, text[i]);
			continue;
		}
		while (i + 1 < n && is_blank(text[i + 1]))
			i++;
		str_addc(out, ' ');
		if (is_first)
			str_pad_right(out, start, OPERANDS_COLUMN);
		is_first = false;
	}
}

/*
 * Parses the address in a jump's last operand: "0x401136", "w0, #3, 0x4004f0". Returns false if that is a
 * register or memory.
 */
static bool parse_target(const char *text, u64 *ret_va)
{
	const char *last = strrchr(text, ',');
	char *end;

	last = last ? last + 1 : strchr(text, ' ');
	if (!last)
		return false;
	while (is_blank(*last))
		last++;
	if (strncmp(last, "0x", 2))
		return false;
	*ret_va = strtoull(last, &end, 16);
	return !*end;
}

struct instruction *listing_add(struct listing *l, const struct isa *isa, u64 va, u32 size,
	const char *text)
{
	struct instruction *i = vec_push(&l->instructions);
	const char *comment = strchr(text, '#'), *shaped;
	size_t n;

	*i = (struct instruction){.va = va, .size = size, .text = (u32)l->texts.n};
	while (is_blank(*text))
		text++;
	/* On arm64 a '#' also precedes numbers: a comment has a blank after it. */
	while (comment && comment[1] != ' ')
		comment = strchr(comment + 1, '#');
	n = comment ? (size_t)(comment - text) : strcspn(text, "\n");
	while (n && is_blank(text[n - 1]))
		n--;
	add_shaped(&l->texts, text, n);
	str_addn(&l->texts, "", 1);
	shaped = l->texts.at + i->text;
	i->flow = (u8)isa_flow(isa, shaped, strcspn(shaped, " "));
	if (i->flow != ISA_ON)
		i->has_target = parse_target(shaped, &i->target);
	if (comment && !strncmp(comment, "# 0x", 4)) {
		i->has_reference = true;
		i->reference = strtoull(comment + 2, NULL, 16);
	}
	return i;
}

void listing_add_bytes(struct listing *l, u64 va, const u8 *bytes, u32 size)
{
	struct instruction *i = vec_push(&l->instructions);

	*i = (struct instruction){.va = va, .size = size, .text = (u32)l->texts.n, .is_bad = true};
	str_add(&l->texts, ".byte ");
	str_pad_right(&l->texts, i->text, OPERANDS_COLUMN);
	for (u32 k = 0; k < size; k++)
		str_addf(&l->texts, k ? ", 0x%02x" : "0x%02x", bytes[k]);
	str_addn(&l->texts, "", 1);
}

const char *listing_text(const struct listing *l, const struct instruction *i)
{
	return l->texts.at + i->text;
}

u32 listing_find(const struct listing *l, u64 va)
{
	/* `va` is the first member, so search_behind() compares it. */
	size_t low = search_behind(l->instructions.at, l->instructions.n,
		sizeof(*l->instructions.at), va);

	if (!low || va - l->instructions.at[low - 1].va >= l->instructions.at[low - 1].size)
		return UINT32_MAX;
	return (u32)(low - 1);
}

void listing_fini(struct listing *l)
{
	vec_fini(&l->instructions);
	str_fini(&l->texts);
}
