/*
 * abi.h - the numbers the kernel and perf.data agreed on.
 *
 * Spelled here so that pace builds with the kernel headers of any distribution and knows today's
 * fields on all of them. tests/unit/test_abi.c compares every one with the machine's own header.
 * Source   linux/perf_event.h (records, attributes, ring page), tools/perf/util/event.h's
 *          documented user record types as listed in Documentation/perf.data-file-format.txt
 */
#ifndef PACE_EVENT_ABI_H
#define PACE_EVENT_ABI_H

#include <sys/ioctl.h>

#include "base/types.h"

enum perf_type {
	PERF_TYPE_HARDWARE = 0,
	PERF_TYPE_SOFTWARE = 1,
	PERF_TYPE_TRACEPOINT = 2,
	PERF_TYPE_HW_CACHE = 3,
	PERF_TYPE_RAW = 4,
	PERF_TYPE_BREAKPOINT = 5,
};

/*
 * On machines with several kinds of cores: the bits of a hardware or cache event's config that hold
 * the type of the PMU to count on.
 */
enum { PERF_PMU_TYPE_SHIFT = 32 };

/* event_attr.bp_type: linux/hw_breakpoint.h */
enum perf_breakpoint {
	HW_BREAKPOINT_R = 1,
	HW_BREAKPOINT_W = 2,
	HW_BREAKPOINT_X = 4,
};

enum perf_hw {
	PERF_COUNT_HW_CPU_CYCLES = 0,
	PERF_COUNT_HW_INSTRUCTIONS = 1,
	PERF_COUNT_HW_CACHE_REFERENCES = 2,
	PERF_COUNT_HW_CACHE_MISSES = 3,
	PERF_COUNT_HW_BRANCH_INSTRUCTIONS = 4,
	PERF_COUNT_HW_BRANCH_MISSES = 5,
	PERF_COUNT_HW_BUS_CYCLES = 6,
	PERF_COUNT_HW_STALLED_CYCLES_FRONTEND = 7,
	PERF_COUNT_HW_STALLED_CYCLES_BACKEND = 8,
	PERF_COUNT_HW_REF_CPU_CYCLES = 9,
};

enum perf_sw {
	PERF_COUNT_SW_CPU_CLOCK = 0,
	PERF_COUNT_SW_TASK_CLOCK = 1,
	PERF_COUNT_SW_PAGE_FAULTS = 2,
	PERF_COUNT_SW_CONTEXT_SWITCHES = 3,
	PERF_COUNT_SW_CPU_MIGRATIONS = 4,
	PERF_COUNT_SW_PAGE_FAULTS_MIN = 5,
	PERF_COUNT_SW_PAGE_FAULTS_MAJ = 6,
	PERF_COUNT_SW_ALIGNMENT_FAULTS = 7,
	PERF_COUNT_SW_EMULATION_FAULTS = 8,
	PERF_COUNT_SW_DUMMY = 9,
	PERF_COUNT_SW_BPF_OUTPUT = 10,
	PERF_COUNT_SW_CGROUP_SWITCHES = 11,
};

/* HW_CACHE config: id | op << 8 | result << 16 */
enum perf_cache_id {
	PERF_COUNT_HW_CACHE_L1D = 0,
	PERF_COUNT_HW_CACHE_L1I = 1,
	PERF_COUNT_HW_CACHE_LL = 2,
	PERF_COUNT_HW_CACHE_DTLB = 3,
	PERF_COUNT_HW_CACHE_ITLB = 4,
	PERF_COUNT_HW_CACHE_BPU = 5,
	PERF_COUNT_HW_CACHE_NODE = 6,
};

enum perf_cache_op {
	PERF_COUNT_HW_CACHE_OP_READ = 0,
	PERF_COUNT_HW_CACHE_OP_WRITE = 1,
	PERF_COUNT_HW_CACHE_OP_PREFETCH = 2,
};

enum perf_cache_result {
	PERF_COUNT_HW_CACHE_RESULT_ACCESS = 0,
	PERF_COUNT_HW_CACHE_RESULT_MISS = 1,
};

