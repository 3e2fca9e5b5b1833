/*
 * jitting.c - code that is generated, replaced and moved, with a jitdump that says so.
 *
 *     jitting [FOLDER]
 *
 * Writes FOLDER/jit-PID.dump (.) and runs for 150 ms of CPU time each: first(), which has source lines; second() at the same
 * address, with the same number; third() elsewhere; and third() where it was moved to.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { LOAD, MOVE, DEBUG_INFO, CLOSE };

/* push %rbp; mov %rsp,%rbp; mov $1000000,%ecx; dec %ecx; jne -4; pop %rbp; ret */
static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0xb9, 0x40, 0x42, 0x0f, 0, 0xff, 0xc9,
	0x75, 0xfc, 0x5d, 0xc3};

static FILE *dump;

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void put32(uint32_t v)
{
	fwrite(&v, sizeof(v), 1, dump);
}

static void put64(uint64_t v)
{
	fwrite(&v, sizeof(v), 1, dump);
}

static void put_prefix(uint32_t id, size_t size)
{
	put32(id);
	put32((uint32_t)(16 + size));
	put64(clock_ns(CLOCK_MONOTONIC));
}

static void put_ids(void)
{
	put32((uint32_t)getpid());
	put32((uint32_t)getpid());
}

static void load(void *at, uint64_t index, const char *name)
{
	memcpy(at, code, sizeof(code));
	put_prefix(LOAD, 40 + strlen(name) + 1 + sizeof(code));
	put_ids();
	put64((uintptr_t)at);
	put64((uintptr_t)at);
	put64(sizeof(code));
	put64(index);
	fwrite(name, strlen(name) + 1, 1, dump);
	fwrite(code, sizeof(code), 1, dump);
	fflush(dump);
}

static void move(void *from, void *to, uint64_t index)
{
	memcpy(to, code, sizeof(code));
	put_prefix(MOVE, 48);
	put_ids();
	put64((uintptr_t)to);
	put64((uintptr_t)from);
	put64((uintptr_t)to);
	put64(sizeof(code));
	put64(index);
	fflush(dump);
}

/* Line 10 up to the loop, which is line 12 of another file. */
static void put_lines(void *at)
{
	static const struct {
		uint32_t off, line;
		char file[16];
	} lines[] = {{0, 10, "/src/made.first"}, {9, 12, "/src/made.inner"},
		{13, 11, "/src/made.first"}};

	put_prefix(DEBUG_INFO, 16 + 3 * (16 + sizeof(lines[0].file)));
	put64((uintptr_t)at);
	put64(3);
	for (int i = 0; i < 3; i++) {
		put64((uintptr_t)at + lines[i].off);
		put32(lines[i].line);
		put32(0);
		fwrite(lines[i].file, sizeof(lines[i].file), 1, dump);
	}
}

static void run(void *at)
{
	const uint64_t until = clock_ns(CLOCK_PROCESS_CPUTIME_ID) + 150000000;

	while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < until)
		((void (*)(void))at)();
}

int main(int argc, char **argv)
{
	unsigned char *at = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[4096];

	snprintf(path, sizeof(path), "%s/jit-%d.dump", argc > 1 ? argv[1] : ".", (int)getpid());
	dump = fopen(path, "w+");
	if (at == MAP_FAILED || !dump)
		return EXIT_FAILURE;
	put32(0x4a695444);
	put32(1);
	put32(40);
	put32(EM_X86_64);
	put32(0);
	put32((uint32_t)getpid());
	put64(clock_ns(CLOCK_MONOTONIC));
	put64(0);
	fflush(dump);
	/* The mark by which a profiler knows of the dump. */
	if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(dump), 0) == MAP_FAILED)
		return EXIT_FAILURE;
	put_lines(at);
	load(at, 1, "first");
	run(at);
	load(at, 1, "second");
	run(at);
	load(at + 256, 2, "third");
	run(at + 256);
	move(at + 256, at + 4096, 2);
	run(at + 4096);
	put_prefix(CLOSE, 0);
	fclose(dump);
	return EXIT_SUCCESS;
}
