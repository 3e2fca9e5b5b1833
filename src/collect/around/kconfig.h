/*
 * kconfig.h - the options that the running kernel was built with.
 *
 * In       /proc/config.gz, or the copy that distributions put beside the kernel
 * Out      the state of each option; without such a file all are unknown, which is not missing
 * Owns     the text
 */
#ifndef PACE_COLLECT_KCONFIG_H
#define PACE_COLLECT_KCONFIG_H

#include "base/str.h"
#include "collect/around/site.h"

enum kconfig_state { KCONFIG_UNKNOWN, KCONFIG_MISSING, KCONFIG_MODULE, KCONFIG_BUILT_IN };

struct kconfig {
	char path[256]; /* of the file that was read, or "" */
	struct str text;
};

void kconfig_read(struct kconfig *k, const struct site *site, const char *release);
void kconfig_fini(struct kconfig *k);

/* `name` is like "CONFIG_PERF_EVENTS". */
enum kconfig_state kconfig_state(const struct kconfig *k, const char *name);

#endif