enum perf_sample_bit {
	PERF_SAMPLE_IP = 1 << 0,
	PERF_SAMPLE_TID = 1 << 1,
	PERF_SAMPLE_TIME = 1 << 2,
	PERF_SAMPLE_ADDR = 1 << 3,
	PERF_SAMPLE_READ = 1 << 4,
	PERF_SAMPLE_CALLCHAIN = 1 << 5,
	PERF_SAMPLE_ID = 1 << 6,
	PERF_SAMPLE_CPU = 1 << 7,
	PERF_SAMPLE_PERIOD = 1 << 8,
	PERF_SAMPLE_STREAM_ID = 1 << 9,
	PERF_SAMPLE_RAW = 1 << 10,
	PERF_SAMPLE_BRANCH_STACK = 1 << 11,
	PERF_SAMPLE_REGS_USER = 1 << 12,
	PERF_SAMPLE_STACK_USER = 1 << 13,
	PERF_SAMPLE_WEIGHT = 1 << 14,
	PERF_SAMPLE_DATA_SRC = 1 << 15,
	PERF_SAMPLE_IDENTIFIER = 1 << 16,
	PERF_SAMPLE_TRANSACTION = 1 << 17,
	PERF_SAMPLE_REGS_INTR = 1 << 18,
	PERF_SAMPLE_PHYS_ADDR = 1 << 19,
	PERF_SAMPLE_AUX = 1 << 20,
	PERF_SAMPLE_CGROUP = 1 << 21,
	PERF_SAMPLE_DATA_PAGE_SIZE = 1 << 22,
	PERF_SAMPLE_CODE_PAGE_SIZE = 1 << 23,
	PERF_SAMPLE_WEIGHT_STRUCT = 1 << 24,
};

/* In the word of PERF_SAMPLE_TRANSACTION; the code of XABORT is above PERF_TXN_ABORT_SHIFT. */
enum perf_txn_bit {
	PERF_TXN_ELISION = 1 << 0,
	PERF_TXN_TRANSACTION = 1 << 1,
	PERF_TXN_SYNC = 1 << 2,
	PERF_TXN_ASYNC = 1 << 3,
	PERF_TXN_RETRY = 1 << 4,
	PERF_TXN_CONFLICT = 1 << 5,
	PERF_TXN_CAPACITY_WRITE = 1 << 6,
	PERF_TXN_CAPACITY_READ = 1 << 7,
	PERF_TXN_ABORT_SHIFT = 32,
};

enum perf_branch_bit {
	PERF_SAMPLE_BRANCH_USER = 1 << 0,
	PERF_SAMPLE_BRANCH_KERNEL = 1 << 1,
	PERF_SAMPLE_BRANCH_HV = 1 << 2,
	PERF_SAMPLE_BRANCH_ANY = 1 << 3,
	PERF_SAMPLE_BRANCH_ANY_CALL = 1 << 4,
	PERF_SAMPLE_BRANCH_ANY_RETURN = 1 << 5,
	PERF_SAMPLE_BRANCH_IND_CALL = 1 << 6,
	PERF_SAMPLE_BRANCH_ABORT_TX = 1 << 7,
	PERF_SAMPLE_BRANCH_IN_TX = 1 << 8,
	PERF_SAMPLE_BRANCH_NO_TX = 1 << 9,
	PERF_SAMPLE_BRANCH_COND = 1 << 10,
	PERF_SAMPLE_BRANCH_CALL_STACK = 1 << 11,
	PERF_SAMPLE_BRANCH_IND_JUMP = 1 << 12,
	PERF_SAMPLE_BRANCH_CALL = 1 << 13,
	PERF_SAMPLE_BRANCH_NO_FLAGS = 1 << 14,
	PERF_SAMPLE_BRANCH_NO_CYCLES = 1 << 15,
	PERF_SAMPLE_BRANCH_TYPE_SAVE = 1 << 16,
	PERF_SAMPLE_BRANCH_HW_INDEX = 1 << 17,
	PERF_SAMPLE_BRANCH_PRIV_SAVE = 1 << 18,
	PERF_SAMPLE_BRANCH_COUNTERS = 1 << 19,
};

