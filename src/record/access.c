#include "record/access.h"

#include <string.h>

/* Where a group of bits is in the word. */
struct field {
	u8 shift, width;
};

#define OPERATION    ((struct field){0, 5})
#define LEVEL        ((struct field){5, 14})
#define SNOOP        ((struct field){19, 5})
#define LOCK         ((struct field){24, 2})
#define TLB          ((struct field){26, 7})
#define LEVEL_NUMBER ((struct field){33, 4})
#define REMOTE       ((struct field){37, 1})
#define SNOOP_MORE   ((struct field){38, 2})
#define BLOCK        ((struct field){40, 3})
#define HOPS         ((struct field){43, 3})

enum { NOT_AVAILABLE = 1, HIT = 2, MISS = 4 }; /* in LEVEL and TLB */

static const char *const levels[] = {"N/A", NULL, NULL, "L1", "LFB/MAB", "L2", "L3", "Local RAM",
	"Remote RAM (1 hop)", "Remote RAM (2 hops)", "Remote Cache (1 hop)",
	"Remote Cache (2 hops)", "I/O", "Uncached"};
static const char *const level_numbers[] = {NULL, "L1", "L2", "L3", "L4", "L2 MHB",
	"Memory-side Cache", "L7", "Uncached", "CXL", "I/O", "Any cache", "LFB/MAB", "RAM", "PMEM",
	"N/A"};
static const char *const hops[] = {NULL, "core, same node", "node, same socket",
	"socket, same board", "board", NULL, NULL, NULL};
static const char *const snoops[] = {"N/A", "None", "Hit", "Miss", "HitM"};
static const char *const more_snoops[] = {"Fwd", "Peer"};
static const char *const tlbs[] = {"N/A", NULL, NULL, "L1", "L2", "Walker", "Fault"};

static u64 take(u64 word, struct field f)
{
	return word >> f.shift & (((u64)1 << f.width) - 1);
}

static u64 only(u64 word, struct field f)
{
	return word & (((u64)1 << f.width) - 1) << f.shift;
}

/* Adds the names of the bits that are set, joined by "or" to each other and to any text after `start`. */
static void add_names(u64 bits, const char *const *names, size_t n, size_t start, struct str *text)
{
	for (size_t i = 0; i < n; i++) {
		if (!(bits >> i & 1) || !names[i])
			continue;
		str_add(text, text->n > start ? " or " : "");
		str_add(text, names[i]);
	}
}

static const char *operation_name(u64 word)
{
	static const struct {
		u64 bit;
		const char *name;
	} names[] = {{1, "N/A"}, {2, "LOAD"}, {4, "STORE"}, {8, "PFETCH"}, {16, "EXEC"}};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (take(word, OPERATION) & names[i].bit)
			return names[i].name;
	return "No";
}

static void add_operation(u64 word, struct str *text)
{
	str_add(text, operation_name(word));
}

static void add_hit(u64 bits, struct str *text)
{
	str_add(text, bits & HIT ? " hit" : "");
	str_add(text, bits & MISS ? " miss" : "");
}

static void add_level(u64 word, struct str *text)
{
	u64 bits = take(word, LEVEL), number = take(word, LEVEL_NUMBER);
	const char *far = hops[take(word, HOPS)];
	size_t start;

	if (take(word, REMOTE))
		str_add(text, "Remote ");
	if (far)
		str_addf(text, "%s ", far);
	start = text->n;
	if (!far)
		add_names(bits, levels, ARRAY_SIZE(levels), start, text);
	if (number) {
		str_add(text, text->n > start ? " or " : "");
		str_add(text, level_numbers[number]);
	}
	if (text->n == start && !take(word, REMOTE) && !far)
		str_add(text, "N/A");
	add_hit(bits, text);
}

static void add_snoop(u64 word, struct str *text)
{
	size_t start = text->n;

	add_names(take(word, SNOOP), snoops, ARRAY_SIZE(snoops), start, text);
	add_names(take(word, SNOOP_MORE), more_snoops, ARRAY_SIZE(more_snoops), start, text);
	if (text->n == start)
		str_add(text, "N/A");
}

