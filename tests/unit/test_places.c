#include "test.h"

#include "machine/dso.h"
#include "profile/places.h"

TEST(places_count_each_event_and_address_once)
{
	struct intern strings = {0};
	struct dso_list dsos;
	struct places p;
	struct dso *a, *b;

	dso_list_init(&dsos, &strings);
	a = dso_get(&dsos, "/bin/a", 6, 1, false);
	b = dso_get(&dsos, "/bin/b", 6, 1, false);
	places_init(&p);
	places_add_event(&p, "cycles");
	places_add_event(&p, "faults");
	for (unsigned i = 0; i < 1000; i++) {
		places_add(&p, 0, b, 0x10, PERF_RECORD_MISC_USER, 2);
		places_add(&p, 0, a, 0x10, PERF_RECORD_MISC_USER, 3);
		places_add(&p, 1, b, 0x10, PERF_RECORD_MISC_USER, 1);
	}
	places_add(&p, 1, b, 0x11, PERF_RECORD_MISC_USER, 1);
	CHECK_EQ(p.profile.rows.n, 4);
	CHECK_EQ(p.profile.frames.n, 3);
	CHECK_EQ(p.profile.dsos.n, 2);
	CHECK_EQ(p.profile.dsos.at[0].source, b->id);
	CHECK_EQ(p.profile.rows.at[0].period, 2000);
	CHECK_EQ(p.profile.rows.at[2].n_samples, 1000);
	CHECK_EQ(p.profile.events.at[0].period, 5000);
	CHECK_EQ(p.profile.events.at[1].n_samples, 1001);
	places_fini(&p);
	dso_list_fini(&dsos);
	intern_fini(&strings);
}
