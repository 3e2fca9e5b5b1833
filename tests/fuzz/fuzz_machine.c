/* Records that say who ran where, one after the other: maps, BPF programs, tasks, guests. */
#include "fuzz/fuzz.h"

#include "machine/machine.h"

enum { RECORDS_MAX = 4096 };

static void ask(const struct machine *m, u32 pid, u64 time, u64 va, struct intern *strings)
{
	struct thread_state s;
	static const u8 modes[] = {PERF_RECORD_MISC_KERNEL, PERF_RECORD_MISC_USER,
		PERF_RECORD_MISC_GUEST_KERNEL, PERF_RECORD_MISC_GUEST_USER,
		PERF_RECORD_MISC_HYPERVISOR};

	machine_state_at(m, pid, pid, time, strings, &s);
	FUZZ_CHECK(s.comm && s.from <= time && (time < s.until || time == UINT64_MAX));
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		const struct map *map = machine_find(machine_space(&s, modes[i]), va);

		FUZZ_CHECK(!map || (map->start <= va && va < map->end && map->dso));
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	u8 *exact = fuzz_exact(data, n);
	struct intern strings = {0};
	struct machine m;
	size_t at = 0;

	machine_init(&m);
	for (u64 time = 0; time < RECORDS_MAX && n - at >= RECORD_HEADER_SIZE; time++) {
		union record_body body;
		struct record_header h;
		struct record rec;
		struct err err;

		memcpy(&h, exact + at, sizeof(h));
		if (h.size < sizeof(h) || h.size > n - at)
			break;
		rec = (struct record){h.type, h.misc, h.size, exact + at, at};
		at += h.size;
		if (!record_is_state(rec.type) || record_decode(&rec, 0, &body, &err) <= 0)
			continue;
		machine_apply(&m, &rec, &body, time);
		ask(&m, body.mmap.pid, time, body.mmap.addr, &strings);
		ask(&m, 0, time / 2, body.ksymbol.addr, &strings);
		ask(&m, body.mmap.pid, UINT64_MAX, UINT64_MAX, &strings);
	}
	machine_fini(&m);
	intern_fini(&strings);
	free(exact);
	return 0;
}
