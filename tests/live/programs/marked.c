/* A program with markers for tracers, as <sys/sdt.h> makes them; with and without a semaphore. Each is passed three times. */
#include <stdio.h>

__attribute__((section(".probes"), used)) volatile unsigned short shop_sale_semaphore;

#define MARK(provider, name, semaphore, a, b)                                                \
	__asm__ volatile(                                                                    \
		"990: nop\n"                                                                 \
		".pushsection .note.stapsdt,\"\",\"note\"\n"                                 \
		".balign 4\n.4byte 992f-991f, 994f-993f, 3\n"                                \
		"991: .asciz \"stapsdt\"\n992: .balign 4\n"                                  \
		"993: .8byte 990b, _.stapsdt.base, " semaphore "\n"                          \
		".asciz \"" provider "\"\n.asciz \"" name "\"\n.asciz \"-4@%0 8@%1 4@$7\"\n" \
		"994: .balign 4\n.popsection\n"                                              \
		".ifndef _.stapsdt.base\n"                                                   \
		".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"      \
		".weak _.stapsdt.base\n.hidden _.stapsdt.base\n_.stapsdt.base: .space 1\n"   \
		".size _.stapsdt.base, 1\n.popsection\n.endif\n"                             \
		:                                                                            \
		: "r"(a), "m"(b))

int main(void)
{
	unsigned raised = 0;

	for (int i = 0; i < 3; i++) {
		int number = i - 1;
		unsigned long price = 1000 + i;

		MARK("shop", "sale", "shop_sale_semaphore", number, price);
		MARK("shop", "refund", "0", number, price);
		raised += shop_sale_semaphore != 0;
	}
	printf("%u\n", raised);
	return 0;
}
