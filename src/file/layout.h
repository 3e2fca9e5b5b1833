/*
 * layout.h - the fixed parts of a perf.data file.
 *
 *     header | ids | attrs | data: records one behind the other | table of feature sections |
 *     sections
 *
 * All offsets count from the start of the file, all sizes are bytes.
 * Source   tools/perf/Documentation/perf.data-file-format.txt
 */
#ifndef PACE_FILE_LAYOUT_H
#define PACE_FILE_LAYOUT_H

#include "base/types.h"
#include "event/attr.h"

#define LAYOUT_MAGIC_1 0x454c494646524550ULL /* "PERFFILE": version 1, before Linux 3.x */
#define LAYOUT_MAGIC_2 0x32454c4946524550ULL /* "PERFILE2" */

struct layout_section {
	u64 offset, size;
};

enum {
	LAYOUT_FEATURE_BITS = 256,
	LAYOUT_SIMPLEPERF = 128, /* simpleperf's own sections have these numbers and more */
	LAYOUT_PIPE_HEADER = 16, /* bytes: magic and size are all of it in pipe mode */
	LAYOUT_OWN = 250,        /* pace's own sections have these numbers, see below */
};

/*
 * perf 6.1 looks up bits of features in a table without asking whether it is long enough, when it
 * writes a file anew (perf inject): it dies of those that it does not know. pace's own sections
 * therefore have no bit in a file. Behind the table of the others, where perf does not look, stands
 * one entry more: this as its offset, as its size the bits from LAYOUT_OWN on; behind it their entries.
 * In memory the header has their bits.
 */
#define LAYOUT_OWN_MARK 0x454e574f45434150ULL /* "PACEOWNE" */

/*
 * Sections stand behind the records, where nobody can write them while a recording goes on. What is
 * known at its start stands before the records too, for readers of a file whose end was never written:
 * behind the attrs, at the next multiple of 8, this mark, the number of sections, then so many struct
 * layout_early. Other readers do not look there. Once the end is written, mark and table are zeros, and of the
 * sections those stay that the table at the end points to, because they have not changed.
 */
#define LAYOUT_EARLY_MARK 0x594c524145434150ULL /* "PACEARLY" */

struct layout_header {
	u64 magic;
	u64 size;      /* of this struct: 104; LAYOUT_PIPE_HEADER in pipe mode */
	u64 attr_size; /* of one entry of attrs */
	struct layout_section attrs;
	struct layout_section data;
	struct layout_section event_types; /* version 1 only */
	u64 features[LAYOUT_FEATURE_BITS / 64];
};

struct layout_early {
	u64 id;
	struct layout_section section;
};

/* One entry of attrs, behind the attr itself. */
struct layout_attr_ids {
	struct layout_section ids; /* u64 each */
};

enum layout_feature {
	FEATURE_TRACING_DATA = 1,
	FEATURE_BUILD_ID = 2,
	FEATURE_HOSTNAME = 3,
	FEATURE_OSRELEASE = 4,
	FEATURE_VERSION = 5,
	FEATURE_ARCH = 6,
	FEATURE_NRCPUS = 7,
	FEATURE_CPUDESC = 8,
	FEATURE_CPUID = 9,
	FEATURE_TOTAL_MEM = 10,
	FEATURE_CMDLINE = 11,
	FEATURE_EVENT_DESC = 12,
	FEATURE_CPU_TOPOLOGY = 13,
	FEATURE_NUMA_TOPOLOGY = 14,
	FEATURE_BRANCH_STACK = 15,
	FEATURE_PMU_MAPPINGS = 16,
	FEATURE_GROUP_DESC = 17,
	FEATURE_AUXTRACE = 18,
	FEATURE_STAT = 19,
	FEATURE_CACHE = 20,
	FEATURE_SAMPLE_TIME = 21,
	FEATURE_MEM_TOPOLOGY = 22,
	FEATURE_CLOCKID = 23,
	FEATURE_DIR_FORMAT = 24,
	FEATURE_BPF_PROG_INFO = 25,
	FEATURE_BPF_BTF = 26,
	FEATURE_COMPRESSED = 27,
	FEATURE_CPU_PMU_CAPS = 28,
	FEATURE_CLOCK_DATA = 29,
	FEATURE_HYBRID_TOPOLOGY = 30,
	FEATURE_PMU_CAPS = 31,
	FEATURE_FILE = 128, /* simpleperf's own: files, each with its symbols */
	FEATURE_META_INFO = 129,
	FEATURE_FILE2 = 132, /* as FILE, as messages of Protocol Buffers */
	FEATURE_EMBEDDED =
		250, /* pace's own, see doc/embedded.md: no other program has this number */
	FEATURE_NOTES =
		251, /* pace's own, see doc/pace-record.1: no other program has this number */
};

static inline bool layout_has_feature(const struct layout_header *h, unsigned id)
{
	return h->features[id / 64] >> (id % 64) & 1;
}

/* The bits of pace's own sections, from LAYOUT_OWN on. */
static inline u64 layout_own(const struct layout_header *h)
{
	return h->features[LAYOUT_OWN / 64] >> (LAYOUT_OWN % 64);
}

/* The header as it is in a file. */
static inline struct layout_header layout_on_disk(const struct layout_header *h)
{
	struct layout_header disk = *h;

	disk.features[LAYOUT_OWN / 64] &= (1ULL << (LAYOUT_OWN % 64)) - 1;
	return disk;
}

static inline void layout_set_feature(struct layout_header *h, unsigned id)
{
	h->features[id / 64] |= 1ULL << (id % 64);
}

#endif
