import java.lang.management.*;

/* Two methods that are compiled soon; the first one gets most of the time: of the processor's, however busy it is. */
public class Hot {
	static int hot(int n) { int s = 0; for (int i = 0; i < n; i++) s = (s * 31 + i) % 1000003; return s; }
	static int warm(int n) { int s = 0; for (int i = 0; i < n; i++) s = (s + i * i) % 65521; return s; }
	public static void main(String[] args) {
		ThreadMXBean clock = ManagementFactory.getThreadMXBean();
		long end = clock.getCurrentThreadCpuTime() + 1000000 * Long.parseLong(args[0]);
		int x = 0;
		while (clock.getCurrentThreadCpuTime() < end) { x += hot(20000); x += warm(2000); }
		System.out.println(x);
	}
}
