#include "event/catalog.h"

#include <ctype.h>
#include <string.h>

#include "base/hash.h"

/* Names are free in letter case. */
static u64 hash_of(const char *name)
{
	char lower[256];
	size_t n = 0;

	for (; name[n] && n < sizeof(lower); n++)
		lower[n] = tolower((u8)name[n]);
	return hash_bytes(lower, n);
}

static bool is_of(const struct catalog_event *e, const char *pmu)
{
	return !pmu || !strncmp(pmu, e->pmu, strlen(e->pmu));
}

const struct catalog_event *catalog_find(const struct catalog *c, const char *pmu, const char *name)
{
	struct table_probe probe = table_probe(&c->index, hash_of(name));
	u32 i;

	while ((i = table_next(&c->index, &probe)) != TABLE_NONE)
		if (!strcasecmp(c->events.at[i].name, name) && is_of(&c->events.at[i], pmu))
			return &c->events.at[i];
	return NULL;
}
