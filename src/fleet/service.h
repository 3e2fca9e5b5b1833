/*
 * service.h - which service a cgroup is of: what people call the thing that runs there.
 *
 * In       the path of a cgroup
 * Out      "nginx" of nginx.service, "docker/0123456789ab" of a container
 * Source   systemd.special(7), systemd.unit(5); how docker, containerd, CRI-O and podman name cgroups
 */
#ifndef PACE_FLEET_SERVICE_H
#define PACE_FLEET_SERVICE_H

#include "base/str.h"

/* Adds it; false: the cgroup is none of a service. NULL: the cgroup is not known. */
bool service_add(const char *cgroup, struct str *text);

#endif
