import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;

/** CompletableFutures on the common pool. */
final class Pool {
    private static final double WARM_UP_SECONDS = 0.5; // The compilers have seen it all by then.
    private static final AtomicInteger RAN = new AtomicInteger();
    private static final Semaphore ALL_RAN = new Semaphore(0);

    private static ForkJoinPool pool;
    private static long items;

    private Pool() {}

    private static int job(int last) {
        int ran = RAN.incrementAndGet();
        if (ran == last) {
            ALL_RAN.release();
        }
        return ran;
    }

    private static void await(int n) {
        ALL_RAN.acquireUninterruptibly();
        if (RAN.getAndSet(0) != n) {
            throw new AssertionError("the work was not done");
        }
    }

    private static void spawn(int n) {
        for (int i = 0; i < n; i++) {
            CompletableFuture.supplyAsync(() -> job(n), pool);
        }
    }

    private static void roundTrips(int n) {
        for (int i = 0; i < n; i++) {
            CompletableFuture.supplyAsync(() -> job(n), pool).join();
        }
    }

    /** Returns how long it took, in nanoseconds. */
    private static double repeat(IntConsumer pass, int n, double seconds) {
        long begin = System.nanoTime();
        for (items = 0; System.nanoTime() - begin < seconds * 1e9; items += n) {
            pass.accept(n);
            await(n);
        }
        return System.nanoTime() - begin;
    }

    public static void main(String[] arguments) {
        // A thread for each processor, as other pools have; by default there is one fewer.
        System.setProperty("java.util.concurrent.ForkJoinPool.common.parallelism",
            String.valueOf(Runtime.getRuntime().availableProcessors()));
        pool = ForkJoinPool.commonPool();
        Map<String, IntConsumer> passes = Map.of("round-trip", Pool::roundTrips, "batch", Pool::spawn,
            "inside", n -> CompletableFuture.runAsync(() -> spawn(n), pool));
        IntConsumer pass = passes.get(arguments[0]);
        int n = Integer.parseInt(arguments[1]);
        var system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        repeat(pass, n, WARM_UP_SECONDS);
        double used = system.getProcessCpuTime(); // In steps of 10 ms.
        double elapsed = repeat(pass, n, Double.parseDouble(System.getenv("BENCH_SECONDS")));
        used = system.getProcessCpuTime() - used;
        System.out.println("{\"ns_per_item\":" + elapsed / items
            + ",\"processor_ns_per_item\":" + used / items + "}");
    }
}
