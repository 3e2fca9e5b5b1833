#include "symbol/code/shape.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

/* Numbers from here on are assumed to be addresses. */
#define BIG 0x10000

/* Registers that serve as stack pointers and frame pointers. */
static const char *const stack_registers[] = {"rsp", "rbp", "esp", "ebp", "sp", "x29", "fp", "s0"};

static bool is_word_char(char c)
{
	return isalnum((u8)c) || c == '_' || c == '.';
}

static size_t word_length(const char *at, const char *end)
{
	size_t n = 0;

	while (at + n < end && is_word_char(at[n]))
		n++;
	return n;
}

static bool is_stack_register(const char *word, size_t n)
{
	for (size_t i = 0; i < ARRAY_SIZE(stack_registers); i++)
		if (strlen(stack_registers[i]) == n && !memcmp(stack_registers[i], word, n))
			return true;
	return false;
}

/* Whether a word is a register: "ptr", "qword", "lsl"... are not, registers are short or have a digit. */
static bool is_register(const char *word, size_t n)
{
	enum { SHORT = 3 };
	bool has_digit = false;

	for (size_t i = 0; i < n; i++)
		has_digit |= isdigit((u8)word[i]) != 0;
	return has_digit || (n <= SHORT && memcmp(word, "ptr", MIN(n, (size_t)3)) != 0);
}

/* Whether an operand is memory on the stack, whose offset depends on the compiler's layout. */
static bool is_on_stack(const char *at, const char *end)
{
	bool is_memory = false, has_stack = false;

	for (; at < end; at++) {
		size_t n = word_length(at, end);

		is_memory |= *at == '(' || *at == '[';
		if (!n)
			continue;
		has_stack |= is_stack_register(at, n);
		at += n - 1;
	}
	return is_memory && has_stack;
}

/* The end of an operand: the next comma outside of brackets. */
static const char *operand_end(const char *at)
{
	int depth = 0;

	for (; *at && (depth > 0 || *at != ','); at++)
		depth += (*at == '(' || *at == '[') - (*at == ')' || *at == ']');
	return at;
}

static void add_word(const char *word, size_t n, struct str *out)
{
	if (!is_register(word, n))
		str_addn(out, word, n);
	else
		/* Vector registers differ from integer ones. */
		str_add(out, n > 3 && !memcmp(word + 1, "mm", 2) ? "v" : "r");
}

static void add_number(const char *word, size_t n, bool is_on_stack, struct str *out)
{
	if (is_on_stack || strtoull(word, NULL, 0) >= BIG)
		str_addc(out, 'n');
	else
		str_addn(out, word, n);
}

/* Appends an operand without its registers and stack offsets. */
static void add_loose(const char *at, const char *end, struct str *out)
{
	bool on_stack = is_on_stack(at, end);

	while (at < end) {
		size_t n = word_length(at, end);

		if (n && isdigit((u8)*at))
			add_number(at, n, on_stack, out);
		else if (n)
			add_word(at, n, out);
		else if (*at != '%' && !(on_stack && *at == '-'))
			str_addc(out, *at);
		at += MAX(n, (size_t)1);
	}
}

/* Appends an operand without its numbers, which are relative to the instruction. */
static void add_without_numbers(const char *at, const char *end, struct str *out)
{
	while (at < end) {
		size_t n = word_length(at, end);

		if (!(n && isdigit((u8)*at)) && !(!n && *at == '-'))
			str_addn(out, at, MAX(n, (size_t)1));
		at += MAX(n, (size_t)1);
	}
}

/*
 * Whether this operand is the reference: the one with the program counter or, if none has it, a bare number.
 */
static bool is_reference(const struct shape_text *t, const char *at, const char *end)
{
	if (strstr(t->text, "rip"))
		return memmem(at, (size_t)(end - at), "rip", 3) != NULL;
	at += strspn(at, " #-");
	return at < end && isdigit((u8)*at);
}

/* Appends the operands for one of the two keys: unchanged, or loose. */
static void add_operands(const struct shape_text *t, const char *at, bool is_loose, struct str *out)
{
	while (*at) {
		const char *end = operand_end(at);
		bool is_relative = t->has_reference && is_reference(t, at, end);

		if (!*end && t->has_target) {
			str_add(out, t->target ? t->target : "@");
		} else if (is_relative) {
			add_without_numbers(at, end, out);
			str_add(out, t->reference ? t->reference : "@");
		} else if (is_loose) {
			add_loose(at, end, out);
		} else {
			str_addn(out, at, (size_t)(end - at));
		}
		if (!*end)
			break;
		str_addc(out, ',');
		at = end + 1;
	}
}

struct shape shape_of(const struct shape_text *t, struct str *scratch)
{
	const char *operands = t->text + strcspn(t->text, " ");
	struct shape shape;

	if (t->is_bytes) {
		shape.exact = hash_bytes(t->text, strlen(t->text));
		shape.loose = shape.exact;
		return shape;
	}
	for (int is_loose = 0; is_loose < 2; is_loose++) {
		str_clear(scratch);
		str_addn(scratch, t->text, (size_t)(operands - t->text));
		str_addc(scratch, ' ');
		add_operands(t, operands + strspn(operands, " "), is_loose, scratch);
		*(is_loose ? &shape.loose : &shape.exact) =
			hash_bytes(str_text(scratch), scratch->n);
	}
	return shape;
}
