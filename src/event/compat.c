#include "event/compat.h"

#include "base/num.h"
#include "event/abi.h"
#include "event/attr.h"

/* The first version whose attrs have that size; ascending. */
static const struct {
	u16 major, minor;
	u32 attr_size;
} sizes[] = {
	{4, 2, ATTR_SIZE_VER5},
	{5, 5, ATTR_SIZE_VER6},
	{5, 13, ATTR_SIZE_VER7},
	{6, 5, ATTR_SIZE_VER8},
	{7, 0, ATTR_SIZE_VER9},
};

/* The first version that knows the records that a flag asks for. */
static const struct {
	u16 major, minor;
	u64 flag;
} flags[] = {
	{4, 3, ATTR_CONTEXT_SWITCH},
	{4, 12, ATTR_NAMESPACES},
	{5, 1, ATTR_KSYMBOL | ATTR_BPF_EVENT},
	{5, 7, ATTR_CGROUP},
	{5, 9, ATTR_TEXT_POKE},
};

static bool is_since(u64 major, u64 minor, u16 since_major, u16 since_minor)
{
	return major > since_major || (major == since_major && minor >= since_minor);
}

int compat_find(const char *version, struct compat *ret, struct err *err)
{
	const char *p = version;
	u64 major, minor, patch;

	if (!num_scan(&p, 10, &major) || *p++ != '.' || !num_scan(&p, 10, &minor) ||
		(*p == '.' && (p++, !num_scan(&p, 10, &patch))) || *p)
		return err_set(err, ERR_INVAL, "'%s' is not a version of perf, such as 5.10",
			version);
	*ret = (struct compat){0};
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		if (is_since(major, minor, sizes[i].major, sizes[i].minor))
			ret->attr_size = sizes[i].attr_size;
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
		if (!is_since(major, minor, flags[i].major, flags[i].minor))
			ret->unknown_flags |= flags[i].flag;
	ret->can_unpack = is_since(major, minor, 5, 2);
	return ret->attr_size
		? 0
		: err_set(err, ERR_UNSUPPORTED,
			  "cannot write a recording for perf %s: 4.2 is the oldest version supported",
			  version);
}
