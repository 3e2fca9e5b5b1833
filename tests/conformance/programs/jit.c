/* Code that is made at run time, and what is written down about it. */
#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "scene.h"

/* push %rbp; mov %rsp,%rbp; 1: dec %rdi; jnz 1b; pop %rbp; ret */
static const uint8_t with_frame[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0xff, 0xcf, 0x75, 0xfb, 0x5d,
	0xc3};

typedef void made(long n);

static made *make(const uint8_t *code, size_t size)
{
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(page + 64, code, size);
	mprotect(page, 4096, PROT_READ | PROT_EXEC);
	return (made *)(page + 64);
}

/* chain: hot_made script.js:3 <- scene_perfmap <- main */
NOINLINE void scene_perfmap(void)
{
	made *f = make(with_frame, sizeof(with_frame));
	char path[64];
	FILE *map;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	printf("perfmap %s\n", path);
	map = fopen(path, "w");
	if (!map)
		return;
	fprintf(map, "%lx %zx hot_made script.js:3\n", (long)f, sizeof(with_frame));
	fclose(map);
	f(spins); /* at scene_perfmap */
	AFTER;
}

/* ---- a jitdump: tools/perf/Documentation/jitdump-specification.txt ---- */

struct dump_header {
	uint32_t magic, version, total_size, machine, pad, pid;
	uint64_t time, flags;
};

struct dump_load {
	uint32_t id, total_size;
	uint64_t time;
	uint32_t pid, tid;
	uint64_t vma, address, size, index;
};

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void write_load(FILE *dump, made *f, const char *name, const uint8_t *code, size_t size)
{
	struct dump_load load = {.total_size = sizeof(load) + strlen(name) + 1 + size,
		.time = now(),
		.pid = getpid(),
		.tid = getpid(),
		.vma = (uintptr_t)f,
		.address = (uintptr_t)f,
		.size = size};

	fwrite(&load, sizeof(load), 1, dump);
	fwrite(name, strlen(name) + 1, 1, dump);
	fwrite(code, size, 1, dump);
}

/* chain: hot_dumped <- scene_jitdump <- main */
NOINLINE void scene_jitdump(void)
{
	struct dump_header header = {0x4a695444, 1, sizeof(header), EM_X86_64, 0, getpid(), now(),
		0};
	made *f = make(with_frame, sizeof(with_frame));
	char path[64];
	FILE *dump;

	snprintf(path, sizeof(path), "./jit-%d.dump", getpid());
	dump = fopen(path, "w+");
	if (!dump)
		return;
	fwrite(&header, sizeof(header), 1, dump);
	fflush(dump);
	/* This is how a profiler learns of it. */
	mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(dump), 0);
	write_load(dump, f, "hot_dumped", with_frame, sizeof(with_frame));
	fclose(dump);
	f(spins); /* at scene_jitdump */
	AFTER;
}
