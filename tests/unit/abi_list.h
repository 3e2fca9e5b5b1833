/*
 * abi_list.h - the names that both event/abi.h, event/attr.h and the machine's <linux/perf_event.h>
 * have.
 *
 * The two cannot be included together, so abi_ours.c writes down our numbers and test_abi.c
 * compares them. Only names of Linux 6.1's header, which Debian 12 has; test_attr.c spells out
 * newer ones.
 */
#ifndef PACE_TESTS_UNIT_ABI_LIST_H
#define PACE_TESTS_UNIT_ABI_LIST_H

#define ABI_NUMBERS(X)                             \
	X(PERF_TYPE_HARDWARE)                      \
	X(PERF_TYPE_SOFTWARE)                      \
	X(PERF_TYPE_TRACEPOINT)                    \
	X(PERF_TYPE_HW_CACHE)                      \
	X(PERF_TYPE_RAW)                           \
	X(PERF_TYPE_BREAKPOINT)                    \
	X(PERF_PMU_TYPE_SHIFT)                     \
	X(HW_BREAKPOINT_R)                         \
	X(HW_BREAKPOINT_W)                         \
	X(HW_BREAKPOINT_X)                         \
	X(PERF_COUNT_HW_CPU_CYCLES)                \
	X(PERF_COUNT_HW_INSTRUCTIONS)              \
	X(PERF_COUNT_HW_CACHE_REFERENCES)          \
	X(PERF_COUNT_HW_CACHE_MISSES)              \
	X(PERF_COUNT_HW_BRANCH_INSTRUCTIONS)       \
	X(PERF_COUNT_HW_BRANCH_MISSES)             \
	X(PERF_COUNT_HW_BUS_CYCLES)                \
	X(PERF_COUNT_HW_STALLED_CYCLES_FRONTEND)   \
	X(PERF_COUNT_HW_STALLED_CYCLES_BACKEND)    \
	X(PERF_COUNT_HW_REF_CPU_CYCLES)            \
	X(PERF_COUNT_SW_CPU_CLOCK)                 \
	X(PERF_COUNT_SW_TASK_CLOCK)                \
	X(PERF_COUNT_SW_PAGE_FAULTS)               \
	X(PERF_COUNT_SW_CONTEXT_SWITCHES)          \
	X(PERF_COUNT_SW_CPU_MIGRATIONS)            \
	X(PERF_COUNT_SW_PAGE_FAULTS_MIN)           \
	X(PERF_COUNT_SW_PAGE_FAULTS_MAJ)           \
	X(PERF_COUNT_SW_ALIGNMENT_FAULTS)          \
	X(PERF_COUNT_SW_EMULATION_FAULTS)          \
	X(PERF_COUNT_SW_DUMMY)                     \
	X(PERF_COUNT_SW_BPF_OUTPUT)                \
	X(PERF_COUNT_SW_CGROUP_SWITCHES)           \
	X(PERF_COUNT_HW_CACHE_L1D)                 \
	X(PERF_COUNT_HW_CACHE_L1I)                 \
	X(PERF_COUNT_HW_CACHE_LL)                  \
	X(PERF_COUNT_HW_CACHE_DTLB)                \
	X(PERF_COUNT_HW_CACHE_ITLB)                \
	X(PERF_COUNT_HW_CACHE_BPU)                 \
	X(PERF_COUNT_HW_CACHE_NODE)                \
	X(PERF_COUNT_HW_CACHE_OP_READ)             \
	X(PERF_COUNT_HW_CACHE_OP_WRITE)            \
	X(PERF_COUNT_HW_CACHE_OP_PREFETCH)         \
	X(PERF_COUNT_HW_CACHE_RESULT_ACCESS)       \
	X(PERF_COUNT_HW_CACHE_RESULT_MISS)         \
	X(PERF_SAMPLE_IP)                          \
	X(PERF_SAMPLE_TID)                         \
	X(PERF_SAMPLE_TIME)                        \
	X(PERF_SAMPLE_ADDR)                        \
	X(PERF_SAMPLE_READ)                        \
	X(PERF_SAMPLE_CALLCHAIN)                   \
	X(PERF_SAMPLE_ID)                          \
	X(PERF_SAMPLE_CPU)                         \
	X(PERF_SAMPLE_PERIOD)                      \
	X(PERF_SAMPLE_STREAM_ID)                   \
	X(PERF_SAMPLE_RAW)                         \
	X(PERF_SAMPLE_BRANCH_STACK)                \
	X(PERF_SAMPLE_REGS_USER)                   \
	X(PERF_SAMPLE_STACK_USER)                  \
	X(PERF_SAMPLE_WEIGHT)                      \
	X(PERF_SAMPLE_DATA_SRC)                    \
	X(PERF_SAMPLE_IDENTIFIER)                  \
	X(PERF_SAMPLE_TRANSACTION)                 \
	X(PERF_SAMPLE_REGS_INTR)                   \
	X(PERF_SAMPLE_PHYS_ADDR)                   \
	X(PERF_SAMPLE_AUX)                         \
	X(PERF_SAMPLE_CGROUP)                      \
	X(PERF_SAMPLE_DATA_PAGE_SIZE)              \
	X(PERF_SAMPLE_CODE_PAGE_SIZE)              \
	X(PERF_SAMPLE_WEIGHT_STRUCT)               \
	X(PERF_SAMPLE_BRANCH_USER)                 \
	X(PERF_SAMPLE_BRANCH_KERNEL)               \
	X(PERF_SAMPLE_BRANCH_HV)                   \
	X(PERF_SAMPLE_BRANCH_ANY)                  \
	X(PERF_SAMPLE_BRANCH_ANY_CALL)             \
	X(PERF_SAMPLE_BRANCH_ANY_RETURN)           \
	X(PERF_SAMPLE_BRANCH_IND_CALL)             \
	X(PERF_SAMPLE_BRANCH_ABORT_TX)             \
	X(PERF_SAMPLE_BRANCH_IN_TX)                \
	X(PERF_SAMPLE_BRANCH_NO_TX)                \
	X(PERF_SAMPLE_BRANCH_COND)                 \
	X(PERF_SAMPLE_BRANCH_CALL_STACK)           \
	X(PERF_SAMPLE_BRANCH_IND_JUMP)             \
	X(PERF_SAMPLE_BRANCH_CALL)                 \
	X(PERF_SAMPLE_BRANCH_NO_FLAGS)             \
	X(PERF_SAMPLE_BRANCH_NO_CYCLES)            \
	X(PERF_SAMPLE_BRANCH_TYPE_SAVE)            \
	X(PERF_SAMPLE_BRANCH_HW_INDEX)             \
	X(PERF_SAMPLE_BRANCH_PRIV_SAVE)            \
	X(PERF_FORMAT_TOTAL_TIME_ENABLED)          \
	X(PERF_FORMAT_TOTAL_TIME_RUNNING)          \
	X(PERF_FORMAT_ID)                          \
	X(PERF_FORMAT_GROUP)                       \
	X(PERF_FORMAT_LOST)                        \
	X(PERF_RECORD_MISC_CPUMODE_MASK)           \
	X(PERF_RECORD_MISC_CPUMODE_UNKNOWN)        \
	X(PERF_RECORD_MISC_KERNEL)                 \
	X(PERF_RECORD_MISC_USER)                   \
	X(PERF_RECORD_MISC_HYPERVISOR)             \
	X(PERF_RECORD_MISC_GUEST_KERNEL)           \
	X(PERF_RECORD_MISC_GUEST_USER)             \
	X(PERF_RECORD_MISC_PROC_MAP_PARSE_TIMEOUT) \
	X(PERF_RECORD_MISC_MMAP_DATA)              \
	X(PERF_RECORD_MISC_COMM_EXEC)              \
	X(PERF_RECORD_MISC_FORK_EXEC)              \
	X(PERF_RECORD_MISC_SWITCH_OUT)             \
	X(PERF_RECORD_MISC_EXACT_IP)               \
	X(PERF_RECORD_MISC_SWITCH_OUT_PREEMPT)     \
	X(PERF_RECORD_MISC_MMAP_BUILD_ID)          \
	X(PERF_RECORD_MISC_EXT_RESERVED)           \
	X(PERF_RECORD_MMAP)                        \
	X(PERF_RECORD_LOST)                        \
	X(PERF_RECORD_COMM)                        \
	X(PERF_RECORD_EXIT)                        \
	X(PERF_RECORD_THROTTLE)                    \
	X(PERF_RECORD_UNTHROTTLE)                  \
	X(PERF_RECORD_FORK)                        \
	X(PERF_RECORD_READ)                        \
	X(PERF_RECORD_SAMPLE)                      \
	X(PERF_RECORD_MMAP2)                       \
	X(PERF_RECORD_AUX)                         \
	X(PERF_RECORD_ITRACE_START)                \
	X(PERF_RECORD_LOST_SAMPLES)                \
	X(PERF_RECORD_SWITCH)                      \
	X(PERF_RECORD_SWITCH_CPU_WIDE)             \
	X(PERF_RECORD_NAMESPACES)                  \
	X(PERF_RECORD_KSYMBOL)                     \
	X(PERF_RECORD_BPF_EVENT)                   \
	X(PERF_RECORD_CGROUP)                      \
	X(PERF_RECORD_TEXT_POKE)                   \
	X(PERF_RECORD_AUX_OUTPUT_HW_ID)            \
	X(PERF_FLAG_FD_NO_GROUP)                   \
	X(PERF_FLAG_FD_OUTPUT)                     \
	X(PERF_FLAG_PID_CGROUP)                    \
	X(PERF_FLAG_FD_CLOEXEC)                    \
	X(PERF_SAMPLE_REGS_ABI_NONE)               \
	X(PERF_SAMPLE_REGS_ABI_32)                 \
	X(PERF_SAMPLE_REGS_ABI_64)                 \
	X(PERF_CONTEXT_HV)                         \
	X(PERF_CONTEXT_KERNEL)                     \
	X(PERF_CONTEXT_USER)                       \
	X(PERF_CONTEXT_GUEST)                      \
	X(PERF_CONTEXT_GUEST_KERNEL)               \
	X(PERF_CONTEXT_GUEST_USER)                 \
	X(PERF_CONTEXT_MAX)                        \
	X(PERF_EVENT_IOC_ENABLE)                   \
	X(PERF_EVENT_IOC_DISABLE)                  \
	X(PERF_EVENT_IOC_REFRESH)                  \
	X(PERF_EVENT_IOC_RESET)                    \
	X(PERF_EVENT_IOC_PERIOD)                   \
	X(PERF_EVENT_IOC_SET_OUTPUT)               \
	X(PERF_EVENT_IOC_SET_FILTER)               \
	X(PERF_EVENT_IOC_ID)                       \
	X(PERF_EVENT_IOC_PAUSE_OUTPUT)             \
	X(PERF_IOC_FLAG_GROUP)

