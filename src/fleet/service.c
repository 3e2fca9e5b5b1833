#include "fleet/service.h"

#include <string.h>

enum { ID = 64, ID_SHOWN = 12 }; /* digits of a container's id */

/* Prefixes of scopes that are containers; what is shown for them. */
static const char *const runtimes[][2] = {
	{"docker-", "docker"},
	{"cri-containerd-", "containerd"},
	{"crio-", "crio"},
	{"libpod-", "podman"},
};

static bool ends_with(const char *at, size_t n, const char *end)
{
	const size_t size = strlen(end);

	return n > size && !memcmp(at + n - size, end, size);
}

static bool is_id(const char *at, size_t n)
{
	return n == ID && strspn(at, "0123456789abcdef") >= ID;
}

/* The last part of a cgroup's path, whose part before is `above`. */
static bool add_part(const char *at, size_t n, const char *above, size_t n_above, struct str *text)
{
	if (is_id(at, n)) {
		if (n_above == 6 && !memcmp(above, "docker", 6))
			str_add(text, "docker/");
		else
			str_add(text, "container/");
		str_addn(text, at, ID_SHOWN);
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(runtimes); i++) {
		const size_t front = strlen(runtimes[i][0]);

		if (n <= front + ID || memcmp(at, runtimes[i][0], front) || !is_id(at + front, ID))
			continue;
		str_addf(text, "%s/%.*s", runtimes[i][1], ID_SHOWN, at + front);
		return true;
	}
	if (n > 12 && !memcmp(at, "lxc.payload.", 12)) {
		str_addf(text, "lxc/%.*s", (int)(n - 12), at + 12);
		return true;
	}
	if (!ends_with(at, n, ".service"))
		return false;
	str_addn(text, at, n - strlen(".service"));
	return true;
}

bool service_add(const char *cgroup, struct str *text)
{
	const char *end = cgroup ? cgroup + strlen(cgroup) : NULL;

	/* The innermost part that is a service: a service may have parts of its own. */
	while (cgroup && end > cgroup) {
		const char *at = memrchr(cgroup, '/', (size_t)(end - cgroup)), *above, *part;

		part = at ? at + 1 : cgroup;
		above = at ? memrchr(cgroup, '/', (size_t)(at - cgroup)) : NULL;
		above = above ? above + 1 : cgroup;
		if (add_part(part, (size_t)(end - part), above,
			    at && at > above ? (size_t)(at - above) : 0, text))
			return true;
		end = at ? at : cgroup;
	}
	return false;
}
