/*
 * attr.h - perf_event_attr: what one event is, and what its samples carry.
 *
 * struct event_attr has the kernel's layout, so it goes to perf_event_open(2) and into files as it
 * is. One table (attr.c) lists each field once; printing and byte swapping walk it.
 * Units    sizes in bytes; clockid as in clock_gettime(2)
 * Source   linux/perf_event.h: struct perf_event_attr, PERF_ATTR_SIZE_VER0..9
 *
 * Before 2.6.31, and in texts of that time (tools/perf/design.txt), config was one word for type and
 * event: bit 63 raw_type (the rest is the processor's own number), then 7 bits type and 56 bits event_id.
 * 0x4064 of the Core processors with raw_type 1 is PERF_TYPE_RAW with config 0x4064, "r4064". sample_period
 * was irq_period, sample_type record_type (a u32), size extra_config_len, and a bit munmap followed mmap: no
 * record reports unmapping today. doc/perf-data.md has all of it in a table.
 */
#ifndef PACE_EVENT_ATTR_H
#define PACE_EVENT_ATTR_H

#include "base/bytes.h"
#include "base/err.h"
#include "base/str.h"
#include "base/types.h"

enum attr_size {
	ATTR_SIZE_VER0 = 64,  /* Linux 2.6.31 */
	ATTR_SIZE_VER1 = 72,  /* + config2, 2.6.33 */
	ATTR_SIZE_VER2 = 80,  /* + branch_sample_type, 3.4 */
	ATTR_SIZE_VER3 = 96,  /* + sample_regs_user, sample_stack_user, 3.7 */
	ATTR_SIZE_VER4 = 104, /* + sample_regs_intr, 3.19 */
	ATTR_SIZE_VER5 = 112, /* + aux_watermark, sample_max_stack, 4.1 */
	ATTR_SIZE_VER6 = 120, /* + aux_sample_size, 5.5 */
	ATTR_SIZE_VER7 = 128, /* + sig_data, 5.13 */
	ATTR_SIZE_VER8 = 136, /* + config3, 6.3 */
	ATTR_SIZE_VER9 = 144, /* + config4, 6.18 */
};

/* Bits of event_attr.flags, in the order of the kernel's bit field. */
#define ATTR_DISABLED       (1ULL << 0)
#define ATTR_INHERIT        (1ULL << 1)
#define ATTR_PINNED         (1ULL << 2)
#define ATTR_EXCLUSIVE      (1ULL << 3)
#define ATTR_EXCLUDE_USER   (1ULL << 4)
#define ATTR_EXCLUDE_KERNEL (1ULL << 5)
#define ATTR_EXCLUDE_HV     (1ULL << 6)
#define ATTR_EXCLUDE_IDLE   (1ULL << 7)
#define ATTR_MMAP           (1ULL << 8)
#define ATTR_COMM           (1ULL << 9)
#define ATTR_FREQ           (1ULL << 10)
#define ATTR_INHERIT_STAT   (1ULL << 11)
#define ATTR_ENABLE_ON_EXEC (1ULL << 12)
#define ATTR_TASK           (1ULL << 13)
#define ATTR_WATERMARK      (1ULL << 14)
#define ATTR_PRECISE_SHIFT \
	15 /* two bits: 0 any skid, 1 constant, 2 asks for none, 3 must be none */
#define ATTR_PRECISE_MASK             (3ULL << ATTR_PRECISE_SHIFT)
#define ATTR_MMAP_DATA                (1ULL << 17)
#define ATTR_SAMPLE_ID_ALL            (1ULL << 18)
#define ATTR_EXCLUDE_HOST             (1ULL << 19)
#define ATTR_EXCLUDE_GUEST            (1ULL << 20)
#define ATTR_EXCLUDE_CALLCHAIN_KERNEL (1ULL << 21)
#define ATTR_EXCLUDE_CALLCHAIN_USER   (1ULL << 22)
#define ATTR_MMAP2                    (1ULL << 23)
#define ATTR_COMM_EXEC                (1ULL << 24)
#define ATTR_USE_CLOCKID              (1ULL << 25)
#define ATTR_CONTEXT_SWITCH           (1ULL << 26)
#define ATTR_WRITE_BACKWARD           (1ULL << 27)
#define ATTR_NAMESPACES               (1ULL << 28)
#define ATTR_KSYMBOL                  (1ULL << 29)
#define ATTR_BPF_EVENT                (1ULL << 30)
#define ATTR_AUX_OUTPUT               (1ULL << 31)
#define ATTR_CGROUP                   (1ULL << 32)
#define ATTR_TEXT_POKE                (1ULL << 33)
#define ATTR_BUILD_ID                 (1ULL << 34)
#define ATTR_INHERIT_THREAD           (1ULL << 35)
#define ATTR_REMOVE_ON_EXEC           (1ULL << 36)
#define ATTR_SIGTRAP                  (1ULL << 37)

struct event_attr {
	u32 type;
	u32 size;
	u64 config;
	u64 sample_period; /* or Hz, with ATTR_FREQ */
	u64 sample_type;
	u64 read_format;
	u64 flags;
	u32 wakeup_events; /* or bytes, with ATTR_WATERMARK */
	u32 bp_type;
	u64 config1; /* breakpoints: the address */
	u64 config2; /* breakpoints: the length */
	u64 branch_sample_type;
	u64 sample_regs_user;
	u32 sample_stack_user;
	s32 clockid;
	u64 sample_regs_intr;
	u32 aux_watermark;
	u16 sample_max_stack;
	u16 reserved_2;
	u32 aux_sample_size;
	u32 reserved_3;
	u64 sig_data;
	u64 config3;
	u64 config4;
};

/*
 * Intel's slots event and the topdown metrics, which are parts of it (since Ice Lake): the kernel wants
 * slots to lead the group and each metric to have PERF_FORMAT_GROUP. Neither can sample then.
 */
#define ATTR_SLOTS 0x400
bool attr_is_slots(const struct event_attr *a);
bool attr_is_topdown(const struct event_attr *a);

static inline unsigned attr_precise(const struct event_attr *a)
{
	return (a->flags & ATTR_PRECISE_MASK) >> ATTR_PRECISE_SHIFT;
}

static inline void attr_set_precise(struct event_attr *a, unsigned level)
{
	a->flags = (a->flags & ~ATTR_PRECISE_MASK) | (u64)level << ATTR_PRECISE_SHIFT;
}

/* The smallest enum attr_size that holds every field of `a` that is not zero. */
u32 attr_needed_size(const struct event_attr *a);

/*
 * Reads an attr of the size it names itself, or of `size` if it names none (0 is found in the
 * wild). Shorter attrs are extended with zeros. *ret_dropped is set if a longer one is not zero in
 * the part that we do not know.
 */
int attr_read(struct bytes *b, u64 size, struct event_attr *ret_attr, bool *ret_dropped,
	struct err *err);

/*
 * Swaps the first n bytes of an attr in the other byte order to this machine's, in place: the fields
 * that we know and that lie wholly within them.
 */
void attr_swap(u8 *at, size_t n);

/* Adds name, `equals` and value of each field that is not zero, joined by ", ". */
void attr_add_text(const struct event_attr *a, const char *equals, struct str *text);

#endif
