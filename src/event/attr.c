#include "event/attr.h"

#include "base/selfname.h"
#include "event/abi.h"

enum field_kind { FIELD_DEC, FIELD_HEX, FIELD_SIGNED, FIELD_BITS };

struct bit_name {
	u64 bit;
	const char *name;
};

static const struct bit_name sample_bits[] = {
	{PERF_SAMPLE_IP, "IP"},
	{PERF_SAMPLE_TID, "TID"},
	{PERF_SAMPLE_TIME, "TIME"},
	{PERF_SAMPLE_ADDR, "ADDR"},
	{PERF_SAMPLE_READ, "READ"},
	{PERF_SAMPLE_CALLCHAIN, "CALLCHAIN"},
	{PERF_SAMPLE_ID, "ID"},
	{PERF_SAMPLE_CPU, "CPU"},
	{PERF_SAMPLE_PERIOD, "PERIOD"},
	{PERF_SAMPLE_STREAM_ID, "STREAM_ID"},
	{PERF_SAMPLE_RAW, "RAW"},
	{PERF_SAMPLE_BRANCH_STACK, "BRANCH_STACK"},
	{PERF_SAMPLE_REGS_USER, "REGS_USER"},
	{PERF_SAMPLE_STACK_USER, "STACK_USER"},
	{PERF_SAMPLE_IDENTIFIER, "IDENTIFIER"},
	{PERF_SAMPLE_REGS_INTR, "REGS_INTR"},
	{PERF_SAMPLE_DATA_SRC, "DATA_SRC"},
	{PERF_SAMPLE_WEIGHT, "WEIGHT"},
	{PERF_SAMPLE_PHYS_ADDR, "PHYS_ADDR"},
	{PERF_SAMPLE_AUX, "AUX"},
	{PERF_SAMPLE_CGROUP, "CGROUP"},
	{PERF_SAMPLE_DATA_PAGE_SIZE, "DATA_PAGE_SIZE"},
	{PERF_SAMPLE_CODE_PAGE_SIZE, "CODE_PAGE_SIZE"},
	{PERF_SAMPLE_WEIGHT_STRUCT, "WEIGHT_STRUCT"},
	{PERF_SAMPLE_TRANSACTION, "TRANSACTION"},
	{0, NULL},
};

static const struct bit_name branch_bits[] = {
	{PERF_SAMPLE_BRANCH_USER, "USER"},
	{PERF_SAMPLE_BRANCH_KERNEL, "KERNEL"},
	{PERF_SAMPLE_BRANCH_HV, "HV"},
	{PERF_SAMPLE_BRANCH_ANY, "ANY"},
	{PERF_SAMPLE_BRANCH_ANY_CALL, "ANY_CALL"},
	{PERF_SAMPLE_BRANCH_ANY_RETURN, "ANY_RETURN"},
	{PERF_SAMPLE_BRANCH_IND_CALL, "IND_CALL"},
	{PERF_SAMPLE_BRANCH_ABORT_TX, "ABORT_TX"},
	{PERF_SAMPLE_BRANCH_IN_TX, "IN_TX"},
	{PERF_SAMPLE_BRANCH_NO_TX, "NO_TX"},
	{PERF_SAMPLE_BRANCH_COND, "COND"},
	{PERF_SAMPLE_BRANCH_CALL_STACK, "CALL_STACK"},
	{PERF_SAMPLE_BRANCH_IND_JUMP, "IND_JUMP"},
	{PERF_SAMPLE_BRANCH_CALL, "CALL"},
	{PERF_SAMPLE_BRANCH_NO_FLAGS, "NO_FLAGS"},
	{PERF_SAMPLE_BRANCH_NO_CYCLES, "NO_CYCLES"},
	{PERF_SAMPLE_BRANCH_TYPE_SAVE, "TYPE_SAVE"},
	{PERF_SAMPLE_BRANCH_HW_INDEX, "HW_INDEX"},
	{PERF_SAMPLE_BRANCH_PRIV_SAVE, "PRIV_SAVE"},
	{PERF_SAMPLE_BRANCH_COUNTERS, "COUNTERS"},
	{0, NULL},
};

static const struct bit_name read_bits[] = {
	{PERF_FORMAT_TOTAL_TIME_ENABLED, "TOTAL_TIME_ENABLED"},
	{PERF_FORMAT_TOTAL_TIME_RUNNING, "TOTAL_TIME_RUNNING"},
	{PERF_FORMAT_ID, "ID"},
	{PERF_FORMAT_GROUP, "GROUP"},
	{PERF_FORMAT_LOST, "LOST"},
	{0, NULL},
};

struct field {
	const char *name;
	u8 offset, size; /* in struct event_attr, bytes */
	u8 kind;
	const struct bit_name *bits; /* for FIELD_BITS */
};

#define FIELD(n, m, kind)                                                                          \
	{                                                                                          \
		n, offsetof(struct event_attr, m), sizeof(((struct event_attr *)0)->m), kind, NULL \
	}
