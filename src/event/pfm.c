#include "event/pfm.h"

#ifdef PACE_HAS_PFM

#include <string.h>

#include <perfmon/pfmlib_perf_event.h>

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
			pfm_strerror(code));
	default:
		return err_set(err, ERR_INVAL, "libpfm does not take '%s': %s", name,
			pfm_strerror(code));
	}
}

int pfm_encode(const char *name, struct event_attr *ret, struct err *err)
{
	struct perf_event_attr theirs = {.size = sizeof(theirs)};
	pfm_perf_encode_arg_t arg = {.attr = &theirs, .size = sizeof(arg)};
	struct event_attr ours = {0};
	int code = pfm_initialize();

	if (code == PFM_SUCCESS)
		code = pfm_get_os_event_encoding(name, PFM_PLM0 | PFM_PLM3 | PFM_PLMH,
			PFM_OS_PERF_EVENT_EXT, &arg);
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
