#include "event_text.h"

#include "test.h"

static const struct {
	u64 bits;
	const char *name;
} flag_names[] = {
	{ATTR_EXCLUDE_USER, "-u"},
	{ATTR_EXCLUDE_KERNEL, "-k"},
	{ATTR_EXCLUDE_HV, "-h"},
	{ATTR_EXCLUDE_HOST, "-H"},
	{ATTR_EXCLUDE_GUEST, "-G"},
	{ATTR_EXCLUDE_IDLE, "-idle"},
	{ATTR_PINNED, "pinned"},
	{ATTR_EXCLUSIVE, "exclusive"},
	{ATTR_FREQ, "freq"},
};

static const struct {
	unsigned bit;
	const char *name;
} wish_names[] = {
	{EVENT_MAX_PRECISE, "max-precise"},
	{EVENT_WEAK_GROUP, "weak"},
	{EVENT_SAMPLE_READ, "read"},
	{EVENT_USE_BPF, "bpf"},
	{EVENT_OWN_PERIOD, "own-period"},
	{EVENT_GUEST_SAID, "guest-said"},
	{EVENT_PER_PKG, "per-pkg"},
	{EVENT_SNAPSHOT, "snapshot"},
	{EVENT_PERCORE, "percore"},
	{EVENT_NO_INHERIT, "no-inherit"},
	{EVENT_WEAK_PERIOD, "weak-period"},
	{EVENT_RETIRE_LATENCY, "latency"},
	{EVENT_NO_TASKS, "no-tasks"},
	{EVENT_LEFT_OUT, "left-out"},
};

static void add_configs(const struct event_attr *a, struct str *s)
{
	const u64 configs[] = {a->config, a->config1, a->config2, a->config3, a->config4};
	size_t n = ARRAY_SIZE(configs);

	while (n > 1 && !configs[n - 1])
		n--;
	for (size_t i = 0; i < n; i++)
		str_addf(s, "/%llx", (unsigned long long)configs[i]);
}

static void add_own(const struct event_own *own, struct str *s)
{
	static const char *const chains[] = {"", " chain=no", " chain=fp", " chain=dwarf",
		" chain=lbr"};

	str_add(s, chains[own->chain]);
	if (own->stack_bytes)
		str_addf(s, " stack=%u", own->stack_bytes);
	if (own->max_stack)
		str_addf(s, " frames=%u", own->max_stack);
	if (own->max_samples)
		str_addf(s, " nr=%llu", (unsigned long long)own->max_samples);
	str_add(s, own->has_no_time ? " no-time" : "");
	str_add(s, own->is_overwritten ? " overwrite" : "");
	str_add(s, own->is_aux_output ? " aux-output" : "");
	if (own->has_aux_size)
		str_addf(s, " aux=%u", own->aux_bytes);
}

/* What is left of the attr when everything that was shown is gone. */
static void check_rest(struct event_attr rest)
{
	for (size_t k = 0; k < ARRAY_SIZE(flag_names); k++)
		rest.flags &= ~flag_names[k].bits;
	attr_set_precise(&rest, 0);
	rest.type = rest.bp_type = 0;
	rest.config = rest.config1 = rest.config2 = rest.config3 = rest.config4 =
		rest.sample_period = 0;
	for (size_t k = 0; k < sizeof(rest); k++)
		CHECK_EQ(((u8 *)&rest)[k], 0);
}

void event_text_add(const struct event_list *events, u32 i, bool has_pmu, struct str *s)
{
	const struct event *e = &events->at[i];

	str_addf(s, "%s = %u", e->name, e->attr.type);
	add_configs(&e->attr, s);
	for (size_t k = 0; k < ARRAY_SIZE(flag_names); k++)
		if (e->attr.flags & flag_names[k].bits)
			str_addf(s, " %s", flag_names[k].name);
	if (attr_precise(&e->attr))
		str_addf(s, " p%u", attr_precise(&e->attr));
	for (size_t k = 0; k < ARRAY_SIZE(wish_names); k++)
		if (e->wishes & wish_names[k].bit)
			str_addf(s, " %s", wish_names[k].name);
	CHECK_EQ(e->wishes >> ARRAY_SIZE(wish_names), 0);
	if (e->attr.sample_period)
		str_addf(s, " every %llu", (unsigned long long)e->attr.sample_period);
	if (e->attr.bp_type)
		str_addf(s, " access %u", e->attr.bp_type);
	add_own(&e->own, s);
	if (e->scale != 1 || e->unit)
		str_addf(s, " x %.10g %s", e->scale, e->unit ? e->unit : "events");
	if (e->filter)
		str_addf(s, " if [%s]", e->filter);
	if (e->cgroup)
		str_addf(s, " in cgroup %s", e->cgroup);
	if (e->pmu && has_pmu)
		str_addf(s, " of %s", e->pmu);
	if (e->cpus.n) {
		str_add(s, " on ");
		cpus_add_text(&e->cpus, s);
	}
	if (e->leader != i)
		str_addf(s, " in %u", e->leader);
	else if (e->n_members != 1)
		str_addf(s, " leads %u", e->n_members);
	CHECK_EQ(e->n_members > 0, e->leader == i);
	check_rest(e->attr);
}
