/* Calls that branch, meet again and recurse: for drawings of call graphs.
 * No two ways to a function cost the same: which of equals is drawn first is not compared. */
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
	leaf(3 * n);
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
	for (int i = 0; i < n >> (depth + 2); i++)
		sum ^= i;
}
__attribute__((noinline)) void all(int n)
{
	some(2 * n);
	more(n);
	again(n + n / 2, 3);
	sum++;
}
int main(void)
{
	for (int i = 0; i < 6000; i++) {
		all(10000);
		some(5000);
		sum++;
	}
	return 0;
}
