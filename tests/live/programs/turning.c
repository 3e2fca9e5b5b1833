/* Runs in one function until SIGUSR1, then half of the time in another one. */
#include <signal.h>

static volatile sig_atomic_t has_turned;
static volatile unsigned long sum;

static void turn(int number)
{
	(void)number;
	has_turned = 1;
}

__attribute__((noinline)) static void usual(unsigned long n)
{
	while (n--)
		sum += n;
	__asm__ volatile("");
}

__attribute__((noinline)) static void turned(unsigned long n)
{
	while (n--)
		sum -= n;
	__asm__ volatile("");
}

int main(void)
{
	signal(SIGUSR1, turn);
	for (;;) {
		usual(1000000);
		if (has_turned)
			turned(1000000);
	}
}
