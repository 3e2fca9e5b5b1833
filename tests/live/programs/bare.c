/*
 * A program without a C library, whose first function a compiler made: where others have a return address,
 * it has the number of its arguments.
 */
static void leave(int status)
{
#ifdef __x86_64__
	__asm__ volatile("syscall" ::"a"(60), "D"(status));
#elif defined(__aarch64__)
	register long number __asm__("x8") = 93;
	register long first __asm__("x0") = status;

	__asm__ volatile("svc 0" ::"r"(number), "r"(first));
#endif
	__builtin_unreachable();
}

__attribute__((noinline)) long work(long n)
{
	volatile long x = 0;

	while (x < n)
		x++;
	return x;
}

void _start(void)
{
	leave(work(300000000) == 1);
}
