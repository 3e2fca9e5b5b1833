#include "event/pfm.h"

#ifdef PACE_HAS_PFM

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <perfmon/pfmlib_perf_event.h>

/*
 * libpfm's tables have 43,000 relocations, which would slow down every start of pace: it is loaded for
 * the first name that needs it, and stays loaded.
 */
static struct {
	__typeof__(pfm_initialize) *initialize;
	__typeof__(pfm_get_os_event_encoding) *encode;
	__typeof__(pfm_strerror) *strerror;
	char why[256]; /* why it could not be loaded; "" if it was */
} pfm;

static void load(void)
{
	void *handle = dlopen("libpfm.so.4", RTLD_NOW | RTLD_LOCAL);
	const char *why = handle ? "it lacks functions that pace needs" : dlerror();

	if (handle) {
		*(void **)&pfm.initialize = dlsym(handle, "pfm_initialize");
		*(void **)&pfm.strerror = dlsym(handle, "pfm_strerror");
		*(void **)&pfm.encode = dlsym(handle, "pfm_get_os_event_encoding");
	}
	if (!pfm.initialize || !pfm.strerror || !pfm.encode)
		snprintf(pfm.why, sizeof(pfm.why), "%s", why);
}

bool pfm_is_built_in(void)
{
	return true;
}

static int refuse(const char *name, int code, struct err *err)
{
	switch (code) {
	case PFM_ERR_NOTFOUND:
	case PFM_ERR_NOTSUPP:
		return err_set(err, ERR_NOENT, "libpfm knows no event '%s' of this machine's PMUs",
			name);
	case PFM_ERR_NOINIT:
	case PFM_ERR_NOMEM:
		return err_set(err, ERR_SYS, "libpfm cannot look up '%s': %s", name,
			pfm.strerror(code));
	default:
		return err_set(err, ERR_INVAL, "libpfm does not accept '%s': %s", name,
			pfm.strerror(code));
	}
}

int pfm_encode(const char *name, struct event_attr *ret, struct err *err)
{
	struct perf_event_attr theirs = {.size = sizeof(theirs)};
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pfm_perf_encode_arg_t arg = {.attr = &theirs, .size = sizeof(arg)};
	struct event_attr ours = {0};
	int code;

	pthread_once(&once, load);
	if (pfm.why[0])
		return err_set(err, ERR_UNSUPPORTED,
			"'pfm:%s': libpfm.so.4 (package libpfm4) cannot be used: %s", name,
			pfm.why);
	code = pfm.initialize();
	if (code == PFM_SUCCESS)
		code = pfm.encode(name, PFM_PLM0 | PFM_PLM3 | PFM_PLMH, PFM_OS_PERF_EVENT_EXT,
			&arg);
	if (code != PFM_SUCCESS)
		return refuse(name, code, err);
	memcpy(&ours, &theirs, MIN(sizeof(ours), sizeof(theirs)));
	*ret = (struct event_attr){
		.type = ours.type,
		.config = ours.config,
		.config1 = ours.config1,
		.config2 = ours.config2,
		.flags = ours.flags &
			(ATTR_EXCLUDE_USER | ATTR_EXCLUDE_KERNEL | ATTR_EXCLUDE_HV |
				ATTR_EXCLUDE_HOST | ATTR_EXCLUDE_GUEST | ATTR_PRECISE_MASK),
	};
	return 0;
}

#else

bool pfm_is_built_in(void)
{
	return false;
}

int pfm_encode(const char *name, struct event_attr *ret, struct err *err)
{
	(void)ret;
	return err_set(err, ERR_UNSUPPORTED,
		"'pfm:%s': this pace was built without libpfm4 (libpfm4-dev)", name);
}

#endif
