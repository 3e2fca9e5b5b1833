/*
 * profilemaker.h - profiles made of stacks that are written down as names.
 *
 *     struct profilemaker m;
 *     profilemaker_init(&m, LABEL_BIT(LABEL_COMM));
 *     profilemaker_event(&m, "cycles");
 *     profilemaker_add(&m, &(struct profilemaker_sample){.comm = "sh",
 *             .stack = "main;f;g@libg.so", .period = 7});
 *     profilemaker_fini(&m);
 *
 * A stack begins at its root. A function is NAME or NAME@DSO (default "prog"); 0xADDRESS is one
 * without a name; "k:" in front of it says that it runs in the kernel, whose DSO is "[kernel]" if
 * none is given.
 * Owns     the profile, and what was put into it, for tests that count again
 */
#ifndef PACE_TESTS_UNIT_PROFILEMAKER_H
#define PACE_TESTS_UNIT_PROFILEMAKER_H

#include "profile/rows/key.h"
#include "profile/gather/profile.h"

struct profilemaker_sample {
	u32 event;
	const char *comm; /* NULL: "" */
	u32 pid, tid, cpu;
	u64 time;
	const char *stack;
	u64 n_samples; /* 0: one */
	u64 period;
};

/* The same, taken apart. */
struct profilemaker_taken {
	u32 event;
	u64 labels[LABEL_COUNT];
	u32 *symbols; /* n of them, the root's first */
	size_t n;
	u64 n_samples, period;
};

struct profilemaker {
	struct profile profile;
	VEC(struct profilemaker_taken) taken;
	struct arena arena;
	u32 n_frames; /* counts, so that functions get samples at several addresses */
};

void profilemaker_init(struct profilemaker *m, u64 labels);
void profilemaker_fini(struct profilemaker *m);
void profilemaker_event(struct profilemaker *m, const char *name);
void profilemaker_add(struct profilemaker *m, const struct profilemaker_sample *sample);

/* What text shows of an entry, for each event that the key has a part for. */
void profilemaker_add_cell(const struct key *key, const struct hist *h, const struct hist_entry *e,
	struct str *text);

#endif
