/* The tables of a section EMBEDDED, not packed; every query is made of them. */
#include "fuzz/fuzz.h"

#include <unistd.h>

#include "symbol/embed/embedunion.h"
#include "symbol/embed/frames.h"

static void ask_dso(const struct embedded *e, const struct embedded_dso *d)
{
	struct line_frame frames[LINE_DEPTH_MAX];
	struct frames unwinding;
	u64 at[3] = {0, UINT64_MAX, 0x401000}, va;

	for (u32 i = 0; i < d->n_places; i++) {
		embedded_entry(e, EMBEDDED_PLACES, d->first_place + i, &at[2], sizeof(at[2]));
		for (unsigned k = 0; k < 3; k++) {
			struct embedded_name name;
			const u8 *bytes;
			u64 n_bytes, before;
			size_t n;

			if (embedded_find_name(e, d, at[k], &name) == EMBEDDED_FOUND)
				FUZZ_CHECK(name.name && strlen(name.name));
			embedded_find_chain(e, d, at[k], frames, &n);
			FUZZ_CHECK(n <= LINE_DEPTH_MAX);
			n_bytes = embedded_find_code(e, d, at[k], &bytes, &before);
			if (n_bytes)
				FUZZ_CHECK(bytes[0] + bytes[n_bytes - 1] >= 0);
			embedded_address_of_offset(e, d, at[k], &va);
		}
		if (i > 1000)
			break;
	}
	if (frames_open(&unwinding, e, d)) {
		struct entry_fde fde;

		cfi_find(&unwinding.cfi, at[2], &fde);
		frames_close(&unwinding);
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	struct embedded_header h = {EMBEDDED_MAGIC, EMBEDDED_VERSION, n % 2 ? EMBEDDED_FOLDED : 0,
		n};
	struct str section = {0}, again = {0};
	struct embedded_dump dump;
	struct embedded_dso d;
	struct embedder copy;
	struct embedded e;
	struct err err;
	int fd;

	str_addn(&section, &h, sizeof(h));
	str_addn(&section, data, n);
	if (!embedded_of_memory(&e, section.at, section.n, &err)) {
		for (u64 i = 0; i < 100 && embedded_entry(&e, EMBEDDED_DSOS, i, &d, sizeof(d)); i++)
			ask_dso(&e, &d);
		if (embedded_entry(&e, EMBEDDED_DUMPS, 0, &dump, sizeof(dump)) &&
			embedded_string(&e, dump.path) &&
			!embedded_open_dump(&e, embedded_string(&e, dump.path), dump.pid, &fd,
				&err))
			close(fd);
		embedder_init(&copy);
		embedunion_add(&copy, &e, 1);
		if (!embedder_finish(&copy, &again, &err)) {
			embedded_close(&e);
			FUZZ_CHECK(!embedded_of_memory(&e, again.at, again.n, &err));
		}
		embedder_fini(&copy);
		embedded_close(&e);
	}
	str_fini(&section);
	str_fini(&again);
	return 0;
}
