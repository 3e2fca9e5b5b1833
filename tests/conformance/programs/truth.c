/* Says where it was called from, and where it spins. */
#include <stdio.h>
#include <stdlib.h>

__attribute__((noipa)) static void hot(void **callers)
{
	callers[0] = __builtin_return_address(0);
	printf("truth loop %p %p\n", &&begin, &&end);
	printf("truth callers %p %p %p %p\n", callers[0], callers[1], callers[2], callers[3]);
begin:
	__asm__ volatile("");
	for (long i = 0; i < 60000000; i++)
		__asm__ volatile("" ::: "memory");
	__asm__ volatile("");
end:
	/* both labels may be reached, whatever the compiler thinks */
	if (callers[0] == NULL)
		goto *callers[atoi("1")];
}

__attribute__((noipa)) static void inner(void **callers, int n)
{
	callers[1] = __builtin_return_address(0);
	hot(callers);
	__asm__ volatile("");
}

/* A frame whose size nobody knows before. */
__attribute__((noipa)) static void middle(void **callers, int n)
{
	volatile char room[n];

	room[0] = 0;
	callers[2] = __builtin_return_address(0);
	inner(callers, n);
	__asm__ volatile("");
}

__attribute__((noipa)) static void outer(void **callers)
{
	callers[3] = __builtin_return_address(0);
	middle(callers, 1000);
	__asm__ volatile("");
}

int main(void)
{
	void *callers[4];

	setvbuf(stdout, NULL, _IOLBF, 0);
	outer(callers);
	return 0;
}