#define BITS(n, m, names)                                                               \
	{                                                                               \
		n, offsetof(struct event_attr, m), sizeof(((struct event_attr *)0)->m), \
			FIELD_BITS, names                                               \
	}

/* In the kernel's order; the flags word stands where its bits are printed. */
static const struct field fields[] = {
	FIELD("type", type, FIELD_DEC),
	FIELD("size", size, FIELD_DEC),
	FIELD("config", config, FIELD_HEX),
	FIELD("{ sample_period, sample_freq }", sample_period, FIELD_DEC),
	BITS("sample_type", sample_type, sample_bits),
	BITS("read_format", read_format, read_bits),
	FIELD(NULL, flags, FIELD_DEC),
	FIELD("{ wakeup_events, wakeup_watermark }", wakeup_events, FIELD_DEC),
	FIELD("bp_type", bp_type, FIELD_DEC),
	FIELD("{ bp_addr, config1 }", config1, FIELD_HEX),
	FIELD("{ bp_len, config2 }", config2, FIELD_HEX),
	BITS("branch_sample_type", branch_sample_type, branch_bits),
	FIELD("sample_regs_user", sample_regs_user, FIELD_HEX),
	FIELD("sample_stack_user", sample_stack_user, FIELD_DEC),
	FIELD("clockid", clockid, FIELD_SIGNED),
	FIELD("sample_regs_intr", sample_regs_intr, FIELD_HEX),
	FIELD("aux_watermark", aux_watermark, FIELD_DEC),
	FIELD("sample_max_stack", sample_max_stack, FIELD_DEC),
	FIELD("reserved_2", reserved_2, FIELD_HEX),
	FIELD("aux_sample_size", aux_sample_size, FIELD_DEC),
	FIELD("reserved_3", reserved_3, FIELD_HEX),
	FIELD("sig_data", sig_data, FIELD_DEC),
	FIELD("config3", config3, FIELD_HEX),
	FIELD("config4", config4, FIELD_HEX),
};

/* The bits of `flags`: name, lowest bit, width. */
static const struct {
	const char *name;
	u8 shift, width;
} flag_fields[] = {
	{"disabled", 0, 1},
	{"inherit", 1, 1},
	{"pinned", 2, 1},
	{"exclusive", 3, 1},
	{"exclude_user", 4, 1},
	{"exclude_kernel", 5, 1},
	{"exclude_hv", 6, 1},
	{"exclude_idle", 7, 1},
	{"mmap", 8, 1},
	{"comm", 9, 1},
	{"freq", 10, 1},
	{"inherit_stat", 11, 1},
	{"enable_on_exec", 12, 1},
	{"task", 13, 1},
	{"watermark", 14, 1},
	{"precise_ip", ATTR_PRECISE_SHIFT, 2},
	{"mmap_data", 17, 1},
	{"sample_id_all", 18, 1},
	{"exclude_host", 19, 1},
	{"exclude_guest", 20, 1},
	{"exclude_callchain_kernel", 21, 1},
	{"exclude_callchain_user", 22, 1},
	{"mmap2", 23, 1},
	{"comm_exec", 24, 1},
	{"use_clockid", 25, 1},
	{"context_switch", 26, 1},
	{"write_backward", 27, 1},
	{"namespaces", 28, 1},
	{"ksymbol", 29, 1},
	{"bpf_event", 30, 1},
	{"aux_output", 31, 1},
	{"cgroup", 32, 1},
	{"text_poke", 33, 1},
	{"build_id", 34, 1},
	{"inherit_thread", 35, 1},
	{"remove_on_exec", 36, 1},
	{"sigtrap", 37, 1},
};

/* Reverses the bits of each byte: compilers for the other byte order lay bit fields out from the other end. */
static u64 swap_flags(u64 flags)
{
	u64 swapped = 0;

	for (unsigned byte = 0; byte < 8; byte++) {
		u8 in = flags >> (8 * byte), out = 0;

		for (unsigned bit = 0; bit < 8; bit++)
			out |= (in >> bit & 1) << (7 - bit);
		swapped |= (u64)out << (8 * byte);
	}
	/* precise_ip has two bits, which the reversal has exchanged. */
	u64 precise = (swapped & ATTR_PRECISE_MASK) >> ATTR_PRECISE_SHIFT;
	swapped &= ~ATTR_PRECISE_MASK;
	return swapped | ((precise >> 1 | precise << 1) & 3) << ATTR_PRECISE_SHIFT;
}

static u64 load(const struct event_attr *a, const struct field *f)
{
	const u8 *p = (const u8 *)a + f->offset;

	return f->size == 8 ? load_u64(p) : f->size == 4 ? load_u32(p) : load_u16(p);
}

