#include "collect/run/hotplug.h"

void hotplug_init(struct hotplug *h)
{
	struct err ignored;

	memset(h, 0, sizeof(*h));
	cpus_online(&h->online, &ignored);
}

void hotplug_fini(struct hotplug *h)
{
	cpus_fini(&h->online);
}

static void come_back(const struct hotplug_user *user, const struct target *target, u32 cpu,
	struct log *log)
{
	size_t n_failed;

	if (!cpus_has(&target->cpus, cpu)) {
		if (!target->has_cpu_list)
			log_warn(log,
				"CPU %u came online after the start: what runs there is not %s",
				cpu, user->done);
		return;
	}
	n_failed = user->reopen(user->ctx, (s32)cpu);
	if (n_failed)
		log_warn(log, "CPU %u is back, but %zu of its counters could not be opened again",
			cpu, n_failed);
	else
		log_note(log, "CPU %u is back: what runs there is %s again", cpu, user->done);
}

void hotplug_check(struct hotplug *h, const struct target *target, const struct hotplug_user *user,
	struct log *log)
{
	struct cpus now = {0};
	struct err ignored;

	/* Counters of tasks move with their tasks. */
	if (!target->is_system_wide || cpus_online(&now, &ignored))
		return;
	vec_each(cpu, &h->online)
		if (!cpus_has(&now, *cpu) && cpus_has(&target->cpus, *cpu))
			log_note(log, "CPU %u went off: nothing is %s there until it is back", *cpu,
				user->done);
	vec_each(cpu, &now)
		if (!cpus_has(&h->online, *cpu))
			come_back(user, target, *cpu, log);
	cpus_fini(&h->online);
	h->online = now;
}
