/*
 * The calls that stand in for the C library's: perf_event_open() through syscall(), what is done with its
 * descriptors, and rdpmc. A descriptor is an eventfd, which can be waited for; its pages are a memfd's.
 */
#include "replay.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define NEXT(name, type)               \
	static __typeof__(type) *real; \
	if (!real)                     \
	real = (__typeof__(type) *)dlsym(RTLD_NEXT, name)

static struct event events[EVENTS_MAX];
static unsigned n_events;
/* Recursive: what is done under it may call close(), which is here. */
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("REPLAY_PLAN"), *wrong = path ? plan_read(path) : NULL;

	if (!wrong)
		return;
	fprintf(stderr, "replay: '%s': %s\n", path, wrong);
	_exit(99);
}

struct event *event_next(struct event *after)
{
	unsigned i = after ? (unsigned)(after - events) + 1 : 0;

	while (i < n_events && !events[i].is_open)
		i++;
	return i < n_events ? &events[i] : NULL;
}

static struct event *find(int fd)
{
	if (fd >= 0)
		each_event(e) if (e->fd == fd) return e;
	return NULL;
}

/* ---- rdpmc ---- */

#if defined(__x86_64__)

static struct sigaction before;

/* 0F 33: of ecx, into edx and eax. In a virtual machine it faults, here as there. */
static void on_fault(int number, siginfo_t *info, void *context)
{
	ucontext_t *u = context;
	greg_t *r = u->uc_mcontext.gregs;
	const unsigned char *code = (const unsigned char *)r[REG_RIP];
	uint64_t value;

	if (info->si_code == SI_KERNEL && code[0] == 0x0f && code[1] == 0x33 &&
		counts_register((uint32_t)r[REG_RCX], &value)) {
		r[REG_RAX] = (greg_t)(value & 0xffffffff);
		r[REG_RDX] = (greg_t)(value >> 32);
		r[REG_RIP] += 2;
		return;
	}
	if (before.sa_flags & SA_SIGINFO)
		before.sa_sigaction(number, info, context);
	else
		sigaction(SIGSEGV, &before, NULL);
}

/* Not before the first event, so that it comes after the sanitizer's own. */
static void catch_faults(void)
{
	static bool is_done;
	struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};

	if (!is_done)
		sigaction(SIGSEGV, &action, &before);
	is_done = true;
}

#else

static void catch_faults(void)
{
}

#endif

/* ---- perf_event_open ---- */

static const struct pmu *pmu_of(uint32_t type)
{
	for (unsigned i = 0; i < machine.n_pmus; i++)
		if (machine.pmus[i].type == type)
			return &machine.pmus[i];
	return NULL;
}

/* kernel/events/core.c, perf_init_event(); x86_setup_perfctr() for the generic map. */
static int find_pmu(struct event *e)
{
	uint32_t type = e->attr.type;
	uint64_t low = e->attr.config & 0xffffffff;

	e->config = e->attr.config;
	if (type == PERF_TYPE_SOFTWARE || type == PERF_TYPE_TRACEPOINT ||
		type == PERF_TYPE_BREAKPOINT)
		return 0;
	if (type != PERF_TYPE_HARDWARE && type != PERF_TYPE_HW_CACHE) {
		e->pmu = pmu_of(type);
		return e->pmu ? 0 : ENOENT;
	}
	e->pmu = pmu_of(e->attr.config >> TYPE_SHIFT ? (uint32_t)(e->attr.config >> TYPE_SHIFT)
						     : PERF_TYPE_RAW);
	if (!e->pmu && !(e->attr.config >> TYPE_SHIFT))
		for (unsigned i = 0; i < machine.n_pmus && !e->pmu; i++)
			if (machine.pmus[i].kind == KIND_ARM)
				e->pmu = &machine.pmus[i];
	if (!e->pmu)
		return ENOENT;
	if (type == PERF_TYPE_HW_CACHE) {
		/* Only what is written down exists. */
		e->script = plan_script(PERF_TYPE_HW_CACHE, low, e->cpu);
		return e->script ? 0 : ENOENT;
	}
	if (low >= PERF_COUNT_HW_MAX)
		return EINVAL;
	e->config = e->pmu->generic[low];
	return e->config ? 0 : ENOENT;
}

/* What a generic event counts may be written down as such, or as the PMU's own event. */
static void find_script(struct event *e)
{
	uint32_t type = e->pmu ? e->pmu->type : e->attr.type;

	if (!e->script)
		e->script = plan_script(type, e->config, e->cpu);
	if (e->script || !e->pmu || (machine.n_steps && (rules_is_slots(e) || rules_is_metric(e))))
		return;
	replay_log("no count for type %u config 0x%llx cpu %d\n", type,
		(unsigned long long)e->config, e->cpu);
}