void attr_swap(u8 *at, size_t n)
{
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		u8 *p = at + fields[i].offset;

		if ((size_t)fields[i].offset + fields[i].size > n)
			return;
		if (fields[i].size == 8) {
			/*
			 * The flags are a run of bytes to the compiler that laid them out: no
			 * reordering.
			 */
			u64 v = fields[i].name ? __builtin_bswap64(load_u64(p))
					       : swap_flags(load_u64(p));
			memcpy(p, &v, 8);
		} else if (fields[i].size == 4) {
			u32 v = __builtin_bswap32(load_u32(p));
			memcpy(p, &v, 4);
		} else {
			u16 v = __builtin_bswap16(load_u16(p));
			memcpy(p, &v, 2);
		}
	}
}

u32 attr_needed_size(const struct event_attr *a)
{
	static const u16 sizes[] = {ATTR_SIZE_VER0, ATTR_SIZE_VER1, ATTR_SIZE_VER2, ATTR_SIZE_VER3,
		ATTR_SIZE_VER4, ATTR_SIZE_VER5, ATTR_SIZE_VER6, ATTR_SIZE_VER7, ATTR_SIZE_VER8,
		ATTR_SIZE_VER9};
	const u8 *p = (const u8 *)a;
	size_t used = sizeof(*a), i = 0;

	while (used > ATTR_SIZE_VER0 && !p[used - 1])
		used--;
	while (sizes[i] < used)
		i++;
	return sizes[i];
}

int attr_read(struct bytes *b, u64 size, struct event_attr *ret_attr, bool *ret_dropped,
	struct err *err)
{
	struct bytes peek = *b;
	struct event_attr a = {0};
	const void *p;
	u32 own_size;

	if (!bytes_skip(&peek, 4) || !bytes_u32(&peek, &own_size))
		return err_set(err, ERR_FORMAT, "the attr at offset 0x%llx is cut off",
			(unsigned long long)b->offset);
	/* The first files had no size here; perf then took the oldest layout. */
	if (!own_size)
		own_size = size ? MIN(size, (u64)UINT32_MAX) : ATTR_SIZE_VER0;
	if (own_size < ATTR_SIZE_VER0 || own_size > 4096)
		return err_set(err, ERR_FORMAT,
			"the attr at offset 0x%llx says it has %u bytes, not 64 to 4096",
			(unsigned long long)b->offset, own_size);
	if (!bytes_take(b, own_size, &p))
		return err_set(err, ERR_FORMAT, "the attr at offset 0x%llx has %zu of its %u bytes",
			(unsigned long long)b->offset, bytes_left(b), own_size);
	memcpy(&a, p, MIN(own_size, sizeof(a)));
	if (b->swap)
		attr_swap((u8 *)&a, sizeof(a));
	a.size = own_size;
	*ret_dropped = false;
	for (size_t i = sizeof(a); i < own_size; i++)
		*ret_dropped |= ((const u8 *)p)[i] != 0;
	*ret_attr = a;
	return 0;
}

static void add_bits(u64 v, const struct bit_name *names, struct str *text)
{
	const char *between = "";

	for (; names->name; names++) {
		if (!(v & names->bit))
			continue;
		str_addf(text, "%s%s", between, names->name);
		between = "|";
		v &= ~names->bit;
	}
	if (v)
		str_addf(text, "%s0x%llx", between, (unsigned long long)v);
}

static void add_flags(u64 flags, const char *equals, const char **between, struct str *text)
{
	for (size_t i = 0; i < ARRAY_SIZE(flag_fields); i++) {
		u64 v = flags >> flag_fields[i].shift & ((1u << flag_fields[i].width) - 1);

		if (!v)
			continue;
		str_addf(text, "%s%s%s%llu", *between, flag_fields[i].name, equals,
			(unsigned long long)v);
		*between = ", ";
	}
	if (flags >> 38) {
		str_addf(text, "%sflags_38%s0x%llx", *between, equals,
			(unsigned long long)(flags >> 38));
		*between = ", ";
	}
}

void attr_add_text(const struct event_attr *a, const char *equals, struct str *text)
{
	const char *between = "";

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		const struct field *f = &fields[i];
		u64 v = load(a, f);

		/* perf 7 says also that it is 0. */
		if (!v &&
			!(f->kind == FIELD_HEX && !strcmp(f->name, "config") && program_is_perf() &&
				program_perf_version() > 6))
			continue;
		if (!f->name) {
			add_flags(v, equals, &between, text);
			continue;
		}
		str_addf(text, "%s%s%s", between, f->name, equals);
		between = ", ";
		if (f->kind == FIELD_BITS)
			add_bits(v, f->bits, text);
		else if (f->kind == FIELD_HEX)
			str_addf(text, "0x%llx", (unsigned long long)v);
		else if (f->kind == FIELD_SIGNED)
			str_addf(text, "%d", (s32)v);
		else
			str_addf(text, "%llu", (unsigned long long)v);
	}
}

bool attr_is_slots(const struct event_attr *a)
{
	return a->type == PERF_TYPE_RAW && a->config == ATTR_SLOTS;
}

bool attr_is_topdown(const struct event_attr *a)
{
	return a->type == PERF_TYPE_RAW && !(a->config & ~0x8f00ULL) && a->config & 0x8000;
}
