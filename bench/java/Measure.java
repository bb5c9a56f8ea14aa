import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/** Time and memory of a workload. The collector is part of what is timed. */
final class Measure {
    private static final int LARGE = 100_000;
    private static final double WARM_UP_SECONDS = 0.5; // The compilers have seen it all by then.

    private Measure() {}

    static void measure(Workload workload, int n, Line line) throws IOException {
        if (workload.isHeld()) {
            weigh(workload, n, line);
            return;
        }
        String seconds = System.getenv().getOrDefault("BENCH_SECONDS", "0.2");
        line.put("ns_per_item", time(workload, n, Double.parseDouble(seconds)));
        line.put("bytes_per_item", bytes(workload, Math.min(n, LARGE)));
    }

    /** Nanoseconds of one item: the median of three measurements, of large ones one. */
    private static double time(Workload workload, int n, double seconds) {
        repeat(workload, n, n > LARGE ? 0 : WARM_UP_SECONDS);
        if (n > LARGE) {
            repeat(workload, n, 0);
            return repeat(workload, n, seconds);
        }
        double[] rounds = new double[3];
        for (int i = 0; i < rounds.length; i++) {
            rounds[i] = repeat(workload, n, seconds / rounds.length);
        }
        Arrays.sort(rounds);
        return rounds[1];
    }

    /** Runs passes for at least so long, and at least once. */
    private static double repeat(Workload workload, int n, double seconds) {
        long elapsed = 0;
        long passes = 0;
        do {
            workload.prepare(n);
            long start = System.nanoTime();
            workload.pass(n);
            elapsed += System.nanoTime() - start;
            workload.clean(n);
            passes++;
        } while (elapsed < seconds * 1e9);
        return (double) elapsed / (passes * (double) n);
    }

    /** Bytes that all threads have taken for one item. */
    private static double bytes(Workload workload, int n) {
        int passes = 3;
        long bytes = -passes * ownBytes();
        for (int i = 0; i < passes; i++) {
            workload.prepare(n);
            long before = allocated();
            workload.pass(n);
            bytes += allocated() - before;
            workload.clean(n);
        }
        return (double) bytes / ((double) n * passes);
    }

    /** What reading the counters takes by itself; less when it has been done before. */
    private static long ownBytes() {
        long own = 0;
        for (int i = 0; i < 1000; i++) {
            long before = allocated();
            own = allocated() - before;
        }
        return own;
    }

    private static long allocated() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        return Arrays.stream(threads.getThreadAllocatedBytes(threads.getAllThreadIds()))
            .filter(bytes -> bytes > 0).sum();
    }

    /** One pass, and what its promises hold while they are pending. */
    private static void weigh(Workload workload, int n, Line line) throws IOException {
        workload.prepare(n);
        long used = used();
        double resident = residentBytes();
        long start = System.nanoTime();
        workload.pass(n);
        line.put("ns_per_item", (System.nanoTime() - start) / (double) n);
        line.put("resident_per_item", (residentBytes() - resident) / n);
        line.put("bytes_per_item", (used() - used) / (double) n);
        workload.clean(n);
    }

    private static long used() {
        System.gc();
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }

    private static double residentBytes() throws IOException {
        String[] words = Files.readString(Path.of("/proc/self/statm")).split(" ");
        return Double.parseDouble(words[1]) * 4096;
    }
}