enum perf_read_bit {
	PERF_FORMAT_TOTAL_TIME_ENABLED = 1 << 0,
	PERF_FORMAT_TOTAL_TIME_RUNNING = 1 << 1,
	PERF_FORMAT_ID = 1 << 2,
	PERF_FORMAT_GROUP = 1 << 3,
	PERF_FORMAT_LOST = 1 << 4,
};

enum perf_misc {
	PERF_RECORD_MISC_CPUMODE_MASK = 7,
	PERF_RECORD_MISC_CPUMODE_UNKNOWN = 0,
	PERF_RECORD_MISC_KERNEL = 1,
	PERF_RECORD_MISC_USER = 2,
	PERF_RECORD_MISC_HYPERVISOR = 3,
	PERF_RECORD_MISC_GUEST_KERNEL = 4,
	PERF_RECORD_MISC_GUEST_USER = 5,
	PERF_RECORD_MISC_PROC_MAP_PARSE_TIMEOUT = 1 << 12,
	/* bits 13 and 14 mean something else for each type of record */
	PERF_RECORD_MISC_MMAP_DATA = 1 << 13,
	PERF_RECORD_MISC_COMM_EXEC = 1 << 13,
	PERF_RECORD_MISC_FORK_EXEC = 1 << 13,
	PERF_RECORD_MISC_SWITCH_OUT = 1 << 13,
	PERF_RECORD_MISC_EXACT_IP = 1 << 14,
	PERF_RECORD_MISC_SWITCH_OUT_PREEMPT = 1 << 14,
	PERF_RECORD_MISC_MMAP_BUILD_ID = 1 << 14,
	PERF_RECORD_MISC_EXT_RESERVED = 1 << 15,
	PERF_RECORD_MISC_BUILD_ID_SIZE = 1 << 15,    /* in perf's build-id table */
	PERF_RECORD_MISC_LOST_SAMPLES_BPF = 1 << 15, /* perf's: a filter dropped them */
};

enum perf_record_type {
	PERF_RECORD_MMAP = 1,
	PERF_RECORD_LOST = 2,
	PERF_RECORD_COMM = 3,
	PERF_RECORD_EXIT = 4,
	PERF_RECORD_THROTTLE = 5,
	PERF_RECORD_UNTHROTTLE = 6,
	PERF_RECORD_FORK = 7,
	PERF_RECORD_READ = 8,
	PERF_RECORD_SAMPLE = 9,
	PERF_RECORD_MMAP2 = 10,
	PERF_RECORD_AUX = 11,
	PERF_RECORD_ITRACE_START = 12,
	PERF_RECORD_LOST_SAMPLES = 13,
	PERF_RECORD_SWITCH = 14,
	PERF_RECORD_SWITCH_CPU_WIDE = 15,
	PERF_RECORD_NAMESPACES = 16,
	PERF_RECORD_KSYMBOL = 17,
	PERF_RECORD_BPF_EVENT = 18,
	PERF_RECORD_CGROUP = 19,
	PERF_RECORD_TEXT_POKE = 20,
	PERF_RECORD_AUX_OUTPUT_HW_ID = 21,
	PERF_RECORD_CALLCHAIN_DEFERRED = 22,
	/* below this line: written by perf, never by the kernel */
	PERF_RECORD_USER_TYPE_START = 64,
	PERF_RECORD_HEADER_ATTR = 64,
	PERF_RECORD_HEADER_EVENT_TYPE = 65,
	PERF_RECORD_HEADER_TRACING_DATA = 66,
	PERF_RECORD_HEADER_BUILD_ID = 67,
	PERF_RECORD_FINISHED_ROUND = 68,
	PERF_RECORD_ID_INDEX = 69,
	PERF_RECORD_AUXTRACE_INFO = 70,
	PERF_RECORD_AUXTRACE = 71,
	PERF_RECORD_AUXTRACE_ERROR = 72,
	PERF_RECORD_THREAD_MAP = 73,
	PERF_RECORD_CPU_MAP = 74,
	PERF_RECORD_STAT_CONFIG = 75,
	PERF_RECORD_STAT = 76,
	PERF_RECORD_STAT_ROUND = 77,
	PERF_RECORD_EVENT_UPDATE = 78,
	PERF_RECORD_TIME_CONV = 79,
	PERF_RECORD_HEADER_FEATURE = 80,
	PERF_RECORD_COMPRESSED = 81,
	PERF_RECORD_FINISHED_INIT = 82,
	PERF_RECORD_COMPRESSED2 = 83,
	PERF_RECORD_BPF_METADATA = 84,
};