/* ours, theirs */
#define ABI_SIZES(X)                           \
	X(ATTR_SIZE_VER0, PERF_ATTR_SIZE_VER0) \
	X(ATTR_SIZE_VER1, PERF_ATTR_SIZE_VER1) \
	X(ATTR_SIZE_VER2, PERF_ATTR_SIZE_VER2) \
	X(ATTR_SIZE_VER3, PERF_ATTR_SIZE_VER3) \
	X(ATTR_SIZE_VER4, PERF_ATTR_SIZE_VER4) \
	X(ATTR_SIZE_VER5, PERF_ATTR_SIZE_VER5) \
	X(ATTR_SIZE_VER6, PERF_ATTR_SIZE_VER6) \
	X(ATTR_SIZE_VER7, PERF_ATTR_SIZE_VER7)

/* our bit, their one-bit field */
#define ABI_FLAGS(X)                                               \
	X(ATTR_DISABLED, disabled)                                 \
	X(ATTR_INHERIT, inherit)                                   \
	X(ATTR_PINNED, pinned)                                     \
	X(ATTR_EXCLUSIVE, exclusive)                               \
	X(ATTR_EXCLUDE_USER, exclude_user)                         \
	X(ATTR_EXCLUDE_KERNEL, exclude_kernel)                     \
	X(ATTR_EXCLUDE_HV, exclude_hv)                             \
	X(ATTR_EXCLUDE_IDLE, exclude_idle)                         \
	X(ATTR_MMAP, mmap)                                         \
	X(ATTR_COMM, comm)                                         \
	X(ATTR_FREQ, freq)                                         \
	X(ATTR_INHERIT_STAT, inherit_stat)                         \
	X(ATTR_ENABLE_ON_EXEC, enable_on_exec)                     \
	X(ATTR_TASK, task)                                         \
	X(ATTR_WATERMARK, watermark)                               \
	X(ATTR_MMAP_DATA, mmap_data)                               \
	X(ATTR_SAMPLE_ID_ALL, sample_id_all)                       \
	X(ATTR_EXCLUDE_HOST, exclude_host)                         \
	X(ATTR_EXCLUDE_GUEST, exclude_guest)                       \
	X(ATTR_EXCLUDE_CALLCHAIN_KERNEL, exclude_callchain_kernel) \
	X(ATTR_EXCLUDE_CALLCHAIN_USER, exclude_callchain_user)     \
	X(ATTR_MMAP2, mmap2)                                       \
	X(ATTR_COMM_EXEC, comm_exec)                               \
	X(ATTR_USE_CLOCKID, use_clockid)                           \
	X(ATTR_CONTEXT_SWITCH, context_switch)                     \
	X(ATTR_WRITE_BACKWARD, write_backward)                     \
	X(ATTR_NAMESPACES, namespaces)                             \
	X(ATTR_KSYMBOL, ksymbol)                                   \
	X(ATTR_BPF_EVENT, bpf_event)                               \
	X(ATTR_AUX_OUTPUT, aux_output)                             \
	X(ATTR_CGROUP, cgroup)                                     \
	X(ATTR_TEXT_POKE, text_poke)                               \
	X(ATTR_BUILD_ID, build_id)                                 \
	X(ATTR_INHERIT_THREAD, inherit_thread)                     \
	X(ATTR_REMOVE_ON_EXEC, remove_on_exec)                     \
	X(ATTR_SIGTRAP, sigtrap)                                   \
	X(1ULL << ATTR_PRECISE_SHIFT, precise_ip)

