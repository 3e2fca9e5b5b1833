#include "record/oddity.h"

#include "event/abi.h"

#define VSYSCALL_PAGE (0xffffffffff600000 >> 12)

static const char *const texts[ODDITIES] = {
	[ODDITY_NUMBER] = "a process or thread number that no kernel gives out",
	[ODDITY_CPU] = "a CPU that its machine does not have",
	[ODDITY_PERIOD] = "a period that takes centuries",
	[ODDITY_TIME] = "a time outside the span that its file gives for all samples",
	[ODDITY_PLACE] = "user code at a kernel address, or the reverse",
	[ODDITY_CHAIN] = "a call chain that does not begin with a context marker",
	[ODDITY_REGS] = "registers of neither 32 nor 64 bits",
	[ODDITY_STACK] = "a stack dump that claims more bytes than it has",
	[ODDITY_REST] = "bytes after its last field",
};

const char *oddity_text(enum oddity oddity)
{
	return texts[oddity];
}

/* A task that has ended is (u32)-1, or 0 before Linux 4.15. */
static bool is_number(u32 n)
{
	return n <= ODDITY_PID_MOST || n == (u32)-1;
}

static bool is_marker(u64 address)
{
	switch (address) {
	case PERF_CONTEXT_HV:
	case PERF_CONTEXT_KERNEL:
	case PERF_CONTEXT_USER:
	case PERF_CONTEXT_USER_DEFERRED:
	case PERF_CONTEXT_GUEST:
	case PERF_CONTEXT_GUEST_KERNEL:
	case PERF_CONTEXT_GUEST_USER:
		return true;
	default:
		return false;
	}
}

/* User addresses of x86 and arm64 end at 2^57; only the vsyscall page lies among the kernel's. */
static bool is_misplaced(u64 address, bool is_kernel)
{
	if (!address)
		return false;
	return is_kernel ? !(address >> 63) : address >> 57 && address >> 12 != VSYSCALL_PAGE;
}

/* Checks where the sample was taken, and its first caller. */
static enum oddity in_places(const struct sample *s, u16 misc, u64 fields)
{
	unsigned mode = misc & PERF_RECORD_MISC_CPUMODE_MASK;
	u64 marker, address;

	if (fields & PERF_SAMPLE_IP &&
		(mode == PERF_RECORD_MISC_KERNEL || mode == PERF_RECORD_MISC_USER) &&
		is_misplaced(s->ip, mode == PERF_RECORD_MISC_KERNEL))
		return ODDITY_PLACE;
	if (!(fields & PERF_SAMPLE_CALLCHAIN) || s->chain.n < 2)
		return ODDITY_NONE;
	marker = load_u64(s->chain.at);
	address = load_u64(s->chain.at + 8);
	return (marker == PERF_CONTEXT_KERNEL || marker == PERF_CONTEXT_USER) &&
			!is_marker(address) && is_misplaced(address, marker == PERF_CONTEXT_KERNEL)
		? ODDITY_PLACE
		: ODDITY_NONE;
}

static enum oddity in_long_fields(const struct sample *s, u64 fields)
{
	if (fields & PERF_SAMPLE_CALLCHAIN && s->chain.n && !is_marker(load_u64(s->chain.at)))
		return ODDITY_CHAIN;
	if ((fields & PERF_SAMPLE_REGS_USER && s->user_regs.abi > PERF_SAMPLE_REGS_ABI_64) ||
		(fields & PERF_SAMPLE_REGS_INTR && s->intr_regs.abi > PERF_SAMPLE_REGS_ABI_64))
		return ODDITY_REGS;
	if (fields & PERF_SAMPLE_STACK_USER && s->user_stack.dyn_size > s->user_stack.bytes.n)
		return ODDITY_STACK;
	return s->n_rest ? ODDITY_REST : ODDITY_NONE;
}

struct oddity_bounds oddity_bounds_of(const struct oddity_limits *l, u64 fields)
{
	const u64 is_long = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_STACK_USER;
	struct oddity_bounds b = {UINT64_MAX, 0, UINT64_MAX, (fields & is_long) != 0};

	if (fields & PERF_SAMPLE_CPU && l->n_cpus)
		b.cpu_end = l->n_cpus;
	if (fields & PERF_SAMPLE_TIME && l->last_time) {
		b.first_time = l->first_time;
		b.time_span = l->last_time - MIN(l->last_time, l->first_time);
	}
	return b;
}

enum oddity oddity_of_state(u32 type, const union record_body *body)
{
	bool is_sound = true;

	switch (type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		is_sound = is_number(body->mmap.pid) && is_number(body->mmap.tid);
		break;
	case PERF_RECORD_COMM:
		is_sound = is_number(body->comm.pid) && is_number(body->comm.tid);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		is_sound = is_number(body->task.pid) && is_number(body->task.tid) &&
			is_number(body->task.ppid) && is_number(body->task.ptid);
		break;
	}
	return is_sound ? ODDITY_NONE : ODDITY_NUMBER;
}

/* per sample that may be odd */
enum oddity oddity_of(const struct sample *s, u16 misc, u64 fields, const struct oddity_limits *l)
{
	enum oddity oddity;

	if (fields & PERF_SAMPLE_TID && UNLIKELY(!is_number(s->pid) || !is_number(s->tid)))
		return ODDITY_NUMBER;
	if (fields & PERF_SAMPLE_CPU && l->n_cpus && UNLIKELY(s->cpu >= l->n_cpus) &&
		s->cpu != (u32)-1)
		return ODDITY_CPU;
	if (fields & PERF_SAMPLE_PERIOD && UNLIKELY(s->period > ODDITY_PERIOD_MOST))
		return ODDITY_PERIOD;
	if (fields & PERF_SAMPLE_TIME && l->last_time &&
		UNLIKELY(s->time < l->first_time || s->time > l->last_time))
		return ODDITY_TIME;
	oddity = l->has_halves ? in_places(s, misc, fields) : ODDITY_NONE;
	return oddity ? oddity : in_long_fields(s, fields);
}
