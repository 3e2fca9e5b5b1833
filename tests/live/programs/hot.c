/* Two functions, of which one takes most of the time; ends after the given seconds, or never. */
#include <stdlib.h>
#include <time.h>

static volatile unsigned long sum;

__attribute__((noinline)) static void busy(unsigned long n)
{
	while (n--)
		sum += n;
	__asm__ volatile("");
}

__attribute__((noinline)) static void other(unsigned long n)
{
	while (n--)
		sum -= n;
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	const time_t end = argc > 1 ? time(NULL) + atoi(argv[1]) : 0;

	while (!end || time(NULL) < end) {
		busy(9000000);
		other(1000000);
	}
	return 0;
}
