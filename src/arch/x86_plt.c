#include "arch/x86.h"

/*
 * jmp *disp32(%rip), maybe after endbr64, a bnd prefix, mov $number, %r11d. i386: jmp *address, or in shared code
 * jmp *offset(%ebx); maybe after endbr32.
 */
static u64 slot(const struct arch *a, const u8 *p, u64 n, u64 va, u64 got)
{
	u64 starts = a->word == 8 ? 12 : 8;

	for (u64 i = 0; i + 6 <= n && i < starts; i++) {
		bool is_shared = a->word == 4 && p[i + 1] == 0xa3;

		if (p[i] != 0xff || (p[i + 1] != 0x25 && !is_shared))
			continue;
		if (a->word == 8)
			return va + i + 6 + (u64)(s64)(s32)load_u32(p + i + 2);
		return (u32)(load_u32(p + i + 2) + (is_shared ? got : 0));
	}
	return 0;
}

/* With .plt.sec there are also stubs that push the number of a relocation and jump to the PLT's first entry. */
static bool number(const struct arch *a, const u8 *p, u64 n, u64 *ret_number)
{
	static const u8 push = 0x68, jmp = 0xe9, bnd = 0xf2;
	enum { SIZE_OF_REL = 8 };
	u64 at = 0;

	/* endbr64, endbr32 */
	if (n >= 4 && (load_u32(p) & 0xfeffffff) == 0xfa1e0ff3)
		at = 4;
	if (at + 11 > n || p[at] != push || p[at + 5 + (p[at + 5] == bnd)] != jmp)
		return false;
	*ret_number = load_u32(p + at + 1) / (a->word == 4 ? SIZE_OF_REL : 1);
	return true;
}

/* push, jmp */
static bool is_front(const u8 *p, u64 n)
{
	if (n < 16 || p[0] != 0xff || p[6] != 0xff)
		return false;
	return (p[1] == 0x35 && p[7] == 0x25) || (p[1] == 0xb3 && p[7] == 0xa3);
}

const struct arch_plt x86_plt = {.slot = slot, .number = number, .is_front = is_front};
