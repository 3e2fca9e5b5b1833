#include "file/allowance.h"

#include <stdlib.h>

#include "base/num.h"
#include "base/str.h"

int allowance_init(struct allowance *a, const char *path, struct err *err)
{
	const char *text = getenv("PACE_MEMORY");

	*a = (struct allowance){.path = path};
	if (!text || !*text)
		return 0;
	return num_parse_bytes(text, &a->said, err) ? err_prefix(err, "PACE_MEMORY") : 0;
}

int allowance_exceeded(const struct allowance *a, u64 limit, u64 offset, const char *what,
	struct err *err)
{
	struct str most = {0};

	num_add_bytes(&most, limit);
	err_set(err, ERR_LIMIT,
		"'%s': %s take more than %s at offset 0x%llx, too much for a recording of its size: if you trust it, PACE_MEMORY=%lluM allows more",
		a->path, what, str_text(&most), (unsigned long long)offset,
		(unsigned long long)(limit >> 20) * 4);
	str_fini(&most);
	return err->code;
}

int allowance_take(struct allowance_rest *rest, u64 n, struct err *err)
{
	if (n <= rest->left && !rest->is_exceeded) {
		rest->left -= n;
		return 0;
	}
	rest->is_exceeded = true;
	return allowance_exceeded(rest->of, rest->limit, rest->offset, rest->what, err);
}