/*
 * Records of Android's simpleperf. Their sizes have 32 bits: the upper half is where other records
 * have their misc flags.
 */
enum simpleperf_record_type {
	SIMPLEPERF_RECORD_START = 32768,
	SIMPLEPERF_RECORD_KERNEL_SYMBOL = 32769, /* {u32 n, char kallsyms[n]} */
	SIMPLEPERF_RECORD_TRACING_DATA = 32777,  /* {u32 n, u8 data[n]} */
	SIMPLEPERF_RECORD_END = 32768 + 64,
};

/* Which registers a sample carries: those of a 32-bit or of a 64-bit program, or none. */
enum perf_sample_regs_abi {
	PERF_SAMPLE_REGS_ABI_NONE = 0,
	PERF_SAMPLE_REGS_ABI_32 = 1,
	PERF_SAMPLE_REGS_ABI_64 = 2,
};

/* Markers inside call chains: the addresses that follow ran in this mode. */
#define PERF_CONTEXT_HV            ((u64)-32)
#define PERF_CONTEXT_KERNEL        ((u64)-128)
#define PERF_CONTEXT_USER          ((u64)-512)
#define PERF_CONTEXT_USER_DEFERRED ((u64)-640)
#define PERF_CONTEXT_GUEST         ((u64)-2048)
#define PERF_CONTEXT_GUEST_KERNEL  ((u64)-2176)
#define PERF_CONTEXT_GUEST_USER    ((u64)-2560)
#define PERF_CONTEXT_MAX           ((u64)-4095)

enum perf_open_flag {
	PERF_FLAG_FD_NO_GROUP = 1 << 0,
	PERF_FLAG_FD_OUTPUT = 1 << 1,
	PERF_FLAG_PID_CGROUP = 1 << 2,
	PERF_FLAG_FD_CLOEXEC = 1 << 3,
};

#define PERF_IOC_FLAG_GROUP 1u

#define PERF_EVENT_IOC_ENABLE       _IO('$', 0)
#define PERF_EVENT_IOC_DISABLE      _IO('$', 1)
#define PERF_EVENT_IOC_REFRESH      _IO('$', 2)
#define PERF_EVENT_IOC_RESET        _IO('$', 3)
#define PERF_EVENT_IOC_PERIOD       _IOW('$', 4, u64)
#define PERF_EVENT_IOC_SET_OUTPUT   _IO('$', 5)
#define PERF_EVENT_IOC_SET_FILTER   _IOW('$', 6, char *)
#define PERF_EVENT_IOC_ID           _IOR('$', 7, u64 *)
#define PERF_EVENT_IOC_PAUSE_OUTPUT _IOW('$', 9, u32)

/* The first page of a ring, as far as pace reads it (struct perf_event_mmap_page). */
struct ring_page {
	u32 version;
	u32 compat_version;
	u32 lock; /* seqlock around what follows */
	u32 index;
	s64 offset;
	u64 time_enabled;
	u64 time_running;
	u64 capabilities;
	u16 pmc_width;
	u16 time_shift;
	u32 time_mult;
	u64 time_offset;
	u64 time_zero;
	u32 size;
	u32 reserved_1;
	u64 time_cycles;
	u64 time_mask;
	u8 reserved[116 * 8];
	u64 data_head; /* written by the kernel: bytes ever produced */
	u64 data_tail; /* written by the reader: bytes ever consumed */
	u64 data_offset;
	u64 data_size;
	u64 aux_head;
	u64 aux_tail;
	u64 aux_offset;
	u64 aux_size;
};

#endif