static void add_tlb(u64 word, struct str *text)
{
	u64 bits = take(word, TLB);
	size_t start = text->n;

	add_names(bits, tlbs, ARRAY_SIZE(tlbs), start, text);
	if (text->n == start)
		str_add(text, "N/A");
	add_hit(bits, text);
}

static void add_lock(u64 word, struct str *text)
{
	u64 bits = take(word, LOCK);

	str_add(text, bits & NOT_AVAILABLE ? "N/A" : bits ? "Yes" : "No");
}

static void add_block(u64 word, struct str *text)
{
	static const char *const names[] = {"N/A", "Data", "Addr"};
	u64 bits = take(word, BLOCK);

	/* No bits: unknown. */
	add_names(bits ? bits : NOT_AVAILABLE, names, ARRAY_SIZE(names), text->n, text);
}

static const struct {
	struct field fields[4];
	void (*add)(u64 word, struct str *text);
} parts[ACCESS_PARTS] = {
	[ACCESS_OPERATION] = {{OPERATION}, add_operation},
	[ACCESS_LEVEL] = {{LEVEL, LEVEL_NUMBER, REMOTE, HOPS}, add_level},
	[ACCESS_SNOOP] = {{SNOOP, SNOOP_MORE}, add_snoop},
	[ACCESS_LOCK] = {{LOCK}, add_lock},
	[ACCESS_TLB] = {{TLB}, add_tlb},
	[ACCESS_BLOCK] = {{BLOCK}, add_block},
};

u64 access_bits(u64 data_src, enum access_part part)
{
	u64 bits = 0;

	for (size_t i = 0; i < ARRAY_SIZE(parts[part].fields); i++)
		bits |= only(data_src, parts[part].fields[i]);
	return bits;
}

bool access_add_text(u64 data_src, enum access_part part, struct str *text)
{
	const size_t start = text->n;

	parts[part].add(data_src, text);
	return strcmp(text->at + start, "N/A") != 0;
}

void access_add_summary(u64 data_src, struct str *text)
{
	static const struct {
		const char *title;
		enum access_part part;
	} columns[] = {{"|LVL ", ACCESS_LEVEL}, {"|SNP ", ACCESS_SNOOP}, {"|TLB ", ACCESS_TLB},
		{"|LCK ", ACCESS_LOCK}, {"|BLK  ", ACCESS_BLOCK}};

	str_addf(text, "|OP %s", operation_name(data_src));
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++) {
		str_add(text, columns[i].title);
		access_add_text(data_src, columns[i].part, text);
	}
}

void access_add_transaction(u64 transaction, struct str *text)
{
	static const char *const names[] = {"EL", "TX", "SYNC", "ASYNC", "RETRY", "CON",
		"CAP-WRITE", "CAP-READ"};
	enum { SYNC_OR_ASYNC = 1 << 2 | 1 << 3, CODE_SHIFT = 32 };
	size_t start = text->n;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (transaction >> i & 1)
			str_addf(text, "%s ", names[i]);
	if (transaction && !(transaction & SYNC_OR_ASYNC))
		str_add(text, "NEITHER ");
	if (transaction >> CODE_SHIFT)
		str_addf(text, ":%llx ", (unsigned long long)(transaction >> CODE_SHIFT));
	if (text->n > start)
		str_cut(text, text->n - 1);
}

const char *access_abort_code(u8 code)
{
	switch (code) {
	case 0xff:
		return "the lock was busy";
	case 0xfe:
		return "the lock was found locked";
	case 0xfd:
		return "trylock within a transaction";
	}
	return NULL;
}

void access_add_abort_status(u32 status, struct str *text)
{
	static const char *const names[] = {"explicit", "retry", "conflict", "capacity", "debug",
		"nested"};
	enum { EXPLICIT = 1, CODE_SHIFT = 24 };
	const u8 code = (u8)(status >> CODE_SHIFT);
	const char *means = access_abort_code(code);
	const size_t start = text->n;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!(status >> i & 1))
			continue;
		str_addf(text, "%s%s", text->n > start ? ", " : "", names[i]);
		if (!i)
			str_addf(text, " _xabort(0x%x)%s%s%s", code, means ? " (" : "",
				means ? means : "", means ? ")" : "");
	}
	if (text->n == start)
		str_add(text, "none of the documented causes");
}