static void log_opening(const struct event *e, int error)
{
	replay_log(
		"open type %u config 0x%llx pid %d cpu %d group %d period %llu format 0x%llx: %d\n",
		e->attr.type, (unsigned long long)e->attr.config, e->pid, e->cpu,
		e->leader == e ? -1 : e->leader->fd, (unsigned long long)e->attr.sample_period,
		(unsigned long long)e->attr.read_format, error);
}

static struct event *new_event(void)
{
	for (unsigned i = 0; i < n_events; i++)
		if (!events[i].is_open)
			return &events[i];
	return n_events < EVENTS_MAX ? &events[n_events++] : NULL;
}

static int open_event(struct event *e, const struct perf_event_attr *attr, int group_fd)
{
	static uint64_t ids = 1000;
	int error;

	memcpy(&e->attr, attr,
		attr->size && attr->size < sizeof(e->attr) ? attr->size : sizeof(e->attr));
	e->leader = group_fd < 0 ? e : find(group_fd);
	if (!e->leader)
		return EBADF;
	/* perf_event_open(): "the CPU we're creating an event for is online" */
	if (e->cpu >= (int)machine.n_cpus)
		return ENODEV;
	error = find_pmu(e);
	if (!error) {
		e->is_open = true;
		error = rules_check(e);
		e->is_open = false;
	}
	log_opening(e, error);
	if (error)
		return error;
	find_script(e);
	e->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (e->fd < 0)
		return errno;
	e->id = ids++;
	e->is_open = true;
	catch_faults();
	e->waits = e->attr.enable_on_exec && e->pid > 0 && e->pid != getpid();
	if (e->waits)
		counts_notice_exec();
	else if (!e->attr.disabled)
		counts_switch(e, e->leader == e || e->leader->is_on);
	return 0;
}

static long perf_event_open_here(const struct perf_event_attr *attr, pid_t pid, int cpu,
	int group_fd)
{
	struct event *e;
	int error;

	pthread_mutex_lock(&lock);
	e = new_event();
	if (e)
		*e = (struct event){.pid = pid, .cpu = cpu, .memory = -1, .fd = -1};
	error = e ? open_event(e, attr, group_fd) : EMFILE;
	pthread_mutex_unlock(&lock);
	if (!error)
		return e->fd;
	errno = error;
	return -1;
}

__attribute__((visibility("default"))) long syscall(long number, ...)
{
	long a[6];
	va_list args;

	NEXT("syscall", long(long, ...));
	va_start(args, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (number == SYS_perf_event_open && machine.n_cpus)
		return perf_event_open_here((const struct perf_event_attr *)a[0], (pid_t)a[1],
			(int)a[2], (int)a[3]);
	return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* ---- descriptors ---- */

__attribute__((visibility("default"))) ssize_t read(int fd, void *buffer, size_t size)
{
	struct event *e;
	ssize_t n;

	NEXT("read", ssize_t(int, void *, size_t));
	pthread_mutex_lock(&lock);
	e = find(fd);
	n = e ? counts_read(e, buffer, size) : 0;
	pthread_mutex_unlock(&lock);
	return e ? n : real(fd, buffer, size);
}

__attribute__((visibility("default"))) int close(int fd)
{
	struct event *e;

	NEXT("close", int(int));
	pthread_mutex_lock(&lock);
	e = find(fd);
	if (e) {
		e->is_open = false;
		if (e->page)
			munmap(e->page, e->page_bytes);
		if (e->memory >= 0)
			real(e->memory);
		each_event(other)
		{
			if (other->output == e)
				other->output = NULL;
			/* perf_group_detach(): its members go on alone. */
			if (other->leader == e)
				other->leader = other;
		}
	}
	pthread_mutex_unlock(&lock);
	return real(fd);
}

static void switch_all(struct event *e, bool is_group, bool is_on)
{
	each_event(other)
	{
		if (other != e && !(is_group && other->leader == e))
			continue;
		if (other == e)
			other->attr.disabled = !is_on;
		counts_switch(other, is_on);
	}
	/* Members that are not switched off themselves follow their leader. */
	each_event(other) if (other->leader == e && (!is_on || !other->attr.disabled))
		counts_switch(other, is_on);
	if (is_on)
		each_event(other) if (other->leader == e->leader) samples_deliver(other);
}

static int control(struct event *e, unsigned long request, unsigned long argument)
{
	bool is_group = argument & PERF_IOC_FLAG_GROUP;

	switch (request) {
	case PERF_EVENT_IOC_ENABLE:
	case PERF_EVENT_IOC_DISABLE:
		switch_all(is_group ? e->leader : e, is_group, request == PERF_EVENT_IOC_ENABLE);
		return 0;
	case PERF_EVENT_IOC_REFRESH:
		switch_all(e, false, true);
		return 0;
	case PERF_EVENT_IOC_RESET:
		replay_log("reset of config 0x%llx\n", (unsigned long long)e->config);
		each_event(other) if (other == e || (is_group && other->leader == e->leader))
			counts_reset(other);
		return 0;
	case PERF_EVENT_IOC_ID:
		*(uint64_t *)argument = e->id;
		return 0;
	case PERF_EVENT_IOC_SET_OUTPUT:
		e->output = (int)argument < 0 ? NULL : find((int)argument);
		samples_deliver(e);
		return (int)argument < 0 || e->output ? 0 : EINVAL;
	case PERF_EVENT_IOC_PERIOD:
		/* _perf_event_period() */
		if (!e->attr.sample_period || !*(uint64_t *)argument)
			return EINVAL;
		e->attr.sample_period = *(uint64_t *)argument;
		return 0;
	case PERF_EVENT_IOC_PAUSE_OUTPUT:
	case PERF_EVENT_IOC_SET_FILTER:
		return 0;
	default:
		return ENOTTY;
	}
}

__attribute__((visibility("default"))) int ioctl(int fd, unsigned long request, ...)
{
	struct event *e;
	unsigned long argument;
	int error = 0;
	va_list args;

	NEXT("ioctl", int(int, unsigned long, ...));
	va_start(args, request);
	argument = va_arg(args, unsigned long);
	va_end(args);
	pthread_mutex_lock(&lock);
	e = find(fd);
	if (e)
		error = control(e, request, argument);
	pthread_mutex_unlock(&lock);
	if (!e)
		return real(fd, request, argument);
	errno = error;
	return error ? -1 : 0;
}

/* ---- pages ---- */

static void *map_event(struct event *e, void *address, size_t size, int protection, int flags,
	void *(*real)(void *, size_t, int, int, int, off_t))
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), data = size - page;

	/* perf_mmap(): a page, and a power of two behind it. */
	if (!(flags & MAP_SHARED) || size < page || size % page || (data & (data - 1))) {
		errno = EINVAL;
		return MAP_FAILED;
	}
	if (e->memory < 0) {
		e->memory = memfd_create("perf_event", MFD_CLOEXEC);
		if (e->memory < 0 || ftruncate(e->memory, (off_t)size))
			return MAP_FAILED;
		e->page = real(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, e->memory, 0);
		if (e->page == MAP_FAILED)
			return MAP_FAILED;
		e->page_bytes = size;
		e->page->data_offset = page;
		e->page->data_size = data;
	}
	counts_page(e);
	each_event(other) if (other == e || other->output == e) samples_deliver(other);
	return real(address, size, protection, flags, e->memory, 0);
}

