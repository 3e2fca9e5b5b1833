/*
 * x86.c - the sizes of instructions and the memory that they access, by pace and by objdump.
 *
 *     objdump -d -w --insn-width=16 FILE | x86 64|32
 *
 * Prints how many instructions there were, how many pace does not know, and how many have another
 * size; of how many the operand in memory was compared, and how many are others; the first of these.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/x86_decode.h"

/* "  401000:\tf3 0f 1e fa          \tendbr64": the bytes, or 0 */
static unsigned bytes_of_line(const char *line, u8 bytes[16])
{
	const char *at = strchr(line, '\t');
	unsigned n = 0, v;
	int used;

	for (at = at ? at + 1 : ""; n < 16 && sscanf(at, "%2x%n", &v, &used) == 1 && used == 2;
		at += 3)
		bytes[n++] = (u8)v;
	return n;
}

/* Whether objdump itself made nothing of it: data, or a prefix that belongs to nothing. */
static bool is_odd(const char *line)
{
	const char *text = strrchr(line, '\t');

	return !text || strstr(text, "(bad)") || strstr(text, ".byte") ||
		!strncmp(text, "\trex", 4) || !strncmp(text, "\tfwait", 6) ||
		strstr(text, "data16\n") || !strncmp(text, "\tlock\n", 6);
}

static const char *const registers[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
	"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"};

/* As objdump writes it: %fs:0x12(%rax,%rbx,4). */
static void operand_text(const struct x86_op *op, char *text, size_t size)
{
	bool has_disp = op->mode != 0 || (op->base == X86_NO_REG && !op->is_relative);
	bool is_absolute = op->base == X86_NO_REG && op->index == X86_NO_REG && !op->is_relative;
	char disp[32] = "", index[32] = "";

	if (op->is_relative || (has_disp && !op->has_packed_disp)) {
		const char *sign = op->disp < 0 && !is_absolute ? "-" : "";

		snprintf(disp, sizeof(disp), "%s0x%llx", sign,
			is_absolute ? (unsigned long long)(s64)op->disp
				    : (unsigned long long)llabs(op->disp));
	}
	if (op->index != X86_NO_REG)
		snprintf(index, sizeof(index), ",%%%s,%d)", registers[op->index], 1 << op->scale);
	snprintf(text, size, "%s%s%s%s%s%s",
		op->segment ? op->segment == 0x64 ? "%fs:" : "%gs:" : "", disp,
		is_absolute ? "" : "(",
		op->is_relative                  ? "%rip)"
			: op->base != X86_NO_REG ? "%"
						 : "",
		op->base != X86_NO_REG ? registers[op->base] : "",
		op->index != X86_NO_REG          ? index
			: op->base == X86_NO_REG ? ""
			: op->has_vector_index   ? ","
						 : ")");
}

/* Of addresses of 32 bits, and of memory that has no modrm (movs), nothing is compared. */
static bool has_no_operand_to_compare(const struct x86_op *op, const char *line)
{
	return !op->has_modrm || strstr(line, "%riz") || strstr(line, "addr32") ||
		strstr(line, "(%e") || strstr(line, "d)") || strstr(line, ",%eiz");
}

static bool has_that_operand(const struct x86_op *op, const char *line)
{
	const char *text = strrchr(line, '\t');
	char operand[96];

	/* %st(1) is none */
	if (!op->has_memory)
		return !strstr(text, "(%") && !strstr(text, "(,");
	operand_text(op, operand, sizeof(operand));
	return strstr(text, operand) != NULL;
}

int main(int argc, char **argv)
{
	bool is_64 = argc > 1 && !strcmp(argv[1], "64");
	unsigned long long n = 0, n_unknown = 0, n_other = 0, n_shown = 0, n_operands = 0,
			   n_wrong = 0;
	static char line[4096];

	while (fgets(line, sizeof(line), stdin)) {
		struct x86_op op;
		u8 bytes[16];
		unsigned size = bytes_of_line(line, bytes), ours;

		if (!size || is_odd(line))
			continue;
		n++;
		ours = x86_decode(bytes, size, is_64, &op);
		n_unknown += !ours;
		n_other += ours && ours != size;
		if (ours != size && n_shown++ < 20)
			printf("%u: %s", ours, line);
		if (!is_64 || ours != size || has_no_operand_to_compare(&op, line))
			continue;
		n_operands++;
		if (!has_that_operand(&op, line) && n_wrong++ < 20) {
			char operand[96] = "no memory";

			if (op.has_memory)
				operand_text(&op, operand, sizeof(operand));
			printf("%s: %s", operand, line);
		}
	}
	printf("instructions %llu unknown %llu other %llu operands %llu wrong %llu\n", n, n_unknown,
		n_other, n_operands, n_wrong);
	return EXIT_SUCCESS;
}
