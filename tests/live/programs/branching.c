/* Calls that branch, meet again and recurse: for drawings of call graphs. */
volatile unsigned long sum;
__attribute__((noinline)) void leaf(int n)
{
	for (int i = 0; i < n; i++)
		sum += i;
}
__attribute__((noinline)) void some(int n)
{
	leaf(n);
	for (int i = 0; i < n / 2; i++)
		sum += i;
}
__attribute__((noinline)) void more(int n)
{
	leaf(2 * n);
	some(n);
	for (int i = 0; i < n / 3; i++)
		sum ^= i;
}
__attribute__((noinline)) void again(int n, int depth)
{
	if (depth)
		again(n, depth - 1);
	else
		more(n);
	for (int i = 0; i < n / 4; i++)
		sum ^= i;
}
__attribute__((noinline)) void all(int n)
{
	some(n);
	more(n);
	again(n, 3);
	sum++;
}
int main(void)
{
	for (int i = 0; i < 8000; i++) {
		all(10000);
		some(5000);
		sum++;
	}
	return 0;
}