/* our member of struct event_attr, their member of struct perf_event_attr */
#define ABI_FIELDS(X)                             \
	X(type, type)                             \
	X(size, size)                             \
	X(config, config)                         \
	X(sample_period, sample_period)           \
	X(sample_type, sample_type)               \
	X(read_format, read_format)               \
	X(wakeup_events, wakeup_events)           \
	X(bp_type, bp_type)                       \
	X(config1, config1)                       \
	X(config2, config2)                       \
	X(branch_sample_type, branch_sample_type) \
	X(sample_regs_user, sample_regs_user)     \
	X(sample_stack_user, sample_stack_user)   \
	X(clockid, clockid)                       \
	X(sample_regs_intr, sample_regs_intr)     \
	X(aux_watermark, aux_watermark)           \
	X(sample_max_stack, sample_max_stack)     \
	X(reserved_2, __reserved_2)               \
	X(aux_sample_size, aux_sample_size)       \
	X(sig_data, sig_data)

/* our member of struct ring_page, their member of struct perf_event_mmap_page */
#define ABI_PAGE(X)                       \
	X(version, version)               \
	X(compat_version, compat_version) \
	X(lock, lock)                     \
	X(index, index)                   \
	X(offset, offset)                 \
	X(time_enabled, time_enabled)     \
	X(time_running, time_running)     \
	X(capabilities, capabilities)     \
	X(pmc_width, pmc_width)           \
	X(time_shift, time_shift)         \
	X(time_mult, time_mult)           \
	X(time_offset, time_offset)       \
	X(time_zero, time_zero)           \
	X(size, size)                     \
	X(reserved_1, __reserved_1)       \
	X(time_cycles, time_cycles)       \
	X(time_mask, time_mask)           \
	X(reserved, __reserved)           \
	X(data_head, data_head)           \
	X(data_tail, data_tail)           \
	X(data_offset, data_offset)       \
	X(data_size, data_size)           \
	X(aux_head, aux_head)             \
	X(aux_tail, aux_tail)             \
	X(aux_offset, aux_offset)         \
	X(aux_size, aux_size)

struct abi_number {
	const char *name;
	unsigned long long number;
};

struct abi_place {
	const char *name;
	unsigned long offset, size;
};

/* In the lists' order, each closed by a row without a name. */
extern const struct abi_number abi_numbers[], abi_sizes[], abi_flags[];
extern const struct abi_place abi_fields[], abi_page[];

#endif
