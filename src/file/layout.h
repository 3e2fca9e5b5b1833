/*
 * layout.h - the fixed parts of a perf.data file.
 *
 *     header | ids | attrs | data: one record after the other | table of feature sections |
 *     sections
 *
 * All offsets count from the start of the file, all sizes are in bytes.
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
	LAYOUT_SIMPLEPERF = 128, /* simpleperf's own sections have numbers from here on */
	LAYOUT_PIPE_HEADER = 16, /* bytes: in pipe mode the header is magic and size only */
	LAYOUT_OWN = 250,        /* pace's own sections have numbers from here on, see below */
};

/*
 * When perf 6.1 rewrites a file (perf inject), it looks up each feature bit in a table without
 * checking the table's length, and crashes on bits it does not know. So pace's own sections have no
 * bit in a file. The table of the other sections is followed by one more entry, where perf does not
 * look: its offset is this mark, its size the bits from LAYOUT_OWN on. The entries of pace's
 * sections follow it. In memory the header has their bits.
 */
#define LAYOUT_OWN_MARK 0x454e574f45434150ULL /* "PACEOWNE" */

/*
 * Sections stand behind the records, so they cannot be written while recording goes on. What is
 * known at the start is also written before the records, for readers of a file whose end was never
 * written: behind the attrs, at the next multiple of 8, stand this mark, the number of sections,
 * and as many struct layout_early. Other readers do not look there. Once the end is written, mark
 * and table are zeroed; of the early sections only those remain that have not changed and that the
 * table at the end points to.
 */
#define LAYOUT_EARLY_MARK 0x594c524145434150ULL /* "PACEARLY" */

struct layout_header {
	u64 magic;
	u64 size;      /* of this struct: 104; in pipe mode LAYOUT_PIPE_HEADER */
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
	FEATURE_FILE2 = 132, /* as FILE, in Protocol Buffers */
	FEATURE_EMBEDDED =
		250, /* pace's own, see doc/embedded.md; no other program uses this number */
	FEATURE_NOTES =
		251, /* pace's own, see doc/pace-record.1; no other program uses this number */
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
