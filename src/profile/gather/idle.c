#include "profile/gather/idle.h"

#include <string.h>

#include "event/abi.h"

static const char *const waiting[] = {"acpi_idle_do_entry", "acpi_processor_ffh_cstate_enter",
	"acpi_safe_halt", "arch_cpu_idle", "cpu_do_idle", "cpu_idle_poll", "default_idle",
	"default_idle_call", "intel_idle", "intel_idle_ibrs", "intel_idle_irq", "intel_idle_xstate",
	"mwait_idle", "mwait_idle_with_hints", "native_safe_halt", "poll_idle", "psw_idle",
	"pv_native_safe_halt", "tdx_halt", "tdx_safe_halt", "xen_safe_halt"};

/* Compilers add suffixes to the names of copies: "mwait_idle_with_hints.constprop.0". */
static bool is_waiting(const struct profile_symbol *s)
{
	for (size_t i = 0; s->name && i < ARRAY_SIZE(waiting); i++) {
		const size_t n = strlen(waiting[i]);

		if (!strncmp(s->name, waiting[i], n) && (!s->name[n] || s->name[n] == '.'))
			return true;
	}
	return false;
}

struct removing {
	struct profile *profile;
	bool *is_idle; /* by symbol */
	u64 n;
};

static bool keeps(void *ctx, size_t i)
{
	struct removing *r = ctx;
	const struct profile_row *row = &r->profile->rows.at[i];
	struct profile_event *event = &r->profile->events.at[row->event];

	if (!r->is_idle[r->profile->frames.at[row->frame].symbol])
		return true;
	event->n_samples -= row->n_samples;
	event->period -= row->period;
	r->n += row->n_samples;
	return false;
}

u64 idle_remove(struct profile *p)
{
	struct removing r = {.profile = p, .is_idle = mem_zalloc(p->symbols.n + 1)};

	for (size_t i = 1; i < p->symbols.n; i++)
		r.is_idle[i] = p->symbols.at[i].mode == PERF_RECORD_MISC_KERNEL &&
			is_waiting(&p->symbols.at[i]);
	profile_keep_rows(p, keeps, &r);
	mem_free(r.is_idle);
	return r.n;
}
