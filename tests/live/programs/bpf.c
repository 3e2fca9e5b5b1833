/* Loads a BPF program that adds numbers and runs it for so many milliseconds of CPU time; 77: not allowed here. */
#include <errno.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { ADDITIONS = 2000 };

static long bpf(int command, union bpf_attr *attr)
{
	return syscall(__NR_bpf, command, attr, sizeof(*attr));
}

static int load(void)
{
	static struct bpf_insn program[ADDITIONS + 3];
	union bpf_attr attr;
	size_t n = 0;

	program[n++] = (struct bpf_insn){.code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = 1};
	while (n <= ADDITIONS)
		program[n++] = (struct bpf_insn){.code = BPF_ALU64 | BPF_ADD | BPF_K, .imm = 7};
	program[n++] = (struct bpf_insn){.code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = 0};
	program[n++] = (struct bpf_insn){.code = BPF_JMP | BPF_EXIT};
	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_SOCKET_FILTER;
	attr.insns = (uintptr_t)program;
	attr.insn_cnt = n;
	attr.license = (uintptr_t) "MIT";
	strcpy(attr.prog_name, "pace_adds");
	return (int)bpf(BPF_PROG_LOAD, &attr);
}

int main(int argc, char **argv)
{
	long ms = argc > 1 ? atol(argv[1]) : 500;
	struct timespec start, now;
	static char packet[64];
	union bpf_attr attr;
	int fd = load();

	if (fd < 0) {
		fprintf(stderr, "bpf: %s\n", strerror(errno));
		return 77;
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
	do {
		memset(&attr, 0, sizeof(attr));
		attr.test.prog_fd = fd;
		attr.test.data_in = (uintptr_t)packet;
		attr.test.data_size_in = sizeof(packet);
		attr.test.repeat = 20000;
		if (bpf(BPF_PROG_TEST_RUN, &attr)) {
			fprintf(stderr, "bpf run: %s\n", strerror(errno));
			return 77;
		}
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	} while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 < ms);
	return 0;
}