__attribute__((visibility("default"))) void *mmap(void *address, size_t size, int protection,
	int flags, int fd, off_t offset)
{
	struct event *e;
	void *at = NULL;

	NEXT("mmap", void *(void *, size_t, int, int, int, off_t));
	if (fd < 0 || !n_events)
		return real(address, size, protection, flags, fd, offset);
	pthread_mutex_lock(&lock);
	e = find(fd);
	if (e)
		at = map_event(e, address, size, protection, flags, real);
	pthread_mutex_unlock(&lock);
	return e ? at : real(address, size, protection, flags, fd, offset);
}

__attribute__((visibility("default"))) void *mmap64(void *address, size_t size, int protection,
	int flags, int fd, off_t offset)
{
	return mmap(address, size, protection, flags, fd, offset);
}

/* ---- waiting ---- */

void event_wake(struct event *e)
{
	eventfd_write(e->fd, 1);
}

/* kernel/events/core.c, perf_poll(): who has been told is not told again. */
static int told(int n)
{
	static ssize_t (*real)(int, void *, size_t);
	uint64_t count;
	int error = errno;

	if (!real)
		real = (ssize_t(*)(int, void *, size_t))dlsym(RTLD_NEXT, "read");
	pthread_mutex_lock(&lock);
	if (counts_notice_exec())
		each_event(e) samples_deliver(e);
	if (n > 0)
		each_event(e) if (real(e->fd, &count, sizeof(count)) < 0) continue;
	pthread_mutex_unlock(&lock);
	errno = error;
	return n;
}

__attribute__((visibility("default"))) int poll(struct pollfd *fds, nfds_t n, int timeout)
{
	NEXT("poll", int(struct pollfd *, nfds_t, int));
	return told(real(fds, n, timeout));
}

__attribute__((visibility("default"))) int ppoll(struct pollfd *fds, nfds_t n,
	const struct timespec *timeout, const sigset_t *mask)
{
	NEXT("ppoll", int(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *));
	return told(real(fds, n, timeout, mask));
}

__attribute__((visibility("default"))) int epoll_wait(int fd, struct epoll_event *found, int n,
	int timeout)
{
	NEXT("epoll_wait", int(int, struct epoll_event *, int, int));
	return told(real(fd, found, n, timeout));
}

__attribute__((visibility("default"))) int epoll_pwait(int fd, struct epoll_event *found, int n,
	int timeout, const sigset_t *mask)
{
	NEXT("epoll_pwait", int(int, struct epoll_event *, int, int, const sigset_t *));
	return told(real(fd, found, n, timeout, mask));
}
