#include "test.h"

#include "fleet/service.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

TEST(service_of_a_cgroup_is_what_people_call_it)
{
	const char *const rows[][2] = {
		{"/system.slice/nginx.service", "nginx"},
		{"/system.slice/system-postgresql.slice/postgresql@15-main.service",
			"postgresql@15-main"},
		{"/system.slice/api.service/workers", "api"},
		{"/user.slice/user-1000.slice/user@1000.service/app.slice/code.service", "code"},
		{"/system.slice/docker-" ID ".scope", "docker/0123456789ab"},
		{"/docker/" ID, "docker/0123456789ab"},
		{"/docker/" ID "/init", "docker/0123456789ab"},
		{"/kubepods/burstable/pod1234/" ID, "container/0123456789ab"},
		{"/kubepods.slice/kubepods-pod1.slice/cri-containerd-" ID ".scope",
			"containerd/0123456789ab"},
		{"/machine.slice/libpod-" ID ".scope", "podman/0123456789ab"},
		{"/lxc.payload.web/init.scope", "lxc/web"},
		{"/user.slice/user-1000.slice/session-3.scope", ""},
		{"/system.slice/docker-0123.scope", ""},
		{"/.service", ""},
		{"/", ""},
		{"", ""},
		{NULL, ""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct str text = {0};
		const bool is_one = service_add(rows[i][0], &text);

		CHECK_STR(str_text(&text), rows[i][1]);
		CHECK_EQ(is_one, *rows[i][1] != '\0');
		str_fini(&text);
	}
}
