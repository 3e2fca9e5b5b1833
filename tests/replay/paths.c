/*
 * Files that describe the machine: paths below these places lead into the plan's root, and what is not
 * there does not exist. All others are the real ones.
 */
#include "replay.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NEXT(name, type)               \
	static __typeof__(type) *real; \
	if (!real)                     \
	real = (__typeof__(type) *)dlsym(RTLD_NEXT, name)
#define SHOWN __attribute__((visibility("default")))

static const char *const places[] = {"/sys/bus/event_source", "/sys/devices/cpu",
	"/sys/devices/system/cpu", "/sys/devices/system/node", "/proc/cpuinfo",
	"/proc/sys/kernel/perf_event_paranoid", "/proc/sys/kernel/nmi_watchdog"};

struct path {
	char text[PATH_MAX];
};

static const char *path_of(const char *path, struct path *buffer)
{
	if (!path || *path != '/' || !machine.root[0])
		return path;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		size_t n = strlen(places[i]);

		if (strncmp(path, places[i], n) || (path[n] && path[n] != '/'))
			continue;
		snprintf(buffer->text, sizeof(buffer->text), "%s%s", machine.root, path);
		return buffer->text;
	}
	return path;
}

#define OPENING(name)                                        \
	SHOWN int name(const char *path, int flags, ...)     \
	{                                                    \
		struct path p;                               \
		va_list args;                                \
		mode_t mode;                                 \
                                                             \
		NEXT(#name, int(const char *, int, ...));    \
		va_start(args, flags);                       \
		mode = va_arg(args, unsigned);               \
		va_end(args);                                \
		return real(path_of(path, &p), flags, mode); \
	}
#define OPENING_AT(name)                                         \
	SHOWN int name(int at, const char *path, int flags, ...) \
	{                                                        \
		struct path p;                                   \
		va_list args;                                    \
		mode_t mode;                                     \
                                                                 \
		NEXT(#name, int(int, const char *, int, ...));   \
		va_start(args, flags);                           \
		mode = va_arg(args, unsigned);                   \
		va_end(args);                                    \
		return real(at, path_of(path, &p), flags, mode); \
	}
#define STREAMING(name)                                          \
	SHOWN FILE *name(const char *path, const char *mode)     \
	{                                                        \
		struct path p;                                   \
                                                                 \
		NEXT(#name, FILE *(const char *, const char *)); \
		return real(path_of(path, &p), mode);            \
	}
#define STATTING(name, type)                                   \
	SHOWN int name(const char *path, struct type *s)       \
	{                                                      \
		struct path p;                                 \
                                                               \
		NEXT(#name, int(const char *, struct type *)); \
		return real(path_of(path, &p), s);             \
	}
#define STATTING_AT(name, type)                                             \
	SHOWN int name(int at, const char *path, struct type *s, int flags) \
	{                                                                   \
		struct path p;                                              \
                                                                            \
		NEXT(#name, int(int, const char *, struct type *, int));    \
		return real(at, path_of(path, &p), s, flags);               \
	}
#define LISTING(name, entry)                                                               \
	SHOWN int name(const char *path, struct entry ***list,                             \
		int (*filter)(const struct entry *),                                       \
		int (*compare)(const struct entry **, const struct entry **))              \
	{                                                                                  \
		struct path p;                                                             \
                                                                                           \
		NEXT(#name,                                                                \
			int(const char *, struct entry ***, int (*)(const struct entry *), \
				int (*)(const struct entry **, const struct entry **)));   \
		return real(path_of(path, &p), list, filter, compare);                     \
	}

OPENING(open)
OPENING(open64)
OPENING_AT(openat)
OPENING_AT(openat64)
STREAMING(fopen)
STREAMING(fopen64)
STATTING(stat, stat)
STATTING(stat64, stat64)
STATTING(lstat, stat)
STATTING(lstat64, stat64)
STATTING_AT(fstatat, stat)
STATTING_AT(fstatat64, stat64)
LISTING(scandir, dirent)
LISTING(scandir64, dirent64)

/* What _FORTIFY_SOURCE makes of open() without a mode. */
SHOWN int __open_2(const char *path, int flags);
SHOWN int __open_2(const char *path, int flags)
{
	return open(path, flags);
}

SHOWN int __open64_2(const char *path, int flags);
SHOWN int __open64_2(const char *path, int flags)
{
	return open64(path, flags);
}

SHOWN DIR *opendir(const char *path)
{
	struct path p;

	NEXT("opendir", DIR * (const char *));
	return real(path_of(path, &p));
}

SHOWN int access(const char *path, int mode)
{
	struct path p;

	NEXT("access", int(const char *, int));
	return real(path_of(path, &p), mode);
}

SHOWN int faccessat(int at, const char *path, int mode, int flags)
{
	struct path p;

	NEXT("faccessat", int(int, const char *, int, int));
	return real(at, path_of(path, &p), mode, flags);
}

SHOWN ssize_t readlink(const char *path, char *to, size_t size)
{
	struct path p;

	NEXT("readlink", ssize_t(const char *, char *, size_t));
	return real(path_of(path, &p), to, size);
}

SHOWN char *realpath(const char *path, char *to)
{
	struct path p;

	NEXT("realpath", char *(const char *, char *));
	return real(path_of(path, &p), to);
}

/* ---- CPUs ---- */

SHOWN long sysconf(int name)
{
	NEXT("sysconf", long(int));
	if (machine.n_cpus && (name == _SC_NPROCESSORS_CONF || name == _SC_NPROCESSORS_ONLN))
		return machine.n_cpus;
	return real(name);
}

/* Programs move to the CPU whose counters they read. Some of these CPUs are not here. */
SHOWN int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
	NEXT("sched_setaffinity", int(pid_t, size_t, const cpu_set_t *));
	if (machine.n_cpus)
		return 0;
	return real(pid, size, set);
}
